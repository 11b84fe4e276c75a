#include "sql/controllers_question.hpp"

#include "border/versions.hpp"
#include "catalog/facade.hpp"
#include "query/constants.hpp"
#include "release/accuracy_plan.hpp"
#include "release/resolved.hpp"
#include "rows/unit_checks.hpp"
#include "rows/spread_measures.hpp"
#include "rows/resolve.hpp"

namespace dp::sql {

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
