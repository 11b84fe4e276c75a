#include "release/signal.hpp"

#include "privacy/pair_release.hpp"

#include <cmath>
#include <limits>

#include "border/scope.hpp"
#include "query/signal_expression.hpp"
#include "release/approve.hpp"
#include "release/charge.hpp"
#include "release/asked.hpp"
#include "release/fields.hpp"
#include "release/random.hpp"
#include "release/redraw.hpp"
#include "release/replay.hpp"
#include "release/trace.hpp"
#include "rows/guarded_read.hpp"
#include "rows/evaluate.hpp"
#include "rows/plan_of.hpp"
#include "rows/quantiles.hpp"
#include "rows/sums.hpp"

namespace dp::release {

struct Signal {
    const rows::Question *question; // of the parent's answer
    const rows::Question *priced;
    privacy::Task task;
    Node *value, *reference; // over one row: the columns of answer, then those of dp
    TupleDesc row;
    int ncolumns;       // of an answer
    const int *columns; // its columns among the outputs of the leaf
    Datum *dp;          // what was released: groups x ncolumns
    bool *missing;
};

// ---- what is wished ------------------------------------------------------------------------------------------------

static bool is_mean(const Wish &wish) {
    return strcmp(wish.task, "mean") == 0;
}

// A number is written so that it is read as the same one.
static const char *call_of(const Wish &wish) {
    StringInfo call = makeStringInfo();
    appendStringInfo(call, "dp_request_signal(" INT64_FORMAT ", '%s', %s", wish.parent->id, wish.task,
                     rows::quoted_text(wish.value));
    if (is_mean(wish))
        appendStringInfo(call, ", lower => %s, upper => %s)", float8out_internal(wish.lower),
                         float8out_internal(wish.upper));
    else
        appendStringInfo(call, ", reference => %s, k => %d)", rows::quoted_text(wish.reference), wish.k);
    return call->data;
}

void check_wish(Wish *wish) {
    if (!is_mean(*wish) && strcmp(wish->task, "top") != 0)
        refuse_form(psprintf("task \"%s\" is not supported", wish->task),
                    "Use 'mean' or 'top'; or dp_redraw(), for whatever you compute yourself.",
                    "One person can move anything but a mean and the members of a top by its whole range.");
    if (is_mean(*wish) && (wish->reference != nullptr || wish->has_k))
        refuse_value("reference and k do not go with task \"mean\"",
                     "Leave them out; its value may read answer.* and dp.*.");
    if (!is_mean(*wish) && (wish->reference == nullptr || !wish->has_k))
        refuse_value(
            "task \"top\" needs reference and k",
            "Pass reference => 'dp.n', k => 10: of the first ten rows by value, how many are so by reference.");
    if (!is_mean(*wish) && (wish->lower != 0 || wish->upper != 1))
        refuse_value("lower and upper do not go with task \"top\"", "Leave them out: it is a share of k.");
    border::SettingsScope settings = border::SettingsScope::enter();
    wish->call = call_of(*wish);
    settings.leave();
}

const char *wish_json(const Wish &wish) {
    border::SettingsScope settings = border::SettingsScope::enter();
    const catalog::JsonText json = catalog::JsonText::object();
    json("task", wish.task);
    json("value", wish.value);
    json("reference", wish.reference);
    json.raw("k", wish.has_k ? psprintf("%d", wish.k) : "null");
    json("lower", static_cast<const char *>(float8out_internal(wish.lower)));
    json("upper", static_cast<const char *>(float8out_internal(wish.upper)));
    settings.leave();
    return json.closed();
}

Wish wish_of(const catalog::Requested &request, const catalog::Requested *parent) {
    if (parent == nullptr || request.task == Datum(0))
        refuse_unreadable();
    JsonbContainer *object = &DatumGetJsonbP(request.task)->root;
    Wish wish = {};
    wish.parent = parent;
    wish.task = required_field(object, "task");
    wish.value = required_field(object, "value");
    wish.reference = text_field(object, "reference");
    wish.has_k = text_field(object, "k") != nullptr;
    wish.k = wish.has_k ? int_field(object, "k") : 0;
    wish.lower = double_field(object, "lower");
    wish.upper = double_field(object, "upper");
    wish.call = request.shown;
    return wish;
}

// ---- what it is about ----------------------------------------------------------------------------------------------

// One individual changes one row of the exact answer: its rows are declared, and the same ones in both.
static void check_groups(const rows::Question *question) {
    if (rows::has_quantile(question))
        refuse_form("a signal on min, max or a percentile is not supported", "Ask for it without them.",
                    "One individual may move it from one end to the other.");
    if (question->thresholded)
        refuse_form("a signal on groups that nobody declared is not supported",
                    "The controller declares groups with dp_set_groups(); dp_redraw() needs none.",
                    "Which of them appear depends on noise: the exact answer has other rows.");
    // What is clipped moves in all groups of a person, by however little: that can change each row as it is printed.
    if (question->units != nullptr && question->units->clipped && !question->units->one_group)
        refuse_form("a signal on groups that one person may be in several of is not supported",
                    "Ask on a table with one row for each person; dp_redraw() needs none.",
                    "One person's rows would change many rows of the exact answer.");
}

static void check_declarations(const Wish &wish, const rows::Question *question) {
    const char *then = declarations_of(*wish.parent);
    if (then == nullptr || strcmp(then, hash_of_declarations(question)) != 0)
        refuse_state(psprintf("what request " INT64_FORMAT " was answered under has changed", wish.parent->id),
                     "Ask for it again with dp_request(), and then for the signal.",
                     "Its groups, bounds or conditions are not those of today.");
}

static query::AnswerColumns columns_of_answer(TupleDesc desc) {
    query::AnswerColumns columns = {desc->natts, nullptr, nullptr};
    columns.names = static_cast<const char **>(palloc(sizeof(char *) * (desc->natts + 1)));
    columns.types = static_cast<Oid *>(palloc(sizeof(Oid) * (desc->natts + 1)));
    for (int i = 0; i < desc->natts; i++) {
        columns.names[i] = NameStr(TupleDescAttr(desc, i)->attname);
        columns.types[i] = TupleDescAttr(desc, i)->atttypid;
    }
    return columns;
}

static TupleDesc twice(TupleDesc answer) {
    TupleDesc desc = CreateTemplateTupleDesc(2 * answer->natts);
    for (int i = 0; i < 2 * answer->natts; i++) {
        const Form_pg_attribute column = TupleDescAttr(answer, i % answer->natts);
        TupleDescInitEntry(desc, i + 1, NameStr(column->attname), column->atttypid, -1, 0);
    }
    return desc;
}

static void read_released(const catalog::Requested &parent, TupleDesc desc, Signal *signal) {
    int n = desc->natts, groups = signal->task.groups, at = 0;
    signal->dp = static_cast<Datum *>(palloc0(sizeof(Datum) * (n * groups + 1)));
    signal->missing = static_cast<bool *>(palloc0(sizeof(bool) * (n * groups + 1)));
    each_fetched_row(parent, desc, [&](const Datum *values, const bool *nulls) {
        if (at >= groups)
            refuse_unreadable();
        memcpy(signal->dp + at * n, values, sizeof(Datum) * n);
        memcpy(signal->missing + at++ * n, nulls, sizeof(bool) * n);
    });
    if (at != groups)
        refuse_unreadable();
}

// ---- its price -----------------------------------------------------------------------------------------------------

// A count of everybody, as far as prices, charges and noise go, with the sensitivity of the task.
static const rows::Question *count_of(const rows::Question *question, const Wish &wish, uint64 sensitivity) {
    auto *count = static_cast<rows::Question *>(palloc(sizeof(rows::Question)));
    *count = *question;
    auto *leaf = static_cast<query::Leaf *>(palloc(sizeof(query::Leaf)));
    *leaf = *question->leaf;
    leaf->nkeys = 0;
    leaf->naggregates = leaf->noutputs = 1;
    leaf->aggregates = static_cast<query::Aggregate *>(palloc0(sizeof(query::Aggregate)));
    leaf->aggregates[0] = query::Aggregate{privacy::Aggregate::count_star, nullptr, -1, -1, nullptr, false, INT8OID, nullptr};
    leaf->outputs = static_cast<query::Output *>(palloc0(sizeof(query::Output)));
    leaf->outputs[0] = query::Output{false, 0, "signal", query::Part::value};
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    border::core([&] {
        *measures = privacy::leaf_measures({privacy::AggregateCall()}, false);
        measures->front().sensitivity = sensitivity;
    });
    count->leaf = leaf;
    count->text = wish.call;
    count->thresholded = count->groups_only = false;
    count->places = nullptr;
    count->tupled = false;
    count->measures = measures;
    count->bounds = static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *)));
    count->second_bounds = nullptr;
    count->measure_of = static_cast<int *>(palloc0(sizeof(int)));
    count->decimals = static_cast<int *>(palloc(sizeof(int)));
    count->decimals[0] = -1;
    count->ngroups = count->nmeasures = count->ncoordinates = 1;
    return count;
}

