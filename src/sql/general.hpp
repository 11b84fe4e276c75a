// Controllers' calls about general queries (doc/reference.md): what dp_risk, dp_risk_records and dp_find_epsilon do with
// a query that is no leaf.
#pragma once

#include "border/guard.hpp"
#include "risk/general_risk.hpp"
#include "sql/statement_leaves.hpp"

namespace dp::sql {

// The statement as a general query; null where analysts may ask it and `declared` is false. published: also minima, maxima, percentiles, what is
// of two columns and counts of different values, whose published noise follows from the result alone. Errors: 42501 for anybody but the
// owner of the tables behind its restricted views, before anything else; why no analyst may ask it, where it is no general query;
// those of risk::prepare_general.
risk::GeneralQuestion *general_question(const Statement &statement, privacy::Mechanism mechanism, bool declared,
                                        bool published);

// An argument `sensitivity`: NaN for NULL; 22023 unless it is a number above 0.
double sensitivity_argument(FunctionCallInfo fcinfo, int argument);

// Answers the call if its query is a general one; false otherwise.
bool general_risk(FunctionCallInfo fcinfo, const Statement &statement);
bool general_risk_records(FunctionCallInfo fcinfo, const Statement &statement);

} // namespace dp::sql
