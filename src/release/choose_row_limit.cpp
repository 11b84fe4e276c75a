#include "release/choose_row_limit.hpp"

#include "border/versions.hpp"
#include "catalog/co_located.hpp"
#include "catalog/decimals.hpp"
#include "catalog/facade.hpp"
#include "release/random.hpp"
#include "release/trace.hpp"
#include "rows/unit_checks.hpp"
#include "rows/engine.hpp"
#include "rows/evaluate.hpp"
#include "rows/sources.hpp"
#include "rows/totals.hpp"

namespace dp::release {

void check_has_limit(Oid relation, const catalog::UnitPath *path) {
    const char *name = catalog::qualified_name(relation);
    if (path == nullptr)
        refuse_state(
            psprintf("a row of %s is a unit: there is nothing to choose", name),
            psprintf("dp_set_unit(%s, 'column', max_rows => ...) says whose rows they are.", quote_literal_cstr(name)));
    if (path->keyed || (path->direct && catalog::covers_key(relation, path->ncolumns, path->columns)))
        refuse_state(psprintf("a key of %s says that a unit has one row: there is nothing to choose", name),
                     "max_rows is 1 there, and nothing has to be charged for it.");
}

// Returns the call as somebody would write it.
static const char *call_text(const catalog::Settings *settings, const LimitWish &wish) {
    const bool rows = wish.value == nullptr;
    return psprintf("CALL dp_choose_contribution(%s, %s, most => %d, tau => %s%s%s)",
                    quote_literal_cstr(settings->relation_name),
                    catalog::numeric_text(catalog::to_numeric(wish.epsilon)),
                    rows ? wish.most : wish.most / privacy::steps_of_bound, float8out_internal(wish.tau),
                    rows ? "" : ", value => ", rows ? "" : quote_literal_cstr(wish.value));
}

Checked resolve_limit(const LimitWish &wish, const catalog::Asker &asker) {
    auto *question = static_cast<rows::Question *>(palloc0(sizeof(rows::Question)));
    LockRelationOid(wish.view, AccessShareLock);
    LockRelationOid(wish.relation, AccessShareLock);
    catalog::Reading reading = catalog::Reading::open();
    question->settings = catalog::read_settings(reading, wish.view);
    reading.close();
    if (question->settings == nullptr || question->settings->relation != wish.relation)
        refuse_state("the table was protected in a transaction that has not been committed",
                     "Commit it, and call again: only what is committed is looked at.");
    if (strcmp(question->settings->fingerprint, wish.fingerprint) != 0)
        catalog::refuse_changing(*question->settings);
    if (!border::owns_relation(wish.relation, asker.role))
        refuse_right(psprintf("must be owner of %s", catalog::qualified_name(wish.relation)));
    question->asker = asker;
    question->text = call_text(question->settings, wish);
    question->units = rows::resolve_table(question);
    check_has_limit(wish.relation, question->settings->unit);
    if (wish.value != nullptr) {
        reading = catalog::Reading::open();
        rows::resolve_sizes(reading, question, wish.value);
        reading.close();
    }
    catalog::check_whole(question->settings->unit, question->checked);
    rows::check_nodes(wish.relation, question->settings->owner);
    return {question, question, Terms{}, nullptr};
}

static const char *describe(const rows::Question *question, const LimitWish &wish) {
    const catalog::JsonText json = catalog::JsonText::object();
    json("threshold", int64{wish.threshold});
    json("most", wish.most);
    json("unit", rows::unit_text(question->units->path));
    if (wish.value != nullptr)
        json("value", wish.value);
    return json.closed();
}

catalog::Charge limit_charge(const rows::Question *question, const LimitWish &wish) {
    auto *candidates = border::context_new<std::vector<privacy::Epsilon>>();
    border::core([&] {
        (void)privacy::limit_threshold(wish.epsilon, 0); // 22023
        candidates->push_back(wish.epsilon);
    });
    catalog::Charge charge = {};
    charge.settings = question->settings;
    charge.asker = question->asker;
    charge.query = question->text;
    charge.algorithm = "choose_contribution";
    charge.guarantee = "(epsilon, delta)";
    charge.kind = "bound";
    charge.mechanism = privacy::Mechanism::laplace;
    charge.account = privacy::Account::public_account;
    charge.candidates = candidates;
    charge.eps_star = privacy::infinite_epsilon;
    charge.slack = privacy::price_slack;
    charge.parameters = describe(question, wish);
    return charge;
}

int choose_limit(const rows::Paid &paid, const LimitWish &wish) {
    auto *counted =
        wish.value == nullptr
            ? border::context_new<privacy::UnitRows>(wish.most)
            : border::context_new<privacy::UnitRows>(wish.most, paid.question()->measures->front().sensitivity);
    rows::count_rows_of_units(paid, counted);
    return border::core([&] {
        StrongBits bits;
        std::vector<std::int64_t> compared;
        const int limit = privacy::choose_row_limit(bits, wish.epsilon, wish.threshold, *counted, &compared);
        trace::limited(compared, limit);
        return limit;
    });
}

} // namespace dp::release