static privacy::Task task_of(const Wish &wish, int groups) {
    privacy::Task task;
    task.kind = is_mean(wish) ? privacy::TaskKind::mean : privacy::TaskKind::top;
    task.groups = groups;
    task.lower = wish.lower;
    task.upper = wish.upper;
    task.k = wish.k;
    border::core([&] { privacy::check_task(task); });
    return task;
}

const Signal *bind(const Wish &wish, const rows::Question *question) {
    check_groups(question);
    check_declarations(wish, question);
    auto *signal = static_cast<Signal *>(palloc0(sizeof(Signal)));
    signal->question = question;
    signal->task = task_of(wish, question->ngroups);
    TupleDesc desc = fetched_columns(*wish.parent);
    query::AnswerColumns columns = columns_of_answer(desc);
    signal->value = query::make_task_expression(wish.value, "value", columns, true);
    if (wish.reference != nullptr)
        signal->reference = query::make_task_expression(wish.reference, "reference", columns, false);
    signal->row = twice(desc);
    border::SettingsScope settings = border::SettingsScope::enter();
    check_same(*wish.parent, question);
    settings.leave();
    signal->columns = columns_of(*wish.parent, question->leaf, &signal->ncolumns);
    read_released(*wish.parent, desc, signal);
    signal->priced = count_of(question, wish, border::core([&] { return privacy::task_sensitivity(signal->task); }));
    return signal;
}

