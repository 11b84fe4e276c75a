#include "picture/range_plot.hpp"

#include <algorithm>
#include <cmath>

namespace dp::picture {

// A drawing is 400 wide, with a margin for labels that stand below the ends.
constexpr double width = 400, margin = 14, bar_height = 20, axis_height = 22;

RangeScale::RangeScale(const std::vector<Range> &ranges) {
    double least = 0, most = 0, lowest = 0;
    for (const Range &range : ranges) {
        if (!(range.high > 0) || !std::isfinite(range.high))
            continue;
        const bool first = most == 0;
        least = first ? range.high : std::min(least, range.high);
        lowest = first ? range.low : std::min(lowest, range.low);
        most = std::max(most, range.high);
    }
    if (most == 0) // nobody is exposed at all
        return;
    low_ = std::max(lowest, least / 5);
    high_ = std::max(most, low_ * 1.01);
}

double RangeScale::place(double value) const {
    if (!(value > low_))
        return 0;
    return std::min((std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_)), 1.0);
}

std::vector<double> RangeScale::powers_of_ten() const {
    std::vector<double> powers;
    const int first = static_cast<int>(std::ceil(std::log10(low_) - 1e-9));
    const int last = static_cast<int>(std::floor(std::log10(high_) + 1e-9));
    const int step = 1 + std::max(last - first, 0) / 10;
    for (int power = first; power <= last; power += step)
        powers.push_back(std::pow(10.0, power));
    return powers;
}

static double at(const RangeScale &scale, double value) {
    return margin + scale.place(value) * (width - 2 * margin);
}

static void begin(Html &html, double height, const std::string &label) {
    html.open("svg",
              {{"role", "img"}, {"viewBox", "0 0 " + placed(width) + ' ' + placed(height)}, {"aria-label", label}});
}

static void put_line(Html &html, double x, double height) {
    html.empty("line", {{"x1", placed(x)}, {"x2", placed(x)}, {"y1", "0"}, {"y2", placed(height)}});
}

void draw_axis(Html &html, const RangeScale &scale) {
    begin(html, axis_height, "logarithmic scale of the risk from " + shown(scale.low()) + " to " + shown(scale.high()));
    for (double power : scale.powers_of_ten()) {
        put_line(html, at(scale, power), 5);
        html.put("text", {{"x", placed(at(scale, power))}, {"y", "18"}, {"text-anchor", "middle"}}, shown(power));
    }
    html.close();
}

void draw_range(Html &html, const RangeScale &scale, const Range &range) {
    const double from = at(scale, range.low), to = at(scale, range.high);
    const double least = 3, middle = bar_height / 2;
    begin(html, bar_height, "risk from " + shown(range.low) + " to " + shown(range.high));
    for (double power : scale.powers_of_ten())
        put_line(html, at(scale, power), bar_height);
    const double bar = std::max(to - from, least);
    html.empty("rect", {{"x", placed(std::min(from, width - margin - bar))},
                        {"y", placed(middle - 5)},
                        {"width", placed(bar)},
                        {"height", "10"},
                        {"rx", "1.5"}});
    if (scale.is_cut(range))
        html.empty("path", {{"d", "M" + placed(from) + ' ' + placed(middle - 8) + " L" + placed(from - 9) + ' ' +
                                      placed(middle) + " L" + placed(from) + ' ' + placed(middle + 8) + " Z"}});
    html.close();
}

} // namespace dp::picture
