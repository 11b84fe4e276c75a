// The law of a number that is printed of one group (formulas.md 1.2a): how much farther it is from the number without somebody than from
// the exact one. For the controller alone.
#pragma once

#include <memory>
#include <utility>

#include "privacy/printed_numbers.hpp"

namespace dp::privacy {

// Holds numbers with their probabilities. Distances from another number take a search, however many there are.
class PointLaw {
  public:
    static constexpr double no_limit = 1e100;
    // points: numbers and probabilities. limit: a larger distance counts as that.
    explicit PointLaw(std::vector<std::pair<double, double>> points, double limit = no_limit);
    double mean(double from) const;   // of the distance
    double square(double from) const; // of its square

  private:
    // Sums over all points in front of one: of probabilities, and of these times the number and its square.
    struct Sums {
        long double weight = 0, first = 0, second = 0;
    };
    Sums between(std::size_t a, std::size_t b) const;
    std::size_t place(double value) const;
    std::vector<double> values_;
    std::vector<Sums> sums_;
    double limit_;
};

// Distances are in units of the number's largest change, those of the mean (`size`) or of its square.
class NumberLaw {
  public:
    enum class Of { size, square };
    NumberLaw(const PrintedNumber &number, const MeasureNoise &noise, const int128 *sums, Of of);
    // Returns how much farther the number is from the one without `change` than from the exact one.
    double excess(const int128 *change);
    // Returns the distance from the exact number, of an average or a number of other sums.
    double mean() const;

  private:
    double average_excess(double offset);
    bool has_points() const;
    PrintedNumber number_;
    MeasureNoise noise_;
    int128 sums_[most_coordinates] = {};
    Of of_;
    double weight_;
    std::unique_ptr<PrintedAverage> average_;
    std::unique_ptr<AverageDistances> table_; // made for groups of many people
    std::size_t asked_ = 0;
    std::unique_ptr<PointLaw> points_;
    double exact_ = 0;
};

} // namespace dp::privacy
