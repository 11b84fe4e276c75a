#include "release/judge.hpp"

#include <cmath>
#include <limits>

#include "privacy/joint.hpp"
#include "privacy/quantile.hpp"
#include "privacy/triple.hpp"
#include "privacy/widened.hpp"

#include "release/accuracy.hpp"
#include "release/charge.hpp"
#include "release/clipped.hpp"
#include "rows/measures.hpp"
#include "rows/narrowed.hpp"
#include "rows/undeclared_keys.hpp"

namespace dp::release {

namespace {
// Holds what there is to know of an output. NaN: it is no count or sum.
struct Number {
    int first;      // coordinate
    int exponent;   // of its last place
    double error95; // of a count or sum
    double shown;   // beyond which a row stays
    privacy::Interval range; // that it can have, if it is judged by its own interval
    bool is_judged_by_interval() const { return !std::isnan(range.lower); }
};
} // namespace

struct Judge {
    const rows::Question *question;
    Facts *facts;
    Number *numbers; // of each output
    bool hides;
};

constexpr double level = 0.05;       // of all numbers of an answer together
constexpr double coarse_part = 0.15; // of a number: beyond it a half-width decides nothing
constexpr double coarse_share = 0.2; // of all, by weight: so much may be coarse

// The number of a count or sum; of what has an interval of its own the count that it is made with.
static double number_of(const rows::Question *question, int aggregate, const privacy::int128 *noisy, int exponent) {
    const privacy::MeasureKind kind = (*question->measures)[question->measure_of[aggregate]].kind;
    if (kind == privacy::MeasureKind::count || kind == privacy::MeasureKind::sum)
        return std::ldexp(static_cast<double>(*noisy), exponent);
    if (privacy::is_joint(kind))
        return border::core([&] { return privacy::joint_count(privacy::joint_sums(kind, noisy)); });
    const privacy::PairRelease pair = released_pair(question, aggregate, noisy);
    return question->leaf->aggregates[aggregate].fn == privacy::Aggregate::sum ? pair.sum
                                                                               : static_cast<double>(pair.count);
}

// ---- texts -----------------------------------------------------------------------------------------------------------

const char *null_text(const rows::Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++)
        if (rows::lacks_null(question, i))
            return psprintf("rows whose %s is NULL are in no group: its groups lack NULL",
                            quote_identifier(rows::column_name(question, question->key_columns[i])));
    return nullptr;
}

// Says how far apart the values lie that may be printed; null: all that there can be may.
static const char *step_text(const rows::Question *question, int measure) {
    const privacy::Grid &grid = *question->grids[measure];
    int aggregate = 0;
    while (question->measure_of[aggregate] != measure)
        aggregate++;
    const Oid type = getBaseType(exprType(rows::argument_node(question, aggregate)));
    const double points = static_cast<double>(grid.last) - static_cast<double>(grid.first) + 1;
    const double step = grid.of_points ? points / grid.scale / grid.cells : (grid.high - grid.low) / grid.cells;
    if (grid.of_points && points <= grid.cells)
        return nullptr;
    if (type == TIMESTAMPOID || type == TIMESTAMPTZOID)
        return step < USECS_PER_DAY ? psprintf("%s seconds", about(step / USECS_PER_SEC))
                                    : psprintf("%s days", about(step / USECS_PER_DAY));
    return type == DATEOID ? psprintf("%s days", about(step)) : about(step);
}

// Says how far ranks are off at most, and the steps of values. Nobody knows how many rows a group has: few people have max_rows, so its
// root is taken, and of all an average group has its share. Noise begins with half of these; below a hundredth nothing is said.
static void tell_ranks(const rows::Question *question, const privacy::ReleasePlan *plan, Judged *judged) {
    const double each = question->units == nullptr ? 1 : std::ceil(std::sqrt(question->units->max_rows));
    const double rows = static_cast<double>(question->settings->people) * each / Max(question->ngroups, 1);
    const double worst = plan == nullptr ? 0 : border::core([&] { return rank_halfwidth(question, *plan); });
    const char *step = nullptr;
    for (int j = 0; worst > 0 && step == nullptr && j < question->nmeasures; j++)
        if ((*question->measures)[j].kind == privacy::MeasureKind::quantile)
            step = step_text(question, j);
    judged->rank95 = worst;
    const char *steps = step == nullptr ? "" : psprintf(", and their values lie %s apart", step);
    if (rows > 0 && worst > rows / 2)
        judged->texts[notice_noise] =
            psprintf("mostly noise: the rank of min, max and percentiles is off by up to %s rows%s; with %g of each "
                     "of " INT64_FORMAT " people a group has less than twice as many",
                     about(worst), steps, each, static_cast<int64>(question->settings->people));
    else if (worst > rows / 100)
        judged->texts[notice_coarse] =
            psprintf("coarse: the rank of min, max and percentiles is off by up to %s rows%s", about(worst), steps);
}

