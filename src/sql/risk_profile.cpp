// Risk profiles, and what an epsilon means, for controllers and whoever advises them (doc/formulas.md 7). No table is read but by
// dp_profile_utility with a query, and of that public facts alone.
#include "sql/risk_profile.hpp"

#include <algorithm>
#include <cmath>

#include "border/versions.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/triple.hpp"
#include "query/constants.hpp"
#include "release/accuracy.hpp"
#include "rows/unit_checks.hpp"
#include "rows/question.hpp"
#include "rows/resolve.hpp"
#include "sql/call_arguments.hpp"

namespace dp::sql {

namespace {

GivenArray given_array(ArrayType *array) {
    GivenArray given = {};
    if (ARR_NDIM(array) > 1)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("an array of priors has one dimension"),
                        errhint("Pass '{0.1,0.5}', for instance.")));
    Datum *elements;
    deconstruct_array(array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &elements, &given.nulls,
                      &given.n);
    given.values = static_cast<double *>(palloc0(sizeof(double) * (given.n + 1)));
    for (int i = 0; i < given.n; i++)
        given.values[i] = given.nulls[i] ? 0 : DatumGetFloat8(elements[i]);
    return given;
}

// Priors to be shown, none of them NULL.
GivenArray priors_argument(FunctionCallInfo fcinfo, int argument, const char *name) {
    constexpr int most = 1000;
    require(fcinfo, argument, name);
    GivenArray priors = given_array(PG_GETARG_ARRAYTYPE_P(argument));
    if (priors.n > most)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("%s has more than %d elements", name, most),
                        errhint("Pass fewer.")));
    for (int i = 0; i < priors.n; i++)
        if (priors.nulls[i] || !(priors.values[i] > 0 && priors.values[i] <= 1))
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("element %d of %s must be above 0 and at most 1, not %s", i + 1, name,
                                   priors.nulls[i] ? "NULL" : float8out_internal(priors.values[i])),
                            errhint("0.01 is the prior of somebody who holds one in a hundred for likely.")));
    return priors;
}

Datum epsilon_numeric(const Profile *profile) {
    return profile->constrains ? catalog::to_numeric(profile->epsilon) : catalog::text_numeric("Infinity");
}

} // namespace

// ---- making one ----------------------------------------------------------------------------------------------------

DP_CALL(dp_profile) {
    require(fcinfo, 0, "kind");
    GivenProfile given = {};
    given.kind = text_argument(fcinfo, 0);
    for (int i = 0; i < field_p; i++) {
        const int argument = i <= field_prior ? 1 + i : 4 + i; // arrays stand between them
        if (PG_ARGISNULL(argument))
            continue;
        given.numbers[i] = PG_GETARG_FLOAT8(argument);
        given.mark(static_cast<ProfileField>(i));
    }
    for (int i = 0; i < 3; i++)
        if (!PG_ARGISNULL(4 + i)) {
            given.arrays[i] = given_array(PG_GETARG_ARRAYTYPE_P(4 + i));
            given.mark(static_cast<ProfileField>(field_p + i));
        }
    return profile_json(checked_profile(given));
}

DP_CALL(dp_profile_epsilon) {
    require(fcinfo, 0, "profile");
    return epsilon_numeric(read_profile(PG_GETARG_DATUM(0)));
}

// ---- what it allows against whom -----------------------------------------------------------------------------------

