#include "sql/result_rows.hpp"
#include "border/versions.hpp"

namespace dp::sql {

ResultRows::ResultRows(FunctionCallInfo fcinfo) {
    InitMaterializedSRF(fcinfo, 0);
    result_ = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    values_ = static_cast<Datum *>(palloc0(sizeof(Datum) * result_->setDesc->natts));
    nulls_ = static_cast<bool *>(palloc(result_->setDesc->natts));
    clear();
}

void ResultRows::clear() const {
    memset(nulls_, true, result_->setDesc->natts);
}

void ResultRows::set_one(const char *column, const catalog::Parameters &value) const {
    const int number = SPI_fnumber(result_->setDesc, column);
    if (number <= 0)
        elog(ERROR, "no column \"%s\"", column);
    values_[number - 1] = value.values[0];
    nulls_[number - 1] = value.nulls[0] == 'n';
}

void ResultRows::put() const {
    tuplestore_putvalues(result_->setResult, result_->setDesc, values_, nulls_);
    clear();
}

void ResultRows::put_row(const catalog::Parameters &row) const {
    for (int i = 0; i < row.n; i++) {
        values_[i] = row.values[i];
        nulls_[i] = row.nulls[i] == 'n';
    }
    put();
}

void ResultRows::put_as_they_are(uint64 rows) const {
    for (uint64 row = 0; row < rows; row++)
        tuplestore_puttuple(result_->setResult, SPI_tuptable->vals[row]);
}

void ResultRows::put_all(const catalog::Visit &visit, uint64 rows) const {
    for (uint64 row = 0; row < rows; row++) {
        for (int i = 0; i < result_->setDesc->natts; i++) {
            const char *text = visit.spi.text(row, i + 1);
            nulls_[i] = text == nullptr;
            values_[i] = text == nullptr ? Datum{0} : CStringGetTextDatum(text);
        }
        put();
    }
}

Datum record_of(FunctionCallInfo fcinfo, const catalog::Parameters &row) {
    TupleDesc columns;
    if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE || columns->natts != row.n)
        elog(ERROR, "the function must return a row of %d columns", row.n);
    Datum values[catalog::Parameters::capacity];
    bool nulls[catalog::Parameters::capacity];
    for (int i = 0; i < row.n; i++) {
        values[i] = row.values[i];
        nulls[i] = row.nulls[i] == 'n';
    }
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

// ---- as JSON --------------------------------------------------------------------------------------------------------

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
