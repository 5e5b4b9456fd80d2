// The tables of a drive's file other than its mode pages.
#include <algorithm>
#include <charconv>
#include <set>

#include "drive_file_parts.h"

namespace sgprobe::sim {
namespace {
template <class Read>
void table(TomlTable& root, std::string_view key, bool needed, Read read) {
    std::vector<TomlTable> found = root.tables(key);
    if (found.empty() && needed) root.fail(nullptr, key, "is missing");
    if (found.size() > 1) root.fail(key, "wants one table");
    if (found.empty()) return;
    read(found.front());
    found.front().refuse_unknown();
}

void text(TomlTable& t, std::string_view key, std::string& to, std::size_t most) {
    t.require(key, to);
    if (to.size() > most) t.fail(key, fmt::format("is longer than {} characters", most));
    if (std::any_of(to.begin(), to.end(), [](char c) { return c < 0x20 || c > 0x7e; })) t.fail(key, "holds characters that are not ASCII");
}

void read_identity(TomlTable& t, Identity& id) {
    text(t, "vendor", id.vendor, 8);
    text(t, "product", id.product, 16);
    text(t, "revision", id.revision, 4);
    text(t, "serial", id.serial, 20);
    if (t.has("naa")) {
        std::string naa;
        t.read("naa", naa);
        const auto [end, error] = std::from_chars(naa.data(), naa.data() + naa.size(), id.naa, 16);
        if (naa.size() != 16 || error != std::errc{} || end != naa.data() + naa.size()) t.fail("naa", "wants 16 hexadecimal digits");
    }
    t.read("ata", id.ata);
    id.model = id.product;
    id.firmware = id.revision;
    if (t.has("model")) text(t, "model", id.model, 40);
    if (t.has("firmware")) text(t, "firmware", id.firmware, 8);
    if (id.ata && id.vendor != "ATA") t.fail("vendor", "wants \"ATA\" of an ATA drive (SAT-4 8.1)");
    t.read("scsi_version", id.version, 2, 7);
    t.read("queues", id.queues);
}

void read_media(TomlTable& t, Media& media) {
    t.read("rotating", media.rotating);
    t.require("blocks", media.blocks, 1, 0x1p62);
    t.read("block_bytes", media.block_bytes, 64, 65536);
    if (media.block_bytes % 8) t.fail("block_bytes", "wants a multiple of 8");
    t.read("physical_exponent", media.physical_exponent, 0, 15);
    t.read("content", media.content);
    t.read("protection_type", media.protection_type, 0, 3);
    if (t.has("declared_blocks")) t.read("declared_blocks", media.declared_blocks.emplace(), 1, 0x1p62);
    if (!media.rotating) return;
    t.require("rpm", media.rpm, 100, 65000);
    t.require("heads", media.heads, 1, 255);
    t.require("head_switch_us", media.head_switch_us, 0, 1e6);
    t.require("cylinder_switch_us", media.cylinder_switch_us, 0, 1e6);
    t.require("seek_average_us", media.seek_average_us, media.cylinder_switch_us, 1e6);
    t.require("seek_full_us", media.seek_full_us, media.seek_average_us, 1e6);
    t.read("write_settle_us", media.write_settle_us, 0, 1e6);
    Zone usual;
    usual.head_skew_us = media.head_switch_us;
    usual.cylinder_skew_us = media.cylinder_switch_us;
    const double turn_us = 60e6 / media.rpm;
    t.read("head_skew_us", usual.head_skew_us, 0, turn_us);
    t.read("cylinder_skew_us", usual.cylinder_skew_us, 0, turn_us);
    Blocks room = 0;
    for (TomlTable& z : t.tables("zones")) {
        Zone zone = usual;
        z.require("cylinders", zone.cylinders, 1, 1e9);
        z.require("blocks_per_track", zone.blocks_per_track, 1, 1e6);
        z.read("head_skew_us", zone.head_skew_us, 0, turn_us);
        z.read("cylinder_skew_us", zone.cylinder_skew_us, 0, turn_us);
        z.refuse_unknown();
        if (room > Blocks{1} << 62) t.fail("zones", "hold more blocks than can be named");
        room += zone.cylinders * zone.blocks_per_track * media.heads;
        media.zones.push_back(zone);
    }
    if (media.zones.empty()) t.fail(nullptr, "zones", "is missing");
    if (room < media.blocks) t.fail("zones", fmt::format("hold {} blocks, fewer than the {} of `blocks`", room, media.blocks));
}

void read_controller(TomlTable& t, Controller& c) {
    t.require("read_overhead_us", c.read_overhead_us, 0, 1e6);
    c.write_overhead_us = c.other_overhead_us = c.read_overhead_us;
    t.read("write_overhead_us", c.write_overhead_us, 0, 1e6);
    t.read("other_overhead_us", c.other_overhead_us, 0, 1e6);
    t.require("bus_mb_s", c.bus_mb_s, 0.01, 1e6);
    t.read("bus", c.bus);
    c.bus_write_mb_s = c.bus_mb_s;
    t.read("bus_write_mb_s", c.bus_write_mb_s, 0.01, 1e6);
    t.read("max_transfer_bytes", c.max_transfer_bytes, 0, 0x1p40);
    t.read("declared_max_blocks", c.declared_max_blocks, 0, 0xffffffff);
    t.read("declared_optimal_blocks", c.declared_optimal_blocks, 0, 0xffffffff);
}

void read_queue(TomlTable& t, Queue& q) {
    t.require("depth", q.depth, 1, 4096);
    t.read("task_set", q.task_set, 0, 4096);
    t.read("busy_when_full", q.busy_when_full);
    t.read("task_set_write_cache", q.task_set_write_cache, 0, 4096);
    t.choose("policy", q.policy, {{"fifo", Queue::Policy::fifo}, {"shortest-access", Queue::Policy::shortest_access}, {"stream-first", Queue::Policy::stream_first}});
    t.read("window", q.window, 1, 4096);
    t.read("age_limit_us", q.age_limit_us, 0, 1e9);
}

void read_flash(TomlTable& t, const Media& media, Flash& f) {
    t.require("read_us", f.read_us, 0, 1e6);
    t.require("write_us", f.write_us, 0, 1e6);
    t.require("rate_mb_s", f.rate_mb_s, 0.01, 1e6);
    f.write_rate_mb_s = f.rate_mb_s;
    t.read("write_rate_mb_s", f.write_rate_mb_s, 0.01, 1e6);
    t.read("channels", f.channels, 1, 1024);
    t.read("page_blocks", f.page_blocks, 1, 1e6);
    t.read("provisioned", f.provisioned);
    for (TomlTable& range : t.tables("unmapped")) {
        std::pair<Lba, Blocks> r;
        range.require("from_lba", r.first, 0, static_cast<double>(media.blocks - 1));
        range.require("blocks", r.second, 1, static_cast<double>(media.blocks - r.first));
        range.refuse_unknown();
        f.unmapped.push_back(r);
    }
}

void read_background(TomlTable& t, Background& b) {
    t.read("every_s", b.every_s, 1e-3, 1e9);
    t.read("for_s", b.for_s, 0, 1e9);
    t.read("idle_s", b.idle_s, 1e-6, 1e9);
    t.require("busy_us", b.busy_us, 0, 1e9);
    t.read("probability", b.probability, 0, 1);
    t.read("moves_arms", b.moves_arms);
    if ((b.every_s > 0) == (b.idle_s > 0)) t.fail(nullptr, "", "wants one of every_s and idle_s");
}

void read_cache(TomlTable& t, CacheModel& c) {
    t.require("segments", c.segments, 1, 4096);
    t.require("segment_blocks", c.segment_blocks, 1, 1e9);
    t.read("adaptive", c.adaptive);
    t.read("extend_up_to_blocks", c.extend_up_to_blocks);
    t.read("extend_up_to_depth", c.extend_up_to_depth);
    t.read("restart_us", c.restart_us, 0, 1e6);
    t.read("read_on_arrival", c.read_on_arrival);
    t.read("stop_prefetch_on_hit", c.stop_prefetch_on_hit);
    t.read("refill_at_blocks", c.refill_at_blocks);
    t.read("join_queued_writes", c.join_queued_writes);
    t.read("write_buffer_blocks", c.write_buffer_blocks, 0, 1e9);
}

void read_noise(TomlTable& t, Noise& n) {
    t.read("jitter", n.jitter, 0, 1);
    t.read("rate_jitter", n.rate_jitter, 0, 1);
    t.read("drift", n.drift, 0, 100);
    t.read("drift_s", n.drift_s, 1e-3, 1e9);
    t.read("slow_probability", n.slow_probability, 0, 1);
    t.read("slow_revolutions", n.slow_revolutions, 1, 1000);
    t.read("scale", n.scale, 0, 1000);
}
}

void read_model(TomlTable root, Model& model) {
    root.read("seed", model.seed);
    table(root, "identity", true, [&](TomlTable& t) { read_identity(t, model.identity); });
    table(root, "media", true, [&](TomlTable& t) { read_media(t, model.media); });
    table(root, "controller", true, [&](TomlTable& t) { read_controller(t, model.controller); });
    table(root, "queue", false, [&](TomlTable& t) { read_queue(t, model.queue); });
    table(root, "cache", model.media.rotating, [&](TomlTable& t) { read_cache(t, model.cache); });
    table(root, "noise", false, [&](TomlTable& t) { read_noise(t, model.noise); });
    table(root, "flash", !model.media.rotating, [&](TomlTable& t) { read_flash(t, model.media, model.flash); });
    for (TomlTable& t : root.tables("background")) {
        read_background(t, model.background.emplace_back());
        t.refuse_unknown();
    }
    for (TomlTable& t : root.tables("rule")) {
        read_rule(t, model.rules.emplace_back());
        t.refuse_unknown();
    }
    for (TomlTable& t : root.tables("claims"))
        for (const std::string& key : t.keys()) t.read(key, model.claims.emplace_back(key, 0.0).second, -1e300);
    root.read("block_pages", model.block_pages);
    root.read("attention_after_select", model.attention_after_select);
    root.read("attention_after_power_on", model.attention_after_power_on);
    read_pages(root, model);
    root.refuse_unknown();
}

}
