// Prepares general queries of a controller: their table and view, the columns of their result, and their bare aggregates
// (architecture.md, 6).
#pragma once

#include "privacy/leave_one_out.hpp"

#include "query/general_query.hpp"
#include "rows/question.hpp"
#include "rows/sums.hpp"

namespace dp::risk {

// One column of the query's result: a number that may move, or something that tells rows apart.
struct ResultColumn {
    bool coordinate;
    bool hidden; // a group key that the query does not select: tells rows apart, is not in the answer
    const char *name;
    Oid type;
    int32 typmod;
    Oid collation;
    rows::ValueKind kind; // of a coordinate
    double z;             // what NULL, or a row that is not there, stands for
};

struct GeneralQuestion {
    query::General *general;
    catalog::Settings *settings;
    const rows::Question *table; // the settings and nothing else, for table_entry and table_column
    const char *text;
    const char *refusal; // why no analyst may ask it, where nobody says that it is a general query; or null
    int nview_columns;
    AttrNumber *map;                // columns of the view to columns of the table
    const privacy::Bounds **bounds; // per column of the view; null: none declared, or not a number
    int ncolumns;
    ResultColumn *columns;
    int ncoordinates; // of one row
};

// An aggregate of the query's top level that has a closed form.
struct BareAggregate {
    privacy::StatisticCall call;
    Node *argument; // over the view; null: count(*)
    Node *filter;                  // or null
    const privacy::Bounds *bounds; // of the argument, if that is a column of the view
    double z() const;
};
// False for anything else.
bool find_bare_aggregate(const GeneralQuestion *question, Node *target, BareAggregate *aggregate);

// Locks the table, reads the settings. refusal: why no analyst may ask it, which is raised where it is no general query either; or null.
// Errors: those of query::check_general; 55000 as for release::prepare; 0A000 when the result has no number.
GeneralQuestion *prepare_general(const catalog::Reading &reading, query::General *general, const char *text,
                                 ErrorData *refusal);

} // namespace dp::risk
