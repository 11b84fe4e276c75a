// Draws per second of the exact samplers, over scales from a tenth of a lattice step to a billion of them.
// The bits come from the kernel in blocks, as the server's do.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <sys/random.h>

#include "privacy/noise.hpp"

namespace {

using namespace dp::privacy;

class KernelBits final : public BitSource {
  public:
    result_type operator()() override {
        if (next_ == words)
            refill();
        return block_[next_++];
    }

  private:
    static constexpr int words = 128;

    void refill() {
        if (getrandom(block_, sizeof block_, 0) != static_cast<ssize_t>(sizeof block_)) {
            std::perror("getrandom");
            std::exit(1);
        }
        next_ = 0;
    }

    std::uint64_t block_[words];
    int next_ = words;
};

// Draws for about half a second, in batches so that the clock does not count.
template <class Draw> double draws_per_second(Draw draw) {
    using clock = std::chrono::steady_clock;
    constexpr int batch = 1000;
    const auto begin = clock::now();
    std::int64_t draws = 0;
    std::chrono::duration<double> elapsed{};
    do {
        for (int i = 0; i < batch; ++i)
            draw();
        draws += batch;
        elapsed = clock::now() - begin;
    } while (elapsed.count() < 0.5);
    return static_cast<double>(draws) / elapsed.count();
}

struct Scale {
    const char *name;
    LaplaceScale laplace;
    GaussianScale gaussian;
};

// The Gaussian's a/b is the square of the scale; b as the release would choose it.
constexpr std::uint32_t fine = 1u << 20;
// clang-format off
const Scale scales[] = {
    {"0.1", {1, 10}, {fine / 100, fine}},
    {"1", {1, 1}, {fine, fine}},
    {"10", {10, 1}, {100ull * fine, fine}},
    {"1e3", {1000, 1}, {1000000, 1}},
    {"1e6", {1000000, 1}, {1000000000000, 1}},
    {"1e9", {1000000000, 1}, {1000000000000000000, 1}},
};
// clang-format on

} // namespace

int main() {
    KernelBits bits;
    std::int64_t sink = 0; // keeps the draws from being optimised away
    std::printf("%8s %22s %22s\n", "scale", "discrete Laplace / s", "discrete Gaussian / s");
    for (const Scale &scale : scales) {
        const double laplace =
            draws_per_second([&] { sink += static_cast<std::int64_t>(discrete_laplace(bits, scale.laplace)); });
        const double gaussian =
            draws_per_second([&] { sink += static_cast<std::int64_t>(discrete_gaussian(bits, scale.gaussian)); });
        std::printf("%8s %22.0f %22.0f\n", scale.name, laplace, gaussian);
    }
    return sink == INT64_MIN;
}
