// Sums of the cells of a partition, and from where on they refuse a charge (formulas.md 5.9).
#pragma once

#include <cstdint>

#include "privacy/account.hpp"

namespace dp::privacy {

// Adds up charges on one cell, or tells two cells apart. The rule reads each of these, and none can be told from the others.
struct CellSums {
    Epsilon epsilon;
    Delta delta;
    // In this epoch:
    Epsilon epsilon_epoch;
    Delta delta_epoch;
    Rho rho;
    Epsilon pure;
    std::int64_t rho_only = 0; // charges: how many differ from one cell to another, so whether there is one is not enough
    CellSums operator+(const CellSums &o) const;
    CellSums operator-(const CellSums &o) const;
    bool operator==(const CellSums &o) const;
    void begin_epoch();
    // Returns them as a decision reads them.
    Spent spent() const;
};
// Names them in the order of their columns.
template <class V> void fields(V &visit, CellSums &sums) {
    visit("epsilon", sums.epsilon);
    visit("delta", sums.delta);
    visit("epsilon_epoch", sums.epsilon_epoch);
    visit("delta_epoch", sums.delta_epoch);
    visit("rho", sums.rho);
    visit("pure", sums.pure);
    visit("rho_only", sums.rho_only);
}

// Holds of an account what was charged to all cells, and the most of each that a cell has beside it.
struct Spread {
    CellSums all, most;
    CellSums fullest() const { return all + most; }
    void begin_epoch() { all.begin_epoch(), most.begin_epoch(); }
};

// Returns the sums of an account that all cells have.
CellSums sums_of_all(const Spent &spent);
// Returns what a charge adds.
CellSums added_by(const Cost &cost, Basis basis);
// Returns the largest of each by itself: no cell may have them all.
CellSums largest(const CellSums &a, const CellSums &b);
// Adds them to an account, which is in no period.
void add(Spent *spent, const CellSums &sums);

// Holds the sums before a charge behind which it is refused; none: it is not refused for this. Of rho only if there is a rho-only charge, or
// more than `pure`, where that is set.
struct Refusal {
    std::optional<Epsilon> epsilon, epsilon_epoch, pure;
    std::optional<Delta> delta, delta_epoch;
    std::optional<Rho> rho;
    bool refuses(const CellSums &sums) const;
};
// Says the same of a cell as fit() of its sums: of those of the table, and of those of a role. conditional: what else the role was charged.
Refusal refusal_of_table(const Cost &cost, const BoundSettings &bound);
Refusal refusal_of_role(const Cost &cost, const BoundSettings &bound, std::optional<Epsilon> share,
                        std::optional<Epsilon> profile, const Spent &conditional);

} // namespace dp::privacy
