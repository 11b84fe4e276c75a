// Keys that are read from rows (formulas.md, 8.5). Of several spellings of one value (1.0 and 1.00, 0 and -0, trailing
// blanks) a group would show that of whichever row came first: one person's. So a key becomes one spelling of its value
// before it is hashed, compared and printed, and is short: from there on equal keys have equal bytes.
#pragma once

#include "query/leaf.hpp"

namespace dp::rows {

constexpr int longest_value =
    1 << 20;                      // bytes of a value that count(DISTINCT x) counts; a longer one is as if it were NULL
constexpr int longest_key = 1000; // bytes of a key that is printed; a longer one is the NULL key

// The key of a group that nobody declared, in its one spelling. Errors: 0A000 for types whose equal values cannot be told
// to look alike, and for nondeterministic collations.
Node *canonical_key(Node *key, const query::Key &spec);

// A key whose groups are declared: the declaration is printed, but rows are grouped by it all the same.
// The condition that it is short, or null where it cannot be long: no declared group is longer.
Node *short_key_condition(Node *key);
// The key without what makes it long although its value is short (blanks at the end of a wide char(n)).
Node *compact_key(Node *key);

// A value in its one spelling, as a key of its type and this typmod has it; NULL where it is longer than any key. has_spelling: the type has one.
Node *canonical_node(Node *value, int32 typmod);

// Returns the digits behind the point that a numeric type shows; 0 where it does not say.
int scale_of(int32 typmod);

// A value in its one spelling, as rows' keys have it. isnull: it is longer than any key. has_spelling: the type has one.
bool has_spelling(Oid type);
// Whether all values of a type are in theirs.
bool has_one_spelling(Oid type);
// Whether canonical_key takes it: equal keys get equal bytes.
bool has_canonical(const query::Key &spec);
Datum canonical_value(Oid type, int32 typmod, Datum value, bool *isnull);

// Whether the text of any value means the same value on every server, whatever its settings and catalogs are. Not so for
// money (lc_monetary), names of relations and roles, what may hold such, and intervals and jsonb, of which nobody has looked.
bool is_text_portable(Oid type);

// 54000 for a value that no row's key can equal.
void check_declared_length(Datum value, Oid type, const char *column_name);

} // namespace dp::rows
