#include "rows/texts.hpp"

#include "border/each.hpp"
#include "border/listed.hpp"
#include "border/walk.hpp"
#include "query/exists.hpp"
#include "query/percentile.hpp"
#include "query/windows.hpp"
#include "rows/nodes.hpp"
#include "rows/pinned.hpp"

namespace dp::rows {

// Puts the aggregates of a unit in the place of its columns, those of unit_varno. A copy.
static Node *with_aggregates(Node *node, void *columns) {
    if (node == nullptr)
        return nullptr;
    if (!IsA(node, Var) || castNode(Var, node)->varno != query::unit_varno)
        return border::mutate_expression(node, with_aggregates, columns);
    auto *column = static_cast<Node *>(list_nth(static_cast<List *>(columns), castNode(Var, node)->varattno - 1));
    return IsA(column, Aggref) ? another(column) : as_node(query::call_of(castNode(WindowFunc, column)));
}

// Prints an expression as the one target of a SELECT over these entries, and cuts off the rest of the statement.
static const char *text_of_target(List *entries, Node *node) {
    Query *query = make_query();
    query->rtable = entries;
    query->targetList = list_make1(makeTargetEntry(reinterpret_cast<Expr *>(copyObject(node)), 1, nullptr, false));
    constexpr char select[] = "SELECT", space[] = " \n";
    const char *text = pg_get_querydef(query, false);
    text += strspn(text, space);
    if (strncmp(text, select, strlen(select)) != 0)
        elog(ERROR, "an expression was deparsed as something else");
    text += strlen(select);
    return text + strspn(text, space);
}

static const char *text_over(const Question *question, Node *node) {
    List *entries = NIL;
    for (auto *entry : border::each<RangeTblEntry>(question->leaf->query->rtable)) {
        const Source *source = source_at(question, list_length(entries) + 1);
        entries = lappend(entries, source == nullptr ? no_entry("joined") : copyObject(entry));
    }
    return text_of_target(entries, node);
}

const char *text_over_views(const Question *question, Node *node) {
    if (question->per_unit != nullptr)
        node = with_aggregates(node, question->leaf->per_unit->columns);
    if (is_joined(question))
        return text_over(question, query::with_tests_written(question->leaf, node));
    Oid view = question->leaf->view;
    return deparse_expression(node, deparse_context_for(get_rel_name(view), view), false, false);
}

const char *shortened(const char *text) {
    constexpr int most = 200;
    int length = static_cast<int>(strlen(text));
    return length <= most ? text : psprintf("%.*s...", pg_mbcliplen(text, length, most), text);
}

List *written_arguments(const query::Aggregate &aggregate) {
    const bool adds_casts = privacy::is_joint(aggregate.fn) || aggregate.fn == privacy::Aggregate::percentile_cont;
    List *written = NIL;
    for (auto *one : border::each<TargetEntry>(aggregate.node->args)) {
        auto *argument = as_node(one->expr);
        written = lappend(written, adds_casts ? query::before_cast_to_double(argument) : argument);
    }
    return written;
}

const char *written_text(const Question *question, const List *expressions) {
    return pinned([=] {
        return border::listed(0, list_length(expressions), [=](int i) {
            return text_over_views(question, static_cast<Node *>(list_nth(expressions, i)));
        });
    });
}

const char *expression_text(const Question *question, const List *expressions) {
    return shortened(written_text(question, expressions));
}

const char *argument_text(const Question *question, int aggregate) {
    const query::Aggregate &call = question->leaf->aggregates[aggregate];
    if (call.argument < 0)
        return column_name(question, argument_column(question, aggregate));
    return expression_text(question, written_arguments(call));
}

} // namespace dp::rows
