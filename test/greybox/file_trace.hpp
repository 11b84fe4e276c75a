// In the place of src/release/trace.hpp's functions: one line of a file for each thing seen, read by test/greybox/replay.py.
#pragma once

#include <fstream>
#include <string>

#include "privacy/quantile.hpp"
#include "privacy/wide.hpp"
#include "release/random.hpp"

namespace dp::release::trace {

inline std::string digits(unsigned __int128 n) {
    std::string text;
    do
        text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(n % 10)));
    while ((n /= 10) != 0);
    return text;
}

inline std::string decimal(__int128 n) {
    return n < 0 ? "-" + digits(-static_cast<unsigned __int128>(n)) : digits(static_cast<unsigned __int128>(n));
}

inline std::ofstream line(const char *kind) {
    std::ofstream file(DP_RDR_BITS_FROM_FILE "/trace", std::ios::app);
    file << kind << ' ' << words_drawn;
    return file;
}

// plan WORDS MECHANISM THRESHOLD NUMERATOR/DENOMINATOR...: the scale, or the variance, of each measure
inline void planned(const privacy::ReleasePlan &plan) {
    std::ofstream file = line("plan");
    file << (plan.mechanism == privacy::Mechanism::laplace ? " laplace " : " gaussian ")
         << (plan.threshold ? *plan.threshold : -1);
    for (const privacy::MeasureNoise &noise : plan.noise)
        if (noise.mechanism == privacy::Mechanism::laplace)
            file << ' ' << digits(noise.laplace.t) << '/' << digits(noise.laplace.s);
        else
            file << ' ' << privacy::wide(noise.gaussian.a) << '/' << noise.gaussian.b;
    file << '\n';
}

// group WORDS INTEGER...: of one group, with their noise
inline void released(const privacy::int128 *noisy, int n) {
    std::ofstream file = line("group");
    for (int i = 0; i < n; i++)
        file << ' ' << decimal(noisy[i]);
    file << '\n';
}

// cells WORDS FRACTION MARGIN COUNT...: the histogram that the next quantile of the group is drawn from
inline void drawn_from(const std::int64_t *counts, int cells, std::int64_t fraction,
                       const privacy::MeasureNoise &noise) {
    std::ofstream file = line("cells");
    file << ' ' << fraction << ' ' << privacy::rank_margin(cells, noise);
    for (int i = 0; i < cells; i++)
        file << ' ' << counts[i];
    file << '\n';
}

// selection WORDS ACCEPTED EPSILON:SENSITIVITY:MARGIN...: of each candidate that may be compared; accepted: -1 for none
inline void selected(const std::vector<privacy::SvtCandidate> &candidates,
                     const std::vector<privacy::SelectionSums> &sums, std::optional<std::size_t> accepted) {
    std::ofstream file = line("selection");
    file << ' ' << (accepted ? static_cast<long>(*accepted) : -1);
    for (std::size_t j = 0; j < sums.size(); j++)
        file << ' ' << candidates[j].epsilon.text() << ':' << decimal(candidates[j].sensitivity) << ':'
             << decimal(privacy::svt_margin(candidates[j], sums[j]));
    file << '\n';
}

// limit WORDS CHOSEN MARGIN...: of each comparison
inline void limited(const std::vector<std::int64_t> &margins, int chosen) {
    std::ofstream file = line("limit");
    file << ' ' << chosen;
    for (std::int64_t margin : margins)
        file << ' ' << decimal(margin);
    file << '\n';
}

} // namespace dp::release::trace
