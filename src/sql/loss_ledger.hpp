// Reads what the answers so far can have told about each person of a table, for its owner alone (formulas.md 5.8).
#pragma once

#include "risk/loss.hpp"
#include "sql/ledger_pages.hpp"

namespace dp::sql {

// Says what losses in a table are turned into numbers with.
struct LossTable {
    bool given;                  // the caller has passed a delta
    privacy::Delta delta;
    privacy::LossTerms terms;
    privacy::PersonLoss in_full; // what counts for everybody
    privacy::LossBound odometer; // what is known of all
    double total;                // of epsilon; 0: there is none
};
// Adds what counts for everybody to a person's part, and bounds it.
privacy::LossBound bound_of_person(const LossTable &table, const privacy::PersonLoss &part, privacy::PersonLoss *loss);

struct LossQuestions {
    const rows::Question *people; // about the table whose people they are
    List *asked;                  // of risk::read_losses
    int64 charges;
};
// Reads the ledger of a table and the questions in it, and completes the terms. A NOTICE says how many charges count in full. Errors:
// 55000; 22023 for a delta of 0.
LossQuestions read_losses_of(const ProtectedTable &table, LossTable *terms);

} // namespace dp::sql
