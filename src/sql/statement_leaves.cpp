#include "sql/statement_leaves.hpp"

#include "query/grammar.hpp"
#include "release/resolved.hpp"
#include "sql/controllers_question.hpp"
#include "sql/explain_page.hpp"
#include "sql/refusal.hpp"

namespace dp::sql {

// Whether the text is a leaf by itself.
static bool is_leaf(const char *text) {
    return refusal_by([&] {
               query::TextScope scope;
               scope.enter(text);
               query::Parsed parsed = query::parse_select(text);
               (void)query::check_leaf(parsed.query, parsed.source);
               scope.leave();
           }) == nullptr;
}

// Lists the calls of dp_rdr.release that the statement becomes.
static List *leaves_of(const char *text) {
    const query::Request request = plain_request(true);
    return find_leaves(text, &request);
}

int count_leaves(const char *text) {
    if (is_leaf(text))
        return 1;
    int n = 0;
    return refusal_by([&] { n = list_length(leaves_of(text)); }) == nullptr ? n : 0;
}

static release::Ask ask_of_leaf(const Call *call) {
    release::Ask ask;
    if (!ask_of_call(call, &ask))
        refuse_form("the risk of a question that follows from other answers is not supported",
                    "Write the constants out.", "What it asks for is known when the statement is executed.");
    (void)release::check_own_ask(&ask);
    return ask;
}

[[noreturn]] static void refuse_choice(List *calls, int leaf) {
    StringInfoData texts;
    initStringInfo(&texts);
    ListCell *cell;
    foreach (cell, calls)
        appendStringInfo(&texts, "%s%d: %s", texts.len == 0 ? "" : "\n", foreach_current_index(cell) + 1,
                         ask_of_leaf(static_cast<Call *>(lfirst(cell))).leaf);
    if (leaf == 0)
        refuse_value(psprintf("the statement asks %d questions, and one is needed", list_length(calls)),
                     "Pass one of them as the query.", texts.data);
    refuse_value(psprintf("leaf must be between 1 and %d, not %d", list_length(calls), leaf),
                 "Leaves are counted as dp_risk() shows them.", texts.data);
}

rows::Question *leaf_question(const char *text, privacy::Mechanism mechanism, int leaf) {
    if (is_leaf(text)) {
        if (leaf != 0 && leaf != 1)
            refuse_value(psprintf("leaf must be 1, not %d", leaf), "The query is one question.");
        return controllers_question(text, mechanism);
    }
    List *calls = leaves_of(text);
    if (calls == NIL) // declared groups alone, or nothing of a view
        return controllers_question(text, mechanism);
    if (leaf < 0 || leaf > list_length(calls) || (leaf == 0 && list_length(calls) > 1))
        refuse_choice(calls, leaf);
    return controllers_question(ask_of_leaf(static_cast<Call *>(list_nth(calls, Max(leaf, 1) - 1))), mechanism);
}

} // namespace dp::sql
