// An answer as the controller's procedures return it.
#pragma once

#include "release/release.hpp"

namespace dp::sql {

// (epsilon, answer): a row of the procedure's result type; the answer's rows as a JSON array of objects; NULL where that
// would take too much memory: then they are in the cursor dp_answer. Ends their store.
Datum epsilon_and_answer(FunctionCallInfo fcinfo, const release::Answer *answer);
// Returns the answers of several questions: the sum of their epsilons, and an object with the rows of each by its number. NULL for what was not
// answered, or is in the cursor dp_answer_1 and so on. Ends their stores.
Datum epsilon_and_answers(FunctionCallInfo fcinfo, const release::Answer *answers, int n);

} // namespace dp::sql
