#include "release/release.hpp"

#include "catalog/decimals.hpp"
#include "release/random.hpp"
#include "border/scope.hpp"
#include "release/choose.hpp"
#include "release/convert.hpp"
#include "release/evaluate.hpp"
#include "release/output.hpp"
#include "release/steps.hpp"

namespace dp::release {

Terms terms_of(const catalog::Policy &policy, const privacy::Epsilon *requested, double weight) {
    if (policy.selection == catalog::Selection::released)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("policies with tau_var are not answered by this version"),
                        errhint("The controller can grant a tau.")));
    Terms terms = {};
    terms.algorithm =
        policy.selection == catalog::Selection::within_data ? Algorithm::within_data : Algorithm::within_domain;
    terms.mechanism = policy.mechanism;
    terms.tau = policy.tau;
    terms.weight = Min(Max(weight, policy.weight_min), policy.weight_max);
    terms.delta = policy.delta;
    terms.candidates = policy.candidates;
    terms.has_epsilon_max = true;
    terms.epsilon_max = policy.epsilon_max;
    terms.has_requested = requested != nullptr;
    if (requested != nullptr)
        terms.requested = *requested;
    terms.has_share = policy.has_share;
    terms.share = policy.share;
    terms.grantee = policy.grantee_name;
    terms.group_a = policy.group_a;
    terms.group_b = policy.group_b;
    return terms;
}

// ---- charge --------------------------------------------------------------------------------------------------------

static const char *name_of(Algorithm algorithm) {
    switch (algorithm) {
    case Algorithm::within_domain:
        return "within_domain";
    case Algorithm::within_data:
        return "within_data";
    case Algorithm::find_epsilon:
        return "find_epsilon";
    case Algorithm::find_from_output:
        return "find_from_output";
    }
    pg_unreachable();
}

static const char *name_of(privacy::MeasureKind kind) {
    switch (kind) {
    case privacy::MeasureKind::count:
        return "count";
    case privacy::MeasureKind::sum:
        return "sum";
    case privacy::MeasureKind::pair:
        return "pair";
    }
    pg_unreachable();
}

static void describe_measure(StringInfo json, const Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    appendStringInfo(json, "{\"kind\": \"%s\"", name_of(measure.kind));
    if (measure.argument >= 0) {
        appendStringInfoString(json, ", \"column\": ");
        escape_json(
            json, get_attname(question->settings->relation, question->argument_columns[measure.calls.front()], false));
    }
    if (question->bounds[j] != nullptr)
        appendStringInfo(json, ", \"lower\": %s, \"upper\": %s", question->bounds[j]->lower.c_str(),
                         question->bounds[j]->upper.c_str());
    appendStringInfo(json, ", \"sensitivity\": " UINT64_FORMAT "}", (*question->sensitivities)[j]);
}

// Public facts only: what the price follows from.
static const char *describe(const Question *question, const Terms &terms) {
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfo(&json, "{\"tau\": %s, \"weight\": %s, \"k1\": %d, \"groups\": \"%s\", \"measures\": [",
                     float8out_internal(terms.tau), float8out_internal(terms.weight), question->k1,
                     question->leaf->nkeys == 0 ? "none"
                     : question->thresholded    ? "thresholded"
                                                : "declared");
    for (int j = 0; j < question->nmeasures; j++) {
        if (j > 0)
            appendStringInfoString(&json, ", ");
        describe_measure(&json, question, j);
    }
    appendStringInfoChar(&json, ']');
    if (terms.exact)
        appendStringInfoString(&json, ", \"exact\": true");
    if (terms.group_a != nullptr) {
        appendStringInfoString(&json, ", \"group_a\": ");
        escape_json(&json, terms.group_a);
        appendStringInfoString(&json, ", \"group_b\": ");
        escape_json(&json, terms.group_b);
    }
    appendStringInfoChar(&json, '}');
    return json.data;
}

static privacy::Delta delta_of(const Question *question, const Terms &terms) {
    return border::core([&] { return privacy::delta_charged(terms.mechanism, question->thresholded, terms.delta); });
}

