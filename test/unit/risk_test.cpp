// The indicator and what follows from it: RDR, leave-one-out, Find-epsilon, the analyst's price, the risk table; and why
// nothing chosen from the data is ever shown to an analyst (formulas.md, section 4).

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "find_eps.hpp"
#include "reference.hpp"

#include "privacy/accounting.hpp"
#include "privacy/calibration.hpp"
#include "privacy/risk.hpp"
#include "privacy/risk_exact.hpp"

namespace {

using namespace dp::privacy;
using reference::Case;
using reference::json;

Epsilon eps(const char *text) {
    return Epsilon::parse(text).value();
}

// Decimals of the file: what lies beyond nine places is cut off, as it is for users.
Epsilon decimal(const json &j) {
    return Epsilon::parse(reference::text(j)).value();
}

std::vector<Epsilon> candidates_of(const Case &c) {
    std::vector<Epsilon> candidates;
    for (const json &j : reference::list(c.arg("candidates")))
        candidates.push_back(decimal(j));
    return candidates;
}

std::vector<NoiseMeasure> measures_of(const Case &c) {
    std::vector<NoiseMeasure> measures;
    for (const json &j : c.arg("measures"))
        measures.push_back({j.at("k").get<double>(), j.at("D").get<double>()});
    return measures;
}

double num(const Case &c, const char *name) {
    return reference::number(c.arg(name));
}

// Candidates are decimals: equal or not, no tolerance.
void same(const std::optional<Epsilon> &got, const json &want, const std::string &what) {
    const std::string found = got ? got->text() : "none", wanted = want.is_null() ? "none" : decimal(want).text();
    EXPECT_EQ(found, wanted) << what;
}

double random_in(std::mt19937_64 &random, double low, double high) {
    return std::uniform_real_distribution<>(low, high)(random);
}
int random_int(std::mt19937_64 &random, int low, int high) {
    return std::uniform_int_distribution<>(low, high)(random);
}

// ---- RDR ----

TEST(Rdr, Laplace) {
    reference::each("rdr_laplace", [](const Case &c) {
        const double scale = num(c, "delta1") / num(c, "eps");
        c.near(rdr_of(num(c, "pis"), Mechanism::laplace, num(c, "k") * scale));
    });
}

TEST(Rdr, Gaussian) {
    reference::each("rdr_gaussian", [](const Case &c) {
        c.near(rdr_of(num(c, "pis"), Mechanism::gaussian, num(c, "k") * std::pow(num(c, "sigma"), 2)));
    });
}

TEST(Rdr, NoiseTerm) {
    reference::each("rdr_noise_term", [](const Case &c) { c.near(rdr_noise_term(num(c, "eps"), measures_of(c))); });
}

// The exact indicator of integer noise DLap(b) on each coordinate.
double discrete_laplace_rdr(const std::vector<double> &difference, double b) {
    const ExactRdr rdr({{NoiseFamily::discrete_laplace, b, 1, static_cast<double>(difference.size())}},
                       std::vector<int>(difference.size(), 0), 0);
    return rdr.of(difference.data());
}

TEST(Rdr, DiscreteLaplace) {
    reference::each("rdr_discrete_laplace", [](const Case &c) {
        const auto difference = c.arg("diff").get<std::vector<double>>();
        const double b = num(c, "b"), k = static_cast<double>(difference.size());
        double pis = 0;
        for (double d : difference)
            pis += std::fabs(d);
        c.field(rdr_of(pis, Mechanism::laplace, k * discrete_laplace_mean_abs(b)), "bound");
        c.field(discrete_laplace_rdr(difference, b), "exact");
    });
}

// The definition, summed over the law itself: E|d + Z|.
TEST(Rdr, DiscreteLaplaceIsTheExpectationOverTheLaw) {
    for (double b : {0.2, 1.0, 3.7})
        for (int d : {0, 1, 5}) {
            double expectation = 0;
            for (int z = -400; z <= 400; ++z)
                expectation += std::abs(d + z) * discrete_laplace_pmf(b, z);
            const double exact = discrete_laplace_rdr({static_cast<double>(d)}, b);
            EXPECT_NEAR(exact, expectation, 1e-12 * (1 + expectation));
            EXPECT_LE(exact, (d + discrete_laplace_mean_abs(b)) * (1 + 1e-15));
        }
}

TEST(Rdr, NoiseTermAtTheEdges) {
    const double wide = std::ldexp(1.0, 40);
    EXPECT_DOUBLE_EQ(rdr_noise_term(1e-9, {{1, 1}}), 1e9);
    EXPECT_DOUBLE_EQ(rdr_noise_term(1e-9, {{3, wide}}), 3e9);
    EXPECT_DOUBLE_EQ(rdr_noise_term(100, {{1, wide}}), 0.01);
    EXPECT_GT(rdr_noise_term(100, {{1, 1}}), 0);
    EXPECT_EQ(rdr_noise_term(1e4, {{1, 1}}), 0); // sinh overflows: no noise is left
    // k/sinh(eps/m) <= N(eps) <= k m/eps on every lattice.
    for (double D : {1.0, 2.0, 1e3, wide})
        for (double e : {1e-9, 0.05, 1.0, 10.0}) {
            EXPECT_GE(rdr_noise_term(e, {{2, D}, {1, D}}) * (1 + 1e-14), 3 / std::sinh(e / 2));
            EXPECT_LE(rdr_noise_term(e, {{2, D}, {1, D}}), 6 / e * (1 + 1e-14));
        }
}

TEST(Rdr, DiscreteNoiseWithoutSpreadLeavesTheDifference) {
    EXPECT_EQ(discrete_laplace_mean_abs(1e-4), 0);
    EXPECT_EQ(discrete_laplace_rdr({3, 0}, 1e-4), 3);
}

// ---- Candidates ----

TEST(Candidates, OfThePapers) {
    const json &listed = reference::file().at("paper37");
    ASSERT_EQ(paper_candidates().size(), listed.size());
    for (std::size_t i = 0; i < listed.size(); ++i)
        same(paper_candidates()[i], listed.at(i), "candidate " + std::to_string(i));
    EXPECT_EQ(checked_candidates(paper_candidates()), paper_candidates());
}

TEST(Candidates, AreChecked) {
    EXPECT_EQ(checked_candidates({eps("0.1"), eps("3"), eps("0.000000001"), eps("100")}),
              (std::vector<Epsilon>{eps("100"), eps("3"), eps("0.1"), eps("0.000000001")}));
    EXPECT_THROW(checked_candidates({}), InvalidParameter);
    EXPECT_THROW(checked_candidates({eps("1"), eps("1.0")}), InvalidParameter);
    EXPECT_THROW(checked_candidates({eps("0"), eps("1")}), InvalidParameter);
    EXPECT_THROW(checked_candidates({eps("-1")}), InvalidParameter);
    EXPECT_THROW(checked_candidates({eps("100.000000001")}), InvalidParameter);
    std::vector<Epsilon> many;
    for (int i = 1; i <= 65; ++i)
        many.push_back(Epsilon::from_units(i));
    EXPECT_THROW(checked_candidates(many), InvalidParameter);
    many.pop_back();
    EXPECT_EQ(checked_candidates(many).size(), 64u);
}

TEST(Candidates, TauIsAProbability) {
    EXPECT_NO_THROW(check_tau(0));
    EXPECT_NO_THROW(check_tau(1));
    for (double tau : {-1e-300, 1.0000001, std::nan(""), infinite_epsilon, -infinite_epsilon})
        EXPECT_THROW(check_tau(tau), InvalidParameter);
}

TEST(Candidates, TheLargestWithinTheLimit) {
    const std::vector<Epsilon> three{eps("1"), eps("0.3"), eps("0.1")};
    EXPECT_EQ(largest_candidate(three, infinite_epsilon, 1e-12), eps("1"));
    EXPECT_EQ(largest_candidate(three, 0.3 * (1 - 1e-13), 1e-12), eps("0.3"));
    EXPECT_EQ(largest_candidate(three, 0.3 * (1 - 1e-11), 1e-12), eps("0.1"));
    EXPECT_EQ(largest_candidate(three, 0.3 * (1 - 1e-9), 1e-8), eps("0.3"));
    EXPECT_EQ(largest_candidate(three, 0.09, 1e-12), std::nullopt);
    EXPECT_EQ(largest_candidate(three, 0, 1e-12), std::nullopt);
    EXPECT_EQ(largest_candidate(three, std::nan(""), 1e-12), std::nullopt);
    EXPECT_EQ(largest_candidate({}, infinite_epsilon, 1e-12), std::nullopt);
}

// ---- Find-epsilon ----

// On a lattice as wide as this the noise is that of the papers' formula, epsilon* = k (1-tau)/(tau p_max - p_min).
EpsilonChoice find_on_a_wide_lattice(double pis_min, double pis_max, double k, double tau,
                                     const std::vector<Epsilon> &candidates) {
    return find_eps_sound(pis_min, pis_max, {{k, std::ldexp(1.0, 50)}}, tau, candidates);
}

TEST(FindEpsilon, Laplace) {
    reference::each("find_eps_laplace", [](const Case &c) {
        const double unit = num(c, "delta1");
        const EpsilonChoice choice = find_on_a_wide_lattice(num(c, "pis_min") / unit, num(c, "pis_max") / unit,
                                                            num(c, "k"), num(c, "tau"), candidates_of(c));
        c.field(choice.eps_star, "eps_star");
        same(choice.chosen, c.expect("chosen"), c.id());
    });
}

TEST(FindEpsilon, Sound) {
    reference::each("find_eps_sound", [](const Case &c) {
        const std::vector<NoiseMeasure> measures = measures_of(c);
        const EpsilonChoice choice =
            find_eps_sound(num(c, "pis_min"), num(c, "pis_max"), measures, num(c, "tau"), candidates_of(c));
        c.field(choice.eps_star, "eps_star");
        same(choice.chosen, c.expect("chosen"), c.id());
        std::optional<double> noise;
        if (choice.chosen)
            noise = rdr_noise_term(choice.chosen->value(), measures);
        c.field(noise, "noise_term_at_chosen");
    });
}

TEST(FindEpsilon, Gaussian) {
    reference::each("find_eps_gaussian", [](const Case &c) {
        const GaussianChoice choice =
            find_eps_gaussian(num(c, "pis_min"), num(c, "pis_max"), num(c, "k"), num(c, "delta2"), num(c, "tau"),
                              num(c, "delta"), candidates_of(c));
        c.field(choice.sigma_star, "sigma_star");
        c.field(choice.classic.eps_star, "eps_star_classic");
        c.field(choice.analytic.eps_star, "eps_star_analytic");
        same(choice.classic.chosen, c.expect("chosen_classic"), c.id() + " classic");
        same(choice.analytic.chosen, c.expect("chosen_analytic"), c.id() + " analytic");
    });
}

TEST(FindEpsilon, GaussianEdges) {
    const auto &list = paper_candidates();
    GaussianChoice choice = find_eps_gaussian(0, 1, 1, 1, 0, 1e-5, list); // tau = 0: anything
    EXPECT_EQ(choice.sigma_star, 0);
    EXPECT_EQ(choice.analytic.chosen, eps("10"));
    choice = find_eps_gaussian(0, 1, 1, 1, 1, 1e-5, list); // tau = 1: nothing
    EXPECT_EQ(choice.sigma_star, infinite_epsilon);
    EXPECT_EQ(choice.analytic.eps_star, 0);
    EXPECT_EQ(choice.analytic.chosen, std::nullopt);
    EXPECT_EQ(choice.classic.chosen, std::nullopt);
    EXPECT_EQ(find_eps_gaussian(2, 2, 1, 1, 1, 1e-5, list).analytic.chosen, eps("10")); // equal risks
    // More noise than epsilon = 0 needs at this delta.
    EXPECT_EQ(find_eps_gaussian(0, 1, 1, 1, 1 - 1e-12, 1e-5, list).analytic.eps_star, 0);
    // Next to no noise: epsilon beyond every candidate, still finite and growing.
    double last = 0;
    for (double tau : {1e-2, 1e-3, 4.8e-4, 1e-6, 1e-100}) {
        const double star = find_eps_gaussian(0, 1, 1, 1, tau, 1e-5, list).analytic.eps_star;
        EXPECT_TRUE(std::isfinite(star) && star > last) << tau << " " << star;
        last = star;
    }
    for (double delta : {0.0, -1.0, 1.1, std::nan("")})
        EXPECT_THROW(find_eps_gaussian(0, 1, 1, 1, 0.5, delta, list), InvalidParameter);
    for (double tau : {0.5, 1e-6}) // delta = 1/n^2 of a table of one row
        EXPECT_EQ(find_eps_gaussian(0, 1, 1, 1, tau, 1, list).analytic.chosen, std::nullopt);
}

// The classic calibration is proved for eps < 1 only: why nothing is released with it.
TEST(FindEpsilon, TheClassicSigmaIsTooSmallAtTen) {
    const auto true_delta = [](double e, double delta) {
        return delta_balle_wang(e, std::sqrt(2 * std::log(1.25 / delta)) / e, 1);
    };
    EXPECT_NEAR(true_delta(10, 1e-5), 2.27e-5, 0.005e-5);
    EXPECT_NEAR(true_delta(10, 1e-6), 1.90e-6, 0.005e-6);
    EXPECT_LT(true_delta(0.9, 1e-5), 1e-5);
}

TEST(FindEpsilon, TheAnalyticNoiseMeetsThePreference) {
    std::mt19937_64 random(2);
    for (int round = 0; round < 300; ++round) {
        const double p_max = random_in(random, 0.1, 2), p_min = random_in(random, 0, p_max * 0.5);
        const double tau = random_in(random, 0.55, 0.99), k = random_int(random, 1, 9), delta = 1e-6;
        const GaussianChoice choice =
            find_eps_gaussian(p_min, p_max, k, std::sqrt(2.0), tau, delta, paper_candidates());
        if (choice.analytic.eps_star > 0) {
            EXPECT_NEAR(delta_balle_wang(choice.analytic.eps_star, choice.sigma_star, std::sqrt(2.0)) / delta, 1, 1e-6);
        }
        if (!choice.analytic.chosen)
            continue;
        const double sigma = analytic_gaussian_sigma(choice.analytic.chosen->value(), delta, std::sqrt(2.0));
        const double noise = k * sigma * sigma;
        EXPECT_GE(rdr_of(p_min, Mechanism::gaussian, noise) / rdr_of(p_max, Mechanism::gaussian, noise), tau - 1e-9);
    }
}

// Edges that have no formula: every calibration agrees.
TEST(FindEpsilon, EdgeCases) {
    const auto &list = paper_candidates();
    for (double D : {1.0, std::ldexp(1.0, 40)}) {
        EXPECT_EQ(find_eps_sound(0, 1, {{1, D}}, 0, list).chosen, eps("10"));    // no preference
        EXPECT_EQ(find_eps_sound(1, 1, {{1, D}}, 1, list).chosen, eps("10"));    // everybody in
        EXPECT_EQ(find_eps_sound(0, 0, {{1, D}}, 1, list).chosen, eps("10"));    // nobody matches
        EXPECT_EQ(find_eps_sound(0, 1, {{1, D}}, 1, list).chosen, std::nullopt); // perfection is impossible
        EXPECT_EQ(find_eps_sound(0, 1, {{1, D}, {1, 1}}, 1, list).eps_star, 0);
        EXPECT_EQ(find_eps_sound(0, 1, {{1, D}}, 1 - 1e-6, list).chosen, std::nullopt);
        EXPECT_NEAR(find_eps_sound(0, 1, {{1, D}}, 1 - 1e-9, list).eps_star, 1e-9, 1e-15);
        EXPECT_EQ(find_eps_sound(0, 1e-300, {{1, D}}, 1e-9, list).chosen, eps("10")); // a requirement below 1e-308
        EXPECT_EQ(find_eps_sound(0, 1e-300, {{1, D}, {1, 7}}, 1e-9, list).chosen, eps("10"));
    }
    EXPECT_EQ(find_eps_sound(0, std::nan(""), {{1, 1}}, 0.5, list).chosen, std::nullopt); // fails closed
    EXPECT_THROW(find_eps_sound(0, 1, {{1, 1}}, 1.5, list), InvalidParameter);
    EXPECT_THROW(find_eps_sound(0, 1, {{1, 1}}, std::nan(""), list), InvalidParameter);
    EXPECT_THROW(find_eps_sound(0, 1, {}, 0.5, list), std::logic_error);
}

// What `sound` gives beside `published`: integer noise is smaller than continuous noise of the same scale.
TEST(FindEpsilon, SoundIsNeverAbovePublished) {
    const std::pair<double, const char *> sound[] = {
        {0.95, "0.05"}, {0.75, "0.3"}, {0.5, "0.8"}, {0.25, "1"}, {0.05, "3"}};
    for (const auto &[tau, chosen] : sound)
        EXPECT_EQ(find_eps_sound(0, 1, {{1, 1}}, tau, paper_candidates()).chosen, eps(chosen)) << tau;
    for (double tau = 0.01; tau < 1; tau += 0.01)
        EXPECT_LE(find_eps_sound(0, 1, {{1, 1}}, tau, {}).eps_star, (1 - tau) / tau);
}

// The papers' choice on a lattice of 2^16 points and more, thanks to the slack.
TEST(FindEpsilon, AWideLatticeGivesThePapersChoice) {
    for (int bits : {16, 20, 30, 40})
        for (double tau : {0.95, 0.9, 0.75, 0.5, 0.25, 0.2, 0.1}) // k(1-tau)/tau is often a candidate itself
            EXPECT_EQ(find_eps_sound(0, 1, {{1, std::ldexp(1.0, bits)}}, tau, paper_candidates()).chosen,
                      largest_candidate(paper_candidates(), (1 - tau) / tau, price_slack))
                << bits << " " << tau;
}

std::vector<NoiseMeasure> random_measures(std::mt19937_64 &random) {
    static const double lattices[] = {1, 1, 2, 100, 99999, 1 << 20, 1 << 30, std::ldexp(1.0, 40)};
    std::vector<NoiseMeasure> measures;
    for (int m = random_int(random, 1, 4); m > 0; --m)
        measures.push_back({static_cast<double>(random_int(random, 1, 12)), lattices[random_int(random, 0, 7)]});
    return measures;
}

PisProfile random_profile(std::mt19937_64 &random, double largest) {
    PisProfile profile;
    for (int values = random_int(random, 1, 6); values > 0; --values)
        profile.add(random_int(random, 0, 2) == 0 ? 0 : random_in(random, 0, largest), random_int(random, 1, 1000));
    return profile;
}

// The ratio of the definition, in long double.
long double ratio_at(long double e, const PisProfile &profile, const std::vector<NoiseMeasure> &measures) {
    long double noise = 0;
    for (const NoiseMeasure &measure : measures)
        noise += measure.k / (measure.D * std::sinh(e / (measures.size() * static_cast<long double>(measure.D))));
    const long double low = profile.min() + noise, high = profile.max() + noise;
    return high == 0 ? 1 : low / high;
}

TEST(FindEpsilon, SoundIsWhatAScanOfTheCandidatesFinds) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 10000; ++round) {
        const std::vector<NoiseMeasure> measures = random_measures(random);
        const PisProfile profile = random_profile(random, static_cast<double>(measures.size()));
        const double tau = random_int(random, 0, 20) == 0 ? random_int(random, 0, 1) : random_in(random, 0, 1);
        const EpsilonChoice choice = find_eps_sound(profile.min(), profile.max(), measures, tau, paper_candidates());
        for (Epsilon candidate : paper_candidates()) {
            const long double ratio = ratio_at(candidate.value(), profile, measures);
            if (choice.chosen && candidate <= *choice.chosen) {
                // With the slack: the ratio at the candidate divided by 1 + 1e-8.
                EXPECT_GE(ratio_at(candidate.value() / (1 + 1e-8L), profile, measures), tau - 1e-13L) << round;
                const RiskRow row =
                    risk_row(profile, Mechanism::laplace, candidate, rdr_noise_term(candidate.value(), measures));
                EXPECT_NEAR(row.ratio, static_cast<double>(ratio), 1e-14);
            } else {
                EXPECT_LT(ratio, tau + 1e-13L) << round << " " << candidate.text();
            }
        }
    }
}

