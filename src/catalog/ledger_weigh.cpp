#include "catalog/ledger_weigh.hpp"

#include "catalog/ledger_cells.hpp"

namespace dp::catalog {

// Taken under the lock, after all that another process could have charged before.
Standpoint standpoint_of(const Basis *basis, const OpenOdometer &odometer) {
    const TimestampTz at = GetCurrentTimestamp();
    Standpoint point = {basis, at, standing_of(odometer, basis->share, basis->terms->bound, at)};
    stand_on_all(odometer, &point);
    return point;
}

// Under the lock others wait, and whoever is denied pays nothing: many cells are looked into before (look_into_many).
static bool is_too_wide(const Entry &entry) {
    return !entry.looked && is_on_many_cells(*entry.what);
}

bool weigh(const border::Spi &spi, const Entry &entry, OpenOdometer *odometer, Standpoint *point, Verdict *verdict,
           privacy::Cost *cost, privacy::Denial *denial) {
    const Charge &what = *entry.what;
    if (entry.kind == RequestKind::selection) {
        if (is_on_cells(what, *odometer) && is_too_wide(entry))
            return false;
        stand_on_cells(spi, what, odometer, point);
        *denial = cut(entry, *point, verdict);
        return true;
    }
    const auto decide_now = what.step.is_step ? afford_step : decide;
    *denial = decide_now(what, *point, verdict, cost);
    if (*denial == privacy::Denial::none)
        return true;
    if (is_too_wide(entry))
        return false;
    *denial = look_into_cells(spi, what, *point, odometer, *cost, *denial, verdict);
    if (*denial != privacy::Denial::none && what.grantee == nullptr) { // who is told the sums is told those of the touched cells
        stand_on_cells(spi, what, odometer, point);
        (void)decide_now(what, *point, verdict, cost);
    }
    return true;
}

} // namespace dp::catalog
