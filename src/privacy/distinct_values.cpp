#include "privacy/distinct_values.hpp"

#include <algorithm>
#include <tuple>

#include "privacy/contribution.hpp"

namespace dp::privacy {

static auto pair_of(const UnitValue &v) {
    return std::tie(v.group, v.value.words[0], v.value.words[1]);
}

std::uint64_t value_hash(std::uint64_t group, const ValueDigest &value) {
    return group_hash(group, reinterpret_cast<const unsigned char *>(value.words), sizeof value.words);
}

std::size_t keep_values(UnitValue *pairs, std::size_t n, std::size_t limit) {
    std::sort(pairs, pairs + n, [](const UnitValue &a, const UnitValue &b) {
        return std::tuple_cat(pair_of(a), std::tie(a.hash)) < std::tuple_cat(pair_of(b), std::tie(b.hash));
    });
    UnitValue *end =
        std::unique(pairs, pairs + n, [](const UnitValue &a, const UnitValue &b) { return pair_of(a) == pair_of(b); });
    std::sort(pairs, end, [](const UnitValue &a, const UnitValue &b) {
        return std::tuple_cat(std::tie(a.hash), pair_of(a)) < std::tuple_cat(std::tie(b.hash), pair_of(b));
    });
    return std::min(static_cast<std::size_t>(end - pairs), limit);
}

} // namespace dp::privacy
