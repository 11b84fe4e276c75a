// How many of 300 counts a total of (10, 10^-6) answers to a relative error of 0.1, asked by accuracy (formulas.md 6.7). Counts
// fall as j^-a and are asked from the largest down, one round each; a run ends at the first that is not reached. Columns: what
// the server does for Gaussian noise and for Laplace noise, and what the literature compares it with, on grids that are fixed
// in advance and looked at point by point. The means must lie within 0.7 of the known ones, or five standard errors (exit status 1 if they do
// not).
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "privacy/calibration.hpp"
#include "privacy/zcdp.hpp"
#include "rounds.hpp"

namespace {

using namespace dp::privacy;
using namespace rounds;

constexpr double relative = 0.1, tolerance = 0.7;
constexpr int counts_asked = 300, records = 10000;

class CheapBits final : public BitSource {
  public:
    explicit CheapBits(std::uint64_t seed) : engine_(seed) {}
    result_type operator()() override { return engine_(); }

  private:
    std::mt19937_64 engine_;
};

const Epsilon total = *Epsilon::parse("10");
const Delta delta = *Delta::parse("1e-6");

Wanted wanted() {
    Wanted w;
    w.within = relative;
    return w;
}

std::vector<std::int64_t> counts(double a) {
    std::vector<double> shape;
    double sum = 0;
    for (int j = 1; j <= counts_asked; ++j)
        sum += shape.emplace_back(std::pow(j, -a));
    std::vector<std::int64_t> result;
    for (double s : shape)
        result.push_back(std::max<std::int64_t>(1, std::llround(records * s / sum)));
    return result;
}

struct Tally {
    double answered = 0, answered_squares = 0, within = 0;
    int runs = 0;
    void add(int n, int good) {
        answered += n;
        answered_squares += static_cast<double>(n) * n;
        within += good;
        ++runs;
    }
    double mean() const { return answered / runs; }
    double stddev() const { return std::sqrt(std::max(0.0, answered_squares / runs - mean() * mean())); }
};

bool is_within(double value, std::int64_t exact) {
    return std::fabs(value - static_cast<double>(exact)) <= relative * static_cast<double>(exact);
}

// One run: answer(exact, bits) gives the published value, or none where the round was not reached.
template <class Answer> void run_once(const std::vector<std::int64_t> &exact, Answer answer, Tally *tally) {
    int n = 0, good = 0;
    for (std::int64_t c : exact) {
        const std::optional<double> value = answer(c);
        if (!value)
            break;
        ++n;
        good += is_within(*value, c);
    }
    tally->add(n, good);
}

// ---- what is shipped ----

// apart: each count is in a cell of a partition, which has the total for itself (formulas.md 5.9).
template <bool apart> void gaussian_run(const std::vector<std::int64_t> &exact, BitSource &bits, Tally *tally) {
    const Rho cap = rho_cap(total, delta, Cap::classic);
    Rho spent;
    run_once(
        exact,
        [&](std::int64_t c) -> std::optional<double> {
            GaussianRound round(count(c), wanted(), cap);
            const bool reached = run(round, bits, cap - spent);
            spent = apart ? Rho() : spent + round.paid();
            return reached ? std::optional(round.seen().values[0]) : std::nullopt;
        },
        tally);
}

template <bool apart> void laplace_run(const std::vector<std::int64_t> &exact, BitSource &bits, Tally *tally) {
    Epsilon spent;
    run_once(
        exact,
        [&](std::int64_t c) -> std::optional<double> {
            LaplaceRound round(count(c), wanted(), total);
            const bool reached = run(round, bits, total - spent);
            spent = apart ? Epsilon() : spent + round.paid();
            return reached ? std::optional(round.seen().values[0]) : std::nullopt;
        },
        tally);
}

// ---- what it is compared with: rho from 10^-6 by a factor, point by point ----

// paid(rho): what stopping there costs; fresh: each look has noise of its own, and is paid for.
struct Baseline {
    double factor, total;
    bool fresh;
    std::function<double(double)> price;
};

double gaussian_draw(BitSource &bits, double variance) {
    return static_cast<double>(discrete_gaussian(bits, gaussian_scale_up(std::sqrt(variance) * 1024))) / 1024;
}

void baseline_run(const Baseline &b, const std::vector<std::int64_t> &exact, BitSource &bits, Tally *tally) {
    double spent = 0;
    run_once(
        exact,
        [&](std::int64_t c) -> std::optional<double> {
            double precision = 0, mean = 0, attempts = 0;
            for (double rho = 1e-6;; rho *= b.factor) {
                const double price = b.price(rho);
                if (spent + attempts + price > b.total)
                    return std::nullopt;
                const double added = b.fresh ? 2 * rho : 2 * rho - precision; // of precision: 1/variance
                const double measured = static_cast<double>(c) + gaussian_draw(bits, 1 / added);
                mean = b.fresh ? measured : (mean * precision + measured * added) / (precision + added);
                precision = b.fresh ? 2 * rho : precision + added;
                if (accurate(wanted(), mean, std::sqrt(1 / precision), 0)) {
                    spent += attempts + price;
                    return mean;
                }
                attempts += b.fresh ? price : 0;
            }
        },
        tally);
}

// The ex-post bound of the mixture at delta / 300 each, gamma in the middle of the precisions that are looked at.
double mixture(double rho) {
    constexpr double gamma = 0.0045;
    const double l = 2 * std::log(counts_asked / 1e-6), s = 2 * rho;
    return rho + std::sqrt((s + gamma) * (l + std::log((s + gamma) / gamma)));
}

struct Column {
    const char *name;
    double known[3]; // means at a = 0.5, 0.75, 1
    std::function<void(const std::vector<std::int64_t> &, BitSource &, Tally *)> run;
};

std::vector<Column> columns() {
    const double cap = rho_cap_classic(10, 1e-6);
    const auto in_rho = [](double rho) { return rho; };
    const auto baseline = [](Baseline b) {
        return [b](const std::vector<std::int64_t> &exact, BitSource &bits, Tally *tally) {
            baseline_run(b, exact, bits, tally);
        };
    };
    return {{"Gaussian rounds, as shipped", {59.6, 60.0, 52.6}, gaussian_run<false>},
            {"Laplace rounds, as shipped", {41.7, 45.1, 43.3}, laplace_run<false>},
            {"Gaussian, a cell for each", {300, 300, 213}, gaussian_run<true>},
            {"Laplace, a cell for each", {300, 300, 300}, laplace_run<true>},
            {"Brownian, unified, 2^(1/4)", {59.8, 60.1, 52.6}, baseline({std::pow(2, 0.25), cap, false, in_rho})},
            {"Brownian, unified, 2", {51.8, 53.4, 48.0}, baseline({2, cap, false, in_rho})},
            {"doubling, fresh noise, 2", {36.3, 40.6, 37.8}, baseline({2, cap, true, in_rho})},
            {"Brownian, ex-post mixture", {12.5, 15.0, 16.0}, baseline({std::pow(2, 0.25), 10, false, mixture})}};
}

} // namespace

// Arguments: runs (200), seed (1).
int main(int argc, char **argv) {
    const int runs = argc > 1 ? std::atoi(argv[1]) : 200;
    CheapBits bits(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
    const double shapes[] = {0.5, 0.75, 1};
    bool good = true;
    std::printf("%-28s %5s %8s %6s %7s %7s\n", "counts answered", "a", "mean", "sd", "known", "within");
    for (const Column &column : columns())
        for (int i = 0; i < 3; ++i) {
            const std::vector<std::int64_t> exact = counts(shapes[i]);
            Tally tally;
            for (int run = 0; run < runs; ++run)
                column.run(exact, bits, &tally);
            const double chance = 5 * tally.stddev() / std::sqrt(runs);
            const bool near = std::fabs(tally.mean() - column.known[i]) <= std::max(tolerance, chance);
            std::printf("%-28s %5.2f %8.2f %6.2f %7.1f %7.3f%s\n", column.name, shapes[i], tally.mean(), tally.stddev(),
                        column.known[i], tally.within / tally.answered, near ? "" : "  too far");
            good &= near;
        }
    return good ? 0 : 1;
}