privacy::Epsilon charge(const Question *question, const Terms &terms, const Permitted &permitted) {
    bool from_data = terms.algorithm != Algorithm::within_domain;
    catalog::Charge charge = {};
    charge.settings = question->settings;
    charge.query = question->text;
    charge.grantee = terms.grantee;
    charge.algorithm = name_of(terms.algorithm);
    charge.guarantee = from_data ? "none: epsilon chosen from the data" : "(epsilon, delta)";
    charge.kind = terms.mechanism == privacy::Mechanism::laplace ? "pure" : "gaussian";
    charge.mechanism = terms.mechanism;
    charge.account = from_data ? privacy::Account::conditional : privacy::Account::public_account;
    charge.eps_star = permitted.eps_star;
    charge.slack = permitted.slack;
    charge.candidates = terms.candidates;
    charge.has_epsilon_max = terms.has_epsilon_max;
    charge.epsilon_max = terms.epsilon_max;
    charge.has_requested = terms.has_requested;
    charge.requested = terms.requested;
    charge.has_share = terms.has_share;
    charge.share = terms.share;
    privacy::Delta delta = delta_of(question, terms);
    // How delta is split does not depend on epsilon, which is chosen later, under the odometer's lock.
    border::core([&] {
        auto plan = privacy::plan_release(terms.mechanism, *question->measures, *question->sensitivities,
                                          question->thresholded, terms.candidates->front(), delta);
        charge.delta = plan.delta;
        charge.delta_noise = plan.delta_noise;
        charge.delta_groups = plan.delta_groups;
    });
    charge.measures = question->measures;
    charge.sensitivities = question->sensitivities;
    charge.thresholded = question->thresholded;
    charge.parameters = describe(question, terms);
    return catalog::charge(charge);
}

// ---- noise and rows ------------------------------------------------------------------------------------------------

namespace {
// What turns exact sums into rows.
struct Writer {
    const Question *question;
    const privacy::ReleasePlan *plan;
    StrongBits *bits;
    const Drawn *drawn;     // null: draw the noise
    int64 at;               // the group that comes next
    privacy::int128 *noisy; // ncoordinates
    Answer *answer;
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

static void add_noise(Writer *writer, const privacy::int128 *exact) {
    if (writer->drawn != nullptr) {
        add_drawn_noise(writer, exact);
        return;
    }
    border::core([&] {
        int at = 0;
        for (int j = 0; j < writer->question->nmeasures; j++)
            for (int c = 0; c < (*writer->question->measures)[j].coordinates(); c++, at++)
                writer->noisy[at] = exact[at] + privacy::draw(*writer->bits, writer->plan->noise[j]);
    });
}

static int first_coordinate(const Question *question, int measure) {
    int at = 0;
    for (int j = 0; j < measure; j++)
        at += (*question->measures)[j].coordinates();
    return at;
}

static Datum pair_value(const query::Aggregate &aggregate, const privacy::int128 *noisy,
                        const privacy::Bounds *bounds) {
    privacy::PairRelease pair = border::core([&] { return privacy::release_pair(noisy[0], noisy[1], *bounds); });
    switch (aggregate.fn) {
    case privacy::Aggregate::sum:
        return real_sum_result(aggregate.result_type, pair.sum);
    case privacy::Aggregate::avg:
        return avg_result(aggregate.result_type, pair.avg, bounds);
    default:
        return count_result(pair.count);
    }
}

static Datum aggregate_value(const Writer *writer, int i) {
    const Question *question = writer->question;
    const query::Aggregate &aggregate = question->leaf->aggregates[i];
    int j = question->measure_of[i];
    const privacy::int128 *noisy = writer->noisy + first_coordinate(question, j);
    switch ((*question->measures)[j].kind) {
    case privacy::MeasureKind::count:
        return count_result(*noisy);
    case privacy::MeasureKind::sum:
        return sum_result(aggregate.result_type, *noisy, question->bounds[j]->exponent);
    case privacy::MeasureKind::pair:
        return pair_value(aggregate, noisy, question->bounds[j]);
    }
    pg_unreachable();
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
        } else
            values[i] = aggregate_value(writer, output.index);
    }
    tuplestore_putvalues(writer->answer->rows, writer->answer->desc, values, nulls);
}

static void put_declared(Writer *writer, const Sums &sums) {
    const Question *question = writer->question;
    int nkeys = question->leaf->nkeys;
    auto *keys = static_cast<Datum *>(palloc0(sizeof(Datum) * (nkeys + 1)));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * (nkeys + 1)));
    for (int group = 0; group < question->ngroups; group++) {
        CHECK_FOR_INTERRUPTS();
        int rest = group;
        for (int i = nkeys - 1; i >= 0; i--) {
            const KeyDomain &domain = question->domains[i];
            keys[i] = domain.values[rest % domain.count];
            nulls[i] = domain.nulls[rest % domain.count];
            rest /= domain.count;
        }
        add_noise(writer, sums.values + static_cast<int64>(group) * question->ncoordinates);
        put_row(writer, keys, nulls);
    }
}