static privacy::Aggregate function_of(const rows::Question *question, int output) {
    return question->leaf->aggregates[question->leaf->outputs[output].index].fn;
}

// Shares, and what else lies within -1 and 1 whatever the values are measured in.
static bool is_share(const Judge *judge, int output) {
    const privacy::Aggregate fn = function_of(judge->question, output);
    const privacy::Interval &range = judge->numbers[output].range;
    return range.lower >= -1 && range.upper <= 1 &&
           (fn == privacy::Aggregate::avg || fn == privacy::Aggregate::corr || fn == privacy::Aggregate::regr_r2);
}

constexpr char closer_bounds[] = "; least(greatest(x, LOW), HIGH) bounds values closer";

// A single number is noise below twice error95.
static const char *noise_text(const Judge *judge, int output) {
    const Seen &seen = judge->facts->judged.seen[output];
    const bool single = seen.numbers == 1, by_interval = judge->numbers[output].is_judged_by_interval();
    const double error95 = judge->facts->error95[output];
    if (2 * seen.noise <= seen.numbers && !(single && !by_interval && seen.largest < 2 * error95))
        return nullptr;
    const char *name = label(judge->question, output);
    const bool average = function_of(judge->question, output) == privacy::Aggregate::avg;
    if (by_interval)
        return psprintf("mostly noise: of " INT64_FORMAT " %s (%s) the intervals of " INT64_FORMAT
                        " are wider than half of the %s, or do not tell them from 0%s",
                        seen.numbers, average ? "averages" : "numbers", name, seen.noise,
                        average ? "bounds of the values" : "range that they can have", closer_bounds);
    if (single)
        return psprintf("mostly noise: the number %s lies within twice its error95 (%s) of 0", name, about(error95));
    const double median = std::log(2.0) / static_cast<double>(seen.numbers);
    const double ratio = border::core([&] { return privacy::widened(judge->facts->mechanism, median); });
    return psprintf("mostly noise: " INT64_FORMAT " of " INT64_FORMAT
                    " numbers (%s) lie within error95 (%s) of 0; of " INT64_FORMAT " noises the largest is about %s",
                    seen.noise, seen.numbers, name, about(error95), seen.numbers, about(error95 * ratio));
}

// Says it where coarse numbers are more than a fifth of all, by weight: few large groups are what is asked about.
static const char *coarse_text(const Judge *judge, int output) {
    const Seen &seen = judge->facts->judged.seen[output];
    if (!(seen.coarse_weight > coarse_share * seen.weight))
        return nullptr;
    const char *name = label(judge->question, output);
    const double error95 = judge->facts->error95[output];
    if (judge->numbers[output].is_judged_by_interval())
        return psprintf("coarse: of the %s (%s) " INT64_FORMAT " are right to no more than 15 %% of themselves%s",
                        function_of(judge->question, output) == privacy::Aggregate::avg ? "averages" : "numbers", name,
                        seen.coarse, is_share(judge, output) ? "" : closer_bounds);
    if (seen.coarse == 1 && seen.coarse_weight == seen.weight)
        return psprintf("coarse: error95 (%s) is %.0f %% of the number %s", about(error95),
                        100 * error95 / seen.coarse_weight, name);
    return psprintf("coarse: error95 (%s) is more than 15 %% of " INT64_FORMAT " numbers (%s), which are %.0f %% of all",
                    about(error95), seen.coarse, name, 100 * seen.coarse_weight / seen.weight);
}

// ---- what is known before the first row ----------------------------------------------------------------------------

// Returns the range of what has an interval of its own: of all values, and for a slope or an intercept one that it seldom leaves. It
// follows from bounds alone. NaN: of others.
static privacy::Interval range_of(const rows::Question *question, int aggregate) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
    const int j = question->measure_of[aggregate];
    if (fn == privacy::Aggregate::avg || fn == privacy::Aggregate::regr_intercept)
        return {question->bounds[j]->low, question->bounds[j]->high};
    if (fn == privacy::Aggregate::regr_r2)
        return {0, 1};
    if (privacy::is_spread(fn))
        return {0, privacy::spread_unit(fn, *question->bounds[j])};
    if (!privacy::is_joint(fn))
        return {none, none};
    const privacy::Aggregate of_all = fn == privacy::Aggregate::covar_samp ? privacy::Aggregate::covar_pop : fn;
    const double unit = border::core(
        [&] { return privacy::joint_unit(of_all, {*question->bounds[j], *question->second_bounds[j]}); });
    return {-unit, unit};
}