const rows::Question *priced(const Signal *signal) {
    return signal->priced;
}

double error_of(const Signal *signal, double halfwidth) {
    return border::core([&] { return privacy::task_error(signal->task, halfwidth); });
}

// ---- g, row by row -------------------------------------------------------------------------------------------------

namespace {
// An expression over pairs of rows, one after the other. Nothing in it can fail, whatever they hold; it is evaluated as the owner
// of the table and under pinned settings, as all that meets a row.
struct Evaluation {
    const Signal *signal;
    EState *executor;
    ExprContext *context;
    TupleTableSlot *slot;
    ExprState *expression;
    rows::ValueKind kind;
    double *numbers; // of each group
    int next;
};
} // namespace

// columns: where those of an answer stand in the row; null: in their order.
static void evaluate_row(Evaluation *evaluation, const Datum *values, const bool *nulls, const int *columns) {
    const Signal *signal = evaluation->signal;
    TupleTableSlot *slot = evaluation->slot;
    int n = signal->ncolumns, group = evaluation->next++;
    CHECK_FOR_INTERRUPTS();
    ExecClearTuple(slot);
    for (int i = 0; i < n; i++) {
        const int at = columns == nullptr ? i : columns[i];
        slot->tts_values[i] = values[at];
        slot->tts_isnull[i] = nulls[at];
    }
    memcpy(slot->tts_values + n, signal->dp + group * n, sizeof(Datum) * n);
    memcpy(slot->tts_isnull + n, signal->missing + group * n, sizeof(bool) * n);
    ExecStoreVirtualTuple(slot);
    MemoryContext old = MemoryContextSwitchTo(evaluation->context->ecxt_per_tuple_memory);
    bool isnull;
    Datum value = ExecEvalExpr(evaluation->expression, evaluation->context, &isnull);
    evaluation->numbers[group] =
        isnull ? std::numeric_limits<double>::quiet_NaN() : rows::double_value(evaluation->kind, value);
    MemoryContextSwitchTo(old);
    ResetExprContext(evaluation->context);
}

// Evaluates an expression for each row that `each` hands to evaluate_row().
template <class Each> static double *numbers_of(const Signal *signal, Node *expression, Each &&each) {
    border::RoleScope role = border::RoleScope::enter(signal->question->settings->owner);
    Evaluation evaluation = {};
    evaluation.signal = signal;
    evaluation.executor = CreateExecutorState();
    evaluation.context = GetPerTupleExprContext(evaluation.executor);
    evaluation.slot = MakeSingleTupleTableSlot(signal->row, &TTSOpsVirtual);
    evaluation.context->ecxt_scantuple = evaluation.slot;
    evaluation.expression = ExecPrepareExpr(reinterpret_cast<Expr *>(expression), evaluation.executor);
    evaluation.kind = rows::value_kind(exprType(expression));
    evaluation.numbers = static_cast<double *>(palloc(sizeof(double) * (signal->task.groups + 1)));
    each(&evaluation);
    ExecDropSingleTupleTableSlot(evaluation.slot);
    FreeExecutorState(evaluation.executor);
    role.leave();
    return evaluation.numbers;
}

