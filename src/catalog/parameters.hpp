// Passes values to statements as parameters of the types that they have.
#pragma once

#include <optional>

#include "catalog/access.hpp"
#include "catalog/json_text.hpp"

namespace dp::catalog {

// Hold values whose SQL type their C++ type does not say. What is null, or a Datum of 0, is NULL.
struct Uuid {
    const char *text;
};
struct Json {
    const char *text;
};
struct Moment {
    TimestampTz at;
};
struct Typed {
    Oid type;
    Datum value; // a varlena
    static Typed array(Oid type, const ArrayType *array) { return {type, PointerGetDatum(array)}; }
};

struct Parameters {
    static constexpr int capacity = 52;
    Oid types[capacity];
    Datum values[capacity];
    char nulls[capacity];
    int n = 0;

    template <class... T> static Parameters of(const T &...values) {
        Parameters parameters;
        (parameters.add(values), ...);
        return parameters;
    }

    void add(Oid type, Datum value, bool isnull = false) {
        Assert(n < capacity);
        types[n] = type;
        values[n] = value;
        nulls[n++] = isnull ? 'n' : ' ';
    }
    void add(const char *text) {
        add(TEXTOID, text == nullptr ? Datum{0} : CStringGetTextDatum(text), text == nullptr);
    }
    void add(Oid oid) { add(OIDOID, ObjectIdGetDatum(oid)); }
    void add(int32 number) { add(INT4OID, Int32GetDatum(number)); }
    void add(int64 number) { add(INT8OID, Int64GetDatum(number)); }
    void add(bool value) { add(BOOLOID, BoolGetDatum(value)); }
    void add(double value) { add(FLOAT8OID, Float8GetDatum(value)); }
    void add(const pg_uuid_t &uuid) { add(UUIDOID, UUIDPGetDatum(&uuid)); }
    void add(Uuid uuid) { add(UUIDOID, DirectFunctionCall1(uuid_in, CStringGetDatum(uuid.text))); }
    void add(Moment moment) { add(TIMESTAMPTZOID, TimestampTzGetDatum(moment.at)); }
    void add(Typed value) { add(value.type, value.value, value.value == Datum{0}); }
    void add(Json json) { add(JSONBOID, json.text == nullptr ? Datum{0} : jsonb_of(json.text), json.text == nullptr); }
    template <int Places> void add(privacy::Decimal<Places> value) { add(NUMERICOID, to_numeric(value)); }
    template <class T> void add(const std::optional<T> &value) {
        add(value.value_or(T()));
        nulls[n - 1] = value ? ' ' : 'n';
    }
    template <class T> void add(const T *) = delete; // it would be taken for a bool
};

// Returns a value, or none.
template <class T> std::optional<T> if_given(bool given, T value) {
    return given ? std::optional<T>(value) : std::nullopt;
}

// Runs a statement of the writer.
inline uint64 run(const border::Spi &spi, border::Statement &statement, Parameters &parameters) {
    return spi.run(statement, false, parameters.n, parameters.types, parameters.values, parameters.nulls);
}
template <class... T> uint64 run(const border::Spi &spi, border::Statement &statement, const T &...values) {
    Parameters parameters = Parameters::of(values...);
    return run(spi, statement, parameters);
}

// Runs a text, or a statement, of a visit.
template <class Sql, class... T> uint64 run(const Visit &visit, Sql &&sql, const T &...values) {
    Parameters parameters = Parameters::of(values...);
    return visit.run(sql, parameters.n, parameters.types, parameters.values, parameters.nulls);
}

// Returns a value of the last result, by row from 0 and column from 1; T() for NULL.
template <class T> T value_at(uint64 row, int column) {
    bool isnull;
    const Datum value = border::Spi::value(row, column, &isnull);
    if constexpr (std::is_same_v<T, double>)
        return isnull ? 0 : DatumGetFloat8(value);
    else
        return isnull ? T() : static_cast<T>(value);
}

} // namespace dp::catalog
