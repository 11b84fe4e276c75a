// How many people have which risk, as SVG.
#pragma once

#include <cstdint>
#include <vector>

#include "picture/html.hpp"

namespace dp::picture {

class Histogram {
  public:
    // Bins of equal width from low to high, both included; one where they are equal.
    Histogram(double low, double high, std::size_t bins);
    void add(double value, std::int64_t people);
    const std::vector<std::int64_t> &people() const { return people_; }
    double end(std::size_t i) const; // the lower one of bin i; the upper one of the last bin is end(people().size())
    void draw(Html &html) const;

  private:
    double low_, high_;
    std::vector<std::int64_t> people_;
};

} // namespace dp::picture
