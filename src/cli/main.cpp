#include "sgprobe/cli/main.h"

#include <fmt/format.h>

#include <cstdio>
#include <new>

#include "sgprobe/report/escape.h"
#include "sgprobe/transport/failure.h"

namespace {

int complain(const std::string& message, int status) {
    fmt::print(stderr, "sgprobe: {}\n", sgprobe::report::for_terminal(message));
    return status;
}

}

int main(int argc, char** argv) {
    using sgprobe::ExitStatus, sgprobe::Failure;
    try {
        return sgprobe::cli::run({argv + 1, argv + argc});
    } catch (const Failure& failure) {
        return complain(failure.what(), failure.status());
    } catch (const std::bad_alloc&) {
        return complain("out of memory", static_cast<int>(ExitStatus::other));
    } catch (const std::exception& error) {
        return complain(fmt::format("this should not happen: {}", error.what()), static_cast<int>(ExitStatus::other));
    }
}
