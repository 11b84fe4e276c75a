// General queries whose leave-one-out results have closed forms (formulas.md 1.4, 2.1): the view, alone or joined with other
// tables, plain WHERE and GROUP BY, bare aggregates. One grouping statement instead of one statement for each record.
#pragma once

#include "risk/records.hpp"

namespace dp::risk {

struct ClosedForms {
    int naggregates;
    BareAggregate *aggregates; // the coordinates of one group, in order
    List *keys;                // Node *, of the query
    bool alone;                // nothing is joined with the view
};
// Null: the query has none. They hold if at_most_once.
ClosedForms *find_closed_forms(const GeneralQuestion *question);

// Whether FROM and WHERE give each row of the protected table at most once, as it stands under the active snapshot. Then
// they do so without any one of them, too.
bool at_most_once(const GeneralQuestion *question);

GeneralRisk closed_forms_risk(const GeneralQuestion *question, const ClosedForms *forms, privacy::Mechanism mechanism,
                              bool keep_records);

// The largest change of the vector that bounds allow, l1 or l2 (formulas.md 2.1); NaN where a bound is missing, or a join
// might give other rows several times.
// published: the average moves by (upper - lower) / rows, as in the papers' artefact.
double largest_change(const ClosedForms *forms, privacy::Mechanism mechanism, privacy::Calibration calibration,
                      int64 rows);

} // namespace dp::risk