// eps* itself, where no candidate stands between: N(eps*) is the noise that is required.
TEST(FindEpsilon, EpsStarSolvesTheEquation) {
    std::mt19937_64 random(4);
    for (int round = 0; round < 2000; ++round) {
        const std::vector<NoiseMeasure> measures = random_measures(random);
        const double tau = random_in(random, 0.001, 0.999), p_max = random_in(random, 0.01, 4);
        const double p_min = random_in(random, 0, 0.9 * tau * p_max), missing = tau * p_max - p_min;
        const double star = find_eps_sound(p_min, p_max, measures, tau, {}).eps_star;
        EXPECT_NEAR(rdr_noise_term(star, measures) * (1 - tau) / missing, 1, 1e-11) << round << " " << star;
    }
}

// ---- The analyst's price ----

// The candidate that the price leaves, the policy's cap and the analyst's wish: steps 1 and 2 of a decision.
std::optional<Epsilon> priced(const Case &c, double eps_star) {
    ChargeRequest request;
    request.eps_star = eps_star;
    request.slack = price_slack;
    request.candidates = candidates_of(c);
    request.epsilon_max = decimal(c.arg("epsilon_max"));
    if (c.has_arg("requested") && !c.arg("requested").is_null())
        request.requested = decimal(c.arg("requested"));
    BoundSettings unbounded;
    unbounded.bound = Bound::none;
    const Decision decision = decide(request, unbounded, {}, {});
    return decision.denial == Denial::none ? std::optional<Epsilon>(decision.cost.epsilon) : std::nullopt;
}

