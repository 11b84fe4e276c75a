#include "release/output.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catalog/access.hpp"
#include "catalog/decimals.hpp"
#include "release/charge.hpp"
#include "release/choose.hpp"
#include "risk/change.hpp"
#include "risk/memory.hpp"
#include "risk/unit_changes.hpp"
#include "release/random.hpp"
#include "release/steps.hpp"
#include "rows/counted_values.hpp"
#include "rows/quantiles.hpp"

namespace dp::release {

namespace {

using native128 = __int128; // as the allocator of a vector aligns it

// Holds the exact answer and every distinct way in which one record changes it, in lattice units.
struct Subject {
    int width;                            // coordinates of one group
    int ngroups;                          //
    std::vector<native128> sums;          // q(x): ngroups x width
    std::vector<double> units;            // per coordinate of a group: D
    std::vector<std::vector<double>> way; // the group, then q(x) - q(x without the record)
    bool somebody_without;                // there are records that change nothing
};

} // namespace

// ---- the subject ---------------------------------------------------------------------------------------------------

// Core region. change: of the record, with room for its group in front.
static void add_record(int64 individuals, int group, const double *change, Subject *subject) {
    std::vector<double> way(change, change + subject->width + 1);
    way[0] = group;
    bool changes = std::any_of(way.begin() + 1, way.end(), [](double change) { return change != 0; });
    if (group < 0 || !changes) {
        subject->somebody_without = true;
        return;
    }
    for (int c = 0; c < subject->width; c++)
        subject->sums[static_cast<std::size_t>(group) * subject->width + c] +=
            static_cast<native128>(way[c + 1]) * individuals;
    subject->way.push_back(std::move(way));
}

// Core region.
static void begin_subject(const rows::Question *question, const risk::Memo *memo, Subject *subject) {
    subject->width = question->ncoordinates;
    subject->ngroups = memo->ngroups;
    subject->sums.assign(static_cast<std::size_t>(memo->ngroups) * subject->width, 0);
    for (int j = 0; j < question->nmeasures; j++)
        subject->units.insert(subject->units.end(), (*question->measures)[j].coordinates(),
                              static_cast<double>((*question->measures)[j].sensitivity));
    subject->somebody_without = memo->outside > 0;
}

// Core region.
static void keep_different_ways(Subject *subject) {
    std::sort(subject->way.begin(), subject->way.end());
    subject->way.erase(std::unique(subject->way.begin(), subject->way.end()), subject->way.end());
}

// Of each coordinate the sum, its noise and what is left of it; of each record a way.
static void check_subject(const rows::Question *question, const risk::Memo *memo) {
    double coordinates = static_cast<double>(memo->ngroups) * question->ncoordinates;
    double ways = static_cast<double>(memo->nrecords) * (48.0 + 8 * (question->ncoordinates + 1));
    risk::check_memory(
        coordinates * 3 * sizeof(native128) + ways,
        psprintf("to look at draws for %d groups and " INT64_FORMAT " records", memo->ngroups, memo->nrecords),
        "use the indicator 'expected'");
}

static void read_subject(const rows::Question *question, const risk::Memo *memo, Subject *subject) {
    check_subject(question, memo);
    border::core([&] { begin_subject(question, memo, subject); });
    auto *change = static_cast<double *>(palloc0(sizeof(double) * (subject->width + 1)));
    for (int64 i = 0; i < memo->nrecords; i++) {
        CHECK_FOR_INTERRUPTS();
        risk::change_of(question, memo, privacy::Calibration::sound, i, change + 1);
        const int group = risk::group_of(memo, i);
        const int64 individuals = memo->records.at(i)->individuals;
        border::core([&] { add_record(individuals, group, change, subject); });
    }
    border::core([&] { keep_different_ways(subject); });
    pfree(change);
}

// ---- one draw ------------------------------------------------------------------------------------------------------

static void draw_noise(const rows::Question *question, const privacy::ReleasePlan &plan, StrongBits &bits, int ngroups,
                       privacy::int128 *noise) {
    for (int group = 0; group < ngroups; group++)
        for (int j = 0; j < question->nmeasures; j++)
            for (int c = 0; c < (*question->measures)[j].coordinates(); c++)
                *noise++ = privacy::draw(bits, plan.noise[j]);
}

// Output minus exact answer, scaled. A group that stays below its threshold does not appear: its coordinates are z, 0.
static std::vector<long double> residuals(const Subject &subject, const privacy::ReleasePlan &plan,
                                          const privacy::int128 *noise) {
    std::vector<long double> residual(subject.sums.size());
    for (int group = 0; group < subject.ngroups; group++) {
        std::size_t first = static_cast<std::size_t>(group) * subject.width;
        bool shown = !plan.threshold || subject.sums[first] + noise[first] >= *plan.threshold;
        for (int c = 0; c < subject.width; c++)
            residual[first + c] =
                static_cast<long double>(shown ? native128{noise[first + c]} : -subject.sums[first + c]) /
                subject.units[c];
    }
    return residual;
}

static long double part(privacy::Mechanism mechanism, long double distance) {
    return mechanism == privacy::Mechanism::laplace ? std::fabs(distance) : distance * distance;
}

static double norm(privacy::Mechanism mechanism, long double parts) {
    parts = Max(parts, 0.0L);
    return static_cast<double>(mechanism == privacy::Mechanism::laplace ? parts : std::sqrt(parts));
}

// || o - q(x without the record) || over all records: only the record's own group differs from || o - q(x) ||.
static privacy::RdrRange output_range(const Subject &subject, privacy::Mechanism mechanism,
                                      const std::vector<long double> &residual) {
    std::vector<long double> of_group(subject.ngroups, 0.0L);
    for (std::size_t i = 0; i < residual.size(); i++)
        of_group[i / subject.width] += part(mechanism, residual[i]);
    long double all = std::accumulate(of_group.begin(), of_group.end(), 0.0L);
    double unchanged = norm(mechanism, all);
    privacy::RdrRange range{privacy::infinite_epsilon, 0};
    if (subject.somebody_without)
        range = privacy::RdrRange{unchanged, unchanged};
    for (const std::vector<double> &way : subject.way) {
        auto group = static_cast<std::size_t>(way[0]);
        long double parts = all - of_group[group];
        for (int c = 0; c < subject.width; c++)
            parts += part(mechanism, residual[group * subject.width + c] + way[c + 1] / subject.units[c]);
        double rdr = norm(mechanism, parts);
        range.min = Min(range.min, rdr);
        range.max = Max(range.max, rdr);
    }
    return range;
}

// ---- draw, look, accept --------------------------------------------------------------------------------------------

// Under `dynamic` what is consumed already cannot be charged again: such candidates are not tried. Another session's charge
// may still come in between; then the charge is denied.
static privacy::Epsilon consumed(const rows::Question *question) {
    Oid types[1] = {TEXTOID};
    Datum values[1] = {CStringGetTextDatum(question->settings->id_text)};
    static border::Statement statement(
        "SELECT o.public_epsilon + o.conditional_epsilon FROM dp_rdr.privacy_domain d "
        "JOIN dp_rdr.odometer o ON o.id = d.id WHERE d.id = $1::uuid AND d.bound = 'dynamic'");
    catalog::Visit visit = catalog::Visit::read();
    uint64 rows = visit.run(statement, 1, types, values);
    const char *text = rows == 1 ? visit.spi.text(0, 1) : nullptr;
    visit.leave();
    return text == nullptr ? privacy::Epsilon{} : catalog::to_epsilon(catalog::text_numeric(text), "epsilon");
}

// The first candidate whose draw meets tau, its noise in `noise`; 0 if there is none.
static privacy::Epsilon first_accepted(const rows::Question *question, const Terms &terms, const Subject *subject,
                                       privacy::int128 *noise) {
    auto *bits = border::context_new<StrongBits>();
    privacy::Epsilon spent = consumed(question);
    for (std::size_t i = 0; i < terms.candidates->size() && (*terms.candidates)[i] > spent; i++) {
        CHECK_FOR_INTERRUPTS();
        privacy::Epsilon candidate = (*terms.candidates)[i];
        bool accepted = border::core([&] {
            const auto plan = noise_of(question, terms, candidate);
            draw_noise(question, plan, *bits, subject->ngroups, noise);
            return output_range(*subject, terms.mechanism, residuals(*subject, plan, noise)).meets(terms.tau);
        });
        if (accepted)
            return candidate;
    }
    return privacy::Epsilon{};
}

// Charges the largest candidate that the preference and the bounds permit, then reads the rows and writes the answer.
static Answer pay_and_write(const Checked &checked, const Terms &terms, const Permitted &permitted,
                            const Drawn *drawn) {
    const catalog::Charge charge = charge_for(checked.question, terms, permitted);
    catalog::Entry entry = catalog::entry_for(charge);
    catalog::commit(&entry);
    return write_answer(checked.paid_by(entry), terms, entry.verdict.epsilon, drawn);
}

Answer answer_from_output(const Checked &checked) {
    const rows::Question *question = checked.question;
    const Terms &terms = checked.terms;
    risk::check_units(question, {privacy::Calibration::sound, false, false, true});
    if (rows::counts_values(question)) // how many there are is not the sum of what each record brings
        rows::refuse_values("the indicator \"output\"", "Use the indicator 'expected'.");
    if (rows::has_quantile(question))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("min, max and percentiles are not supported with the indicator \"output\""),
                        errdetail("They are drawn from a histogram: no noise is added to them."),
                        errhint("Use the indicator 'expected'.")));
    risk::Memo *memo =
        risk::leave_one_out(checked.search(), terms.mechanism, privacy::Calibration::sound, risk::Detail::changes);
    // Nobody is there whose risk an output could show: the price from public facts stands in, as for the expectation.
    if (memo->rows == 0)
        return pay_and_write(checked, terms, from_public_facts(question, terms), nullptr);
    auto *subject = border::context_new<Subject>();
    read_subject(question, memo, subject);
    auto *noise = static_cast<privacy::int128 *>(MemoryContextAllocExtended(
        CurrentMemoryContext, sizeof(privacy::int128) * (subject->sums.size() + 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
    privacy::Epsilon accepted = first_accepted(question, terms, subject, noise);
    // Without one the charge is refused like any that tau does not permit. With one nothing but this candidate will do.
    Terms only = terms;
    auto *candidates = border::context_new<std::vector<privacy::Epsilon>>();
    if (accepted.units() > 0) {
        border::core([&] { candidates->push_back(accepted); });
        only.candidates = candidates;
    }
    Drawn drawn = {noise, subject->ngroups};
    return pay_and_write(checked, only, Permitted{accepted.value(), privacy::price_slack}, &drawn);
}

} // namespace dp::release
