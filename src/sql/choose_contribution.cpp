// dp_choose_contribution: how many rows of one unit shall count, or how much of its sizes in a sum, chosen under differential privacy
// (doc/controller.md).
#include <cmath>

#include "border/versions.hpp"
#include "keeper/client.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"
#include "sql/result_rows.hpp"

using dp::catalog::Visit;

namespace dp::sql {

using catalog::qualified_name;
using catalog::UnitPath;

// Any of the table's views: a charge names one, and finds the settings of the table by it.
static Oid view_of(Oid relation) {
    Visit visit = Visit::read();
    const uint64 n = run(visit,
                         "SELECT v.view::oid FROM dp_rdr.restricted_view v JOIN pg_class c ON c.oid = v.view "
                         "WHERE v.relation::oid = $1 ORDER BY 1 LIMIT 1",
                         relation);
    const Oid view = n == 0 ? InvalidOid : catalog::value_at<Oid>(0, 1);
    visit.leave();
    if (!OidIsValid(view))
        refuse_state(psprintf("%s has no restricted view", qualified_name(relation)),
                     psprintf("dp_protect(%s, ...) makes one.", quote_literal_cstr(qualified_name(relation))));
    return view;
}

// Argument 2: rows, of sizes how many of the largest one; those beyond max_rows say nothing of a sum.
static int checked_most(FunctionCallInfo fcinfo, const UnitPath *path, bool of_rows) {
    const int largest = of_rows ? privacy::default_most_rows : path->max_rows;
    const int most = PG_ARGISNULL(2) ? largest : PG_GETARG_INT32(2);
    if (most < 1 || most > catalog::max_declared_rows)
        refuse_value(psprintf("most must be from 1 to %d, not %d", catalog::max_declared_rows, most),
                     "It is the largest max_rows that may be chosen; of sizes how many of the largest one.");
    return of_rows ? most : most * privacy::steps_of_bound;
}

// Refuses a choice of noise: nobody but a few would have more rows than any limit that is looked at.
static void check_people(Oid relation, int64 people, int64 threshold) {
    constexpr int least = 4; // times as many as may exceed the limit
    if (people > 0 && people < least * threshold)
        refuse_value(psprintf("about " INT64_FORMAT " people are too few to choose from their rows", people),
                     psprintf("Pass a larger epsilon or a smaller tau, or say it with dp_set_contribution(%s, "
                              "max_rows => ...), from what the rows mean.",
                              quote_literal_cstr(qualified_name(relation))),
                     psprintf("The limit would be one that about " INT64_FORMAT
                              " people exceed, and at least %d times as many are needed.",
                              threshold, least));
}

static release::LimitWish limit_wish(FunctionCallInfo fcinfo, Oid relation, const privacy::CountTerms *terms) {
    release::LimitWish wish = {};
    wish.relation = relation;
    wish.epsilon = catalog::checked_epsilon(PG_GETARG_DATUM(1), "epsilon");
    const UnitPath *path = declared_unit(relation);
    release::check_has_limit(relation, path);
    wish.value = PG_ARGISNULL(4) ? nullptr : summed_text(relation, text_argument(fcinfo, 4));
    wish.most = checked_most(fcinfo, path, wish.value == nullptr);
    wish.tau = terms->tau;
    wish.threshold = border::core(
        [&] { return privacy::limit_threshold(wish.epsilon, privacy::error95_of_count(*terms, 1)); }); // 22023
    wish.view = view_of(relation);
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Settings *settings = catalog::read_settings(reading, wish.view);
    reading.close();
    if (settings == nullptr)
        refuse_state(psprintf("%s is not protected any more", qualified_name(relation)), nullptr);
    check_people(relation, settings->people, wish.threshold);
    wish.fingerprint = settings->fingerprint;
    return wish;
}

// Opens what the limit is kept by, unless the unit is another one by now. It is public, and is said where it cannot be kept.
static Visit begin_keeping(Oid relation, const UnitPath *before, const char *chosen) {
    Visit visit = Visit::write();
    lock_declarations(visit, relation);
    const UnitPath *now = declared_unit(relation);
    if (now == nullptr || !is_same_domain(*before, *now) || !is_same_way(*before, *now))
        refuse_with(ERRCODE_T_R_STATEMENT_COMPLETION_UNKNOWN,
                  psprintf("the unit of %s changed meanwhile", qualified_name(relation)),
                  psprintf("The charge stays. %s was chosen for the unit that there was.", chosen), nullptr);
    return visit;
}

static void keep_rows(Oid relation, const UnitPath *before, int max_rows) {
    const Visit visit = begin_keeping(relation, before, psprintf("max_rows %d", max_rows));
    const UnitPath *path = declared_unit(relation);
    store_limits(visit, relation, path,
                 Limits{max_rows, Min(path->max_groups, max_rows), Min(path->max_rows_per_group, max_rows)});
    visit.leave();
}

// ---- sizes ---------------------------------------------------------------------------------------------------------

// Returns how much so many parts of the largest size come to.
static Datum times_largest(const privacy::Bounds &bounds, int parts, int in_one) {
    const Datum low = DirectFunctionCall1(numeric_abs, catalog::text_numeric(bounds.lower.c_str()));
    const Datum high = DirectFunctionCall1(numeric_abs, catalog::text_numeric(bounds.upper.c_str()));
    const Datum largest = DirectFunctionCall2(numeric_larger, low, high);
    const Datum all = DirectFunctionCall2(numeric_mul, largest, NumericGetDatum(int64_to_numeric(parts)));
    return DirectFunctionCall1(numeric_trim_scale,
                               DirectFunctionCall2(numeric_div, all, NumericGetDatum(int64_to_numeric(in_one))));
}

static double double_of(Datum numeric) {
    return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, numeric));
}

