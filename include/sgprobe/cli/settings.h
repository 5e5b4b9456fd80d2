// What every subcommand that changes settings shares: its options, the folder of journals, and the way to open the drive afresh.
#pragma once
#include <string>

#include "sgprobe/cli/context.h"
#include "sgprobe/pages/transaction.h"

namespace sgprobe::cli {

extern const OptionGroup settings_options;   // --journal --modepages

struct SettingsOptions {
    std::string journal, modepages;          // empty: not said
    static SettingsOptions from(const Arguments&);
};

// Where journals of this drive lie; empty where nothing of it outlives the program (a virtual drive without state=FILE).
std::string journal_folder(const DriveSpec&, const SettingsOptions&);
pages::TransactionOptions transaction_options(const Context&, const DriveSpec&, const SettingsOptions&);

}
