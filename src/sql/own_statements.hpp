// Reports and refusals that statements over the extension's own tables return.
#pragma once

#include "catalog/parameters.hpp"
#include "catalog/settings.hpp"

namespace dp::sql {

using catalog::if_given;
using catalog::Typed;

// Raises the first row, which begins with sqlstate, message, detail and hint, unless there is none or it has no sqlstate. Rows are
// found by the keys of tables: the ledger has those of others as well.
void refuse_row(const catalog::Visit &visit, uint64 rows);
template <class... T> void refuse_first(const catalog::Visit &visit, const char *sql, const T &...values) {
    catalog::Visit keyed = visit;
    keyed.spi.by_keys = true;
    refuse_row(keyed, run(keyed, sql, values...));
}

// Does so in a visit of its own.
template <class... T> void refuse_by(const char *sql, const T &...values) {
    const catalog::Visit visit = catalog::Visit::read();
    refuse_first(visit, sql, values...);
    visit.leave();
}

// Holds messages that are kept until a visit is over, under whose settings none is sent.
struct Reports {
    uint64 n;
    char **texts; // four of each
};
// Returns the rows of a statement: severity ('warning' or 'notice'), message, detail and hint.
Reports kept_reports(const catalog::Visit &visit, uint64 rows);
template <class... T> Reports reports_of(const catalog::Visit &visit, const char *sql, const T &...values) {
    return kept_reports(visit, run(visit, sql, values...));
}
void tell(const Reports &reports);
// Does both, in a visit of its own.
template <class... T> void tell_by(const char *sql, const T &...values) {
    const catalog::Visit visit = catalog::Visit::read();
    const Reports reports = reports_of(visit, sql, values...);
    visit.leave();
    tell(reports);
}

} // namespace dp::sql
