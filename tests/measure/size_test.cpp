#include <doctest/doctest.h>

#include "model_drive.h"
#include "sgprobe/measure/size.h"
#include "sgprobe/transport/failure.h"
#include "sgprobe/transport/virtual_host.h"

using namespace sgprobe;
using namespace sgprobe::measure;

namespace {
struct Run { Result result; std::uint64_t reads = 0; Bytes bytes = 0; std::vector<std::pair<Lba, Blocks>> places; };

Run run(model::Parameters p, SizeOptions options = {}) {
    VirtualHost host;
    auto target = std::make_unique<model::Drive>(p);
    model::Drive& model = *target;
    const auto drive = host.attach(std::move(target), "model");
    Run r;
    r.result = measure_size(host, *drive, options, {});
    r.reads = model.reads;
    r.bytes = model.bytes_read;
    r.places = model.places;
    INFO(r.result.reason);
    return r;
}
std::vector<std::uint64_t> places(const Result& r) {
    std::vector<std::uint64_t> at;
    for (const Cliff& c : r.cliffs) at.push_back(c.last_good);
    return at;
}
using At = std::vector<std::uint64_t>;
}

TEST_CASE("size: a lost revolution past 512 blocks is a cliff at exactly 512, within the bytes and the time allowed") {
    model::Parameters p;
    p.rpm = 15000;
    p.cliffs = {{512, 4000}};
    p.caching = {{4, 512}};
    const Run r = run(p);
    CHECK(places(r.result) == At{512});
    CHECK(r.result.verdict == Verdict::cliff);
    CHECK(r.bytes < 330'000'000);
    CHECK(*r.result.virtual_time_s < 6.0);
    REQUIRE(r.result.cliffs.size() == 1);
    CHECK(r.result.cliffs[0].settings.at("DPTL") == 512);
    CHECK(r.result.cliffs[0].mechanism.find("one lost revolution") != std::string::npos);
    REQUIRE(r.result.advice.size() == 1);
    CHECK(r.result.advice[0].value == 256);
    MESSAGE((static_cast<double>(r.bytes) / 1e6) << " MB " << *r.result.virtual_time_s << " s " << r.result.reason << " | " << r.result.cliffs[0].mechanism);
}

TEST_CASE("size: a drive without a cliff is clean") {
    const Run r = run({});
    CHECK(r.result.verdict == Verdict::clean);
    CHECK(r.bytes < 330'000'000);
    MESSAGE((static_cast<double>(r.bytes) / 1e6) << " MB " << *r.result.virtual_time_s << " s " << r.result.reason);
    for (const auto& s : r.result.samples) {
        const auto n = static_cast<double>(s.transfer_bytes);
        CHECK(s.rate_mb_s.median == doctest::Approx(n / (70 + n / 100)).epsilon(0.02));
    }
}

TEST_CASE("size: no block is read twice") {
    model::Parameters p;
    p.rpm = 15000;
    p.cliffs = {{700, 4000}};
    const Run r = run(p);
    auto all = r.places;
    std::sort(all.begin(), all.end());
    for (std::size_t i = 1; i < all.size(); ++i) CHECK(all[i - 1].first + all[i - 1].second <= all[i].first);
}
