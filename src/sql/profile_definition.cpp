// Checks risk profiles that come as arguments or as JSON, and writes them as JSON.
#include "sql/risk_profile.hpp"

#include <cmath>

#include "catalog/decimals.hpp"
extern "C" {
#include <common/shortest_dec.h>
}

namespace dp::sql {

namespace {

const char *const field_names[] = {"relative", "absolute", "prior", "advantage", "tpr", "fpr", "p", "q", "r"};
const char *const field_examples[] = {
    "relative => 3", "absolute => 0.25", "prior => 0.5", "advantage => 0.25, or tpr => 0.05, fpr => 0.01",
    "tpr => 0.05",   "fpr => 0.01",      "p => '{0.1}'", "q => '{1}'",
    "r => '{3}'"};
constexpr int most_points = 1000;

// Lists the fields that a kind needs, and those that it may have besides. A promise about attacks has an advantage or rates.
struct KindFields {
    privacy::ProfileKind kind;
    int needed, possible;
};
constexpr int relative = 1 << field_relative, absolute = 1 << field_absolute, prior = 1 << field_prior;
constexpr int advantage = 1 << field_advantage, rates = 1 << field_tpr | 1 << field_fpr;
constexpr int values = 1 << field_p | 1 << field_q | 1 << field_r;
constexpr KindFields kinds[] = {
    {privacy::ProfileKind::constant, relative, 0},   {privacy::ProfileKind::inclusion, relative, absolute | prior},
    {privacy::ProfileKind::both, relative, absolute}, {privacy::ProfileKind::value, relative, absolute | prior},
    {privacy::ProfileKind::points, values, 0},       {privacy::ProfileKind::difference, absolute, 0},
    {privacy::ProfileKind::attack, advantage, 0},
};

KindFields fields_of(privacy::ProfileKind kind, const GivenProfile &given) {
    if (kind == privacy::ProfileKind::attack && (given.given & rates) != 0)
        return {kind, rates, 0};
    const KindFields *fields = kinds;
    while (fields->kind != kind)
        fields++;
    return *fields;
}

privacy::ProfileKind checked_kind(const char *name) {
    if (name == nullptr)
        refuse_value("a risk profile needs a kind",
                     "Make one with dp_profile('inclusion', relative => 3), for instance.");
    privacy::ProfileKind kind = {};
    bool known = border::core([&] {
        auto parsed = privacy::profile_kind_from_name(name);
        kind = parsed.value_or(privacy::ProfileKind::constant);
        return parsed.has_value();
    });
    if (!known)
        refuse_value(psprintf("unknown kind of risk profile: \"%s\"", name),
                     "Use 'constant', 'inclusion', 'value', 'both', 'difference', 'points' or 'attack'.");
    return kind;
}

void check_fields(const GivenProfile &given, privacy::ProfileKind kind) {
    KindFields fields = fields_of(kind, given);
    for (int i = 0; i < nfields; i++) {
        auto field = static_cast<ProfileField>(i);
        if (!given.has(field) && (fields.needed & 1 << i) != 0)
            refuse_value(psprintf("a risk profile of the kind \"%s\" needs %s", given.kind, field_names[i]),
                         psprintf("Pass %s, for instance.", field_examples[i]));
        if (given.has(field) && ((fields.needed | fields.possible) & 1 << i) == 0)
            refuse_value(psprintf("%s does not go with a risk profile of the kind \"%s\"", field_names[i], given.kind),
                         "Leave it out.");
    }
}

// ---- numbers -------------------------------------------------------------------------------------------------------

// Says where the first fields may be, and the rates behind them.
const char *const ranges[][2] = {
    {"above 1 and finite", "3 lets a posterior be three times its prior."},
    {"at least 0 and below 1", "With 0.25 posteriors up to 0.25 are allowed whatever the prior was."},
    {"above 0 and at most 1", "It is the prior that stays fixed: 1 for one who knows it already."},
    {"above 0 and below 1",
     "At fpr 0.01 an attack is wrong about 1 of 100 others; tpr is how many people it recognizes then."}};

void check_numbers(const GivenProfile &given) {
    for (int i = 0; i < field_p; i++) {
        const double x = given.numbers[i];
        const bool fits = i == field_relative ? x > 1 && std::isfinite(x)
                          : i == field_absolute ? x >= 0 && x < 1
                          : i == field_prior    ? x > 0 && x <= 1
                                                : x > 0 && x < 1;
        const auto &[range, hint] = ranges[Min(i, field_advantage)];
        if (given.has(static_cast<ProfileField>(i)) && !fits)
            refuse_value(psprintf("%s must be %s, not %s", field_names[i], range, float8out_internal(x)), hint);
    }
}

void check_length(int64 n, const char *name) {
    if (n > most_points)
        refuse_size(psprintf("%s of a risk profile has more than %d elements", name, most_points),
                    "Leave out adversaries against whom others allow less.");
}

void check_array(const GivenProfile &given, ProfileField field) {
    const GivenArray &array = given.arrays[field - field_p];
    check_length(array.n, field_names[field]);
    for (int i = 0; i < array.n; i++)
        if (field == field_r ? !array.nulls[i] && !std::isfinite(array.values[i])
                             : array.nulls[i] || !(array.values[i] > 0 && array.values[i] <= 1))
            refuse_value(psprintf("element %d of %s is %s", i + 1, field_names[field],
                                  array.nulls[i] ? "NULL" : float8out_internal(array.values[i])),
                         field == field_r
                             ? "It is a relative risk above 1; NULL stands for an adversary who is not considered."
                             : "It is a prior, above 0 and at most 1.");
}

void check_arrays(const GivenProfile &given) {
    for (ProfileField field : {field_p, field_q, field_r})
        if (given.has(field))
            check_array(given, field);
    const GivenArray *arrays = given.arrays;
    if ((arrays[0].n != arrays[1].n || arrays[0].n != arrays[2].n))
        refuse_value(psprintf("p, q and r have %d, %d and %d elements", arrays[0].n, arrays[1].n, arrays[2].n),
                     "Each adversary has one of each.");
}

// ---- JSON ----------------------------------------------------------------------------------------------------------

// The shortest text that is read as this double again, whatever extra_float_digits is.
void append_number(StringInfo json, double x) {
    char text[DOUBLE_SHORTEST_DECIMAL_LEN];
    double_to_shortest_decimal_buf(x, text);
    appendStringInfoString(json, text);
}

void append_array(StringInfo json, const GivenArray &array) {
    appendStringInfoChar(json, '[');
    for (int i = 0; i < array.n; i++) {
        if (i > 0)
            appendStringInfoString(json, ", ");
        if (array.nulls[i])
            appendStringInfoString(json, "null");
        else
            append_number(json, array.values[i]);
    }
    appendStringInfoChar(json, ']');
}

const char *json_of(const GivenProfile &given, const Profile *profile) {
    StringInfo json = makeStringInfo();
    appendStringInfoString(json, "{\"kind\": ");
    escape_json(json, given.kind);
    for (int i = 0; i < nfields; i++) {
        auto field = static_cast<ProfileField>(i);
        if (!given.has(field))
            continue;
        appendStringInfo(json, ", \"%s\": ", field_names[i]);
        if (field >= field_p)
            append_array(json, given.arrays[field - field_p]);
        else
            append_number(json, given.numbers[field]);
    }
    appendStringInfo(json, ", \"epsilon\": %s}",
                     profile->constrains ? catalog::numeric_text(catalog::to_numeric(profile->epsilon)) : "null");
    return json->data;
}

// ---- what it allows ------------------------------------------------------------------------------------------------

const privacy::RiskProfile *risk_profile(const GivenProfile &given, privacy::ProfileKind kind) {
    auto *risk = border::context_new<privacy::RiskProfile>();
    risk->kind = kind;
    if (given.has(field_relative))
        risk->relative = given.numbers[field_relative];
    if (given.has(field_absolute))
        risk->absolute = given.numbers[field_absolute];
    if (given.has(field_prior))
        risk->fixed = given.numbers[field_prior];
    risk->target = {given.numbers[field_advantage], given.numbers[field_tpr], given.numbers[field_fpr]};
    border::core([&] {
        const GivenArray *arrays = given.arrays;
        for (int i = 0; kind == privacy::ProfileKind::points && i < arrays[0].n; i++)
            risk->points.push_back({{arrays[0].values[i], arrays[1].values[i]},
                                    arrays[2].nulls[i] ? get_float8_infinity() : arrays[2].values[i]});
    });
    return risk;
}

// Numbers that are not given are 0.
[[noreturn]] void refuse_target(const privacy::AttackTarget &target, privacy::Delta delta) {
    const char *given_away = catalog::numeric_text(catalog::to_numeric(delta));
    refuse_value(
        target.advantage > 0
            ? psprintf("no answer keeps the advantage of attacks at %s beside a delta of %s",
                       float8out_internal(target.advantage), given_away)
            : psprintf(
                  "no answer keeps the true-positive rate of attacks at %s beside a false-positive rate of %s and a "
                  "delta of %s",
                  float8out_internal(target.tpr), float8out_internal(target.fpr), given_away),
        "Pass a larger advantage or tpr; or a smaller delta_total or epsilon_pure with dp_set_odometer().");
}

void set_epsilon(Profile *profile) {
    border::core([&] {
        auto epsilon = privacy::profile_epsilon(profile->binding);
        profile->constrains = epsilon.has_value();
        profile->epsilon = epsilon.value_or(privacy::Epsilon());
    });
    if (profile->risk->kind == privacy::ProfileKind::attack && profile->epsilon.units() <= 0)
        refuse_target(profile->risk->target, privacy::Delta());
    if (profile->constrains && profile->epsilon.units() <= 0)
        refuse_value(psprintf("the risk profile allows no epsilon: against the prior p = %s, q = %s it would be below "
                              "0.000000001",
                              float8out_internal(profile->binding.prior.p),
                              float8out_internal(profile->binding.prior.q)),
                     "Allow every adversary a relative risk above 1.");
}

} // namespace

Profile *checked_profile(const GivenProfile &given) {
    auto *profile = static_cast<Profile *>(palloc0(sizeof(Profile)));
    const privacy::ProfileKind kind = checked_kind(given.kind);
    check_fields(given, kind);
    check_numbers(given);
    check_arrays(given);
    profile->risk = risk_profile(given, kind);
    profile->binding = border::core([&] { return privacy::binding_of(*profile->risk); });
    set_epsilon(profile);
    profile->json = json_of(given, profile);
    return profile;
}

Datum profile_json(const Profile *profile) {
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(profile->json));
}

