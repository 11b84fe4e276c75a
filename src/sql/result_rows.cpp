#include "sql/result_rows.hpp"

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

void ResultRows::set(const char *column, Datum value) const {
    const int number = SPI_fnumber(result_->setDesc, column);
    if (number <= 0)
        elog(ERROR, "no column \"%s\"", column);
    values_[number - 1] = value;
    nulls_[number - 1] = false;
}

void ResultRows::set(const char *column, const char *text) const {
    if (text != nullptr)
        set(column, CStringGetTextDatum(text));
}

void ResultRows::put() const {
    tuplestore_putvalues(result_->setResult, result_->setDesc, values_, nulls_);
    clear();
}

void ResultRows::put(std::initializer_list<const char *> texts) const {
    int column = 0;
    for (const char *text : texts) {
        nulls_[column] = text == nullptr;
        if (text != nullptr)
            values_[column] = CStringGetTextDatum(text);
        column++;
    }
    put();
}

void ResultRows::put_all(const catalog::Visit &visit, const char *sql, int nargs, Oid *types, Datum *values) const {
    const uint64 rows = visit.run(sql, nargs, types, values);
    for (uint64 row = 0; row < rows; row++) {
        for (int column = 0; column < result_->setDesc->natts; column++) {
            const char *text = visit.spi.text(row, column + 1);
            nulls_[column] = text == nullptr;
            if (text != nullptr)
                values_[column] = CStringGetTextDatum(text);
        }
        put();
    }
}

} // namespace dp::sql
