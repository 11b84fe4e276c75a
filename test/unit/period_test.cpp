// Periods: the calendar against one that counts days, and decisions over random charges, turns, settings and clocks
// (formulas.md 5.7).

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/accounting.hpp"
#include "privacy/candidate_range.hpp"
#include "privacy/period.hpp"
#include "privacy/charged_steps.hpp"
#include "privacy/standing.hpp"

namespace {

using namespace dp::privacy;

constexpr PeriodKind kinds[] = {PeriodKind::day, PeriodKind::week, PeriodKind::month, PeriodKind::quarter,
                                PeriodKind::year};

Epsilon eps(std::int64_t tenths) {
    return Epsilon::from_units(int128{tenths} * 100000000);
}

// ---- the calendar ----

// One day after the other, by the rule for leap years.
struct Counter {
    std::int64_t year = 1600;
    int month = 1, day = 1;
    int length() const {
        const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        const int lengths[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        return lengths[month - 1];
    }
    void next() {
        if (++day <= length())
            return;
        day = 1;
        if (++month <= 12)
            return;
        month = 1;
        ++year;
    }
    bool begins(PeriodKind kind) const {
        return day == 1 && (kind == PeriodKind::month || (kind == PeriodKind::quarter && month % 3 == 1) ||
                            (kind == PeriodKind::year && month == 1));
    }
};

TEST(Period, CalendarOverAThousandYears) {
    Counter counter;
    constexpr Day first = -146097; // 1600-01-01, a Saturday as 2000-01-01 is
    Day begun[5];
    std::fill(begun, begun + 5, first);
    begun[static_cast<int>(PeriodKind::week)] = first - 5;
    for (Day day = first; day < first + 2 * 146097 + 36524; ++day, counter.next()) {
        char text[32];
        snprintf(text, sizeof text, "%04d-%02d-%02d", static_cast<int>(counter.year), counter.month, counter.day);
        ASSERT_EQ(text_of(day), text);
        for (int i = 0; i < 5; ++i) {
            const PeriodKind kind = kinds[i];
            const bool begins =
                kind == PeriodKind::day || (kind == PeriodKind::week ? (day - first) % 7 == 2 : counter.begins(kind));
            if (begins) {
                ASSERT_TRUE(day == first || end_of(kind, day - 1) == day) << name_of(kind) << " " << text;
                begun[i] = day;
            }
            ASSERT_EQ(begin_of(kind, day), begun[i]) << name_of(kind) << " " << text;
        }
    }
}

TEST(Period, DaysAreCountedDownwards) {
    constexpr std::int64_t day = std::int64_t{86400} * 1000000;
    EXPECT_EQ(day_of(0), 0);
    EXPECT_EQ(day_of(-1), -1);
    EXPECT_EQ(day_of(day - 1), 0);
    EXPECT_EQ(day_of(-day), -1);
    EXPECT_EQ(text_of(day_of(-1)), "1999-12-31");
}

TEST(Period, FarDaysDoNotOverflow) {
    for (const std::int64_t moment : {INT64_MIN, INT64_MAX})
        for (const PeriodKind kind : kinds) {
            const Day day = day_of(moment);
            EXPECT_LE(begin_of(kind, day), day);
            EXPECT_GT(end_of(kind, day), day);
            EXPECT_EQ(begin_of(kind, end_of(kind, day)), end_of(kind, day));
        }
}

TEST(Period, Names) {
    for (const PeriodKind kind : kinds)
        EXPECT_EQ(period_from_name(name_of(kind)), kind);
    for (const char *name : {"", "hour", "Month", "months", "month "})
        EXPECT_FALSE(period_from_name(name));
}

// ---- decisions ----

// A table, two of its roles, and the clock. All is in tenths of epsilon; delta goes along, a thousandth of a millionth each.
struct Table {
    BoundSettings bound;
    Totals totals, roles[2];
    Day today = 9000;

