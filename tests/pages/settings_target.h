// A drive for tests of settings: INQUIRY, mode pages with all four page controls, IDENTIFY and SET FEATURES, and the manners of real
// drives as switches. The state can be kept in a file, so that it outlives the process that talks to it.
#pragma once
#include <unistd.h>

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "../transport/scripted_target.h"
#include "sgprobe/scsi/identify.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/reader.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/escape.h"

namespace sgprobe::tests {

inline ByteVector from_hex(std::string_view text) {
    ByteVector out;
    std::string digits;
    for (const char c : text)
        if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) out.push_back(static_cast<std::uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
    return out;
}

struct SettingsPage { ByteVector current, changeable, defaults, saved; };

struct SettingsState {
    std::map<std::pair<int, int>, SettingsPage> pages;
    std::string vendor = "SEAGATE", product = "ST1200MM0129", serial = "S400ABCD";
    std::map<std::string, unsigned> ata;          // "wc", "la", "apm", "aam": level; empty: no ATA drive
    std::string file;                             // where pages and ata are kept
    // Manners:
    bool no_six = false, no_ten = false, refuse_dbd = false, ignore_dbd = false, attention = true, want_descriptors = false;
    bool refuse_select = false, sp_saves_all = true, no_pass_through_16 = false, no_saved = false;
    ByteVector ignored;                           // mask over page 08h: accepted and dropped
    std::function<void(SettingsState&, ByteVector& page08)> twist;   // what the firmware makes of a page it took
    std::vector<ByteVector> selects;              // CDB and list of each MODE SELECT that arrived
    unsigned commands = 0;

    void store() const {
        if (file.empty()) return;
        std::ofstream out(file + ".new");
        for (const auto& [id, page] : pages)
            out << "page " << id.first << ' ' << id.second << ' ' << hex(page.current) << ' ' << hex(page.saved) << '\n';
        for (const auto& [name, level] : ata) out << "ata " << name << ' ' << level << '\n';
        out.close();
        ::rename((file + ".new").c_str(), file.c_str());
    }
    void load() {
        std::ifstream in(file);
        for (std::string word; in >> word;) {
            if (word == "page") {
                int code, sub;
                std::string current, saved;
                in >> code >> sub >> current >> saved;
                pages[{code, sub}].current = from_hex(current);
                pages[{code, sub}].saved = from_hex(saved);
            } else {
                std::string name;
                in >> name >> ata[name];
            }
        }
    }
};

// The hybrid drive of case A04, with a control page beside.
inline SettingsState hybrid_drive() {
    SettingsState s;
    s.pages[{8, 0}] = {from_hex("88 12 14 00 ff ff 00 00 ff ff ff ff 91 20 00 00 00 00 00 00"), from_hex("88 12 a5 00 ff ff ff ff ff ff ff ff 21 00 00 00 00 00 00 00"),
                       from_hex("88 12 10 00 ff ff 00 00 ff ff ff ff 90 20 00 00 00 00 00 00"), from_hex("88 12 14 00 00 40 00 00 ff ff ff ff 91 20 00 00 00 00 00 00")};
    s.pages[{0x0a, 0}] = {from_hex("8a 0a 02 10 00 00 00 00 00 00 02 4b"), from_hex("8a 0a 06 f0 00 00 00 00 00 00 00 00"),
                          from_hex("8a 0a 02 10 00 00 00 00 00 00 02 4b"), from_hex("8a 0a 02 00 00 00 00 00 00 00 02 4b")};
    s.pages[{0x1c, 0}] = {from_hex("1c 0a 10 00 00 00 00 00 00 00 00 01"), from_hex("1c 0a 9d 0f ff ff ff ff ff ff ff ff"), from_hex("1c 0a 10 00 00 00 00 00 00 00 00 01"), from_hex("1c 0a 10 00 00 00 00 00 00 00 00 01")};
    return s;
}

class SettingsTarget : public ScriptedTarget {
public:
    explicit SettingsTarget(SettingsState& state) : ScriptedTarget([this](const TargetCommand& c, std::uint64_t) { return answer(c); }), s_(state) {}

private:
    static Answer good(ByteVector data, const TargetCommand& c) {
        Answer a;
        a.data = std::move(data);
        a.resid = c.length - std::min<Bytes>(c.length, a.data.size());
        return a;
    }
    static Answer sense(scsi::SenseKey key, int asc, int ascq = 0) {
        Answer a;
        a.status = scsi::Status::check_condition;
        a.sense = scsi::build_fixed_sense(key, static_cast<std::uint8_t>(asc), static_cast<std::uint8_t>(ascq));
        return a;
    }
    static Answer illegal(int asc) { return sense(scsi::SenseKey::illegal_request, asc); }

