#include "sgprobe/pages/quirks.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sgprobe/scsi/embedded.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {
// The one list of limits: what a row says in words, and what the program does about it. {n} is the value.
struct Limit {
    std::string_view name, words;
    void (*apply)(Precautions&, const Quirk&) = nullptr;
    bool all_of_bus = false;                     // true of every device there: obeyed, not told of each
};
using P = Precautions;
using Q = Quirk;
void cap(P& p, Bytes bytes) { p.max_transfer_bytes = std::min(p.max_transfer_bytes.value_or(bytes), bytes); }

const Limit limits[] = {
    {"max_sectors", "the kernel limits this model to {n} sectors", [](P& p, const Q& q) { cap(p, q.value * 512); }},
    {"max_sectors_over_uas", "the kernel limits this model to {n} sectors over UAS", [](P& p, const Q& q) { cap(p, q.value * 512); }},
    {"max_sectors_min_needed", "this model needs requests of up to {n} sectors"},
    {"max_lba28_last_lba", "28-bit commands reach no further than sector {n}", nullptr, true},
    {"max_trim", "TRIM of more than {n} MiB locks this model up"},
    {"max_link_speed", "the kernel runs this model at {n} Gb/s at most"},
    {"no_ncq", "NCQ is known not to work well on this model", [](P& p, const Q&) { p.no_ncq = true; }},
    {"no_ncq_on_ati_host", "NCQ is known not to work on this model behind AMD/ATI SATA controllers"},
    {"broken_fpdma_auto_activate", "first-party DMA auto-activate is broken on this model"},
    {"no_queued_trim", "queued TRIM is broken on this model"},
    {"no_trim", "TRIM is broken on this model"},
    {"no_fua", "FUA is broken on this model and is not used", [](P& p, const Q&) { p.no_fua = true; }},
    {"no_log_directory_read", "reading the log directory makes this model vanish; it is not read", [](P& p, const Q&) { p.no_log_directory = true; }},
    {"no_dma_log_read", "logs of this model are not read by DMA"},
    {"broken_hpa", "the host protected area is broken on this model"},
    {"hpa_reports_one_sector_more", "the host protected area of this model is reported one sector too long"},
    {"no_dma", "this model is run without DMA and so is slow"},
    {"atapi_dma_any_length_ok", "this model takes ATAPI DMA of any length"},
    {"not_a_disk", "this is a configuration device of a bridge, not a disk"},
    {"zero_after_trim_trusted", "this model returns zeros after TRIM"},
    {"vpd_ok_despite_old_version", "this model has VPD pages although its version says otherwise"},
    {"skip_vpd", "VPD pages are known to break this model; none is asked for", [](P& p, const Q&) { p.no_vpd = true; }},
    {"no_short_vpd_size_probe", "this model is not asked for a VPD page in four bytes", [](P& p, const Q&) { p.no_short_vpd = true; }},
    {"no_report_supported_opcodes", "REPORT SUPPORTED OPERATION CODES is known to break this model; it is not sent", [](P& p, const Q&) { p.no_report_opcodes = true; }},
    {"no_report_luns", "REPORT LUNS is known to break this model; it is not sent", [](P& p, const Q&) { p.no_report_luns = true; }},
    {"no_tagged_queueing", "the kernel sends this model one command at a time"},
    {"no_dif", "protection information is broken on this model"},
    {"skip_io_hints_mode_page", "the I/O hints mode page is known to break this model"},
    {"retry_hardware_error", "hardware errors of this model are worth another try"},
    {"retry_asc_c1", "this model's sense code C1h calls for another try"},
    {"broken_negotiation", "this model cannot negotiate its parallel bus"},
    {"max_inquiry_alloc", "INQUIRY for more than {n} bytes is known to break this model; no more is asked for", [](P& p, const Q& q) { p.max_inquiry_bytes = static_cast<unsigned>(q.value); }},
    {"needs_delay_before_data", "this bridge needs a pause before the data of a command"},
    {"capacity_one_too_large", "this model says one block too many; the last one is left out", [](P& p, const Q&) { p.capacity_one_too_large = true; }},
    {"capacity_may_be_off_by_one", "this model may say one block too many; the last one is left out", [](P& p, const Q&) { p.capacity_one_too_large = true; }},
    {"residue_unreliable", "what this bridge says about how much it moved is not believed", [](P& p, const Q&) { p.residue_unreliable = true; }},
    {"no_ata_passthrough_12_16_over_uas", "ATA PASS-THROUGH is known to break this bridge over UAS; it is not sent", [](P& p, const Q&) { p.no_ata_pass_through = true; }},
    {"no_uas", "the kernel does not use UAS with this bridge"},
    {"no_read_capacity_16", "READ CAPACITY(16) is known to break this model; it is not sent", [](P& p, const Q&) { p.no_read_capacity_16 = true; }},
    {"needs_read_capacity_16", "only READ CAPACITY(16) tells this bridge's size", [](P& p, const Q&) { p.needs_read_capacity_16 = true; }},
    {"first_read10_bad", "the first READ(10) of this model fails and is sent again", [](P& p, const Q&) { p.first_read_bad = true; }},
    {"max_sense", "sense data of more than {n} bytes is known to break this model; no more is asked for", [](P& p, const Q& q) { p.max_sense_bytes = static_cast<unsigned>(q.value); }},
    {"no_mode_sense_for_wp", "MODE SENSE is known to break this model; write protect and cache state stay unknown", [](P& p, const Q&) { p.no_mode_sense = true; }},
    {"long_sense_ok", "this bridge takes requests for long sense data"},
    {"write_cache_on_though_not_reported", "this model's write cache is on although it does not say so"},
    {"hangs_without_sync_cache", "this model hangs where SYNCHRONIZE CACHE is left out"},
    {"sync_cache_ejects_medium", "SYNCHRONIZE CACHE ejects this device's medium; it is not sent", [](P& p, const Q&) { p.no_synchronize_cache = true; }},
    {"last_sectors_single_only", "the last {n} sectors are read one at a time", [](P& p, const Q& q) { p.last_blocks_single = q.value; }, true},
};

