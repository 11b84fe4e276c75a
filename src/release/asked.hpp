// Writes and reads questions of requests, as they are stored beside the text of their leaf (architecture.md, 3.11).
#pragma once

#include "border/scope.hpp"
#include "catalog/requests.hpp"
#include "release/ask.hpp"

namespace dp::release {

// Appends what is stored of a question beside its text, as JSON: its parameters' values, its time zone, and whether the answer may
// depend on that, and which columns of the leaf (from 0) come in which order. Under pinned settings: texts that mean the same in another process.
void write_parameters(StringInfo json, const Ask &ask, bool zoned, const int *columns, int ncolumns);
// Returns the question as its requester asked it. As him.
Ask ask_of(const catalog::Requested &request, const Decision *decision);

// Returns the columns of its answer among the outputs of the leaf, from 0.
int *columns_of(const catalog::Requested &request, const query::Leaf *leaf, int *n);
// 55000 where the question is not the one that was shown, or the columns of its answer have other types than the requester was told.
void check_same(const catalog::Requested &request, const rows::Question *question);
Oid type_of(const query::Leaf *leaf, const query::Output &output);
// Returns how a type of a column is written down, under pinned settings.
const char *type_text(Oid type);

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
