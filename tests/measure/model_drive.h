// A drive as a formula, for tests of measuring: service time a + b * n with cliffs planted in it and every kind of noise on top.
// Nothing in it comes from the simulator, so that what holds on both holds for more than our own idea of a drive.
#pragma once
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "sgprobe/scsi/capacity.h"
#include "sgprobe/scsi/cdb.h"
#include "sgprobe/scsi/inquiry.h"
#include "sgprobe/scsi/sense.h"
#include "sgprobe/transport/target.h"

namespace sgprobe::model {

struct PlantedCliff {
    Blocks last_good = 0;
    double added_us = 0, factor = 1;      // either or both, past last_good
    double every = 1;                     // share of commands that pay
};

struct Parameters {
    Blocks blocks = 1u << 28;
    Bytes block_bytes = 512;
    unsigned physical_exponent = 0;
    Bytes max_transfer_bytes = 0;
    double rate_mb_s = 100, overhead_us = 50, bus_mb_s = 0;   // bus: below the bend where overhead + n / bus exceeds n / rate
    std::vector<PlantedCliff> cliffs;
    std::map<Blocks, double> dips;        // factor for exactly that length
    double seek_us = 8000;
    unsigned cold_commands = 1;           // after a jump so many are slow
    double cold_us = 4000;
    double jitter = 0.01, slow_share = 0, slow_us = 40000;
    double drift = 0, drift_over_s = 20;  // grows to that share of the time, then falls back
    double burst_every_s = 0, burst_s = 0.3, burst_factor = 2;
    std::vector<std::pair<Lba, double>> zones;   // from that address on, factor of the rate
    double track_blocks = 0, track_us = 0;       // each border crossed
    double misaligned_factor = 1;
    std::function<double(Blocks n, double us)> bend;   // anything else
    std::function<std::optional<TargetDone>(std::uint64_t command, const scsi::ReadWrite&, Nanoseconds)> fault;
    unsigned rpm = 0;                     // 0: page B1h is not there
    std::map<std::size_t, std::uint16_t> caching;    // byte of the page -> value
    std::uint64_t seed = 1;
};

class Drive : public Target {
public:
    explicit Drive(Parameters p) : p_(std::move(p)), random_(p_.seed * 2654435761u + 17) { next_burst_ = draw_burst(0); }

    unsigned depth() const override { return 32; }
    Bytes max_transfer_bytes() const override { return p_.max_transfer_bytes; }
    void abort(std::uint64_t id, Nanoseconds) override { std::erase_if(pending_, [&](const TargetDone& d) { return d.id == id; }); }
    void idle(Nanoseconds) override {}

    std::uint64_t reads = 0;
    Bytes bytes_read = 0;
    std::vector<std::pair<Lba, Blocks>> places;

    void submit(const TargetCommand& c) override {
        TargetDone done;
        done.id = c.id;
        done.time = c.time + std::chrono::microseconds(100);
        const auto rw = scsi::decode_read_write(c.cdb);
        if (rw && !rw->write()) {
            ++reads;
            if (p_.fault) {
                if (auto f = p_.fault(reads, *rw, c.time)) {
                    f->id = c.id;
                    pending_.push_back(*f);
                    return;
                }
            }
            bytes_read += rw->blocks * p_.block_bytes;
            places.emplace_back(rw->lba, rw->blocks);
            const Nanoseconds begin = std::max(c.time, busy_until_);    // one after the other, in the order in which they came
            done.time = begin + Nanoseconds(static_cast<std::int64_t>(1000 * service_us(*rw, static_cast<double>(begin.count()) / 1e9)));
            busy_until_ = done.time;
        } else {
            ByteVector data = answer(c, done);
            const std::size_t n = std::min<std::size_t>(data.size(), c.data_in.size());
            std::copy_n(data.begin(), n, c.data_in.begin());
            done.resid = c.length - std::min<Bytes>(c.length, data.size());
        }
        pending_.push_back(done);
    }
    TargetEvent wait(Nanoseconds, Nanoseconds deadline) override {
        if (pending_.empty() || pending_.front().time > deadline) return {{}, deadline};
        TargetEvent e{pending_.front(), pending_.front().time};
        pending_.erase(pending_.begin());
        return e;
    }

private:
    double draw_burst(double now_s) {
        if (p_.burst_every_s <= 0) return 1e30;
        return now_s + std::exponential_distribution<double>(1 / p_.burst_every_s)(random_);
    }

