// Names of columns that can be told apart.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// Gives each column a name of its own, before the columns are blessed: of those of one name the first keeps it, and others get
// a number behind it (count, count_2). No number makes a name that another column has. JSON objects, column definition lists
// and signals name columns, and an answer must not lose one.
void tell_columns_apart(TupleDesc desc);

} // namespace dp::border
