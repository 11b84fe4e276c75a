// How right numbers of a protected table will be: what its owner is told who sets a limit. From policies and declarations; no row is read.
#include "privacy/denial_words.hpp"
#include "sql/call_arguments.hpp"
#include "sql/domain_members.hpp"
#include "sql/told.hpp"

using dp::catalog::Visit;

namespace dp::sql {

using privacy::CountTerms;

static Datum column_at(uint64 row, int column) {
    bool isnull;
    return border::Spi::value(row, column, &isnull);
}

static ArrayType *array_at(uint64 row, int column) {
    bool isnull;
    const Datum array = border::Spi::value(row, column, &isnull);
    return isnull ? nullptr : DatumGetArrayTypeP(array);
}

// Reads the terms of one policy, and shows them to `see`.
template <class F> static void see_terms(const Visit &visit, uint64 row, bool in_rho, F see) {
    const auto *candidates = catalog::candidates_from_array(array_at(row, 4));
    const char *mechanism = visit.spi.text(row, 2);
    const privacy::Delta delta = catalog::to_delta(column_at(row, 3), "delta");
    const privacy::Epsilon epsilon_max = catalog::to_epsilon(column_at(row, 5), "epsilon_max");
    const double tau = DatumGetFloat8(column_at(row, 1));
    border::core([&] {
        see(CountTerms{tau, *catalog::mechanism_from_name(mechanism), *candidates, epsilon_max, delta, in_rho});
    });
}

const CountTerms *terms_at(double tau) {
    auto *terms = border::context_new<CountTerms>();
    border::core([&] {
        terms->tau = tau;
        terms->candidates = privacy::paper_candidates();
        terms->epsilon_max = terms->candidates.front();
    });
    return terms;
}

static bool adds_up_rho(const privacy::BoundSettings &bound) {
    return bound.bound == privacy::Bound::zcdp && !bound.splits_pure();
}

const CountTerms *strictest_terms(Oid relation) {
    constexpr double tau_where_none_is_granted = 0.95;
    auto *strictest = border::context_new<CountTerms>();
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    reading.close();
    strictest->in_rho = bound != nullptr && adds_up_rho(bound->settings);
    Visit visit = Visit::read();
    const uint64 n = run(visit,
                         "SELECT p.tau, p.mechanism, p.delta, p.candidates, p.epsilon_max FROM dp_rdr.restricted_view v "
                         "JOIN dp_rdr.policy p ON p.view = v.view WHERE v.relation::oid = $1 AND p.tau IS NOT NULL",
                         relation);
    double error95 = -1;
    for (uint64 row = 0; row < n; row++)
        see_terms(visit, row, strictest->in_rho, [&](const CountTerms &terms) { // the least accurate ones
            const std::optional<privacy::MeasureNoise> noise = noise_of_count(terms, 1);
            if (!noise || noise->halfwidth(0.05) <= error95)
                return;
            error95 = noise->halfwidth(0.05);
            *strictest = terms;
        });
    visit.leave();
    return error95 < 0 ? terms_at(tau_where_none_is_granted) : strictest;
}

// ---- prices beyond the total ---------------------------------------------------------------------------------------

// $1: the table, $2, $3: the view and the role, 0 for all. Of policies that choose epsilon by tau alone.
static constexpr char priced_sql[] = R"sql(
SELECT p.tau, p.mechanism, p.delta, p.candidates, p.epsilon_max, p.epsilon_total, format('%s on %s', p.grantee, p.view), p.tau::text
FROM dp_rdr.protected_table t JOIN dp_rdr.protected_table o ON o.domain = t.domain
JOIN dp_rdr.restricted_view v ON v.relation = o.relation JOIN dp_rdr.policy p ON p.view = v.view
WHERE t.relation::oid = $1 AND p.selection = 'within_domain' AND ($2 = 0::oid OR (p.view::oid, p.grantee::oid) = ($2, $3))
ORDER BY p.grantee::text COLLATE "C", p.view::text COLLATE "C")sql";

