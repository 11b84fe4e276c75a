#include "rows/counted_values.hpp"

#include "border/refuse.hpp"
#include "rows/texts.hpp"
#include "rows/canonical.hpp"
#include "rows/engine.hpp"
#include "rows/nodes.hpp"
#include "rows/quantiles.hpp"

namespace dp::rows {

// ---- before the charge ---------------------------------------------------------------------------------------------

void refuse_values(const char *what, const char *hint) {
    refuse_form(psprintf("%s is not supported for count(DISTINCT x) of values", what), hint);
}

static void check_value(const Question *question, int call) {
    Node *value = argument_node(question, call);
    const Oid type = exprType(value), collation = exprCollation(value);
    if (!has_spelling(type))
        refuse_form(psprintf("count(DISTINCT %s) is not supported for type %s", argument_text(question, call),
                             format_type_be(type)),
                    "Count the values of a column or an expression of another type, such as extract(epoch FROM "
                    "...).",
                    "Equal values of this type can look different.");
    if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
        refuse_form(psprintf("count(DISTINCT %s) is not supported under a nondeterministic collation",
                             argument_text(question, call)),
                    "Add COLLATE \"C\" to what is counted.", "Equal values can look different under it.");
}

void check_counted_values(const Question *question) {
    if (!counts_values(question))
        return;
    if (adds_up_rows_elsewhere(question))
        refuse_values("a table whose rows other servers keep",
                      "Count groups that are large enough: SELECT count(*) FROM "
                      "(SELECT x FROM ... GROUP BY x) g.");
    // Values would be kept by group and cell, and the same one several times.
    if (question->units != nullptr && question->units->clipped && has_quantile(question))
        refuse_values("a percentile, min or max in the same query, where people have several rows,",
                      "Ask for it in a query of its own.");
    for (int j = 0; j < question->nmeasures; j++)
        if ((*question->measures)[j].of_values)
            check_value(question, (*question->measures)[j].calls.front());
}

// ---- in the internal statement -------------------------------------------------------------------------------------

Node *value_digest(Node *value) {
    return make_call(internal_function("value_digest", {ANYELEMENTOID}), UUIDOID, list_make1(value), InvalidOid,
                     exprCollation(value));
}

Node *count_of_values(Node *value, Node *filter) {
    Aggref *count = make_aggregate(F_COUNT_ANY, INT8OID, list_make1(value_digest(value)), filter);
    auto *clause = makeNode(SortGroupClause);
    get_sort_group_operators(UUIDOID, true, true, false, &clause->sortop, &clause->eqop, nullptr, &clause->hashable);
    clause->tleSortGroupRef = linitial_node(TargetEntry, count->args)->ressortgroupref = 1;
    count->aggdistinct = list_make1(clause);
    return as_node(count);
}

} // namespace dp::rows
