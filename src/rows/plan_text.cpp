// A plan as text and as bytes (rows/plan_of).
#include <algorithm>

#include "border/guard.hpp"
#include "core/plan_print.hpp"
#include "core/plan_words.hpp"
#include "rows/plan_of.hpp"

namespace dp::rows {

// Copies a text that is made. utf8: its texts are; nobody knows the encoding of those under SQL_ASCII, and most clients send UTF-8.
template <class Make> static const char *copied(Make &&make) {
    const bool utf8 = GetDatabaseEncoding() == PG_UTF8 || GetDatabaseEncoding() == PG_SQL_ASCII;
    return border::core([&] {
        const std::string made = make(utf8);
        auto *copy = static_cast<char *>(MemoryContextAllocExtended(CurrentMemoryContext, made.size() + 1,
                                                                    MCXT_ALLOC_NO_OOM));
        if (copy == nullptr)
            throw std::bad_alloc();
        memcpy(copy, made.c_str(), made.size() + 1);
        return copy;
    });
}

const char *text_of_plan(const plan::Plan *plan) {
    return copied([&](bool utf8) { return plan::print(*plan, utf8); });
}

const char *text_of_arguments(const plan::Plan *plan, int measure) {
    return copied([&](bool utf8) { return plan::print_arguments(*plan, measure, utf8); });
}

const char *quoted_text(const char *text) {
    return copied([&](bool utf8) { return plan::Words{utf8}.quoted_text(text); });
}

// Compares without the kind: aggregates of one argument are asked as one where they are written alike.
bool has_equal_parts(const plan::Plan *plan) {
    return border::core([&] {
        std::vector<std::string> asked;
        for (const plan::Expression &key : plan->keys) {
            plan::Aggregate alone;
            alone.argument = key;
            asked.push_back(plan::encode(alone));
        }
        for (plan::Measure measure : plan->measures) {
            if (measure.kind == plan::Kind::present || measure.kind == plan::Kind::pair || measure.kind == plan::Kind::triple)
                measure.kind = plan::Kind::sum;
            asked.push_back(plan::encode(measure));
        }
        std::sort(asked.begin(), asked.end());
        return std::adjacent_find(asked.begin(), asked.end()) != asked.end();
    });
}

bool is_same_plan(const plan::Plan *a, const plan::Plan *b) {
    return border::core([&] { return plan::encode(*a) == plan::encode(*b); });
}

// Core region.
static void forget_names(plan::Plan *plan) {
    for (plan::Source &source : plan->sources) {
        source.name = {};
        for (plan::Plan &people : source.people)
            forget_names(&people);
    }
}

bytea *bytes_of_plan(const plan::Plan *plan, int without) {
    auto *unnamed = border::context_new<plan::Plan>();
    auto *bytes = border::context_new<std::string>();
    border::core([&] {
        *unnamed = *plan;
        forget_names(unnamed);
        if (without >= 0)
            unnamed->measures.erase(unnamed->measures.begin() + without);
        *bytes = plan::encode(*unnamed);
    });
    return DatumGetByteaP(PointerGetDatum(cstring_to_text_with_len(bytes->data(), static_cast<int>(bytes->size()))));
}

} // namespace dp::rows
