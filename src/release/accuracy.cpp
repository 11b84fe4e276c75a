#include "release/accuracy.hpp"

#include <limits>

namespace dp::release {

double halfwidth(const rows::Question *question, const privacy::ReleasePlan &plan, int aggregate) {
    int j = question->measure_of[aggregate];
    if ((*question->measures)[j].kind != privacy::MeasureKind::pair)
        return privacy::measure_halfwidth(plan.noise[j], question->bounds[j]);
    switch (question->leaf->aggregates[aggregate].fn) {
    case privacy::Aggregate::avg:
        return std::numeric_limits<double>::quiet_NaN();
    case privacy::Aggregate::sum:
        return privacy::pair_sum_halfwidth(plan.noise[j], *question->bounds[j]);
    default:
        return privacy::pair_count_halfwidth(plan.noise[j]);
    }
}

} // namespace dp::release
