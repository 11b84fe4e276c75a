#include "privacy/risk.hpp"

#include <cmath>

namespace dp::privacy {

double leave_one_out_count_star() {
    return 1;
}

double leave_one_out_count(bool has_value) {
    return has_value ? 1 : 0;
}

double leave_one_out_sum(bool has_value, double v) {
    return has_value ? std::fabs(v) : 0;
}

double leave_one_out_avg(const GroupState &group, bool has_value, double v, double z) {
    if (!has_value)
        return 0;
    // The last value takes the average with it: the aggregate becomes NULL, which stands for z.
    if (group.values <= 1)
        return std::fabs(v - z);
    // |v - S/n| as |n v - S| / n: for values far from zero the difference is formed before anything is rounded.
    const long double n = group.values;
    return static_cast<double>(std::fabs(n * v - group.sum) / n / (n - 1));
}

} // namespace dp::privacy
