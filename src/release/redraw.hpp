// The answer to a request with more noise: its noisy numbers, each with a fresh draw of the law that made it (formulas.md 4.5).
// Post-processing of what was released; nothing here has seen a row.
#pragma once

#include "catalog/requests.hpp"
#include "release/facts.hpp"

namespace dp::release {

// What is stored beside the numbers, as JSON: which noise they carry, how they become rows again, and which declarations they rest
// on. columns: outputs of the leaf, in the order of the answer's columns.
const char *law_of(const rows::Question *question, const Terms &terms, const Answer &answer, const int *columns, int ncolumns);
// Returns the declarations as they are stored; null: there are none.
const char *declarations_of(const catalog::Requested &request);

// Rows of `draws` answers, one behind the other, the columns as they are fetched. Errors: 55000 where the numbers are not kept.
using EachDrawn = void (*)(void *context, int draw, const Datum *values, const bool *nulls);
void redraw(const catalog::Requested &request, int draws, EachDrawn each, void *context);

} // namespace dp::release
