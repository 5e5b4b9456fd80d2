// Reproducible randomness: the same seed gives the same run on every machine.
#pragma once
#include <cstdint>

namespace sgprobe::sim {

// splitmix64's finalizer: also the hash behind what blocks hold.
inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

class Random {
public:
    explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
    std::uint64_t bits() { return mix(state_ += 0x9e3779b97f4a7c15u); }
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }         // [0, 1)
    double uniform(double low, double high) { return low + (high - low) * uniform(); }
    std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>(uniform() * static_cast<double>(n)); }
    std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + below(high - low + 1); }
    bool chance(double p) { return uniform() < p; }
    double normal() {                                // sum of four uniform numbers: near enough, and cut at 3.5 deviations
        const std::uint64_t b = bits();
        const double sum = static_cast<double>((b & 0xffff) + (b >> 16 & 0xffff) + (b >> 32 & 0xffff) + (b >> 48));
        return (sum - 131070.0) * (1 / 37837.2);
    }
private:
    std::uint64_t state_;
};

}
