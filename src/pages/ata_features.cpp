#include "sgprobe/pages/ata_features.h"

#include "sgprobe/pages/catalogue.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/failure.h"

#include <algorithm>

namespace sgprobe::pages {
namespace {

const AtaFeatureRow rows[] = {
    {"ATA_WC", "Volatile write cache", 0x02, 0x82, false, 1, &scsi::Identify::write_cache, nullptr},
    {"ATA_LA", "Read look-ahead", 0xaa, 0x55, false, 1, &scsi::Identify::look_ahead, nullptr},
    {"ATA_APM", "Advanced power management level", 0x05, 0x85, true, 0xfe, &scsi::Identify::apm, &scsi::Identify::apm_level},
    {"ATA_AAM", "Automatic acoustic management level", 0x42, 0xc2, true, 0xfe, &scsi::Identify::aam, &scsi::Identify::aam_level},
};

scsi::Sense sense_of(const Completion& completion) {
    return completion.outcome.check_condition() ? scsi::parse_sense(completion.sense.view()).value : scsi::Sense{};
}

}

std::span<const AtaFeatureRow> ata_feature_rows() { return rows; }

const AtaFeatureRow* ata_feature(std::string_view key) {
    for (const AtaFeatureRow& row : rows)
        if (same_text(row.key, key)) return &row;
    return nullptr;
}

std::optional<std::uint64_t> AtaFeatures::value(const AtaFeatureRow& row, const scsi::Identify& identify) {
    const auto& state = identify.*row.state;
    if (!state || !state->supported) return {};
    if (!state->enabled) return 0;
    if (!row.levels) return 1;
    const auto& level = identify.*row.level;
    if (!level) return {};
    return *level;
}

Completion AtaFeatures::send(const scsi::AtaCommand& ata, Bytes length) {
    for (int i = 0;; ++i) {
        Command command;
        const auto short_form = scsi::ata_pass_through_12(ata);
        command.cdb = twelve_ && short_form ? *short_form : scsi::ata_pass_through_16(ata);
        command.direction = ata.direction();
        command.length = length;
        command.data = drive_.buffer(std::max<Bytes>(length, 1), BufferKind::indirect);
        Completion completion = execute(host_, drive_, std::move(command));
        if (completion.outcome.good()) { proven_ = true; return completion; }
        const scsi::Sense sense = sense_of(completion);
        if (sense.is(scsi::SenseKey::illegal_request, 0x20) && !proven_ && !twelve_ && short_form) { twelve_ = true; continue; }
        if (i >= 4 || !sense.is(scsi::SenseKey::unit_attention)) return completion;
    }
}

std::optional<ByteVector> AtaFeatures::identify_once() {
    for (int i = 0;; ++i) {
        const Completion completion = send(scsi::ata_identify_device(), 512);
        if (completion.outcome.good() && completion.data().size() == 512) return ByteVector(completion.data().begin(), completion.data().end());
        if (sense_of(completion).is(scsi::SenseKey::illegal_request)) { twelve_ = twelve_ && proven_; return {}; }
        if (i >= 3 || completion.outcome.kind == Outcome::Kind::gone || completion.outcome.kind == Outcome::Kind::os_refusal)
            throw failure(completion, "cannot read the ATA features");
    }
}

std::optional<scsi::Identify> AtaFeatures::identify() {
    auto before = identify_once();
    for (int i = 0; i < 4; ++i) {
        auto again = identify_once();
        if (!before && !again) return {};
        if (before == again) {
            const auto parsed = scsi::parse_identify(*again);
            if (parsed.value.ata) return parsed.value;
            return {};
        }
        before = std::move(again);
    }
    throw Failure(ExitStatus::malformed, drive_.name() + ": answers IDENTIFY DEVICE differently each time, so its features cannot be changed safely");
}

std::optional<std::uint64_t> AtaFeatures::current(const AtaFeatureRow& row) {
    const auto data = identify();
    if (!data) return {};
    return value(row, *data);
}

AtaFeatures::Set AtaFeatures::set(const AtaFeatureRow& row, std::uint64_t value) {
    const Completion completion = send(scsi::ata_set_features(value ? row.on : row.off, row.levels ? static_cast<std::uint8_t>(value) : std::uint8_t{0}), 0);
    return {completion.outcome.good(), describe(completion)};
}

bool AtaFeatures::likely(Host& host, Drive& drive, std::string_view vendor) {
    if (vendor == "ATA") return true;
    for (int i = 0; i < 4; ++i) {
        Command command;
        command.cdb = scsi::inquiry_vpd(0x00, 252);
        command.direction = scsi::Direction::in;
        command.length = 252;
        command.data = drive.buffer(252, BufferKind::indirect);
        const Completion completion = execute(host, drive, std::move(command));
        if (!completion.outcome.good()) {
            if (sense_of(completion).is(scsi::SenseKey::illegal_request)) return false;
            continue;
        }
        const auto pages = scsi::parse_vpd_supported(completion.data());
        return pages.ok() && std::find(pages.value.begin(), pages.value.end(), 0x89) != pages.value.end();
    }
    return false;
}

}
