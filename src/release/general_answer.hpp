// Noise for general queries: calibrated to a sensitivity that the controller declares, or that declared bounds give.
#pragma once

#include "privacy/declared.hpp"

#include "risk/general_risk.hpp"
#include "release/facts.hpp"

namespace dp::release {

// NaN: the controller declares none. 22023 where none is declared and bounds give none.
void check_declared(const risk::GeneralQuestion *question, privacy::Mechanism mechanism, double sensitivity);
privacy::DeclaredVector declared_vector(const risk::GeneralQuestion *question, const risk::GeneralRisk &risk,
                                        privacy::Mechanism mechanism, privacy::Calibration calibration,
                                        double sensitivity);
// 55000: nobody is in the table.
void check_somebody(const risk::GeneralRisk &risk);

// Find-epsilon for a general query: profile, choice, charge, and the noisy result, with numbers as float8 and rows in the
// order of their keys. Errors: 22023 without a sensitivity, or when an individual exceeds it; 53400 "query denied".
Answer answer_declared(const risk::GeneralQuestion *question, const Terms &terms, double sensitivity);

} // namespace dp::release
