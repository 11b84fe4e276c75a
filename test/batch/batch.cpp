// Several charges handed to the ledger's writer at once, as a busy server does by chance: a library of its own, for
// test/batch/run.py alone. It is linked from the objects of the extension and installed nowhere.
#include <ctime>

#include "catalog/ledger_bytes.hpp"
#include "catalog/ledger_writer.hpp"

#include "border/scope.hpp"
#include "catalog/decimals.hpp"

extern "C" {
#include <commands/trigger.h>
#include <executor/spi.h>
PG_MODULE_MAGIC;
PGDLLEXPORT void dp_test_batch_worker(Datum handle);
}

namespace {

using namespace dp;

// In the segment; behind it n verdicts, then each entry with its size before it.
struct Batch {
    int n, rounds;
    double cpu;                   // the same of the processor, which a busy machine does not change
    volatile double microseconds; // of one commit; 0 until it is known
    Size bytes;
    catalog::Verdict *verdicts() { return reinterpret_cast<catalog::Verdict *>(this + 1); }
    char *entries() { return reinterpret_cast<char *>(verdicts() + n); }
};

// The fingerprint of an entry whose settings are read in the middle of the batch.
const char *const late = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

// Of the worker.
catalog::Entry **running;
int nrunning;

struct Arguments {
    ArrayType *kinds, *views, *roles, *epsilons;
    const char *query; // or null: the number of the entry
    int n;
};

Datum element(ArrayType *array, int i, Oid type) {
    int16 length;
    bool by_value, isnull;
    char align;
    get_typlenbyvalalign(type, &length, &by_value, &align);
    int index = i + 1;
    return array_ref(array, 1, &index, -1, length, by_value, align, &isnull);
}

char *text_element(ArrayType *array, int i) {
    return text_to_cstring(DatumGetTextPP(element(array, i, TEXTOID)));
}

// One candidate, which every preference permits.
catalog::Charge make_charge(const Arguments &arguments, int i) {
    Oid view = DatumGetObjectId(element(arguments.views, i, OIDOID));
    const char *role = text_element(arguments.roles, i);
    catalog::Charge charge = {};
    charge.asker = catalog::current_asker();
    if (*role != '\0')
        charge.asker.role = get_role_oid(role, false);
    catalog::Reading reading = catalog::Reading::open();
    catalog::Settings *settings = catalog::read_settings(reading, view);
    if (settings == nullptr)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("not a restricted view")));
    if (*role != '\0') {
        catalog::Policy *policy = catalog::policy_of(reading, settings, charge.asker);
        charge.grantee = policy->grantee_name;
        charge.grantee_oid = policy->grantee;
        charge.caps.share = policy->share;
        charge.caps.profile = policy->profile;
    }
    reading.close();
    charge.settings = settings;
    charge.query = arguments.query != nullptr ? arguments.query : psprintf("entry %d", i + 1);
    charge.algorithm = "within_domain";
    charge.guarantee = "(epsilon, delta)";
    charge.kind = "pure";
    charge.parameters = "{}";
    charge.eps_star = privacy::infinite_epsilon;
    auto *candidates = border::context_new<std::vector<privacy::Epsilon>>();
    privacy::Epsilon epsilon = catalog::to_epsilon(element(arguments.epsilons, i, NUMERICOID), "epsilon");
    border::core([&] { candidates->push_back(epsilon); });
    charge.candidates = candidates;
    return charge;
}

// "step", "increment", "rho step", "rho increment": the number is what is charged. An increment follows on as much.
bool is_step(const char *kind) {
    return strstr(kind, "step") != nullptr || strstr(kind, "increment") != nullptr;
}

catalog::Charge step_of(const catalog::Charge &charge, const char *kind, Datum price) {
    privacy::Step step;
    step.increment = strstr(kind, "increment") != nullptr;
    if (strncmp(kind, "rho ", 4) == 0) {
        step.basis = privacy::Basis::rho;
        step.rho = catalog::to_rho(price, "rho");
        return catalog::as_step(charge, step, privacy::Epsilon());
    }
    step.epsilon = charge.candidates->front();
    step.before = step.increment ? step.epsilon : privacy::Epsilon();
    return catalog::as_step(charge, step, *border::core([] { return privacy::Epsilon::parse("1"); }));
}

// "cells 3 5": who asks touches them alone.
const catalog::Touched *touched_of(const char *kind, const catalog::Partition &partition) {
    auto *touched = static_cast<catalog::Touched *>(palloc0(sizeof(catalog::Touched)));
    touched->partition = partition.version;
    touched->others = partition.others();
    touched->begun = partition.last;
    touched->n = 1;
    char *last;
    touched->first[0] = strtoll(kind + strlen("cells "), &last, 10);
    touched->last[0] = strtoll(last, nullptr, 10);
    return touched;
}

