#include "release/judge.hpp"

#include <cmath>
#include <limits>

#include "privacy/quantile.hpp"
#include "privacy/triple.hpp"
#include "privacy/widened.hpp"

#include "border/versions.hpp"
#include "release/accuracy.hpp"
#include "release/charge.hpp"
#include "rows/asked_units.hpp"

namespace dp::release {

namespace {
// What there is to know of an output. NaN: it is no count or sum.
struct Number {
    int first;      // coordinate
    int exponent;   // of its last place
    double error95; // of a count or sum
    double shown;   // beyond which a row stays
    double room;    // of an average: half of its bounds
};
} // namespace

struct Judge {
    const rows::Question *question;
    Judged *judged;
    Number *numbers; // of each output
    bool hides;
    double rank;
};

constexpr double level = 0.05; // of all numbers of an answer together

static privacy::MeasureKind kind_of(const rows::Question *question, int aggregate) {
    return (*question->measures)[question->measure_of[aggregate]].kind;
}

static bool is_count(privacy::Aggregate fn) {
    return fn != privacy::Aggregate::sum;
}

// The number of a count or sum; of an average or a spread the count that it is made with.
static double number_of(const rows::Question *question, int aggregate, const privacy::int128 *noisy, int exponent) {
    const privacy::MeasureKind kind = kind_of(question, aggregate);
    if (kind == privacy::MeasureKind::count || kind == privacy::MeasureKind::sum)
        return std::ldexp(static_cast<double>(*noisy), exponent);
    return border::core([&] {
        const privacy::Halves halves = privacy::released_halves(kind, noisy);
        const privacy::PairRelease pair =
            privacy::release_pair(halves.s1, halves.s0, *question->bounds[question->measure_of[aggregate]]);
        return is_count(question->leaf->aggregates[aggregate].fn) ? static_cast<double>(pair.count) : pair.sum;
    });
}

// ---- what is known before the first row ----------------------------------------------------------------------------

// An integer beyond r times (h + 1) is as rare as the r-th power of one beyond h.
static double shown_beyond(double error95, double unit, double ratio) {
    return (error95 + unit) * ratio;
}

static Number describe(const rows::Question *question, const privacy::ReleasePlan *plan, bool means,
                       const Facts &facts, int output) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    Number number = {0, 0, none, none, none};
    const query::Output &column = question->leaf->outputs[output];
    if (column.is_key || column.part != query::Part::value)
        return number;
    const int j = question->measure_of[column.index];
    const privacy::Measure &measure = (*question->measures)[j];
    for (int i = 0; i < j; i++)
        number.first += (*question->measures)[i].coordinates();
    const privacy::Aggregate fn = question->leaf->aggregates[column.index].fn;
    const bool paired = measure.kind == privacy::MeasureKind::pair || measure.kind == privacy::MeasureKind::triple;
    if (!measure.has_parts() && measure.kind != privacy::MeasureKind::quantile)
        number.exponent =
            privacy::unit_exponent(measure, question->bounds[j]) - (means ? mean_bits(question, j) : 0);
    number.error95 = number.shown = facts.error95[output];
    if (paired && std::isnan(number.error95) && plan != nullptr)
        number.shown = border::core([&] { return count_halfwidth(question, *plan, column.index); });
    if (fn == privacy::Aggregate::avg)
        number.room = (question->bounds[j]->high - question->bounds[j]->low) / 2;
    return number;
}

// Numbers that some row stays for: those of all rows, or of groups that nobody declared.
static void widen(Judge *judge, const Facts &facts) {
    const query::Leaf *leaf = judge->question->leaf;
    int columns = 0;
    for (int i = 0; i < leaf->noutputs; i++)
        columns += std::isnan(judge->numbers[i].shown) ? 0 : 1;
    const double numbers = static_cast<double>(columns) * judge->question->ngroups;
    judge->hides = judge->hides && numbers > 0;
    if (!judge->hides)
        return;
    const double ratio = border::core([&] { return privacy::widened(facts.mechanism, level / numbers); });
    for (int i = 0; i < leaf->noutputs; i++)
        judge->numbers[i].shown =
            shown_beyond(judge->numbers[i].shown, std::ldexp(1, judge->numbers[i].exponent), ratio);
}

// How far ranks are off, if that is more than half of all rows; else 0.
static double useless_rank(const rows::Question *question, const privacy::ReleasePlan *plan) {
    const double rows = static_cast<double>(question->settings->people) *
                        (question->units == nullptr ? 1 : question->units->max_rows);
    double worst = 0;
    for (int j = 0; plan != nullptr && j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (measure.kind == privacy::MeasureKind::quantile)
            worst = Max(worst, border::core([&] {
                            return privacy::rank_error95(question->grids[j]->cells, measure.fraction, plan->noise[j]) /
                                   static_cast<double>(measure.grain);
                        }));
    }
    return rows > 0 && worst > rows / 2 ? worst : 0;
}

