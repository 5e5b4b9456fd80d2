#include "sgprobe/report/decode.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "../hex.h"
#include "sgprobe/transport/failure.h"

using namespace sgprobe;
using namespace sgprobe::report;
using measure::Value;
namespace fs = std::filesystem;

namespace {
const pages::Catalogue& catalogue() {
    static const pages::Catalogue made;
    return made;
}

std::string whole(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string shown(const Value& value) {
    if (const auto* list = std::get_if<measure::ValueList>(&value.held)) return fmt::format("{} items", list->size());
    if (std::holds_alternative<std::monostate>(value.held)) return "null";
    if (const auto* flag = std::get_if<bool>(&value.held)) return *flag ? "yes" : "no";
    if (const auto* number = std::get_if<std::uint64_t>(&value.held)) return fmt::format("{}", *number);
    if (const auto* number = std::get_if<std::int64_t>(&value.held)) return fmt::format("{}", *number);
    if (const auto* number = std::get_if<double>(&value.held)) return fmt::format("{}", *number);
    if (const auto* text = std::get_if<std::string>(&value.held)) return *text;
    return "object";
}

// "fields.pages[1].fields.WCE" in a tree; nothing where there is no such place. A key may hold a point: "PHID.1".
const Value* at(const Value& tree, const std::string& path) {
    if (path.empty()) return &tree;
    if (const auto* list = std::get_if<measure::ValueList>(&tree.held)) {
        const std::size_t close = path.find(']'), index = std::stoul(path.substr(1));
        if (index >= list->size()) return nullptr;
        const bool more = close + 1 < path.size() && path[close + 1] == '.';
        return at((*list)[index], path.substr(close + (more ? 2 : 1)));
    }
    for (std::size_t end = path.size(); end != std::string::npos; end = end == 0 ? std::string::npos : path.find_last_of(".[", end - 1)) {
        const Value* next = tree.find(path.substr(0, end));
        if (!next) continue;
        return at(*next, path.substr(end < path.size() && path[end] == '.' ? end + 1 : end));
    }
    return nullptr;
}

void leaves(const Value& value, const std::string& path, std::vector<std::pair<std::string, std::string>>& out) {
    if (const auto* map = std::get_if<measure::ValueMap>(&value.held)) {
        for (const auto& [key, item] : *map) leaves(item, path.empty() ? key : path + '.' + key, out);
    } else if (const auto* list = std::get_if<measure::ValueList>(&value.held)) {
        for (std::size_t i = 0; i < list->size(); ++i) leaves((*list)[i], fmt::format("{}[{}]", path, i), out);
    } else {
        out.emplace_back(path, shown(value));
    }
}

std::vector<fs::path> files(const fs::path& folder, const char* extension) {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == extension) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
}
}

TEST_CASE("posted replies of real devices are told as they are, in the layout in which they were posted") {
    const auto cases = files("tests/cases", ".want");
    REQUIRE(cases.size() > 30);
    for (const fs::path& path : cases) {
        INFO(path.string());
        std::ifstream want(path);
        std::string kind, line;
        std::getline(want, kind);
        fs::path text = path;
        const Decoded decoded = decode_text(decode_kind_named(kind), whole(text.replace_extension(".txt")), path.string(), catalogue());
        const Value tree = to_value(decoded);
        CHECK(name(decoded.kind) == kind);
        while (std::getline(want, line)) {
            INFO(line);
            if (const std::size_t tilde = line.find(" ~ "); tilde != std::string::npos) {
                const Value* list = at(tree, line.substr(0, tilde));
                bool found = false;
                for (const Value& item : std::get<measure::ValueList>(list->held)) found = found || shown(item).find(line.substr(tilde + 3)) != std::string::npos;
                CHECK(found);
                continue;
            }
            const std::size_t equals = line.find(" = ");
            REQUIRE(equals != std::string::npos);
            const Value* value = at(tree, line.substr(0, equals));
            CHECK((value ? shown(*value) : "missing") == line.substr(equals + 3));
        }
    }
}