namespace {

using Adversaries = std::vector<privacy::Prior>;

// Returns the adversaries of the profile's own kind, and the one who binds; sorted, each once.
const Adversaries *adversaries_of(const Profile *profile, const GivenArray &priors) {
    const privacy::RiskProfile &risk = *profile->risk;
    const bool in_p = risk.kind != privacy::ProfileKind::value, in_q = risk.kind != privacy::ProfileKind::inclusion;
    auto *all = border::context_new<Adversaries>();
    border::core([&] {
        for (const privacy::AllowedRisk &point : risk.points)
            all->push_back(point.prior);
        for (int i = 0; risk.kind != privacy::ProfileKind::points && i < (in_p ? priors.n : 1); i++)
            for (int j = 0; j < (in_q ? priors.n : 1); j++)
                all->push_back({in_p ? priors.values[i] : risk.fixed, in_q ? priors.values[j] : risk.fixed});
        if (profile->constrains)
            all->push_back(profile->binding.prior);
        const auto place = [](const privacy::Prior &prior) { return std::pair(prior.p, prior.q); };
        std::sort(all->begin(), all->end(), [&](const auto &a, const auto &b) { return place(a) < place(b); });
        all->erase(std::unique(all->begin(), all->end(), [&](const auto &a, const auto &b) { return place(a) == place(b); }),
                   all->end());
    });
    return all;
}

void put_adversary(ReturnSetInfo *result, const Profile *profile, privacy::Prior prior) {
    const double total = profile->constrains ? profile->epsilon.value() : get_float8_infinity();
    const double allowed = privacy::allowed_risk(*profile->risk, prior), epsilon = privacy::largest_epsilon(prior, allowed);
    const bool considered = !std::isinf(allowed);
    Datum values[7] = {Float8GetDatum(prior.p),
                       Float8GetDatum(prior.q),
                       Float8GetDatum(allowed),
                       Float8GetDatum(Min(1.0, allowed * prior.both())),
                       Float8GetDatum(epsilon),
                       Float8GetDatum(privacy::posterior_range(total, prior).most),
                       BoolGetDatum(epsilon <= profile->binding.epsilon * (1 + 1e-9) && profile->constrains)};
    bool nulls[7] = {false, false, !considered, !considered, false, false, false};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

} // namespace

DP_CALL(dp_risk_profile) {
    require(fcinfo, 0, "profile");
    const Profile *profile = read_profile(PG_GETARG_DATUM(0));
    const Adversaries *adversaries = adversaries_of(profile, priors_argument(fcinfo, 1, "priors"));
    InitMaterializedSRF(fcinfo, 0);
    for (const privacy::Prior &prior : *adversaries) {
        CHECK_FOR_INTERRUPTS();
        put_adversary(reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo), profile, prior);
    }
    return Datum(0);
}

// ---- what it costs -------------------------------------------------------------------------------------------------

namespace {

struct Utility {
    double stddev, error95; // NaN: they depend on the data
    double scale;           // of geometric noise of counts; 0: of something else
};

// The caller's: as the owner of the table, or under his policy.
rows::Question *public_question(const char *text) {
    query::TextScope scope;
    scope.enter(text);
    query::Parsed parsed = query::parse_select(text);
    Query *evaluated;
    query::Leaf *leaf = query::check_own_leaf(parsed, nullptr, &evaluated);
    scope.leave();
    catalog::Reading reading = catalog::Reading::open();
    rows::Question *question = rows::prepare(reading, leaf, nullptr);
    question->asker = catalog::current_asker();
    if (!border::owns_relation(question->settings->relation, GetUserId()))
        (void)catalog::policy_of_all(reading, question->settings, question->asker);
    reading.close();
    rows::check_asks_something(question);
    // A profile is a matter of pure epsilon: groups that nobody declared have no answer under it.
    rows::check_delta(question, privacy::Mechanism::laplace, privacy::Delta());
    return question;
}

// In the aggregate's own unit; an average's depends on how many rows there are. Core region.
double stddev_of(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate) {
    const int j = question->measure_of[aggregate];
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == privacy::MeasureKind::quantile)
        return std::numeric_limits<double>::quiet_NaN();
    if (!measure.has_parts())
        return plan.noise[j].stddev() * privacy::unit_of(measure, question->bounds[j]);
    const privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
    return fn == privacy::Aggregate::sum || fn == privacy::Aggregate::count
               ? privacy::part_stddev(measure.kind, fn, plan.noise[j], *question->bounds[j])
               : std::numeric_limits<double>::quiet_NaN();
}

Utility utility_of(const rows::Question *question, privacy::Epsilon epsilon) {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    constexpr int64 largest = 100; // that an answer is charged
    if (epsilon.units() > largest * 1000000000)
        epsilon = privacy::Epsilon::from_units(largest * 1000000000);
    return border::core([&] {
        if (question == nullptr) {
            const privacy::GeometricNoise noise = privacy::geometric_noise(epsilon.value());
            return Utility{noise.stddev, noise.halfwidth, 1 / epsilon.value()};
        }
        const auto plan =
            privacy::plan_release(privacy::Mechanism::laplace, *question->measures, false, epsilon, privacy::Delta());
        Utility utility = {none, none, plan.noise[0].laplace.value()};
        for (int i = 0; i < question->leaf->naggregates; i++) {
            utility.stddev = std::fmax(utility.stddev, stddev_of(question, plan, i)); // which passes NaN by
            utility.error95 = std::fmax(utility.error95, release::halfwidth(question, plan, i));
        }
        for (const privacy::Measure &measure : *question->measures)
            if (measure.kind != privacy::MeasureKind::count || measure.grain != 1)
                utility.scale = 0;
        return utility;
    });
}

