// Returns records and what they risk as rows of a set-returning function.
#pragma once

#include "border/guard.hpp"
#include "risk/exact_risk.hpp"

namespace dp::sql {

struct Noise {
    double term;   // what joins the PIS in an RDR (risk_row)
    double stddev; // largest of any aggregate, in its own unit
    double error95;
};
// Holds what a candidate would meet in a selection by tau_var (formulas.md 3.3).
struct Tested {
    bool known;         // sensitivity and accept
    double statistic;   // G_j; `published`: the variance itself
    double sensitivity; // Delta_G,j
    double accept;      // probability, for this candidate alone
};
// Holds a row of dp_risk. epsilon, rho: numeric.
struct Candidate {
    Datum epsilon, rho;
    bool general; // of a general query: what follows is NULL
    bool has_rho, has_statistic;
    privacy::RiskRow row;
    Noise noise;
    Tested tested;
    int leaf;
    double error; // part of the noise
    bool has_medians;
    double median_a, median_b;
};
void put_candidate(ReturnSetInfo *result, const Candidate &candidate);

// Holds what the indicator of one record is computed from.
struct Indicator {
    const risk::Memo *memo;
    privacy::Mechanism mechanism;
    double term;            // of the bound's
    risk::ExactRisks risks; // if it is exact
};
// Returns the PIS and the RDR (RecordNumbers).
void risks_of_record(void *indicator, int64 record, double *pis, double *rdr);

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
