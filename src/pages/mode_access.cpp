#include "sgprobe/pages/mode_access.h"

#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/pages/editor.h"
#include "sgprobe/transport/describe.h"
#include "sgprobe/transport/failure.h"

namespace sgprobe::pages {
namespace {

constexpr unsigned tries = 6;                    // a unit attention each for a reset, a change, and what else is pending

bool invalid_opcode(const scsi::Sense& sense) { return sense.is(scsi::SenseKey::illegal_request, 0x20); }

scsi::Sense sense_of(const Completion& completion) {
    return completion.outcome.check_condition() ? scsi::parse_sense(completion.sense.view()).value : scsi::Sense{};
}

}

ModeAccess::ModeAccess(Host& host, Drive& drive, const Catalogue& catalogue, std::string vendor, bool six_first)
    : host_(host), drive_(drive), catalogue_(catalogue), vendor_(std::move(vendor)), sense_six_(six_first), select_six_(six_first) {}

void ModeAccess::note(const std::string& text) {
    if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(text);
}

Completion ModeAccess::send(const scsi::Cdb& cdb, scsi::Direction direction, Bytes length, ByteView out) {
    Command command;
    command.cdb = cdb;
    command.direction = direction;
    command.length = length;
    command.data = drive_.buffer(std::max<Bytes>(length, 1), BufferKind::indirect);
    std::copy(out.begin(), out.end(), command.data.bytes().begin());
    Completion completion = execute(host_, drive_, std::move(command));
    const scsi::Sense sense = sense_of(completion);
    if (sense.is(scsi::SenseKey::unit_attention, 0x29)) ++resets_;
    if (sense.is(scsi::SenseKey::unit_attention, 0x2a)) ++changed_;
    return completion;
}

Completion ModeAccess::sense_once(PageId id, scsi::PageControl control) {
    const scsi::ModeSense what{.page = id.code, .subpage = id.subpage, .control = control, .dbd = dbd_};
    if (sense_six_) return send(scsi::mode_sense_6(what, 252), scsi::Direction::in, 252, {});
    const Bytes first = 4096;
    Completion completion = send(scsi::mode_sense_10(what, first), scsi::Direction::in, first, {});
    const ByteView data = completion.data();
    const Bytes whole = data.size() < 2 ? 0 : (Bytes{data[0]} << 8 | data[1]) + 2;
    if (whole <= first) return completion;
    const Bytes more = std::min<Bytes>(whole, 0xffff);
    return send(scsi::mode_sense_10(what, static_cast<std::uint16_t>(more)), scsi::Direction::in, more, {});
}

ModeAccess::Reply ModeAccess::sense(PageId id, scsi::PageControl control) {
    const std::string what = fmt::format("cannot read mode page {}", label(id));
    std::optional<Completion> last;
    std::string malformed;
    bool other_form_tried = false, plain_tried = false;
    for (unsigned i = 0; i < tries; ++i) {
        Completion completion = sense_once(id, control);
        if (completion.outcome.good()) {
            const auto parsed = sense_six_ ? scsi::parse_mode_6(completion.data()) : scsi::parse_mode_10(completion.data());
            sense_proven_ = true;
            if (parsed.ok() || (!parsed.value.pages.empty() && i + 1 == tries)) {
                dbd_proven_ = dbd_proven_ || (dbd_ && parsed.value.descriptors.empty());
                if (!parsed.value.descriptor_bytes.empty()) {
                    if (dbd_) note("sends block descriptors although it was told not to");
                    descriptors_ = parsed.value.descriptor_bytes;
                    longlba_ = parsed.value.longlba;
                }
                return {true, parsed.value};
            }
            malformed = parsed.ok() ? "the reply holds no page" : parsed.problems.front();
            continue;
        }
        const scsi::Sense sense = sense_of(completion);
        if (invalid_opcode(sense)) {
            if (sense_proven_ || other_form_tried) return {};
            other_form_tried = true;
            sense_six_ = !sense_six_;
            if (!select_proven_) select_six_ = sense_six_;
            continue;
        }
        if (sense.is(scsi::SenseKey::illegal_request, 0x39)) return {};            // SAVING PARAMETERS NOT SUPPORTED
        if (sense.is(scsi::SenseKey::illegal_request)) {                            // 24h: no such page, or DBD
            if (!dbd_ || dbd_proven_ || plain_tried) { dbd_ = dbd_ || !dbd_proven_; return {}; }
            plain_tried = true;
            dbd_ = false;
            continue;
        }
        last = std::move(completion);
        if (last->outcome.kind == Outcome::Kind::gone || last->outcome.kind == Outcome::Kind::os_refusal) break;
        if (last->outcome.check_condition() && !sense.is(scsi::SenseKey::unit_attention) && i >= 3) break;
        if (!last->outcome.check_condition() && i >= 2) break;
    }
    if (last) throw failure(*last, what);
    throw Failure(ExitStatus::malformed, fmt::format("{}: {}: {}; nothing was changed by that", drive_.name(), what, malformed));
}

std::optional<scsi::ModePage> ModeAccess::page(PageId id, scsi::PageControl control) {
    for (int i = 0;; ++i) {
        const Reply reply = sense(id, control);
        if (!reply.there) return {};
        if (const scsi::ModePage* found = reply.data.find(id.code, id.subpage)) return *found;
        if (id.subpage != 0 && reply.data.find(id.code, 0)) return {};              // does not know subpages
        if (i >= 2) {
            note(fmt::format("answers the request for page {} with something else", label(id)));
            return {};
        }
    }
}

ByteVector ModeAccess::settled(PageId id, scsi::PageControl control) {
    std::optional<scsi::ModePage> before = page(id, control);
    for (int i = 0; i < 5; ++i) {
        std::optional<scsi::ModePage> again = page(id, control);
        if (!before && !again) return {};
        if (before && again && before->bytes == again->bytes && !again->truncated) return again->bytes;
        before = std::move(again);
    }
    throw Failure(ExitStatus::malformed, fmt::format("{}: mode page {} reads differently each time, so it cannot be changed safely", drive_.name(), label(id)));
}

std::optional<PageValues> ModeAccess::read(PageId id) {
    const auto current = page(id, scsi::PageControl::current);
    if (!current) return {};
    PageValues values;
    values.id = id;
    values.savable = current->ps;
    values.truncated = current->truncated;
    values.current = current->bytes;
    const auto other = [&](scsi::PageControl control) {
        const auto found = page(id, control);
        return found ? found->bytes : ByteVector{};
    };
    values.changeable = other(scsi::PageControl::changeable);
    values.defaults = other(scsi::PageControl::defaults);
    values.saved = other(scsi::PageControl::saved);
    values.format = catalogue_.find(id, values.current, vendor_);
    return values;
}

std::vector<PageValues> ModeAccess::read_all() {
    std::vector<PageValues> all;
    for (const std::uint8_t subpage : {std::uint8_t{0xff}, std::uint8_t{0}}) {
        const Reply reply = sense({0x3f, subpage}, scsi::PageControl::current);
        for (const scsi::ModePage& page : reply.data.pages) {
            PageValues values;
            values.id = {page.code, page.subpage};
            values.savable = page.ps;
            values.truncated = page.truncated;
            values.current = page.bytes;
            values.format = catalogue_.find(values.id, values.current, vendor_);
            all.push_back(std::move(values));
        }
        if (all.empty()) continue;
        const auto fill = [&](scsi::PageControl control, ByteVector PageValues::* member) {
            const Reply other = sense({0x3f, subpage}, control);
            for (PageValues& values : all) {
                if (const scsi::ModePage* page = other.data.find(values.id.code, values.id.subpage)) values.*member = page->bytes;
            }
        };
        fill(scsi::PageControl::changeable, &PageValues::changeable);
        fill(scsi::PageControl::defaults, &PageValues::defaults);
        fill(scsi::PageControl::saved, &PageValues::saved);
        break;
    }
    return all;
}

ByteVector ModeAccess::select_list(ByteView page) const {
    return mode_select_list(page, !select_six_, send_descriptors_ ? ByteView(descriptors_) : ByteView{}, longlba_ && !select_six_);
}

scsi::Cdb ModeAccess::select_cdb(ByteView page, bool save) const {
    const std::size_t length = select_list(page).size();
    return select_six_ ? scsi::mode_select_6(static_cast<std::uint8_t>(length), save) : scsi::mode_select_10(static_cast<std::uint16_t>(length), save);
}

ModeAccess::Selected ModeAccess::select(ByteView page, bool save) {
    Selected result;
    bool other_form_tried = false;
    if (select_six_ && select_list(page).size() > 0xff) select_six_ = false;
    for (unsigned i = 0; i < tries; ++i) {
        const ByteVector list = select_list(page);
        result.completion = send(select_cdb(page, save), scsi::Direction::out, list.size(), list);
        const scsi::Sense sense = sense_of(result.completion);
        result.answer = describe(result.completion);
        result.accepted = result.completion.outcome.good() || sense.is(scsi::SenseKey::recovered_error);   // 37h: rounded
        if (result.accepted) { select_proven_ = true; break; }
        if (sense.is(scsi::SenseKey::unit_attention)) continue;                     // reported in place of the command: it did not run
        if (invalid_opcode(sense) && !select_proven_ && !other_form_tried && list.size() <= 0xff) {
            other_form_tried = true;
            select_six_ = !select_six_;
            continue;
        }
        result.refused = sense.is(scsi::SenseKey::illegal_request) || sense.is(scsi::SenseKey::data_protect);
        const bool list_at_fault = sense.is(scsi::SenseKey::illegal_request, 0x1a) || sense.is(scsi::SenseKey::illegal_request, 0x26);
        if (list_at_fault && !descriptors_.empty() && !send_descriptors_ && !select_proven_) {
            send_descriptors_ = true;                                               // as some drives of before SPC-2 want it
            Selected with = select(page, save);
            if (!with.accepted) send_descriptors_ = false;
            return with;
        }
        break;
    }
    return result;
}

}
