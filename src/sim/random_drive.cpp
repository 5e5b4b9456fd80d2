#include "sgprobe/sim/random_drive.h"

#include <algorithm>
#include <cmath>

#include "sgprobe/sim/mechanics.h"
#include "sgprobe/sim/mode_pages.h"
#include "sgprobe/sim/random.h"
#include "sgprobe/sim/sim.h"

namespace sgprobe::sim {
namespace {
PageModel& caching(Model& model) {
    return *std::find_if(model.pages.begin(), model.pages.end(), [](const PageModel& p) { return p.code == 8; });
}

Media random_media(Random& random) {
    constexpr double usual_rpm[] = {5400, 5900, 7200, 10000, 10025, 15000};
    Media m;
    m.rpm = random.chance(0.5) ? usual_rpm[random.below(6)] : std::round(random.uniform(4800, 15600));
    m.heads = static_cast<unsigned>(random.between(1, 12));
    const double turn_us = 60e6 / m.rpm;
    m.head_switch_us = random.uniform(0.05, 0.12) * turn_us;
    m.cylinder_switch_us = m.head_switch_us * random.uniform(1.0, 1.5);
    m.seek_average_us = random.uniform(3500, 10000);
    m.seek_full_us = m.seek_average_us * random.uniform(1.8, 2.4);
    m.write_settle_us = random.uniform(100, 900);
    m.content = random.bits();
    const auto outer = static_cast<unsigned>(random.between(240, 2600));
    const double inner = outer * random.uniform(0.45, 0.8);
    const auto zones = static_cast<unsigned>(random.between(3, 16));
    // The outermost zone is large enough for a sweep of everything that a measurement may read.
    const auto cylinders = static_cast<std::uint64_t>(4e7 / (outer * m.heads)) + random.below(20000);
    for (unsigned i = 0; i < zones; ++i) {
        Zone z;
        z.cylinders = cylinders;
        z.blocks_per_track = static_cast<unsigned>(outer + (inner - outer) * i / (zones - 1));
        z.head_skew_us = m.head_switch_us * random.uniform(1.02, 1.2);
        z.cylinder_skew_us = m.cylinder_switch_us * random.uniform(1.02, 1.2);
        m.blocks += z.cylinders * z.blocks_per_track * m.heads;
        m.zones.push_back(z);
    }
    m.blocks -= random.below(m.zones.back().blocks_per_track);
    return m;
}

void plant(Model& model, const PlantedCliff& cliff, const std::optional<PlantedCure>& cure) {
    const Blocks n = cliff.last_good;
    double before = undisturbed_us(model, n), after = undisturbed_us(model, n + 1);
    for (const Rule& earlier : model.rules) {        // an earlier cliff slows both
        if (earlier.over_blocks < n) before += earlier.extra_us;
        if (earlier.over_blocks < n) after += earlier.extra_us;
    }
    Rule rule;
    rule.commands_read_only();
    rule.over_blocks = n;
    // rate(n + 1) = (1 - drop) rate(n)
    rule.extra_us = std::max(0.0, static_cast<double>(n + 1) / static_cast<double>(n) * before / (1 - cliff.drop) - after);
    if (cure) rule.unless = cure->settings;
    model.rules.push_back(rule);
}

PlantedCure random_cure(Random& random, const RandomDriveOptions& o) {
    constexpr const char* keys[] = {"DPTL", "MAPF", "MAPFC", "MIPF", "WRP"};
    PlantedCure cure;
    const std::size_t first = random.below(5), second = (first + 1 + random.below(4)) % 5;
    cure.settings.push_back({keys[first], std::string(keys[first]) == "WRP" ? 15u : 65535u});
    if (o.cure > 1) cure.settings.push_back({keys[second], std::string(keys[second]) == "WRP" ? 15u : 65535u});
    cure.refused = o.cure_refused;
    cure.ignored = o.cure_ignored;
    if (o.cure_has_price) cure.price_us = random.uniform(300, 900);
    return cure;
}

// The fields of the cure start at another value than the one that cures, and none of them does anything by itself.
void plant(Model& model, const PlantedCure& cure) {
    PageModel& page = caching(model);
    for (const char* key : {"DPTL", "MAPF", "MAPFC", "MIPF", "WRP"}) {
        const ModeField& f = *find_mode_field(key, 8);
        set_field(page.changeable, f, ~std::uint64_t{0});
    }
    for (const FieldValue& s : cure.settings) {
        const ModeField& f = *find_mode_field(s.key, 8);
        const std::uint64_t shipped = s.key == "WRP" || s.key == "MIPF" ? 0 : 32768;
        set_field(page.defaults, f, shipped);
        set_field(page.saved, f, shipped);
        if (cure.refused) set_field(page.refused, f, ~std::uint64_t{0});
        if (cure.ignored) set_field(page.ignored, f, ~std::uint64_t{0});
    }
    if (cure.price_us > 0) {
        Rule price;
        price.commands_read_only();
        price.up_to_blocks = 64;
        price.settings = cure.settings;
        price.extra_us = cure.price_us;
        model.rules.push_back(price);
    }
}

void plant(Model& model, const PlantedLimit& limit, double flaky) {
    Rule rule;
    rule.over_blocks = limit.max_blocks_ok;
    switch (limit.kind) {
        case PlantedLimit::Kind::sense: rule.sense = 0x052400; break;
        case PlantedLimit::Kind::time_out: rule.never = true; break;
        case PlantedLimit::Kind::gone: rule.gone = true; break;
        case PlantedLimit::Kind::corruption:
            rule.data = Rule::Data::garbage;
            rule.data_from_block = limit.max_blocks_ok;
            break;
    }
    if (limit.max_blocks_ok) model.rules.push_back(rule);
    if (flaky <= 0) return;
    Rule fails;
    fails.probability = flaky;
    fails.sense = 0x0b0000;
    model.rules.push_back(fails);
}
}

const char* name(NoiseKind kind) {
    constexpr const char* names[] = {"none", "usual", "slow commands", "jitter", "drift", "bursts"};
    return names[static_cast<std::size_t>(kind)];
}

void set_noise(Model& model, NoiseKind kind) {
    model.noise = {};
    model.background.clear();
    switch (kind) {
        case NoiseKind::none: model.noise.scale = 0; break;
        case NoiseKind::usual: break;
        case NoiseKind::slow_commands: model.noise.slow_probability = 0.01; break;
        case NoiseKind::jitter: model.noise.rate_jitter = 0.08; break;
        case NoiseKind::drift:
            model.noise.drift = 0.25;
            model.noise.drift_s = 20;
            break;
        case NoiseKind::bursts: model.background.push_back({3, 0.3, 0, 4000, 0.5, true}); break;
    }
}

double undisturbed_us(const Model& model, Blocks n, double host_us) {
    const double media = static_cast<double>(n) * model.media.block_bytes / Mechanics(model.media).media_rate_mb_s(0);
    const double moved = model.controller.read_overhead_us + host_us + static_cast<double>(n) * model.media.block_bytes / model.controller.bus_mb_s;
    return std::max(media, moved);
}

RandomDrive random_drive(std::uint64_t seed, const RandomDriveOptions& o) {
    Random random(mix(seed) ^ 0x5e9b);
    RandomDrive drive;
    Model& model = drive.model;
    model.name = "random-" + std::to_string(seed);
    model.seed = seed;
    model.identity.vendor = "RANDOM";
    model.identity.product = "DRIVE " + std::to_string(seed % 100000);
    model.identity.revision = "0001";
    model.identity.serial = "R" + std::to_string(seed % 10000000);
    model.media = random_media(random);
    const double rate = Mechanics(model.media).media_rate_mb_s(0);
    model.controller.read_overhead_us = random.chance(0.2) ? random.uniform(300, 2000) : random.uniform(40, 300);
    model.controller.write_overhead_us = model.controller.read_overhead_us * random.uniform(1, 1.5);
    model.controller.other_overhead_us = model.controller.read_overhead_us;
    model.controller.bus_mb_s = model.controller.bus_write_mb_s = rate * random.uniform(1.3, 6);
    model.queue.depth = static_cast<unsigned>(random.between(1, 64));
    if (random.chance(0.3)) model.queue.task_set = static_cast<unsigned>(random.between(1, model.queue.depth));
    model.queue.policy = static_cast<Queue::Policy>(random.below(3));
    model.cache.segments = static_cast<unsigned>(random.between(1, 24));
    model.cache.segment_blocks = o.small_cache ? random.between(128, 2400) : random.between(8192, 32768);
    model.cache.read_on_arrival = random.chance(0.5);
    model.cache.stop_prefetch_on_hit = o.small_cache && random.chance(0.3);
    model.cache.write_buffer_blocks = random.between(512, 8192);
    add_usual_pages(model);
    PageModel& page = caching(model);
    auto set = [&](const char* key, std::uint64_t value) {
        const ModeField& f = *find_mode_field(key, 8);
        set_field(page.defaults, f, value);
        set_field(page.saved, f, value);
        set_field(page.changeable, f, ~std::uint64_t{0});
    };
    for (const char* key : {"RCD", "DRA", "WCE"}) set(key, 0);
    set("DISC", 1);
    for (const char* key : {"DPTL", "MAPF", "MAPFC"}) set(key, 65535);
    if (o.small_cache) {
        set("MAPF", random.between(16, model.cache.segment_blocks));
        set("MIPF", random.chance(0.5) ? 0 : random.between(1, 64));
        set("DISC", random.chance(0.8));
    }
    set_noise(model, o.noise);

    if (o.cure) drive.cure = random_cure(random, o);
    Blocks at = random.between(129, o.cliffs > 1 ? 1400 : 1983);
    for (unsigned i = 0; i < o.cliffs; ++i) {
        drive.cliffs.push_back({at, random.uniform(o.least_drop, o.greatest_drop)});
        plant(model, drive.cliffs.back(), i == 0 ? drive.cure : std::nullopt);
        at = std::min<Blocks>(1983, at + 257 + random.below(300));
    }
    if (drive.cure) plant(model, *drive.cure);
    if (o.limit) drive.limit = PlantedLimit{*o.limit, random.between(1, 4096)};
    plant(model, drive.limit.value_or(PlantedLimit{}), o.flaky);
    return drive;
}

}
