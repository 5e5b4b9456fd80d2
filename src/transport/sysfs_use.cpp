// Who uses a disk: file systems, swap, and the devices built on it (md, dm, LVM, bcache).
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "sgprobe/transport/sysfs.h"

namespace sgprobe {
namespace {

// mountinfo and swaps write blank, tab, newline and backslash as \040 and so on.
std::string unescape(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3') {
            out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

}

void Sysfs::read_use(KernelDevice& d) const {
    const std::string disk = "/sys/class/block/" + d.block;
    for (const std::string& name : entries(disk)) {
        if (name.starts_with(d.block) && number(disk + "/" + name + "/partition")) d.partitions.push_back(name);
    }
    // The disk, its partitions, what is built on them, what is built on that...
    std::vector<std::string> all{d.block};
    all.insert(all.end(), d.partitions.begin(), d.partitions.end());
    std::set<std::string> known(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
        for (const std::string& holder : entries("/sys/class/block/" + all[i] + "/holders")) {
            if (!known.insert(holder).second) continue;
            all.push_back(holder);
            d.holders.push_back(holder);
        }
    }
    std::set<std::pair<std::string, std::string>> numbers;   // major:minor -> name
    for (const std::string& name : all) {
        const std::string number = text("/sys/class/block/" + name + "/dev");
        if (!number.empty()) numbers.insert({number, name});
    }
    const auto name_of = [&](const std::string& number) {
        const auto found = std::find_if(numbers.begin(), numbers.end(), [&](const auto& row) { return row.first == number; });
        return found == numbers.end() ? std::string() : found->second;
    };
    std::ifstream mounts(root_ + "/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream words(line);
        std::string id, parent, number, from, target, word, type, source;
        words >> id >> parent >> number >> from >> target;
        while (words >> word && word != "-") {}
        words >> type >> source;
        std::string name = name_of(number);
        // btrfs and others mount under a number of their own: then the source says it.
        if (name.empty() && source.starts_with("/dev/")) name = known.contains(source.substr(5)) ? source.substr(5) : "";
        if (!name.empty()) d.mounts.push_back({name, unescape(target), type});
    }
    std::ifstream swaps(root_ + "/proc/swaps");
    std::string line;
    std::getline(swaps, line);
    while (std::getline(swaps, line)) {
        std::string file = unescape(line.substr(0, line.find_first_of(" \t")));
        if (file.starts_with("/dev/mapper/")) file = "/dev/" + link_name(file);
        if (file.starts_with("/dev/") && known.contains(file.substr(5))) d.mounts.push_back({file.substr(5), file, "swap"});
    }
}

}
