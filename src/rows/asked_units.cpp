#include "rows/asked_units.hpp"

#include "catalog/ledger.hpp"
#include "query/units.hpp"

namespace dp::rows {

void check_asked_limits(const Question *question) {
    const query::Limits &limits = question->leaf->limits;
    query::check_limits(limits);
    if (question->settings->unit != nullptr || (limits.max_rows == 0 && limits.max_groups == 0))
        return;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("%s has no unit: each row is a person of its own", question->settings->view_name),
                    errdetail("max_rows and max_groups say how much counts of a person who has several rows."),
                    errhint("Leave them out. The controller declares who has several rows with dp_set_unit().")));
}

// ---- units as groups -----------------------------------------------------------------------------------------------

static List *grouped_columns(const query::Leaf *leaf) {
    List *columns = NIL;
    for (int i = 0; i < leaf->nkeys; i++)
        if (leaf->keys[i].attno > 0)
            columns = list_append_unique_int(columns, leaf->keys[i].attno);
    return columns;
}

// Whether the keys tell a unit from all others: its columns are among them.
static bool groups_are_units(const Question *question) {
    const catalog::UnitPath *path = question->settings->unit;
    if (path == nullptr || !path->direct)
        return false;
    List *grouped = grouped_columns(question->leaf), *of_unit = NIL;
    for (int i = 0; i < path->ncolumns; i++) {
        AttrNumber attno = get_attnum(question->leaf->view, path->names[i]);
        of_unit = list_append_unique_int(of_unit, attno);
    }
    return list_difference_int(of_unit, grouped) == NIL;
}

static void refuse_units_as_groups(const Question *question) {
    const char *people = query::count_of_units(question->settings->unit);
    ereport(
        ERROR,
        (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
         errmsg("GROUP BY the columns that name a person is not supported in a query on a restricted view"),
         errdetail("Each group would be one person of %s, and none large enough to be shown.",
                   question->settings->view_name),
         errhint("Count people by %s, with FILTER (WHERE ...) those who have such a row; count(*)::numeric / %s is how "
                 "many rows they have on average.",
                 people, people)));
}

void check_asked_units(const Question *question) {
    const query::Leaf *leaf = question->leaf;
    if (leaf->counted != NIL && !query::are_unit(question->settings->unit, leaf->view, leaf->counted))
        catalog::refuse_changing(*question->settings);
    if (question->thresholded && groups_are_units(question))
        refuse_units_as_groups(question);
}

// ---- in words ------------------------------------------------------------------------------------------------------

static void add_names(StringInfo text, int n, const char **names) {
    for (int i = 0; i < n; i++)
        appendStringInfo(text, "%s%s", i > 0 ? ", " : "", quote_identifier(names[i]));
}

const char *unit_text(const catalog::UnitPath *path) {
    StringInfoData text;
    initStringInfo(&text);
    for (; path != nullptr; path = path->parent) {
        appendStringInfoString(&text, text.len > 0 ? ", " : "");
        add_names(&text, path->ncolumns, path->names);
        if (!OidIsValid(path->parent_relation) || get_rel_name(path->parent_relation) == nullptr)
            continue;
        appendStringInfo(&text, " -> %s", catalog::qualified_name(path->parent_relation));
        if (path->direct) // its values are the units
            continue;
        appendStringInfoChar(&text, '(');
        add_names(&text, path->ncolumns, path->key_names);
        appendStringInfoChar(&text, ')');
    }
    return text.data;
}

const char *clipping_text(const Question *question) {
    const Units *units = question->units;
    if (units == nullptr || !units->clipped)
        return nullptr;
    const char *rows = psprintf("a person's rows beyond max_rows are scaled down to %d", units->max_rows);
    if (units->one_group || units->max_groups >= units->max_rows)
        return rows;
    return question->thresholded
               ? psprintf("%s, in %d group%s at most", rows, units->max_groups, units->max_groups == 1 ? "" : "s")
               : psprintf("%s; count(DISTINCT ..) counts one %d time%s over all groups", rows, units->max_groups,
                          units->max_groups == 1 ? "" : "s");
}

} // namespace dp::rows
