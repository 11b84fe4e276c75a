#include "rows/exists_columns.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "query/exists.hpp"
#include "rows/nodes.hpp"
#include "rows/texts.hpp"

namespace dp::rows {

static bool is_of_source(const Source &source, const Var *column) {
    return source.source->varno == static_cast<int>(column->varno);
}

// A row without it is nobody's, and in no answer.
static bool names_unit(const Question *question, Node *node) {
    while (IsA(node, RelabelType))
        node = as_node(castNode(RelabelType, node)->arg);
    for (int i = 0; IsA(node, Var) && i < question->nsources; i++) {
        const Source &source = question->sources[i];
        const catalog::UnitPath *path = source.settings == nullptr ? nullptr : source.settings->unit;
        if (path == nullptr || source.source->nullable || !is_of_source(source, castNode(Var, node)))
            continue;
        for (int j = 0; j < path->ncolumns; j++)
            if (path->columns[j] == castNode(Var, node)->varattno)
                return true;
    }
    return false;
}

static void check_present(ColumnRanges *columns, const Question *question, Node *side) {
    Node *node = map_to_tables(side, question);
    if (names_unit(question, node) || !range_over_columns(node, columns).nullable)
        return;
    const char *name = text_over_views(question, side);
    refuse_form("IN (SELECT ...) that may be NULL is not supported outside of WHERE in a query on a restricted view",
                "Write EXISTS (SELECT FROM ... WHERE inner.column = outer.column), which is true or false. IN may be "
                "NULL in FILTER and in the condition of a CASE, but not below NOT.",
                psprintf("It is NULL, rather than false, where %s is.", name));
}

void check_tests(ColumnRanges *columns, const Question *question) {
    for (auto *semi : border::each<const query::SemiJoin>(question->semi_joins)) {
        query::TestParts parts;
        if (semi->test == 0)
            continue;
        if (!query::split_test(semi->condition, query::varnos_of_semi_join(question->leaf, semi), &parts))
            refuse_form("a sub-SELECT outside of WHERE whose constants leave no equality with what is outside of "
                        "it is not supported in a query on a restricted view",
                        "Ask for what it would say by itself: whether it has a row is the same for all.");
        for (auto *one : border::each<Node>(semi->present))
            check_present(columns, question, one);
    }
}

} // namespace dp::rows
