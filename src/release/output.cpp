#include "release/output.hpp"

#include <algorithm>
#include <cmath>

#include "privacy/quantile_draw.hpp"
#include "privacy/risk_exact.hpp"

#include "catalog/access.hpp"
#include "catalog/decimals.hpp"
#include "release/charge.hpp"
#include "release/choose.hpp"
#include "release/random.hpp"
#include "release/steps.hpp"
#include "risk/memory.hpp"
#include "risk/output_distance.hpp"
#include "risk/printed_risk.hpp"

namespace dp::release {

namespace {
// Holds a draw, and what it would print.
struct Draw {
    risk::Output output;
    privacy::int128 *noise; // ngroups x ncoordinates; of a quantile its cell
    privacy::int128 *noisy; // of one group
};
} // namespace

static Draw begin_draw(const rows::Question *question, const risk::Memo *memo, privacy::Mechanism mechanism) {
    const Size width = question->ncoordinates;
    risk::check_memory(static_cast<double>(memo->ngroups) * static_cast<double>(width * sizeof(privacy::int128)),
                       psprintf("to look at draws for %d groups", memo->ngroups), "use the indicator 'expected'");
    const auto numbers = [](Size n) {
        return static_cast<privacy::int128 *>(MemoryContextAllocExtended(
            CurrentMemoryContext, sizeof(privacy::int128) * (n + 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
    };
    return {risk::begin_output(question, memo, mechanism, true), numbers(memo->ngroups * width), numbers(width)};
}

// Core region. Fills the noise of a group, and its noisy sums.
static void draw_group(const Draw &draw, const risk::Group &group, const privacy::ReleasePlan &plan, StrongBits &bits,
                       privacy::int128 *noise) {
    const rows::Question *question = draw.output.question;
    for (int j = 0, c = 0; j < question->nmeasures; j++) {
        const privacy::Measure &measure = (*question->measures)[j];
        for (int end = c + measure.coordinates(); c < end; c++) {
            noise[c] = measure.kind == privacy::MeasureKind::quantile
                           ? privacy::draw_cell(bits, risk::counts_of_cells(question, j, group).data(),
                                                question->grids[j]->cells, measure.fraction, plan.noise[j])
                           : privacy::draw(bits, plan.noise[j]);
            draw.noisy[c] = group.sums[c] + noise[c];
        }
    }
    // A group that stays below its threshold does not appear: it prints what nobody does.
    if (plan.threshold && draw.noisy[0] < *plan.threshold)
        std::fill_n(draw.noisy, question->ncoordinates, privacy::int128{0});
}

// Core region. A count is printed as a whole number.
static double printed(const rows::Question *question, const privacy::int128 *noisy, int aggregate) {
    const double number = risk::printed_answer(question, noisy, aggregate);
    return question->leaf->aggregates[aggregate].result_type == INT8OID ? std::round(number) : number;
}

static void draw_all(Draw *draw, const privacy::ReleasePlan *plan, StrongBits *bits) {
    const rows::Question *question = draw->output.question;
    for (int g = 0; g < draw->output.memo->ngroups; g++) {
        CHECK_FOR_INTERRUPTS();
        const risk::Group group = risk::group_at(question, draw->output.memo, g);
        border::core([&] {
            draw_group(*draw, group, *plan, *bits, draw->noise + int64{g} * question->ncoordinates);
            for (int a = 0; a < draw->output.naggregates; a++)
                draw->output.values[int64{g} * draw->output.naggregates + a] = printed(question, draw->noisy, a);
        });
    }
    risk::finish_output(&draw->output);
}

static privacy::RdrRange range_of(const risk::Output &output) {
    const risk::Memo *memo = output.memo;
    privacy::RdrRange range{privacy::infinite_epsilon, 0};
    for (int64 i = 0; i < memo->nrecords + (memo->outside > 0 ? 1 : 0); i++) {
        CHECK_FOR_INTERRUPTS();
        const double rdr = risk::output_distance(output, i);
        range = {Min(range.min, rdr), Max(range.max, rdr)};
    }
    return range;
}

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

// The first candidate whose draw meets tau; 0 if there is none.
static privacy::Epsilon first_accepted(const rows::Question *question, const Terms &terms, Draw *draw) {
    auto *bits = border::context_new<StrongBits>();
    privacy::Epsilon spent = consumed(question);
    for (std::size_t i = 0; i < terms.candidates->size() && (*terms.candidates)[i] > spent; i++) {
        const privacy::Epsilon candidate = (*terms.candidates)[i];
        draw_all(draw, risk::plan_in_context(question, terms.mechanism, candidate, terms.delta), bits);
        const privacy::RdrRange range = range_of(draw->output);
        if (border::core([&] { return range.meets(terms.tau); }))
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
    const risk::Memo *memo =
        risk::leave_one_out(checked.search(), terms.mechanism, privacy::Calibration::sound, risk::Detail::changes);
    // Nobody is there whose risk an output could show: the price from public facts stands in, as for the expectation.
    if (memo->rows == 0)
        return pay_and_write(checked, terms, from_public_facts(question, terms), nullptr);
    Draw draw = begin_draw(question, memo, terms.mechanism);
    const privacy::Epsilon accepted = first_accepted(question, terms, &draw);
    // Without one the charge is refused like any that tau does not permit. With one nothing but this candidate will do.
    Terms only = terms;
    auto *candidates = border::context_new<std::vector<privacy::Epsilon>>();
    if (accepted.units() > 0) {
        border::core([&] { candidates->push_back(accepted); });
        only.candidates = candidates;
    }
    Drawn drawn = {draw.noise, memo->ngroups};
    return pay_and_write(checked, only, Permitted{accepted.value(), privacy::price_slack}, &drawn);
}

} // namespace dp::release
