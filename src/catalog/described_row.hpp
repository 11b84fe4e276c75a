// Describes rows of the extension's tables once: the names of columns beside the members of a struct.
//
//     template <class V> void fields(V &visit, StoredAnswer &answer) { visit("charged", answer.charged); ... }
// A RowReader sets the members from a row, Columns writes a row of them. A NULL is read into a member that can be without a
// value alone: an optional one, or a pointer, or a varlena (Datum).
#pragma once

#include "catalog/lookup.hpp"
#include "catalog/parameters.hpp"

namespace dp::catalog {

template <class T> constexpr bool is_nullable = std::is_pointer_v<T> || std::is_same_v<T, Datum>;
template <class T> constexpr bool is_nullable<std::optional<T>> = true;

// Sets members from the columns of one row. What they point to is copied.
struct RowReader {
    static constexpr bool reads = true;
    const Row &row;
    const char *prefix = ""; // of all names

    template <class T> void operator()(const char *column, T &member) const {
        const char *name = named(column);
        if constexpr (is_nullable<T>) {
            bool isnull;
            Datum value = row.value(name, &isnull);
            member = T();
            if (!isnull)
                set(value, name, &member);
        } else
            set(row.value(name), name, &member);
    }
    template <class T> void operator()(const char *column, T &member, Oid) const { (*this)(column, member); }
    // Sets an enum from its word, and without one to nothing. XX000 for a word that it does not have.
    template <class Enum>
    void word(const char *column, std::optional<Enum> (*from_name)(const std::string &),
              std::optional<Enum> &member) const {
        const char *word = row.string(named(column));
        member = word == nullptr ? std::nullopt : border::core([&] { return from_name(word); });
        if (word != nullptr && !member)
            elog(ERROR, "unknown %s \"%s\"", column, word);
    }
    // Sets an enum that has to be there.
    template <class Enum>
    void word(const char *column, std::optional<Enum> (*from_name)(const std::string &), Enum &member) const {
        std::optional<Enum> found;
        word(column, from_name, found);
        if (!found)
            elog(ERROR, "column \"%s\" is null", column);
        member = *found;
    }

  private:
    const char *named(const char *column) const { return *prefix == '\0' ? column : psprintf("%s%s", prefix, column); }

    static void set(Datum value, const char *, bool *member) { *member = DatumGetBool(value); }
    static void set(Datum value, const char *, Oid *member) { *member = DatumGetObjectId(value); }
    static void set(Datum value, const char *, int32 *member) { *member = DatumGetInt32(value); }
    static void set(Datum value, const char *, int64 *member) { *member = DatumGetInt64(value); }
    static void set(Datum value, const char *, Moment *member) { member->at = DatumGetTimestampTz(value); }
    static void set(Datum value, const char *, double *member) { *member = DatumGetFloat8(value); }
    static void set(Datum value, const char *, pg_uuid_t *member) { *member = *DatumGetUUIDP(value); }
    static void set(Datum value, const char *name, privacy::Epsilon *member) { *member = to_epsilon_sum(value, name); }
    static void set(Datum value, const char *name, privacy::Rho *member) { *member = to_rho_sum(value, name); }
    static void set(Datum value, const char *name, privacy::Delta *member) { *member = to_delta(value, name); }
    static void set(Datum value, const char *, const char **member) { *member = TextDatumGetCString(value); }
    static void set(Datum value, const char *, ArrayType **member) { *member = DatumGetArrayTypePCopy(value); }
    static void set(Datum value, const char *, Datum *member) {
        *member = PointerGetDatum(PG_DETOAST_DATUM_COPY(value));
    }
    static void set(Datum value, const char *, const Interval **member) {
        *member = DatumGetIntervalP(datumCopy(value, false, sizeof(Interval)));
    }
    template <class T> static void set(Datum value, const char *name, std::optional<T> *member) {
        set(value, name, &member->emplace());
    }
};

// Returns what a risk profile allows: computed when it was set, from its definition, which stands beside it. None without a profile.
std::optional<privacy::Epsilon> allowed_by_profile(const RowReader &row);
// Returns the smaller of two limits, of which each may be missing.
std::optional<privacy::Epsilon> smaller(std::optional<privacy::Epsilon> a, std::optional<privacy::Epsilon> b);

// Collects the columns of a row that is to be written, with their values.
struct Columns {
    static constexpr bool reads = false;
    Parameters values;
    StringInfoData names;

    static Columns begin() {
        Columns columns;
        initStringInfo(&columns.names);
        return columns;
    }
    template <class T> void operator()(const char *column, const T &value) {
        appendStringInfo(&names, "%s%s", names.len == 0 ? "" : ", ", column);
        values.add(value);
    }
    // Takes the SQL type of a member whose C++ type does not say it: a varlena, an array, or a moment.
    template <class T> void operator()(const char *column, T value, Oid type) {
        if constexpr (is_nullable<T>)
            (*this)(column, Typed{type, reinterpret_cast<Datum>(value)});
        else
            (*this)(column, Moment{value});
    }
    // Writes the row. The statement is one for this table and these columns; its text is made when it runs first.
    void insert(const border::Spi &spi, border::Statement &statement, const char *table);
};

} // namespace dp::catalog
