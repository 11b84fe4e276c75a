// Expressions over two answers, row by row: `answer`, which may be the exact one, and `dp`, which is released (architecture.md,
// 3.12; formulas.md 4.5). What may stand in them is what may stand in WHERE: functions that cannot fail, of bounded time.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// The columns of both.
struct AnswerColumns {
    int n;
    const char **names;
    Oid *types;
};

// Parses and checks one, under pinned settings, and makes it total. Its Vars have varno 1 and number the columns of `answer`, then those of
// `dp`. reads_answer: whether it may name the former. `name`: what errors call it. Errors: 42601 more than one expression; 42703, 42P01;
// 0A000 as for WHERE; 42804 for what is no number; 54000 for what is too long, or may take too long on one row.
Node *make_task_expression(const char *text, const char *name, const AnswerColumns &columns, bool reads_answer);

} // namespace dp::query
