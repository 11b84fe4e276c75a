// Resolves a question where the rows are read, whatever its sender has checked (architecture.md, 3.3).
#pragma once

#include "release/checked.hpp"

namespace dp::release {

// 42501 where the policy permits requests only.
void check_direct(const catalog::Policy &policy, const catalog::Settings &settings);

// Parses and checks the leaf.
query::Leaf *leaf_of(const Ask &ask);
// Parses it, checks its columns, and the caller's SELECT on the view (as the current role). Errors: those of
// query::parse_select and check_leaf; 42804 for other columns; 42501.
query::Leaf *check_ask(const Ask &ask);
// Checks an ask like check_ask, in the asker's process, before a keeper gets it. Evaluates constants that may take long, as the
// current user. Writes their values into the text, or into parameters where it would be too long. Errors: also the constants'.
query::Leaf *check_own_ask(Ask *ask);
// The leaf under the settings and the policy that are committed now, for the current role. Reads no private row. Errors:
// those of rows::prepare, catalog::policy_of, terms_of; 55000 when the asker has changed settings and not committed it.
// drawn: it was charged already, and is answered by a draw.
Checked resolve(const Ask &ask, query::Leaf *leaf, bool drawn);

} // namespace dp::release
