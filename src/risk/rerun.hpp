// Leave-one-out by running the query again, once without each distinct record.
#pragma once

#include "risk/records.hpp"

namespace dp::risk {

GeneralRisk rerun_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                       const char *caller);

} // namespace dp::risk