    Answer answer(const TargetCommand& c) {
        ++s_.commands;
        if (c.cdb[0] == 0x12) return inquiry(c);
        if (pending_) {
            pending_ = false;
            return sense(scsi::SenseKey::unit_attention, 0x2a, 1);
        }
        switch (c.cdb[0]) {
        case 0x1a: return s_.no_six ? illegal(0x20) : mode_sense(c, false);
        case 0x5a: return s_.no_ten ? illegal(0x20) : mode_sense(c, true);
        case 0x15: return s_.no_six ? illegal(0x20) : mode_select(c, false);
        case 0x55: return s_.no_ten ? illegal(0x20) : mode_select(c, true);
        case 0x85: return s_.no_pass_through_16 || s_.ata.empty() ? illegal(0x20) : pass_through(c, c.cdb[14], c.cdb[4], c.cdb[6]);
        case 0xa1: return s_.ata.empty() ? illegal(0x20) : pass_through(c, c.cdb[9], c.cdb[3], c.cdb[4]);
        default: return illegal(0x20);
        }
    }
    Answer inquiry(const TargetCommand& c) {
        if (c.cdb[1] & 1) {
            ByteVector page{0, c.cdb[2], 0, 0};
            if (c.cdb[2] == 0x00) page.insert(page.end(), {0x00, 0x80, 0x83});
            else if (c.cdb[2] == 0x80) page.insert(page.end(), s_.serial.begin(), s_.serial.end());
            else return illegal(0x24);
            page[3] = static_cast<std::uint8_t>(page.size() - 4);
            return good(page, c);
        }
        scsi::Inquiry inquiry;
        inquiry.device_type = 0;
        inquiry.version = 6;
        inquiry.response_format = 2;
        inquiry.vendor = s_.ata.empty() ? s_.vendor : "ATA";
        inquiry.product = s_.product;
        inquiry.revision = "C006";
        return good(scsi::build_inquiry(inquiry), c);
    }
    Answer mode_sense(const TargetCommand& c, bool ten) {
        const bool dbd = c.cdb[1] & 8;
        if (dbd && s_.refuse_dbd) return illegal(0x24);
        const int control = c.cdb[2] >> 6, code = c.cdb[2] & 0x3f, sub = c.cdb[3];
        if (control == 3 && s_.no_saved) return illegal(0x39);
        ByteVector data(ten ? 8 : 4);
        data[ten ? 3 : 2] = 0x10;
        if (!dbd || s_.ignore_dbd) {
            data[ten ? 7 : 3] = 8;
            const ByteVector d = from_hex("00 10 00 00 00 00 02 00");
            data.insert(data.end(), d.begin(), d.end());
        }
        const std::size_t empty = data.size();
        for (const auto& [id, page] : s_.pages) {
            if ((code != 0x3f && id.first != code) || (sub != 0xff && id.second != sub)) continue;
            const ByteVector& bytes = control == 0 ? page.current : control == 1 ? page.changeable : control == 2 ? page.defaults : page.saved;
            data.insert(data.end(), bytes.begin(), bytes.end());
        }
        if (data.size() == empty) return illegal(0x24);
        scsi::put(data, 0, ten ? 2 : 1, data.size() - (ten ? 2 : 1));
        return good(data, c);
    }
    Answer mode_select(const TargetCommand& c, bool ten) {
        ByteVector list(c.data_out.begin(), c.data_out.end()), logged(c.cdb.begin(), c.cdb.end());
        logged.insert(logged.end(), list.begin(), list.end());
        s_.selects.push_back(logged);
        if (s_.refuse_select) return illegal(0x26);
        const std::size_t header = ten ? 8 : 4;
        if (list.size() < header || list[0] != 0 || (ten && list[1] != 0) || list[ten ? 3 : 2] != 0) return illegal(0x26);
        const std::size_t descriptors = ten ? list[7] : list[3];
        if (s_.want_descriptors && descriptors == 0) return illegal(0x26);
        const ByteVector page(list.begin() + static_cast<long>(header + descriptors), list.end());
        if (page.size() < 2 || page[0] & 0x80) return illegal(0x26);
        const auto at = s_.pages.find({page[0] & 0x3f, page[0] & 0x40 ? page[1] : 0});
        if (at == s_.pages.end() || at->second.current.size() != page.size()) return illegal(0x26);
        ByteVector& now = at->second.current;
        const bool save = c.cdb[1] & 1;
        if (save && !(now[0] & 0x80)) return illegal(0x24);
        for (std::size_t i = 2; i < page.size(); ++i)
            if ((page[i] ^ now[i]) & ~(i < at->second.changeable.size() ? at->second.changeable[i] : 0)) return illegal(0x26);   // a short mask stands for zeros
        for (std::size_t i = 2; i < page.size(); ++i) {
            const int keep = page[0] == 8 && i < s_.ignored.size() ? s_.ignored[i] : 0;
            now[i] = static_cast<std::uint8_t>((page[i] & ~keep) | (now[i] & keep));
        }
        if (page[0] == 8 && s_.twist) s_.twist(s_, now);
        if (save)
            for (auto& [id, other] : s_.pages)
                if (other.current[0] & 0x80 && (s_.sp_saves_all || &other.current == &now)) other.saved = other.current;
        pending_ = s_.attention;
        s_.store();
        return {};
    }
    Answer pass_through(const TargetCommand& c, int command, int feature, int count) {
        if (command == 0xec) {
            ByteVector words = scsi::build_identify({.serial = "WD-1", .firmware = "1", .model = "TEST", .sectors = 1 << 20, .write_cache = s_.ata["wc"] != 0, .look_ahead = s_.ata["la"] != 0});
            const auto word = [&](std::size_t n, unsigned set) { words[2 * n] = static_cast<std::uint8_t>(words[2 * n] | (set & 0xff)); words[2 * n + 1] = static_cast<std::uint8_t>(words[2 * n + 1] | set >> 8); };
            if (s_.ata.contains("apm")) word(83, 8), word(86, s_.ata["apm"] ? 8 : 0), word(91, s_.ata["apm"]);
            if (s_.ata.contains("aam")) word(83, 0x200), word(86, s_.ata["aam"] ? 0x200 : 0), word(94, s_.ata["aam"]);
            words[511] = 0;
            int sum = 0;
            for (int i = 0; i < 511; ++i) sum += words[static_cast<std::size_t>(i)];
            words[511] = static_cast<std::uint8_t>(-sum);
            return good(words, c);
        }
        if (command != 0xef) return sense(scsi::SenseKey::aborted_command, 0);
        switch (feature) {
        case 0x02: s_.ata["wc"] = 1; break;
        case 0x82: s_.ata["wc"] = 0; break;
        case 0xaa: s_.ata["la"] = 1; break;
        case 0x55: s_.ata["la"] = 0; break;
        case 0x05: if (!s_.ata.contains("apm")) return sense(scsi::SenseKey::aborted_command, 0); s_.ata["apm"] = static_cast<unsigned>(count); break;
        case 0x85: if (!s_.ata.contains("apm")) return sense(scsi::SenseKey::aborted_command, 0); s_.ata["apm"] = 0; break;
        default: return sense(scsi::SenseKey::aborted_command, 0);
        }
        s_.store();
        return {};
    }
    SettingsState& s_;
    bool pending_ = false;
};

}
