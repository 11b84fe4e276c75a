#include "border/spi.hpp"

#include "border/scope.hpp"

namespace dp::border {

// Set last: an error on the way leaves no plan, and the next run prepares one. Parsed under the pinned search_path, which
// is also part of what makes a kept plan valid.
static void prepare(Statement &statement, int nargs, Oid *types) {
    SPIPlanPtr plan = SPI_prepare_cursor(statement.text, nargs, types, CURSOR_OPT_GENERIC_PLAN);
    if (plan == nullptr)
        elog(ERROR, "SPI_prepare failed: %s", SPI_result_code_string(SPI_result));
    if (SPI_keepplan(plan) != 0)
        elog(ERROR, "SPI_keepplan failed");
    statement.plan = plan;
}

Spi Spi::connect() {
    Spi spi{CurrentMemoryContext, false};
    int rc = SPI_connect();
    if (rc != SPI_OK_CONNECT)
        elog(ERROR, "SPI_connect failed: %s", SPI_result_code_string(rc));
    return spi;
}

void Spi::finish() const {
    SPI_finish();
    MemoryContextSwitchTo(caller);
}

uint64 Spi::run(const char *sql, bool read_only, int nargs, Oid *types, Datum *values, const char *nulls) const {
    prefer_indexes(by_keys);
    int rc = SPI_execute_with_args(sql, nargs, types, values, nulls, read_only, 0);
    if (rc < 0)
        elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
    return SPI_processed;
}

// Statements with a kept plan go by the keys of the tables, however small these were when they were planned.
uint64 Spi::run(Statement &statement, bool read_only, int nargs, Oid *types, Datum *values, const char *nulls) const {
    prefer_indexes(true);
    if (statement.plan == nullptr)
        prepare(statement, nargs, types);
    int rc = SPI_execute_plan(statement.plan, values, nulls, read_only, 0);
    if (rc < 0)
        elog(ERROR, "SPI_execute_plan failed: %s", SPI_result_code_string(rc));
    return SPI_processed;
}

Datum Spi::value(uint64 row, int column, bool *isnull) {
    return SPI_getbinval(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column, isnull);
}

char *Spi::text(uint64 row, int column) const {
    char *value = SPI_getvalue(SPI_tuptable->vals[row], SPI_tuptable->tupdesc, column);
    return value == nullptr ? nullptr : MemoryContextStrdup(caller, value);
}

} // namespace dp::border
