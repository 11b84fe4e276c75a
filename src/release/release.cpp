#include "release/release.hpp"

#include <cmath>
#include <limits>

#include "privacy/quantile_draw.hpp"
#include "privacy/joint.hpp"
#include "privacy/pair_release.hpp"
#include "privacy/triple.hpp"

#include "border/columns.hpp"
#include "border/scope.hpp"
#include "border/stored_rows.hpp"
#include "catalog/decimals.hpp"
#include "release/accuracy.hpp"
#include "release/charge.hpp"
#include "release/convert.hpp"
#include "release/fields.hpp"
#include "release/judge.hpp"
#include "rows/guarded_read.hpp"
#include "rows/evaluate.hpp"
#include "rows/measures.hpp"
#include "rows/public_rows.hpp"
#include "release/last.hpp"
#include "release/refinement_steps.hpp"
#include "release/random.hpp"
#include "release/replay.hpp"
#include "release/steps.hpp"
#include "release/trace.hpp"
#include "release/identity.hpp"

namespace dp::release {

static Algorithm algorithm_of(catalog::Selection selection) {
    static const Algorithm algorithms[] = {Algorithm::within_domain, Algorithm::within_data, Algorithm::released,
                                           Algorithm::profile};
    static_assert(std::size(algorithms) == static_cast<int>(catalog::Selection::profile) + 1);
    return algorithms[static_cast<int>(selection)];
}

// Without a least price one total would buy as many answers, and as many rows of the ledger, as anybody cares to ask for.
void check_minimum(const catalog::Policy &policy, privacy::Epsilon requested) {
    if (requested >= policy.epsilon_min)
        return;
    const char *least = decimal_text(policy.epsilon_min);
    refuse_value(psprintf("epsilon %s is less than the policy's minimum %s", decimal_text(requested), least),
                 psprintf("Pass epsilon => %s or more, or leave it out.", least));
}

Terms terms_of(const catalog::Policy &policy, const privacy::Epsilon *requested, double weight) {
    Terms terms = {};
    terms.algorithm = algorithm_of(policy.selection);
    terms.mechanism = policy.mechanism;
    terms.tau = policy.tau.value_or(1);
    terms.epsilon_svt = policy.epsilon_svt;
    terms.weight = Min(Max(weight, policy.weight_min), policy.weight_max);
    terms.tau_var = Min(policy.tau_var.value_or(0) * terms.weight, 1.0); // 5.2
    terms.delta = policy.delta;
    terms.candidates = policy.candidates;
    terms.caps = {policy.epsilon_max, std::nullopt, policy.share, policy.profile};
    if (requested != nullptr) {
        check_minimum(policy, *requested);
        terms.caps.requested = *requested;
    }
    terms.grantee = policy.grantee_name;
    terms.grantee_oid = policy.grantee;
    terms.epsilon_min = policy.epsilon_min;
    terms.group_a = policy.group_a;
    terms.group_b = policy.group_b;
    return terms;
}

// ---- noise and rows ------------------------------------------------------------------------------------------------

namespace {
// Turns exact sums into rows.
struct Writer {
    const rows::Question *question;
    const privacy::ReleasePlan *plan;
    StrongBits *bits;
    const Drawn *drawn;           // null: draw the noise
    const int64 *cells;           // histograms of the group that comes next; null: no quantile is asked for
    const privacy::int128 *given; // released values of all groups, instead of sums and noise; or null
    bool means;                   // they are those of a mean (accuracy.hpp)
    privacy::int128 *kept;        // of all groups, what was released of them; null: nobody needs it later
    int64 at;                     // the group that comes next
    Kept *stored;                 // what becomes of a stored answer; or null
    EachRow each;                 // takes the rows of an exact answer; null: they are stored in `answer`
    void *context;                // its own
    privacy::int128 *noisy;       // ncoordinates
    Answer *answer;
    double *error95; // of each output: how accurate it is; of an average: where it is least so
    Judge *judge;    // null: nothing is said of the answer
};
} // namespace

static void add_drawn_noise(Writer *writer, const privacy::int128 *exact) {
    int n = writer->question->ncoordinates;
    if (writer->at >= writer->drawn->ngroups)
        elog(ERROR, "no noise was drawn for a group");
    for (int c = 0; c < n; c++)
        writer->noisy[c] = exact[c] + writer->drawn->noise[writer->at * n + c];
    writer->at++;
}

static void take_given(Writer *writer) {
    int n = writer->question->ncoordinates;
    memcpy(writer->noisy, writer->given + writer->at++ * n, sizeof(privacy::int128) * n);
}

// Draws the cell of a quantile, which is its coordinate in the place of a noisy number. Core region.
static int draw_quantile(Writer *writer, int measure) {
    const privacy::Grid &grid = *writer->question->grids[measure];
    const int64 *counts = writer->cells;
    writer->cells += grid.cells;
    trace::drawn_from(counts, grid.cells, (*writer->question->measures)[measure].fraction,
                      writer->plan->noise[measure]);
    return privacy::draw_cell(*writer->bits, counts, grid.cells, (*writer->question->measures)[measure].fraction,
                              writer->plan->noise[measure]);
}

static void add_noise(Writer *writer, const privacy::int128 *exact) {
    const int n = writer->question->ncoordinates;
    if (writer->drawn != nullptr) {
        add_drawn_noise(writer, exact);
        return;
    }
    border::core([&] {
        int at = 0;
        for (int j = 0; j < writer->question->nmeasures; j++)
            if ((*writer->question->measures)[j].kind == privacy::MeasureKind::quantile)
                writer->noisy[at++] = draw_quantile(writer, j);
            else
                for (int c = 0; c < (*writer->question->measures)[j].coordinates(); c++, at++)
                    writer->noisy[at] = exact[at] + privacy::draw(*writer->bits, writer->plan->noise[j]);
        trace::released(writer->noisy, at);
    });
    if (writer->kept != nullptr)
        memcpy(writer->kept + writer->at++ * n, writer->noisy, sizeof(privacy::int128) * n);
}

static Datum pair_value(const rows::Question *question, int i, const privacy::int128 *noisy) {
    const query::Aggregate &aggregate = question->leaf->aggregates[i];
    if (privacy::is_spread(aggregate.fn))
        return real_sum_result(aggregate.result_type, real_number(question, i, noisy));
    const privacy::PairRelease pair = released_pair(question, i, noisy);
    switch (aggregate.fn) {
    case privacy::Aggregate::sum:
        return rounded_result(aggregate.result_type, real_sum_result(aggregate.result_type, pair.sum),
                              question->decimals[i]);
    case privacy::Aggregate::avg:
        return rounded_result(aggregate.result_type,
                              avg_result(aggregate.result_type, pair.avg, question->bounds[question->measure_of[i]]),
                              average_decimals(question->decimals[i]));
    default:
        return count_result(pair.count, 0);
    }
}

// Returns the exponent of the last place of a released count or sum.
static int exponent_of(const Writer *writer, int j) {
    const rows::Question *question = writer->question;
    return privacy::unit_exponent((*question->measures)[j], question->bounds[j]) -
           (writer->means ? mean_bits(question, j) : 0);
}

static Datum aggregate_value(const Writer *writer, int i) {
    const rows::Question *question = writer->question;
    const query::Aggregate &aggregate = question->leaf->aggregates[i];
    int j = question->measure_of[i];
    const privacy::int128 *noisy = writer->noisy + rows::first_coordinate_of(question, j);
    switch ((*question->measures)[j].kind) {
    case privacy::MeasureKind::count:
        return count_result(*noisy, exponent_of(writer, j));
    case privacy::MeasureKind::sum:
        return rounded_result(aggregate.result_type, sum_result(aggregate.result_type, *noisy, exponent_of(writer, j)),
                              question->decimals[i]);
    case privacy::MeasureKind::pair:
    case privacy::MeasureKind::triple:
        return pair_value(question, i, noisy);
    case privacy::MeasureKind::products:
    case privacy::MeasureKind::moments:
        return Float8GetDatum(real_number(question, i, noisy));
    case privacy::MeasureKind::quantile:
        return quantile_result(aggregate.result_type, aggregate.fn, *question->grids[j], static_cast<int>(*noisy),
                               question->bounds[j]);
    }
    pg_unreachable();
}

static Datum part_value(const Writer *writer, int output) {
    const rows::Question *question = writer->question;
    const query::Output &column = question->leaf->outputs[output];
    Datum value = aggregate_value(writer, column.index);
    if (column.part == query::Part::value || writer->each != nullptr)
        return value;
    int j = question->measure_of[column.index];
    Released released = {question, column.index, writer->noisy + rows::first_coordinate_of(question, j), 0, nullptr, 0, value};
    if (!(*question->measures)[j].has_parts())
        released.exponent = exponent_of(writer, j);
    released.noise = writer->plan == nullptr ? nullptr : &writer->plan->noise[j];
    released.error95 = writer->error95[output];
    return interval_end(released, column.part);
}

static void note_accuracy(const Writer *writer, int output) {
    const rows::Question *question = writer->question;
    int aggregate = question->leaf->outputs[output].index, j = question->measure_of[aggregate];
    privacy::Aggregate fn = question->leaf->aggregates[aggregate].fn;
    if (fn != privacy::Aggregate::avg && !privacy::is_spread(fn) && !privacy::is_joint(fn))
        return; // the same for every row, and known without one
    const privacy::int128 *noisy = writer->noisy + rows::first_coordinate_of(question, j);
    const double number = real_number(question, aggregate, noisy);
    const privacy::Interval interval = real_interval(question, aggregate, noisy, writer->plan->noise[j]);
    note_interval(writer->judge, output, number, interval);
    const double halfwidth = Max(interval.upper - number, number - interval.lower) +
                             rounding_of(average_decimals(question->decimals[aggregate]));
    if (!(halfwidth <= writer->error95[output])) // NaN before the first row
        writer->error95[output] = halfwidth;
}

// One row from the keys and the noisy coordinates; an aggregate is never NULL (C11).
static void put_row(const Writer *writer, const Datum *keys, const bool *key_nulls) {
    const query::Leaf *leaf = writer->question->leaf;
    auto *values = static_cast<Datum *>(palloc0(sizeof(Datum) * leaf->noutputs));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * leaf->noutputs));
    for (int i = 0; i < leaf->noutputs; i++) {
        const query::Output &output = leaf->outputs[i];
        if (output.is_key) {
            values[i] = keys[output.index];
            nulls[i] = key_nulls[output.index];
        } else {
            values[i] = part_value(writer, i);
            if (writer->each == nullptr)
                note_accuracy(writer, i);
        }
    }
    if (writer->each != nullptr) {
        writer->each(writer->context, values, nulls);
        return;
    }
    if (shows_row(writer->judge, writer->noisy))
        tuplestore_putvalues(writer->answer->rows, writer->answer->desc, values, nulls);
    keep_group(writer->stored, writer->question, keys, key_nulls, writer->noisy);
}

