// The result of a general query: rows in the order of what tells them apart, on disk beyond work_mem.
#pragma once

#include "risk/general.hpp"

namespace dp::risk {

// To be read from the first row to the last, as often as wanted.
struct Result {
    Tuplesortstate *rows;
    TupleTableSlot *slot; // the row that is read: the question's columns, coordinates as float8 with NULL replaced
};
// Under the active snapshot. 0A000 where nothing tells two rows apart; 22003 as number_of.
Result run_once(const GeneralQuestion *question);
void read_from_start(const Result &result);
// False: there is none left.
bool next_row(const Result &result);
void discard(const Result &result);

// What a coordinate of a row counts as. 22003 unless it is finite.
double number_of(const ResultColumn &column, Datum datum, bool isnull);
[[noreturn]] void refuse_equal_rows();

} // namespace dp::risk
