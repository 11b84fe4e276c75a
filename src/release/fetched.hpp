// The stored answer to a request, as values: its rows are texts that mean the same after a dump.
#pragma once

#include "border/scope.hpp"
#include "catalog/requests.hpp"

namespace dp::release {

// Returns the elements of a text[].
Datum *texts_in(ArrayType *array, int *n, bool **nulls);

// The type of this name; what has none any more is given as the text that it is kept as. Under pinned settings.
Oid type_kept(Datum name);

// Its columns: names, and types as they are now.
TupleDesc fetched_columns(const catalog::Requested &request);

// How its texts are read; as of base types, since what is stored was a value of a domain already.
struct FetchedReader {
    int ncolumns, nrows;
    Datum *texts;
    bool *missing;
    FmgrInfo *inputs;
    Oid *parameters;

    // Under pinned settings. desc: of these types. 55000 for a type that is another one under the same name.
    static FetchedReader open(const catalog::Requested &request, TupleDesc desc);
    void read(int row, Datum *values, bool *nulls) const;
};

// put(values, nulls) for each row.
template <class Put> void each_fetched_row(const catalog::Requested &request, TupleDesc desc, Put &&put) {
    border::SettingsScope settings = border::SettingsScope::enter();
    FetchedReader reader = FetchedReader::open(request, desc);
    auto *values = static_cast<Datum *>(palloc0(sizeof(Datum) * (reader.ncolumns + 1)));
    auto *nulls = static_cast<bool *>(palloc0(sizeof(bool) * (reader.ncolumns + 1)));
    for (int row = 0; row < reader.nrows; row++) {
        CHECK_FOR_INTERRUPTS();
        reader.read(row, values, nulls);
        put(values, nulls);
    }
    settings.leave();
}

} // namespace dp::release
