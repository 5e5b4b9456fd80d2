#include "sgprobe/report/names.h"

namespace sgprobe::report {

std::string_view name(measure::Verdict verdict) {
    switch (verdict) {
        case measure::Verdict::cliff: return "cliff";
        case measure::Verdict::clean: return "clean";
        case measure::Verdict::inconclusive: break;
    }
    return "inconclusive";
}

}
