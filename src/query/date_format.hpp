// Formats of to_char() for dates that may be applied to columns: numbers and English names, which the built-in prints without an error.
#pragma once

#include "border/postgres.hpp"

namespace dp::query {

constexpr int longest_date_format = 50; // bytes

// Is the text made of these alone: YYYY IYYY Q MM Month Mon WW IW DD DDD D ID Day Dy HH24 HH12 HH MI SS MS US (numbers in capitals
// or small letters, names as a word, in capitals or small), FM before any of them, punctuation, and texts in double quotes?
bool is_date_format(const char *format);

// Names what the finest item of such a format tells: a date, or a part of the time.
enum class Finest : uint8 { day, hour, minute, second };
Finest finest_of_format(const char *format);

// Names after how long items, and fields of dates, have had all their values: flags.
enum Cycle : uint8 { of_hour = 1, of_day = 2, of_week = 4, of_year = 8, never = 16 };
// Returns the flags of all items of such a format.
int cycles_of_format(const char *format);

// From 1700 BC to 290000, or infinite: everything that moves a timestamp by 3000 years at most stays in its range.
bool is_calm(Timestamp value);

// Tells whether the clocks of a zone are within a day of UTC and turn as those of a country do, which lists of groups and bounds of
// moments take for granted. A name may say anything: FOO+100, FOO+9BAR-9.
bool is_calm(const pg_tz *zone);

} // namespace dp::query
