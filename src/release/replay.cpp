#include "release/replay.hpp"

#include <cstdlib>

#include "border/attempt.hpp"
#include "border/scope.hpp"
#include "border/walk.hpp"
#include "catalog/decimals.hpp"
#include "catalog/foreign_code.hpp"
#include "release/charge.hpp"
#include "rows/arguments.hpp"
#include "rows/asked_units.hpp"
#include "rows/canonical.hpp"
#include "rows/groups.hpp"
#include "rows/per_unit.hpp"
#include "rows/plan_of.hpp"
#include "rows/quantiles.hpp"
#include "rows/shown.hpp"
#include "rows/texts.hpp"

namespace dp::release {

constexpr Size stored_limit = 1024 * 1024;

// ---- the key -------------------------------------------------------------------------------------------------------

// Each piece with its length: no two lists of pieces are one text.
static void add_piece(StringInfo text, const char *name, const char *piece) {
    appendStringInfo(text, "%s %d:%s\n", name, piece == nullptr ? -1 : static_cast<int>(strlen(piece)),
                     piece == nullptr ? "" : piece);
}

static void add_number(StringInfo text, const char *name, int64 number) {
    add_piece(text, name, psprintf(INT64_FORMAT, number));
}

// A label that is another value now is another question, in a condition as well as in a key that was stored.
static void add_labels(StringInfo text, Oid type) {
    add_piece(text, "labels of", format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY));
    const rows::KeyDomain domain = rows::type_domain(type, InvalidOid, false);
    add_piece(text, "labels",
              OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(rows::canonical_groups(domain, type))));
}

// Adds the type to the list if its values are labels, or arrays of them.
static void note_enum(List **enums, Oid type) {
    const Oid element = get_base_element_type(type), base = getBaseType(OidIsValid(element) ? element : type);
    if (type_is_enum(base))
        *enums = list_append_unique_oid(*enums, base);
}

static bool note_constants(Node *node, void *enums) {
    if (node == nullptr)
        return false;
    if (IsA(node, Const))
        note_enum(static_cast<List **>(enums), castNode(Const, node)->consttype);
    return border::walk_expression(node, note_constants, enums);
}

static const char *type_text(Oid type, int32 typmod, Oid collation) {
    return psprintf("%s %s",
                    format_type_extended(type, typmod, FORMAT_TYPE_FORCE_QUALIFY | FORMAT_TYPE_TYPEMOD_GIVEN),
                    OidIsValid(collation) ? generate_collation_name(collation) : "");
}

// A column under its name that is another one now, or of another type, is another question.
static void add_columns_of(StringInfo text, Node *expressions, const rows::Source &source, List **enums) {
    Bitmapset *columns = nullptr;
    pull_varattnos(expressions, source.source->varno, &columns);
    for (int member = -1; (member = bms_next_member(columns, member)) >= 0;) {
        AttrNumber attno = static_cast<AttrNumber>(member + FirstLowInvalidHeapAttributeNumber);
        Oid type, collation;
        int32 typmod;
        get_atttypetypmodcoll(source.relation, attno, &type, &typmod, &collation);
        add_piece(text, get_attname(source.relation, attno, false),
                  psprintf("%d %s", attno, type_text(type, typmod, collation)));
        note_enum(enums, type);
    }
}

static void add_sources(StringInfo text, const rows::Question *question) {
    Node *expressions = rows::expressions_of(question);
    List *enums = NIL;
    for (int i = 0; i < question->nsources; i++) {
        const rows::Source &source = question->sources[i];
        const bool is_private = source.settings != nullptr;
        add_piece(text, "table", catalog::qualified_name(source.relation));
        add_piece(text, "filter", is_private ? source.settings->filter : nullptr);
        add_piece(text, "unit",
                  is_private && source.settings->unit != nullptr ? rows::unit_text(source.settings->unit) : nullptr);
        add_columns_of(text, expressions, source, &enums);
    }
    (void)note_constants(expressions, &enums);
    ListCell *cell;
    foreach (cell, enums)
        add_labels(text, lfirst_oid(cell));
}