void append_entry(const Arguments &arguments, int i, StringInfo bytes) {
    catalog::Charge charge = make_charge(arguments, i);
    catalog::Settings settings = *charge.settings;
    charge.settings = &settings;
    catalog::Entry entry = catalog::entry_for(charge);
    const char *kind = text_element(arguments.kinds, i);
    if (strcmp(kind, "suspension") == 0) {
        charge = catalog::suspension_of(settings, charge.asker, charge.query, charge.grantee, charge.grantee_oid);
        entry.kind = catalog::RequestKind::suspension;
    } else if (strcmp(kind, "selection") == 0) {
        entry = catalog::entry_for_selection(charge, charge.candidates->front(), 1);
        charge.kind = kind;
    } else if (strncmp(kind, "cells ", 6) == 0) {
        charge.touched = touched_of(kind, *settings.partition);
        const catalog::JsonText json = catalog::JsonText::object();
        catalog::describe_cells(json, *settings.partition, *charge.touched);
        charge.parameters = json.closed();
    } else if (strcmp(kind, "stale") == 0)
        settings.fingerprint = "stale";
    else if (strcmp(kind, "lost") == 0) // no odometer has this id
        settings.id_text = "00000000-0000-0000-0000-000000000000";
    else if (strcmp(kind, "late") == 0) // until dp_test_straddle()
        settings.fingerprint = late;
    else if (is_step(kind))
        charge = step_of(charge, kind, element(arguments.epsilons, i, NUMERICOID));
    else if (strcmp(kind, "auto") == 0) // Gaussian noise at the price of Laplace noise
        charge.mechanism = privacy::Mechanism::automatic;
    else if (strcmp(kind, "broken") == 0) // an error that no rule foresees
        charge.mechanism = privacy::Mechanism::gaussian;
    StringInfoData entry_bytes;
    initStringInfo(&entry_bytes);
    catalog::encode(entry, &entry_bytes);
    Size size = entry_bytes.len;
    appendBinaryStringInfo(bytes, reinterpret_cast<const char *>(&size), sizeof size);
    appendBinaryStringInfo(bytes, entry_bytes.data, entry_bytes.len);
}

BackgroundWorkerHandle *start_worker(dsm_segment *segment) {
    BackgroundWorker worker;
    memset(&worker, 0, sizeof worker);
    strlcpy(worker.bgw_name, "dp_rdr test batch", BGW_MAXLEN);
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
    worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    strlcpy(worker.bgw_library_name, DP_RDR_BATCH_LIBRARY, BGW_MAXLEN);
    strlcpy(worker.bgw_function_name, "dp_test_batch_worker", BGW_MAXLEN);
    worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(segment));
    memcpy(worker.bgw_extra, &MyDatabaseId, sizeof MyDatabaseId);
    worker.bgw_notify_pid = MyProcPid;
    BackgroundWorkerHandle *handle;
    if (!RegisterDynamicBackgroundWorker(&worker, &handle))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_RESOURCES), errmsg("no worker slot")));
    return handle;
}

const char *name_of(catalog::Outcome outcome) {
    static const char *const names[] = {"pending", "committed", "denied", "changing", "busy", "ahead"};
    return names[static_cast<uint32>(outcome)];
}

Datum describe(Batch *batch) {
    auto *texts = static_cast<Datum *>(palloc(batch->n * sizeof(Datum)));
    for (int i = 0; i < batch->n; i++) {
        const catalog::Verdict &verdict = batch->verdicts()[i];
        texts[i] = CStringGetTextDatum(
            psprintf("%s %s", name_of(verdict.outcome), catalog::numeric_text(catalog::to_numeric(verdict.epsilon))));
    }
    return PointerGetDatum(construct_array(texts, batch->n, TEXTOID, -1, false, TYPALIGN_INT));
}

} // namespace

static dsm_segment *make_batch(FunctionCallInfo fcinfo, const char *query, int rounds) {
    Arguments arguments = {PG_GETARG_ARRAYTYPE_P(0),
                           PG_GETARG_ARRAYTYPE_P(1),
                           PG_GETARG_ARRAYTYPE_P(2),
                           PG_GETARG_ARRAYTYPE_P(3),
                           query,
                           0};
    arguments.n = ArrayGetNItems(ARR_NDIM(arguments.kinds), ARR_DIMS(arguments.kinds));
    StringInfoData bytes;
    initStringInfo(&bytes);
    for (int i = 0; i < arguments.n; i++)
        append_entry(arguments, i, &bytes);
    Size size = sizeof(Batch) + arguments.n * sizeof(catalog::Verdict) + bytes.len;
    dsm_segment *segment = dsm_create(size, 0);
    auto *batch = static_cast<Batch *>(dsm_segment_address(segment));
    memset(static_cast<void *>(batch), 0, size);
    batch->n = arguments.n;
    batch->rounds = rounds;
    batch->bytes = bytes.len;
    memcpy(batch->entries(), bytes.data, bytes.len);
    return segment;
}