void put_utility(ReturnSetInfo *result, const Profile *profile, const Utility &utility, double distance) {
    const bool counts = profile->constrains && utility.scale > 0;
    const double epsilon = counts ? 1 / utility.scale : 0;
    Datum values[7] = {profile_json(profile),
                       epsilon_numeric(profile),
                       Float8GetDatum(utility.stddev),
                       Float8GetDatum(utility.error95),
                       Float8GetDatum(counts ? privacy::geometric_noise(epsilon).exact : 0),
                       Float8GetDatum(distance),
                       Float8GetDatum(privacy::switch_probability(epsilon, distance))};
    bool nulls[7] = {false,
                     false,
                     !profile->constrains || std::isnan(utility.stddev),
                     !profile->constrains || std::isnan(utility.error95),
                     !counts,
                     false,
                     !counts};
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

GivenArray distances_argument(FunctionCallInfo fcinfo, int argument) {
    require(fcinfo, argument, "distances");
    GivenArray distances = given_array(PG_GETARG_ARRAYTYPE_P(argument));
    for (int i = 0; i < distances.n; i++)
        if (distances.nulls[i] || !(distances.values[i] >= 0 && std::isfinite(distances.values[i])))
            ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                            errmsg("element %d of distances must be at least 0, not %s", i + 1,
                                   distances.nulls[i] ? "NULL" : float8out_internal(distances.values[i])),
                            errhint("1 asks how often noise moves a count across a threshold that is one away.")));
    return distances;
}

} // namespace

DP_CALL(dp_profile_utility) {
    require(fcinfo, 0, "profiles");
    GivenArray distances = distances_argument(fcinfo, 2);
    const rows::Question *question = PG_ARGISNULL(1) ? nullptr : public_question(text_argument(fcinfo, 1));
    Datum *elements;
    bool *nulls;
    int n;
    deconstruct_array(PG_GETARG_ARRAYTYPE_P(0), JSONBOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
    constexpr int most = 100;
    if (n > most)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("profiles has more than %d elements", most),
                        errhint("Pass fewer.")));
    InitMaterializedSRF(fcinfo, 0);
    for (int i = 0; i < n; i++) {
        if (nulls[i])
            ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("profiles must not contain NULL")));
        const Profile *profile = read_profile(elements[i]);
        const Utility utility = profile->constrains ? utility_of(question, profile->epsilon) : Utility{};
        for (int j = 0; j < distances.n; j++)
            put_utility(reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo), profile, utility, distances.values[j]);
    }
    return Datum(0);
}

// ---- what an epsilon means -----------------------------------------------------------------------------------------

static double checked_meaning(double epsilon) {
    if (!(epsilon >= 0))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("epsilon must not be negative, nor NaN, as %s is", float8out_internal(epsilon)),
                        errhint("1 is a usual total.")));
    return epsilon;
}

DP_CALL(dp_epsilon_meaning) {
    require(fcinfo, 0, "epsilon");
    double epsilon = checked_meaning(PG_GETARG_FLOAT8(0));
    GivenArray p = priors_argument(fcinfo, 1, "p"), q = priors_argument(fcinfo, 2, "q");
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    for (int i = 0; i < p.n; i++)
        for (int j = 0; j < q.n; j++) {
            CHECK_FOR_INTERRUPTS();
            const privacy::Prior prior = {p.values[i], q.values[j]};
            const privacy::PosteriorRange range = privacy::posterior_range(epsilon, prior);
            Datum values[6] = {Float8GetDatum(prior.p),      Float8GetDatum(prior.q),
                               Float8GetDatum(prior.both()), Float8GetDatum(range.least),
                               Float8GetDatum(range.most),   Float8GetDatum(range.most / prior.both())};
            bool nulls[6] = {};
            tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
        }
    return Datum(0);
}

} // namespace dp::sql