static void add_groups(StringInfo text, const rows::Question *question) {
    for (int i = 0; i < question->leaf->nkeys; i++) {
        const query::Key &key = question->leaf->keys[i];
        add_piece(text, "type", type_text(key.type, key.typmod, key.collation));
        if (question->thresholded)
            continue;
        ArrayType *groups = rows::canonical_groups(question->domains[i], key.type);
        add_piece(text, "groups", OidOutputFunctionCall(F_ARRAY_OUT, PointerGetDatum(groups)));
    }
    for (int i = 0; question->tupled && i < question->ngroups; i++) // the rest follows from conditions
        add_number(text, "place", rows::place_of_group(question, i));
}

static void add_units(StringInfo text, const rows::Question *question) {
    const rows::Units *units = question->units;
    if (units == nullptr)
        return;
    add_piece(text, "unit", rows::unit_text(units->path));
    add_number(text, "clipped", units->clipped ? 1 : 0);
    add_number(text, "one group", units->one_group ? 1 : 0);
    add_number(text, "max_rows", units->max_rows);
    add_number(text, "max_groups", units->max_groups);
    add_number(text, "max_rows_per_group", rows::is_spread(question) ? question->rows_per_group : 0);
    add_number(text, "rows of a unit", question->per_unit == nullptr ? 0 : question->per_unit->max_rows);
}

static void add_bounds(StringInfo text, const privacy::Bounds *bounds) {
    add_piece(text, "lower", bounds == nullptr ? nullptr : bounds->lower.c_str());
    add_piece(text, "upper", bounds == nullptr ? nullptr : bounds->upper.c_str());
    add_number(text, "exponent", bounds == nullptr ? 0 : bounds->exponent);
}

// What follows for a measure from declarations.
static void add_measure(StringInfo text, const rows::Question *question, int j) {
    const privacy::Measure &measure = (*question->measures)[j];
    add_bounds(text, question->bounds[j]);
    add_bounds(text, rows::bounds_of_x(question, j));
    add_piece(text, "total", question->totals[j].text);
    add_piece(text, "sensitivity", psprintf(UINT64_FORMAT, (*question->sensitivities)[j]));
    add_piece(text, "quantile", measure.fraction >= 0 ? rows::quantile_text(question, j) : nullptr);
    add_piece(text, "counted", psprintf("%d " UINT64_FORMAT " %d", measure.of_units, measure.grain, measure.one_group));
}

// Lists the measures in the order of the plan; that which is compared with a threshold, whether it is asked for or not, comes first.
static const int *order_of_measures(const rows::Question *question) {
    auto *order = static_cast<int *>(palloc0(sizeof(int) * (question->nmeasures + 1)));
    int n = question->thresholded ? 1 : 0;
    for (int i = 0; i < question->nmeasures; i++)
        if (!question->thresholded || question->measure_order[i] != 0)
            order[n++] = question->measure_order[i];
    return order;
}

// Returns the place in the plan of the measure that is compared with a threshold; -1: there is none.
static int place_of_compared(const rows::Question *question) {
    const int unasked = question->thresholded && question->measures->front().calls.empty() ? 1 : 0;
    for (int i = unasked; question->thresholded && i < question->nmeasures; i++)
        if (question->measure_order[i] == 0)
            return i - unasked;
    return -1;
}

// Returns the coordinates of a group in that order.
static const int *add_measures(StringInfo text, const rows::Question *question) {
    int at = 0;
    auto *first = static_cast<int *>(palloc0(sizeof(int) * (question->nmeasures + 1)));
    auto *order = static_cast<int *>(palloc0(sizeof(int) * (question->ncoordinates + 1)));
    for (int j = 0; j < question->nmeasures; j++)
        first[j + 1] = first[j] + (*question->measures)[j].coordinates();
    const int *measures = order_of_measures(question);
    for (int i = 0; i < question->nmeasures; i++) {
        const int j = measures[i];
        add_measure(text, question, j);
        for (int c = first[j]; c < first[j + 1]; c++)
            order[at++] = c;
    }
    return order;
}

