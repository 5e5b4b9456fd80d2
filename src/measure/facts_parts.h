#pragma once
#include "sgprobe/measure/facts.h"

namespace sgprobe::measure {

// What is wrong with a reply becomes a note that names the question, and exit status 97.
inline void keep_problems(Facts& facts, const Reply& reply, const std::string& what) {
    for (const std::string& problem : reply.problems) facts.notes.push_back(what + ": " + problem);
    if (reply.state == Reply::State::malformed) facts.exit_status = 97;
}

template <class T>
void keep_problems(Facts& facts, const scsi::Parsed<T>& parsed, const std::string& what) {
    for (const std::string& problem : parsed.problems) facts.notes.push_back(what + ": " + problem);
    if (!parsed.ok()) facts.exit_status = 97;
}

}
