#include "picture/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace dp::picture {

constexpr double width = 640, height = 220, top = 22, bottom = 34, margin = 34;

Histogram::Histogram(double low, double high, std::size_t bins)
    : low_(low), high_(high), people_(high > low && bins > 0 ? bins : 1) {}

void Histogram::add(double value, std::int64_t people) {
    const double place = high_ > low_ ? (value - low_) / (high_ - low_) : 0;
    const auto last = static_cast<double>(people_.size() - 1);
    const double bin = std::floor(place * static_cast<double>(people_.size()));
    people_[static_cast<std::size_t>(std::min(std::max(bin, 0.0), last))] += people;
}

double Histogram::end(std::size_t i) const {
    return i == people_.size() ? high_
                               : low_ + (high_ - low_) * static_cast<double>(i) / static_cast<double>(people_.size());
}

// Risks that differ little beside the noise in them have to be told apart.
static std::string label(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.6g", value);
    return buffer;
}

static std::string words(const Histogram &histogram) {
    std::string all = "how many people have which risk:";
    for (std::size_t i = 0; i < histogram.people().size(); ++i)
        if (histogram.people()[i] > 0)
            all += ' ' + std::to_string(histogram.people()[i]) + " from " + label(histogram.end(i)) + " to " +
                   label(histogram.end(i + 1)) + ';';
    all.back() = '.';
    return all;
}

static void put_text(Html &html, double x, double y, const std::string &text) {
    html.put("text", {{"x", placed(x)}, {"y", placed(y)}, {"text-anchor", "middle"}}, text);
}

void Histogram::draw(Html &html) const {
    const std::int64_t most = std::max<std::int64_t>(*std::max_element(people_.begin(), people_.end()), 1);
    const double room = height - top - bottom, step = (width - 2 * margin) / static_cast<double>(people_.size());
    html.open(
        "svg",
        {{"role", "img"}, {"viewBox", "0 0 " + placed(width) + ' ' + placed(height)}, {"aria-label", words(*this)}});
    for (std::size_t i = 0; i < people_.size(); ++i) {
        const double x = margin + step * static_cast<double>(i);
        // Somebody is to be seen, however many others there are.
        const double share = static_cast<double>(people_[i]) / static_cast<double>(most);
        const double tall = people_[i] > 0 ? std::max(room * share, 2.0) : 0;
        if (people_[i] > 0) {
            html.empty("rect", {{"x", placed(x + 1)},
                                {"y", placed(height - bottom - tall)},
                                {"width", placed(step - 2)},
                                {"height", placed(tall)}});
            put_text(html, x + step / 2, height - bottom - tall - 6, std::to_string(people_[i]));
        }
    }
    html.empty("line", {{"x1", placed(margin)},
                        {"x2", placed(width - margin)},
                        {"y1", placed(height - bottom)},
                        {"y2", placed(height - bottom)}});
    const std::size_t every = (people_.size() + 4) / 5;
    for (std::size_t i = 0; i <= people_.size(); i += every)
        put_text(html, margin + step * static_cast<double>(i), height - bottom + 18, label(end(i)));
    html.close();
}

} // namespace dp::picture
