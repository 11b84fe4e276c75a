#include "release/replay.hpp"

#include "privacy/scaled_numbers.hpp"

#include <cstdlib>

#include "border/attempt.hpp"
#include "border/scope.hpp"
#include "catalog/decimals.hpp"
#include "catalog/foreign_code.hpp"
#include "release/charge.hpp"
#include "release/charge_parameters.hpp"
#include "release/fields.hpp"
#include "rows/canonical.hpp"

namespace dp::release {

constexpr Size stored_limit = 1024 * 1024;

// ---- the key -------------------------------------------------------------------------------------------------------

static void add_terms(StringInfo text, const Terms &terms) {
    add_piece(text, "preference", describe_terms(terms));
    add_number(text, "algorithm", static_cast<int>(terms.algorithm));
    add_number(text, "mechanism", static_cast<int>(terms.mechanism));
    add_piece(text, "delta", decimal_text(terms.delta));
    add_piece(text, "epsilon_max",
              catalog::numeric_text(catalog::to_numeric(terms.caps.epsilon_max.value_or(privacy::Epsilon()))));
    add_piece(text, "epsilon_svt", decimal_text(terms.epsilon_svt));
    add_piece(text, "requested", terms.caps.requested ? decimal_text(*terms.caps.requested) : nullptr);
    for (privacy::Epsilon candidate : *terms.candidates)
        add_piece(text, "candidate", decimal_text(candidate));
}

// The question and all declarations that its answer rests on, but not the totals: they say whether it may be drawn.
static Datum hash_of(Datum identity, const Terms &terms, int64 forgotten) {
    StringInfo text = makeStringInfo();
    add_identity(text, identity);
    add_number(text, "version", 2);
    add_number(text, "forgotten", forgotten);
    border::SettingsScope settings = border::SettingsScope::enter();
    add_terms(text, terms);
    settings.leave();
    return sha256_of(*text);
}

// ---- reading what is stored ----------------------------------------------------------------------------------------

[[noreturn]] static void fail() {
    refuse_with(ERRCODE_DATA_CORRUPTED, "a stored answer cannot be read");
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
    JsonbContainer *object = &DatumGetJsonbP(charged)->root;
    past->mechanism = mechanism_field(object, "mechanism");
    past->epsilon = catalog::to_epsilon(catalog::text_numeric(required_field(object, "epsilon")), "epsilon");
    past->rho = catalog::to_rho(catalog::text_numeric(required_field(object, "planned_rho")), "rho");
    const char *widths = text_field(object, "error95");
    past->round = widths != nullptr;
    if (!past->round)
        return;
    if (question->nmeasures != question->ncoordinates)
        fail();
    past->error95 = read_widths(widths, order, question->nmeasures);
    past->reached.asked = true;
    past->reached.how = static_cast<Short>(int_field(object, "short"));
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

// Returns null for an answer that cannot be read any more, such as one with a label that was renamed. Nobody's cancel, and no lack of
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
    // The texts of the keys of discovered groups, and the numbers; grown together.
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

// Lists how accurate each measure is, in the order of the numbers.
static const char *widths_of(const rows::Question *question, const int *order, const Facts &facts) {
    auto *widths = static_cast<double *>(palloc0(sizeof(double) * (question->nmeasures + 1)));
    for (int i = 0; i < question->leaf->noutputs; i++)
        if (!question->leaf->outputs[i].is_key)
            widths[question->measure_of[question->leaf->outputs[i].index]] = facts.error95[i];
    StringInfo list = makeStringInfo();
    for (int j = 0; j < question->nmeasures; j++)
        appendStringInfo(list, " %s", float8out_internal(widths[order[j]]));
    return list->data;
}

// Returns as JSON the charge, for whoever looks, and the price that the noise was drawn for, from which its intervals follow.
static Datum charged_of(const rows::Question *question, const Terms &terms, const int *order, const Facts &facts,
                        bool round) {
    const catalog::JsonText json = catalog::JsonText::object();
    json("mechanism", catalog::name_of(facts.mechanism));
    json("epsilon", facts.paid.epsilon);
    json("epsilon_svt", facts.paid.selection);
    json("delta", facts.delta);
    json("rho", facts.paid.rho);
    json("planned_rho", terms.rho);
    if (round)
        json("short", psprintf("%d", static_cast<int>(facts.reached.how)));
    json("error95", round ? widths_of(question, order, facts) : nullptr);
    return catalog::jsonb_of(json.closed());
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