namespace {
// Holds what was chosen, and what a unit was limited to before.
struct Chosen {
    Datum limit; // numeric
    double before, after;
};
} // namespace

// Chooses and sets a total. D is that where it is less than that of max_rows.
static Chosen choose_total(const release::LimitWish &wish, const UnitPath *path) {
    const rows::Question *question = release::resolve_limit(wish, catalog::current_asker()).question; // 55000 where there are no bounds
    const privacy::Bounds &bounds = **question->bounds;
    const double of_rows = double_of(times_largest(bounds, path->max_rows, 1));
    catalog::Reading reading = catalog::Reading::open();
    const char *declared = catalog::unit_total(reading, wish.relation, wish.value);
    reading.close();
    const int parts = keeper::choose_limit(wish, catalog::current_asker());
    const Datum limit = times_largest(bounds, parts, privacy::steps_of_bound);
    const Visit visit =
        begin_keeping(wish.relation, path, psprintf("a total of %s", catalog::numeric_text(limit)));
    store_total(visit, wish.relation, wish.value, limit);
    visit.leave();
    const double before = declared == nullptr ? of_rows : Min(of_rows, double_of(catalog::text_numeric(declared)));
    return Chosen{limit, before, Min(of_rows, double_of(limit))};
}

// ---- the call ------------------------------------------------------------------------------------------------------

static Chosen choose_rows(const release::LimitWish &wish, const UnitPath *path) {
    const int max_rows = keeper::choose_limit(wish, catalog::current_asker());
    keep_rows(wish.relation, path, max_rows);
    return Chosen{NumericGetDatum(int64_to_numeric(max_rows)), static_cast<double>(path->max_rows),
                  static_cast<double>(max_rows)};
}

DP_CALL(dp_choose_contribution) {
    require_first(fcinfo, 2);
    Oid relation = protected_relation(PG_GETARG_OID(0));
    LockRelationOid(relation, AccessShareLock);
    catalog::check_can_ask();
    const UnitPath *path = declared_unit(relation);
    const privacy::CountTerms *terms =
        PG_ARGISNULL(3) ? strictest_terms(relation) : terms_at(checked_tau(PG_GETARG_FLOAT8(3)));
    const release::LimitWish wish = limit_wish(fcinfo, relation, terms);
    const Chosen chosen = wish.value == nullptr ? choose_rows(wish, path) : choose_total(wish, path);
    constexpr double fine = 1 << 20; // of a number that is no count the noise is not rounded to whole ones
    const double of_one = border::core([&] { return privacy::error95_of_count(*terms, 1 << 20) / fine; });
    return record(fcinfo, Typed{NUMERICOID, chosen.limit}, rint(of_one * chosen.before), rint(of_one * chosen.after));
}

} // namespace dp::sql
