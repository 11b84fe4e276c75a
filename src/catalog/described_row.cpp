#include "catalog/described_row.hpp"

namespace dp::catalog {

void Columns::insert(const border::Spi &spi, border::Statement &statement, const char *table) {
    if (statement.text == nullptr) {
        StringInfo text = makeStringInfo();
        appendStringInfo(text, "INSERT INTO dp_rdr.%s (%s) VALUES (", table, names.data);
        for (int i = 1; i <= values.n; i++)
            appendStringInfo(text, "%s$%d", i == 1 ? "" : ", ", i);
        appendStringInfoChar(text, ')');
        statement.text = MemoryContextStrdup(TopMemoryContext, text->data);
    }
    if (run(spi, statement, values) != 1)
        elog(ERROR, "no row of dp_rdr.%s was written", table);
}

std::optional<privacy::Epsilon> allowed_by_profile(const RowReader &visit) {
    Datum profile;
    visit("profile", profile);
    if (profile == Datum{0})
        return std::nullopt;
    JsonbValue value;
    const JsonbValue *found = getKeyJsonValueFromContainer(&DatumGetJsonbP(profile)->root, "epsilon",
                                                           static_cast<int>(strlen("epsilon")), &value);
    if (found == nullptr || found->type != jbvNumeric)
        elog(ERROR, "a risk profile is stored without its epsilon");
    return to_epsilon(NumericGetDatum(found->val.numeric), "the epsilon of a risk profile");
}

std::optional<privacy::Epsilon> smaller(std::optional<privacy::Epsilon> a, std::optional<privacy::Epsilon> b) {
    return !a ? b : !b ? a : Min(*a, *b);
}

} // namespace dp::catalog
