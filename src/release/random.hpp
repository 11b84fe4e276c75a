// Fair bits from the server's strong random source. No seed, no state that could survive a fork: a block is fetched when
// needed and wiped when the object goes.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "privacy/noise.hpp"

#include "border/postgres.hpp"

#ifdef DP_RDR_BITS_FROM_FILE
#include "file_bits.hpp" // of test/greybox, which only a library that is never installed has on its include path
#else

namespace dp::release {

class StrongBits final : public privacy::BitSource {
  public:
    StrongBits() = default;
    StrongBits(const StrongBits &) = delete;
    StrongBits &operator=(const StrongBits &) = delete;
    ~StrongBits() { explicit_bzero(block_, sizeof block_); }

    result_type operator()() override {
        if (next_ == words)
            refill();
        return block_[next_++];
    }

  private:
    static constexpr int words = 128;

    // Throws (core region): without entropy there is no noise and hence no answer.
    void refill() {
        if (!pg_strong_random(block_, sizeof block_))
            throw std::runtime_error("could not obtain random bits for the noise");
        next_ = 0;
    }

    std::uint64_t block_[words];
    int next_ = words;
};

} // namespace dp::release

#endif

namespace dp::privacy {

extern template int128 discrete_laplace(release::StrongBits &bits, const LaplaceScale &scale);
extern template int128 discrete_gaussian(release::StrongBits &bits, const GaussianScale &scale);

} // namespace dp::privacy
