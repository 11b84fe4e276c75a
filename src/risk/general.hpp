// General queries of a controller: the rows that they are about, and how one individual's record moves their result
// (architecture.md, 6). The result is computed without each distinct record, in closed form where there is one
// (closed_forms), by running the query again otherwise (rerun).
#pragma once

#include "privacy/declared.hpp"
#include "privacy/leave_one_out.hpp"

#include "query/general.hpp"
#include "risk/leave_one_out.hpp"
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
    Oid collation;
    Node *filter;                  // or null
    const privacy::Bounds *bounds; // of the argument, if that is a column of the view
    double z() const;
};
// False for anything else.
bool find_bare_aggregate(const GeneralQuestion *question, Node *target, BareAggregate *aggregate);

// Locks the table, reads the settings. Errors: those of query::check_general; 55000 as for release::prepare; 0A000 when the
// result has no number.
GeneralQuestion *prepare_general(const catalog::Reading &reading, query::General *general, const char *text);

// ---- for closed_forms and rerun ----

// SELECT the view's columns FROM table WHERE the view's filter AND condition; values of columns with declared bounds are
// clamped to them, NaN becomes NULL. with_identity: one more column, text that names the row ("16384(0,1)").
Query *rows_query(const GeneralQuestion *question, Node *condition, bool with_identity);

// Puts such a query in the place of the view in FROM.
void put_rows(RangeTblEntry *view, Query *rows);

// SELECT columns of the record, extras, count(*) [, least row identity] FROM ... GROUP BY all but the last ones.
struct RecordsQuery {
    Query *query;
    int nrecord_columns;
    int first_extra, count_column, identity_column; // positions (0-based); identity: -1
    TupleDesc desc;                                 // of the record's columns
    bool all_rows;                                  // each row of the table is in a record
};
// FROM rows [WHERE, of a query of one level]: the columns that the query mentions, and an identity.
RecordsQuery records_query(const GeneralQuestion *question);
// FROM and WHERE of the query itself, whose view is separable (query::General::facade). extras: expressions of the query;
// all_columns: those that the query mentions, otherwise none.
RecordsQuery joined_records_query(const GeneralQuestion *question, bool all_columns, List *extras);
// Of such a query: rows of the protected table that FROM and WHERE give several times; at most one is selected.
Query *multiplied_query(const GeneralQuestion *question);
char *deparse_internal(Query *query);

// What else is done with a record that is read. Its values are gone afterwards.
using TakeRecord = void (*)(void *reader, int64 record, const Datum *values, const bool *nulls);
// keep: their columns are kept, on disk beyond work_mem.
Memo *begin_memo(const RecordsQuery *records, const border::Spi &spi, bool keep);
// Runs the statement. The records come one by one, and the server keeps none of them. Rows of the protected table, and those
// of them that no record stands for, are counted on the way where the plan's scans tell.
void read_memo(const GeneralQuestion *question, const RecordsQuery *records, Memo *memo, TakeRecord take, void *reader);
// The profile of finished records, in the caller's memory, with values for Gaussian noise. 22003 where a PIS is not a finite number.
void profile_memo(const border::Spi &spi, privacy::Mechanism mechanism, Memo *memo);

// ---- the risk ----

struct GeneralRisk {
    Memo *memo;
    int64 coordinates; // k: of q(x)
    int64 changed;     // how many of them one individual can change, at most
};
// caller: what pg_stat_activity shows in front of the progress.
GeneralRisk general_risk(const GeneralQuestion *question, privacy::Mechanism mechanism, bool keep_records,
                         const char *caller);

} // namespace dp::risk
