#include "risk/exact_risk.hpp"

#include <cmath>

#include "privacy/noise.hpp"
#include "privacy/number_law.hpp"
#include "risk/printed_risk.hpp"

namespace dp::risk {

using privacy::Mechanism;
using rows::Question;

namespace {
// Holds the laws of one group: by aggregate of several sums, and by measure that is drawn.
struct GroupLaws {
    std::vector<std::unique_ptr<privacy::NumberLaw>> numbers;
    std::vector<std::unique_ptr<privacy::PointLaw>> drawn;
};

struct Work {
    const Question *question;
    const Memo *memo;
    const privacy::ReleasePlan *plan;
    privacy::NumberLaw::Of of;
    border::Spill<double> excess;
    int first, end; // groups whose laws are known
    std::vector<GroupLaws> *laws;
};
} // namespace

// ---- one number after the other ------------------------------------------------------------------------------------

// Core region. Counts and sums of their own, with noise on integers.
static double own_excess(const Work *work, const privacy::int128 *change) {
    double excess = 0;
    for (int j = 0; j < work->question->nmeasures; change += (*work->question->measures)[j++].coordinates()) {
        const privacy::Measure &measure = (*work->question->measures)[j];
        if (measure.has_parts() || measure.kind == privacy::MeasureKind::quantile)
            continue;
        const double D = static_cast<double>(measure.sensitivity), d = std::fabs(static_cast<double>(*change));
        if (work->of == privacy::NumberLaw::Of::square)
            excess += d / D * (d / D);
        else {
            const double b = work->plan->noise[j].laplace.value();
            excess += (d + privacy::discrete_laplace_mean_abs(b) * std::expm1(-d / b)) / D;
        }
    }
    return excess;
}

// Core region. Made when somebody is in the group: among thousands of declared groups most may have nobody.
static const GroupLaws &laws_of(const Work *work, int at, const Group &group) {
    const Question *question = work->question;
    GroupLaws &laws = (*work->laws)[at - work->first];
    if (!laws.numbers.empty() || !laws.drawn.empty())
        return laws;
    laws.drawn.resize(question->nmeasures);
    laws.numbers.resize(question->leaf->naggregates);
    for (int j = 0, first = 0; j < question->nmeasures; first += (*question->measures)[j++].coordinates()) {
        const privacy::Measure &measure = (*question->measures)[j];
        if (measure.kind == privacy::MeasureKind::quantile)
            laws.drawn[j] = std::make_unique<privacy::PointLaw>(quantile_points(question, *work->plan, j, group));
        for (int call : measure.calls)
            if (measure.has_parts())
                laws.numbers[call] = std::make_unique<privacy::NumberLaw>(number_of(question, call), work->plan->noise[j],
                                                                          group.sums + first, work->of);
    }
    return laws;
}

// Core region. Numbers of several sums, and what is drawn.
static double printed_excess(const Work *work, const GroupLaws &laws, const Group &group, const privacy::int128 *change,
                             const privacy::CellCount *cells, int ncells) {
    const Question *question = work->question;
    double excess = 0;
    for (int j = 0; j < question->nmeasures; change += (*question->measures)[j++].coordinates()) {
        if (laws.drawn[j] != nullptr) {
            const double width = privacy::width_of(*question->grids[j]);
            excess += laws.drawn[j]->mean(quantile_without(question, j, group, cells, ncells) / width) -
                      laws.drawn[j]->mean(quantile_without(question, j, group, nullptr, 0) / width);
        }
        for (int call : (*question->measures)[j].calls)
            if (laws.numbers[call] != nullptr)
                excess += laws.numbers[call]->excess(change);
    }
    return excess;
}

static void add_part(const Work *work, int64 record, int64 at) {
    const Memo *memo = work->memo;
    const Part part = *memo->parts.at(at);
    if (part.group < work->first || part.group >= work->end)
        return;
    const Group group = group_at(work->question, memo, part.group);
    const privacy::CellCount *cells = cells_of(memo, part);
    const privacy::int128 *change = memo->changes.at(at);
    double *excess = work->excess.change(record);
    *excess += border::core(
        [&] { return printed_excess(work, laws_of(work, part.group, group), group, change, cells, part.ncells); });
}

// How many groups' laws are kept at once: the records are looked at once for each such lot.
static int groups_at_once(const Question *question) {
    Size one = 0;
    for (int j = 0; j < question->nmeasures; j++)
        one += question->grids[j] != nullptr ? question->grids[j]->cells
                                             : privacy::noise_points(Mechanism::laplace).size() *
                                                   (*question->measures)[j].calls.size();
    constexpr Size bytes_of_point = 64;
    return static_cast<int>(Min(Max(get_hash_memory_limit() / (bytes_of_point * Max(one, 1)), 1), 65536));
}

static void add_printed(Work *work) {
    const Memo *memo = work->memo;
    const int lot = groups_at_once(work->question);
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr laws", ALLOCSET_DEFAULT_SIZES);
    MemoryContext person = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr person", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(scratch);
    int64 i = 0;
    for (work->first = 0; work->first < memo->ngroups; work->first = work->end) {
        work->end = Min(work->first + lot, memo->ngroups);
        work->laws = border::context_new<std::vector<GroupLaws>>(work->end - work->first);
        MemoryContextSwitchTo(person);
        for (i = memo->by_group ? i : 0; i < memo->nrecords; i++) {
            CHECK_FOR_INTERRUPTS();
            if (memo->by_group && group_of(memo, i) >= work->end)
                break;
            const Record one = *memo->records.at(i);
            for (int p = 0; p < one.nparts; p++)
                add_part(work, i, one.first_part + p);
            MemoryContextReset(person);
        }
        MemoryContextSwitchTo(scratch);
        MemoryContextReset(scratch);
    }
    MemoryContextSwitchTo(old);
    MemoryContextDelete(person);
    MemoryContextDelete(scratch);
}

static ExactRisks begin_risks(const Memo *memo) {
    ExactRisks risks = {0, memo->excess};
    border::empty_spill(risks.excess.bytes);
    return risks;
}

static double error_of_only(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    return border::core([&] {
        return privacy::NumberLaw(number_of(question, 0), plan->noise[0], memo->sums.at(0), privacy::NumberLaw::Of::size)
            .mean();
    });
}

// ---- Gaussian noise on counts and sums, and the papers' noise ------------------------------------------------------

// The change of a record in all of its groups, one behind the other. width: of one.
static double *changes_of(const Question *question, const Memo *memo, privacy::Calibration calibration, int64 record,
                          int width) {
    const Record one = *memo->records.at(record);
    auto *changes = static_cast<double *>(palloc(sizeof(double) * (static_cast<Size>(one.nparts) * width + 1)));
    for (int i = 0; i < one.nparts; i++) {
        const Part part = *memo->parts.at(one.first_part + i);
        const privacy::int128 *brought = memo->changes.at(one.first_part + i);
        const Group group = group_at(question, memo, part.group);
        for (int c = 0; c < width; c++)
            changes[int64{i} * width + c] = calibration == privacy::Calibration::sound
                                                ? static_cast<double>(brought[c])
                                                : border::core([&] { return published_change(question, group, brought, c); });
    }
    return changes;
}

static ExactRisks risks_of_vector(const Question *question, const Memo *memo, privacy::Calibration calibration,
                                  const std::vector<privacy::CoordinateNoise> *noise, const std::vector<int> *noise_of) {
    ExactRisks risks = begin_risks(memo);
    const double largest = border::core([&] { return std::pow(memo->profile->max(), 2); });
    auto *rdr = border::context_new<privacy::ExactRdr>(*noise, *noise_of, largest);
    MemoryContext person = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr person", ALLOCSET_DEFAULT_SIZES);
    MemoryContext old = MemoryContextSwitchTo(person);
    risks.noise = rdr->noise();
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        const double *changes = changes_of(question, memo, calibration, i, static_cast<int>(noise_of->size()));
        const auto parts = static_cast<std::size_t>(memo->records.at(i)->nparts);
        *risks.excess.append() = border::core([&] { return rdr->excess(changes, parts); });
        MemoryContextReset(person);
    }
    *risks.excess.append() = 0;
    MemoryContextSwitchTo(old);
    MemoryContextDelete(person);
    return risks;
}

