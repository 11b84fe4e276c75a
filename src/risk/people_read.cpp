#include "risk/people_read.hpp"

#include "risk/memory.hpp"
#include "risk/printed_risk.hpp"

namespace dp::risk {

PeopleRead begin_people(const rows::Question *question, privacy::Mechanism mechanism, privacy::Calibration calibration,
                        Memo *memo, Detail detail, Size groups_memory) {
    PeopleRead people = {};
    people.question = question;
    people.mechanism = mechanism;
    people.calibration = calibration;
    people.memo = memo;
    // How far an average moves, and all that is `published`, depends on the group: known when everybody has been read.
    people.keep = detail >= Detail::changes || calibration == privacy::Calibration::published ||
                  depends_on_group(question) || rows::counts_values(question);
    using Keep = privacy::PisProfile::Keep;
    // With Laplace noise every RDR is its PIS and a constant: one variance serves all candidates.
    bool values = (detail == Detail::profile || detail == Detail::changes) && mechanism != privacy::Mechanism::laplace;
    people.profile = border::context_new<privacy::PisProfile>(values ? Keep::values : Keep::range);
    people.profile_a = border::context_new<privacy::PisProfile>();
    people.profile_b = border::context_new<privacy::PisProfile>();
    if (detail >= Detail::records)
        memo->kept = tuplestore_begin_heap(false, false, work_mem);
    if (detail >= Detail::records && question->thresholded)
        begin_group_keys(question, memo);
    if (rows::counts_values(question))
        people.alone = begin_alone_values();
    begin_parts(question, memo, groups_memory);
    return people;
}

static void count_cells(const PeopleRead *people, int group, const privacy::CellCount *cells, int ncells,
                        int64 individuals) {
    while (people->memo->counts.count() <= group)
        people->memo->counts.append();
    int64 *counts = people->memo->counts.change(group);
    for (int i = 0; i < ncells; i++) {
        counts[cells[i].cell] += cells[i].count * individuals;
        *people->memo->cells.append() = cells[i];
    }
}

void add_part(PeopleRead *people, int group, const privacy::int128 *change, const privacy::CellCount *cells, int ncells,
              int64 individuals) {
    Memo *memo = people->memo;
    const rows::Question *question = people->question;
    if (!people->has_sums)
        add_to_group(question, memo, group, change, individuals);
    people->current.nparts++;
    if (!people->keep) {
        people->current.pis =
            pis_of_change(question, people->mechanism, people->current.pis, Group{}, change, nullptr, 0);
        return;
    }
    *memo->parts.append() = Part{group, ncells, memo->cells.count()};
    memcpy(memo->changes.append(), change, sizeof(privacy::int128) * question->ncoordinates);
    if (ncells > 0)
        count_cells(people, group, cells, ncells, individuals);
}

void add_value(PeopleRead *people, int group, int coordinate, const void *digest, int64 individuals) {
    add_alone_value(people->alone, group, coordinate, digest, people->memo->parts.count() - 1, individuals);
}

// Core region.
static void add_to_profiles(PeopleRead *people, const Record &record) {
    people->profile->add(record.pis, record.individuals);
    if (record.in_a) {
        people->profile_a->add(record.pis, record.individuals);
        people->inside_a += record.individuals;
    }
    if (record.in_b) {
        people->profile_b->add(record.pis, record.individuals);
        people->inside_b += record.individuals;
    }
}

// After each record. Different values are kept for Gaussian noise, and of groups of people.
static void check_profiles(PeopleRead *people) {
    constexpr uint64 at_times = 65536;
    uint64 kept = people->profile->kept() + people->profile_a->kept() + people->profile_b->kept();
    if (kept < people->kept_when_checked + at_times)
        return;
    people->kept_when_checked = kept;
    check_memory(32.0 * static_cast<double>(kept), psprintf(UINT64_FORMAT " different risks", kept),
                 people->profile->kept() > 0 ? "use Laplace noise" : nullptr);
}

void end_person(PeopleRead *people, int64 individuals, bool in_a, bool in_b) {
    Memo *memo = people->memo;
    Record record = people->current;
    record.individuals = individuals;
    record.first_part = memo->parts.count() - record.nparts;
    record.in_a = in_a;
    record.in_b = in_b;
    people->inside += individuals;
    people->current = Record{};
    if (people->keep) {
        *memo->records.append() = record;
        memo->nrecords++;
        return;
    }
    border::core([&] { add_to_profiles(people, record); });
    check_profiles(people);
}

static void look_again(PeopleRead *people) {
    Memo *memo = people->memo;
    MemoryContext scratch = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr person", ALLOCSET_DEFAULT_SIZES);
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        MemoryContext old = MemoryContextSwitchTo(scratch);
        double pis = pis_of_record(people->question, memo, people->mechanism, people->calibration, i);
        MemoryContextSwitchTo(old);
        MemoryContextReset(scratch);
        Record *record = memo->records.change(i);
        record->pis = pis;
        border::core([&] { add_to_profiles(people, *record); });
        check_profiles(people);
    }
    MemoryContextDelete(scratch);
}

static int64 smallest_group(const PeopleRead *people) {
    const rows::Question *question = people->question;
    double smallest = 0;
    for (int64 group = 0; depends_on_group(question) && group < people->memo->ngroups; group++)
        for (int j = 0, first = 0; j < question->nmeasures; j++) {
            const privacy::Measure &measure = (*question->measures)[j];
            double values = measure.kind == privacy::MeasureKind::pair || measure.kind == privacy::MeasureKind::triple
                                ? privacy::totals_of(measure.kind, people->memo->sums.at(group) + first).count
                                : 0;
            if (values > 0 && (smallest == 0 || values < smallest))
                smallest = values;
            first += measure.coordinates();
        }
    return static_cast<int64>(smallest);
}

void finish_people(PeopleRead *people) {
    Memo *memo = people->memo;
    while (memo->sums.count() < memo->ngroups)
        memo->sums.append();
    if (people->alone != nullptr)
        finish_alone_values(people->alone, memo, !people->has_sums);
    finish_counts(people->question, memo);
    if (people->keep)
        look_again(people);
    border::core([&] {
        people->profile->add(0, memo->outside);
        people->profile_a->add(0, memo->members_a - people->inside_a);
        people->profile_b->add(0, memo->members_b - people->inside_b);
    });
    memo->profile = people->profile;
    memo->profile_a = people->profile_a;
    memo->profile_b = people->profile_b;
    memo->groups_present = memo->ngroups;
    memo->smallest_group = smallest_group(people);
}

} // namespace dp::risk