TEST_CASE("no prefix of any fixture brings a fault, or a value that the whole does not have") {
    static const std::pair<const char*, std::vector<DecodeKind>> folders[] = {
        {"inquiry", {DecodeKind::inquiry}}, {"vpd", {DecodeKind::vpd}}, {"sense", {DecodeKind::sense}}, {"mode", {DecodeKind::mode6, DecodeKind::mode10}},
        {"identify", {DecodeKind::identify}}, {"capacity", {DecodeKind::readcap10, DecodeKind::readcap16}}, {"log", {DecodeKind::log}}, {"cdb", {DecodeKind::cdb}},
    };
    for (const auto& [folder, kinds] : folders) {
        for (const auto& entry : fs::directory_iterator(fs::path("tests/fuzz/corpus") / folder)) {
            const std::string content = whole(entry.path());
            const ByteVector bytes(content.begin(), content.end());
            for (const DecodeKind kind : kinds) {
                const Decoded all = decode(kind, bytes, catalogue());
                if (!all.problems.empty()) continue;
                for (std::size_t size = 0; size < bytes.size(); ++size) {
                    INFO(entry.path().string(), " as ", name(kind), ", ", size, " bytes");
                    const Decoded part = decode(kind, ByteView(bytes).first(size), catalogue());
                    std::vector<std::pair<std::string, std::string>> told;
                    leaves(part.fields, "", told);
                    for (const auto& [path, value] : told) {
                        if (path.ends_with("truncated") || (path.find("descriptors[") != std::string::npos && part.problems.size() > 0)) continue;   // of the cut itself
                        INFO(path, " = ", value);
                        const Value* same = at(all.fields, path);
                        REQUIRE(same);
                        CHECK(shown(*same) == value);
                    }
                }
            }
        }
    }
}

TEST_CASE("what bytes are is told without being named") {
    const std::pair<const char*, const char*> cases[] = {
        {"A01-samsung-mode-pages", "mode10"}, {"A17-toshiba-usb-limits", "vpd"}, {"A17-toshiba-capacity", "readcap16"}, {"A24-emc-inquiry", "inquiry"},
        {"A28-ata-information", "vpd"}, {"A35-wd-identify-hdparm", "identify"}, {"A38-fixed-sense", "sense"}, {"A40-descriptor-sense", "sense"},
        {"A43-capacity-past-2-31", "readcap10"}, {"A46-log-pages", "log"}, {"A31-wd-command", "cdb"}, {"A02-wd-bridge-inquiry", "inquiry"},
    };
    for (const auto& [file, kind] : cases) {
        INFO(file);
        CHECK(name(decode_text({}, whole(fs::path("tests/cases") / (std::string(file) + ".txt")), file, catalogue()).kind) == kind);
    }
}

TEST_CASE("a reply that is of another kind than was said is a problem") {
    const ByteVector inquiry = from_hex("00 80 05 02 1f 00 00 32 45 4d 43 20 20 20 20 20 53 59 4d 4d 45 54 52 49 58 20 20 20 20 20 20 20 35 38 37 36");
    CHECK_FALSE(decode(DecodeKind::vpd, inquiry, catalogue()).problems.empty());
    CHECK_FALSE(decode(DecodeKind::inquiry, from_hex("55534253 01000000 00000000 00"), catalogue()).problems.empty());
    CHECK_FALSE(decode(DecodeKind::mode10, ByteVector(32), catalogue()).problems.empty());
    CHECK_FALSE(decode(DecodeKind::identify, ByteVector(512), catalogue()).problems.empty());
    CHECK_FALSE(decode(DecodeKind::sense, inquiry, catalogue()).problems.empty());
}

TEST_CASE("text without bytes, or bytes of no known kind, end with a message") {
    CHECK_THROWS_AS(decode_text({}, "nothing here", "x", catalogue()), Failure);
    CHECK_THROWS_AS(decode_text({}, "de ad be ef", "x", catalogue()), Failure);
}