ExactRisks published_risks(const Question *question, const Memo *memo, const privacy::CoordinateNoise &noise) {
    auto *all = border::context_new<std::vector<privacy::CoordinateNoise>>(1, noise);
    auto *of = border::context_new<std::vector<int>>(question->leaf->naggregates, 0);
    return risks_of_vector(question, memo, privacy::Calibration::published, all, of);
}

static ExactRisks gaussian_risks(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    auto *all = border::context_new<std::vector<privacy::CoordinateNoise>>();
    auto *of = border::context_new<std::vector<int>>();
    border::core([&] {
        const double groups = question->thresholded ? 1 : question->ngroups; // k = k1 when groups are discovered (section 2)
        for (int j = 0; j < question->nmeasures; j++) {
            all->push_back({privacy::NoiseFamily::discrete_gaussian, plan->noise[j].gaussian.sigma(),
                            static_cast<double>((*question->measures)[j].sensitivity), groups});
            of->push_back(j);
        }
    });
    return risks_of_vector(question, memo, privacy::Calibration::sound, all, of);
}

// ---- all of them ---------------------------------------------------------------------------------------------------

static ExactRisks risks_of_numbers(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan,
                                   bool squares) {
    ExactRisks risks = begin_risks(memo);
    const auto of = squares ? privacy::NumberLaw::Of::square : privacy::NumberLaw::Of::size;
    Work work = {question, memo, plan, of, risks.excess, 0, 0, nullptr};
    for (int64 i = 0; i <= memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        const Record one = i < memo->nrecords ? *memo->records.at(i) : Record{};
        double excess = 0;
        for (int p = 0; p < one.nparts; p++) {
            const privacy::int128 *change = memo->changes.at(one.first_part + p);
            excess += border::core([&] { return own_excess(&work, change); });
        }
        *risks.excess.append() = excess;
    }
    if (depends_on_group(question))
        add_printed(&work);
    return risks;
}

