// The result of parsing bytes that nobody vouches for: what could be told, and what is wrong with them.
#pragma once
#include <string>
#include <vector>

namespace sgprobe::scsi {

// Fields of T that did not arrive, or whose validity bits are off, are empty: nothing is ever invented.
template <class T>
struct Parsed {
    T value;
    std::vector<std::string> problems;   // contradictions, cuts, a reply that is not what was asked for (exit status 97)
    std::size_t used = 0;                // bytes that arrived and belong to the structure: fields past them were not told
    std::vector<std::string> notes;      // worth saying, no fault: bytes past the structure, sentinels, placeholders
    bool ok() const { return problems.empty(); }
};

}
