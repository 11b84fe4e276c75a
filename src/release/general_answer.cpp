#include "release/general_answer.hpp"

#include <cmath>

#include "border/columns.hpp"
#include "release/random.hpp"
#include "risk/closed_forms.hpp"
#include "risk/memory.hpp"
#include "risk/result.hpp"
#include "rows/unit_checks.hpp"

namespace dp::release {

static double derived_sensitivity(const risk::GeneralQuestion *question, privacy::Mechanism mechanism,
                                  privacy::Calibration calibration, int64 rows) {
    const risk::ClosedForms *forms = risk::find_closed_forms(question);
    return forms == nullptr ? get_float8_nan() : risk::largest_change(forms, mechanism, calibration, rows);
}

[[noreturn]] static void ask_for_sensitivity(const risk::GeneralQuestion *question) {
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("pass sensitivity => ..., the largest change that one individual can make"),
             question->refusal == nullptr ? 0 : errdetail("No analyst may ask this query: %s.", question->refusal),
             errhint("It follows from what the query may see at all, not from the rows that are there. Declared "
                     "bounds give it for count, sum, avg, variance, stddev, min, max and percentiles of columns, "
                     "in a query of one level.")));
    pg_unreachable();
}

void check_declared(const risk::GeneralQuestion *question, privacy::Mechanism mechanism, double sensitivity) {
    if (std::isnan(sensitivity) && std::isnan(derived_sensitivity(question, mechanism, privacy::Calibration::sound, 1)))
        ask_for_sensitivity(question);
}

privacy::DeclaredVector declared_vector(const risk::GeneralQuestion *question, const risk::GeneralRisk &risk,
                                        privacy::Mechanism mechanism, privacy::Calibration calibration,
                                        double sensitivity) {
    double change =
        std::isnan(sensitivity) ? derived_sensitivity(question, mechanism, calibration, risk.memo->rows) : sensitivity;
    return privacy::DeclaredVector{change, risk.coordinates, risk.changed};
}

void check_somebody(const risk::GeneralRisk &risk) {
    if (risk.memo->rows == 0)
        refuse_state("the table is empty: there is nobody whose risk could be shown");
}

// ---- choice and charge ---------------------------------------------------------------------------------------------

// All that can be known to be wrong with a declaration.
static void check_nobody_exceeds(const risk::GeneralRisk &risk, double sensitivity) {
    double largest = border::core([&] { return risk.memo->profile->max(); });
    if (largest > sensitivity * (1 + 1e-9)) // rounding
        refuse_value(psprintf("an individual changes the result by %s, more than the declared sensitivity %s",
                              float8out_internal(largest), float8out_internal(sensitivity)),
                     "Declare the largest change that is possible at all, not the largest among these rows.");
}

// Public facts only: the number of coordinates is not one.
static const char *describe(const Terms &terms, double sensitivity) {
    return psprintf("{\"tau\": %s, \"sensitivity\": %s}", float8out_internal(terms.tau),
                    float8out_internal(sensitivity));
}

static privacy::Epsilon charge(const risk::GeneralQuestion *question, const Terms &terms,
                               const privacy::DeclaredVector &vector, const risk::GeneralRisk &risk) {
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    catalog::Charge charge = {};
    border::core([&] {
        *measures = privacy::declared_measures(vector);
        charge.eps_star = privacy::find_eps_declared(*risk.memo->profile, vector, terms.mechanism, terms.tau,
                                                     terms.delta, *terms.candidates)
                              .eps_star;
        charge.delta = charge.delta_noise = privacy::delta_charged(terms.mechanism, false, terms.delta);
    });
    charge.slack = privacy::sound_slack;
    charge.settings = question->settings;
    charge.asker = catalog::current_asker(); // general queries are the controller's own
    charge.query = question->text;
    charge.algorithm = "find_epsilon";
    charge.guarantee = "declared sensitivity";
    charge.kind = terms.mechanism == privacy::Mechanism::laplace ? "pure" : "gaussian";
    charge.mechanism = terms.mechanism;
    charge.account = privacy::Account::conditional;
    charge.candidates = terms.candidates;
    charge.parameters = describe(terms, vector.sensitivity);
    charge.measures = measures;
    return catalog::charge(charge);
}

// ---- noise and rows ------------------------------------------------------------------------------------------------

