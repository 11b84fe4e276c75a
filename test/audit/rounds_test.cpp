// The audit of answers by accuracy: rounds on neighbouring counts, alone and in turns; and mistakes planted in front of the
// shipped core, each of which it must find.
//
// False alarms: see audit_test.cpp. There are fewer than 300 findings here.
#include "rounds.hpp"

#include <cstdio>

#include <gtest/gtest.h>

namespace audit {
namespace {

using namespace dp::privacy;

Epsilon eps(const char *text) {
    return *Epsilon::parse(text);
}
Rho rho(const char *text) {
    return *Rho::parse(text);
}

// A round draws many times: half of the draws do, of Gaussian ones, with some fifty measurements each, a tenth.
std::uint64_t some() {
    return std::max<std::uint64_t>(1000, draws() / 2);
}
std::uint64_t fewer() {
    return std::max<std::uint64_t>(1000, draws() / 10);
}

void expect_kept(const Subject &s, std::uint64_t n = some()) {
    const Report report = run(s, n);
    print(s.name, report);
    EXPECT_FALSE(report.fail()) << s.name << "\n" << report.text();
}

void expect_found(const Subject &s, std::uint64_t n = some()) {
    const Report report = run(s, n);
    const Finding &worst = report.worst();
    std::printf("%-60s certified loss %5.2f, claim %4.2f: %s\n", s.name.c_str(), worst.certified_loss(),
                worst.event.statistic->claim.epsilon, worst.event.text().c_str());
    EXPECT_TRUE(report.fail()) << s.name << "\n" << report.text();
}

// ---- What is shipped ----

TEST(Rounds, Laplace) {
    expect_kept(laplace_subject("Laplace round, 20 and 21", 20, 21, within(0.5), {eps("1")}));
    expect_kept(laplace_subject("Laplace round, 0 and 1", 0, 1, within(0.5), {eps("1")}));
}

TEST(Rounds, LaplaceInTurns) {
    expect_kept(laplace_subject("Laplace rounds in turns, 20 and 21", 20, 21, within(0.5), {eps("0.5"), eps("0.7")}));
}

TEST(Rounds, Gaussian) {
    expect_kept(gaussian_subject("Gaussian round, 20 and 21", 20, 21, within(0.5), {rho("0.4")}), fewer());
    expect_kept(gaussian_subject("Gaussian round, 0 and 1", 0, 1, within(0.5), {rho("0.4")}), fewer());
}

TEST(Rounds, GaussianInTurns) {
    expect_kept(gaussian_subject("Gaussian rounds in turns, 20 and 21", 20, 21, within(0.5), {rho("0.2"), rho("0.3")}),
                fewer());
}

// ---- Planted mistakes ----

TEST(PlantedInRounds, FreshNoiseAtEachLook) {
    RoundTampering tampering;
    const LaplaceGrid grid(eps("1"), measured({1}));
    tampering.noise = [grid](BitSource &bits, const LaplacePath &, std::size_t point, std::size_t, std::size_t) {
        return draw(bits, grid.noise(point, 0));
    };
    expect_found(
        laplace_subject("fresh noise at each look, the last one charged", 0, 1, within(0.5), {eps("1")}, tampering));
}

TEST(PlantedInRounds, TheSameNoiseAtEachLook) {
    RoundTampering tampering;
    const std::size_t last = LaplaceGrid(eps("1"), measured({1})).size() - 1;
    tampering.noise = [last](BitSource &, const LaplacePath &path, std::size_t, std::size_t group,
                             std::size_t measure) { return path.noise(last, group, measure); };
    expect_found(laplace_subject("the least noise at each look", 20, 21, within(0.5), {eps("1")}, tampering));
}

TEST(PlantedInRounds, OnlyTheLastIncrementCharged) {
    RoundTampering tampering;
    tampering.only_last_increment = true;
    expect_found(
        laplace_subject("Laplace round, only the last increment charged", 0, 1, within(0.5), {eps("1")}, tampering));
    expect_found(
        gaussian_subject("Gaussian round, only the last increment charged", 0, 1, within(0.5), {rho("2")}, tampering),
        fewer());
}

TEST(PlantedInRounds, DecidesByTheExactSum) {
    RoundTampering tampering;
    tampering.decides_by_exact_sums = true;
    expect_found(laplace_subject("where to stop, by the exact sum", 20, 21, within(0.5), {eps("1")}, tampering));
}

// A row that goes away between two looks, against one that never was there.
TEST(PlantedInRounds, ReadsAgain) {
    RoundTampering tampering;
    tampering.later = 20;
    expect_found(
        laplace_subject("Laplace noise of one read added to another", 20, 21, within(0.5), {eps("0.0016")}, tampering));
}

} // namespace
} // namespace audit