TEST(Price, WithinDomain) {
    reference::each("within_domain_eps", [](const Case &c) {
        const double tau = num(c, "tau"), weight = num(c, "weight");
        const int k1 = c.arg("k1").get<int>(), m = c.arg("measures").get<int>();
        const double star = within_domain_eps_star(tau, weight, k1, m);
        c.field(weighted_tau(tau, weight), "tau_w");
        c.field(star, "eps_star");
        same(priced(c, star), c.expect("chosen"), c.id());
    });
}

TEST(Price, WithinDomainGaussian) {
    reference::each("within_domain_eps_gaussian", [](const Case &c) {
        const int k1 = c.arg("k1").get<int>(), m = c.arg("measures").get<int>();
        const double tau = num(c, "tau"), delta = num(c, "delta"), root = std::sqrt(m);
        const double star = within_domain_eps_star_gaussian(tau, 1, k1, m, delta);
        c.field(find_eps_gaussian(0, root, k1, root, tau, delta, {}).sigma_star, "sigma_star");
        c.field(star, "eps_star");
        same(priced(c, star), c.expect("chosen"), c.id());
    });
}

TEST(Price, Edges) {
    EXPECT_EQ(within_domain_eps_star(0, 1, 1, 1), infinite_epsilon);
    EXPECT_EQ(within_domain_eps_star(1, 1, 1, 1), 0);
    EXPECT_EQ(within_domain_eps_star_gaussian(0, 1, 1, 1, 1e-6), infinite_epsilon);
    EXPECT_EQ(within_domain_eps_star_gaussian(1, 1, 1, 1, 1e-6), 0);
    EXPECT_NEAR(within_domain_eps_star(1 - 1e-9, 1, 1, 1), 1e-9, 1e-15);
    EXPECT_THROW(within_domain_eps_star(std::nan(""), 1, 1, 1), InvalidParameter);
    for (double weight : {0.0, -1.0, std::nan(""), infinite_epsilon})
        EXPECT_THROW(within_domain_eps_star(0.5, weight, 1, 1), InvalidParameter);
    EXPECT_THROW(within_domain_eps_star_gaussian(0.5, 1, 1, 1, 0), InvalidParameter);
    EXPECT_THROW(within_domain_eps_star(0.5, 1, 0, 1), std::logic_error);
}

