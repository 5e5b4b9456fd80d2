#include <fmt/format.h>

#include <algorithm>

#include "sgprobe/cli/watching.h"
#include "sgprobe/report/table.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe::cli {

class DryRunHost::DryDrive : public WrapperDrive {
public:
    DryDrive(DryRunHost& host, std::unique_ptr<Drive> within) : WrapperDrive(host, std::move(within)), host_(host) {}
    void submit(Command&& command) override {
        if (only_asks(command.cdb.view())) {
            host_.asked_[describe(command.cdb)].commands++;
            host_.asking_++;
            WrapperDrive::submit(std::move(command));
        } else {
            outstanding_++;
            host_.answer(*this, std::move(command));
        }
    }
    unsigned outstanding() const override { return outstanding_ + WrapperDrive::outstanding(); }
    void answered() { outstanding_--; }

private:
    DryRunHost& host_;
    unsigned outstanding_ = 0;
};

bool DryRunHost::only_asks(ByteView cdb) {
    if (cdb.empty()) return false;
    switch (cdb[0]) {
        case 0x00: case 0x03: case 0x12: case 0x1a: case 0x25: case 0x37: case 0x4d: case 0x5a: case 0xa0: case 0xb7: return true;
        case 0x9e: return cdb.size() > 1 && ((cdb[1] & 0x1f) == 0x10 || (cdb[1] & 0x1f) == 0x12);   // READ CAPACITY(16), GET LBA STATUS
        case 0xa3: return true;                                                                      // REPORT ...: MAINTENANCE IN
        case 0x85: return cdb.size() > 14 && (cdb[14] == 0xec || cdb[14] == 0xa1);                   // IDENTIFY through SAT
        case 0xa1: return cdb.size() > 9 && (cdb[9] == 0xec || cdb[9] == 0xa1);
        default: return false;
    }
}

std::unique_ptr<Drive> DryRunHost::open(const DriveSpec& spec) { return std::make_unique<DryDrive>(*this, within().open(spec)); }

void DryRunHost::answer(Drive& drive, Command&& command) {
    const auto rw = scsi::decode_read_write(command.cdb.view());
    Row& row = rows_[{rw ? std::string(name(rw->opcode)) : describe(command.cdb), command.length}];
    row.commands++;
    row.bytes += command.length;
    if (rw) {
        row.blocks = true;
        row.first = std::min(row.first, rw->lba);
        row.last = std::max(row.last, rw->lba + std::max<Blocks>(rw->blocks, 1) - 1);
    }
    Completion c;
    c.drive = &drive;
    c.submitted = now();
    busy_until_ = std::max(busy_until_, c.submitted) + std::chrono::microseconds(100) + Nanoseconds(command.length * 10);
    c.finished = busy_until_;
    c.command = std::move(command);
    answers_.push_back(std::move(c));
}

Event DryRunHost::wait(Nanoseconds deadline) {
    const bool due = !answers_.empty() && answers_.front().finished <= deadline;
    if (!due || ++answered_ % 64 == 0) {
        // Nobody sleeps in a dry run: the host within is only asked for what is there, an interruption included.
        const bool inside = asking_ > 0;
        Event event = WrapperHost::wait(inside && !due ? (deadline == never ? never : deadline - ahead_) : WrapperHost::now());
        if (event.kind == Event::Kind::completion) {
            asking_--;
            event.completion.submitted += ahead_;
            event.completion.finished += ahead_;
        }
        if (event.kind != Event::Kind::deadline) return event;
        if (!due) {
            if (deadline != never && deadline > now()) ahead_ += deadline - now();
            return event;
        }
    }
    Completion c = std::move(answers_.front());
    answers_.erase(answers_.begin());
    if (c.finished > now()) ahead_ += c.finished - now();
    static_cast<DryDrive*>(c.drive)->answered();
    return {.kind = Event::Kind::completion, .completion = std::move(c), .signal = 0};
}

std::string DryRunHost::plan() const {
    std::string out = "Sent, because it only asks:\n";
    for (const auto& [text, row] : asked_) out += fmt::format("  {} x {}\n", row.commands, text);
    if (rows_.empty()) return out + "Nothing else would be sent.\n";
    out += "Not sent, but would be (on a drive that answers as an ideal one does):\n";
    report::Table table;
    table.column("commands"), table.column("", report::Table::Align::left), table.column("bytes each"), table.column("in all"),
        table.column("blocks", report::Table::Align::left);
    for (const auto& [key, row] : rows_) {
        table.row({report::grouped(row.commands), std::get<0>(key), report::grouped(std::get<1>(key)), report::decimal_size(row.bytes),
                   row.blocks ? fmt::format("{} - {}", row.first, row.last) : ""});
    }
    return out + table.str();
}

}