    double service_us(const scsi::ReadWrite& rw, double now_s) {
        const double bytes = static_cast<double>(rw.blocks * p_.block_bytes);
        double rate = p_.rate_mb_s;
        for (const auto& [from, factor] : p_.zones) if (rw.lba >= from) rate = p_.rate_mb_s * factor;
        double us = p_.overhead_us + bytes / rate;
        if (p_.bus_mb_s > 0) us = std::max(p_.overhead_us + bytes / p_.bus_mb_s, bytes / rate);
        if (p_.track_blocks > 0)
            us += p_.track_us * (std::floor(static_cast<double>(rw.lba + rw.blocks) / p_.track_blocks) - std::floor(static_cast<double>(rw.lba) / p_.track_blocks));
        for (const PlantedCliff& c : p_.cliffs) {
            if (rw.blocks <= c.last_good) continue;
            if (c.every < 1 && uniform_(random_) >= c.every) continue;
            us = us * c.factor + c.added_us;
        }
        if (const auto dip = p_.dips.find(rw.blocks); dip != p_.dips.end()) us *= dip->second;
        if (p_.bend) us = p_.bend(rw.blocks, us);
        if (p_.misaligned_factor != 1 && (rw.lba % 8 != 0 || rw.blocks % 8 != 0)) us *= p_.misaligned_factor;
        if (rw.lba != expected_) {
            since_jump_ = 0;
            us += p_.seek_us * (0.5 + uniform_(random_));
        }
        if (since_jump_++ < p_.cold_commands) us += p_.cold_us;
        expected_ = rw.lba + rw.blocks;
        if (p_.jitter > 0) us *= std::max(0.2, 1 + p_.jitter * normal_(random_));
        if (p_.drift > 0) us *= 1 + p_.drift * std::abs(1 - std::fmod(now_s / p_.drift_over_s + 1, 2.0));
        if (now_s > next_burst_) {
            if (now_s < next_burst_ + p_.burst_s) us *= p_.burst_factor;
            else next_burst_ = draw_burst(now_s);
        }
        if (p_.slow_share > 0 && uniform_(random_) < p_.slow_share) us += p_.slow_us * (0.25 + 1.5 * uniform_(random_));
        return us;
    }

    ByteVector answer(const TargetCommand& c, TargetDone& done) {
        switch (c.cdb[0]) {
        case 0x00: return {};
        case 0x12:
            if (c.cdb[1] & 1) {
                if (c.cdb[2] == 0x00) return p_.rpm ? ByteVector{0, 0, 0, 2, 0x00, 0xb1} : ByteVector{0, 0, 0, 1, 0x00};
                if (c.cdb[2] == 0xb1 && p_.rpm) {
                    ByteVector page(64);
                    page[1] = 0xb1;
                    page[3] = 60;
                    page[4] = static_cast<std::uint8_t>(p_.rpm >> 8);
                    page[5] = static_cast<std::uint8_t>(p_.rpm);
                    return page;
                }
                break;
            } else {
                scsi::Inquiry inquiry;
                inquiry.device_type = 0;
                inquiry.version = 5;
                inquiry.vendor = "MODEL";
                inquiry.product = "FORMULA";
                inquiry.revision = "0001";
                return scsi::build_inquiry(inquiry);
            }
        case 0x25: return scsi::build_capacity_10(capacity());
        case 0x9e: return scsi::build_capacity_16(capacity());
        case 0x5a:
            if (c.cdb[2] == 0x08 && !p_.caching.empty()) {
                ByteVector data(28);
                data[1] = 26;
                data[8] = 0x08;
                data[9] = 18;
                for (const auto& [byte, value] : p_.caching) {
                    data[8 + byte] = static_cast<std::uint8_t>(value >> 8);
                    data[9 + byte] = static_cast<std::uint8_t>(value);
                }
                return data;
            }
            break;
        default: break;
        }
        done.status = scsi::Status::check_condition;
        done.sense = SenseBytes(scsi::build_fixed_sense(scsi::SenseKey::illegal_request, c.cdb[0] == 0x12 || c.cdb[0] == 0x5a ? 0x24 : 0x20, 0));
        return {};
    }
    scsi::Capacity capacity() const {
        scsi::Capacity c;
        c.blocks = p_.blocks;
        c.block_bytes = p_.block_bytes;
        c.physical_exponent = p_.physical_exponent;
        return c;
    }

    Parameters p_;
    std::mt19937_64 random_;
    std::uniform_real_distribution<double> uniform_{0, 1};
    std::normal_distribution<double> normal_;
    std::vector<TargetDone> pending_;
    Nanoseconds busy_until_{0};
    Lba expected_ = ~Lba{0};
    unsigned since_jump_ = 0;
    double next_burst_ = 1e30;
};

}