// sums: null where values are given.
static void put_declared(Writer *writer, const rows::Sums *sums) {
    const rows::Question *question = writer->question;
    int nkeys = question->leaf->nkeys;
    auto *keys = static_cast<Datum *>(palloc0(sizeof(Datum) * (nkeys + 1)));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * (nkeys + 1)));
    MemoryContext per_group = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    for (int group = 0; group < question->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        MemoryContext old = MemoryContextSwitchTo(per_group);
        int64 rest = rows::place_of_group(question, group);
        for (int i = nkeys - 1; i >= 0; i--) {
            const rows::KeyDomain &domain = question->domains[i];
            keys[i] = domain.values[rest % domain.count];
            nulls[i] = domain.nulls[rest % domain.count];
            rest /= domain.count;
        }
        if (writer->given != nullptr)
            take_given(writer);
        else {
            writer->cells = sums->cells + static_cast<int64>(group) * question->ncells;
            add_noise(writer, sums->values + static_cast<int64>(group) * question->ncoordinates);
        }
        put_row(writer, keys, nulls);
        MemoryContextSwitchTo(old);
        MemoryContextReset(per_group);
    }
    MemoryContextDelete(per_group);
}

// Canonical order: by the keys' default order, NULL last, whatever the order of the rows was (C12).
static Tuplesortstate *sort_groups(const rows::Question *question, const rows::Sums &sums) {
    const int nkeys = question->leaf->nkeys;
    auto *columns = static_cast<border::SortColumn *>(palloc(sizeof(border::SortColumn) * nkeys));
    for (int i = 0; i < nkeys; i++)
        columns[i] = {i, question->leaf->keys[i].collation};
    Tuplesortstate *sort = border::begin_sort(sums.desc, columns, nkeys);
    border::each_stored_row(sums.store, sums.desc, [&](TupleTableSlot *slot) { tuplesort_puttupleslot(sort, slot); });
    tuplesort_performsort(sort);
    return sort;
}

