#include "release/fetched.hpp"

#include "border/versions.hpp"
#include "catalog/foreign_code.hpp"

namespace dp::release {

Datum *texts_in(ArrayType *array, int *n, bool **nulls) {
    Datum *elements;
    deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements, nulls, n);
    return elements;
}

Oid type_kept(Datum name) {
    Oid type = border::type_if_any(TextDatumGetCString(name));
    return OidIsValid(type) ? type : TEXTOID;
}

TupleDesc fetched_columns(const catalog::Requested &request) {
    border::SettingsScope settings = border::SettingsScope::enter();
    int n, nnames;
    bool *nulls;
    Datum *types = texts_in(request.types, &n, &nulls), *names = texts_in(request.names, &nnames, &nulls);
    TupleDesc desc = CreateTemplateTupleDesc(n);
    for (int i = 0; i < n; i++)
        TupleDescInitEntry(desc, i + 1, TextDatumGetCString(names[i]), type_kept(types[i]), -1, 0);
    settings.leave();
    return BlessTupleDesc(desc);
}

// A type that has the name of one that was dropped is read with the rights of whoever fetches: nobody's code must run then.
static Oid read_as(Oid type) {
    if (catalog::input_runs_code(type))
        refuse_state(psprintf("type %s is another one than that of the answer", format_type_be(type)));
    return getBaseType(type);
}

FetchedReader FetchedReader::open(const catalog::Requested &request, TupleDesc desc) {
    FetchedReader reader = {};
    int ntexts, n = reader.ncolumns = desc->natts;
    reader.texts = texts_in(request.rows, &ntexts, &reader.missing);
    reader.nrows = n > 0 ? ntexts / n : 0;
    reader.inputs = static_cast<FmgrInfo *>(palloc0(sizeof(FmgrInfo) * (n + 1)));
    reader.parameters = static_cast<Oid *>(palloc0(sizeof(Oid) * (n + 1)));
    for (int i = 0; i < n; i++) {
        Oid input;
        getTypeInputInfo(read_as(TupleDescAttr(desc, i)->atttypid), &input, &reader.parameters[i]);
        fmgr_info(input, &reader.inputs[i]);
    }
    return reader;
}

void FetchedReader::read(int row, Datum *values, bool *nulls) const {
    for (int i = 0; i < ncolumns; i++) {
        int at = row * ncolumns + i;
        nulls[i] = missing[at];
        values[i] = Datum{0};
        if (!nulls[i])
            values[i] = InputFunctionCall(const_cast<FmgrInfo *>(&inputs[i]), TextDatumGetCString(texts[at]),
                                          parameters[i], -1);
    }
}

} // namespace dp::release
