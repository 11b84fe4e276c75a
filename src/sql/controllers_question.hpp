// The query of a controller's call, prepared.
#pragma once

#include "release/ask.hpp"
#include "rows/question.hpp"

namespace dp::sql {

// Errors: 42501 for anybody but the owner of the table behind the view; those of query::check_leaf and release::prepare.
rows::Question *controllers_question(const char *text, privacy::Mechanism mechanism);
// The same of a question that somebody else asks.
rows::Question *controllers_question(const release::Ask &ask, privacy::Mechanism mechanism);

} // namespace dp::sql
