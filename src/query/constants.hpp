// Expressions of constants are evaluated before the charge, one call at a time, and none may make more than a constant may be.
#pragma once

#include "query/total.hpp"

namespace dp::query {

// The expression with parameters replaced by their values, with what is constant evaluated, the stable functions too (none is left to
// be evaluated for some rows only), and with concat in other words (query/spelled). Raises 54000 before a value is made that could be too long.
Node *fold_constants(Node *expression, ParamListInfo parameters);

} // namespace dp::query
