// A fuzz target is one file here, tests/fuzz/NAME.cpp, which says on a line of its own what it links ("// folders: scsi") and
// has one FUZZ(data) { ... }. Its seeds are the files of tests/fuzz/corpus/NAME. `make fuzz` runs all; the suite `fuzz`, for seconds.
#pragma once
#include <cstdint>
#include <cstdlib>

#include "sgprobe/scsi/types.h"

#define FUZZ(data)                                                                  \
    static void fuzz_one(sgprobe::ByteView data);                                   \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) { \
        fuzz_one(sgprobe::ByteView(bytes, n));                                      \
        return 0;                                                                   \
    }                                                                               \
    static void fuzz_one(sgprobe::ByteView data)

inline void demand(bool condition) { if (!condition) std::abort(); }
