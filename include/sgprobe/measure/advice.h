// What works around a finding, as the commands that do it; and the rotation that explains one.
#pragma once
#include <optional>

#include "sgprobe/measure/addresses.h"
#include "sgprobe/measure/result.h"
#include "sgprobe/measure/subject.h"

namespace sgprobe::measure {

// max_sectors_kb so that no request is longer than that; nothing where the kernel cannot be told such a value.
std::optional<Advice> advise_max_sectors(const DeviceIdentity&, Bytes longest_good);

// queue_depth so that no more are outstanding.
Advice advise_queue_depth(const DeviceIdentity&, unsigned depth);

// The strings of a udev match: what is special there, or not plain, becomes ?, which matches any one character.
std::string udev_match(const std::string& key, const std::string& padded);

// The period of rotation from reads of one block that must come from the medium each time (FUA); nothing where they do not.
std::optional<double> measure_rotation_us(Host&, Drive&, const Subject&, Addresses&);

}
