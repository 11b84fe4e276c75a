// Checks the names in a leaf's text before it is analysed: analysis reads literals, and runs the code behind their types.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// 0A000 for a type, function, operator or collation that is not the server's own; enums may be named. `statement` is raw.
void check_names(RawStmt *statement);

// 0A000 unless the statement reads this relation, and beside it registered restricted views alone, named in FROM as they stand, joined,
// without WITH and sub-SELECTs but such in conditions: so a leaf is written, and so what was checked elsewhere under a name is what the name means here.
void check_reads_only(RawStmt *statement, Oid relation);

// Returns the type that values of arrays, ranges and multiranges are made of.
Oid part_of(Oid type);

// Whether reading a literal of the type may take much longer than it is to write: a path of jsonpath holds regular expressions, which are
// compiled, and XML has entities.
bool is_slow_to_read(Oid type);

// Returns the type that a parameter is read as: of a domain its base type. 0A000 for what is not the server's own nor an enum, for
// records, and for arrays and ranges of either: their values mean something in the process that made them alone, or
// reading a literal beside them would run code of whoever made the type.
Oid parameter_type(Oid type);

} // namespace dp::query
