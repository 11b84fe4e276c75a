// Keeps what was denied, and why, for controllers alone: dp_rdr.denial. Written with the charges of a batch, under the lock of its odometer;
// it raises nothing, waits for no other lock and sends no notice, so that no denial costs another request of the batch its answer.
#pragma once

#include "catalog/ledger.hpp"

namespace dp::catalog {

// Denials of one table in a batch, equal ones counted together.
struct Denials {
    List *different; // of Denied *
    int64 before;    // all that the odometer had counted before this batch
};

// Notes one more, with the limit that it was. `denial` is never `none`. pure: what was asked would be charged as pure epsilon.
void add_denial(Denials *denials, const Charge &what, const privacy::BoundSettings &bound, privacy::Denial denial,
                bool pure);

// At the end of the batch.
void write_denials(const border::Spi &spi, const char *id, const Denials &denials);

} // namespace dp::catalog
