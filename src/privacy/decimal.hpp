// Exact decimals: epsilon with 9 places, delta with 30 (formulas.md, conventions; section 8.3).
// Sums of charges are sums of integers: ten charges of 0.1 make exactly 1.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dp::privacy {

// Aligned like a 64-bit integer, as PostgreSQL's own int128 is: palloc promises no more, and the compiler would otherwise
// move these in 16-byte steps that trap.
using int128 [[gnu::aligned(8)]] = __int128;
using uint128 [[gnu::aligned(8)]] = unsigned __int128;

enum class Rounding { down, up };

std::string to_text(int128 value);

// A number units / 10^Places. Arithmetic is exact within +-1.7e38 units; inputs are far below.
template <int Places> class Decimal {
  public:
    constexpr Decimal() = default;
    static constexpr Decimal from_units(int128 units) {
        Decimal d;
        d.units_ = units;
        return d;
    }

    // Reads "12", "-0.05", "1e-6" (what numeric_out and users write). More than Places decimals are rounded as asked
    // (towards zero for `down`, away from zero for `up`). No value for NaN, infinities, anything else, or |x| >= 10^8.
    static std::optional<Decimal> parse(std::string_view text, Rounding rounding = Rounding::down);
    // A sum of such numbers: as large as can still be added to.
    static std::optional<Decimal> parse_sum(std::string_view text);
    // The decimal nearest to x in the direction asked (for values computed in floating point). x finite, |x| < 10^8.
    static Decimal from_double(double x, Rounding rounding);

    constexpr int128 units() const { return units_; }
    double value() const;
    // Shortest exact text without trailing zeros: "0.05", "1", "0".
    std::string text() const;

    constexpr Decimal operator+(Decimal o) const { return from_units(units_ + o.units_); }
    constexpr Decimal operator-(Decimal o) const { return from_units(units_ - o.units_); }
    constexpr bool operator==(Decimal o) const { return units_ == o.units_; }
    constexpr bool operator!=(Decimal o) const { return units_ != o.units_; }
    constexpr bool operator<(Decimal o) const { return units_ < o.units_; }
    constexpr bool operator<=(Decimal o) const { return units_ <= o.units_; }
    constexpr bool operator>(Decimal o) const { return units_ > o.units_; }
    constexpr bool operator>=(Decimal o) const { return units_ >= o.units_; }

  private:
    int128 units_ = 0;
};

extern template class Decimal<9>;
extern template class Decimal<15>;
extern template class Decimal<30>;

using Epsilon = Decimal<9>;
using Rho = Decimal<15>;
using Delta = Decimal<30>;

} // namespace dp::privacy
