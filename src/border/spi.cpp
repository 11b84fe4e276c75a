#include "border/spi.hpp"

namespace dp::border {

Spi Spi::connect() {
    Spi spi{CurrentMemoryContext};
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
    int rc = SPI_execute_with_args(sql, nargs, types, values, nulls, read_only, 0);
    if (rc < 0)
        elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(rc));
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
