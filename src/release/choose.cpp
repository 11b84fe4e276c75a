#include "release/choose.hpp"

#include <cmath>

#include "release/leave_one_out.hpp"

namespace dp::release {

// Below sigma = 1 unit the integer noise varies less than its sigma says. The largest candidate up to eps_star whose ratio
// meets tau with the noise that would be drawn; 0 if there is none. Core region.
static double gaussian_eps_star(const Question *question, const Terms &terms, double tau, double eps_star,
                                double pis_min, double pis_max, const std::vector<privacy::NoiseMeasure> &measures,
                                const std::vector<uint64> &sensitivities) {
    for (privacy::Epsilon candidate : *terms.candidates) {
        if (candidate.value() > eps_star * (1 + privacy::price_slack))
            continue;
        auto plan = privacy::plan_release(terms.mechanism, *question->measures, sensitivities, question->thresholded,
                                          candidate, terms.delta);
        double term = 0;
        for (std::size_t j = 0; j < measures.size(); j++)
            term += measures[j].k * std::pow(plan.noise[j].stddev() / measures[j].D, 2);
        double low = privacy::rdr_of(pis_min, terms.mechanism, term),
               high = privacy::rdr_of(pis_max, terms.mechanism, term);
        if (low >= tau * high * (1 - privacy::price_slack))
            return candidate.value();
    }
    return 0;
}

// The delta that Gaussian noise is calibrated at (formulas.md, 8.5). Core region.
static double noise_delta(const Question *question, const Terms &terms) {
    return terms.delta.value() / (question->thresholded ? 2 : 1);
}

static Permitted from_public_facts(const Question *question, const Terms &terms) {
    return border::core([&] {
        int m = question->nmeasures, k1 = question->k1;
        if (terms.mechanism == privacy::Mechanism::laplace)
            return Permitted{privacy::within_domain_eps_star(terms.tau, terms.weight, k1, m), privacy::price_slack};
        double eps_star =
            privacy::within_domain_eps_star_gaussian(terms.tau, terms.weight, k1, m, noise_delta(question, terms));
        // One price for every lattice: D = 1, where the noise is smallest.
        std::vector<privacy::NoiseMeasure> measures;
        for (const privacy::Measure &measure : *question->measures)
            measures.push_back({static_cast<double>(measure.coordinates()), 1});
        double tau = privacy::weighted_tau(terms.tau, terms.weight);
        return Permitted{gaussian_eps_star(question, terms, tau, eps_star, 0, std::sqrt(double(m)), measures,
                                           std::vector<uint64>(m, 1)),
                         privacy::price_slack};
    });
}

static Permitted from_data(const Question *question, const Terms &terms) {
    Memo *memo = leave_one_out(question, terms.mechanism, privacy::Calibration::sound, false);
    // An empty table has no RDR: the price from public facts stands in (section 2, edge cases).
    if (memo->rows == 0)
        return from_public_facts(question, terms);
    return border::core([&] {
        double tau = privacy::weighted_tau(terms.tau, terms.weight);
        double min = memo->profile->min(), max = memo->profile->max();
        auto measures = noise_measures(question);
        if (terms.mechanism == privacy::Mechanism::laplace)
            return Permitted{privacy::find_eps_sound(min, max, measures, tau, *terms.candidates).eps_star,
                             privacy::sound_slack};
        double k = 0;
        for (const auto &measure : measures)
            k += measure.k;
        double eps_star = privacy::find_eps_gaussian(min, max, k, std::sqrt(double(question->nmeasures)), tau,
                                                     noise_delta(question, terms), *terms.candidates)
                              .analytic.eps_star;
        return Permitted{
            gaussian_eps_star(question, terms, tau, eps_star, min, max, measures, *question->sensitivities),
            privacy::price_slack};
    });
}

Permitted choose(const Question *question, const Terms &terms) {
    return terms.algorithm == Algorithm::within_domain ? from_public_facts(question, terms)
                                                       : from_data(question, terms);
}

} // namespace dp::release
