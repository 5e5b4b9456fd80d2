#include "harness.h"

#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include "sgprobe/scsi/reader.h"
#include "sgprobe/sim/mode_pages.h"

namespace sgprobe::sim::test {

Bench::Bench(const Model& m) : model(m), drive(host.attach(make_target(model), "sim:" + m.name)) {}

Completion Bench::send(const scsi::Cdb& cdb, scsi::Direction direction, Bytes length, bool with_data) {
    Command command;
    command.cdb = cdb;
    command.direction = direction;
    command.length = length;
    if (with_data && length) command.data = drive->buffer(length, BufferKind::indirect);
    drive->submit(std::move(command));
    Event event = host.wait(Host::never);
    REQUIRE(event.kind == Event::Kind::completion);
    return std::move(event.completion);
}

ByteVector Bench::ask(const scsi::Cdb& cdb, Bytes length) {
    const Completion done = send(cdb, scsi::Direction::in, length);
    REQUIRE(done.outcome.good());
    return {done.data().begin(), done.data().end()};
}

Completion Bench::move(scsi::RwOpcode opcode, Lba lba, Blocks n, bool with_data) {
    const scsi::ReadWrite rw{.opcode = opcode, .lba = lba, .blocks = n};
    return send(*scsi::build(rw), rw.direction(), n * model.media.block_bytes, with_data || rw.write());
}

double Bench::rate_mb_s(Blocks n, Bytes total, Lba start) {
    Lba at = start;
    for (int warm_up = 0; warm_up < 3; ++warm_up, at += n) read(at, n);
    const Nanoseconds before = host.now();
    Bytes moved = 0;
    for (; moved < total; at += n, moved += n * model.media.block_bytes) read(at, n);
    return static_cast<double>(moved) / static_cast<double>((host.now() - before).count()) * 1e3;
}

scsi::Status Bench::set(const std::string& key, std::uint64_t value, bool save) {
    ByteVector list = ask(scsi::mode_sense_10({.page = 8, .dbd = true}, 255));
    scsi::put(list, 0, 2, 0);
    set_field(std::span(list).subspan(8), *find_mode_field(key, 8), value);
    Command command;
    command.cdb = scsi::mode_select_10(static_cast<std::uint16_t>(list.size()), save);
    command.direction = scsi::Direction::out;
    command.length = list.size();
    command.data = drive->buffer(list.size(), BufferKind::indirect);
    std::copy(list.begin(), list.end(), command.data.bytes().begin());
    drive->submit(std::move(command));
    return host.wait(Host::never).completion.outcome.status;
}

std::uint64_t Bench::get(const std::string& key, scsi::PageControl control) {
    const ByteVector reply = ask(scsi::mode_sense_10({.page = 8, .control = control, .dbd = true}, 255));
    return field(ByteView(reply).subspan(8), *find_mode_field(key, 8));
}

std::vector<std::vector<std::string>> published(const std::string& file) {
    std::ifstream in("tests/data/" + file);
    REQUIRE(in.is_open());
    std::vector<std::vector<std::string>> rows;
    for (std::string line; std::getline(in, line);) {
        std::istringstream fields(line);
        rows.emplace_back();
        for (std::string f; std::getline(fields, f, ',');) rows.back().push_back(f);
    }
    return rows;
}

}
