// Texts that are dates, and dates that are texts, as the asker's DateStyle says. A cast of a column takes the setting's value as a
// constant, in the text of the leaf: so the ledger, a request and a key of `replay` say how it was read.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

struct DateSettings {
    int style, order; // values of DateStyle and DateOrder, the variables of the server
};

constexpr char plain_date_style[] = "ISO, YMD"; // of casts in filters, and of who says nothing else

// Reads a value of the setting as the server shows it. False: it is none.
bool read_date_style(const char *text, DateSettings *style);

// Finds the DateStyle by which a checked leaf reads texts as dates; null: it reads none.
const char *style_of_dates(const Query *leaf);

// Reads a text as the server does, without an error: false where it would raise one, and for what is read by the clock (now, today)
// or by the names of time zones (but Z, UTC and GMT). type: DTK_DATE, DTK_EPOCH, DTK_EARLY or DTK_LATE.
bool read_moment(const char *text, int order, int *type, struct pg_tm *tm, fsec_t *microseconds);

} // namespace dp::query
