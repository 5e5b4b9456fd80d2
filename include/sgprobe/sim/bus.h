// A bus that one or several drives transfer over, one at a time. Transfers are booked ahead of time, so those of several
// drives are booked out of order: each takes the first gap that is long enough.
#pragma once
#include <vector>

namespace sgprobe::sim {

class Bus {
public:
    void share() { shared_ = true; }
    // Books a transfer that cannot start before `earliest_ns`, and says when it ends. Nothing is booked before `now_ns` any more.
    double book(double now_ns, double earliest_ns, double length_ns);
private:
    struct Booking { double from_ns, to_ns; };
    bool shared_ = false;
    double free_ns_ = 0;
    std::vector<Booking> bookings_;                  // in order, apart
};

}
