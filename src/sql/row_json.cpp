#include "sql/row_json.hpp"

#include "border/versions.hpp"

namespace dp::sql {

// row_to_json() calls the cast to json that a user has made for a type of his own, also within arrays and records, with
// the rights of whoever looks: a superuser, for instance. The output functions of types are in C.
static bool may_have_cast(Oid type) {
    Oid base = getBaseType(type), element = get_element_type(base);
    base = OidIsValid(element) ? getBaseType(element) : base;
    return base >= FirstNormalObjectId || base == RECORDOID;
}

JsonColumns json_columns(TupleDesc desc) {
    JsonColumns columns = {CreateTupleDescCopy(desc), static_cast<FmgrInfo *>(palloc0(sizeof(FmgrInfo) * desc->natts)),
                           static_cast<bool *>(palloc0(desc->natts))};
    for (int i = 0; i < desc->natts; i++) {
        Form_pg_attribute column = TupleDescAttr(desc, i);
        border::forget_offset(columns.desc, i); // it is that of a row without these texts
        columns.as_text[i] = may_have_cast(column->atttypid);
        if (!columns.as_text[i])
            continue;
        Oid output;
        bool is_varlena;
        getTypeOutputInfo(column->atttypid, &output, &is_varlena);
        fmgr_info(output, &columns.texts[i]);
        TupleDescInitEntry(columns.desc, i + 1, NameStr(column->attname), TEXTOID, -1, 0);
    }
    columns.desc->tdtypeid = RECORDOID;
    columns.desc->tdtypmod = -1;
    BlessTupleDesc(columns.desc);
    return columns;
}

char *row_json(const JsonColumns &columns, const Datum *values, const bool *nulls) {
    auto *shown = static_cast<Datum *>(palloc(sizeof(Datum) * (columns.desc->natts + 1)));
    for (int i = 0; i < columns.desc->natts; i++)
        shown[i] = columns.as_text[i] && !nulls[i]
                       ? CStringGetTextDatum(OutputFunctionCall(&columns.texts[i], values[i]))
                       : values[i];
    HeapTuple tuple = heap_form_tuple(columns.desc, shown, const_cast<bool *>(nulls));
    return TextDatumGetCString(DirectFunctionCall1(row_to_json, HeapTupleGetDatum(tuple)));
}

Datum row_jsonb(const JsonColumns &columns, const Datum *values, const bool *nulls) {
    return DirectFunctionCall1(jsonb_in, CStringGetDatum(row_json(columns, values, nulls)));
}

} // namespace dp::sql
