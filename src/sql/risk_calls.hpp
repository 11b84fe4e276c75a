// Declares what the calls that show risk share: their arguments, and the noise of one candidate.
#pragma once

#include "release/terms.hpp"
#include "risk/leave_one_row_out.hpp"
#include "sql/risk_rows.hpp"
#include "sql/statement_leaves.hpp"

namespace dp::sql {

// Says what is looked at, and how.
struct View {
    rows::Question *question;
    privacy::Mechanism mechanism;
    privacy::Calibration calibration;
    bool exact;
    bool has_delta;
    privacy::Delta delta;
};

// A leaf of the statement and the arguments at these positions; sound calibration, bounds of the RDR. Errors: those of leaf_question.
View view_of(FunctionCallInfo fcinfo, const Statement &statement, int mechanism, int delta, int leaf);

Noise noise_of(const View &view, const risk::Memo *memo, privacy::Epsilon epsilon);
// Returns the stddev and error95 of one aggregate; sound calibration.
Noise noise_of_number(const View &view, const risk::Memo *memo, privacy::Epsilon epsilon, int aggregate);

// Whether the argument and the one behind it name two groups of people; 22023 for one of them alone.
bool has_groups(FunctionCallInfo fcinfo, int argument);
// Reads them as conditions over the table of a question, if they are there.
void read_groups(FunctionCallInfo fcinfo, int argument, const rows::Question *question, release::Terms *terms);
// Returns the rho of the noise at an epsilon, as numeric.
Datum rho_of(const View &view, privacy::Epsilon epsilon);

// 55000 for a table without rows: an RDR is somebody's.
void check_not_empty(const risk::Memo *memo);

// Four significant digits: what a person compares.
double rounded(double value);
// The exact numbers of the answer, and how many there are.
struct Truth {
    int64 n;
    double smallest, largest;
};
Truth truth_of(const View &view, risk::Memo *memo);
// One number: where 95 of 100 answers are. Several: how many there are, and from where to where the exact ones go.
const char *range_text(const Truth &truth, double error95);

} // namespace dp::sql
