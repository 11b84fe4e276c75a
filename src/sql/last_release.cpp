// dp_last_release: what the caller's last answer in this connection was charged, and how accurate it is
// (doc/reference.md).
#include <cmath>

#include "privacy/disclosure.hpp"
#include "privacy/zcdp.hpp"

#include "release/last.hpp"
#include "sql/arguments.hpp"
#include "sql/told.hpp"

namespace dp::sql {

namespace {
enum Column {
    col_name,
    col_epsilon,
    col_epsilon_svt,
    col_delta,
    col_mechanism,
    col_error95,
    col_reason,
    col_rho,
    col_steps,
    col_reached,
    col_posterior50,
    col_numbers,
    col_noise,
    col_rows_hidden,
    ncolumns
};
} // namespace

// Of the noise: what such an answer comes to in rho, whether the table charges in it or not.
static privacy::Rho rho_of(const release::LastRelease *last) {
    if (last->paid.rho.units() > 0)
        return last->paid.rho;
    return border::core([&] { return privacy::rho_of_pure(last->paid.epsilon); });
}

static const char *reason_of(const release::LastRelease *last) {
    if (!last->uncharged)
        return groups_used_reason;
    return last->groups_used ? psprintf("%s; %s", replayed_reason, groups_used_reason) : replayed_reason;
}

static void put_column(ReturnSetInfo *result, const release::LastRelease *last, const release::LastColumn &column) {
    Datum values[ncolumns] = {};
    bool nulls[ncolumns];
    memset(nulls, true, sizeof nulls);
    const auto set = [&](Column which, Datum value) {
        values[which] = value;
        nulls[which] = false;
    };
    set(col_name, CStringGetTextDatum(column.name));
    if (!last->is_public)
        set(col_reason, CStringGetTextDatum("epsilon was chosen from the data"));
    else {
        if (last->paid.epsilon.units() > 0 || last->uncharged) // else it is charged in rho alone
            set(col_epsilon, catalog::to_numeric(last->paid.epsilon));
        set(col_epsilon_svt, catalog::to_numeric(last->paid.selection));
        set(col_delta, catalog::to_numeric(last->delta));
        set(col_mechanism,
            CStringGetTextDatum(last->mechanism == privacy::Mechanism::laplace ? "laplace" : "gaussian"));
        set(col_rho, catalog::to_numeric(rho_of(last)));
        set(col_steps, Int32GetDatum(last->reached.steps));
        if (last->reached.asked)
            set(col_reached, BoolGetDatum(last->reached.how == release::Short::not_at_all));
        if (last->mechanism == privacy::Mechanism::laplace && last->delta.units() == 0 &&
            last->paid.epsilon.units() > 0)
            set(col_posterior50,
                Float8GetDatum(privacy::posterior_of_half((last->paid.epsilon + last->paid.selection).value())));
        if (last->groups_used || last->uncharged)
            set(col_reason, CStringGetTextDatum(reason_of(last)));
        if (!last->groups_used && !std::isnan(column.error95))
            set(col_error95, Float8GetDatum(column.error95));
    }
    if (column.seen.numbers > 0) {
        set(col_numbers, Int64GetDatum(column.seen.numbers));
        set(col_noise, Int64GetDatum(column.seen.noise));
    }
    if (last->hidden >= 0)
        set(col_rows_hidden, Int64GetDatum(last->hidden));
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

// In the order in which they were made: those of GROUPING SETS are a release each.
// Another role's release is nobody else's business, not even in the same connection.
static void put_release(ReturnSetInfo *result, const release::LastRelease *last) {
    check_stack_depth();
    if (last == nullptr)
        return;
    put_release(result, last->before);
    for (int i = 0; last->role == GetUserId() && i < last->ncolumns; i++)
        put_column(result, last, last->columns[i]);
}

DP_CALL(dp_last_release) {
    InitMaterializedSRF(fcinfo, 0);
    auto *result = reinterpret_cast<ReturnSetInfo *>(fcinfo->resultinfo);
    put_release(result, release::last_release());
    return Datum(0);
}

} // namespace dp::sql
