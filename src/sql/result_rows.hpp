// Rows of a function that returns a set, or the one that it returns.
#pragma once

#include "border/guard.hpp"
#include "catalog/parameters.hpp"

namespace dp::sql {

// Collects the rows of a set. Values are those of catalog/parameters: a missing optional one and a null text are NULL.
class ResultRows {
  public:
    explicit ResultRows(FunctionCallInfo fcinfo);
    // Sets a column of the next row, by its name. One that nobody sets is NULL.
    template <class T> void set(const char *column, const T &value) const {
        set_one(column, catalog::Parameters::of(value));
    }
    // Puts the row that was set.
    void put() const;
    // Puts a row of these values, which are the first columns.
    template <class... T> void put(const T &...values) const { put_row(catalog::Parameters::of(values...)); }
    // Puts the rows of the last statement, whose columns have the types of the result's.
    void put_as_they_are(uint64 rows) const;
    // Puts the rows of the last statement, whose columns are shown as text.
    void put_all(const catalog::Visit &visit, uint64 rows) const;

  private:
    void set_one(const char *column, const catalog::Parameters &value) const;
    void put_row(const catalog::Parameters &row) const;
    void clear() const;
    ReturnSetInfo *result_;
    Datum *values_;
    bool *nulls_;
};

Datum record_of(FunctionCallInfo fcinfo, const catalog::Parameters &row);
// Returns the row of a function, or procedure, that has these columns.
template <class... T> Datum record(FunctionCallInfo fcinfo, const T &...values) {
    return record_of(fcinfo, catalog::Parameters::of(values...));
}

// ---- as JSON --------------------------------------------------------------------------------------------------------

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
