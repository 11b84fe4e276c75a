#include "rows/measures.hpp"

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"
#include "privacy/quantile.hpp"

#include "border/each.hpp"
#include "border/refuse.hpp"
#include "catalog/domain.hpp"
#include "query/grammar.hpp"
#include "rows/aggregate_arguments.hpp"
#include "rows/engine.hpp"
#include "rows/people_sources.hpp"
#include "rows/public_values.hpp"
#include "rows/texts.hpp"
#include "rows/totals.hpp"

namespace dp::rows {

// ---- rows of a unit in one group (formulas.md, 9.14) -------------------------------------------------------------------

namespace {
// Columns of a table that are known where a group and a unit are.
struct Known {
    const Source *source;
    int n;
    AttrNumber *columns;
};
} // namespace

// Returns the only table of which a unit may have several rows, where each of them is in one joined row at most; null: there is none.
static const Source *counted_source(const Question *question) {
    const query::Joined *joined = question->units->joined;
    if (joined == nullptr)
        return &question->sources[0];
    if (joined->several < 0 || joined->max_rows != question->sources[joined->several].settings->unit->max_rows)
        return nullptr;
    return &question->sources[joined->several];
}

// Returns the key as a plain column of a source, numbered as those of the tables; 0: it is none.
static AttrNumber column_of_key(const Question *question, int key) {
    const auto *column = reinterpret_cast<const Var *>(question->leaf->keys[key].expression);
    if (!IsA(column, Var) || source_at(question, column->varno) == nullptr)
        return InvalidAttrNumber;
    return map_number(question, query::column_number(column));
}

// Adds the columns of a source that WHERE equates with this one. Equalities are strict: neither is NULL in a joined row.
static void add_equated(const Question *question, AttrNumber number, Known *known) {
    const query::Joined *joined = question->units->joined;
    for (auto *equality : border::each<const query::Equality>(joined == nullptr ? NIL : joined->equalities)) {
        if (equality->on != nullptr || equality->by != nullptr ||
            (equality->left != number && equality->right != number))
            continue;
        const AttrNumber other = equality->left == number ? equality->right : equality->left;
        if (query::varno_of(other) == known->source->source->varno)
            known->columns[known->n++] = query::attno_of(other);
    }
}

static bool covers(const Known &known) {
    if (known.source->people == nullptr)
        return catalog::covers_key(known.source->relation, known.n, known.columns);
    List *columns = NIL;
    for (int i = 0; i < known.n; i++)
        columns = lappend_int(columns, known.columns[i]);
    return list_difference_int(key_of_people(*known.source), columns) == NIL;
}

// Has room for the unit, and for each key or equality once.
static Known begin_known(const Question *question, const Source *source) {
    const query::Joined *joined = question->units->joined;
    const int room = catalog::max_unit_columns + question->leaf->nkeys +
                     2 * list_length(joined == nullptr ? NIL : joined->equalities) * (question->leaf->nkeys + 1);
    return Known{source, 0, array_of<AttrNumber>(room)};
}

// The unit, the keys that are columns of the table and never NULL, and what is equated with keys. A sub-SELECT that groups by a column has
// one row with NULL in it.
static Known known_by_keys(const Question *question, const Source *source) {
    const catalog::UnitPath *path = source->settings->unit;
    Known known = begin_known(question, source);
    for (int i = 0; i < path->ncolumns; i++)
        known.columns[known.n++] = path->columns[i];
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const AttrNumber number = column_of_key(question, i);
        if (number == InvalidAttrNumber)
            continue;
        if (query::varno_of(number) == source->source->varno &&
            (source->people != nullptr || !is_nullable(question, number)))
            known.columns[known.n++] = query::attno_of(number);
        add_equated(question, number, &known);
    }
    return known;
}

// Adds what the rows of a public table with one group's values may be joined by, if that is a key of it. Returns how many there are of
// them; 1 where it adds nothing.
static int64 add_public(const catalog::Reading &reading, const Question *question, const Source &source, Known *known) {
    Known key = begin_known(question, &source);
    const int before = known->n;
    for (auto *equality : border::each<const query::Equality>(question->units->joined->equalities)) {
        const bool left = query::varno_of(equality->left) == source.source->varno;
        const AttrNumber own = left ? equality->left : equality->right, other = left ? equality->right : equality->left;
        if (equality->on != nullptr || equality->by != nullptr || query::varno_of(own) != source.source->varno ||
            query::varno_of(other) != known->source->source->varno)
            continue;
        key.columns[key.n++] = query::attno_of(own);
        known->columns[known->n++] = query::attno_of(other);
    }
    Known shown = begin_known(question, &source);
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const AttrNumber number = column_of_key(question, i);
        if (number != InvalidAttrNumber && query::varno_of(number) == source.source->varno)
            shown.columns[shown.n++] = query::attno_of(number);
    }
    if (shown.n == 0 || source.source->rows != nullptr || !covers(key)) {
        known->n = before;
        return 1;
    }
    return largest_multiplicity(&reading, *source.source, shown.n, shown.columns, true);
}

