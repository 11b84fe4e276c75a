#include "release/choose.hpp"

#include "release/leave_one_out.hpp"

namespace dp::release {

static Permitted from_public_facts(const Question *question, const Terms &terms) {
    double delta = border::core([&] { return terms.delta.value() / (question->thresholded ? 2 : 1); });
    double eps_star = border::core([&] {
        return terms.mechanism == privacy::Mechanism::laplace
                   ? privacy::within_domain_eps_star(terms.tau, terms.weight, question->k1, question->nmeasures)
                   : privacy::within_domain_eps_star_gaussian(terms.tau, terms.weight, question->k1,
                                                              question->nmeasures, delta);
    });
    return Permitted{eps_star, privacy::price_slack};
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
        double delta = terms.delta.value() / (question->thresholded ? 2 : 1);
        auto choice = privacy::find_eps_gaussian(min, max, k, std::sqrt(double(question->nmeasures)), tau, delta,
                                                 *terms.candidates);
        return Permitted{choice.analytic.eps_star, privacy::price_slack};
    });
}

Permitted choose(const Question *question, const Terms &terms) {
    return terms.algorithm == Algorithm::within_domain ? from_public_facts(question, terms)
                                                       : from_data(question, terms);
}

} // namespace dp::release
