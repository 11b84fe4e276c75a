// Parts of the extension's own jsonb columns. What cannot be read is XX001.
#pragma once

#include "privacy/mechanism.hpp"

#include "catalog/json_text.hpp"
extern "C" {
#include <utils/jsonb.h>
}

namespace dp::release {

[[noreturn]] void refuse_unreadable();

template <int Places> const char *decimal_text(privacy::Decimal<Places> value) {
    return catalog::numeric_text(catalog::to_numeric(value));
}
// Makes an array of one dimension. nulls: or null.
ArrayType *array_of(Datum *elements, bool *nulls, int64 n, Oid type);

// A string, or a number as it is written; null for null.
const char *text_field(JsonbContainer *object, const char *name);
// Returns one that must be there.
const char *required_field(JsonbContainer *object, const char *name);
int int_field(JsonbContainer *object, const char *name);
double double_field(JsonbContainer *object, const char *name);
bool bool_field(JsonbContainer *object, const char *name);
privacy::Mechanism mechanism_field(JsonbContainer *object, const char *name);
JsonbContainer *array_field(JsonbContainer *object, const char *name, int *n);
// An object of an array; null for null.
JsonbContainer *object_at(JsonbContainer *array, int i);

} // namespace dp::release
