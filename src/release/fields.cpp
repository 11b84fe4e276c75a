#include "release/fields.hpp"

#include "catalog/decimals.hpp"
#include "catalog/settings.hpp"

namespace dp::release {

[[noreturn]] void refuse_unreadable() {
    refuse_with(ERRCODE_DATA_CORRUPTED, "what is stored of a request or an answer cannot be read");
}

ArrayType *array_of(Datum *elements, bool *nulls, int64 n, Oid type) {
    int dimensions[1] = {static_cast<int>(n)}, lower_bounds[1] = {1};
    int16 length;
    bool by_value;
    char align;
    get_typlenbyvalalign(type, &length, &by_value, &align);
    return construct_md_array(elements, nulls, 1, dimensions, lower_bounds, type, length, by_value, align);
}

static const JsonbValue *field(JsonbContainer *object, const char *name, JsonbValue *value) {
    const JsonbValue *found = getKeyJsonValueFromContainer(object, name, static_cast<int>(strlen(name)), value);
    if (found == nullptr)
        refuse_unreadable();
    return found;
}

const char *text_field(JsonbContainer *object, const char *name) {
    JsonbValue value;
    const JsonbValue *found = field(object, name, &value);
    if (found->type == jbvNull)
        return nullptr;
    if (found->type == jbvNumeric)
        return catalog::numeric_text(NumericGetDatum(found->val.numeric));
    if (found->type != jbvString)
        refuse_unreadable();
    return pnstrdup(found->val.string.val, found->val.string.len);
}

const char *required_field(JsonbContainer *object, const char *name) {
    const char *text = text_field(object, name);
    if (text == nullptr)
        refuse_unreadable();
    return text;
}

int int_field(JsonbContainer *object, const char *name) {
    return DatumGetInt32(DirectFunctionCall1(int4in, CStringGetDatum(required_field(object, name))));
}

double double_field(JsonbContainer *object, const char *name) {
    return DatumGetFloat8(DirectFunctionCall1(float8in, CStringGetDatum(required_field(object, name))));
}

bool bool_field(JsonbContainer *object, const char *name) {
    JsonbValue value;
    const JsonbValue *found = field(object, name, &value);
    if (found->type != jbvBool)
        refuse_unreadable();
    return found->val.boolean;
}

privacy::Mechanism mechanism_field(JsonbContainer *object, const char *name) {
    const char *text = required_field(object, name);
    const auto mechanism = border::core([&] { return catalog::mechanism_from_name(text); });
    if (!mechanism)
        refuse_unreadable();
    return *mechanism;
}

JsonbContainer *array_field(JsonbContainer *object, const char *name, int *n) {
    JsonbValue value;
    const JsonbValue *found = field(object, name, &value);
    if (found->type != jbvBinary || !JsonContainerIsArray(found->val.binary.data))
        refuse_unreadable();
    *n = static_cast<int>(JsonContainerSize(found->val.binary.data));
    return found->val.binary.data;
}

JsonbContainer *object_at(JsonbContainer *array, int i) {
    JsonbValue *value = getIthJsonbValueFromContainer(array, i);
    if (value == nullptr)
        refuse_unreadable();
    if (value->type == jbvNull)
        return nullptr;
    if (value->type != jbvBinary || !JsonContainerIsObject(value->val.binary.data))
        refuse_unreadable();
    return value->val.binary.data;
}

} // namespace dp::release
