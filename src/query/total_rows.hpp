// The rows of the table of total functions (query/total_table): those of numbers and comparisons stand there, further ones in files of
// their own, which matter to nobody who does not call them.
#pragma once

#include "query/total_entry.hpp"

namespace dp::query {

// Arguments that must be constants.
constexpr uint8 none = 0, first = 1, second = 2, third = 4;

// Holds functions that are alike.
struct Row {
    const Oid *functions; // to the first zero
    TotalFunction each;

    // Returns the row for functions some of whose arguments must be constants, with what these may be.
    constexpr Row with(uint8 which, bool (*judge)(const Const *) = nullptr,
                       bool (*third_judge)(const Const *) = nullptr) const {
        return Row{functions, {InvalidOid, each.how, which, judge, each.why, third_judge, each.rule}};
    }
};

template <Oid... functions> constexpr Oid oids[] = {functions..., InvalidOid};
template <Oid... functions> constexpr Row row_of(Total how, Reason why, Rule rule) {
    return Row{oids<functions...>, {InvalidOid, how, none, nullptr, why, nullptr, rule}};
}
template <Oid... functions> constexpr Row total(Reason why, Rule rule = Rule::none) {
    return row_of<functions...>(Total::as_it_is, why, rule);
}
template <Oid... functions> constexpr Row replaced(Reason why, Rule rule = Rule::none) {
    return row_of<functions...>(Total::replaced, why, rule);
}
template <Oid... functions> constexpr Row inlined(Reason why) {
    return row_of<functions...>(Total::inlined, why, Rule::none);
}

struct Rows {
    const Row *rows;
    int n;
};
template <int n> constexpr Rows rows_of(const Row (&rows)[n]) {
    return {rows, n};
}

Rows rows_of_dates(); // query/total_dates
Rows rows_of_texts(); // query/total_texts

// Limits the constants that a row is compared or trimmed with, in bytes.
constexpr int longest_constant = 100;
inline bool is_short_constant(const Const *value) {
    return toast_raw_datum_size(value->constvalue) <= longest_constant + VARHDRSZ;
}
inline bool is_small(const Const *value) {
    const int32 count = DatumGetInt32(value->constvalue);
    return count >= -1000000 && count <= 1000000;
}

} // namespace dp::query
