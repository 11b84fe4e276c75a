// Risks from the smallest to the largest as bars on one logarithmic scale, as SVG: equal lengths are equal ratios.
#pragma once

#include <vector>

#include "picture/html.hpp"

namespace dp::picture {

// RDR_min and RDR_max of one candidate.
struct Range {
    double low = 0, high = 0;
};

class RangeScale {
  public:
    // From a fifth of the smallest RDR_max: what is below is cut there, and ends in an arrow. A candidate with next to no noise would
    // squeeze all the others.
    explicit RangeScale(const std::vector<Range> &ranges);
    double place(double value) const; // 0..1; what is beyond is at its end
    bool is_cut(const Range &range) const { return range.low < low_ * (1 - 1e-9); }
    std::vector<double> powers_of_ten() const; // on the scale, at most ten
    double low() const { return low_; }
    double high() const { return high_; }

  private:
    double low_ = 1, high_ = 10;
};

void draw_axis(Html &html, const RangeScale &scale);
void draw_range(Html &html, const RangeScale &scale, const Range &range);

} // namespace dp::picture
