#include "privacy/row_limit.hpp"

#include <numeric>

#include "privacy/lattice.hpp"

namespace dp::privacy {

constexpr std::int64_t whole = 1000000000; // a share of 1

void UnitRows::add(std::int64_t rows) {
    if (rows < 1)
        return;
    int k = 0;
    while (k < compared_limits && rows > std::int64_t{1} << k)
        ++k;
    ++classes_[k];
}

std::int64_t UnitRows::units() const {
    return std::accumulate(classes_.begin(), classes_.end(), std::int64_t{0});
}

std::int64_t UnitRows::within(int k) const {
    return std::accumulate(classes_.begin(), classes_.begin() + k + 1, std::int64_t{0});
}

int128 row_limit_margin(const UnitRows &rows, Share share, int k) {
    const int128 scaled = int128{rows.within(k)} * whole - share.units() * rows.units(); // below 2^94
    return scaled >= 0 ? scaled / whole : -((-scaled + whole - 1) / whole);
}

void check_row_limit(Epsilon epsilon, Share share) {
    if (share.units() < 0 || share.units() > whole)
        throw InvalidParameter("share must be between 0 and 1");
    constexpr int least = 3; // 10^-9: of less one of its two shares would be 0
    if (epsilon.units() < least)
        throw InvalidParameter("epsilon must be at least 0.000000003 to choose max_rows");
    (void)svt_split(epsilon);
}

} // namespace dp::privacy
