// Parameters of a kept statement of the writer.
#pragma once

#include "border/spi.hpp"
#include "catalog/decimals.hpp"

namespace dp::catalog {

struct Parameters {
    static constexpr int capacity = 40;
    Oid types[capacity];
    Datum values[capacity];
    char nulls[capacity];
    int n = 0;

    void add(Oid type, Datum value, bool isnull = false) {
        Assert(n < capacity);
        types[n] = type;
        values[n] = value;
        nulls[n++] = isnull ? 'n' : ' ';
    }
    void add_text(const char *text) {
        add(TEXTOID, text == nullptr ? Datum{0} : CStringGetTextDatum(text), text == nullptr);
    }
    void add_oid(Oid oid) { add(OIDOID, ObjectIdGetDatum(oid)); }
    void add_uuid(const char *text) { add(UUIDOID, DirectFunctionCall1(uuid_in, CStringGetDatum(text))); }
    void add_number(int32 number) { add(INT4OID, Int32GetDatum(number)); }
    void add_bool(bool value) { add(BOOLOID, BoolGetDatum(value)); }
    void add_count(int64 count) { add(INT8OID, Int64GetDatum(count)); }
    template <int Places> void add_numeric(privacy::Decimal<Places> value) { add(NUMERICOID, to_numeric(value)); }
    template <int Places> void add_numeric_or_null(privacy::Decimal<Places> value, bool isnull) {
        add(NUMERICOID, isnull ? Datum{0} : to_numeric(value), isnull);
    }
};

inline uint64 run(const border::Spi &spi, border::Statement &statement, Parameters &parameters) {
    return spi.run(statement, false, parameters.n, parameters.types, parameters.values, parameters.nulls);
}

} // namespace dp::catalog
