#include "rows/population.hpp"

#include "border/each.hpp"
#include "border/permissions.hpp"
#include "border/refuse.hpp"
#include "catalog/facade.hpp"
#include "query/leaf_rows.hpp"
#include "rows/canonical.hpp"
#include "rows/cell_calls.hpp"
#include "rows/engine.hpp"
#include "rows/from_clause.hpp"
#include "rows/nodes.hpp"
#include "rows/partition_union.hpp"
#include "rows/people_sources.hpp"
#include "rows/run_plan.hpp"
#include "rows/sources.hpp"

namespace dp::rows {

// ---- the question's own tables -------------------------------------------------------------------------------------

// SELECT unit.. FROM ..
static Query *select_units(Query *query, const List *columns) {
    query->hasAggs = false;
    for (auto *column : border::each<Node>(columns))
        add_target(query, another(column));
    return query;
}

// Returns queries, of tables that are joined each by itself.
static List *units_of_joined(const Question *question) {
    List *all = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const Source &source = question->sources[i];
        List *values = NIL;
        if (source.people != nullptr)
            all = list_concat(all, units_of_joined(source.people));
        else if (source.settings != nullptr) {
            Query *query = select_from_source(question, i, &values);
            all = lappend(all, select_units(query, values));
        }
    }
    return all;
}

static List *units_of_rows(const Question *question) {
    const Units *units = question->units;
    return is_joined(question) ? units_of_joined(question)
                               : list_make1(select_units(
                                     select_from_sources(question, units->clipped ? nullptr : units->links), units->values));
}

// ---- the table of people -------------------------------------------------------------------------------------------

// Returns its key; null: there is none, or the question reads it.
static const catalog::UnitPath *lock_people(const Question *question, List **checked) {
    const Oid table = question->units == nullptr ? InvalidOid : question->units->path->unit_table;
    if (!OidIsValid(table) || list_member_oid(tables_of(question), table))
        return nullptr;
    const Oid own = question->settings->relation;
    if (is_on_other_nodes(table) != is_on_other_nodes(own))
        refuse_form(psprintf("one of %s and %s, whose people are the same, is kept on other nodes, and the other is not",
                             get_rel_name(own), get_rel_name(table)),
                    "Distribute both by the person, or neither.");
    LockRelationOid(table, AccessShareLock);
    StringInfoData versions;
    initStringInfo(&versions);
    catalog::Reading reading = catalog::Reading::open();
    catalog::UnitPath *path = catalog::read_unit_path(reading, table, &versions);
    reading.close();
    if (path == nullptr || !path->direct) // nothing of a row is to blame
        refuse_with(ERRCODE_LOCK_NOT_AVAILABLE, psprintf("the settings of %s are changing", get_rel_name(table)), "Ask again.");
    *checked = list_concat_unique_oid(list_copy(*checked), catalog::check_protectable(table));
    *checked = list_concat_unique_oid(*checked, catalog::check_unit_path(path));
    return path;
}

List *lock_population(const Question *question) {
    List *checked = NIL;
    (void)lock_people(question, &checked);
    return checked;
}

// Units that are there and short, as those of the question's own rows are.
static Query *units_of_people(const catalog::UnitPath *path) {
    List *columns = NIL;
    Node *there = nullptr;
    for (int i = 0; i < path->ncolumns; i++) {
        Var *column = query::column_of(1, path->unit_table, nullptr, path->columns[i]);
        columns = lappend(columns, column);
        there = both(there, null_test(another(as_node(column)), IS_NOT_NULL));
        there = both(there, short_key_condition(as_node(column)));
    }
    Query *query = make_aggregation(relation_entry(path->unit_table, true), there);
    border::set_permission(query, linitial_node(RangeTblEntry, query->rtable), 0);
    return select_units(query, columns);
}

// ---- both ----------------------------------------------------------------------------------------------------------

bool count_units(const Question *question, const List *checked, int64 *n) {
    List *units = units_of_rows(question), *read = const_cast<List *>(checked), *columns = NIL;
    if (const catalog::UnitPath *people = lock_people(question, &read))
        units = lappend(units, units_of_people(people));
    Query *all = union_all(units);
    for (auto *target : border::each<TargetEntry>(all->targetList))
        columns = lappend(columns, column_like(as_node(target->expr), 1, target->resno));
    Query *different = make_aggregation(subquery_entry(all, "units"), nullptr);
    different->hasAggs = false;
    group_by(different, columns, true);
    Query *count = make_aggregation(subquery_entry(different, "people"), nullptr);
    add_target(count, count_aggregate(nullptr, nullptr));
    return for_each_row(plan(count, CURSOR_OPT_PARALLEL_OK), read,
                        [n](const TupleTableSlot *row) { *n = DatumGetInt64(row->tts_values[0]); });
}

} // namespace dp::rows