// A group whose key nobody declared appears iff its noisy count reaches the charged threshold (8.5).
static void put_thresholded(Writer *writer, rows::Sums *sums) {
    Tuplesortstate *sort = sort_groups(writer->question, *sums);
    auto *exact = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * writer->question->ncoordinates));
    auto *cells = static_cast<int64 *>(palloc0(sizeof(int64) * (writer->question->ncells + 1)));
    border::each_row_in_scratch(sort, sums->desc, [&](const TupleTableSlot *slot) {
        rows::read_coordinates(writer->question, slot->tts_values, exact, cells);
        writer->cells = cells;
        add_noise(writer, exact);
        if (writer->noisy[0] >= *writer->plan->threshold)
            put_row(writer, slot->tts_values, slot->tts_isnull);
    });
    tuplesort_end(sort);
    rows::discard(sums);
}

static TupleDesc describe_answer(const query::Leaf *leaf) {
    TupleDesc desc = CreateTemplateTupleDesc(leaf->noutputs);
    for (int i = 0; i < leaf->noutputs; i++) {
        const query::Output &output = leaf->outputs[i];
        bool key = output.is_key;
        TupleDescInitEntry(desc, i + 1, output.name,
                           key ? leaf->keys[output.index].type : leaf->aggregates[output.index].result_type,
                           key ? leaf->keys[output.index].typmod : -1, 0);
        if (key)
            TupleDescInitEntryCollation(desc, i + 1, leaf->keys[output.index].collation);
    }
    border::tell_columns_apart(desc);
    return BlessTupleDesc(desc);
}

