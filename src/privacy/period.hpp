// Periods of a budget that begins anew (formulas.md 5.7): which one a day is in. All of them begin at midnight in UTC.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "privacy/decimal.hpp"

namespace dp::privacy {

enum class PeriodKind { day, week, month, quarter, year };

// Days since 2000-01-01 in the Gregorian calendar; a day is one in UTC.
using Day = std::int64_t;

// The day that a moment is in, given in microseconds since 2000 in UTC.
Day day_of(std::int64_t microseconds);
// The first day of the period that the day is in, and of the one after it. Weeks begin on Mondays.
Day begin_of(PeriodKind kind, Day day);
Day end_of(PeriodKind kind, Day day);

// Returns the place of the period that the day is in among all of its kind, and the first day of the period at a place.
std::int64_t place_of(PeriodKind kind, Day day);
Day begin_at(PeriodKind kind, std::int64_t place);

// "2026-11-01"
std::string text_of(Day day);

// Holds the period that is set for a table. since: the day on which it was set. Charges until then, in whatever period, count until
// the first turn behind it.
struct Period {
    PeriodKind kind;
    Day since;
};

// Holds the part of an account's sums that belongs to one period, and says which one. Without a kind: its last charge was in none.
struct PeriodSums {
    std::optional<PeriodKind> kind;
    Day start = 0;
    Epsilon epsilon;
    Delta delta;
    bool operator==(const PeriodSums &o) const {
        return kind == o.kind && start == o.start && epsilon == o.epsilon && delta == o.delta;
    }
};

// Names used in SQL.
std::optional<PeriodKind> period_from_name(const std::string &name);
const char *name_of(PeriodKind kind);

} // namespace dp::privacy