Datum attack_profile(const Profile *profile, const privacy::BoundSettings &bound, privacy::Rho *rho) {
    const privacy::AttackTarget &target = profile->risk->target;
    const bool in_rho = bound.bound == privacy::Bound::zcdp;
    const privacy::Delta delta = in_rho ? bound.delta_mechanisms() : bound.delta_total;
    privacy::Epsilon epsilon;
    border::core([&] {
        if (!in_rho) {
            epsilon = privacy::profile_epsilon({privacy::target_epsilon(target, delta.value()), {}}).value_or(epsilon);
            return;
        }
        const double allowed = privacy::target_rho(target, bound.epsilon_pure.value(), delta.value());
        *rho = privacy::Rho::from_double(allowed, privacy::Rounding::down);
        epsilon = bound.epsilon_pure + privacy::eps_from_rho(*rho, bound.delta_conversion);
    });
    if (in_rho ? rho->units() <= 0 : epsilon.units() <= 0)
        refuse_target(target, delta);
    Datum claim = DirectFunctionCall1(
        jsonb_in, CStringGetDatum(psprintf("{\"epsilon\": %s}", catalog::numeric_text(catalog::to_numeric(epsilon)))));
    return DirectFunctionCall2(jsonb_concat, profile_json(profile), claim);
}

