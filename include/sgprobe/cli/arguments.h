// The command line of one subcommand, taken apart by its option rows. Typed access throws Failure that names the option.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/cli/option.h"
#include "sgprobe/scsi/types.h"

namespace sgprobe::cli {

struct Subcommand;

class Arguments {
public:
    // Throws Failure: an option that is unknown or abbreviated, an argument missing, too many or too few positionals (syntax),
    // an option given twice (contradiction).
    static Arguments parse(const Subcommand&, const std::vector<std::string>& words);

    bool has(std::string_view option) const { return count(option) > 0; }
    unsigned count(std::string_view option) const;                                   // -vv is 2
    std::optional<std::string> text(std::string_view option) const;
    std::vector<std::string> texts(std::string_view option) const;                   // of a repeated option
    std::optional<std::uint64_t> number(std::string_view option) const;              // also sizes: 64k, 1M, 200h
    std::vector<std::uint64_t> numbers(std::string_view option) const;               // lists and ranges
    std::optional<Nanoseconds> time(std::string_view option) const;
    std::optional<double> fraction(std::string_view option) const;
    std::optional<std::string> one_of(std::string_view option, std::initializer_list<std::string_view> words) const;
    const std::vector<std::string>& positionals() const { return positionals_; }
    void exclusive(std::initializer_list<std::string_view> options) const;           // throws (contradiction) where two of them are given

private:
    std::map<std::string, std::vector<std::string>, std::less<>> values_;            // a switch has one "" each time it is given
    std::vector<std::string> positionals_;
};

}
