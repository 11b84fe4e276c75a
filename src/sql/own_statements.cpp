#include "sql/own_statements.hpp"

namespace dp::sql {

using catalog::Visit;

void refuse_row(const Visit &visit, uint64 rows) {
    const char *state = rows == 0 ? nullptr : visit.spi.text(0, 1);
    if (state != nullptr)
        refuse_with(MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]), visit.spi.text(0, 2),
                    visit.spi.text(0, 4), visit.spi.text(0, 3));
}

Reports kept_reports(const Visit &visit, uint64 n) {
    auto **texts = static_cast<char **>(MemoryContextAlloc(visit.spi.caller, sizeof(char *) * (4 * n + 1)));
    for (uint64 i = 0; i < 4 * n; i++)
        texts[i] = visit.spi.text(i / 4, static_cast<int>(i % 4) + 1);
    return Reports{n, texts};
}

void tell(const Reports &reports) {
    for (char **row = reports.texts; row < reports.texts + 4 * reports.n; row += 4)
        ereport(strcmp(row[0], "warning") == 0 ? WARNING : NOTICE,
                (errmsg("%s", row[1]), row[2] == nullptr ? 0 : errdetail("%s", row[2]),
                 row[3] == nullptr ? 0 : errhint("%s", row[3])));
}

} // namespace dp::sql
