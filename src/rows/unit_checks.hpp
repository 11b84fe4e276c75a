// Checks what a leaf says of units against their declarations. Public facts alone.
#pragma once

#include "rows/question.hpp"

namespace dp::rows {

// For prepare, once settings and groups are read. 22023: limits that are none, or where rows are units; 0A000: groups that are
// units (discovered, each of one person), with count(DISTINCT unit) as the way to ask; 55000: what count(DISTINCT ..) is about was
// the unit when the text was read, and is not now.
void check_asked_limits(const Question *question);
void check_asked_units(const Question *question);

// How rows find their units, as dp_protect() takes it: the columns, and what each step refers to.
const char *unit_text(const catalog::UnitPath *path);
// The sources, as the query names them.
const char *joined_text(const Question *question);
// Returns, for people, what is clipped; null: nothing is. The mechanism of the question is set (set_mechanism).
const char *clipping_text(const Question *question, privacy::Mechanism mechanism);
// 0A000 when it is: where a price or a risk is asked for, there is none.
void check_asks_something(const Question *question);
// 55000 when keys are thresholded, or Gaussian noise is asked for, without a delta.
void check_delta(const Question *question, privacy::Mechanism mechanism, privacy::Delta delta);

} // namespace dp::rows