const Limit* find(std::string_view name) {
    const auto found = std::ranges::find(limits, name, &Limit::name);
    return found == std::end(limits) ? nullptr : found;
}

std::vector<std::string_view> split(std::string_view line, char separator) {
    std::vector<std::string_view> out;
    for (;;) {
        const std::size_t end = line.find(separator);
        out.push_back(line.substr(0, end));
        if (end == std::string_view::npos) return out;
        line.remove_prefix(end + 1);
    }
}

std::optional<std::uint16_t> hex16(std::string_view text) {
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size() || text.size() != 4) return {};
    return value;
}

Quirk read_row(std::string_view line, std::size_t number) {
    const auto wrong = [&](std::string_view what) { return Failure(ExitStatus::malformed, fmt::format("known_limits.tsv, line {}: {}", number, what)); };
    const auto column = split(line, '\t');
    if (column.size() != 9) throw wrong("not nine columns");
    Quirk row;
    row.bus = column[0], row.pattern = column[1], row.firmware = column[2], row.limit = column[3];
    row.unit = column[5], row.source = column[6], row.historic = column[7] == "historic", row.note = column[8];
    if (row.bus != "ata" && row.bus != "scsi" && row.bus != "usb") throw wrong("the bus is none of ata, scsi, usb");
    if (!find(row.limit)) throw wrong("no such limit");
    if (column[7] != "historic" && column[7] != "current") throw wrong("standing is current or historic");
    const auto [end, error] = std::from_chars(column[4].data(), column[4].data() + column[4].size(), row.number);
    if (error != std::errc() || end != column[4].data() + column[4].size()) throw wrong("the value is no number");
    row.value = static_cast<std::uint64_t>(row.number);
    if (row.bus == "scsi" && split(row.pattern, '|').size() != 2) throw wrong("the pattern is no VENDOR|MODEL");
    if (row.bus == "usb") {
        for (const std::string_view id : split(split(row.pattern, ' ')[0], ','))
            if (const auto halves = split(id, ':'); id != "*" && (halves.size() != 2 || !hex16(halves[0]) || !hex16(halves[1]))) throw wrong("the pattern is no idVendor:idProduct");
        for (const std::string_view bcd : split(row.firmware, '-'))
            if (row.firmware != "*" && !hex16(bcd)) throw wrong("the firmware is no bcdDevice");
    }
    return row;
}

bool usb_matches(const Quirk& row, const DeviceId& id) {
    if (!id.usb_vendor || !id.usb_product) return false;
    if (row.limit.ends_with("_over_uas") && !id.uas) return false;
    const std::string own = fmt::format("{:04x}:{:04x}", *id.usb_vendor, *id.usb_product);
    const auto ids = split(split(row.pattern, ' ')[0], ',');
    if (std::ranges::none_of(ids, [&](std::string_view one) { return one == "*" || one == own; })) return false;
    if (row.firmware == "*") return true;
    const auto range = split(row.firmware, '-');
    return id.usb_bcd && *id.usb_bcd >= hex16(range.front()) && *id.usb_bcd <= hex16(range.back());
}