static void add_terms(StringInfo text, const Terms &terms) {
    add_piece(text, "preference", describe_terms(terms));
    add_number(text, "algorithm", static_cast<int>(terms.algorithm));
    add_number(text, "mechanism", static_cast<int>(terms.mechanism));
    add_piece(text, "delta", catalog::numeric_text(catalog::to_numeric(terms.delta)));
    add_piece(text, "epsilon_max", catalog::numeric_text(catalog::to_numeric(terms.epsilon_max)));
    add_piece(text, "epsilon_svt", catalog::numeric_text(catalog::to_numeric(terms.epsilon_svt)));
    add_piece(text, "requested",
              terms.has_requested ? catalog::numeric_text(catalog::to_numeric(terms.requested)) : nullptr);
    for (privacy::Epsilon candidate : *terms.candidates)
        add_piece(text, "candidate", catalog::numeric_text(catalog::to_numeric(candidate)));
}

Datum sha256_of(const StringInfoData &bytes) {
    return DirectFunctionCall1(sha256_bytea, PointerGetDatum(cstring_to_text_with_len(bytes.data, bytes.len)));
}

void add_identity(StringInfo bytes, Datum hash) {
    const bytea *identity = DatumGetByteaPP(hash);
    appendBinaryStringInfo(bytes, VARDATA_ANY(identity), static_cast<int>(VARSIZE_ANY_EXHDR(identity)));
}

Identity identity_of(const rows::Question *question, const char *time_zone) {
    border::SettingsScope settings = border::SettingsScope::enter(); // those under which texts mean one thing
    const bytea *bytes = rows::bytes_of_plan(question->plan, place_of_compared(question));
    StringInfoData text;
    initStringInfo(&text);
    add_number(&text, "plan", VARSIZE_ANY_EXHDR(bytes));
    add_identity(&text, PointerGetDatum(bytes));
    add_piece(&text, "time zone", time_zone);
    add_sources(&text, question);
    add_groups(&text, question);
    add_units(&text, question);
    const int *order = add_measures(&text, question);
    settings.leave();
    return Identity{sha256_of(text), order};
}

// The question and all declarations that its answer rests on, but not the totals: they say whether it may be drawn.
static Datum hash_of(Datum identity, const Terms &terms, int64 forgotten) {
    StringInfoData text;
    initStringInfo(&text);
    add_identity(&text, identity);
    add_number(&text, "version", 2);
    add_number(&text, "forgotten", forgotten);
    border::SettingsScope settings = border::SettingsScope::enter();
    add_terms(&text, terms);
    settings.leave();
    return sha256_of(text);
}

// ---- reading what is stored ----------------------------------------------------------------------------------------

[[noreturn]] static void fail() {
    ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("a stored answer cannot be read")));
    pg_unreachable();
}

static const char *field(Datum charged, const char *name) {
    JsonbValue value;
    const JsonbValue *found =
        getKeyJsonValueFromContainer(&DatumGetJsonbP(charged)->root, name, static_cast<int>(strlen(name)), &value);
    if (found == nullptr)
        return nullptr;
    if (found->type == jbvNumeric)
        return catalog::numeric_text(NumericGetDatum(found->val.numeric));
    if (found->type != jbvString)
        fail();
    return pnstrdup(found->val.string.val, found->val.string.len);
}

static const char *required(Datum charged, const char *name) {
    const char *text = field(charged, name);
    if (text == nullptr)
        fail();
    return text;
}

// In the order of the coordinates, as the numbers: in a round each measure has one.
static double *read_widths(const char *text, const int *order, int n) {
    auto *widths = static_cast<double *>(palloc(sizeof(double) * (n + 1)));
    char *end = const_cast<char *>(text);
    for (int i = 0; i < n; i++) {
        const char *at = end;
        widths[order[i]] = strtod(at, &end);
        if (end == at)
            fail();
    }
    return widths;
}

