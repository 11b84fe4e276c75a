// Reads what each person bears of the charges so far (formulas.md 5.8): rows, or units. For the controller alone: all of it depends on
// the private rows.
#pragma once

#include "risk/loss_sums.hpp"

namespace dp::risk {

// Gives each person who bears something to `take`, once, with a key as person_key() describes it, and returns how many people there are
// beside them. people: a question about the table whose people they are. asked: AskedQuestion *; other people than these are in none of
// them. Errors: 0A000 for rows on other servers, 55P03.
int64 read_losses(const rows::Question *people, const List *asked, TakeLoss take, void *sink);

} // namespace dp::risk
