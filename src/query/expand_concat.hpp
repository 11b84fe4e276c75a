// Functions that say what others say: what meets a row knows only those.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// concat and concat_ws.
bool is_concatenation(Oid function);

// Returns the hint for an argument whose cast to text is not what concat shows of it; null: there is no such argument.
const char *concatenation_remedy(const List *arguments);

// concat(x, ...) as coalesce(x::text, '') || ..., and concat_ws('-', x, ...) the same with the constant before each that is there.
// Constants beside each other become one. Null: the node is none, or there are no such words for it. Raises 54000 for a constant that
// is too long.
Node *in_other_words(Node *node);

} // namespace dp::query
