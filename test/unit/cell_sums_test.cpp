// Cells of a partition (formulas.md 5.9): what refuses a cell is what the rule of its sums refuses, and sums that are kept as the design does, what
// was charged to all apart and rows for stretches, are those of plain arrays, over epochs too.

#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/accounting.hpp"
#include "privacy/cell_sums.hpp"

namespace {

using namespace dp::privacy;

struct Source {
    std::mt19937_64 engine;
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(engine); }
    template <int Places> Decimal<Places> tenths(int n) {
        int128 tenth = 1;
        for (int i = 1; i < Places; i++)
            tenth *= 10;
        return Decimal<Places>::from_units(tenth * below(n));
    }
};

BoundSettings any_bound(Source *source) {
    BoundSettings bound;
    constexpr Bound bounds[] = {Bound::filter, Bound::none, Bound::zcdp};
    bound.bound = bounds[source->below(3)];
    if (bound.bound == Bound::filter || source->below(4) > 0)
        bound.epsilon_total = source->tenths<9>(12);
    bound.delta_total = source->tenths<30>(6);
    bound.delta_conversion = Delta::from_units(bound.delta_total.units() / 2 + 1);
    if (bound.bound == Bound::zcdp && bound.epsilon_total && source->below(2) > 0)
        bound.epsilon_pure = source->tenths<9>(8);
    bound.rho_total = source->tenths<15>(8);
    return bound;
}

Cost any_cost(Source *source) {
    Cost cost;
    cost.pure = source->below(2) > 0;
    cost.epsilon = Epsilon::from_units(100000000 * (1 + source->below(4)));
    cost.groups = source->below(3) > 0 ? Delta() : source->tenths<30>(3);
    cost.delta = cost.pure ? cost.groups : cost.groups + source->tenths<30>(2);
    cost.rho = Rho::from_units(int128{100000000000000} * (1 + source->below(3)));
    return cost;
}

// A cell that has been charged so: no rho-only charge is without rho, as the rule of a profile supposes.
CellSums any_sums(Source *source) {
    CellSums sums;
    sums.epsilon_epoch = source->below(2) > 0 ? Epsilon() : source->tenths<9>(8);
    sums.epsilon = sums.epsilon_epoch + source->tenths<9>(3);
    sums.delta_epoch = source->below(2) > 0 ? Delta() : source->tenths<30>(4);
    sums.delta = sums.delta_epoch + source->tenths<30>(2);
    sums.rho_only = source->below(2);
    sums.pure = source->below(2) > 0 ? Epsilon() : source->tenths<9>(8);
    if (sums.rho_only > 0 || sums.pure.units() > 0)
        sums.rho = Rho::from_units(int128{100000000000000} * (1 + source->below(7)));
    return sums;
}

TEST(Cells, RefuseWhatTheRuleRefuses) {
    Source source{std::mt19937_64(20261128)};
    int refused = 0;
    for (int i = 0; i < 100000; i++) {
        const BoundSettings bound = any_bound(&source);
        const Cost cost = any_cost(&source);
        const CellSums table = any_sums(&source), role = any_sums(&source);
        Totals of_table, of_role;
        of_table.of_public = table.spent();
        of_role.of_public = role.spent();
        if (source.below(5) == 0)
            of_role.of_conditional.epsilon = source.tenths<9>(2);
        std::optional<Epsilon> share, profile;
        if (source.below(2) > 0)
            share = source.tenths<9>(10);
        if (source.below(4) == 0 && bound.bound != Bound::zcdp)
            profile = source.tenths<9>(10);
        const bool found = refusal_of_table(cost, bound).refuses(table) ||
                           refusal_of_role(cost, bound, share, profile, of_role.of_conditional).refuses(role);
        const Denial denial = fit(cost, Account::public_account, bound, of_table, of_role, share, profile);
        ASSERT_EQ(found, denial != Denial::none) << "case " << i << ", denial " << static_cast<int>(denial);
        refused += found;
    }
    EXPECT_GT(refused, 20000);
    EXPECT_LT(refused, 95000);
}

// What the largest of each sum may pay each cell may.
TEST(Cells, LargestSumsAreAccountedFor) {
    Source source{std::mt19937_64(20261129)};
    for (int i = 0; i < 100000; i++) {
        const Refusal refusal = refusal_of_table(any_cost(&source), any_bound(&source));
        const CellSums a = any_sums(&source), b = any_sums(&source);
        ASSERT_LE(refusal.refuses(a) || refusal.refuses(b), refusal.refuses(largest(a, b))) << "case " << i;
    }
}

// ---- sums ----------------------------------------------------------------------------------------------------------

// As the tables keep them: rows hold from their number up to the next one, beside `all`.
struct Kept {
    Spread spread;
    std::map<int, CellSums> rows;
    CellSums coming;
    int begun = 0;

    CellSums of(int cell) const {
        const auto next = rows.upper_bound(cell);
        return spread.all + (next == rows.begin() ? CellSums() : std::prev(next)->second);
    }
    void cut(int at) {
        if (at <= begun)
            rows[at] = of(at) - spread.all;
    }
    void charge(int first, int last, const CellSums &added) {
        cut(last + 1);
        cut(first);
        CellSums most;
        bool any = false;
        for (auto row = rows.find(first); row != rows.end() && row->first <= last; ++row) {
            row->second = row->second + added;
            most = any ? largest(most, row->second) : row->second;
            any = true;
        }
        spread.most = largest(most, spread.most);
    }
    void begin(int cell) {
        rows[cell] = coming - spread.all;
        begun = cell;
    }
    void begin_epoch() {
        spread.begin_epoch();
        coming.begin_epoch();
        for (auto &row : rows)
            row.second.begin_epoch();
    }
};

TEST(Cells, SumsAreThoseOfArrays) {
    Source source{std::mt19937_64(20261130)};
    for (int history = 0; history < 100000; history++) {
        Kept kept;
        std::vector<CellSums> cells(1 + source.below(5));
        kept.begun = static_cast<int>(cells.size()) - 1;
        CellSums coming;
        for (int step = 0; step < 12; step++) {
            const Cost cost = any_cost(&source);
            const CellSums added = added_by(cost, source.below(2) > 0 ? Basis::rho : Basis::epsilon);
            const int kind = source.below(8), first = source.below(static_cast<int>(cells.size()));
            const int last = first + source.below(static_cast<int>(cells.size()) - first);
            if (kind == 0) {
                cells.push_back(coming);
                kept.begin(kept.begun + 1);
            } else if (kind == 1) {
                for (CellSums &cell : cells)
                    cell.begin_epoch();
                coming.begin_epoch();
                kept.begin_epoch();
            } else if (kind <= 3) {
                for (CellSums &cell : cells)
                    cell = cell + added;
                kept.spread.all = kept.spread.all + added;
                if (kind == 3) {
                    coming = coming + added;
                    kept.coming = kept.coming + added;
                }
            } else {
                for (int cell = first; cell <= last; cell++)
                    cells[cell] = cells[cell] + added;
                kept.charge(first, last, added);
            }
        }
        CellSums most = cells[0];
        for (std::size_t cell = 0; cell < cells.size(); cell++) {
            ASSERT_TRUE(kept.of(static_cast<int>(cell)) == cells[cell]) << "history " << history << ", cell " << cell;
            most = largest(most, cells[cell]);
        }
        ASSERT_TRUE(largest(kept.spread.fullest(), most) == kept.spread.fullest()) << "history " << history;
    }
}

} // namespace
