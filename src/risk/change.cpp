#include "risk/change.hpp"

#include <algorithm>

#include "privacy/triple.hpp"
#include "risk/leave_one_row_out.hpp"
#include "risk/memory.hpp"

namespace dp::risk {

// ---- changes -------------------------------------------------------------------------------------------------------

int change_width(const rows::Question *question, privacy::Calibration calibration) {
    return calibration == privacy::Calibration::sound ? question->ncoordinates : question->leaf->naggregates;
}

static void released_change(const rows::Question *question, const Contribution *contributions, double *change) {
    for (int j = 0; j < question->nmeasures; j++) {
        const Contribution &contribution = contributions[j];
        double there = contribution.there ? 1 : 0, point = static_cast<double>(contribution.point);
        switch ((*question->measures)[j].kind) {
        case privacy::MeasureKind::count:
            *change++ = there;
            break;
        case privacy::MeasureKind::sum:
            *change++ = there * point;
            break;
        case privacy::MeasureKind::pair:
            *change++ = there * point;
            *change++ = there * static_cast<double>(privacy::pair_one - contribution.point);
            break;
        case privacy::MeasureKind::triple: {
            privacy::TriplePoint parts =
                privacy::to_triple_point(privacy::pair_lattice(*question->bounds[j]), contribution.value)
                    .value_or(privacy::TriplePoint{});
            *change++ = there * static_cast<double>(parts.squares);
            *change++ = there * static_cast<double>(privacy::pair_one - parts.squares - parts.rest);
            *change++ = there * static_cast<double>(parts.rest);
            break;
        }
        case privacy::MeasureKind::quantile: // have no risk (rows/quantiles)
        case privacy::MeasureKind::products:
        case privacy::MeasureKind::moments:
            for (int c = 0; c < (*question->measures)[j].coordinates(); c++)
                *change++ = 0;
            break;
        }
    }
}

void change_of(const rows::Question *question, const Memo *memo, privacy::Calibration calibration, int64 record,
               double *change) {
    for (int c = 0; c < change_width(question, calibration); c++)
        change[c] = 0;
    if (memo->records.at(record)->group < 0)
        return;
    if (calibration == privacy::Calibration::sound)
        released_change(question, memo->contributions.at(record), change);
    else
        for (int a = 0; a < question->leaf->naggregates; a++)
            change[a] = published_pis(question, memo, record, a);
}

static bool is_one_of(const Record *record, People people) {
    return people == People::all || (people == People::group_a ? record->in_a : record->in_b);
}

const privacy::ChangeProfile *change_profile(const rows::Question *question, const Memo *memo,
                                             privacy::Calibration calibration, People people) {
    int width = change_width(question, calibration);
    auto *profile = border::context_new<privacy::ChangeProfile>(width);
    auto *change = static_cast<double *>(palloc(sizeof(double) * Max(width, 1)));
    int64 outside = people == People::all ? memo->rows : people == People::group_a ? memo->members_a : memo->members_b;
    check_memory(static_cast<double>(memo->nrecords) * (static_cast<double>(sizeof(double)) * width + 24),
                 psprintf("the exact risks of " INT64_FORMAT " records", memo->nrecords), "leave exact out");
    border::core([&] { profile->reserve(memo->nrecords + 1); });
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        const Record *record = memo->records.at(i);
        if (!is_one_of(record, people))
            continue;
        change_of(question, memo, calibration, i, change);
        border::core([&] { profile->add(change, record->individuals); });
        outside -= record->individuals;
    }
    std::fill(change, change + width, 0.0);
    border::core([&] {
        profile->add(change, outside);
        profile->finish();
    });
    pfree(change);
    return profile;
}

// ---- the exact indicator of what is released -----------------------------------------------------------------------

static std::vector<privacy::CoordinateNoise> released_noise(const rows::Question *question,
                                                            const privacy::ReleasePlan *plan) {
    std::vector<privacy::CoordinateNoise> noise;
    for (const privacy::NoiseMeasure &measure : noise_measures(question)) {
        privacy::CoordinateNoise one;
        one.unit = measure.D;
        one.k = measure.k;
        if (plan != nullptr) {
            const privacy::MeasureNoise &drawn = plan->noise[noise.size()];
            bool laplace = drawn.mechanism == privacy::Mechanism::laplace;
            one.family = laplace ? privacy::NoiseFamily::discrete_laplace : privacy::NoiseFamily::discrete_gaussian;
            one.scale = laplace ? drawn.laplace.value() : drawn.gaussian.sigma();
        }
        noise.push_back(one);
    }
    return noise;
}

static std::vector<int> measure_of_coordinate(const rows::Question *question) {
    std::vector<int> measures;
    for (int j = 0; j < question->nmeasures; j++)
        measures.insert(measures.end(), (*question->measures)[j].coordinates(), j);
    return measures;
}

double largest_released_square(const rows::Question *question, const privacy::ChangeProfile &profile) {
    return privacy::largest_square(profile, released_noise(question, nullptr), measure_of_coordinate(question));
}

privacy::ExactRdr released_rdr(const rows::Question *question, const privacy::ReleasePlan &plan, double largest) {
    return privacy::ExactRdr(released_noise(question, &plan), measure_of_coordinate(question), largest);
}

// ---- the exact answer ----------------------------------------------------------------------------------------------

static double value_of(const rows::Question *question, int aggregate, const privacy::GroupState &state) {
    privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
    switch (fn) {
    case privacy::Aggregate::count_star:
    case privacy::Aggregate::count:
    case privacy::Aggregate::count_units: // of units that have one row
        return static_cast<double>(state.values);
    case privacy::Aggregate::sum:
        return static_cast<double>(state.sum);
    case privacy::Aggregate::avg: {
        const privacy::Bounds &bounds = *question->bounds[question->measure_of[aggregate]];
        // The average of no values is the middle (1.4).
        return state.values == 0 ? bounds.low + (bounds.high - bounds.low) / 2
                                 : static_cast<double>(state.sum / state.values);
    }
    default:
        return privacy::spread_of_group(fn, state) *
               privacy::spread_unit(fn, *question->bounds[question->measure_of[aggregate]]);
    }
    return 0;
}

double exact_answer(const rows::Question *question, const Memo *memo, int group, int aggregate) {
    return value_of(question, aggregate, memo->states.at(group)[question->measure_of[aggregate]]);
}

double answer_without(const rows::Question *question, const Memo *memo, int64 record, int aggregate) {
    int measure = question->measure_of[aggregate];
    privacy::GroupState state = memo->states.at(memo->records.at(record)->group)[measure];
    const Contribution &contribution = memo->contributions.at(record)[measure];
    if (contribution.there) {
        state.values--;
        state.sum -= contribution.value;
        if ((*question->measures)[measure].kind == privacy::MeasureKind::triple) {
            const long double position = privacy::position_of(*question->bounds[measure], contribution.value);
            state.positions -= position;
            state.squares -= position * position;
        }
    }
    return value_of(question, aggregate, state);
}

} // namespace dp::risk