// Canonical order: by the keys' default order, NULL last, whatever the order of the rows was (C12).
static Tuplesortstate *sort_groups(const Question *question, const Sums &sums) {
    int nkeys = question->leaf->nkeys;
    auto *columns = static_cast<AttrNumber *>(palloc0(sizeof(AttrNumber) * nkeys));
    auto *operators = static_cast<Oid *>(palloc0(sizeof(Oid) * nkeys));
    auto *collations = static_cast<Oid *>(palloc0(sizeof(Oid) * nkeys));
    auto *nulls_first = static_cast<bool *>(palloc0(sizeof(bool) * nkeys));
    for (int i = 0; i < nkeys; i++) {
        columns[i] = i + 1;
        operators[i] = lookup_type_cache(question->leaf->keys[i].type, TYPECACHE_LT_OPR)->lt_opr;
        collations[i] = question->leaf->keys[i].collation;
    }
    Tuplesortstate *sort = tuplesort_begin_heap(sums.desc, nkeys, columns, operators, collations, nulls_first, work_mem,
                                                nullptr, TUPLESORT_NONE);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sums.desc, &TTSOpsMinimalTuple);
    while (tuplestore_gettupleslot(sums.store, true, false, slot)) {
        CHECK_FOR_INTERRUPTS();
        tuplesort_puttupleslot(sort, slot);
    }
    ExecDropSingleTupleTableSlot(slot);
    tuplesort_performsort(sort);
    return sort;
}

// A group whose key nobody declared appears iff its noisy count reaches the charged threshold (8.5).
static void put_thresholded(Writer *writer, const Sums &sums) {
    // trace_sort would tell the number of groups.
    border::SettingsScope settings = border::SettingsScope::enter();
    Tuplesortstate *sort = sort_groups(writer->question, sums);
    TupleTableSlot *slot = MakeSingleTupleTableSlot(sums.desc, &TTSOpsMinimalTuple);
    MemoryContext per_group = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr group", ALLOCSET_DEFAULT_SIZES);
    auto *exact = static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * writer->question->ncoordinates));
    while (tuplesort_gettupleslot(sort, true, false, slot, nullptr)) {
        CHECK_FOR_INTERRUPTS();
        MemoryContext old = MemoryContextSwitchTo(per_group);
        slot_getallattrs(slot);
        read_coordinates(writer->question, slot->tts_values, exact);
        add_noise(writer, exact);
        if (writer->noisy[0] >= *writer->plan->threshold)
            put_row(writer, slot->tts_values, slot->tts_isnull);
        MemoryContextSwitchTo(old);
        MemoryContextReset(per_group);
    }
    MemoryContextDelete(per_group);
    ExecDropSingleTupleTableSlot(slot);
    tuplesort_end(sort);
    // Open at the end of the statement, a store that did not fit into memory would be reported: "temporary file leak".
    tuplestore_end(sums.store);
    settings.leave();
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
    return BlessTupleDesc(desc);
}

Answer write_answer(const Question *question, const Terms &terms, privacy::Epsilon charged, const Drawn *drawn) {
    Answer answer = {charged, nullptr, describe_answer(question->leaf)};
    // Up to the last row: spilled groups are read again while the noise is added.
    border::UsageScope usage = border::UsageScope::enter();
    Sums sums = evaluate(question);

    privacy::Delta delta = delta_of(question, terms);
    auto *plan = border::context_new<privacy::ReleasePlan>();
    border::core([&] {
        *plan = privacy::plan_release(terms.mechanism, *question->measures, *question->sensitivities,
                                      question->thresholded, answer.epsilon, delta);
    });
    answer.rows = tuplestore_begin_heap(false, false, work_mem);
    Writer writer = {
        question, plan, border::context_new<StrongBits>(),
        drawn,    0,    static_cast<privacy::int128 *>(palloc0(sizeof(privacy::int128) * question->ncoordinates)),
        &answer};
    if (question->thresholded)
        put_thresholded(&writer, sums);
    else
        put_declared(&writer, sums);
    usage.leave();
    return answer;
}

Answer answer(const Question *question, const Terms &terms) {
    check_delta(question, terms.mechanism, terms.delta);
    if (terms.algorithm == Algorithm::find_from_output)
        return answer_from_output(question, terms);
    Permitted permitted = choose(question, terms);
    return write_answer(question, terms, charge(question, terms, permitted), nullptr);
}

} // namespace dp::release