static const privacy::ReleasePlan *traced_plan(const rows::Question *question, const Terms &terms,
                                               privacy::Epsilon epsilon) {
    const privacy::ReleasePlan *plan = plan_of(question, terms, epsilon);
    border::core([&] { trace::planned(*plan); });
    return plan;
}

static Facts bare_facts(const rows::Question *question, const Terms &terms) {
    Facts facts = {};
    facts.algorithm = terms.algorithm;
    facts.mechanism = terms.mechanism;
    facts.noutputs = question->leaf->noutputs;
    return facts;
}

static Facts facts_of(const rows::Question *question, const Terms &terms, const Charged &paid,
                      const privacy::ReleasePlan *plan) {
    Facts facts = bare_facts(question, terms);
    facts.paid = paid;
    facts.paid.rho = border::core([&] { return plan->rho(); });
    facts.delta = plan->delta;
    facts.thresholded = question->thresholded;
    facts.of_people = question->units != nullptr && question->units->clipped;
    facts.threshold = plan->threshold.value_or(0);
    facts.error95 = halfwidths(question, *plan);
    facts.reached = Reached{terms.wanted.asked(), 1, Short::not_at_all};
    return facts;
}

// One Gaussian measurement that was charged in rho, of groups that are all there, each aggregate a number of its own.
static bool is_refinable(const rows::Question *question, const Terms &terms) {
    return terms.mechanism != privacy::Mechanism::laplace && is_public(terms) && terms.bound != nullptr &&
           terms.bound->basis_of(false) == privacy::Basis::rho && !question->thresholded &&
           question->ncoordinates == question->nmeasures;
}

static Writer begin_writer(const rows::Question *question, Answer *answer) {
    Writer writer = {};
    writer.question = question;
    writer.noisy = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * question->ncoordinates));
    writer.answer = answer;
    writer.error95 = answer->facts.error95;
    return writer;
}

static Answer begin_answer(const rows::Question *question, const Facts &facts) {
    return Answer{facts, tuplestore_begin_heap(true, false, work_mem), describe_answer(question->leaf), nullptr};
}

Answer write_values(const rows::Question *question, const Terms &terms, const Facts &facts,
                    const privacy::int128 *values, bool means) {
    Answer answer = begin_answer(question, facts);
    Writer writer = begin_writer(question, &answer);
    writer.given = values;
    writer.means = means;
    writer.judge = begin_judging(question, terms, nullptr, means, &answer.facts);
    writer.stored = begin_keeping(question, terms.replay);
    rows::caught(question, [&] { put_declared(&writer, nullptr); });
    end_judging(writer.judge);
    answer.storing = storing_of(writer.stored, question, terms, facts, true);
    return answer;
}

// ---- what costs nothing --------------------------------------------------------------------------------------------

static void put_past_groups(Writer *writer, const Past &past) {
    int nkeys = writer->question->leaf->nkeys;
    for (int64 group = 0; group < past.ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        take_given(writer);
        put_row(writer, past.keys + group * nkeys, past.nulls + group * nkeys);
    }
}