// A key whose declared groups lack NULL, though rows with NULL in its column may be asked about.
static const char *key_without_null(const rows::Question *question) {
    if (question->thresholded || question->tupled || question->per_unit != nullptr)
        return nullptr;
    List *never = find_nonnullable_vars(question->leaf->where);
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const AttrNumber asked = question->leaf->keys[i].attno, column = question->key_columns[i];
        if (asked <= 0 || column <= 0 || question->domains[i].find(Datum{0}, true) >= 0 ||
            !rows::is_nullable(question, column) ||
            border::is_among(never, query::varno_of(asked), query::attno_of(asked)))
            continue;
        return rows::column_name(question, column);
    }
    return nullptr;
}

Judge *begin_judging(const rows::Question *question, const Terms &terms, const privacy::ReleasePlan *plan, bool means,
                     Facts *facts) {
    if (!is_public(terms) || question->groups_only || question->settings == nullptr) // null: drawn again (release/redraw)
        return nullptr;
    const query::Leaf *leaf = question->leaf;
    auto *judge = static_cast<Judge *>(palloc0(sizeof(Judge)));
    judge->question = question;
    judge->judged = &facts->judged;
    judge->judged->seen = static_cast<Seen *>(palloc0(sizeof(Seen) * (leaf->noutputs + 1)));
    judge->judged->null_key = key_without_null(question);
    judge->judged->rank = useless_rank(question, plan);
    judge->numbers = static_cast<Number *>(palloc0(sizeof(Number) * (leaf->noutputs + 1)));
    for (int i = 0; i < leaf->noutputs; i++)
        judge->numbers[i] = describe(question, plan, means, *facts, i);
    judge->hides = terms.hide && leaf->nkeys > 0 && !question->thresholded;
    widen(judge, *facts);
    return judge;
}

// ---- row by row ----------------------------------------------------------------------------------------------------

bool shows_row(Judge *judge, const privacy::int128 *noisy) {
    if (judge == nullptr)
        return true;
    const query::Leaf *leaf = judge->question->leaf;
    bool numbers = false, stays = false;
    for (int i = 0; i < leaf->noutputs; i++) {
        const Number &number = judge->numbers[i];
        if (std::isnan(number.shown) || (std::isnan(number.error95) && !judge->hides))
            continue;
        const double distance = std::fabs(
            number_of(judge->question, leaf->outputs[i].index, noisy + number.first, number.exponent));
        numbers = true;
        stays = stays || distance > number.shown;
        if (std::isnan(number.error95))
            continue;
        Seen *seen = &judge->judged->seen[i];
        seen->numbers++;
        seen->noise += number.error95 > 0 && distance <= number.error95 ? 1 : 0;
        seen->largest = Max(seen->largest, distance);
    }
    const bool hidden = judge->hides && numbers && !stays;
    judge->judged->rows++;
    judge->judged->hidden += hidden ? 1 : 0;
    return !hidden;
}

void note_average(Judge *judge, int output, double width) {
    if (judge == nullptr || std::isnan(judge->numbers[output].room))
        return;
    judge->judged->seen[output].numbers++;
    judge->judged->seen[output].noise += width > judge->numbers[output].room ? 1 : 0;
}

// A number of rows of all people: of one table, without a condition.
static bool counts_all_rows(const rows::Question *question, const query::Output &output) {
    if (output.is_key || output.part != query::Part::value)
        return false;
    const query::Aggregate &aggregate = question->leaf->aggregates[output.index];
    return aggregate.fn == privacy::Aggregate::count_star && aggregate.filter < 0 && question->where == nullptr &&
           question->nsources == 1 && question->semi_joins == NIL && question->leaf->nkeys == 0 &&
           question->per_unit == nullptr;
}

void end_judging(Judge *judge) {
    if (judge == nullptr)
        return;
    const rows::Question *question = judge->question;
    const int64 people = question->settings->people;
    if (people == 0 || question->units == nullptr || question->units->max_rows < 2)
        return;
    for (int i = 0; i < question->leaf->noutputs; i++)
        if (counts_all_rows(question, question->leaf->outputs[i]) &&
            judge->judged->seen[i].largest / static_cast<double>(people) > question->units->max_rows / 4.0) {
            judge->judged->clipped = rows::unit_text(question->units->path);
            judge->judged->max_rows = question->units->max_rows;
        }
}

// ---- before the charge ---------------------------------------------------------------------------------------------

void check_can_show(const rows::Question *question, std::optional<int64> threshold) {
    const int64 people = question->settings->people;
    if (people == 0 || threshold.value_or(0) <= people)
        return;
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("no group would appear: groups of fewer than about " INT64_FORMAT
                           " people are withheld, and there are about " INT64_FORMAT,
                           *threshold, people),
                    errdetail("Nothing was charged."), errhint("%s", rows::groups_remedy(question, false))));
}

void check_can_show(const rows::Question *question, const Terms &terms, privacy::Epsilon epsilon) {
    if (!question->thresholded || question->settings->people == 0 || !is_public(terms) || epsilon.units() == 0)
        return;
    check_can_show(question, border::core([&] {
                       return privacy::plan_release(terms.mechanism, *question->measures, *question->sensitivities,
                                                    true, epsilon, delta_of(question, terms))
                           .threshold;
                   }));
}

} // namespace dp::release
