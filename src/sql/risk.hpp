// What the calls that show risk share: their arguments, and what the noise of one candidate means.
#pragma once

#include "privacy/risk_exact.hpp"

#include "risk/leave_one_out.hpp"

namespace dp::sql {

// What is looked at, and how.
struct View {
    rows::Question *question;
    privacy::Mechanism mechanism;
    privacy::Calibration calibration;
    bool exact;
    bool has_delta;
    privacy::Delta delta;
};

// The query of the call and the arguments at these positions; sound calibration, bounds of the RDR. Errors: those of
// controllers_question.
View view_of(FunctionCallInfo fcinfo, int mechanism, int delta);

struct Noise {
    double term;   // what joins the PIS in an RDR (risk_row)
    double stddev; // largest of any aggregate, in its own unit
    double error95;
};
Noise noise_of(const View &view, const risk::Memo *memo, privacy::Epsilon epsilon);

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

// Two numbers of a record, or of people outside the WHERE (record memo->nrecords): columns 3 and 4 of the result.
struct RecordNumbers {
    void (*of)(void *context, int64 record, double *third, double *fourth);
    void *context;
    bool has_fourth; // else NULL
};
// (record, individuals, third, fourth), riskiest first: by numbers `by` (0 or 1), then by the others; people outside last. The
// memo has Detail::records. What does not fit into work_mem is sorted on disk.
void put_records(ReturnSetInfo *result, const risk::Memo *memo, const RecordNumbers &numbers, int by);

} // namespace dp::sql
