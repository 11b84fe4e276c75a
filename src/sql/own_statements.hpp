// Reports and refusals that statements over the extension's own tables return.
#pragma once

#include "catalog/parameters.hpp"
#include "catalog/settings.hpp"

namespace dp::sql {

using catalog::if_given;
using catalog::Typed;

// Raises the first row, which begins with sqlstate, message, detail and hint, unless there is none or it has no sqlstate.
void refuse_row(const catalog::Visit &visit, uint64 rows);
template <class... T> void refuse_first(const catalog::Visit &visit, const char *sql, const T &...values) {
    refuse_row(visit, run(visit, sql, values...));
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

} // namespace dp::sql
