// The mode pages of a simulated drive: current, changeable, default and saved values, MODE SENSE and MODE SELECT (SPC-5 6.13 to 6.16).
#pragma once
#include <optional>
#include <string_view>

#include "sgprobe/scsi/mode.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/sim/model.h"
#include "sgprobe/sim/settings.h"

namespace sgprobe::sim {

struct SenseCode { scsi::SenseKey key; std::uint8_t asc, ascq; };

// The fields that drive files set by name: sdparm's acronyms.
struct ModeField {
    std::string_view key;
    std::uint8_t page, byte, bit;                 // bit: of the most significant one
    std::uint8_t width;
};
std::span<const ModeField> mode_fields();
const ModeField* find_mode_field(std::string_view key, std::uint8_t page);
std::uint64_t field(ByteView page, const ModeField&);
void set_field(std::span<std::uint8_t> page, const ModeField&, std::uint64_t value);

class ModePages {
public:
    explicit ModePages(const Model&);

    // The reply to MODE SENSE(6) or (10), not yet cut to the allocation length; or why not.
    std::optional<SenseCode> sense(ByteView cdb, ByteVector& reply) const;
    // MODE SELECT(6) or (10): all of it or nothing. Says whether anything changed.
    std::optional<SenseCode> select(ByteView cdb, ByteView data, bool& changed);

    Settings settings() const;                    // what the drive obeys
    std::uint64_t obeyed(std::string_view key) const;      // of the caching or control page, as the drive acts on it
    bool force(std::string_view key, std::uint64_t value); // a caching field set by other means than MODE SELECT: SET FEATURES
    bool descriptor_sense() const;                // D_SENSE of the control page
    void power_on();                              // current values become the saved ones
    struct Page {
        PageModel model;
        ByteVector current, obeyed;
        std::uint8_t first_byte() const { return static_cast<std::uint8_t>(model.code | (model.subpage ? 0x40 : 0)); }
    };
    std::vector<Page>& pages() { return pages_; }
    const std::vector<Page>& pages() const { return pages_; }

private:
    std::uint64_t obeyed(std::string_view key, std::uint8_t page, std::uint64_t otherwise) const;
    Page* find(std::uint8_t code, std::uint8_t subpage);
    std::optional<SenseCode> check(const Page&, ByteView wanted) const;
    std::vector<Page> pages_;
    Blocks blocks_;
    unsigned block_bytes_;
    bool ata_;                                    // the translation obeys WCE and DRA alone
};

}
