// Adds up what people bear: of one statement after another, person by person.
#pragma once

#include "privacy/personal_loss.hpp"

#include "border/guard.hpp"
#include "rows/question.hpp"

namespace dp::risk {

// Holds a question that was asked, and what was charged for it.
struct AskedQuestion {
    const rows::Question *question; // with the cells that were charged
    privacy::Mechanism mechanism;   // under which it was made
    privacy::Charged charged;
};

// Describes what tells a person from others: the columns of the unit, or table and place of a row.
TupleDesc person_key(const rows::Question *question);

// Sorts people, each with numbers, on disk beyond work_mem.
struct LossSort {
    int nkeys, nnumbers;
    TupleDesc desc;
    Tuplesortstate *sort;
    TupleTableSlot *in, *out;
};
// by_key: else by the first number and the last one. largest: these first, and no more of them are wanted; 0: the smallest first.
LossSort begin_loss_sort(TupleDesc key, int nnumbers, bool by_key, int largest);
// key: null for nobody.
void put_in_sort(LossSort *sort, const Datum *key, const double *numbers);
// Returns the next one's key, which lives until the call after this one; null: there is none. nobody: it is nobody's.
const Datum *next_of_sort(LossSort *sort, double *numbers, bool *nobody);

// Takes a person who bears something, in memory that is reset behind it.
using TakeLoss = void (*)(void *sink, const Datum *key, const privacy::PersonLoss &loss);

// Joins the parts of one person that several statements bring.
struct LossSums {
    LossSort *sort; // null: one statement brings all of everybody
    int nkeys;
    TakeLoss take;
    void *sink;
    int64 people; // that were given to take
};
void add_part_of_loss(LossSums *sums, const Datum *key, const privacy::PersonLoss &loss);
void end_losses(LossSums *sums);

// Adds to a share what somebody brings to one measure: the l1 norm of it, and the square of its l2 norm.
void add_measure(const AskedQuestion &asked, int measure, double norm, double square, privacy::Share *share);

// Reads rows that are people, or people's only ones, for questions about one table: all in one scan. Returns how many there are.
int64 read_losses_of_rows(const rows::Question *table, const List *asked, LossSums *sums);

} // namespace dp::risk
