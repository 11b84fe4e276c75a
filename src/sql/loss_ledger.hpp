// Reads what the answers so far can have told about each person of a table, for its owner alone (formulas.md 5.8).
#pragma once

#include "risk/loss.hpp"
#include "sql/ledger_pages.hpp"

namespace dp::sql {

// Says what losses are turned into numbers with.
struct LossTerms {
    bool given; // the caller has passed a delta
    privacy::Delta delta;
    double target;
    privacy::PersonLoss in_full; // what counts for everybody
    double odometer, odometer_delta; // what is known of all
    double total;                    // of epsilon; 0: there is none
};

struct LossRow {
    double epsilon, rho, delta, conditional, answers;
};
LossRow row_of_loss(const LossTerms &terms, const privacy::PersonLoss &part);

struct LossQuestions {
    const rows::Question *people; // about the table whose people they are
    List *asked;                  // of risk::read_losses
    int64 charges;
};
// Reads the ledger of a table and the questions in it, and completes the terms. A NOTICE says how many charges count in full. Errors:
// 55000; 22023 for a delta of 0.
LossQuestions read_losses_of(const ProtectedTable &table, LossTerms *terms);

} // namespace dp::sql
