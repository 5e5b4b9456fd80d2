// What identifies a drive and decides a measurement, gathered from all who know: `sgprobe info`. Groups of rows, so that text and JSON
// are made of one list.
#pragma once
#include <string>
#include <vector>

#include "sgprobe/measure/result.h"
#include "sgprobe/pages/catalogue.h"
#include "sgprobe/transport/drive.h"
#include "sgprobe/transport/inquire.h"
#include "sgprobe/transport/sysfs.h"

namespace sgprobe::measure {

struct Fact {
    std::string key, label;      // "rotation_rpm", "rotation"
    Value value;                 // as JSON has it
    std::string shown;           // as people read it; empty: the value itself. Not yet escaped
    std::vector<std::string> more;   // further lines of it
};

struct FactGroup {
    std::string key, title;
    std::vector<Fact> facts;
    Fact& add(std::string fact_key, std::string label, Value value, std::string shown = {});
    void add_lines(std::string fact_key, std::string label, Value value, std::vector<std::string> lines);
};

struct Facts {
    DeviceIdentity device;
    std::vector<FactGroup> groups;
    std::vector<std::string> notes;
    int exit_status = 0;         // 97 where an answer was malformed; what could be told is told all the same
};

// Asks the drive; throws Failure where INQUIRY brings nothing. The kernel's device is empty for sim: and pipe:.
Facts gather_facts(Host&, Drive&, const pages::Catalogue&, const std::optional<KernelDevice>&, bool anonymous);

// The parts. Each asks for what it needs and adds nothing where there is nothing.
void add_identity(Facts&, Inquirer&, bool anonymous);
void add_capacity(Facts&, Inquirer&);
void add_medium(Facts&, Inquirer&);
void add_ata(Facts&, Inquirer&, bool anonymous);
void add_caching(Facts&, Inquirer&, const pages::Catalogue&);
void add_quirks(Facts&, Drive&, const std::optional<KernelDevice>&);   // known ones, obeyed from then on
void add_host(Facts&, const Drive&, const std::optional<KernelDevice>&, const std::string& kernel_release);

}
