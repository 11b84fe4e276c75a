#include "sql/statement_leaves.hpp"

#include "query/grammar.hpp"
#include "release/resolved.hpp"
#include "sql/explain_page.hpp"
#include "sql/refusal.hpp"
#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "query/constants.hpp"
#include "release/accuracy_plan.hpp"
#include "rows/unit_checks.hpp"
#include "rows/measures.hpp"
#include "rows/resolve.hpp"

namespace dp::sql {

// Returns why the text is no leaf by itself, or null.
static ErrorData *refusal_as_leaf(const char *text) {
    return refusal_by([&] {
        query::TextScope scope;
        scope.enter(text);
        query::Parsed parsed = query::parse_select(text);
        (void)query::check_leaf(parsed.query, parsed.source);
        scope.leave();
    });
}

static release::Ask ask_of_leaf(const Statement &statement, int leaf) {
    release::Ask ask;
    if (!ask_of_call(static_cast<Call *>(list_nth(statement.calls, leaf - 1)), &ask))
        refuse_form("the risk of a question that follows from other answers is not supported",
                    "Write the constants out.", "What it asks for is known when the statement is executed.");
    (void)release::check_own_ask(&ask);
    return ask;
}

Statement cut_statement(const char *text) {
    Statement statement = {text, refusal_as_leaf(text) == nullptr, NIL, nullptr};
    if (statement.whole)
        return statement;
    const query::Request request = plain_request(true);
    statement.refusal = refusal_by([&] {
        statement.calls = find_leaves(text, &request);
        for (int leaf = 1; leaf <= list_length(statement.calls); leaf++)
            (void)ask_of_leaf(statement, leaf);
    });
    return statement;
}

// Lists the leaves, a line each.
static const char *text_of_leaves(const Statement &statement) {
    StringInfo texts = makeStringInfo();
    for (int leaf = 1; leaf <= list_length(statement.calls); leaf++)
        appendStringInfo(texts, "%s%d: %s", leaf == 1 ? "" : "\n", leaf, ask_of_leaf(statement, leaf).leaf);
    return texts->data;
}

void tell_leaves(const Statement &statement) {
    if (statement.leaves() > 1)
        ereport(NOTICE, (errmsg("the statement asks %d questions, each with a risk of its own", statement.leaves()),
                         errdetail("%s", text_of_leaves(statement))));
}

[[noreturn]] static void refuse_choice(const Statement &statement, int leaf) {
    if (leaf == 0)
        refuse_value(psprintf("the statement asks %d questions, and one is needed", statement.leaves()),
                     "Pass one of them as the query.", text_of_leaves(statement));
    if (statement.leaves() == 1)
        refuse_value(psprintf("leaf must be 1, not %d", leaf), "The query is one question.");
    refuse_value(psprintf("leaf must be between 1 and %d, not %d", statement.leaves(), leaf),
                 "Leaves are counted as dp_risk() shows them.", text_of_leaves(statement));
}

rows::Question *leaf_question(const Statement &statement, privacy::Mechanism mechanism, int leaf) {
    if (statement.refusal != nullptr)
        ReThrowError(statement.refusal);
    if (leaf < 0 || leaf > statement.leaves() || (leaf == 0 && statement.leaves() > 1))
        refuse_choice(statement, leaf);
    if (statement.whole || statement.calls == NIL) // declared groups alone, or nothing of a view
        return controllers_question(statement.text, mechanism);
    return controllers_question(ask_of_leaf(statement, Max(leaf, 1)), mechanism);
}

// ---- the question ---------------------------------------------------------------------------------------------------

// The ownership is checked before anything else is said about the table.
static rows::Question *prepared(query::Leaf *leaf, ParamListInfo parameters, privacy::Mechanism mechanism) {
    Oid relation = catalog::table_of_facade(leaf->view);
    if (!border::owns_relation(relation, GetUserId()))
        refuse_right(psprintf("must be owner of the table behind %s", catalog::qualified_name(leaf->view)),
                     "Only the controller may look at the risk; analysts ask through dp_query().");
    catalog::Reading reading = catalog::Reading::open();
    rows::Question *question = rows::prepare(reading, leaf, parameters);
    question->asker = catalog::current_asker();
    rows::set_mechanism(reading, question, mechanism);
    reading.close();
    rows::check_asks_something(question);
    release::Terms terms = {};
    terms.mechanism = mechanism;
    release::check_mechanism(question, terms);
    return question;
}

rows::Question *controllers_question(const char *text, privacy::Mechanism mechanism) {
    query::TextScope scope;
    scope.enter(text);
    query::Parsed parsed = query::parse_select(text);
    Query *evaluated;
    query::Leaf *leaf = query::check_own_leaf(parsed, nullptr, &evaluated);
    scope.leave();
    return prepared(leaf, nullptr, mechanism);
}

rows::Question *controllers_question(const release::Ask &ask, privacy::Mechanism mechanism) {
    return prepared(release::leaf_of(ask), ask.parameters, mechanism);
}

} // namespace dp::sql
