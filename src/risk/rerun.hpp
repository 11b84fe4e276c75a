// Leave-one-out by running the query again, once without each distinct record.
#pragma once

#include "risk/general.hpp"

namespace dp::risk {

GeneralRisk rerun_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                       const char *caller);

// The result itself: rows in the order of what tells them apart.
struct ResultRow {
    Datum *identities; // per column that is no coordinate, in order
    bool *nulls;
    double *values; // per coordinate, NULL replaced
};
struct Result {
    int64 nrows;
    ResultRow *rows;
};
Result run_once(const GeneralQuestion *question);

} // namespace dp::risk
