// Per-instance sensitivities of all individuals without running the query n times (architecture.md, 6; formulas.md, 1.4).
// For the controller alone: everything here depends on the private rows.
#pragma once

#include "privacy/risk.hpp"

#include "release/question.hpp"

namespace dp::release {

// One distinct projected record and its multiplicity.
struct Record {
    int64 individuals;
    double pis;
    Datum *columns; // of Memo::desc; null without keep_records
    bool *nulls;
};

struct Memo {
    int64 rows;           // n: rows of the protected table
    int64 groups_present; // groups of the query's result
    int64 smallest_group; // fewest contributing rows of any group and AVG argument (0: none)
    int64 nrecords;
    Record *records; // records inside the WHERE, in no order
    int64 outside;   // rows outside the WHERE: PIS 0
    TupleDesc desc;  // of the projected columns, with their names
    const privacy::PisProfile *profile;
};

// calibration: `sound` measures the vector that is released (8.6), `published` the aggregates themselves (1.4).
// keep_records: project every column that the query mentions and keep the records (dp_risk_records); otherwise only what
// the sensitivities need. Runs through SPI as the table's owner.
Memo *leave_one_out(const Question *question, privacy::Mechanism mechanism, privacy::Calibration calibration,
                    bool keep_records);

// k_j and D_j of the released vector, for the noise term N(eps): all declared groups count.
std::vector<privacy::NoiseMeasure> noise_measures(const Question *question);

} // namespace dp::release
