// How right numbers of a protected table will be: what its owner is told who sets a limit. From policies and declarations; no row is read.
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

// Takes the terms of one policy if a count under them is less accurate.
static void take_stricter(const Visit &visit, uint64 row, CountTerms *strictest, double *error95) {
    const auto *candidates = catalog::candidates_from_array(array_at(row, 4));
    const char *mechanism = visit.spi.text(row, 2);
    const privacy::Delta delta = catalog::to_delta(column_at(row, 3), "delta");
    const privacy::Epsilon epsilon_max = catalog::to_epsilon(column_at(row, 5), "epsilon_max");
    const double tau = DatumGetFloat8(column_at(row, 1));
    border::core([&] {
        const CountTerms terms = {tau,         *catalog::mechanism_from_name(mechanism), *candidates,
                                  epsilon_max, delta,                                    strictest->in_rho};
        const std::optional<privacy::MeasureNoise> noise = noise_of_count(terms, 1);
        if (!noise || noise->halfwidth(0.05) <= *error95)
            return;
        *error95 = noise->halfwidth(0.05);
        *strictest = terms;
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

const CountTerms *strictest_terms(Oid relation) {
    constexpr double tau_where_none_is_granted = 0.95;
    auto *strictest = border::context_new<CountTerms>();
    catalog::Reading reading = catalog::Reading::open();
    const catalog::Bound *bound = catalog::read_bound(reading, relation);
    reading.close();
    strictest->in_rho = bound != nullptr && bound->settings.bound == privacy::Bound::zcdp && !bound->settings.splits_pure();
    Visit visit = Visit::read();
    const uint64 n = run(visit,
                         "SELECT p.tau, p.mechanism, p.delta, p.candidates, p.epsilon_max FROM dp_rdr.restricted_view v "
                         "JOIN dp_rdr.policy p ON p.view = v.view WHERE v.relation::oid = $1 AND p.tau IS NOT NULL",
                         relation);
    double error95 = -1;
    for (uint64 row = 0; row < n; row++)
        take_stricter(visit, row, strictest, &error95);
    visit.leave();
    return error95 < 0 ? terms_at(tau_where_none_is_granted) : strictest;
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
