// Words the hints of refusals, decided by names and shapes alone. sql/hints.sql follows them.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

// Raises 0A000, "<part> is not supported in a query on a restricted view". `source` may be null.
[[noreturn]] void refuse_part(const char *part, const char *remedy, ParseState *source, int location);
// Calls refuse_part where the condition holds: one line for each refusal, so that a list of them reads as a table.
inline void refuse_if(bool condition, const char *part, const char *remedy, ParseState *source, int location) {
    if (condition)
        refuse_part(part, remedy, source, location);
}

// For an aggregate that is not answered.
const char *aggregate_remedy(const Aggref *call);
// For one that is, of values that it is not answered for.
extern const char quantile_remedy[];
// For one of intervals.
extern const char interval_remedy[];
// For a function that may not be applied to columns.
const char *function_remedy(Oid function);

// For a function that is refused.
inline constexpr char total_hint[] =
    "SELECT * FROM dp_rdr.total_functions() shows what may be applied to columns, besides comparisons.";
// In one line: many clients show neither DETAIL nor HINT.
inline constexpr char private_rows[] =
    "rows of a restricted view are private: ask count(*), sum(x), avg(x) ..., or dp_about('view')";
inline constexpr char rows_remedy[] =
    "Ask for count(*), count(x), sum(x) or avg(x), with or without GROUP BY; SELECT DISTINCT x lists groups, declared "
    "ones at no charge.";
inline constexpr char sets_remedy[] = "Add up the cells of a plain GROUP BY: SELECT x, y, sum(n) FROM (SELECT x, y, "
                                      "count(*) AS n FROM ... GROUP BY x, y) c "
                                      "GROUP BY CUBE (x, y).";
inline constexpr char distinct_remedy[] =
    "Count values by count(DISTINCT x); or groups that are large enough: SELECT count(*) FROM (SELECT x FROM ... "
    "GROUP BY x HAVING count(*) > SIZE) g.";
inline constexpr char other_distinct_remedy[] = "Leave it out. Different values are counted by count(DISTINCT x); "
                                                "GROUP BY x lists those that many rows have, to be "
                                                "added up: SELECT sum(x) FROM (SELECT x FROM ... GROUP BY x) g.";
inline constexpr char row_remedy[] =
    "Different pairs are counted as one text: count(DISTINCT x::text || ' ' || y::text), where neither is NULL.";
inline constexpr char join_remedy[] = "Ask the controller to declare the other table by dp_set_public(), if nothing in "
                                      "it comes from people; or aggregate "
                                      "over the restricted view alone, GROUP BY what joins it, and join the answer.";
inline constexpr char person_rows_remedy[] =
    "Aggregate over the restricted view alone, GROUP BY what joins it, and join the answer. Values may be compared: x "
    "IN "
    "(SELECT ...). Or ask the controller to declare whose rows they are, with dp_set_unit().";
inline constexpr char outer_remedy[] = "GROUP BY the column in a query of its own, and join its answer.";
inline constexpr char only_remedy[] = "A public table is read with all of its parts: leave ONLY out.";
inline constexpr char subselect_remedy[] = "Ask for its result first, and write that as constants: x IN (1, 2, 3).";
inline constexpr char correlated_remedy[] =
    "Join what it reads, and compare with its column: FROM v JOIN (SELECT k, avg(x) AS a FROM v GROUP BY k) t USING "
    "(k) "
    "WHERE v.x > t.a. A public table is joined by its key: FROM v JOIN p USING (k) WHERE v.x > p.a.";
inline constexpr char exists_remedy[] =
    "EXISTS and IN (SELECT ...) stand in WHERE, in GROUP BY, in what is aggregated, "
    "and in FILTER: write it there, or ask twice, WHERE EXISTS (...) and WHERE NOT "
    "EXISTS (...).";
inline constexpr char form_remedy[] = "EXISTS and IN read restricted views and public tables, or inner joins of them: "
                                      "write outer joins, sub-SELECTs and WITH outside.";

} // namespace dp::query
