// Stands in the place of OpenSSL's RAND_bytes, which PostgreSQL's pg_strong_random calls. Preloaded into a server, it gives each process
// the bytes of one seed from their beginning, whenever the seed is renewed. The file that DP_RDR_SEED names holds two 64-bit words: how
// often the seed was renewed, and the seed. Only blocks of the size that src/release/random.hpp asks for come from it: the server seeds
// generators and makes keys of other sizes when a process starts. Those, and all before the first seed, are OpenSSL's.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr int block = 1024; // bytes, of noise

struct Seed {
    std::uint64_t renewed, seed;
};

const volatile Seed *shared_seed() {
    static const volatile Seed *seed = [] {
        const char *path = std::getenv("DP_RDR_SEED");
        const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        void *at = file >= 0 ? mmap(nullptr, sizeof(Seed), PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
        if (file >= 0)
            close(file);
        return at == MAP_FAILED ? nullptr : static_cast<const volatile Seed *>(at);
    }();
    return seed;
}

// SplitMix64.
std::uint64_t word(std::uint64_t seed, std::uint64_t at) {
    std::uint64_t z = seed + at * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

} // namespace

extern "C" int RAND_bytes(unsigned char *buffer, int size) {
    static std::uint64_t renewed, at;
    const volatile Seed *seed = shared_seed();
    if (size != block || seed == nullptr || seed->renewed == 0) {
        using Function = int (*)(unsigned char *, int);
        static const auto openssl = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "RAND_bytes"));
        return openssl ? openssl(buffer, size) : 0;
    }
    if (renewed != seed->renewed) {
        renewed = seed->renewed;
        at = 0;
    }
    for (int i = 0; i < block; i += 8) {
        const std::uint64_t next = word(seed->seed, ++at);
        std::memcpy(buffer + i, &next, 8);
    }
    return 1;
}
