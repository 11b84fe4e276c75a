// Cuts a controller's statement into what is released of it: the risk is that of each part, and what a statement does with answers is
// post-processing (formulas.md 1.1).
#pragma once

#include "rows/question.hpp"
#include "release/ask.hpp"

namespace dp::sql {

// Holds a statement, and what it becomes where an analyst sends it.
struct Statement {
    const char *text;
    bool whole;         // the text is one leaf by itself
    List *calls;        // otherwise its calls of release(): Call *
    ErrorData *refusal; // why no analyst may send it; or null
    int leaves() const { return whole || calls == NIL ? 1 : list_length(calls); }
};

// Cuts a statement. Raises no refusal of it, but keeps the reason.
Statement cut_statement(const char *text);
// Prepares a leaf, from 1 on; 0: the only one. Errors: those of an analyst, but 42501 for anybody but the owner of the table; 22023 where
// there is no such leaf, or several and none is chosen.
rows::Question *leaf_question(const Statement &statement, privacy::Mechanism mechanism, int leaf);
// Tells the caller which leaf is which, where there are several.
void tell_leaves(const Statement &statement);

// Errors: 42501 for anybody but the owner of the table behind the view; those of query::check_leaf and release::prepare.
rows::Question *controllers_question(const char *text, privacy::Mechanism mechanism);
// The same of a question that somebody else asks.
rows::Question *controllers_question(const release::Ask &ask, privacy::Mechanism mechanism);

} // namespace dp::sql
