// In the place of src/release/random.hpp's class: the random bits of a process come from a file, one 64-bit word after the
// other, so that two neighbouring tables can be asked with the same bits. Every object goes on where the last one stopped; the process
// is a keeper, or the session of an owner, and run.py sees to it that each statement has a new one.
#pragma once

#include <cstdio>

namespace dp::release {

inline std::uint64_t words_drawn = 0; // by this process

class StrongBits final : public privacy::BitSource {
  public:
    StrongBits() = default;
    StrongBits(const StrongBits &) = delete;
    StrongBits &operator=(const StrongBits &) = delete;

    result_type operator()() override {
        static std::FILE *file = std::fopen(DP_RDR_BITS_FROM_FILE "/bits", "rb");
        result_type word;
        if (file == nullptr || std::fread(&word, sizeof word, 1, file) != 1)
            throw std::runtime_error("no more bits in " DP_RDR_BITS_FROM_FILE "/bits");
        words_drawn++;
        return word;
    }
};

} // namespace dp::release
