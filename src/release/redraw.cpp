#include "release/redraw.hpp"

#include "privacy/joint.hpp"

#include "border/stored_rows.hpp"
#include "catalog/decimals.hpp"
#include "release/charge.hpp"
#include "release/asked.hpp"
#include "release/fields.hpp"
#include "release/random.hpp"
#include "release/release.hpp"
#include "release/replay.hpp"
#include "rows/quantiles.hpp"

namespace dp::release {

// ---- the declarations ----------------------------------------------------------------------------------------------

const char *declarations_of(const catalog::Requested &request) {
    if (request.law == nullptr)
        return nullptr;
    Datum law = catalog::jsonb_of(request.law);
    return required_field(&DatumGetJsonbP(law)->root, "declared");
}

// ---- the law, written ----------------------------------------------------------------------------------------------

static void write_measure(const catalog::JsonText &json, const rows::Question *question, int j) {
    const privacy::Bounds *bounds = question->bounds[j];
    const privacy::Measure &measure = (*question->measures)[j];
    json.open(nullptr, '{');
    json("kind", static_cast<int>(measure.kind));
    json("sensitivity", psprintf(UINT64_FORMAT, measure.sensitivity));
    json("of_units", measure.of_units);
    json("one_group", measure.one_group);
    json("grain", psprintf(UINT64_FORMAT, measure.grain));
    if (bounds != nullptr) {
        json("lower", bounds->lower.c_str());
        json("upper", bounds->upper.c_str());
        json("integer", bounds->integer_type);
    }
    json.close('}');
}

static void write_column(const catalog::JsonText &json, const rows::Question *question, const query::Output &output) {
    if (output.is_key)
        return json.raw(nullptr, "null");
    json.open(nullptr, '{');
    json("measure", question->measure_of[output.index]);
    json("aggregate", static_cast<int>(question->leaf->aggregates[output.index].fn));
    json("part", static_cast<int>(output.part));
    json("decimals", question->decimals[output.index]);
    json.close('}');
}

const char *law_of(const rows::Question *question, const Terms &terms, const Answer &answer, const int *columns, int ncolumns) {
    const catalog::JsonText json = catalog::JsonText::object();
    json("declared", hash_of_declarations(question));
    json("mechanism", catalog::name_of(answer.facts.mechanism));
    json("epsilon", decimal_text(answer.facts.paid.epsilon));
    json("delta", decimal_text(terms.delta));
    json("thresholded", question->thresholded);
    json.open("measures", '[');
    for (int j = 0; j < question->nmeasures; j++)
        write_measure(json, question, j);
    json.close(']');
    json.open("columns", '[');
    for (int i = 0; i < ncolumns; i++)
        write_column(json, question, question->leaf->outputs[columns[i]]);
    json.close(']');
    return json.closed();
}

// ---- the law, read -------------------------------------------------------------------------------------------------

namespace {
// The question, as far as numbers become rows by it: its leaf has the columns of the answer, and no others.
struct Law {
    rows::Question question;
    query::Leaf leaf;
    Terms terms;
    Past past;
    const privacy::ReleasePlan *plan;
};
} // namespace

static void read_measures(JsonbContainer *object, rows::Question *question) {
    int n;
    JsonbContainer *array = array_field(object, "measures", &n);
    auto *measures = border::context_new<std::vector<privacy::Measure>>();
    question->bounds = static_cast<const privacy::Bounds **>(palloc0(sizeof(privacy::Bounds *) * (n + 1)));
    for (int j = 0; j < n; j++) {
        JsonbContainer *measure = object_at(array, j);
        if (measure == nullptr)
            refuse_unreadable();
        auto kind = static_cast<privacy::MeasureKind>(int_field(measure, "kind"));
        if (kind == privacy::MeasureKind::quantile)
            refuse_form("min, max and percentiles are not drawn again",
                        "dp_fetch() has the answer; dp_explain() tells how far off their ranks are.",
                        "They were drawn from a histogram, which is not kept.");
        if (privacy::is_joint(kind))
            refuse_form("covariances, correlations and lines of regression are not drawn again",
                        "dp_fetch() has the answer, with dp_low and dp_high how far off it is.");
        uint64 sensitivity = strtou64(required_field(measure, "sensitivity"), nullptr, 10);
        uint64 grain = strtou64(required_field(measure, "grain"), nullptr, 10);
        bool of_units = bool_field(measure, "of_units"), one_group = bool_field(measure, "one_group");
        border::core([&] {
            measures->push_back({});
            measures->back().kind = kind;
            measures->back().of_units = of_units;
            measures->back().one_group = one_group;
            measures->back().grain = grain;
            measures->back().sensitivity = sensitivity;
        });
        if (kind == privacy::MeasureKind::count)
            continue;
        const char *lower = required_field(measure, "lower"), *upper = required_field(measure, "upper");
        bool integer = bool_field(measure, "integer");
        auto *bounds = border::context_new<privacy::Bounds>();
        border::core([&] { *bounds = privacy::make_bounds(lower, upper, integer); });
        question->bounds[j] = bounds;
    }
    question->measures = measures;
    question->nmeasures = n;
    question->ncoordinates = border::core([&] { return privacy::coordinates_of_one_group(*measures); });
}

static void read_columns(JsonbContainer *object, TupleDesc desc, rows::Question *question) {
    int n;
    JsonbContainer *array = array_field(object, "columns", &n);
    if (n != desc->natts)
        refuse_unreadable();
    query::Leaf *leaf = question->leaf;
    leaf->outputs = static_cast<query::Output *>(palloc0(sizeof(query::Output) * (n + 1)));
    leaf->keys = static_cast<query::Key *>(palloc0(sizeof(query::Key) * (n + 1)));
    leaf->aggregates = static_cast<query::Aggregate *>(palloc0(sizeof(query::Aggregate) * (n + 1)));
    question->measure_of = static_cast<int *>(palloc0(sizeof(int) * (n + 1)));
    question->decimals = static_cast<int *>(palloc0(sizeof(int) * (n + 1)));
    leaf->noutputs = n;
    for (int i = 0; i < n; i++) {
        const Form_pg_attribute column = TupleDescAttr(desc, i);
        JsonbContainer *aggregate = object_at(array, i);
        query::Output *output = &leaf->outputs[i];
        output->name = NameStr(column->attname);
        output->is_key = aggregate == nullptr;
        output->index = output->is_key ? leaf->nkeys : leaf->naggregates;
        if (output->is_key) {
            query::Key *key = &leaf->keys[leaf->nkeys++];
            key->type = column->atttypid;
            key->typmod = -1;
            key->collation = column->attcollation;
            continue;
        }
        int at = leaf->naggregates++;
        leaf->aggregates[at].fn = static_cast<privacy::Aggregate>(int_field(aggregate, "aggregate"));
        leaf->aggregates[at].result_type = column->atttypid;
        output->part = static_cast<query::Part>(int_field(aggregate, "part"));
        question->decimals[at] = int_field(aggregate, "decimals");
        question->measure_of[at] = int_field(aggregate, "measure");
        if (question->measure_of[at] < 0 || question->measure_of[at] >= question->nmeasures)
            refuse_unreadable();
    }
}

// The law of the noise follows from what it was drawn for, as it did then.
static void read_noise(JsonbContainer *object, Law *law) {
    Past *past = &law->past;
    past->mechanism = mechanism_field(object, "mechanism");
    past->epsilon = catalog::to_epsilon(catalog::text_numeric(required_field(object, "epsilon")), "epsilon");
    law->terms.mechanism = past->mechanism;
    law->terms.delta = catalog::to_delta(catalog::text_numeric(required_field(object, "delta")), "delta");
    law->question.thresholded = bool_field(object, "thresholded");
    law->plan = plan_of(&law->question, law->terms, past->epsilon);
}

static Law *read_law(const catalog::Requested &request, TupleDesc desc) {
    auto *law = static_cast<Law *>(palloc0(sizeof(Law)));
    law->question.leaf = &law->leaf;
    Datum json = catalog::jsonb_of(request.law);
    JsonbContainer *object = &DatumGetJsonbP(json)->root;
    read_measures(object, &law->question);
    read_columns(object, desc, &law->question);
    read_noise(object, law);
    return law;
}

// ---- drawing -------------------------------------------------------------------------------------------------------

static Past read_numbers(const catalog::Requested &request, const Law *law, TupleDesc desc) {
    Past numbers = {};
    int n, width = law->question.ncoordinates, nkeys = law->leaf.nkeys, group = 0;
    Datum *elements;
    bool *nulls;
    deconstruct_array(request.coordinates, NUMERICOID, -1, false, TYPALIGN_INT, &elements, &nulls, &n);
    if (width == 0 || n % width != 0)
        refuse_unreadable();
    numbers.ngroups = n / width;
    numbers.values = static_cast<privacy::int128 *>(palloc(sizeof(privacy::int128) * (n + 1)));
    for (int i = 0; i < n; i++)
        numbers.values[i] = nulls[i] ? privacy::int128{0} : read_number(elements[i]);
    numbers.keys = static_cast<Datum *>(palloc0(sizeof(Datum) * (numbers.ngroups * nkeys + 1)));
    numbers.nulls = static_cast<bool *>(palloc0(sizeof(bool) * (numbers.ngroups * nkeys + 1)));
    each_fetched_row(request, desc, [&](const Datum *values, const bool *missing) {
        if (group >= numbers.ngroups)
            refuse_unreadable();
        for (int i = 0; i < law->leaf.noutputs; i++)
            if (law->leaf.outputs[i].is_key) {
                int at = group * nkeys + law->leaf.outputs[i].index;
                numbers.keys[at] = values[i];
                numbers.nulls[at] = missing[i];
            }
        group++;
    });
    if (group != numbers.ngroups)
        refuse_unreadable();
    return numbers;
}

// As many answers as fit into a few numbers are drawn and written together: the law is worked out once for all of them.
static int draws_at_once(const Past &numbers, int width, int draws) {
    constexpr int few = 20000;
    return Max(1, Min(draws, few / Max(1, static_cast<int>(numbers.ngroups) * width)));
}

static void draw_again(Law *law, const Past &numbers, int draws) {
    const rows::Question &question = law->question;
    int width = question.ncoordinates, nkeys = law->leaf.nkeys, n = static_cast<int>(numbers.ngroups);
    Past *past = &law->past;
    past->ngroups = int64{n} * draws;
    past->values = static_cast<privacy::int128 *>(palloc(sizeof(privacy::int128) * (past->ngroups * width + 1)));
    past->keys = static_cast<Datum *>(palloc(sizeof(Datum) * (past->ngroups * nkeys + 1)));
    past->nulls = static_cast<bool *>(palloc(sizeof(bool) * (past->ngroups * nkeys + 1)));
    auto *bits = border::context_new<StrongBits>();
    border::core([&] {
        int64 at = 0;
        for (int64 group = 0; group < past->ngroups; group++) {
            const privacy::int128 *drawn = numbers.values + group % n * width;
            int c = 0;
            for (int j = 0; j < question.nmeasures; j++)
                for (int i = 0; i < (*question.measures)[j].coordinates(); i++, c++)
                    past->values[at++] = drawn[c] + privacy::draw(*bits, law->plan->noise[j]);
        }
    });
    for (int draw = 0; draw < draws; draw++) {
        memcpy(past->keys + int64{draw} * n * nkeys, numbers.keys, sizeof(Datum) * n * nkeys);
        memcpy(past->nulls + int64{draw} * n * nkeys, numbers.nulls, sizeof(bool) * n * nkeys);
    }
}

static void write_rows(const Law *law, const Past &numbers, int first, EachDrawn each, void *context) {
    Replay replay = {};
    replay.past = &law->past;
    Terms terms = law->terms;
    terms.replay = &replay;
    Answer answer = give_again(&law->question, terms);
    int64 row = 0;
    border::each_stored_row(answer.rows, answer.desc, [&](const TupleTableSlot *slot) {
        each(context, first + static_cast<int>(row++ / numbers.ngroups), slot->tts_values, slot->tts_isnull);
    });
    tuplestore_end(answer.rows);
}

void redraw(const catalog::Requested &request, int draws, EachDrawn each, void *context) {
    if (request.coordinates == nullptr || request.law == nullptr)
        refuse_state(psprintf("the numbers of request " INT64_FORMAT " were not kept", request.id),
                     "dp_fetch() has its answer.", "They are more than a megabyte.");
    TupleDesc desc = fetched_columns(request);
    Law *law = read_law(request, desc);
    const Past numbers = read_numbers(request, law, desc);
    if (numbers.ngroups == 0) // no group has reached the threshold
        return;
    int at_once = draws_at_once(numbers, law->question.ncoordinates, draws);
    MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "dp_rdr draws", ALLOCSET_DEFAULT_SIZES);
    for (int first = 1; first <= draws; first += at_once) {
        MemoryContext old = MemoryContextSwitchTo(memory);
        draw_again(law, numbers, Min(at_once, draws - first + 1));
        write_rows(law, numbers, first, each, context);
        MemoryContextSwitchTo(old);
        MemoryContextReset(memory);
    }
    MemoryContextDelete(memory);
}

} // namespace dp::release
