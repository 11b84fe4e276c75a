// The entries of a range table that an expression reads.
#pragma once

#include "border/postgres.hpp"

namespace dp::border {

// Returns the numbers of the entries whose columns stand in an expression. From PostgreSQL 16 on the server's function also names
// the outer joins that may make a column NULL.
inline Bitmapset *varnos_of(Node *expression) {
#if PG_VERSION_NUM >= 160000
    expression = remove_nulling_relids(expression, pull_varnos(nullptr, expression), nullptr);
#endif
    return pull_varnos(nullptr, expression);
}

} // namespace dp::border