static void read_charged(Datum charged, const rows::Question *question, const int *order, Past *past) {
    const char *mechanism = required(charged, "mechanism");
    past->mechanism = strcmp(mechanism, "auto") == 0       ? privacy::Mechanism::automatic
                      : strcmp(mechanism, "gaussian") == 0 ? privacy::Mechanism::gaussian
                                                           : privacy::Mechanism::laplace;
    past->epsilon = catalog::to_epsilon(catalog::text_numeric(required(charged, "epsilon")), "epsilon");
    past->rho = catalog::to_rho(catalog::text_numeric(required(charged, "planned_rho")), "rho");
    const char *widths = field(charged, "error95");
    past->round = widths != nullptr;
    if (!past->round)
        return;
    if (question->nmeasures != question->ncoordinates)
        fail();
    past->error95 = read_widths(widths, order, question->nmeasures);
    past->reached.asked = true;
    past->reached.how = static_cast<Short>(atoi(required(charged, "short")));
}

// Whole numbers of at most 128 bits.
privacy::int128 read_number(Datum numeric) {
    const char *text = catalog::numeric_text(numeric);
    bool negative = *text == '-';
    privacy::uint128 magnitude = 0;
    const char *at = text + (negative ? 1 : 0);
    if (strlen(at) == 0 || strlen(at) > 38)
        fail();
    for (; *at != '\0'; at++) {
        if (*at < '0' || *at > '9')
            fail();
        magnitude = magnitude * 10 + static_cast<unsigned>(*at - '0');
    }
    auto value = static_cast<privacy::int128>(magnitude);
    return negative ? -value : value;
}

static Datum *elements_of(ArrayType *array, Oid type, int16 length, char align, bool **nulls, int *n) {
    Datum *elements;
    if (ARR_ELEMTYPE(array) != type)
        fail();
    deconstruct_array(array, type, length, false, align, &elements, nulls, n);
    return elements;
}

static void read_keys(ArrayType *groups, const rows::Question *question, Past *past) {
    int n, nkeys = question->leaf->nkeys;
    Datum *texts = elements_of(groups, TEXTOID, -1, TYPALIGN_INT, &past->nulls, &n);
    if (n != past->ngroups * nkeys)
        fail();
    past->keys = static_cast<Datum *>(palloc0(sizeof(Datum) * (n + 1)));
    for (int i = 0; i < nkeys; i++) {
        int32 typmod = question->leaf->keys[i].typmod;
        Oid base = getBaseTypeAndTypmod(question->leaf->keys[i].type, &typmod), input, parameter;
        getTypeInputInfo(base, &input, &parameter);
        FmgrInfo function;
        fmgr_info(input, &function);
        for (int at = i; at < n; at += nkeys)
            if (!past->nulls[at])
                past->keys[at] = InputFunctionCall(&function, TextDatumGetCString(texts[at]), parameter, typmod);
    }
}

static void read_answer(const catalog::StoredAnswer *stored, const rows::Question *question, const int *order,
                        Past *past) {
    border::SettingsScope settings = border::SettingsScope::enter();
    read_charged(stored->charged, question, order, past);
    int n, width = question->ncoordinates;
    bool *nulls;
    Datum *numbers = elements_of(stored->numbers, NUMERICOID, -1, TYPALIGN_INT, &nulls, &n);
    if (width == 0 || n % width != 0 || (stored->groups != nullptr) != question->thresholded)
        fail();
    past->ngroups = n / width;
    if (!question->thresholded && past->ngroups != question->ngroups)
        fail();
    past->values = static_cast<privacy::int128 *>(palloc(sizeof(privacy::int128) * (n + 1)));
    for (int at = 0; at < n; at++) {
        if (nulls[at])
            fail();
        past->values[at - at % width + order[at % width]] = read_number(numbers[at]);
    }
    if (question->thresholded)
        read_keys(stored->groups, question, past);
    settings.leave();
}

// What cannot be read any more, such as the label of an enum that was renamed, is not there. Nobody's cancel, and no lack of
// memory, becomes a charge.
static const Past *past_of(const catalog::StoredAnswer *stored, const rows::Question *question, const int *order) {
    auto *past = static_cast<Past *>(palloc0(sizeof(Past)));
    ErrorData *error = border::attempt([&] { read_answer(stored, question, order, past); });
    if (error == nullptr)
        return past;
    RESUME_INTERRUPTS();
    int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
    if (category == ERRCODE_INSUFFICIENT_RESOURCES || category == ERRCODE_OPERATOR_INTERVENTION)
        ReThrowError(error);
    return nullptr;
}

