// Arguments of SQL-callable functions: NULL where a value is needed, things that this version does not do.
#pragma once

#include "privacy/refinement.hpp"
#include "privacy/risk.hpp"

#include "catalog/decimals.hpp"
#include "border/guard.hpp"
#include "query/leaf.hpp"

namespace dp::sql {

// 22004 "<name> must not be null".
void require(FunctionCallInfo fcinfo, int argument, const char *name);
// Requires these arguments, or the first n, by the names that the script gives them.
void require(FunctionCallInfo fcinfo, std::initializer_list<int> arguments);
void require_first(FunctionCallInfo fcinfo, int n);
char *text_argument(FunctionCallInfo fcinfo, int argument); // null for NULL
ArrayType *array_argument(FunctionCallInfo fcinfo, int argument);

// 0A000 unless the argument is NULL (or, for booleans, false): declared for a later version.
void refuse_unless_null(FunctionCallInfo fcinfo, int argument, const char *name);
void refuse_if_true(FunctionCallInfo fcinfo, int argument, const char *name);

// Read an epsilon and a delta, if they are passed. Errors: 22023.
template <class Asked> void epsilon_argument(FunctionCallInfo fcinfo, int argument, Asked *asked) {
    asked->has_epsilon = !PG_ARGISNULL(argument);
    if (asked->has_epsilon)
        asked->epsilon = catalog::checked_epsilon(PG_GETARG_DATUM(argument), "epsilon");
}
template <class Asked> void delta_argument(FunctionCallInfo fcinfo, int argument, Asked *asked) {
    asked->has_delta = !PG_ARGISNULL(argument);
    if (asked->has_delta)
        asked->delta = catalog::checked_delta(PG_GETARG_DATUM(argument), "delta");
}

// Returns a decimal as messages have it.
template <class Number> const char *printed(Number number) {
    return catalog::numeric_text(catalog::to_numeric(number));
}

// Returns whether a numeric is 'Infinity', which takes a total or a share away.
bool takes_away(Datum numeric);
bool is_empty_text(Datum word);
// Returns the candidates of an array without 'Infinity', no noise, and whether it was there. Errors: those of candidates_from_array.
const std::vector<privacy::Epsilon> *candidates_argument(FunctionCallInfo fcinfo, int argument, bool *infinite);

// 22023: group_a without group_b, or the other way round.
[[noreturn]] void refuse_half_of_groups();

// 22023 for other names.
privacy::Mechanism mechanism_named(const char *name);
privacy::Calibration calibration_named(const char *name);
// 22023 for NaN or outside 0..1.
double checked_tau(double tau);
double checked_tau_var(double tau_var);
// 22023 unless it can be split in two (privacy::svt_split).
privacy::Epsilon checked_epsilon_svt(Datum value);
// 22023 unless positive and finite.
double checked_weight(double weight, const char *name);
// within, error95 and deviations, which follow each other from `first` on. 22023 for values that are none; 22004 without deviations.
privacy::Wanted wanted_arguments(FunctionCallInfo fcinfo, int first);
// max_rows, max_groups and max_rows_per_group, which follow each other. 22023 for values that are none.
query::Limits asked_limits(FunctionCallInfo fcinfo, int first);

} // namespace dp::sql
