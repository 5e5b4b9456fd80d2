#include "sgprobe/sim/bus.h"

#include <algorithm>

namespace sgprobe::sim {

double Bus::book(double now_ns, double earliest_ns, double length_ns) {
    if (!shared_) return free_ns_ = std::max(earliest_ns, free_ns_) + length_ns;
    // A drive may still be asked about a time that has passed for another: keep what ended a little while ago.
    constexpr double kept_ns = 1e9;
    if (bookings_.size() > 4096) std::erase_if(bookings_, [=](const Booking& b) { return b.to_ns < now_ns - kept_ns; });
    double from = earliest_ns;
    auto at = std::upper_bound(bookings_.begin(), bookings_.end(), from, [](double t, const Booking& b) { return t < b.to_ns; });
    for (; at != bookings_.end() && at->from_ns < from + length_ns; ++at) from = at->to_ns;
    bookings_.insert(at, {from, from + length_ns});
    return from + length_ns;
}

}