    Table(std::int64_t total, std::optional<std::int64_t> lifetime) {
        bound.epsilon_total = eps(total);
        bound.delta_total = *Delta::parse("0.1");
        if (lifetime)
            bound.epsilon_lifetime = eps(*lifetime);
    }
    void set(std::optional<PeriodKind> kind) {
        if (!kind)
            bound.period.reset();
        else if (!bound.period || bound.period->kind != *kind)
            bound.period = Period{*kind, today};
    }
    Standing standing_of(int role) const { return standing(totals, roles[role], bound, today); }
    Denial look(std::int64_t tenths, Account account, int role, std::optional<Epsilon> share = std::nullopt) const {
        const Standing now = standing_of(role);
        return fit(cost(tenths), account, bound, now.table, now.role, share);
    }
    static Cost cost(std::int64_t tenths) {
        Cost cost;
        cost.epsilon = eps(tenths);
        cost.delta = *Delta::parse("1e-9");
        return cost;
    }
    bool charge(std::int64_t tenths, Account account, int role, std::optional<Epsilon> share = std::nullopt) {
        if (look(tenths, account, role, share) != Denial::none)
            return false;
        Standing now = standing_of(role);
        totals.of(account) = now.table.of(account);
        roles[role].of(account) = now.role.of(account);
        add(&totals.of(account), cost(tenths), Basis::epsilon);
        add(&roles[role].of(account), cost(tenths), Basis::epsilon);
        return true;
    }
    // The largest charge of the public account that fits.
    std::int64_t left(int role = 0) const {
        std::int64_t most = 0;
        while (look(most + 1, Account::public_account, role) == Denial::none)
            ++most;
        return most;
    }
};

Day day(const char *text) {
    Day found = -200000;
    while (text_of(found) != text)
        ++found;
    return found;
}

constexpr Account open = Account::public_account, hidden = Account::conditional;

TEST(Period, TotalBindsWithinOne) {
    Table table(3, 7);
    table.today = day("2026-10-31");
    table.set(PeriodKind::month);
    EXPECT_TRUE(table.charge(3, open, 0));
    EXPECT_EQ(table.look(1, open, 0), Denial::epsilon_total);
    table.today = day("2026-11-01");
    EXPECT_EQ(table.left(), 3);
    EXPECT_TRUE(table.charge(3, open, 1));
    EXPECT_EQ(table.totals.of_public.epsilon, eps(6));
    EXPECT_EQ(table.totals.of_public.period.epsilon, eps(3));
    EXPECT_EQ(table.totals.of_public.period.start, day("2026-11-01"));
    table.today = day("2027-05-17");
    EXPECT_EQ(table.left(), 1); // of the lifetime
    EXPECT_EQ(table.look(2, open, 0), Denial::epsilon_lifetime);
}

// One of its looks alone may tell more than it adds, so none of them is charged in another period than the first.
TEST(Period, RoundEndsAtTheTurn) {
    Table table(30, std::nullopt);
    Step first, later;
    later.increment = true;
    later.period = first.period = day("2026-10-01");
    const auto is_cut = [&](const Step &step) {
        return is_cut_by_turn(step, table.bound, table.standing_of(0), open);
    };
    EXPECT_FALSE(is_cut(later)); // no period is set
    table.today = day("2026-10-31");
    table.set(PeriodKind::month);
    EXPECT_TRUE(table.charge(1, open, 0));
    EXPECT_FALSE(is_cut(later));
    table.today = day("2026-11-01");
    EXPECT_TRUE(is_cut(later));
    EXPECT_FALSE(is_cut(first));
    EXPECT_TRUE(table.charge(1, open, 1)); // by somebody else
    EXPECT_TRUE(is_cut(later));
    later.period = day("2026-11-01");
    table.today = day("2026-10-15"); // set back
    EXPECT_FALSE(is_cut(later));
}

TEST(Period, DeltaLikewise) {
    Table table(30, std::nullopt);
    table.bound.delta_total = *Delta::parse("2e-9");
    table.bound.delta_lifetime = *Delta::parse("3e-9");
    table.set(PeriodKind::day);
    EXPECT_TRUE(table.charge(1, open, 0) && table.charge(1, open, 0));
    EXPECT_EQ(table.look(1, open, 0), Denial::delta_total);
    ++table.today;
    EXPECT_TRUE(table.charge(1, open, 0));
    EXPECT_EQ(table.look(1, open, 0), Denial::delta_lifetime);
    SelectionRequest request;
    request.candidates = {eps(1)};
    request.delta = *Delta::parse("1e-9");
    const Standing now = table.standing_of(0);
    EXPECT_EQ(cut_candidates(request, table.bound, now.table, now.role).denial, Denial::delta_lifetime);
    request.delta = *Delta::parse("3e-9");
    EXPECT_EQ(cut_candidates(request, table.bound, now.table, now.role).denial, Denial::delta_total);
}

TEST(Period, SharesBeginAnewAndProfilesDoNot) {
    Table table(30, std::nullopt);
    table.set(PeriodKind::week);
    EXPECT_TRUE(table.charge(2, open, 0, eps(2)));
    EXPECT_EQ(table.look(1, open, 0, eps(2)), Denial::role_share);
    EXPECT_EQ(table.look(1, open, 1, eps(2)), Denial::none);
    table.today += 7;
    EXPECT_EQ(table.look(1, open, 0, eps(2)), Denial::none);
    Cost pure;
    pure.epsilon = eps(1);
    Standing now = table.standing_of(0);
    now.role.of_public.delta = Delta();
    EXPECT_EQ(fit(pure, open, table.bound, now.table, now.role, eps(3), eps(3)), Denial::none);
    pure.epsilon = eps(2);
    EXPECT_EQ(fit(pure, open, table.bound, now.table, now.role, eps(3), eps(3)), Denial::role_share);
}

// Of a role that was charged under another kind, or none, and asks for the first time.
TEST(Period, WhatIsSetCarriesOver) {
    Table table(5, std::nullopt);
    table.today = day("2026-11-10");
    EXPECT_TRUE(table.charge(5, open, 0));
    table.today = day("2026-11-22");
    table.set(PeriodKind::month);
    EXPECT_EQ(table.left(), 0);
    table.today = day("2026-11-30");
    EXPECT_EQ(table.left(), 0);
    table.today = day("2026-12-01"); // though nothing was charged meanwhile
    EXPECT_EQ(table.left(), 5);
    EXPECT_EQ(table.look(1, open, 0, eps(5)), Denial::none);
    EXPECT_TRUE(table.charge(4, open, 0));
    table.set(PeriodKind::year);
    EXPECT_EQ(table.left(), 1); // what the month had
    table.today = day("2026-12-31");
    EXPECT_EQ(table.left(), 1);
    table.today = day("2027-01-01");
    EXPECT_EQ(table.left(), 5);
    EXPECT_TRUE(table.charge(1, open, 1));
    table.set(std::nullopt);
    EXPECT_EQ(table.left(), 0);
    table.bound.epsilon_total = eps(20);
    EXPECT_TRUE(table.charge(1, open, 1));
    EXPECT_FALSE(table.totals.of_public.period.kind);
    table.set(PeriodKind::year);
    EXPECT_EQ(table.left(), 9); // all that was ever spent
}

// Of both accounts, of the table and of its roles: the sums of a period that is set again begin with all that was spent.
TEST(Period, NoSumsAreLeftWhereNoneIsSet) {
    Table table(30, std::nullopt);
    table.set(PeriodKind::month);
    EXPECT_TRUE(table.charge(1, open, 0));
    EXPECT_TRUE(table.charge(1, Account::conditional, 0));
    table.set(std::nullopt);
    Standing now = table.standing_of(0);
    for (Totals *totals : {&now.table, &now.role})
        for (Account account : {Account::public_account, Account::conditional})
            EXPECT_FALSE(totals->of(account).period.kind);
}

TEST(Period, ClockSetBackGivesNothing) {
    Table table(3, std::nullopt);
    table.today = day("2026-12-01"); // ahead
    table.set(PeriodKind::month);
    EXPECT_TRUE(table.charge(3, open, 0));
    table.today = day("2026-11-22");
    EXPECT_EQ(table.left(), 0);
    EXPECT_EQ(table.left(1), 0);
    table.set(PeriodKind::day);
    EXPECT_EQ(table.left(), 0);
    table.today = day("2026-11-30");
    EXPECT_EQ(table.left(), 0);
    table.today = day("2026-12-02");
    EXPECT_EQ(table.left(), 3);
}

// A role whose share has seen a later period than the table: the charge is in that one.
TEST(Period, TableAndRoleAreInOne) {
    Table table(3, std::nullopt);
    table.set(PeriodKind::day);
    EXPECT_TRUE(table.charge(1, open, 0));
    table.roles[1].of_public.period = {PeriodKind::day, table.today + 5, eps(2), Delta()};
    EXPECT_TRUE(table.charge(1, open, 1, eps(3)));
    EXPECT_EQ(table.totals.of_public.period.start, table.today + 5);
    EXPECT_EQ(table.totals.of_public.period.epsilon, eps(1));
    EXPECT_EQ(table.roles[1].of_public.period.epsilon, eps(3));
}

TEST(Period, ConditionalChargesTurnNothingPublic) {
    Table table(5, std::nullopt);
    table.set(PeriodKind::month);
    EXPECT_TRUE(table.charge(2, open, 0));
    Table other = table;
    table.today += 40;
    EXPECT_TRUE(table.charge(1, hidden, 0));
    table.today -= 40;
    EXPECT_EQ(table.totals.of_public.period, other.totals.of_public.period);
    EXPECT_EQ(table.standing_of(0).table.of_public.period, other.standing_of(0).table.of_public.period);
    EXPECT_EQ(table.standing_of(0).role.of_public.period, other.standing_of(0).role.of_public.period);
    EXPECT_EQ(table.left(), 3);
    // It reads both: what is public counts as the public account has it.
    EXPECT_EQ(table.look(3, hidden, 0), Denial::epsilon_total);
    EXPECT_EQ(table.look(2, hidden, 0), Denial::none);
}

// What a period has, by public charges whose start the decision has chosen: with one kind and a clock that goes anywhere.
TEST(Period, RandomClocksStayWithinTotals) {
    std::mt19937_64 random(26);
    for (int round = 0; round < 300; ++round) {
        Table table(4, 4 + static_cast<std::int64_t>(random() % 40));
        const PeriodKind kind = kinds[random() % 5];
        table.set(kind);
        std::vector<std::pair<Day, std::int64_t>> charged; // by start
        Day latest = 0;
        for (int i = 0; i < 300; ++i) {
            if (random() % 4 == 0)
                table.today += static_cast<Day>(random() % 61) - 20;
            const int role = random() % 2;
            const std::int64_t tenths = 1 + static_cast<std::int64_t>(random() % 4);
            const Account account = random() % 3 == 0 ? hidden : open;
            const std::optional<Epsilon> share = role == 0 ? std::optional<Epsilon>(eps(3)) : std::nullopt;
            if (!table.charge(tenths, account, role, share) || account == hidden)
                continue;
            const Day start = table.totals.of_public.period.start;
            ASSERT_GE(start, begin_of(kind, table.today));
            ASSERT_GE(start, latest);
            latest = start;
            charged.emplace_back(start, tenths);
            std::int64_t all = 0, in_period = 0;
            for (const auto &[when, what] : charged) {
                all += what;
                in_period += when == start ? what : 0;
            }
            ASSERT_LE(in_period, 4);
            ASSERT_EQ(table.totals.of_public.period.epsilon, eps(in_period));
            ASSERT_LE(eps(all), *table.bound.epsilon_lifetime);
            ASSERT_LE(table.roles[0].of_public.period.epsilon, eps(3));
        }
    }
}

// Whatever is set: no call gives anything at the moment it is made, an earlier clock never more than a later one, and conditional
// charges are not seen.
TEST(Period, RandomSettingsGiveNothing) {
    std::mt19937_64 random(27);
    for (int round = 0; round < 300; ++round) {
        Table table(6, 200), blind(6, 200);
        for (int i = 0; i < 200; ++i) {
            const std::int64_t step = static_cast<std::int64_t>(random() % 90) - 25;
            if (random() % 3 == 0)
                table.today += step;
            if (random() % 5 == 0) {
                const int which = random() % 6;
                const std::optional<PeriodKind> kind =
                    which == 5 ? std::nullopt : std::optional<PeriodKind>(kinds[which]);
                Table as_charged = table; // under the kind that its last charge was in
                as_charged.bound.period.reset();
                if (const auto was = table.totals.of_public.period.kind)
                    as_charged.bound.period = Period{*was, table.today};
                table.set(kind);
                Table fresh = table;
                if (fresh.bound.period)
                    fresh.bound.period->since = fresh.today;
                ASSERT_LE(fresh.left(), as_charged.left());
            }
            Table later = table;
            later.today += random() % 100;
            ASSERT_GE(later.left(), table.left());
            blind.today = table.today;
            blind.bound = table.bound;
            const std::int64_t tenths = 1 + static_cast<std::int64_t>(random() % 5);
            if (random() % 3 == 0)
                table.charge(tenths, hidden, 0);
            else {
                ASSERT_EQ(table.charge(tenths, open, 0), blind.charge(tenths, open, 0));
            }
            ASSERT_EQ(table.totals.of_public.period, blind.totals.of_public.period);
            ASSERT_LE(table.totals.of_public.epsilon, eps(206));
            ASSERT_LE(table.totals.of_public.period.epsilon, eps(6));
        }
    }
}

} // namespace
