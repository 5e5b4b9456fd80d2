#pragma once
#include "sgprobe/pages/transaction.h"

namespace sgprobe::pages {

struct PlannedField { Field field; std::uint64_t before = 0, wanted = 0; };

struct Transaction::PagePlan {
    PageId id;
    const PageFormat* format = nullptr;
    bool savable = false;
    ByteVector before, wanted, mask, saved;
    std::vector<PlannedField> fields;
    bool changes(bool save) const { return before != wanted || (save && saved != wanted); }
};

struct PlannedFeature { const AtaFeatureRow* row; std::uint64_t before = 0, wanted = 0; };

struct Transaction::Plan {
    std::vector<PagePlan> pages;
    std::vector<PlannedFeature> features;
    std::vector<JournalKernel> kernel;
    std::vector<PageValues> others;               // with SP: other pages whose saved values the drive may overwrite
};

}