static Number describe(const rows::Question *question, const privacy::ReleasePlan *plan, bool means,
                       const Facts &facts, int output) {
    const double none = std::numeric_limits<double>::quiet_NaN();
    Number number = {0, 0, none, none, {none, none}};
    const query::Output &column = question->leaf->outputs[output];
    if (column.is_key || column.part != query::Part::value)
        return number;
    const int j = question->measure_of[column.index];
    const privacy::Measure &measure = (*question->measures)[j];
    number.first = rows::first_coordinate_of(question, j);
    if (!measure.has_parts() && measure.kind != privacy::MeasureKind::quantile)
        number.exponent =
            privacy::unit_exponent(measure, question->bounds[j]) - (means ? mean_bits(question, j) : 0);
    number.error95 = number.shown = facts.error95[output];
    if (measure.has_parts() && std::isnan(number.error95) && plan != nullptr)
        number.shown = border::core([&] { return count_halfwidth(question, *plan, column.index); });
    number.range = range_of(question, column.index);
    return number;
}

// Sets beyond which number a row stays: an integer beyond r times (h + 1) is as rare as the r-th power of one beyond h.
static void widen(Judge *judge) {
    const query::Leaf *leaf = judge->question->leaf;
    int columns = 0;
    for (int i = 0; i < leaf->noutputs; i++)
        columns += std::isnan(judge->numbers[i].shown) ? 0 : 1;
    const double numbers = static_cast<double>(columns) * judge->question->ngroups;
    judge->hides = judge->hides && numbers > 0;
    if (!judge->hides)
        return;
    const double ratio = border::core([&] { return privacy::widened(judge->facts->mechanism, level / numbers); });
    for (int i = 0; i < leaf->noutputs; i++)
        judge->numbers[i].shown = (judge->numbers[i].shown + std::ldexp(1, judge->numbers[i].exponent)) * ratio;
}

Judge *begin_judging(const rows::Question *question, const Terms &terms, const privacy::ReleasePlan *plan, bool means,
                     Facts *facts) {
    if (!is_public(terms) || question->groups_only || question->settings == nullptr) // null: drawn again (release/redraw)
        return nullptr;
    const query::Leaf *leaf = question->leaf;
    auto *judge = static_cast<Judge *>(palloc0(sizeof(Judge)));
    judge->question = question;
    judge->facts = facts;
    facts->judged.seen = static_cast<Seen *>(palloc0(sizeof(Seen) * (leaf->noutputs + 1)));
    tell_ranks(question, plan, &facts->judged);
    facts->judged.texts[notice_null] = null_text(question);
    facts->judged.texts[notice_beyond] = question->beyond;
    facts->judged.texts[notice_quotient] = quotient_text(question);
    facts->judged.texts[notice_limit] = limit_text(question, &facts->judged.limited);
    judge->numbers = static_cast<Number *>(palloc0(sizeof(Number) * (leaf->noutputs + 1)));
    for (int i = 0; i < leaf->noutputs; i++)
        judge->numbers[i] = describe(question, plan, means, *facts, i);
    judge->hides = terms.hide && leaf->nkeys > 0 && !question->thresholded;
    widen(judge);
    return judge;
}

// ---- row by row ----------------------------------------------------------------------------------------------------

static void weigh(Seen *seen, double weight, bool coarse) {
    seen->weight += weight;
    seen->coarse += coarse ? 1 : 0;
    seen->coarse_weight += coarse ? weight : 0;
}

static void note_number(Seen *seen, const Number &number, double value) {
    const double distance = std::fabs(value);
    seen->numbers++;
    seen->noise += number.error95 > 0 && distance <= number.error95 ? 1 : 0;
    seen->largest = Max(seen->largest, distance);
    seen->sum += value;
    seen->squares += value * value;
    weigh(seen, distance, number.error95 > coarse_part * distance);
}

bool shows_row(Judge *judge, const privacy::int128 *noisy) {
    if (judge == nullptr)
        return true;
    const query::Leaf *leaf = judge->question->leaf;
    bool numbers = false, stays = false;
    for (int i = 0; i < leaf->noutputs; i++) {
        const Number &number = judge->numbers[i];
        if (std::isnan(number.shown) || (std::isnan(number.error95) && !judge->hides))
            continue;
        const double value =
            number_of(judge->question, leaf->outputs[i].index, noisy + number.first, number.exponent);
        const double distance = std::fabs(value);
        numbers = true;
        stays = stays || distance > number.shown;
        if (std::isnan(number.error95))
            continue;
        note_number(&judge->facts->judged.seen[i], number, value);
    }
    const bool hidden = judge->hides && numbers && !stays;
    judge->facts->judged.rows++;
    judge->facts->judged.hidden += hidden ? 1 : 0;
    return !hidden;
}

