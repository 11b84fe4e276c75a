// Implements dp_last_release: the charge of the caller's last answer in this connection, and its accuracy (doc/reference.md).
#include <cmath>

#include "privacy/disclosure.hpp"
#include "release/accuracy.hpp"
#include "release/last.hpp"
#include "sql/result_rows.hpp"
#include "sql/told.hpp"

namespace dp::sql {

// Returns the loss of the noise in rho, whether the table charges in it or not.
static privacy::Rho rho_of(const release::LastRelease *last) {
    if (last->paid.rho.units() > 0)
        return last->paid.rho;
    return border::core([&] { return privacy::rho_of_pure(last->paid.epsilon); });
}

// Null: there is nothing to say.
static const char *reason_of(const release::LastRelease *last, const release::LastColumn &column) {
    const char *reason = nullptr;
    for (const char *text : {last->uncharged ? replayed_reason : nullptr, last->groups_used ? groups_used_reason : nullptr,
                             release::rank_text(column.rank95)})
        if (text != nullptr)
            reason = reason == nullptr ? text : psprintf("%s; %s", reason, text);
    return reason;
}

static void set_public(const ResultRows &rows, const release::LastRelease *last, const release::LastColumn &column) {
    const release::Charged &paid = last->paid;
    const bool laplace = last->mechanism == privacy::Mechanism::laplace;
    if (paid.epsilon.units() > 0 || last->uncharged) // else it is charged in rho alone
        rows.set("epsilon", paid.epsilon);
    rows.set("epsilon_svt", paid.selection);
    rows.set("delta", last->delta);
    rows.set("mechanism", laplace ? "laplace" : "gaussian");
    rows.set("rho", rho_of(last));
    rows.set("steps", last->reached.steps);
    if (last->reached.asked)
        rows.set("reached", last->reached.how == release::Short::not_at_all);
    if (laplace && last->delta.units() == 0 && paid.epsilon.units() > 0)
        rows.set("posterior50", privacy::posterior_of_half((paid.epsilon + paid.selection).value()));
    rows.set("reason", reason_of(last, column));
    if (!last->groups_used && !std::isnan(column.error95))
        rows.set("error95", column.error95);
}

static void put_column(const ResultRows &rows, const release::LastRelease *last, const release::LastColumn &column) {
    rows.set("column_name", column.name);
    if (last->is_public)
        set_public(rows, last, column);
    else
        rows.set("reason", "epsilon was chosen from the data");
    if (column.seen.numbers > 0) {
        rows.set("numbers", static_cast<int64>(column.seen.numbers));
        rows.set("noise", static_cast<int64>(column.seen.noise));
        rows.set("coarse", static_cast<int64>(column.seen.coarse));
    }
    if (last->hidden >= 0)
        rows.set("rows_hidden", static_cast<int64>(last->hidden));
    rows.put();
}

// Puts releases in the order in which they were made: those of GROUPING SETS are a release each. Another role's release is left
// out, also in the same connection.
static void put_release(const ResultRows &rows, const release::LastRelease *last) {
    check_stack_depth();
    if (last == nullptr)
        return;
    put_release(rows, last->before);
    for (int i = 0; last->role == GetUserId() && i < last->ncolumns; i++)
        put_column(rows, last, last->columns[i]);
}

DP_CALL(dp_last_release) {
    const ResultRows rows(fcinfo);
    put_release(rows, release::last_release());
    return Datum(0);
}

} // namespace dp::sql
