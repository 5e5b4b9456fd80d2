// Known limits and quirks of devices (src/pages/quirks/known_limits.tsv): which of them a device has, in words, and what the
// program leaves undone because of them.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/precautions.h"

namespace sgprobe::pages {

struct DeviceId {                                // what is known of a device; empty: not known
    std::string vendor, product, revision;       // INQUIRY
    std::string ata_model, ata_firmware;         // IDENTIFY DEVICE; INQUIRY has but 16 and 4 characters of them
    std::optional<std::uint16_t> usb_vendor, usb_product, usb_bcd;
    bool uas = false;                            // the host's driver is uas
};

struct Quirk {
    std::string bus, pattern, firmware, limit, unit, source, note;
    std::uint64_t value = 0;
    double number = 0;                           // value with its fraction ("1.5 Gbps")
    bool historic = false;                       // told, not obeyed
};

class Quirks {
public:
    explicit Quirks(std::string_view tsv);       // throws Failure with the line that is wrong
    static const Quirks& built_in();
    const std::vector<Quirk>& rows() const { return rows_; }
    std::vector<const Quirk*> of(const DeviceId&) const;
private:
    std::vector<Quirk> rows_;
};

std::string sentence(const Quirk&);              // "the kernel limits this model to 1024 sectors (512 KiB): timeouts above"
bool worth_telling(const Quirk&);                // not of those that every device of a bus has
std::vector<std::string> sentences(const DeviceId&);   // of the built-in rows, for info and verdicts
Precautions precautions(std::span<const Quirk* const>);

// Finds what is known of the device and has the drive obey it from here on, beside what it obeys already.
void obey(Drive&, const DeviceId&);

bool glob(std::string_view pattern, std::string_view text);   // as the kernel's glob_match: * ? [...]

}