ExactRisks exact_risks(const Question *question, const Memo *memo, const privacy::ReleasePlan *plan) {
    const bool laplace = plan->mechanism == Mechanism::laplace;
    if (!laplace && !depends_on_group(question))
        return gaussian_risks(question, memo, plan);
    const bool one = question->leaf->naggregates == 1 && question->leaf->nkeys == 0;
    ExactRisks risks = risks_of_numbers(question, memo, plan, !laplace && !one);
    risks.noise = laplace || !one ? noise_term(question, memo, plan) : error_of_only(question, memo, plan);
    if (laplace || one)
        return risks;
    const double term = risks.noise;
    risks.noise = std::sqrt(term);
    for (int64 i = 0; i < memo->nrecords; i++) {
        double *excess = risks.excess.change(i);
        if (*excess != 0)
            *excess = *excess / (std::sqrt(Max(term + *excess, 0.0)) + risks.noise);
    }
    return risks;
}

privacy::RiskRow risk_row_of(const Memo *memo, const ExactRisks &risks, privacy::Epsilon epsilon) {
    privacy::RiskRow row;
    row.epsilon = epsilon;
    privacy::RdrRange range = range_of(memo, risks, false);
    privacy::Moments moments;
    for (int64 i = 0; i < memo->nrecords; i++)
        moments.add(*risks.excess.at(i), memo->records.at(i)->individuals);
    if (memo->outside > 0)
        moments.add(0, memo->outside);
    row.rdr_min = range.min;
    row.rdr_max = range.max;
    if (row.rdr_max > 0) {
        row.ratio = row.rdr_min / row.rdr_max;
        row.variance = static_cast<double>(moments.variance() / row.rdr_max / row.rdr_max);
    }
    return row;
}

static double median_of(const Memo *memo, const ExactRisks &risks, bool Record::*in, int64 members) {
    auto *profile = border::context_new<privacy::PisProfile>();
    for (int64 i = 0; i < memo->nrecords; i++) {
        const Record *record = memo->records.at(i);
        if (record->*in) {
            double risk = Max(risks.noise + *risks.excess.at(i), 0.0);
            border::core([&] { profile->add(risk, record->individuals); });
            members -= record->individuals;
        }
    }
    return border::core([&] {
        profile->add(risks.noise, members);
        return profile->lower_median();
    });
}

privacy::RdrRange range_of(const Memo *memo, const ExactRisks &risks, bool groups) {
    if (groups) {
        double a = median_of(memo, risks, &Record::in_a, memo->members_a);
        double b = median_of(memo, risks, &Record::in_b, memo->members_b);
        return privacy::RdrRange{Min(a, b), Max(a, b)};
    }
    privacy::RdrRange range = {privacy::infinite_epsilon, 0};
    for (int64 i = 0; i < memo->nrecords + (memo->outside > 0 ? 1 : 0); i++) {
        range.min = Min(range.min, risks.noise + *risks.excess.at(i));
        range.max = Max(range.max, risks.noise + *risks.excess.at(i));
    }
    return range;
}

} // namespace dp::risk