// Returns how many rows of a unit are in one group by keys: at most max_rows, which it is where they tell nothing. Public rows are counted
// where keys of GROUP BY are theirs.
static int rows_per_group_by_keys(const catalog::Reading &reading, const Question *question) {
    const int most = question->units->max_rows;
    const Source *source = counted_source(question);
    if (source == nullptr || !source->settings->unit->direct || source->source->nullable)
        return most;
    Known known = known_by_keys(question, source);
    int64 rows = 1;
    for (int i = 0; i < question->nsources && !covers(known); i++)
        if (question->sources[i].source->is_public && !question->sources[i].source->tested)
            rows = Min(rows * Max(add_public(reading, question, question->sources[i], &known), 1), most);
    return covers(known) ? static_cast<int>(Min(rows, most)) : most;
}

// ---- measures ------------------------------------------------------------------------------------------------------

// Sets how finely measures are counted: what is clipped in several groups is no whole number of rows. Thresholds compare counts of units.
static void set_grains(const Question *question, std::vector<privacy::Measure> *measures) {
    for (privacy::Measure &measure : *measures) {
        bool compared = question->thresholded && &measure == &measures->front();
        measure.one_group = question->units->one_group;
        bool parted = measure.kind == privacy::MeasureKind::quantile || // by cells
                      (measure.kind == privacy::MeasureKind::count && !measure.one_group && !measure.of_values);
        if (parted && !compared)
            measure.grain = privacy::fine_grain;
    }
}

std::vector<privacy::Measure> measures_of(const Question *question, const query::Leaf *leaf, const int64 *fractions,
                                          bool thresholded, bool one_in_group) {
    std::vector<privacy::AggregateCall> calls;
    for (int i = 0; i < leaf->naggregates; i++) {
        const query::Aggregate &aggregate = leaf->aggregates[i];
        calls.push_back({aggregate.fn, query::argument_number(aggregate), aggregate.filter, fractions[i]});
    }
    return privacy::leaf_measures(calls, thresholded, is_clipped(question) && !question->units->single, one_in_group);
}

int first_coordinate_of(const Question *question, int measure) {
    int first = 0;
    for (int j = 0; j < measure; j++)
        first += (*question->measures)[j].coordinates();
    return first;
}

void find_measures(const catalog::Reading &reading, Question *question, const int64 *fractions) {
    const bool one_in_group = question->thresholded && is_clipped(question) && !question->units->single &&
                              rows_per_group_by_keys(reading, question) == 1;
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        *measures = measures_of(question, question->leaf, fractions, question->thresholded, one_in_group);
        if (is_clipped(question))
            set_grains(question, measures);
        question->ncoordinates = privacy::coordinates_of_one_group(*measures);
        question->nmeasures = static_cast<int>(measures->size());
    });
    question->measures = measures;
}

// Returns how much a row adds at most: in l1 norm, over all coordinates.
static uint64 row_sensitivity_of(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    switch (measure.kind) {
    case privacy::MeasureKind::count:
    case privacy::MeasureKind::quantile:
        return measure.grain; // 1 where a row is a unit
    case privacy::MeasureKind::sum:
        return question->bounds[j]->sensitivity();
    case privacy::MeasureKind::pair:
    case privacy::MeasureKind::triple:
        return privacy::pair_one;
    case privacy::MeasureKind::products:
    case privacy::MeasureKind::moments:
        return privacy::joint_sensitivity(measure.kind);
    }
    pg_unreachable();
}

static void check_sum(const Question *question, int j, uint64 of_row) {
    const int max_rows = question->units->max_rows;
    if (of_row > privacy::largest_sensitivity / max_rows)
        refuse_size(psprintf("the sum of %s over %d rows of a person may be too large",
                             argument_text(question, (*question->measures)[j].calls.front()), max_rows),
                    "Sum a smaller range, such as least(greatest(x, LOW), HIGH), or ask with a smaller "
                    "max_rows.",
                    "Its bounds times max_rows are more than 2^50.");
}

// D_j: of a row, or of a unit (9.2), which brings max_rows rows, a declared total, or itself to max_groups groups.
static uint64 sensitivity_of(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    const Units *units = question->units;
    const uint64 of_row = row_sensitivity_of(question, j);
    if (!is_clipped(question))
        return of_row;
    if (measure.of_units)
        return privacy::units_sensitivity(units->max_groups, measure.grain);
    if (question->totals[j].text != nullptr)
        return question->totals[j].points;
    if (measure.kind == privacy::MeasureKind::sum)
        check_sum(question, j, of_row);
    return privacy::sum_sensitivity(units->max_rows, of_row);
}

