// Signals on neighbouring answers (formulas.md 4.5): of a mean and of a top no event may be certified to exceed the claim, and a noise of
// half the sensitivity must be found. Answers differ in one row, by as much as one row can move the task.
//
// Eight claims are kept here, in two orders each: they fail by chance with probability 2e-8 at most. That a mistake stays unfound has
// a probability below 1e-9 for each.
#include "../unit/measured.hpp"
#include "audit.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "privacy/mechanism.hpp"
#include "privacy/task.hpp"

namespace audit {
namespace {

using namespace dp::privacy;

struct Answers {
    Task task;
    std::vector<double> x, y, reference;
};

Answers mean(double other) {
    Answers answers;
    answers.task.groups = 3;
    answers.task.lower = -10;
    answers.task.upper = 30;
    answers.x = {5, 0, -10};
    answers.y = {5, 0, other};
    return answers;
}

// The last row comes in, and drives out one of the reference's.
Answers top() {
    Answers answers;
    answers.task.kind = TaskKind::top;
    answers.task.groups = 5;
    answers.task.k = 2;
    answers.reference = {5, 4, 3, 2, 1};
    answers.x = {5, 4, 3, 2, 1};
    answers.y = {5, 4, 3, 2, 9};
    return answers;
}

struct Law {
    Mechanism mechanism = Mechanism::laplace;
    std::uint64_t divided = 1; // what the sensitivity is divided by: 1 is as shipped
};

Side side(const Answers &answers, const std::vector<double> &values, const ReleasePlan &plan) {
    const std::int64_t exact = task_integer(answers.task, values, answers.reference);
    return {[exact, plan](BitSource &bits, Outcome &outcome) {
                outcome.present = {true};
                outcome.values = {static_cast<double>(exact + draw(bits, plan.noise.front()))};
            },
            {static_cast<double>(exact)}};
}

Subject subject(const std::string &name, const Answers &answers, const Law &law) {
    const bool gaussian = law.mechanism == Mechanism::gaussian;
    const Delta delta = gaussian ? *Delta::parse("1e-5") : Delta();
    const ReleasePlan plan =
        plan_release(law.mechanism,
                     measured(leaf_measures({AggregateCall()}, false),
                              {std::max<std::uint64_t>(task_sensitivity(answers.task) / law.divided, 1)}),
                     false, *Epsilon::parse("1"), delta);
    Subject made;
    made.name = name;
    made.x = side(answers, answers.x, plan);
    made.y = side(answers, answers.y, plan);
    made.scale = {plan.noise.front().stddev()};
    made.statistics = standard_statistics(made, 1, {1, delta.value()});
    return made;
}

void expect_kept(const std::string &name, const Answers &answers, const Law &law) {
    const Subject audited = subject(name, answers, law);
    const Report report = run(audited);
    print(name, report);
    EXPECT_FALSE(report.fail()) << name << "\n" << report.text();
}

TEST(Signal, MeanKeepsItsClaim) {
    expect_kept("signal: mean, to the upper bound", mean(1e300), {});
    expect_kept("signal: mean, by half", mean(10), {});
    expect_kept("signal: mean, gaussian", mean(30), {Mechanism::gaussian});
}

TEST(Signal, TopKeepsItsClaim) {
    expect_kept("signal: top", top(), {});
    expect_kept("signal: top, gaussian", top(), {Mechanism::gaussian});
}

TEST(Signal, HalfOfTheSensitivityIsFound) {
    EXPECT_TRUE(run(subject("planted: mean, D/2", mean(30), {Mechanism::laplace, 2})).fail());
}

// One row moves the count of places that agree by two: the mistake of a task, not of its noise.
TEST(Signal, WiderTaskIsFound) {
    Answers answers = top();
    Subject planted = subject("planted: places compared", answers, {});
    const Subject shipped = planted;
    planted.x.exact = {shipped.x.exact[0] + 1};
    planted.x.draw = [shipped](BitSource &bits, Outcome &outcome) {
        shipped.x.draw(bits, outcome);
        outcome.values[0] += 1;
    };
    planted.statistics = standard_statistics(planted, 1, {1, 0});
    EXPECT_TRUE(run(planted).fail());
}

} // namespace
} // namespace audit