// Whether the keys of an answer can be written down and read again, by code of the server's.
static bool has_lasting_keys(const rows::Question *question) {
    for (int i = 0; question->thresholded && i < question->leaf->nkeys; i++) {
        Oid type = question->leaf->keys[i].type;
        if (!rows::is_text_portable(type) || catalog::input_runs_code(getBaseType(type)))
            return false;
    }
    return true;
}

const Replay *look_up(const catalog::Reading &reading, const rows::Question *question, const Terms &terms,
                      const catalog::Policy &policy, const Identity &identity, bool again) {
    if (policy.replay == nullptr || !is_public(terms.algorithm) || !has_lasting_keys(question))
        return nullptr;
    auto *replay = static_cast<Replay *>(palloc0(sizeof(Replay)));
    replay->interval = policy.replay;
    replay->key.table = question->settings->id;
    replay->key.grantee = policy.grantee;
    replay->order = identity.order;
    replay->key.hash =
        hash_of(identity.hash, terms, catalog::times_forgotten(reading, question->settings->id));
    const catalog::StoredAnswer *stored = again ? catalog::find_stored(reading, replay->key, *policy.replay) : nullptr;
    if (stored != nullptr)
        replay->past = past_of(stored, question, replay->order);
    return replay;
}

// ---- keeping -------------------------------------------------------------------------------------------------------

struct Kept {
    const Replay *replay;
    MemoryContext memory;
    Size size;
    bool too_large;
    int64 ngroups;
    // Of discovered groups: the texts of their keys, and the numbers; grown together.
    int64 room;
    Datum *keys;
    bool *nulls;
    Datum *numbers;
};

Kept *begin_keeping(const rows::Question *question, const Replay *replay) {
    if (replay == nullptr)
        return nullptr;
    auto *kept = static_cast<Kept *>(palloc0(sizeof(Kept)));
    kept->replay = replay;
    kept->memory = CurrentMemoryContext;
    kept->room = Max(question->ngroups, 16);
    int nkeys = question->leaf->nkeys, width = question->ncoordinates;
    kept->keys = static_cast<Datum *>(palloc_extended(sizeof(Datum) * (kept->room * nkeys + 1), MCXT_ALLOC_HUGE));
    kept->nulls = static_cast<bool *>(palloc_extended(sizeof(bool) * (kept->room * nkeys + 1), MCXT_ALLOC_HUGE));
    kept->numbers = static_cast<Datum *>(palloc_extended(sizeof(Datum) * (kept->room * width + 1), MCXT_ALLOC_HUGE));
    return kept;
}

static void make_room(Kept *kept, int nkeys, int width) {
    if (kept->ngroups < kept->room)
        return;
    kept->room *= 2;
    kept->keys = static_cast<Datum *>(repalloc_huge(kept->keys, sizeof(Datum) * (kept->room * nkeys + 1)));
    kept->nulls = static_cast<bool *>(repalloc_huge(kept->nulls, sizeof(bool) * (kept->room * nkeys + 1)));
    kept->numbers = static_cast<Datum *>(repalloc_huge(kept->numbers, sizeof(Datum) * (kept->room * width + 1)));
}

static void keep_keys(Kept *kept, const rows::Question *question, const Datum *keys, const bool *nulls) {
    int nkeys = question->leaf->nkeys;
    for (int i = 0; i < nkeys; i++) {
        int64 at = kept->ngroups * nkeys + i;
        kept->nulls[at] = nulls[i];
        kept->keys[at] = Datum{0};
        if (nulls[i])
            continue;
        Oid output;
        bool is_varlena;
        getTypeOutputInfo(question->leaf->keys[i].type, &output, &is_varlena);
        kept->keys[at] = CStringGetTextDatum(OidOutputFunctionCall(output, keys[i]));
        kept->size += VARSIZE(DatumGetPointer(kept->keys[at]));
    }
}