// A sum of whole numbers over a unit that is in several groups loses up to one in each to the floors of the clip: on a lattice as
// fine as that of other numbers it does not show (9.2).
static const privacy::Bounds *bounds_of_parts(const privacy::Bounds *of_row) {
    auto *fine = border::context_new<privacy::Bounds>();
    border::core([&] { *fine = privacy::make_bounds(of_row->lower, of_row->upper, false); });
    return fine->exponent < of_row->exponent ? fine : of_row;
}

void find_sensitivities(const catalog::Reading &reading, Question *question) {
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] { *measures = *question->measures; });
    question->bounds = zeroed<const privacy::Bounds *>(question->nmeasures + 1);
    question->second_bounds = zeroed<const privacy::Bounds *>(question->nmeasures + 1);
    question->totals = zeroed<UnitTotal>(question->nmeasures + 1);
    question->measure_of = zeroed<int>(question->leaf->naggregates + 1);
    for (int j = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        for (int call : measure.calls)
            question->measure_of[call] = j;
        if (measure.kind != privacy::MeasureKind::count)
            question->bounds[j] = argument_bounds(reading, question, measure.calls.front());
        if (privacy::is_joint(measure.kind))
            question->second_bounds[j] = second_bounds(reading, question, measure.calls.front());
        if (measure.kind == privacy::MeasureKind::sum && !measure.one_group)
            question->bounds[j] = bounds_of_parts(question->bounds[j]);
        question->totals[j] = total_of(reading, question, j);
        (*measures)[j].sensitivity = sensitivity_of(question, j);
    }
    question->measures = measures;
}

static int places(const char *decimal) {
    const char *point = strchr(decimal, '.');
    return point == nullptr ? 0 : static_cast<int>(strlen(point + 1));
}

// -1 unless it is known how many decimals the values have, as those of numeric(p, s): clamped ones have no more than this.
static int decimals_of(const Question *question, int aggregate) {
    const privacy::Bounds *bounds = question->bounds[question->measure_of[aggregate]];
    const query::Aggregate &call = question->leaf->aggregates[aggregate];
    if (bounds == nullptr ||
        (call.fn != privacy::Aggregate::sum && call.fn != privacy::Aggregate::avg && !privacy::is_quantile(call.fn)))
        return -1;
    int scale = argument_decimals(question, aggregate);
    return scale < 0 ? -1 : Max(scale, Max(places(bounds->lower.c_str()), places(bounds->upper.c_str())));
}

void find_decimals(Question *question) {
    int n = question->leaf->naggregates;
    question->decimals = zeroed<int>(n + 1);
    for (int i = 0; i < n; i++)
        question->decimals[i] = decimals_of(question, i);
}

// ---- l2 norms over the groups of a unit, for Gaussian noise (formulas.md, 9.14) ----------------------------------------

// Where a row adds to one group only, in which a unit is known to have so much at most. Of different values that is not known.
static bool is_in_groups(const privacy::Measure &measure) {
    return measure.kind != privacy::MeasureKind::quantile && !measure.of_values;
}

// C, which nobody has to declare: at R the clip takes less than that of 9.2, and D is the same. By keys it may be less.
static int rows_per_group(const catalog::Reading &reading, const Question *question) {
    const Units *units = question->units;
    return units->max_rows_per_group > 0 ? units->max_rows_per_group : rows_per_group_by_keys(reading, question);
}

// A count of units has one in each of kappa groups. Core region.
static uint64 spread_sensitivity_of(const Question *question, int j) {
    const Units *units = question->units;
    const uint64 of_row = row_sensitivity_of(question, j);
    if ((*question->measures)[j].of_units)
        return privacy::spread_sensitivity(units->max_groups, 1, of_row);
    const uint64 of_rows = privacy::spread_sensitivity(units->max_rows, question->rows_per_group, of_row);
    const UnitTotal &total = question->totals[j];
    return total.text == nullptr
               ? of_rows
               : Min(of_rows, privacy::spread_of_total(total.points, question->rows_per_group, of_row));
}

void set_mechanism(const catalog::Reading &reading, Question *question, privacy::Mechanism mechanism) {
    const Units *units = question->units;
    if (mechanism == privacy::Mechanism::laplace || !is_clipped(question) || units->one_group)
        return;
    question->rows_per_group = rows_per_group(reading, question);
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        *measures = *question->measures;
        for (int j = 0; j < question->nmeasures; j++)
            if (is_in_groups((*measures)[j])) {
                (*measures)[j].norm = privacy::Norm::groups;
                (*measures)[j].sensitivity = spread_sensitivity_of(question, j);
            }
        if (question->thresholded)
            measures->front().opened = units->max_groups;
    });
    question->measures = measures;
    question->looked_up = hash_of_looked_up(question);
}

} // namespace dp::rows
