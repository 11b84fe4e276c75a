// Rows of the controller's results as JSON.
#pragma once

#include "border/postgres.hpp"

namespace dp::sql {

// How the columns of a result are shown; made in memory that lives as long as the rows are read.
struct JsonColumns {
    TupleDesc desc;
    FmgrInfo *texts;
    bool *as_text; // a column of a type that is not the server's own
};

JsonColumns json_columns(TupleDesc desc);
// One row as the text of a JSON object.
char *row_json(const JsonColumns &columns, const Datum *values, const bool *nulls);
Datum row_jsonb(const JsonColumns &columns, const Datum *values, const bool *nulls);

} // namespace dp::sql
