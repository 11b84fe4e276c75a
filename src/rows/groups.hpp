// Declared groups of key columns (formulas.md, 8.5).
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// The values that the texts (text[]) mean for a column: cast once, sorted, checked for duplicates by the type's equality.
// Errors: 22023 duplicates, nondeterministic collation; 54000 a long value; those of the type's input function.
KeyDomain declared_domain(ArrayType *groups, Oid type, int32 typmod, Oid collation, const char *column_name);

// Reads texts that were stored, under the settings that they were stored under: their meaning is not the caller's to choose.
KeyDomain stored_domain(ArrayType *groups, Oid type, int32 typmod, Oid collation, const char *column_name);

// Returns the values as text[], in canonical order; the texts mean the same under pinned settings.
ArrayType *canonical_groups(const KeyDomain &domain, Oid type);

// All values of a boolean or enum column, NULL as well when the column is nullable.
KeyDomain type_domain(Oid type, Oid collation, bool nullable);
bool has_type_domain(Oid type);

// Makes a domain of values in any order, equal ones once.
KeyDomain domain_of_values(Oid type, Oid collation, const Datum *values, const bool *nulls, int n);

} // namespace dp::rows
