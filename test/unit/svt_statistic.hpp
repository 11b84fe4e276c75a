// Computes in real numbers what a selection compares, for the tests: the integers of privacy/sparse_vector stand for it.
#pragma once

#include "privacy/sparse_vector.hpp"

struct SvtStatistic {
    double n_var_minus_n_tau = 0; // G_j
    double delta_G = 0;
    double scaled_query = 0; // -G_j / delta_G
    double accept_probability = 0;
};

// Laplace noise. sum_pis, sum_pis2: over the scaled PIS of all n records.
inline SvtStatistic svt_statistic(double n, double sum_pis, double sum_pis2, int m, int k1, double eps, double tau_var,
                                  double eps_svt) {
    const dp::privacy::SvtSensitivity known = dp::privacy::svt_sensitivity_laplace(m, k1, eps, tau_var);
    SvtStatistic statistic;
    statistic.delta_G = known.delta_G;
    if (n > 0) {
        const double scale = m + known.noise_term;
        statistic.n_var_minus_n_tau = (sum_pis2 - sum_pis * sum_pis / n) / (scale * scale) - n * tau_var;
    }
    const double gap = statistic.n_var_minus_n_tau / statistic.delta_G;
    statistic.scaled_query = -gap;
    statistic.accept_probability = dp::privacy::svt_accept_probability(gap, eps_svt);
    return statistic;
}
