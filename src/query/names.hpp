// What a leaf's text may name, looked at before it is analysed: analysis reads literals, and runs the code behind their types.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// 0A000 for a type, function, operator or collation that is not the server's own; enums may be named. `statement` is raw.
void check_names(RawStmt *statement);

} // namespace dp::query