// The numbers are as they were drawn, and so are their intervals; nothing was charged for them now.
Answer give_again(const rows::Question *question, const Terms &terms) {
    const Past &past = *terms.replay->past;
    Terms drawn = terms;
    drawn.mechanism = past.mechanism;
    drawn.rho = past.rho;
    const privacy::ReleasePlan *plan = past.round ? nullptr : traced_plan(question, drawn, past.epsilon);
    Facts facts = past.round ? bare_facts(question, terms) : facts_of(question, drawn, Charged{}, plan);
    if (past.round) {
        facts.mechanism = past.mechanism;
        facts.error95 =
            width_of_each(question->leaf, [&](int aggregate) { return past.error95[question->measure_of[aggregate]]; });
        facts.reached = past.reached;
    }
    facts.paid = Charged{};
    facts.delta = privacy::Delta();
    facts.reached.steps = 0;
    facts.uncharged = true;
    Answer answer = begin_answer(question, facts);
    Writer writer = begin_writer(question, &answer);
    writer.plan = plan;
    writer.given = past.values;
    writer.means = past.round && past.mechanism == privacy::Mechanism::gaussian;
    writer.judge = begin_judging(question, terms, plan, writer.means, &answer.facts);
    if (past.keys != nullptr)
        put_past_groups(&writer, past);
    else
        put_declared(&writer, nullptr);
    end_judging(writer.judge);
    return answer;
}

Answer list_groups(const rows::Question *question, const Terms &terms) {
    Facts facts = bare_facts(question, terms);
    facts.error95 = width_of_each(question->leaf, [](int) { return get_float8_nan(); });
    facts.uncharged = true;
    Answer answer = begin_answer(question, facts);
    Writer writer = begin_writer(question, &answer);
    writer.given = writer.noisy; // of no coordinate
    put_declared(&writer, nullptr);
    return answer;
}

// ---- without noise -------------------------------------------------------------------------------------------------

void each_exact_row(const rows::Question *question, const rows::Sums &sums, EachRow each, void *context) {
    Answer nothing = {};
    Writer writer = begin_writer(question, &nothing);
    writer.given = sums.values;
    writer.each = each;
    writer.context = context;
    put_declared(&writer, nullptr);
}

// ---- an answer that was charged ------------------------------------------------------------------------------------

Answer write(const rows::Question *question, const Terms &terms, const Charged &paid, rows::Sums *sums,
             const Drawn *drawn) {
    const privacy::ReleasePlan *plan = traced_plan(question, terms, paid.epsilon);
    Answer answer = begin_answer(question, facts_of(question, terms, paid, plan));
    Writer writer = begin_writer(question, &answer);
    writer.stored = begin_keeping(question, terms.replay);
    writer.plan = plan;
    writer.bits = border::context_new<StrongBits>();
    writer.drawn = drawn;
    if (is_refinable(question, terms))
        writer.kept = static_cast<privacy::int128 *>(MemoryContextAllocHuge(
            CurrentMemoryContext,
            sizeof(privacy::int128) * (static_cast<Size>(question->ngroups) * question->ncoordinates + 1)));
    writer.judge = begin_judging(question, terms, plan, false, &answer.facts);
    // The keys and sums of discovered groups are rows' until their noise is on them.
    rows::caught(question, [&] {
        if (question->thresholded)
            put_thresholded(&writer, sums);
        else
            put_declared(&writer, sums);
    });
    end_judging(writer.judge);
    answer.storing = storing_of(writer.stored, question, terms, answer.facts, false);
    if (writer.kept != nullptr)
        answer.facts.refinable =
            Refinable{mean_of(question, *plan, writer.kept), answer.facts.paid.rho, versions_hash(question),
                      rows::hash_of_public_rows(question)};
    return answer;
}

Answer write_answer(const rows::Paid &paid, const Terms &terms, privacy::Epsilon charged, const Drawn *drawn) {
    const rows::Question *question = paid.question();
    border::UsageScope usage = border::UsageScope::enter();
    rows::Sums sums = rows::evaluate(paid);
    Answer answer = write(question, terms, Charged{charged, {}, {}}, &sums, drawn);
    usage.leave();
    remember(question->leaf, answer.facts, nullptr, nullptr);
    return answer;
}

} // namespace dp::release
