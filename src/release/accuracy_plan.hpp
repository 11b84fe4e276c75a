// How an accuracy is reached: with which noise, by one charge or in steps, and up to which price (formulas.md 6.3 to 6.6). All of it
// follows from public facts; nothing is charged or counted here.
#pragma once

#include "release/choose.hpp"

namespace dp::release {

struct Course {
    bool priced;   // false: no epsilon meets the preference, which will be denied
    bool in_steps; // false: one charge, known in advance
    bool measured; // Gaussian measurements, charged in rho; false: the policy's noise, charged in epsilon
    privacy::Epsilon ceiling;
    privacy::Rho rho_ceiling; // measured: of the answer that the ceiling would buy
    // One charge: what it comes to, in the one or the other. dearer: it is above the ceiling, and then maybe `unreachable`: no price
    // suffices, or `unpriced`: it was not looked for.
    bool dearer, unreachable, unpriced;
    privacy::Epsilon epsilon;
    privacy::Rho rho;
};

// 0A000 where the policy finds its epsilon in a way that no accuracy can change: looked at before anything else, as that way may read
// rows.
void check_policy(const rows::Question *question, const Terms &terms);
// Whether an accuracy is asked for that Gaussian measurements reach, charged in rho, whatever the policy's noise is.
bool is_measured(const Terms &terms);
// The part of it that no decision on a request changes.
void check_mechanism(const rows::Question *question, const Terms &terms);
// For terms with an accuracy, or (refines) an answer that has some already, which always goes on in steps. Errors: 0A000 for what
// has none.
Course plan_course(const rows::Question *question, const Terms &terms, const Permitted &permitted, bool refines);
// 53400, with both prices if they are known, when the course is dearer.
void check_price(const Terms &terms, const Course &course);
// Returns both prices as a text, for dp_explain.
const char *both_prices(const Course &course);

// The terms on which a course of one charge goes the way of any other answer.
Terms terms_of_course(const Terms &terms, const Course &course);

} // namespace dp::release