// A weight is a preference of its own: the price of weight w is that of tau_w.
TEST(Price, AWeightIsAnotherTau) {
    for (double tau : {0.3, 0.9, 0.99})
        for (double weight : {0.1, 1.0, 4.0}) {
            const double tau_w = weighted_tau(tau, weight);
            EXPECT_NEAR(within_domain_eps_star(tau, weight, 2, 3), within_domain_eps_star(tau_w, 1, 2, 3), 1e-13);
            EXPECT_EQ(within_domain_eps_star_gaussian(tau, weight, 2, 3, 1e-6),
                      within_domain_eps_star_gaussian(tau_w, 1, 2, 3, 1e-6));
        }
}

TEST(Price, NeverAboveFindEpsilonAtEqualCoordinatesAndEqualAtTheExtremes) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 5000; ++round) {
        std::vector<NoiseMeasure> measures = random_measures(random);
        const int m = static_cast<int>(measures.size());
        int k1 = 0;
        for (const NoiseMeasure &measure : measures)
            k1 += static_cast<int>(measure.k);
        const double tau = random_in(random, 0.001, 0.999), price = within_domain_eps_star(tau, 1, k1, m);
        const PisProfile profile = random_profile(random, m);
        const double star = find_eps_sound(profile.min(), profile.max(), measures, tau, {}).eps_star;
        EXPECT_LE(price, star * (1 + 1e-12)) << round;
        for (NoiseMeasure &measure : measures)
            measure.D = 1;
        EXPECT_NEAR(price / find_eps_sound(0, m, measures, tau, {}).eps_star, 1, 1e-12) << round;
    }
}

