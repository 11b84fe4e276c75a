// Random bits from the operating system: tests of laws must not inherit the faults of a weaker source.
#pragma once

#include <sys/random.h>

#include <stdexcept>

#include "privacy/noise_impl.hpp"

class SystemBits final : public dp::privacy::BitSource {
  public:
    result_type operator()() override {
        if (next_ == words) {
            if (getrandom(block_, sizeof block_, 0) != static_cast<ssize_t>(sizeof block_))
                throw std::runtime_error("no random bits");
            next_ = 0;
        }
        return block_[next_++];
    }

  private:
    static constexpr int words = 32; // 256 bytes: getrandom never returns fewer
    std::uint64_t block_[words];
    int next_ = words;
};
