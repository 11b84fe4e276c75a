// Adds up what people bear: of one statement after another, person by person.
#pragma once

#include "risk/loss.hpp"

namespace dp::risk {

// Joins the parts of one person that several statements bring.
struct LossSums {
    TupleDesc desc; // the key, and the numbers of a loss
    int nkeys;
    Tuplesortstate *sort; // null: one statement brings all of everybody
    TakeLoss take;
    void *sink;
    int64 people; // that were given to take
};

constexpr int loss_numbers = sizeof(privacy::PersonLoss) / sizeof(double);

LossSums begin_losses(const rows::Question *people, bool joined, TakeLoss take, void *sink);
// Adds a part of a loss. The key is of types of the question whose rows they are.
void add_part_of_loss(LossSums *sums, const Datum *key, const privacy::PersonLoss &loss);
void end_losses(LossSums *sums);

// Adds to a share what somebody brings to one measure: the l1 norm of it, and the square of its l2 norm.
void add_measure(const AskedQuestion &asked, int measure, double norm, double square, privacy::Share *share);

// Reads rows that are people, or people's only ones, for questions about one table: all in one scan. Returns how many there are.
int64 read_losses_of_rows(const rows::Question *table, const List *asked, LossSums *sums);
// Reads units for questions about the same rows.
void read_losses_of_units(const List *asked, LossSums *sums);

} // namespace dp::risk
