#include "privacy/running_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "privacy/exact.hpp"
#include "privacy/wide.hpp"

namespace dp::privacy {

namespace {

using exact::cpp_int;

constexpr std::size_t longest_number = 200; // digits, in the text of a state
// A weight is a multiple of 2^-weight_bits: variances are below 2^198, so it keeps 90 bits or more.
constexpr unsigned weight_bits = 288;

// numerator / denominator to the nearest integer, half away from zero; the nearest int128 where it is beyond them.
int128 rounded(const cpp_int &numerator, const cpp_int &denominator) {
    const cpp_int largest = (cpp_int(1) << 127) - 1;
    const cpp_int magnitude = (2 * abs(numerator) + denominator) / (2 * denominator);
    const auto result = static_cast<int128>(cpp_int(std::min(magnitude, largest)).convert_to<__int128>());
    return numerator < 0 ? -result : result;
}

double half_a_unit(int bits) {
    return std::ldexp(0.5, -bits);
}

double quantile() {
    static const double value = normal_upper_quantile(0.025);
    return value;
}

// 1/sigma^2, rounded down: with fractions of different denominators the sums would grow with each measurement.
cpp_int weight_of(const GaussianScale &scale) {
    return (cpp_int(scale.b) << weight_bits) / cpp_int(wide(scale.a));
}

[[noreturn]] void malformed() {
    throw InvalidParameter("this is not the state of a running mean");
}

cpp_int read_integer(std::istream &in) {
    std::string word;
    if (!(in >> word) || word.size() > longest_number)
        malformed();
    const std::size_t sign = word.front() == '-' ? 1 : 0;
    if (word.size() == sign || word.find_first_not_of("0123456789", sign) != std::string::npos)
        malformed();
    return cpp_int(word.c_str() + std::min(word.find_first_not_of("-0"), word.size() - 1)) * (sign == 1 ? -1 : 1);
}

// An integer within first .. last.
std::int64_t read_number(std::istream &in, std::int64_t first, std::int64_t last) {
    const cpp_int number = read_integer(in);
    if (number < first || number > last)
        malformed();
    return number.convert_to<std::int64_t>();
}

} // namespace

RunningMean::RunningMean(std::size_t measures, std::size_t groups)
    : groups_(groups), weights_(measures), weighted_(measures * groups) {}

void RunningMean::add(const ReleasePlan &plan, const std::vector<__int128> &measured) {
    if (plan.mechanism != Mechanism::gaussian || plan.noise.size() != measures() || measured.size() != weighted_.size())
        throw std::logic_error("a measurement of other sums");
    for (std::size_t j = 0; j < measures(); ++j) {
        const integer weight = weight_of(plan.noise[j].gaussian);
        weights_[j] += weight;
        for (std::size_t at = j; at < weighted_.size(); at += measures())
            weighted_[at] += weight * exact::integer(measured[at]);
    }
    rho_ = rho_ + plan.rho();
}

int128 RunningMean::mean(std::size_t group, std::size_t measure, int bits) const {
    if (empty())
        throw std::logic_error("nothing was measured yet");
    return rounded(weighted_[group * measures() + measure] << static_cast<unsigned>(bits), weights_[measure]);
}

// The variance of discrete Gaussian noise is at most its parameter, and a weight at most one by that.
double RunningMean::stddev(std::size_t measure) const {
    return 1 / std::sqrt(std::ldexp(weights_[measure].convert_to<double>(), -static_cast<int>(weight_bits)));
}

// Rounded to the lattice, the distance from the exact sum is an integer: what is beyond the last one is no width.
double RunningMean::halfwidth(std::size_t measure, int bits) const {
    const double width = quantile() * stddev(measure) + half_a_unit(bits);
    return bits == 0 ? std::floor(width) : width;
}

double RunningMean::stddev_for(double halfwidth, int bits) {
    const double width = bits == 0 ? std::floor(halfwidth) + 1 : halfwidth;
    return std::max(0.0, (width - half_a_unit(bits)) / quantile() * (1 - 1e-12));
}

std::string RunningMean::text() const {
    std::ostringstream out;
    out << measures() << ' ' << groups_ << ' ' << to_text(rho_.units());
    for (const integer &weight : weights_)
        out << ' ' << weight;
    for (const cpp_int &sum : weighted_)
        out << ' ' << sum;
    return out.str();
}

RunningMean RunningMean::from_text(const std::string &text) {
    std::istringstream in(text);
    const auto most = static_cast<std::int64_t>(text.size()); // each number takes a character
    const std::int64_t measures = read_number(in, 1, most), groups = read_number(in, 1, most);
    if (measures > most / groups)
        malformed();
    RunningMean mean(static_cast<std::size_t>(measures), static_cast<std::size_t>(groups));
    mean.rho_ = Rho::from_units(read_number(in, 0, std::numeric_limits<std::int64_t>::max()));
    for (integer &weight : mean.weights_) {
        weight = read_integer(in);
        if (weight < (mean.empty() ? 0 : 1))
            malformed();
    }
    for (cpp_int &sum : mean.weighted_)
        sum = read_integer(in);
    if (std::string rest; in >> rest)
        malformed();
    return mean;
}

} // namespace dp::privacy
