#include "privacy/unit_risk.hpp"

#include <algorithm>

namespace dp::privacy {

namespace {

std::size_t width_of(const std::vector<Measure> &measures) {
    std::size_t width = 0;
    for (const Measure &measure : measures)
        width += static_cast<std::size_t>(measure.coordinates());
    return width;
}

// Returns the l1 norm of the coordinates [first, first + n) of all groups.
double l1_norm(const int128 *values, std::size_t groups, std::size_t width, std::size_t first, std::size_t n) {
    unsigned __int128 sum = 0;
    for (std::size_t g = 0; g < groups; ++g)
        for (std::size_t c = first; c < first + n; ++c) {
            const __int128 value = values[g * width + c];
            sum += value < 0 ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
        }
    return static_cast<double>(sum);
}

} // namespace

void measure_norms(const std::vector<Measure> &measures, const int128 *values, std::size_t groups, double *norms) {
    const std::size_t width = width_of(measures);
    std::size_t first = 0;
    for (const Measure &measure : measures) {
        const auto n = static_cast<std::size_t>(measure.coordinates());
        *norms++ = l1_norm(values, groups, width, first, n);
        first += n;
    }
}

double share_left(std::size_t measures, const double *brought, const double *kept) {
    double share = 1;
    for (std::size_t j = 0; j < measures; ++j)
        if (brought[j] > 0)
            share = std::min(share, kept[j] / brought[j]);
    return share;
}

} // namespace dp::privacy