// Of what was released: g(S), and what a top is compared with.
static double *released_numbers(const Signal *signal, Node *expression) {
    border::SettingsScope settings = border::SettingsScope::enter();
    double *numbers = numbers_of(signal, expression, [&](Evaluation *evaluation) {
        for (int at = 0; at < signal->task.groups * signal->ncolumns; at += signal->ncolumns)
            evaluate_row(evaluation, signal->dp + at, signal->missing + at, nullptr);
    });
    settings.leave();
    return numbers;
}

// One row of the exact answer: its columns are outputs of the leaf.
static void evaluate_exact_row(void *context, const Datum *values, const bool *nulls) {
    auto *evaluation = static_cast<Evaluation *>(context);
    evaluate_row(evaluation, values, nulls, evaluation->signal->columns);
}

static int64 integer_of(const Signal *signal, const double *values, const double *reference) {
    int n = signal->task.groups;
    return border::core([&] {
        std::vector<double> of_reference;
        if (reference != nullptr)
            of_reference.assign(reference, reference + n);
        return privacy::task_integer(signal->task, std::vector<double>(values, values + n), of_reference);
    });
}

// What noise is added to. In here the exact rows are made, one at a time, and forgotten.
static int64 exact_integer(const Signal *signal, const rows::Sums &sums, const double *reference) {
    int64 integer = 0;
    rows::caught(signal->question, [&] {
        const double *numbers = numbers_of(signal, signal->value, [&](Evaluation *evaluation) {
            each_exact_row(signal->question, sums, evaluate_exact_row, evaluation);
        });
        integer = integer_of(signal, numbers, reference);
    });
    return integer;
}

// ---- what is shown -------------------------------------------------------------------------------------------------

static double shown(const Signal *signal, privacy::int128 integer) {
    return border::core([&] { return privacy::task_value(signal->task, integer); });
}

// Sets the integers of what was released and of the exact answer. Ends the sums.
static void find_integers(const Signal *signal, rows::Sums *sums, int64 *dp, int64 *exact) {
    const double *reference = signal->reference == nullptr ? nullptr : released_numbers(signal, signal->reference);
    *dp = integer_of(signal, released_numbers(signal, signal->value), reference);
    *exact = exact_integer(signal, *sums, reference);
    rows::discard(sums);
}

Signalled add_noise(const Signal *signal, const Terms &terms, privacy::Epsilon charged, rows::Sums *sums) {
    int64 dp, exact;
    find_integers(signal, sums, &dp, &exact);
    const rows::Question *count = signal->priced;
    auto *bits = border::context_new<StrongBits>();
    Signalled signalled = {};
    border::core([&] {
        const privacy::ReleasePlan plan = noise_of(count, terms, charged);
        trace::planned(plan);
        signalled.noisy = exact + privacy::draw(*bits, plan.noise.front());
        trace::released(&signalled.noisy, 1);
        const double width = privacy::measure_halfwidth(plan.noise.front(), count->measures->front(), nullptr);
        signalled.error95 = privacy::task_error(signal->task, width);
    });
    signalled.dp = shown(signal, dp);
    signalled.exact = shown(signal, signalled.noisy);
    return signalled;
}

Looked look(const Signal *signal) {
    rows::Sums sums = rows::evaluate(rows::OwnRows(signal->question));
    int64 dp, exact;
    find_integers(signal, &sums, &dp, &exact);
    return Looked{shown(signal, dp), shown(signal, exact)};
}

// ---- what is stored ------------------------------------------------------------------------------------------------

catalog::Settling *settle(const Decision &decision, const Signalled &signalled, bool sighted) {
    border::SettingsScope settings = border::SettingsScope::enter();
    const double numbers[3] = {signalled.dp, signalled.exact, signalled.error95};
    Datum texts[3], widths[3] = {Datum{0}, Float8GetDatum(signalled.error95), Datum{0}};
    for (int i = 0; i < 3; i++)
        texts[i] = CStringGetTextDatum(float8out_internal(numbers[i]));
    bool missing[3] = {false, false, sighted}, without[3] = {true, false, true};
    auto *settling = static_cast<catalog::Settling *>(palloc0(sizeof(catalog::Settling)));
    settling->request = decision.request;
    settling->state = decision.approval.hold ? "held" : "answered";
    settling->rows = array_of(texts, missing, 3, TEXTOID);
    settling->error95 = array_of(widths, without, 3, FLOAT8OID);
    Datum noisy = number_of(signalled.noisy);
    settling->coordinates = array_of(&noisy, nullptr, 1, NUMERICOID);
    settings.leave();
    return settling;
}

} // namespace dp::release
