// Rows of a function that returns a set: each column is set by its name, what is not set is NULL.
#pragma once

#include <initializer_list>

#include "border/guard.hpp"
#include "catalog/access.hpp"

namespace dp::sql {

class ResultRows {
  public:
    explicit ResultRows(FunctionCallInfo fcinfo);
    void set(const char *column, Datum value) const;
    void set(const char *column, const char *text) const; // null: the column stays NULL
    void put() const;                                     // the row that was set; the next one begins without a value
    void put(std::initializer_list<const char *> texts) const;
    // Puts all rows of a statement, whose columns are text.
    void put_all(const catalog::Visit &visit, const char *sql, int nargs, Oid *types, Datum *values) const;

  private:
    void clear() const;
    ReturnSetInfo *result_;
    Datum *values_;
    bool *nulls_;
};

} // namespace dp::sql