static TupleDesc describe_answer(const risk::GeneralQuestion *question) {
    int n = 0;
    for (int i = 0; i < question->ncolumns; i++)
        n += question->columns[i].hidden ? 0 : 1;
    TupleDesc desc = CreateTemplateTupleDesc(n);
    n = 0;
    for (int i = 0; i < question->ncolumns; i++) {
        const risk::ResultColumn &column = question->columns[i];
        if (column.hidden)
            continue;
        TupleDescInitEntry(desc, ++n, column.name, column.coordinate ? FLOAT8OID : column.type,
                           column.coordinate ? -1 : column.typmod, 0);
        if (!column.coordinate)
            TupleDescInitEntryCollation(desc, n, column.collation);
    }
    border::tell_columns_apart(desc);
    return BlessTupleDesc(desc);
}

namespace {
// A coordinate in units of the lattice.
struct Point {
    privacy::int128 units;
};
} // namespace

// The nearest points of the lattice, per row. Before the charge: a result that is too large for it costs nothing.
static border::Spill<Point> points_of(const risk::GeneralQuestion *question, const risk::Result &result,
                                      const privacy::DeclaredLattice &lattice) {
    auto points = border::Spill<Point>::make(question->ncoordinates, risk::share_of_memory());
    risk::read_from_start(result);
    while (risk::next_row(result)) {
        CHECK_FOR_INTERRUPTS();
        Point *point = points.append();
        border::core([&] {
            for (int c = 0; c < question->ncolumns; c++)
                if (question->columns[c].coordinate)
                    (point++)->units = privacy::declared_point(lattice, DatumGetFloat8(result.slot->tts_values[c]));
        });
    }
    return points;
}

static void add_noise(const border::Spill<Point> &points, int width, const Terms &terms,
                      const privacy::DeclaredVector &vector, privacy::Epsilon epsilon) {
    auto *bits = border::context_new<StrongBits>();
    auto *plan = border::context_new<privacy::ReleasePlan>();
    border::core([&] { *plan = privacy::plan_declared(vector, terms.mechanism, epsilon, terms.delta); });
    for (int64 i = 0; i < points.count(); i++) {
        CHECK_FOR_INTERRUPTS();
        Point *point = points.change(i);
        border::core([&] {
            for (int c = 0; c < width; c++)
                point[c].units += privacy::draw(*bits, plan->noise.front());
        });
    }
}

static void put_rows(const risk::GeneralQuestion *question, const risk::Result &result,
                     const border::Spill<Point> &points, const privacy::DeclaredLattice &lattice, Answer *answer) {
    auto *values = static_cast<Datum *>(palloc0(sizeof(Datum) * (question->ncolumns + 1)));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * (question->ncolumns + 1)));
    risk::read_from_start(result);
    for (int64 i = 0; risk::next_row(result); i++) {
        CHECK_FOR_INTERRUPTS();
        const Point *point = points.at(i);
        int at = 0;
        for (int c = 0; c < question->ncolumns; c++) {
            const risk::ResultColumn &column = question->columns[c];
            if (column.hidden)
                continue;
            nulls[at] = result.slot->tts_isnull[c];
            values[at++] = column.coordinate
                               ? Float8GetDatum(border::core([&] { return lattice.value((point++)->units); }))
                               : result.slot->tts_values[c];
        }
        tuplestore_putvalues(answer->rows, answer->desc, values, nulls);
    }
}

Answer answer_declared(const risk::GeneralQuestion *question, const Terms &terms, double sensitivity) {
    if (std::isnan(sensitivity))
        ask_for_sensitivity(question);
    rows::check_delta(question->table, terms.mechanism, terms.delta);
    risk::GeneralRisk risk = risk::general_risk(question, terms.mechanism, false, "dp_find_epsilon");
    check_somebody(risk);
    check_nobody_exceeds(risk, sensitivity);
    privacy::DeclaredVector vector =
        declared_vector(question, risk, terms.mechanism, privacy::Calibration::sound, sensitivity);
    risk::Result result = risk::run_once(question);
    privacy::DeclaredLattice lattice = border::core([&] { return privacy::declared_lattice(vector); });
    border::Spill<Point> points = points_of(question, result, lattice);
    Answer answer = {};
    answer.facts.paid.epsilon = charge(question, terms, vector, risk);
    answer.desc = describe_answer(question);
    add_noise(points, question->ncoordinates, terms, vector, answer.facts.paid.epsilon);
    answer.rows = tuplestore_begin_heap(true, false, work_mem);
    put_rows(question, result, points, lattice, &answer);
    risk::discard(result);
    return answer;
}

} // namespace dp::release
