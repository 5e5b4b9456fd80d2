// Log pages and their parameters, SPC-5 7.3.
#pragma once
#include <optional>

#include "sgprobe/scsi/parsed.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::scsi {

struct LogParameter {
    std::uint16_t code = 0;
    std::uint8_t control = 0;
    std::size_t declared_length = 0;        // of the value, as the parameter says itself
    ByteVector value{};                     // what arrived of it, without the four bytes of its header
    bool truncated = false;
};

struct LogPage {
    std::uint8_t code = 0, subpage = 0;
    bool ds = false, spf = false;
    std::size_t declared_length = 0;        // header included
    bool truncated = false;
    std::vector<std::pair<std::uint8_t, std::uint8_t>> supported{};   // pages 00h, and every page's subpage FFh: code, subpage
    std::vector<LogParameter> parameters{};   // all other pages
    const LogParameter* find(std::uint16_t parameter) const;
};
Parsed<LogPage> parse_log_page(ByteView);

struct LogTemperature { std::optional<std::uint8_t> current_c, reference_c; };   // FFh: not available
std::optional<LogTemperature> log_temperature(const LogPage&);                  // pages 0Dh and 2Fh

}
