#include "risk/output_distance.hpp"

#include <cmath>

#include "privacy/joint.hpp"
#include "risk/memory.hpp"

namespace dp::risk {

Output begin_output(const rows::Question *question, const Memo *memo, privacy::Mechanism mechanism, bool scaled) {
    Output output = {question, memo, mechanism, scaled, question->leaf->naggregates, nullptr, nullptr, nullptr, 0};
    const Size n = static_cast<Size>(memo->ngroups) * output.naggregates;
    check_memory(static_cast<double>(n) * 3 * sizeof(double),
                 psprintf("the numbers of an answer of %d groups", memo->ngroups), "ask about fewer groups");
    const auto numbers = [](Size count, Size size) {
        return MemoryContextAllocExtended(CurrentMemoryContext, size * (count + 1), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
    };
    output.values = static_cast<double *>(numbers(n, sizeof(double)));
    output.exact = static_cast<double *>(numbers(n, sizeof(double)));
    output.of_group = static_cast<long double *>(numbers(memo->ngroups, sizeof(long double)));
    for (int group = 0; group < memo->ngroups; group++)
        for (int a = 0; a < output.naggregates; a++)
            output.exact[int64{group} * output.naggregates + a] = exact_answer(question, memo, group, a);
    return output;
}

static long double part_of(const Output &output, int aggregate, double value, double from) {
    long double distance = std::fabs(static_cast<long double>(value) - from);
    if (output.scaled)
        distance = Min(distance / border::core([&] { return unit_of_answer(output.question, aggregate); }),
                       privacy::largest_distance(output.question->leaf->aggregates[aggregate].fn));
    return output.mechanism == privacy::Mechanism::laplace ? distance : distance * distance;
}

void finish_output(Output *output) {
    output->all = 0;
    for (int group = 0; group < output->memo->ngroups; group++) {
        output->of_group[group] = 0;
        for (int a = 0; a < output->naggregates; a++) {
            const int64 at = int64{group} * output->naggregates + a;
            output->of_group[group] += part_of(*output, a, output->values[at], output->exact[at]);
        }
        output->all += output->of_group[group];
    }
}

double output_distance(const Output &output, int64 record) {
    const Memo *memo = output.memo;
    const Record one = record < memo->nrecords ? *memo->records.at(record) : Record{};
    long double parts = output.all;
    for (int i = 0; i < one.nparts; i++) {
        const int group = memo->parts.at(one.first_part + i)->group;
        parts -= output.of_group[group];
        for (int a = 0; a < output.naggregates; a++)
            parts += part_of(output, a, output.values[int64{group} * output.naggregates + a],
                             answer_without(output.question, memo, one.first_part + i, a));
    }
    parts = Max(parts, 0.0L);
    return static_cast<double>(output.mechanism == privacy::Mechanism::laplace ? parts : std::sqrt(parts));
}

} // namespace dp::risk
