// A result as the size probe yields it, for the tests of formatters.
#pragma once
#include "sgprobe/measure/result.h"

inline sgprobe::measure::Result example_result() {
    using namespace sgprobe::measure;
    Result r;
    r.probe = "size";
    r.started = "2026-01-02T03:04:05Z";
    r.elapsed_s = 0.5;
    r.virtual_time_s = 4.125;
    r.device = {"sim:x", "MAXTOR", "ATLAS15K2_146WLS", "HPM5", "B20AAAAA", 286749488, 512, 512, 15000, "simulated", 1};
    for (std::uint64_t kib : {64, 256, 320, 1024}) {
        SampleResult s;
        s.pattern = "seq-read";
        s.transfer_bytes = kib * 1024;
        s.transfer_blocks = kib * 2;
        s.commands = 12;
        s.bytes = s.commands * s.transfer_bytes;
        const double rate = kib <= 256 ? 96.1 : 43.1;
        s.rate_mb_s = {rate, rate - 0.2, rate + 0.2, rate + 0.3};
        s.latency_us = {700, 900, 950, 1000};
        r.samples.push_back(s);
    }
    r.verdict = Verdict::cliff;
    r.reason = "one cliff";
    r.cliffs = {{"transfer_blocks", "seq-read", 512, 513, true, 96.1, 43.1, 0.5515, 1e-9, "about one revolution is lost on each request", {{"DPTL", 512}}}};
    r.advice = {{"max_sectors_kb", 256, "echo 256 > /sys/block/sdX/queue/max_sectors_kb", "ACTION==\"add|change\", ATTR{queue/max_sectors_kb}=\"256\""}};
    r.bytes_transferred = 188'000'000;
    r.commands = 600;
    r.settings_before = r.settings_after = {{"DPTL", 512}};
    return r;
}