// What tau promises to everybody in the table: with the noise that is drawn the ratio holds in every data set, on every
// lattice and for every number of groups.
TEST(Price, ThePreferenceHoldsInEveryDataSet) {
    std::mt19937_64 random(6);
    for (int round = 0; round < 5000; ++round) {
        const std::vector<NoiseMeasure> one_group = random_measures(random);
        std::vector<NoiseMeasure> all_groups = one_group;
        int k1 = 0;
        const int groups = random_int(random, 1, 50), m = static_cast<int>(one_group.size());
        for (std::size_t j = 0; j < one_group.size(); ++j) {
            k1 += static_cast<int>(one_group[j].k);
            all_groups[j].k *= groups;
        }
        const double tau = random_in(random, 0, 1);
        const auto price = largest_candidate(paper_candidates(), within_domain_eps_star(tau, 1, k1, m), price_slack);
        if (price) {
            EXPECT_GE(ratio_at(price->value(), random_profile(random, m), all_groups), tau - 1e-11L) << round;
        }
    }
}

// ---- Profiles and the risk table ----

TEST(Profile, Edges) {
    PisProfile profile;
    EXPECT_TRUE(profile.empty());
    EXPECT_THROW(profile.min(), std::logic_error);
    EXPECT_THROW(risk_row(profile, Mechanism::laplace, eps("1"), 1), std::logic_error);
    profile.add(5, 0);
    profile.add(5, -3);
    EXPECT_TRUE(profile.empty());
    for (double pis : {-1.0, std::nan(""), infinite_epsilon})
        EXPECT_THROW(profile.add(pis, 1), std::logic_error);
    profile.add(2, 3);
    profile.add(0, 1);
    profile.add(2, 1);
    EXPECT_EQ(profile.individuals(), 5);
    EXPECT_EQ(profile.values().size(), 2u);
    EXPECT_EQ(profile.min(), 0);
    EXPECT_EQ(profile.max(), 2);
    EXPECT_NEAR(static_cast<double>(profile.variance()), 0.64, 1e-15);
}

