// The result of a general query: rows in the order of what tells them apart, on disk beyond work_mem.
#pragma once

#include "risk/general_question.hpp"

namespace dp::risk {

// To be read from the first row to the last, as often as wanted.
struct Result {
    Tuplesortstate *rows;
    TupleTableSlot *slot; // the row that is read: the question's columns, coordinates as float8 with NULL replaced
    int64 nrows;
};

// How the rows of all results of a question are sorted and compared.
struct Order;
const Order *order_of(const GeneralQuestion *question);

// A result that is being read: take_row gets its rows, with the reader. 22003 as number_of.
struct ResultReader {
    const Order *order;
    Tuplesortstate *sort;
    TupleTableSlot *slot;
    int64 nrows;
};
ResultReader begin_result(const Order *order);
void take_row(void *reader, TupleTableSlot *row);
// 0A000 where nothing tells two rows apart.
Result finish_result(ResultReader *reader);
// The rows that were read last. It leaves something behind in the current memory.
int compare_rows(const Order *order, const Result &a, const Result &b);

// Returns the query with those rows of the table that meet a condition in the place of the view. What it puts there stays in the question:
// not to be called in memory that goes before it does, that of SPI for instance.
Query *statement_of(const GeneralQuestion *question, Node *condition);
// Under the active snapshot. 0A000 where nothing tells two rows apart; 22003 as number_of.
Result run_once(const GeneralQuestion *question);
void read_from_start(const Result &result);
// False: there is none left.
bool next_row(const Result &result);
void discard(const Result &result);

// Returns the number that a coordinate of a row counts as. Errors: 22003 unless it is finite.
double number_of(const ResultColumn &column, Datum datum, bool isnull);

} // namespace dp::risk
