#include "privacy/period.hpp"

#include "privacy/enum_names.hpp"

namespace dp::privacy {

// ---- the calendar: a year begins in March here, so that the day of a leap year comes last ----

namespace {
constexpr Day days_of_era = 146097;    // 400 years
constexpr Day epoch_in_march = 730425; // from 0000-03-01 to 2000-01-01

struct Date {
    std::int64_t year;
    int month, day; // from 1 on
};
} // namespace

static constexpr std::int64_t floor_divided(std::int64_t value, std::int64_t by) {
    return value / by - (value % by < 0 ? 1 : 0);
}

static Date date_of(Day day) {
    const Day shifted = day + epoch_in_march;
    const std::int64_t era = floor_divided(shifted, days_of_era);
    const Day in_era = shifted - era * days_of_era;
    const std::int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    const int in_year = static_cast<int>(in_era - (365 * year + year / 4 - year / 100));
    const int month = (5 * in_year + 2) / 153; // from March on
    return {year + 400 * era + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9,
            in_year - (153 * month + 2) / 5 + 1};
}

static Day first_of_month(std::int64_t year, int month) {
    const int from_march = (month + 9) % 12;
    const std::int64_t shifted = year - (from_march >= 10 ? 1 : 0);
    const std::int64_t era = floor_divided(shifted, 400), in_era = shifted - 400 * era;
    return era * days_of_era + 365 * in_era + in_era / 4 - in_era / 100 + (153 * from_march + 2) / 5 - epoch_in_march;
}

Day day_of(std::int64_t microseconds) {
    return floor_divided(microseconds, std::int64_t{24} * 60 * 60 * 1000000);
}

static int months_in(PeriodKind kind) {
    return kind == PeriodKind::year ? 12 : kind == PeriodKind::quarter ? 3 : 1;
}

// Months are counted from January of the year 0, weeks from the one of 2000-01-01.
std::int64_t place_of(PeriodKind kind, Day day) {
    if (kind == PeriodKind::day)
        return day;
    if (kind == PeriodKind::week)
        return floor_divided(day + 5, 7);
    const Date date = date_of(day);
    return floor_divided(date.year * 12 + date.month - 1, months_in(kind));
}

Day begin_at(PeriodKind kind, std::int64_t place) {
    if (kind == PeriodKind::day)
        return place;
    if (kind == PeriodKind::week)
        return place * 7 - 5;
    const std::int64_t months = place * months_in(kind), year = floor_divided(months, 12);
    return first_of_month(year, static_cast<int>(months - year * 12) + 1);
}

Day begin_of(PeriodKind kind, Day day) {
    return begin_at(kind, place_of(kind, day));
}

Day end_of(PeriodKind kind, Day day) {
    return begin_at(kind, place_of(kind, day) + 1);
}

std::string text_of(Day day) {
    const Date date = date_of(day);
    const auto padded = [](std::int64_t number, std::size_t width) {
        const std::string digits = std::to_string(number);
        return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
    };
    return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2);
}

// ---- names ----

std::optional<PeriodKind> period_from_name(const std::string &name) {
    return value_named(name, PeriodKind::year);
}

const char *name_of(PeriodKind kind) {
    constexpr const char *names[] = {"day", "week", "month", "quarter", "year"};
    return names[static_cast<int>(kind)];
}

} // namespace dp::privacy