// (kinds text[], views oid[], roles text[], epsilons numeric[], query text): what became of each entry.
DP_FUNCTION(dp_test_batch) {
    dsm_segment *segment = make_batch(fcinfo, PG_ARGISNULL(4) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(4)), 1);
    (void)WaitForBackgroundWorkerShutdown(start_worker(segment));
    Datum result = describe(static_cast<Batch *>(dsm_segment_address(segment)));
    dsm_detach(segment);
    return result;
}

// The same with a number of rounds for the query: starts a measurement and does not wait for it, since a transaction that waits keeps old versions of the
// odometer's row in the way. Then dp_test_measured(): microseconds of a commit, 0 until they are known.
static Batch *measured;

DP_FUNCTION(dp_test_measure) {
    dsm_segment *segment = make_batch(fcinfo, nullptr, PG_GETARG_INT32(4));
    dsm_pin_mapping(segment);
    measured = static_cast<Batch *>(dsm_segment_address(segment));
    (void)start_worker(segment);
    PG_RETURN_VOID();
}

DP_FUNCTION(dp_test_measured) {
    PG_RETURN_FLOAT8(measured->microseconds);
}

DP_FUNCTION(dp_test_cpu) {
    PG_RETURN_FLOAT8(measured->cpu);
}

// A trigger on the ledger, in the worker: at a row of "entry 1" the batch waits for who holds the advisory lock 1. What he commits
// meanwhile is what the late entries have read.
DP_FUNCTION(dp_test_straddle) {
    auto *trigger = reinterpret_cast<TriggerData *>(fcinfo->context);
    bool isnull;
    HeapTuple row = trigger->tg_trigtuple;
    TupleDesc columns = RelationGetDescr(trigger->tg_relation);
    Datum query = heap_getattr(row, SPI_fnumber(columns, "query"), columns, &isnull);
    if (strcmp(TextDatumGetCString(query), "entry 1") != 0)
        return PointerGetDatum(row);
    DirectFunctionCall1(pg_advisory_xact_lock_int8, Int64GetDatum(1));
    catalog::Reading reading = catalog::Reading::open();
    for (int i = 0; i < nrunning; i++) {
        const catalog::Settings *settings = running[i]->what->settings;
        if (strcmp(settings->fingerprint, late) == 0)
            strlcpy(const_cast<char *>(settings->fingerprint),
                    catalog::read_settings(reading, settings->view)->fingerprint, strlen(late) + 1);
    }
    reading.close();
    return PointerGetDatum(row);
}

void dp_test_batch_worker(Datum handle) {
    pqsignal(SIGTERM, die);
    BackgroundWorkerUnblockSignals();
    Oid database;
    memcpy(&database, MyBgworkerEntry->bgw_extra, sizeof database);
    BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
    border::force_settings();
    dsm_segment *segment = dsm_attach(DatumGetUInt32(handle));
    auto *batch = static_cast<Batch *>(dsm_segment_address(segment));
    auto **entries = static_cast<catalog::Entry **>(palloc(batch->n * sizeof(catalog::Entry *)));
    const char *at = batch->entries();
    for (int i = 0; i < batch->n; i++) {
        Size size;
        memcpy(&size, at, sizeof size);
        entries[i] = catalog::decode(at + sizeof size, size);
        at += sizeof size + size;
    }
    running = entries;
    nrunning = batch->n;
    catalog::commit_charges(entries, batch->n);
    for (int i = 0; i < batch->n; i++)
        batch->verdicts()[i] = entries[i]->verdict;
    instr_time begun, taken;
    clock_t clocks = clock();
    INSTR_TIME_SET_CURRENT(begun);
    for (int i = 1; i < batch->rounds; i++)
        catalog::commit_charges(entries, batch->n);
    INSTR_TIME_SET_CURRENT(taken);
    INSTR_TIME_SUBTRACT(taken, begun);
    batch->cpu = (clock() - clocks) * (1e6 / CLOCKS_PER_SEC) / Max(batch->rounds - 1, 1);
    if (batch->rounds > 1)
        batch->microseconds = INSTR_TIME_GET_MICROSEC(taken) / (batch->rounds - 1.0);
}
