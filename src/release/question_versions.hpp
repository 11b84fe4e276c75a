// Versions of the declarations that a question rests on.
#pragma once

#include "rows/question.hpp"

namespace dp::release {

// Hashes these, what was looked up in public tables, and what the question was resolved to: to be compared later.
uint64 versions_hash(const rows::Question *question);
// Which versions of settings and policies a question rests on (catalog::read_settings, policy_of), as one text.
const char *versions_of(const catalog::Settings &settings);

} // namespace dp::release
