#include "sgprobe/scsi/log.h"

#include <fmt/format.h>

#include "sgprobe/scsi/reader.h"

namespace sgprobe::scsi {
namespace {
void take_list(const Reader& data, Parsed<LogPage>& out) {
    const std::size_t each = out.value.spf ? 2 : 1;
    if ((out.value.declared_length - 4) % each != 0) out.problems.push_back("the list of log pages and subpages has an odd length");
    for (std::size_t at = 4; data.has(at, each); at += each)
        out.value.supported.emplace_back(*data.u8(at) & 0x3f, each == 2 ? *data.u8(at + 1) : std::uint8_t{0});
}

void take_parameters(const Reader& data, Parsed<LogPage>& out) {
    for (std::size_t at = 4; at < data.size();) {
        const auto code = data.u16(at);
        const auto length = data.u8(at + 3);
        if (!code || !length) {
            out.problems.push_back(fmt::format("the header of a log parameter at byte {} is cut short", at));
            return;
        }
        LogParameter parameter;
        parameter.code = *code;
        parameter.control = data.u8(at + 2).value_or(0);
        parameter.declared_length = *length;
        const ByteView value = data.some(at + 4, *length);
        parameter.value.assign(value.begin(), value.end());
        parameter.truncated = value.size() < *length;
        if (parameter.truncated) out.problems.push_back(fmt::format("log parameter {:04X}h says that it has {} bytes, {} are left", *code, *length, value.size()));
        out.value.parameters.push_back(std::move(parameter));
        at += std::size_t{4} + *length;
    }
}
}

const LogParameter* LogPage::find(std::uint16_t code_) const {
    for (const LogParameter& parameter : parameters)
        if (parameter.code == code_) return &parameter;
    return nullptr;
}

Parsed<LogPage> parse_log_page(ByteView bytes) {
    Parsed<LogPage> out;
    LogPage& page = out.value;
    const Reader arrived(bytes);
    const auto length = arrived.u16(2);
    if (!length) {
        out.problems.push_back(fmt::format("the header of the log page is cut short: {} bytes arrived", bytes.size()));
        return out;
    }
    page.ds = arrived.flag(0, 7);
    page.spf = arrived.flag(0, 6);
    page.code = *arrived.bits(0, 5, 6);
    page.subpage = page.spf ? *arrived.u8(1) : std::uint8_t{0};
    page.declared_length = *length + std::size_t{4};
    page.truncated = arrived.size() < page.declared_length;
    if (page.truncated) out.problems.push_back(fmt::format("log page {:02X}h says that it has {} bytes, {} arrived", page.code, page.declared_length, bytes.size()));
    if (arrived.size() > page.declared_length) out.notes.push_back(fmt::format("{} bytes follow the log page", bytes.size() - page.declared_length));
    const Reader data = arrived.first(page.declared_length);
    out.used = data.size();
    if (page.code == 0x00 || page.subpage == 0xff) take_list(data, out);
    else take_parameters(data, out);
    return out;
}

std::optional<LogTemperature> log_temperature(const LogPage& page) {
    const auto known = [](std::optional<std::uint8_t> c) { return c == 0xff ? std::nullopt : c; };
    const auto at = [&](std::uint16_t code, std::size_t byte) -> std::optional<std::uint8_t> {
        const LogParameter* parameter = page.find(code);
        return parameter ? known(Reader(parameter->value).u8(byte)) : std::nullopt;
    };
    if (page.subpage != 0) return {};
    if (page.code == 0x0d) return LogTemperature{at(0, 1), at(1, 1)};
    if (page.code == 0x2f) return LogTemperature{at(0, 2), {}};
    return {};
}

}
