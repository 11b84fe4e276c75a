#include "rows/selection_sums.hpp"

#include <cmath>

#include "border/refuse.hpp"
#include "rows/built_in_calls.hpp"
#include "rows/built_in_points.hpp"
#include "rows/cell_calls.hpp"
#include "rows/measures.hpp"
#include "rows/nodes.hpp"
#include "rows/sums.hpp"

namespace dp::rows {

void check_selection_measures(const Question *question) {
    constexpr int most = FUNC_MAX_ARGS - 2; // behind the state and the specification
    if (question->nmeasures > most)
        refuse_size(psprintf("more than %d measures under a preference with tau_var", most),
                    "Ask for fewer aggregates in one query.");
}

// With Laplace noise one pair of sums serves all candidates.
static int width_of(const Selection *selection) {
    return selection->tested->mechanism == privacy::Mechanism::laplace ? 1 : selection->ntested;
}

static Node *spec_of(const Question *question, const privacy::SvtCandidate *tested, int ntested) {
    SpecHeader header;
    header.candidates = ntested;
    header.gaussian = tested->mechanism == privacy::Mechanism::gaussian ? 1 : 0;
    return make_spec(question, header, all_measures(question), tested);
}

List *selection_columns(const Question *question, const Selection *selection, Node *among) {
    const int width = width_of(selection);
    if (!question->by_points)
        return list_make1(
            call_cells(lcons(spec_of(question, selection->tested, width), contributed_nodes(question)), nullptr));
    List *columns = list_make1(count_aggregate(nullptr, another(among)));
    for (int j = 0; j < width; j++)
        for (int c = 1; c <= 2; c++) {
            Node *point = selection_point(question, selection->tested[j], contributed_nodes(question));
            columns = lappend(columns, make_exact_sum(c == 1 ? point : operation(point, "*", another(point)), another(among)));
        }
    return columns;
}

void add_selection(const Question *question, const Selection *selection, const Datum *columns) {
    columns += question->leaf->nkeys + number_of_cell_columns(question);
    const int width = width_of(selection), all = 1 + 2 * width;
    const auto number = [&](int c) { return question->by_points ? sum_of(columns[c]) : sum_at(*columns, c, all); };
    const auto rows = question->by_points ? DatumGetInt64(*columns) : static_cast<int64>(number(0));
    for (int j = 0; j < width; j++) {
        selection->sums[j].n += rows;
        selection->sums[j].s1 += number(1 + 2 * j);
        selection->sums[j].s2 += number(2 + 2 * j);
    }
}

void add_sizes(const Question *question, int measure, const UnitContribution &unit, double *sizes, double *squares) {
    const int first = first_coordinate_of(question, measure), end = first + (*question->measures)[measure].coordinates();
    for (int i = 0; i < unit.ngroups; i++)
        for (int c = first; c < end; c++) {
            const double size = std::fabs(static_cast<double>(unit.values[int64{i} * question->ncoordinates + c]));
            *sizes += size;
            *squares += size * size;
        }
}

double pis_of_unit(const Question *question, privacy::Mechanism mechanism, const UnitContribution &unit) {
    const bool laplace = mechanism == privacy::Mechanism::laplace;
    double all = 0;
    for (int j = 0; j < question->nmeasures; j++) {
        const double most = static_cast<double>((*question->measures)[j].sensitivity);
        double size = 0, square = 0;
        add_sizes(question, j, unit, &size, &square);
        all += laplace ? size / most : square / (most * most);
    }
    return laplace ? all : std::sqrt(all);
}

void add_unit(const Question *question, const Selection *selection, const UnitContribution &brought) {
    const double pis = pis_of_unit(question, selection->tested->mechanism, brought);
    for (int j = 0; j < width_of(selection); j++) {
        const privacy::int128 point = privacy::svt_point(selection->tested[j], pis);
        selection->sums[j].n += 1;
        selection->sums[j].s1 += point;
        selection->sums[j].s2 += point * point;
    }
}

void add_the_others(const Selection *selection, int64 rows) {
    const int width = width_of(selection);
    for (int j = 0; j < selection->ntested; j++) {
        privacy::SelectionSums *sums = &selection->sums[j];
        if (j >= width)
            *sums = selection->sums[0]; // complete by now
        else {
            privacy::int128 least = selection->tested[j].least, others = rows - sums->n;
            sums->s1 += others * least;
            sums->s2 += others * least * least;
            sums->n = rows;
        }
    }
}

} // namespace dp::rows