TEST(Profile, NobodyExposed) {
    PisProfile profile;
    profile.add(0, 7);
    const RiskRow row = risk_row(profile, Mechanism::laplace, eps("1"), 0);
    EXPECT_EQ(row.ratio, 1);
    EXPECT_EQ(row.variance, 0);
}

TEST(Profile, RiskRowAgreesWithTheDefinition) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 500; ++round) {
        const PisProfile profile = random_profile(random, 3);
        // From next to no noise to epsilon = 1e-9, where all ratios differ in the ninth digit only.
        const double noise = std::pow(10, random_in(random, -6, 9));
        for (Mechanism mechanism : {Mechanism::laplace, Mechanism::gaussian}) {
            const auto rdr = [&](long double pis) {
                return mechanism == Mechanism::laplace ? pis + noise : std::sqrt(pis * pis + noise);
            };
            const long double high = rdr(profile.max());
            long double mean = 0, squares = 0;
            for (const auto &[pis, n] : profile.values())
                mean += n * ((high - rdr(pis)) / high) / profile.individuals();
            for (const auto &[pis, n] : profile.values())
                squares += n * std::pow((high - rdr(pis)) / high - mean, 2.0L) / profile.individuals();
            const RiskRow row = risk_row(profile, mechanism, eps("0.5"), noise);
            EXPECT_EQ(row.epsilon, eps("0.5"));
            EXPECT_NEAR(row.rdr_max, static_cast<double>(high), 1e-14 * static_cast<double>(high));
            EXPECT_NEAR(row.ratio, static_cast<double>(rdr(profile.min()) / high), 1e-14);
            EXPECT_NEAR(row.variance, static_cast<double>(squares), 1e-8 * static_cast<double>(squares) + 1e-35);
            EXPECT_LE(row.variance, 0.25);
        }
    }
}

