// The statements that dp_draft runs on the catalogs. Their rows are lines of a script: part, whether it is a comment, text, and the
// variable that is open.
#pragma once

namespace dp::sql {

extern const char *const units_sql; // which table may be that of the people
extern const char *const draft_sql; // everything else

} // namespace dp::sql
