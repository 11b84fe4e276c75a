// What an analyst has: dp_about and dp_remaining.
#include "sql/arguments.hpp"

namespace dp::sql {

DP_CALL(dp_about) {
    require(fcinfo, 0, "view");
    InitMaterializedSRF(fcinfo, 0);
    return Datum(0);
}

DP_CALL(dp_remaining) {
    require(fcinfo, 0, "query");
    return Datum(0);
}

} // namespace dp::sql
