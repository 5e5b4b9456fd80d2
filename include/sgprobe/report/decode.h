// Bytes from anywhere in the words of the standards: what `sgprobe decode` and `sgprobe info` show. The parsers are scsi/'s; here
// their values become ordered fields. A field whose bytes did not arrive is left out; one that says "not reported" is null.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sgprobe/measure/value.h"
#include "sgprobe/pages/catalogue.h"
#include "sgprobe/scsi/hex_text.h"

namespace sgprobe::report {

enum class DecodeKind : std::uint8_t { inquiry, vpd, sense, mode6, mode10, identify, readcap10, readcap16, log, cdb };
std::span<const std::string_view> decode_kind_names();              // in the order of the enumeration
std::optional<DecodeKind> decode_kind_named(std::string_view);
std::string_view name(DecodeKind);

struct Decoded {
    DecodeKind kind = DecodeKind::inquiry;
    measure::Value fields = measure::Value::object();
    measure::Value ata{};                                           // sense alone: the ATA registers in it; null where there are none
    std::vector<std::string> problems{}, notes{};
    std::vector<Decoded> also{};                                    // further structures of the kind that the same text holds
};

Decoded decode(DecodeKind, ByteView, const pages::Catalogue&);
std::optional<DecodeKind> guess_kind(ByteView);                     // nothing where it cannot be told
std::optional<DecodeKind> kind_of_cdb(ByteView cdb);                // what the command's data is

// Posted text: the sections that fit the kind (all that can be told where it is empty). Throws Failure where there is nothing to decode.
Decoded decode_text(std::optional<DecodeKind>, std::string_view text, const std::string& where, const pages::Catalogue&);

measure::Value to_value(const Decoded&);                            // sgprobe decode --json
std::string text(const Decoded&);
bool has_problems(const Decoded&);

}
