#include <array>
#include <cctype>
#include <sstream>

#include "sgprobe/report/posted_record.h"
#include "sgprobe/scsi/inquiry.h"

namespace sgprobe::report {

namespace {

std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == ',')) text.remove_suffix(1);
    return text;
}

// What follows `label` up to two blanks, a comma, or the next label.
std::optional<std::string> labelled(std::string_view line, std::string_view label, std::string_view end = "") {
    const std::size_t at = line.find(label);
    if (at == line.npos) return {};
    line = line.substr(at + label.size());
    if (!end.empty())
        if (const std::size_t stop = line.find(end); stop != line.npos) line = line.substr(0, stop);
    return std::string(trim(line));
}

bool has_digit(std::string_view text) {
    return text.find_first_of("0123456789") != text.npos;
}
bool has_lower_word(const std::string& token) {   // a word of prose: all letters, lower case
    for (const char c : token)
        if (!(c >= 'a' && c <= 'z')) return false;
    return true;
}
bool name_characters(const std::string& token) {
    for (const char c : token)
        if (!std::isalnum(static_cast<unsigned char>(c)) && std::string_view("._-+/#*").find(c) == std::string_view::npos) return false;
    return true;
}
bool revision_like(const std::string& token) {
    return token.size() >= 2 && token.size() <= 8 && has_digit(token);
}
bool product_like(const std::string& token) {
    return token.size() >= 5 && has_digit(token) && token.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") != token.npos;
}

// "VENDOR MODEL REVISION", "MODEL REVISION" or "MODEL", in words that are no prose.
std::optional<PostedIdentity> plain(std::string_view line) {
    std::istringstream words{std::string(line)};
    std::vector<std::string> tokens;
    for (std::string token; words >> token && tokens.size() < 8;) tokens.push_back(token);
    if (!tokens.empty() && tokens.front().starts_with("/dev/")) tokens.erase(tokens.begin());
    while (!tokens.empty() && tokens.back().starts_with("/dev/")) tokens.pop_back();
    if (!tokens.empty() && tokens.back().ends_with(':')) tokens.back().pop_back();
    if (tokens.empty() || tokens.size() > 6) return {};
    bool product_seen = false;
    for (const std::string& token : tokens) {
        if (!name_characters(token) || has_lower_word(token)) return {};
        product_seen = product_seen || product_like(token);
    }
    if (!product_seen) return {};
    PostedIdentity id;
    std::size_t first = 0, last = tokens.size();
    if (last >= 2 && revision_like(tokens[last - 1])) id.revision = tokens[--last];
    if (last - first >= 2 && tokens[0].size() <= 8 && !has_digit(tokens[0])) id.vendor = tokens[first++];
    if (first == last) return {};
    for (std::size_t i = first; i < last; ++i) id.product += (i > first ? " " : "") + tokens[i];
    return id;
}

}

std::optional<PostedIdentity> read_identity(std::string_view line, const PostedIdentity& previous) {
    if (line.size() > 400) return {};
    PostedIdentity id;
    // /proc/scsi/scsi and the kernel's log
    if (const auto vendor = labelled(line, "Vendor: ", "Model:"); vendor && line.find("Model:") != line.npos) {
        id.vendor = *vendor;
        id.product = labelled(line, "Model:", " Rev:").value_or("");
        id.revision = labelled(line, "Rev:", "Ty").value_or("");
        if (!id.product.empty()) return id;
    }
    // hdparm -i
    if (const auto model = labelled(line, "Model=", ", "); model && line.find("FwRev=") != line.npos) {
        id.product = *model;
        id.revision = labelled(line, "FwRev=", ", ").value_or("");
        id.serial = labelled(line, "SerialNo=", ", ").value_or("");
        return id;
    }
    // smartctl -i: one line a fact
    struct Label { std::string_view text; std::string PostedIdentity::*field; };
    static const std::array labels{
        Label{"Device Model:", &PostedIdentity::product}, Label{"Firmware Version:", &PostedIdentity::revision},
        Label{"Vendor:", &PostedIdentity::vendor},        Label{"Product:", &PostedIdentity::product},
        Label{"Revision:", &PostedIdentity::revision},    Label{"Serial Number:", &PostedIdentity::serial},
        Label{"Serial number:", &PostedIdentity::serial}, Label{"Model Number:", &PostedIdentity::product},
        Label{"Firmware Revision:", &PostedIdentity::revision},
    };
    const std::string_view text = trim(line);
    for (const Label& label : labels) {
        if (!text.starts_with(label.text)) continue;
        // A second vendor or product begins another drive.
        if (label.field == &PostedIdentity::vendor || (label.field == &PostedIdentity::product && !previous.product.empty())) id = {};
        else id = previous;
        id.*label.field = std::string(trim(text.substr(label.text.size())));
        return id;
    }
    // lsscsi: [0:0:0:0]    disk    MAXTOR   ATLAS15K2_146WLS HPM5  /dev/sda
    if (text.starts_with('[') && text.find("disk") != text.npos) return plain(text.substr(text.find("disk") + 4));
    return plain(text);
}

}
