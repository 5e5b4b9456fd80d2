#include "sgprobe/measure/cache_drive.h"

#include <algorithm>

#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/describe.h"

namespace sgprobe::measure {

CacheDrive::CacheDrive(Host& host, Drive& drive, const Subject& subject, const CacheOptions& options, CacheFinding& finding)
    : host_(host), drive_(drive), subject_(subject), finding_(finding), random_(options.seed), end_(host.now() + options.budget) {
    // 4,096 places, none nearer to the next than a cache segment is long where the disk has room for that.
    stride_ = std::clamp<Blocks>(blocks() / 4096, 256, 32768);
    stay_near(blocks() / 4 * 3);
}

Blocks CacheDrive::longest() const {
    const Bytes most = std::min<Bytes>(host_.is_virtual() ? drive_.limits().max_transfer_bytes : Bytes{512} << 10, Bytes{65535} * block_bytes());
    return most / block_bytes();
}

void CacheDrive::stay_near(Lba lba) {
    top_ = next_ = std::min(lba, blocks() - std::min(blocks(), 2 * stride_));
}

Lba CacheDrive::fresh() {
    if (next_ < 2 * stride_) next_ = top_;          // all the way down: begin again, long after
    next_ -= stride_;
    const Blocks align = subject_.alignment();
    return (next_ + random_() % (stride_ / 4)) / align * align;
}

CacheDrive::Timed CacheDrive::read(Lba lba, Blocks n, bool fua) {
    if (host_.wait(host_.now()).kind == Event::Kind::interrupted) { finding_.interrupted = true; throw CacheOver("interrupted"); }
    if (host_.now() >= end_) { finding_.budget_spent = true; throw CacheOver("the budget was spent"); }
    for (unsigned attempt = 0;; ++attempt) {
        Command command;
        const auto cdb = scsi::build(scsi::ReadWrite{.opcode = lba + n > 0xffffffff ? scsi::RwOpcode::read16 : scsi::RwOpcode::read10, .lba = lba, .blocks = n, .fua = fua && !drive_.precautions().no_fua});
        command.cdb = *cdb;
        command.direction = scsi::Direction::in;
        command.length = n * block_bytes();         // no buffer: nobody looks at what arrives
        const Completion completion = execute(host_, drive_, std::move(command));
        ++finding_.commands;
        if (completion.outcome.good()) {
            finding_.bytes_transferred += completion.transferred();
            return {double(completion.latency().count()) / 1e3, double(completion.finished.count()) / 1e3};
        }
        const bool over = completion.outcome.kind == Outcome::Kind::gone || completion.outcome.kind == Outcome::Kind::time_out || attempt >= 4 || ++failures_ > 50;
        if (over) throw CacheOver(describe(completion));
    }
}

void CacheDrive::idle(double us) {
    const Nanoseconds until = host_.now() + Nanoseconds(static_cast<std::int64_t>(us * 1e3));
    while (host_.now() < until)
        if (host_.wait(until).kind == Event::Kind::interrupted) { finding_.interrupted = true; throw CacheOver("interrupted"); }
}

CacheDrive::Timed CacheDrive::media_read(Lba lba) {
    if (fua_reaches_media) return read(lba, 1, true);
    for (unsigned i = 0; i < evictors; ++i) read(fresh(), 1);
    return read(lba, 1);
}

}
