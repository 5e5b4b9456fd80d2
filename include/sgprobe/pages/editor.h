// Typed fields over the bytes of a mode page, and the MODE SELECT parameter list made from them. Pure.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sgprobe/pages/catalogue.h"
#include "sgprobe/scsi/sense.h"

namespace sgprobe::pages {

std::optional<std::uint64_t> read_field(const Field&, ByteView page);           // nothing where the page ends before the field
bool write_field(const Field&, std::span<std::uint8_t> page, std::uint64_t);    // false where it does not fit
enum class Changeable : std::uint8_t { no, partly, yes };
Changeable changeable(const Field&, ByteView mask);                             // a mask that is too short stands for zeros

// The fields that a page of these bytes really has: those past its end left out, reserved ones too, descriptors counted out
// (keys KEY, KEY.1, KEY.2 ... and bytes of the page).
std::vector<Field> fields_of(const PageFormat&, ByteView page);
const Field* find_field(const std::vector<Field>&, std::string_view key);

// What a user asks: "DPTL", "ca.DPTL", "PMILR.1", with "=VALUE" decimal, 0x200, 200h or -1 (all ones).
struct Assignment {
    std::string page, key;                      // page: what --page takes; empty where it is not said
    std::optional<std::uint64_t> value;         // empty: -1
    bool given = false;                         // a value was written
    std::string text;                           // as the user wrote it
    std::uint64_t value_for(const Field&) const;   // throws Failure where it does not fit the width
};
std::vector<Assignment> parse_assignments(std::string_view list);               // "WCE=0,DPTL=-1"; throws Failure

// A MODE SELECT parameter list of one page: PS is cleared, the mode data length and the device-specific byte are zero (SPC-5 6.14).
// `block_descriptors` as the drive sent them; none as a rule.
ByteVector mode_select_list(ByteView page, bool ten_byte, ByteView block_descriptors = {}, bool longlba = false);

// What a field pointer in the sense data of a refused MODE SELECT means (SPC-5 4.4.2.4.2): "byte 22, bit 7 of the parameter list: DPTL
// (Disable pre-fetch ...) of page 08h". A byte of the header or of a block descriptor is said to be that, never a field of the page.
std::string pointed_at(const scsi::FieldPointer&, ByteView select_list, bool ten_byte, const PageFormat*);

// A block descriptor that asks for what no drive can do, or that would change the format of the medium: a text, else empty.
std::string block_descriptor_warning(ByteView select_list, bool ten_byte, std::optional<Bytes> block_bytes_now);

}
