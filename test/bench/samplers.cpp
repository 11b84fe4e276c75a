// Draws per second of both samplers on a cheap bit source. Floor: 100,000 at every scale (exit status 1 below it).
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>

#include "privacy/calibration.hpp"
#include "privacy/mechanism.hpp"
#include "privacy/noise_impl.hpp"

namespace {

using namespace dp::privacy;

constexpr double floor_per_second = 1e5;

class CheapBits final : public BitSource {
  public:
    result_type operator()() override { return engine_(); }

  private:
    std::mt19937_64 engine_{20240229};
};

template <class Draw> double draws_per_second(Draw draw) {
    using clock = std::chrono::steady_clock;
    const auto start = clock::now();
    long count = 0;
    double elapsed = 0, sum = 0;
    do {
        for (int i = 0; i < 1000; ++i)
            sum += static_cast<double>(draw());
        count += 1000;
        elapsed = std::chrono::duration<double>(clock::now() - start).count();
    } while (elapsed < 0.2);
    return std::isfinite(sum) ? static_cast<double>(count) / elapsed : 0;
}

bool report(const char *law, const std::string &scale, double rate) {
    std::printf("%-18s %-24s %12.0f draws/s\n", law, scale.c_str(), rate);
    return rate >= floor_per_second;
}

} // namespace

int main() {
    CheapBits bits;
    bool good = true;
    for (const char *text : {"0.1", "1", "10", "1000", "1000000", "1000000000"}) {
        const double scale = std::stod(text);
        LaplaceScale laplace;
        laplace.t = static_cast<uint128>(std::llround(10 * scale));
        laplace.s = 10;
        good &= report("discrete Laplace", text, draws_per_second([&] { return discrete_laplace(bits, laplace); }));
        const GaussianScale gaussian = gaussian_scale_up(scale);
        good &= report("discrete Gaussian", text, draws_per_second([&] { return discrete_gaussian(bits, gaussian); }));
    }
    // What releases draw: a fraction that does not reduce, and the widest scales there are.
    LaplaceScale pair;
    pair.t = (static_cast<uint128>(1) << 30) * 100000000;
    pair.s = 5260731;
    good &= report("discrete Laplace", "2^30 10^9 / 52607310", draws_per_second([&] { return discrete_laplace(bits, pair); }));
    LaplaceScale widest;
    widest.t = (static_cast<uint128>(1) << 99) + 1;
    widest.s = 52607311;
    good &= report("discrete Laplace", "2^99 / 52607311", draws_per_second([&] { return discrete_laplace(bits, widest); }));
    const GaussianScale wide = gaussian_scale_up(0x1p80 + 0x1p40);
    good &= report("discrete Gaussian", "2^80", draws_per_second([&] { return discrete_gaussian(bits, wide); }));
    return good ? 0 : 1;
}
