// Names the aggregates that are answered, by function: of rows, and of one unit's rows below an aggregation.
#pragma once

#include <optional>

#include "privacy/mechanism.hpp"

#include "border/postgres.hpp"

namespace dp::query {

// Classes the aggregates of one unit's rows: their results do not depend on the order of rows.
enum class UnitAggregate : uint8 { none, count_rows, count, count_values, sum, avg, extreme, boolean };

// Returns the measure that a server's aggregate asks for; none: it is not answered.
std::optional<privacy::Aggregate> measure_of(Oid function);
// Returns count, sum or avg for their names for restricted views, dp_count and the like; any other function as it is.
Oid plain_aggregate(const Aggref *call);
UnitAggregate unit_aggregate(const Aggref *call);

// Returns true for an aggregate of two columns that is answered: corr(y, x) and the like (formulas.md, 8.10).
bool takes_two_columns(const Aggref *call);

// The argument of such a call is the point that y and x make: NULL where either of them is, and one node wherever an argument is. Nobody
// can write it, since point() is on no list of what may touch a row (query/total); it cannot fail.
Node *joint_argument(Node *y, Node *x);
// y and x; NIL: it is another argument.
List *joint_parts(Node *argument);

} // namespace dp::query
