#include "rows/unit_limits.hpp"

#include "catalog/ledger.hpp"
#include "query/exists.hpp"
#include "rows/unit_rows.hpp"
#include "rows/sources.hpp"

namespace dp::rows {

// The sources that a key's value follows from: those of its columns, and of what its tests compare with.
static Bitmapset *sources_of_key(const Question *question, Node *key) {
    Bitmapset *varnos = pull_varnos_of(key), *all = bms_copy(varnos);
    ListCell *cell;
    foreach (cell, question->leaf->semi_joins) {
        auto *semi = static_cast<const query::SemiJoin *>(lfirst(cell));
        if (semi->test == 0 || !bms_is_member(semi->test, varnos))
            continue;
        Bitmapset *inner = query::varnos_of_semi_join(question->leaf, semi);
        Bitmapset *outer = bms_difference(pull_varnos_of(semi->condition), inner);
        all = bms_del_members(all, inner); // from 16 on the join that brings the test is named by one of these
        all = bms_add_members(all, outer);
    }
    return all;
}

// Whether all keys are columns of sources of which a unit has one row in all that is joined.
static bool are_of_one_row(const Question *question, const query::Joined *joined) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        Bitmapset *varnos = sources_of_key(question, question->leaf->keys[i].expression);
        for (int j = 0; j < question->nsources; j++)
            if (bms_is_member(question->sources[j].source->varno, varnos) && !joined->one_row[j])
                return false;
    }
    return true;
}

static void limit_joined(const Question *question, Units *units) {
    const query::Joined *joined = units->joined;
    if (joined->max_rows > catalog::max_declared_rows)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a person may have more than %d joined rows in the query", catalog::max_declared_rows),
                        errdetail("max_rows of the tables that no key of another one determines are multiplied."),
                        errhint("Join by more columns, down to a key; or aggregate with fewer tables.")));
    const int asked = question->leaf->limits.max_rows;
    units->single = joined->keyed;
    units->one_group = joined->keyed || are_of_one_row(question, joined);
    units->max_rows = joined->keyed ? 1 : asked > 0 ? asked : static_cast<int>(joined->max_rows);
}

void limit_rows(const Question *question, Units *units) {
    if (units->joined != nullptr)
        return limit_joined(question, units);
    int asked = question->leaf->limits.max_rows;
    units->one_group = !units->clipped || question->leaf->nkeys == 0;
    units->max_rows = !units->clipped ? 1 : asked > 0 ? asked : units->path->max_rows;
}

// Returns max_groups of the only table that a unit may have several rows of; 0: not declared.
static int declared_groups(const Question *question, const Units *units) {
    if (units->joined == nullptr)
        return units->path->max_groups;
    const int several = units->joined->several;
    return several < 0 ? 0 : question->sources[several].settings->unit->max_groups;
}

// Likewise.
static int declared_rows_per_group(const Question *question, const Units *units) {
    if (units->joined == nullptr)
        return units->path->max_rows_per_group;
    const int several = units->joined->several;
    return several < 0 ? 0 : question->sources[several].settings->unit->max_rows_per_group;
}

static void limit_rows_per_group(const Question *question, Units *units) {
    const int asked = question->leaf->limits.max_rows_per_group;
    const int wanted = asked == 0 ? declared_rows_per_group(question, units) : asked;
    units->max_rows_per_group = Min(wanted, units->max_rows);
}

void limit_groups(Question *question, Units *units) {
    if (!units->clipped) { // units are rows: those without a unit are nobody's
        question->where = make_and_qual(static_cast<Node *>(copyObject(units->links)), question->where);
        units->max_groups = 1;
        return;
    }
    int asked = question->leaf->limits.max_groups, wanted = asked == 0 ? declared_groups(question, units) : asked;
    units->max_groups = wanted == 0 ? units->max_rows : Min(wanted, units->max_rows);
    if (!question->thresholded)
        units->max_groups = Max(Min(units->max_groups, question->ngroups), 1);
    if (units->one_group)
        units->max_groups = 1;
    limit_rows_per_group(question, units);
}

// The leaf was read as one over units: if there are none now, something has changed.
void begin_per_unit(Question *question, Units *units) {
    if (units == nullptr)
        catalog::refuse_changing(*question->settings);
    check_carried(question, units);
    question->per_unit = static_cast<PerUnit *>(palloc0(sizeof(PerUnit)));
    limit_per_unit(question, units);
}

} // namespace dp::rows
