// Casts between texts and dates, as calls that name the asker's DateStyle (query/date_style).
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Replaces casts of columns between texts and dates or timestamps by calls that name the session's DateStyle.
Query *with_date_style(Query *query);

} // namespace dp::query
