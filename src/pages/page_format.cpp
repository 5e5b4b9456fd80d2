#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>

#include "sgprobe/pages/catalogue.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

struct Reader {
    const std::string& file;

    [[noreturn]] void fail(const toml::node* node, const std::string& what) const {
        const auto line = node ? node->source().begin.line : 0;
        throw Failure(ExitStatus::syntax, fmt::format("{}:{}: {} (see sgprobe-modepage(5))", file, line, what));
    }
    std::uint64_t number(const toml::table& table, const char* key, std::uint64_t greatest, std::optional<std::uint64_t> otherwise = {}) const {
        const toml::node* node = table.get(key);
        if (!node) {
            if (otherwise) return *otherwise;
            fail(&table, fmt::format("'{}' is missing", key));
        }
        const auto value = node->value_exact<std::int64_t>();
        if (!value || *value < 0 || static_cast<std::uint64_t>(*value) > greatest)
            fail(node, fmt::format("'{}' is no whole number up to {}", key, greatest));
        return static_cast<std::uint64_t>(*value);
    }
    std::string text(const toml::table& table, const char* key) const {
        const toml::node* node = table.get(key);
        if (!node) fail(&table, fmt::format("'{}' is missing", key));
        const auto value = node->value_exact<std::string>();
        if (!value || value->empty()) fail(node, fmt::format("'{}' is no text", key));
        return *value;
    }
    void only(const toml::table& table, std::initializer_list<std::string_view> known) const {
        for (const auto& [key, node] : table)
            if (std::find(known.begin(), known.end(), key.str()) == known.end()) fail(&node, fmt::format("'{}' is not known here", key.str()));
    }
    Field row(const toml::table& table) const {
        only(table, {"byte", "bit", "width", "key", "name", "values", "reserved"});
        Field field;
        field.byte = static_cast<unsigned>(number(table, "byte", 0xffff));
        field.bit = static_cast<unsigned>(number(table, "bit", 7));
        const bool reserved = table["reserved"].value_or(false);
        field.width = static_cast<unsigned>(number(table, "width", reserved ? 0x80000 : 64));
        if (field.width == 0) fail(&table, "a width of 0");
        if (reserved == table.contains("key")) fail(&table, "a row has either a key or reserved = true");
        if (reserved) return field;
        field.key = text(table, "key");
        for (const char c : field.key)
            if (!((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')) fail(&table, fmt::format("'{}' is no key", field.key));
        field.name = text(table, "name");
        if (const toml::node* node = table.get("values")) {
            if (!node->is_table()) fail(node, "'values' is no table");
            for (const auto& [key, meaning] : *node->as_table()) {
                std::uint64_t value = 0;
                const auto [end, error] = std::from_chars(key.data(), key.data() + key.length(), value);
                if (error != std::errc() || end != key.data() + key.length() || value > field.all_ones())
                    fail(&meaning, fmt::format("'{}' is no value of {}", key.str(), field.key));
                const auto words = meaning.value_exact<std::string>();
                if (!words) fail(&meaning, "a meaning is text");
                field.values.emplace_back(value, *words);
            }
            std::sort(field.values.begin(), field.values.end());
        }
        return field;
    }
    std::vector<Field> rows(const toml::table& table) const {
        const toml::array* array = table["fields"].as_array();
        if (!array) fail(&table, "'fields' is missing");
        std::vector<Field> fields;
        for (const toml::node& node : *array) {
            if (!node.is_table()) fail(&node, "a row is { byte, bit, width, ... }");
            fields.push_back(row(*node.as_table()));
        }
        return fields;
    }
    Descriptors descriptors(const toml::table& table) const {
        only(table, {"first", "length", "count", "length_at", "fields"});
        Descriptors result;
        result.first = static_cast<unsigned>(number(table, "first", 0xffff));
        result.length = static_cast<unsigned>(number(table, "length", 0xffff));
        if (table.contains("length_at")) result.length_at = static_cast<unsigned>(number(table, "length_at", 0xffff));
        if (const toml::node* node = table.get("count")) {
            if (!node->is_table()) fail(node, "'count' is { byte, width }");
            only(*node->as_table(), {"byte", "width"});
            Field count;
            count.byte = static_cast<unsigned>(number(*node->as_table(), "byte", 0xffff));
            count.width = static_cast<unsigned>(number(*node->as_table(), "width", 32));
            result.count = count;
        }
        result.fields = rows(table);
        return result;
    }
};

}

PageFormat parse_page_format(std::string_view source, const std::string& file) {
    const Reader reader{file};
    toml::table table;
    try {
        table = toml::parse(source, file);
    } catch (const toml::parse_error& error) {
        throw Failure(ExitStatus::syntax, fmt::format("{}:{}: {} (see sgprobe-modepage(5))", file, error.source().begin.line, error.description()));
    }
    reader.only(table, {"page", "subpage", "name", "acronym", "standard", "clause", "length", "protocol", "vendors", "fields", "descriptors"});
    PageFormat page;
    page.file = file;
    page.code = static_cast<std::uint8_t>(reader.number(table, "page", 0x3e));
    page.subpage = static_cast<std::uint8_t>(reader.number(table, "subpage", 0xfe, 0));
    page.name = reader.text(table, "name");
    page.acronym = reader.text(table, "acronym");
    page.standard = reader.text(table, "standard");
    page.clause = reader.text(table, "clause");
    if (table.contains("length")) page.length = static_cast<unsigned>(reader.number(table, "length", page.subpage ? 0xffff : 0xff));
    if (table.contains("protocol")) page.protocol = static_cast<unsigned>(reader.number(table, "protocol", 15));
    if (const toml::node* node = table.get("vendors")) {
        if (!node->is_array()) reader.fail(node, "'vendors' is a list of texts");
        for (const toml::node& vendor : *node->as_array()) {
            const auto text = vendor.value_exact<std::string>();
            if (!text || text->empty()) reader.fail(&vendor, "'vendors' is a list of texts");
            page.vendors.push_back(*text);
        }
    }
    page.fields = reader.rows(table);
    if (const toml::node* node = table.get("descriptors")) {
        if (!node->is_table()) reader.fail(node, "'descriptors' is a table");
        page.descriptors = reader.descriptors(*node->as_table());
    }
    const auto problems = problems_of(page);
    if (!problems.empty()) throw Failure(ExitStatus::syntax, fmt::format("{}: {} (see sgprobe-modepage(5))", file, fmt::join(problems, "; ")));
    return page;
}

}
