// Computes how one individual's record moves the result of a general query (architecture.md, 6). The result is computed without each
// distinct record: in closed form where there is one (closed_forms), by running the query again otherwise (rerun).
#pragma once

#include "privacy/declared.hpp"

#include "risk/records.hpp"

namespace dp::risk {

// caller: what pg_stat_activity shows in front of the progress.
GeneralRisk general_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                         const char *caller);

} // namespace dp::risk
