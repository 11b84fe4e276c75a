// Reads the distinct records that a general query is about.
#pragma once

#include "border/spi.hpp"
#include "risk/general_question.hpp"
#include "risk/memo.hpp"

namespace dp::risk {

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
// Returns a query for rows of the protected table that FROM and WHERE give several times; it selects one at most.
Query *multiplied_query(const GeneralQuestion *question);

// Takes a record that is read. Its values are gone afterwards.
using TakeRecord = void (*)(void *reader, int64 record, const Datum *values, const bool *nulls);
// Begins a memo of such records. keep: with their columns, on disk beyond work_mem.
Memo *begin_memo(const RecordsQuery *records, const border::Spi &spi, bool keep);
// Runs the statement. The records come one by one, and the server keeps none of them. Rows of the protected table, and those
// of them that no record stands for, are counted on the way where the plan's scans tell.
void read_memo(const GeneralQuestion *question, const RecordsQuery *records, Memo *memo, TakeRecord take, void *reader);
// The profile of finished records, in the caller's memory, with values for Gaussian noise. 22003 where a PIS is not a finite number.
void profile_memo(const border::Spi &spi, privacy::Mechanism mechanism, Memo *memo);

struct GeneralRisk {
    Memo *memo;
    int64 coordinates; // k: of q(x)
    int64 changed;     // how many of them one individual can change, at most
};

} // namespace dp::risk
