// Results as strings. A formatter returns text and never prints; everything in it is escaped.
#pragma once
#include <string>

#include "sgprobe/measure/result.h"
#include "sgprobe/measure/value.h"

namespace sgprobe::report {

struct Style {
    bool unicode = false;      // bars of block elements, else of #
    unsigned width = 80;
    bool anonymous = false;    // no serial numbers
};

std::string json(const measure::Value&, bool pretty);            // with a newline at its end
std::string text(const measure::Value&);                         // indented lines, "key: value"
measure::Value to_value(const measure::Result&, const Style&);   // schema sgprobe/1, sgprobe-json(5)
measure::Value device_value(const measure::DeviceIdentity&, bool anonymous);
std::string text(const measure::Result&, const Style&);          // a table with bars, then the verdict in a sentence
std::string csv(const measure::Result&, const Style&);
std::string list(const measure::Result&, const Style&);          // the classic posting
std::string openmetrics(const std::vector<measure::Result>&);     // for node_exporter's textfile collector
std::string verdict_sentence(const measure::Result&);

}