bool scsi_matches(const Quirk& row, const DeviceId& id) {
    const auto halves = split(row.pattern, '|');
    return id.vendor == halves[0] && std::string_view(id.product).starts_with(halves[1]);
}

bool ata_matches(const Quirk& row, const DeviceId& id) {
    // INQUIRY cuts the model at 16 characters and keeps but four of the firmware: without IDENTIFY only a model that is not cut is known.
    const bool whole = !id.ata_model.empty();
    if (!whole && (id.vendor != "ATA" || id.product.size() >= 16 || row.firmware != "*")) return false;
    std::string_view pattern = row.pattern;
    while (pattern.starts_with(" ")) pattern.remove_prefix(1);   // a model that begins with a blank has lost it here
    return glob(pattern, whole ? id.ata_model : id.product) && (row.firmware == "*" || glob(row.firmware, id.ata_firmware));
}
}

bool glob(std::string_view pattern, std::string_view text) {
    std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
    const auto one = [&](std::size_t& at, char c) {   // matches one character of the text; moves past the pattern's
        if (pattern[at] == '?') return ++at, true;
        if (pattern[at] == '[') {
            const std::size_t close = pattern.find(']', at + 2);
            if (close != std::string_view::npos) {
                bool inverted = pattern[at + 1] == '!', in = false;
                for (std::size_t i = at + 1 + inverted; i < close; ++i) {
                    if (i + 2 < close && pattern[i + 1] == '-') {
                        in = in || (c >= pattern[i] && c <= pattern[i + 2]);
                        i += 2;
                    } else {
                        in = in || c == pattern[i];
                    }
                }
                at = close + 1;
                return in != inverted;
            }
        }
        return pattern[at++] == c;
    };
    while (t < text.size()) {
        std::size_t next = p;
        if (p < pattern.size() && pattern[p] == '*') {
            star = ++p;
            resume = t;
        } else if (p < pattern.size() && one(next, text[t])) {
            p = next;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') ++p;
    return p == pattern.size();
}

Quirks::Quirks(std::string_view tsv) {
    std::size_t number = 0;
    for (const std::string_view line : split(tsv, '\n'))
        if (++number; !line.empty() && line[0] != '#') rows_.push_back(read_row(line, number));
}

const Quirks& Quirks::built_in() {
    static const Quirks made = [] {
        for (const EmbeddedFile& file : embedded_files())
            if (file.name == "src/pages/quirks/known_limits.tsv") return Quirks(file.content);
        return Quirks("");
    }();
    return made;
}

std::vector<const Quirk*> Quirks::of(const DeviceId& id) const {
    std::vector<const Quirk*> out;
    for (const Quirk& row : rows_) {
        const bool matches = row.bus == "ata" ? ata_matches(row, id) : row.bus == "usb" ? usb_matches(row, id) : scsi_matches(row, id);
        if (matches) out.push_back(&row);
    }
    return out;
}

std::string sentence(const Quirk& quirk) {
    const Limit* limit = find(quirk.limit);
    std::string text(limit ? limit->words : quirk.limit);
    if (quirk.limit == "no_ncq" && quirk.note == "slow with NCQ") text = "NCQ is known to be slow on this model";
    if (const std::size_t at = text.find("{n}"); at != std::string::npos) text.replace(at, 3, fmt::format("{}", quirk.number));
    if (quirk.limit.starts_with("max_sectors") && !quirk.limit.ends_with("needed")) text += fmt::format(" ({:g} KiB)", quirk.number / 2);
    if (!quirk.note.empty() && quirk.note != "slow with NCQ") text += ": " + quirk.note;
    if (quirk.historic) text += "; the kernel knew this once and does not any more";
    return text;
}

bool worth_telling(const Quirk& quirk) {
    const Limit* limit = find(quirk.limit);
    return limit && !limit->all_of_bus;
}

std::vector<std::string> sentences(const DeviceId& id) {
    std::vector<std::string> out;
    for (const Quirk* quirk : Quirks::built_in().of(id))
        if (worth_telling(*quirk)) out.push_back(sentence(*quirk));
    return out;
}

namespace {
void heed(std::span<const Quirk* const> quirks, Precautions& to) {
    for (const Quirk* quirk : quirks)
        if (const Limit* limit = find(quirk->limit); limit && limit->apply && !quirk->historic) limit->apply(to, *quirk);
}
}

Precautions precautions(std::span<const Quirk* const> quirks) {
    Precautions out;
    heed(quirks, out);
    return out;
}

void obey(Drive& drive, const DeviceId& id) {
    Precautions now = drive.precautions();
    heed(Quirks::built_in().of(id), now);
    drive.set_precautions(now);
}

}