Datum number_of(privacy::int128 value) {
    char text[64];
    border::core([&] { strlcpy(text, privacy::scaled_text(value, 0).c_str(), sizeof text); });
    return catalog::text_numeric(text);
}

void keep_group(Kept *kept, const rows::Question *question, const Datum *keys, const bool *nulls,
                const privacy::int128 *noisy) {
    if (kept == nullptr || kept->too_large)
        return;
    int width = question->ncoordinates;
    MemoryContext old = MemoryContextSwitchTo(kept->memory);
    make_room(kept, question->leaf->nkeys, width);
    if (question->thresholded)
        keep_keys(kept, question, keys, nulls);
    for (int c = 0; c < width; c++) {
        Datum number = number_of(noisy[kept->replay->order[c]]);
        kept->numbers[kept->ngroups * width + c] = number;
        kept->size += VARSIZE(DatumGetPointer(number));
    }
    MemoryContextSwitchTo(old);
    kept->ngroups++;
    kept->too_large = kept->size > stored_limit;
}

static void add_widths(StringInfo json, const rows::Question *question, const int *order, const Facts &facts) {
    auto *widths = static_cast<double *>(palloc0(sizeof(double) * (question->nmeasures + 1)));
    for (int i = 0; i < question->leaf->noutputs; i++)
        if (!question->leaf->outputs[i].is_key)
            widths[question->measure_of[question->leaf->outputs[i].index]] = facts.error95[i];
    appendStringInfo(json, ", \"short\": \"%d\", \"error95\": \"", static_cast<int>(facts.reached.how));
    for (int j = 0; j < question->nmeasures; j++)
        appendStringInfo(json, " %s", float8out_internal(widths[order[j]]));
    appendStringInfoChar(json, '"');
}

// What was charged, for whoever looks; and what the noise was drawn for, from which its intervals follow.
static Datum charged_of(const rows::Question *question, const Terms &terms, const int *order, const Facts &facts,
                        bool round) {
    StringInfoData json;
    initStringInfo(&json);
    appendStringInfo(&json, "{\"mechanism\": \"%s\", \"epsilon\": %s, \"epsilon_svt\": %s, ",
                     facts.mechanism == privacy::Mechanism::laplace     ? "laplace"
                     : facts.mechanism == privacy::Mechanism::automatic ? "auto"
                                                                        : "gaussian",
                     catalog::numeric_text(catalog::to_numeric(facts.paid.epsilon)),
                     catalog::numeric_text(catalog::to_numeric(facts.paid.selection)));
    appendStringInfo(&json, "\"delta\": %s, \"rho\": %s, \"planned_rho\": %s",
                     catalog::numeric_text(catalog::to_numeric(facts.delta)),
                     catalog::numeric_text(catalog::to_numeric(facts.paid.rho)),
                     catalog::numeric_text(catalog::to_numeric(terms.rho)));
    if (round)
        add_widths(&json, question, order, facts);
    appendStringInfoChar(&json, '}');
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(json.data));
}

static ArrayType *array_of(Datum *elements, bool *nulls, int64 n, Oid type) {
    int dimensions[1] = {static_cast<int>(n)}, lower_bounds[1] = {1};
    return construct_md_array(elements, nulls, 1, dimensions, lower_bounds, type, -1, false, TYPALIGN_INT);
}

const catalog::Storing *storing_of(const Kept *kept, const rows::Question *question, const Terms &terms,
                                   const Facts &facts, bool round) {
    if (kept == nullptr || kept->too_large)
        return nullptr;
    auto *storing = static_cast<catalog::Storing *>(palloc0(sizeof(catalog::Storing)));
    storing->key = kept->replay->key;
    storing->replay = kept->replay->interval;
    storing->answer.charged = charged_of(question, terms, kept->replay->order, facts, round);
    storing->answer.numbers = array_of(kept->numbers, nullptr, kept->ngroups * question->ncoordinates, NUMERICOID);
    if (question->thresholded)
        storing->answer.groups = array_of(kept->keys, kept->nulls, kept->ngroups * question->leaf->nkeys, TEXTOID);
    return storing;
}

} // namespace dp::release