// ---- reading JSON --------------------------------------------------------------------------------------------------

namespace {

const char *const json_hint = "Make one with dp_profile('inclusion', relative => 3), for instance.";

const char *string_of(const JsonbValue &value, const char *key) {
    if (value.type != jbvString)
        refuse_value(psprintf("\"%s\" of a risk profile is not a string", key), json_hint);
    return pnstrdup(value.val.string.val, value.val.string.len);
}

double number_of(const JsonbValue &value, const char *key) {
    if (value.type != jbvNumeric)
        refuse_value(psprintf("\"%s\" of a risk profile is not a number", key), json_hint);
    return DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, NumericGetDatum(value.val.numeric)));
}

GivenArray array_of(const JsonbValue &value, const char *key) {
    if (value.type != jbvBinary || !JsonContainerIsArray(value.val.binary.data) ||
        JsonContainerIsScalar(value.val.binary.data))
        refuse_value(psprintf("\"%s\" of a risk profile is not an array of numbers", key), json_hint);
    check_length(JsonContainerSize(value.val.binary.data), key);
    GivenArray array = {};
    array.n = static_cast<int>(JsonContainerSize(value.val.binary.data));
    array.values = static_cast<double *>(palloc0(sizeof(double) * (array.n + 1)));
    array.nulls = static_cast<bool *>(palloc0(array.n + 1));
    for (int i = 0; i < array.n; i++) {
        const JsonbValue *element = getIthJsonbValueFromContainer(value.val.binary.data, i);
        array.nulls[i] = element->type == jbvNull;
        if (!array.nulls[i])
            array.values[i] = number_of(*element, key);
    }
    return array;
}