// An interval with 0 in it is noise unless it is short beside the range. Shares are as good as they are right to 0.05; where the interval
// has 0 in it, to 0.01.
void note_interval(Judge *judge, int output, double number, const privacy::Interval &interval) {
    if (judge == nullptr || !judge->numbers[output].is_judged_by_interval())
        return;
    const privacy::Interval &range = judge->numbers[output].range;
    constexpr double share = 0.05, share_at_0 = 0.01, short_part = 0.01;
    const bool shares = is_share(judge, output), at_0 = interval.lower <= 0 && interval.upper >= 0;
    const double right = !shares ? 0 : at_0 ? share_at_0 : share;
    const double room = range.upper - range.lower, half = interval.upper / 2 - interval.lower / 2;
    const double noise = Max(shares ? share : 0, short_part * room);
    Seen *seen = &judge->facts->judged.seen[output];
    seen->numbers++;
    seen->noise += half > room / 4 || (at_0 && half > noise) ? 1 : 0;
    weigh(seen, 1, half > Max(coarse_part * std::fabs(number), right));
}

// How much of a measure one person brings on average, at least: in the norm that it is clipped by, without what noise adds to that.
static double mean_contribution(const Judge *judge, int output, int64 people) {
    const rows::Question *question = judge->question;
    const Seen &seen = judge->facts->judged.seen[output];
    const double n = static_cast<double>(seen.numbers), error95 = judge->numbers[output].error95;
    if ((*question->measures)[question->measure_of[question->leaf->outputs[output].index]].norm == privacy::Norm::l1)
        return (std::fabs(seen.sum) - error95 * std::sqrt(n)) / static_cast<double>(people);
    const double variance = error95 * error95 / 3.84; // 1.96 deviations
    return std::sqrt(Max(seen.squares - variance * (n + 3 * std::sqrt(2 * n)), 0)) / static_cast<double>(people);
}

// Whether people bring more than a quarter of what counts of one: then many bring more than all of it.
static bool is_clipped_often(const Judge *judge, int output, int64 people) {
    const rows::Question *question = judge->question;
    const query::Output &column = question->leaf->outputs[output];
    if (column.is_key || column.part != query::Part::value || judge->facts->judged.seen[output].numbers == 0)
        return false;
    const int j = question->measure_of[column.index];
    const privacy::Measure &measure = (*question->measures)[j];
    const bool counted = measure.kind == privacy::MeasureKind::count && !measure.of_units && !measure.of_values;
    if (!counted && measure.kind != privacy::MeasureKind::sum)
        return false;
    const double most = std::ldexp(static_cast<double>((*question->measures)[j].sensitivity),
                                   privacy::unit_exponent(measure, question->bounds[j]));
    return mean_contribution(judge, output, people) > most / 4;
}

void end_judging(Judge *judge) {
    if (judge == nullptr)
        return;
    const rows::Question *question = judge->question;
    Judged *judged = &judge->facts->judged;
    for (int i = 0; i < question->leaf->noutputs; i++)
        if (judged->texts[notice_noise] == nullptr && judged->hidden == 0 && judged->seen[i].numbers > 0)
            judged->texts[notice_noise] = noise_text(judge, i);
    for (int i = 0; i < question->leaf->noutputs; i++)
        if (judged->texts[notice_noise] == nullptr && judged->texts[notice_coarse] == nullptr && judged->hidden == 0)
            judged->texts[notice_coarse] = coarse_text(judge, i);
    const int64 people = question->settings->people;
    if (people == 0 || !rows::is_clipped(question) || question->units->max_rows < 2 || has_exact_limit(question))
        return;
    for (int i = 0; i < question->leaf->noutputs; i++)
        if (judged->texts[notice_clipped] == nullptr && is_clipped_often(judge, i, people))
            judged->texts[notice_clipped] = clipped_text(question, i);
    if (judged->texts[notice_clipped] != nullptr)
        judged->texts[notice_limit] = nullptr;
}

// ---- before the charge ---------------------------------------------------------------------------------------------

void check_can_show(const rows::Question *question, std::optional<int64> threshold) {
    const int64 people = question->settings->people;
    if (people == 0 || threshold.value_or(0) <= people)
        return;
    refuse_value(psprintf("no group would appear: groups of fewer than about " INT64_FORMAT
                          " people are withheld, and there are about " INT64_FORMAT,
                          *threshold, people),
                 rows::groups_remedy(question, false), "Nothing was charged.");
}

void check_can_show(const rows::Question *question, const Terms &terms, privacy::Epsilon epsilon) {
    if (!question->thresholded || question->settings->people == 0 || !is_public(terms) || epsilon.units() == 0)
        return;
    check_can_show(question, border::core([&] { return noise_of(question, terms, epsilon).threshold; }));
}

} // namespace dp::release
