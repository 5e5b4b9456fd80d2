// A drive as a user names it: "/dev/sg3", "sim:atlas15k2-hpm5,seed=7,noise=0", "pipe:python3 model.py", "trace:run.trace".
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace sgprobe {

struct DriveSpec {
    std::string text;                             // as it was written
    std::string scheme;                           // "sg" (any path of /dev), "sim", "pipe", "trace"
    std::string rest;                             // path, drive name or file, or the whole command of a pipe
    std::map<std::string, std::string> options;   // sim only: key=value overrides

    static DriveSpec parse(std::string_view);     // throws Failure (exit status 1) where it is no name of a drive
};

}
