// dp_choose_contribution: how many rows of one unit shall count, or how much of its sizes in a sum, chosen by a mechanism of its own (formulas.md, 9.10). Charged before
// a row is read, like an answer.
#pragma once

#include "privacy/row_limit.hpp"

#include "release/checked.hpp"

namespace dp::release {

struct LimitWish {
    Oid relation, view; // view: any of the table's, by which a charge finds its settings
    privacy::Epsilon epsilon;
    std::int64_t threshold; // so many units may have more rows
    int most;   // rows; of sizes, parts of the largest one
    double tau; // that of the noisy counts which the limit is for
    const char *value; // the expression whose sizes are added up, as its total is kept (rows/totals); null: rows are counted
    const char *fingerprint; // of the settings that the caller sees
};

// 55000 where there is nothing to choose: a row is a unit, or a unit has one row.
void check_has_limit(Oid relation, const catalog::UnitPath *path);

// The table as a question without a leaf: what the charge rests on, and whose rows are counted. For the current role, which must own
// the table. Reads no private row. Errors: 42501; 55000, also when the caller has changed settings and not committed it.
Checked resolve_limit(const LimitWish &wish, const catalog::Asker &asker);
// Returns its charge: epsilon, whatever is chosen.
catalog::Charge limit_charge(const rows::Question *question, const LimitWish &wish);
// Reads the rows.
int choose_limit(const rows::Paid &paid, const LimitWish &wish);

} // namespace dp::release
