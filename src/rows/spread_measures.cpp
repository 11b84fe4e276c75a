#include "rows/spread_measures.hpp"

#include "privacy/contribution.hpp"
#include "privacy/joint.hpp"

#include "border/each.hpp"
#include "catalog/domain.hpp"
#include "rows/public_values.hpp"

namespace dp::rows {

// ---- rows in one group, by keys --------------------------------------------------------------------------------------

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
    if (joined->several < 0 || question->sources[joined->several].people != nullptr || joined->max_rows != question->sources[joined->several].settings->unit->max_rows)
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
        if (equality->on != nullptr || equality->by != nullptr || (equality->left != number && equality->right != number))
            continue;
        const AttrNumber other = equality->left == number ? equality->right : equality->left;
        if (query::varno_of(other) == known->source->source->varno)
            known->columns[known->n++] = query::attno_of(other);
    }
}

static bool covers(const Known &known) {
    return catalog::covers_key(known.source->relation, known.n, known.columns);
}

// Has room for the unit, and for each key or equality once.
static Known begin_known(const Question *question, const Source *source) {
    const query::Joined *joined = question->units->joined;
    const int room = catalog::max_unit_columns + question->leaf->nkeys +
                     2 * list_length(joined == nullptr ? NIL : joined->equalities) * (question->leaf->nkeys + 1);
    return Known{source, 0, static_cast<AttrNumber *>(palloc(sizeof(AttrNumber) * room))};
}

// The unit, the keys that are columns of the table and never NULL, and what is equated with keys.
static Known known_by_keys(const Question *question, const Source *source) {
    const catalog::UnitPath *path = source->settings->unit;
    Known known = begin_known(question, source);
    for (int i = 0; i < path->ncolumns; i++)
        known.columns[known.n++] = path->columns[i];
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const AttrNumber number = column_of_key(question, i);
        if (number == InvalidAttrNumber)
            continue;
        if (query::varno_of(number) == source->source->varno && !is_nullable(question, number))
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

// ---- sensitivities ---------------------------------------------------------------------------------------------------

// Where a row adds to one group only, in which a unit is known to have so much at most. Of different values that is not known.
static bool is_in_groups(const privacy::Measure &measure) {
    return measure.kind != privacy::MeasureKind::quantile && !measure.of_values;
}

// Returns how much a row adds to one group at most: in l1 norm, over all coordinates.
static uint64 row_sensitivity_of(const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    if (measure.kind == privacy::MeasureKind::count)
        return measure.grain;
    if (privacy::is_joint(measure.kind))
        return privacy::joint_sensitivity(measure.kind);
    return measure.kind == privacy::MeasureKind::sum ? question->bounds[j]->sensitivity() : privacy::pair_one;
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