TEST(Profile, AMillionDistinctValues) {
    PisProfile profile;
    const std::int64_t n = 1'000'000;
    for (std::int64_t i = 0; i < n; ++i)
        profile.add(static_cast<double>(i) / (n - 1), 1);
    EXPECT_NEAR(static_cast<double>(profile.variance()), (n + 1.0) / (n - 1) / 12, 1e-15);
    for (Epsilon candidate : paper_candidates()) {
        const double noise = rdr_noise_term(candidate.value(), {{1, 1}});
        const RiskRow row = risk_row(profile, Mechanism::laplace, candidate, noise);
        EXPECT_NEAR(row.variance * std::pow(1 + noise, 2), (n + 1.0) / (n - 1) / 12, 1e-12);
        EXPECT_GT(risk_row(profile, Mechanism::gaussian, candidate, noise).variance, 0);
    }
}

// ---- Why a choice made from the data stays with the controller ----
// COUNT of a disease, tau = 0.95. D: nobody has it. D': one patient has. Algorithm 1 looks at the data to choose epsilon.

struct Neighbours {
    Epsilon without, with; // epsilon chosen on D and on D'
};

Neighbours chosen_on_neighbours(const std::function<EpsilonChoice(double, double)> &find) {
    PisProfile without, with;
    without.add(0, 1000);
    with.add(0, 1000);
    with.add(1, 1);
    return {find(without.min(), without.max()).chosen.value(), find(with.min(), with.max()).chosen.value()};
}

Neighbours published_choice() {
    return chosen_on_neighbours(
        [](double low, double high) { return find_on_a_wide_lattice(low, high, 1, 0.95, paper_candidates()); });
}

TEST(WithinDataIsNotPrivate, OneRecordMovesEpsilonFromTenToOneTwentieth) {
    for (const Neighbours &chosen : {published_choice(), chosen_on_neighbours([](double low, double high) {
                                         return find_eps_sound(low, high, {{1, 1}}, 0.95, paper_candidates());
                                     })}) {
        EXPECT_EQ(chosen.without, eps("10"));
        EXPECT_EQ(chosen.with, eps("0.05"));
    }
}

// P(|o| > t), o = q + Lap(1/e), for t beyond q.
double tail(double e, double q, double t) {
    return (std::exp(-e * (t - q)) + std::exp(-e * (t + q))) / 2;
}

TEST(WithinDataIsNotPrivate, TheReleasedValueTellsTheTwoApart) {
    reference::each("counterexample_find_eps", [](const Case &c) {
        const Neighbours chosen = published_choice();
        EXPECT_EQ(chosen.without, decimal(c.arg("eps_D")));
        EXPECT_EQ(chosen.with, decimal(c.arg("eps_Dprime")));
        const double p = tail(chosen.without.value(), 0, num(c, "t")), p1 = tail(chosen.with.value(), 1, num(c, "t"));
        c.field(p, "p_D");
        c.field(p1, "p_Dprime");
        c.field(std::log(p1 / p), "log_ratio");
    });
}

