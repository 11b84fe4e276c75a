// Foresees a round for dp_explain: its looks without rows, charges and draws.
#include <limits>

#include "border/guard.hpp"
#include "release/accuracy.hpp"
#include "release/accuracy_next.hpp"
#include "release/refinement_steps.hpp"

namespace dp::release {

// The noise of a round at its end: where every value is `magnitude`, or, without one, at the ceiling. Core region.
// Whether it is accurate there.
static bool run_to_end(Noise *noise, const rows::Question *question, const privacy::Wanted &wanted,
                       const double *magnitude) {
    const std::vector<__int128> nothing(question->measures->size() * noise->mean.has_value());
    for (;;) {
        if (noise->measured)
            noise->mean->add(noise->plan, nothing);
        if (magnitude == nullptr) {
            if (noise->measured ? !(noise->asked < noise->ceiling && plan_next(noise, question, noise->ceiling))
                                : noise->point + 1 == noise->grid->size())
                return false;
            noise->point = noise->measured ? 0 : noise->grid->size() - 1;
            continue;
        }
        const Wants wants = wants_of(*noise, question, wanted, 1, [&](int, int) { return *magnitude; });
        if (wants.accurate || !go_on(noise, question, wants))
            return wants.accurate;
    }
}

Foreseen foresee_round(const rows::Question *question, const Terms &terms, const Course &course,
                       const double *magnitude) {
    auto *noise = border::context_new<Noise>();
    Foreseen foreseen = {};
    foreseen.error95 = static_cast<double *>(palloc(sizeof(double) * (question->leaf->noutputs + 1)));
    border::core([&] {
        begin_noise(noise, question, course);
        if (course.measured) {
            noise->mean.emplace(question->measures->size(), 1); // of one group, as all are alike
            foreseen.first_rho = noise->plan.rho();
        } else
            foreseen.first = noise->grid->epsilon(0);
        foreseen.reached = run_to_end(noise, question, terms.wanted, magnitude);
        if (course.measured)
            foreseen.rho = noise->mean->rho();
        else
            foreseen.epsilon = noise->grid->epsilon(noise->point);
        for (int i = 0; i < question->leaf->noutputs; i++) {
            const query::Output &output = question->leaf->outputs[i];
            foreseen.error95[i] = std::numeric_limits<double>::quiet_NaN();
            if (output.is_key)
                continue;
            const int j = question->measure_of[output.index];
            const double width = accuracy_of(*noise, question, terms.wanted, j).halfwidth * unit_of(question, j);
            foreseen.error95[i] = printed_halfwidth(question, output.index, width);
        }
    });
    return foreseen;
}

} // namespace dp::release
