// Reads what each person bears of the charges so far (formulas.md 5.8): rows, or units. For the controller alone: all of it depends on
// the private rows.
#pragma once

#include "privacy/personal_loss.hpp"

#include "border/guard.hpp"
#include "rows/question.hpp"

namespace dp::risk {

// Holds a question that was asked, and what was charged for it.
struct AskedQuestion {
    const rows::Question *question;
    privacy::Mechanism mechanism; // under which it was made
    privacy::Charged charged;
};

// Takes a person who bears something, in memory that is reset behind it. key: in the columns of person_key().
using TakeLoss = void (*)(void *sink, const Datum *key, const privacy::PersonLoss &loss);

// Describes what tells a person from others: the columns of the unit, or table and place of a row.
TupleDesc person_key(const rows::Question *question);

// Gives each person who bears something to `take`, once, and returns how many people there are beside them. people: a question about
// the table whose people they are. asked: AskedQuestion *; other people than these are in none of them. Errors: 0A000 for rows on
// other servers, 55P03.
int64 read_losses(const rows::Question *people, const List *asked, TakeLoss take, void *sink);

} // namespace dp::risk