// The smallest delta for which the two outputs are (eps, delta)-close: no epsilon in sight makes it small.
double closeness(double e, const std::function<double(int)> &p, const std::function<double(int)> &q, int reach) {
    double forth = 0, back = 0;
    for (int i = -reach; i <= reach; ++i) {
        forth += std::max(0.0, p(i) - std::exp(e) * q(i));
        back += std::max(0.0, q(i) - std::exp(e) * p(i));
    }
    return std::max(forth, back);
}

TEST(WithinDataIsNotPrivate, NoEpsilonMakesDeltaSmall) {
    const Neighbours chosen = published_choice();
    const double step = 1e-3; // midpoint rule
    const auto density = [step](double e, double q) {
        return [=](int i) { return step * e / 2 * std::exp(-e * std::fabs((i + 0.5) * step - q)); };
    };
    const auto on_d = density(chosen.without.value(), 0), on_d1 = density(chosen.with.value(), 1);
    EXPECT_NEAR(closeness(0.05, on_d, on_d1, 600000), 0.970, 5e-4);
    EXPECT_NEAR(closeness(10, on_d, on_d1, 600000), 0.923, 5e-4);
    // The same with the integer noise of this extension: the choice is the leak, not the sampler.
    const auto pmf = [](Epsilon e, int q) { return [=](int i) { return discrete_laplace_pmf(1 / e.value(), i - q); }; };
    EXPECT_GT(closeness(0.05, pmf(chosen.without, 0), pmf(chosen.with, 1), 2000), 0.9);
    EXPECT_GT(closeness(10, pmf(chosen.without, 0), pmf(chosen.with, 1), 2000), 0.9);
}

// The output-dependent variant: draw o, release it only if oRDR_min / oRDR_max >= tau. q(x) = 1; one record has PIS 1.
bool accepted(double o, double tau) {
    const double patient = std::fabs(o), others = std::fabs(o - 1); // |o - q(x without the record)|
    return std::min(patient, others) >= tau * std::max(patient, others);
}

TEST(WithinDataIsNotPrivate, TheSetOfAcceptedOutputsTellsTheTwoApart) {
    reference::each("counterexample_pri_accept_set", [](const Case &c) {
        const double tau = num(c, "tau");
        const double middle_from = tau / (1 + tau), middle_to = 1 / (1 + tau);
        const double upper_from = 1 / (1 - tau), lower_to = -tau / (1 - tau);
        c.near(middle_from, c.expect("middle").at(0));
        c.near(middle_to, c.expect("middle").at(1));
        c.field(upper_from, "upper_from");
        c.field(lower_to, "lower_to");
        for (double o = -30; o <= 30; o += 0.001) {
            double to_edge = infinite_epsilon;
            for (double edge : {middle_from, middle_to, upper_from, lower_to})
                to_edge = std::min(to_edge, std::fabs(o - edge));
            const bool inside = (o >= middle_from && o <= middle_to) || o >= upper_from || o <= lower_to;
            if (to_edge > 1e-9) {
                EXPECT_EQ(accepted(o, tau), inside) << o;
            }
        }
    });
    // Under D the first draw (epsilon 10) is released whatever it is, nearly always where D' never releases anything.
    EXPECT_NEAR(1 - tail(10, 0, 0.4), 0.982, 5e-4);
    for (double o = -0.4; o <= 0.4; o += 0.01)
        EXPECT_FALSE(accepted(o, 0.95));
}

// The analyst's price knows neither profile: it cannot tell them apart.
TEST(WithinDataIsNotPrivate, ThePriceIsTheSameOnBoth) {
    EXPECT_EQ(largest_candidate(paper_candidates(), within_domain_eps_star(0.95, 1, 1, 1), price_slack), eps("0.05"));
}

// "A larger oRDR implies a larger realised loss" holds for the signed loss only: q(x) = 1, q(x_-A) = 0, q(x_-B) = 1.
TEST(WithinDataIsNotPrivate, OnlyTheSignedLossFollowsTheIndicator) {
    const double o = 0.3, q = 1, without_a = 0, without_b = 1;
    const double rdr_a = std::fabs(o - without_a), rdr_b = std::fabs(o - without_b);
    const double loss_a = rdr_a - std::fabs(o - q), loss_b = rdr_b - std::fabs(o - q); // in units of epsilon
    EXPECT_LT(rdr_a, rdr_b);
    EXPECT_LT(loss_a, loss_b);
    EXPECT_GT(std::fabs(loss_a), std::fabs(loss_b));
}

} // namespace