void take_field(GivenProfile *given, const char *key, const JsonbValue &value) {
    if (strcmp(key, "epsilon") == 0 || value.type == jbvNull) // it is computed anew
        return;
    if (strcmp(key, "kind") == 0) {
        given->kind = string_of(value, key);
        return;
    }
    for (int i = 0; i < nfields; i++) {
        if (strcmp(key, field_names[i]) != 0)
            continue;
        auto field = static_cast<ProfileField>(i);
        given->mark(field);
        if (field >= field_p)
            given->arrays[field - field_p] = array_of(value, key);
        else
            given->numbers[field] = number_of(value, key);
        return;
    }
    refuse_value(psprintf("unknown key \"%s\" of a risk profile", key), json_hint);
}

} // namespace

bool is_no_profile(Datum json) {
    Jsonb *object = DatumGetJsonbP(json);
    return JB_ROOT_IS_OBJECT(object) && JB_ROOT_COUNT(object) == 0;
}

const Profile *profile_argument(FunctionCallInfo fcinfo, int argument) {
    if (PG_ARGISNULL(argument) || is_no_profile(PG_GETARG_DATUM(argument)))
        return nullptr;
    const Profile *profile = read_profile(PG_GETARG_DATUM(argument));
    if (!profile->constrains)
        refuse_value("the risk profile constrains nothing, so it caps no total",
                     "Leave it out, or take one away with profile => '{}'.");
    return profile;
}

Profile *read_profile(Datum json) {
    Jsonb *object = DatumGetJsonbP(json);
    if (!JB_ROOT_IS_OBJECT(object))
        refuse_value("a risk profile is a JSON object", json_hint);
    GivenProfile given = {};
    JsonbIterator *iterator = JsonbIteratorInit(&object->root);
    JsonbValue value;
    char *key = nullptr;
    for (JsonbIteratorToken token; (token = JsonbIteratorNext(&iterator, &value, true)) != WJB_DONE;) {
        if (token == WJB_KEY)
            key = pnstrdup(value.val.string.val, value.val.string.len);
        else if (token == WJB_VALUE)
            take_field(&given, key, value);
    }
    return checked_profile(given);
}

} // namespace dp::sql