// Returns why a count is denied where nothing was spent, in words, with its price; null: it is not, or for another reason.
static const char *priced_out(const Visit &visit, uint64 row, const privacy::BoundSettings &bound) {
    bool no_share;
    const Datum value = border::Spi::value(row, 6, &no_share);
    const std::optional<privacy::Epsilon> share =
        no_share ? std::nullopt : std::optional<privacy::Epsilon>(catalog::to_epsilon(value, "epsilon_total"));
    privacy::Denial denial = privacy::Denial::none;
    privacy::Cost cost;
    see_terms(visit, row, adds_up_rho(bound), [&](const CountTerms &terms) {
        if (const std::optional<privacy::Cost> found = cost_of_count(terms)) {
            cost = *found;
            denial = fit(cost, privacy::Account::public_account, bound, {}, {}, share);
        }
    });
    if (denial != privacy::Denial::epsilon_total && denial != privacy::Denial::role_share)
        return nullptr;
    const privacy::Basis basis = bound.basis_of(cost.pure);
    return psprintf("At tau %s it costs %s %s, beyond the %s.", visit.spi.text(row, 8), name_of(basis),
                    basis == privacy::Basis::rho ? printed(cost.rho) : printed(cost.epsilon),
                    words_for(denial, bound, basis, false));
}

void warn_of_price(Oid relation, Oid view, Oid role) {
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    reading.close();
    if (bound == nullptr || (bound->settings.epsilon_total && bound->settings.epsilon_total->units() == 0))
        return; // of nothing: that is meant
    StringInfoData policies;
    initStringInfo(&policies);
    const char *price = nullptr;
    Visit visit = Visit::read();
    const uint64 n = run(visit, priced_sql, relation, view, role);
    MemoryContextSwitchTo(visit.spi.caller);
    for (uint64 row = 0; row < n; row++)
        if (const char *found = priced_out(visit, row, bound->settings)) {
            price = price == nullptr ? found : price;
            appendStringInfo(&policies, "%s%s", policies.len > 0 ? ", " : "", visit.spi.text(row, 7));
        }
    visit.leave();
    if (price != nullptr)
        ereport(WARNING,
                (errmsg("every count that does not ask for an epsilon of its own will be denied, as the total is smaller, for "
                        "role %s",
                        policies.data),
                 errdetail_internal("%s", price),
                 errhint("Raise the total with dp_set_odometer(), or a share with dp_grant(); or grant a larger tau, or a "
                         "smaller epsilon_max.")));
}

// ---- what is told --------------------------------------------------------------------------------------------------

static bool has_several(Oid relation, const catalog::UnitPath *path) {
    return path != nullptr && !(path->direct && catalog::covers_key(relation, path->ncolumns, path->columns));
}

// Says under which preference and with which noise.
static const char *terms_text(const CountTerms *terms) {
    const bool gaussian = border::core(
        [&] { return noise_of_count(*terms, 1)->mechanism == privacy::Mechanism::gaussian; });
    return psprintf("at tau %s with %s noise", float8out_internal(terms->tau), gaussian ? "Gaussian" : "Laplace");
}

void tell_accuracy(Oid relation) {
    const catalog::UnitPath *path = declared_unit(relation);
    if (is_silent() || !has_several(relation, path))
        return;
    const CountTerms *terms = strictest_terms(relation);
    const double people = border::core([&] { return error95_of_count(*terms, 1); });
    const double rows = border::core([&] { return error95_of_count(*terms, path->max_rows); });
    if (people < 1) // other limits of epsilon decide
        return;
    const char *name = catalog::qualified_name(relation);
    ereport(NOTICE,
            (errmsg("%s a count of people will be right to about %.0f, and one of rows of %s to about %.0f",
                    terms_text(terms), people, name, rows),
             errdetail("95 of 100 answers are as close. Noise hides %d rows, as many as one person may have (max_rows).",
                       path->max_rows),
             errhint("What most people have is enough: dp_set_contribution(%s, max_rows => ...) lowers it.",
                     quote_literal_cstr(name))));
}

void tell_accuracy_of_sum(Oid relation, const char *column, Datum lower, Datum upper) {
    if (is_silent())
        return;
    const catalog::UnitPath *path = declared_unit(relation);
    const int rows = has_several(relation, path) ? path->max_rows : 1;
    const double low = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, lower));
    const double high = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, upper));
    const double largest = Max(fabs(low), fabs(high));
    const CountTerms *terms = strictest_terms(relation);
    const double error95 = border::core([&] { return error95_of_count(*terms, rows); });
    ereport(NOTICE, (errmsg("%s a sum of %s will be right to about %.4g: noise hides %d %s of %.6g", terms_text(terms),
                            quote_identifier(column), error95 * largest, rows, rows == 1 ? "row" : "rows", largest)));
}

} // namespace dp::sql
