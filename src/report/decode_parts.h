// The decoders of each kind, and what they share.
#pragma once
#include <fmt/format.h>

#include "sgprobe/report/decode.h"
#include "sgprobe/scsi/parsed.h"

namespace sgprobe::report {

using measure::Value;

inline std::string hex_text(ByteView bytes) {
    std::string out;
    for (const std::uint8_t byte : bytes) out += fmt::format("{}{:02x}", out.empty() ? "" : " ", byte);
    return out;
}

// Fields in order. Each says where it ends in the structure: what did not arrive is left out.
class Fields {
public:
    explicit Fields(std::size_t used) : used_(used) {}
    template <class T> Fields& put(std::size_t end, const char* field, T value) {
        if (end <= used_) value_.set(field, Value(std::move(value)));
        return *this;
    }
    template <class T> Fields& put(std::size_t end, const char* field, std::optional<T> value) {
        if (end <= used_) value_.set(field, value ? Value(*value) : Value());
        return *this;
    }
    template <class T> Fields& told(const char* field, const std::optional<T>& value) {   // left out where it is empty
        if (value) value_.set(field, Value(*value));
        return *this;
    }
    Value take() { return std::move(value_); }
private:
    std::size_t used_;
    Value value_ = Value::object();
};

template <class T>
void take_words(const scsi::Parsed<T>& parsed, Decoded& out) {
    out.problems.insert(out.problems.end(), parsed.problems.begin(), parsed.problems.end());
    out.notes.insert(out.notes.end(), parsed.notes.begin(), parsed.notes.end());
}

void decode_inquiry(ByteView, Decoded&);
void decode_vpd(ByteView, Decoded&);
void decode_sense(ByteView, Decoded&);
void decode_mode(ByteView, bool ten_byte, const pages::Catalogue&, Decoded&);
void decode_identify(ByteView, Decoded&);
Value identify_fields(ByteView, std::vector<std::string>& problems, std::vector<std::string>& notes);
Value sense_fields(ByteView, std::vector<std::string>& problems, std::vector<std::string>& notes, Value& ata);
void decode_capacity_10(ByteView, Decoded&);
void decode_capacity_16(ByteView, Decoded&);
void decode_log(ByteView, Decoded&);
void decode_cdb(ByteView, Decoded&);

}
