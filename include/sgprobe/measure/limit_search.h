// The search for the largest transfer that works, as a pure procedure over "send one command of n blocks".
//
// A drive may fail past its limit every time or now and then; it may also fail one command in twenty at any length, which is
// no limit. So no length is judged by one command: failures are weighed against the rate at which one-block commands fail.
// Time-outs and disconnects are costly: after one, only smaller lengths are tried, as few times as the plan allows.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include "sgprobe/scsi/types.h"

namespace sgprobe::measure {

enum class Failing : std::uint8_t { none, sense, time_out, corruption, host, disconnect, adapter };   // adapter: a status of the HBA (DID_*)

struct Attempt {
    Failing failing = Failing::none;      // none: it passed
    bool over = false;                    // nothing more can be sent: the drive is gone, the budget spent, the user stopped it
    bool counted = true;                  // false with `over`: this command was never sent
};

struct SearchPlan {
    Blocks top = 1;                       // the greatest length that the command can ask for
    std::vector<Blocks> likely;           // lengths at which limits tend to stand; each is tried with its successor
    std::optional<Blocks> hint;           // the limit as another opcode had it
    unsigned costly = 12;                 // time-outs and disconnects that may be spent
    std::uint64_t seed = 1;
};

struct SearchFinding {
    Blocks max_ok = 0;                    // 0: not even one block
    std::optional<Blocks> first_failing;  // empty: nothing failed up to `top`, or up to where the search had to stop
    Failing failing = Failing::none;
    bool exact = false;                   // first_failing == max_ok + 1, or top itself passed
    bool intermittent = false;            // past the limit some commands pass
    bool stopped = false;                 // an Attempt said that it was over
    bool costly_spent = false;            // the plan's time-outs were used up before it was exact
    unsigned commands = 0, costly = 0;
    unsigned strays = 0, stray_base = 0;  // failures at lengths that work, out of how many commands there
    unsigned failed_at_first = 0, tried_at_first = 0;
};

class LimitSearch {
public:
    using Send = std::function<Attempt(Blocks)>;
    LimitSearch(SearchPlan, Send);
    SearchFinding run();

private:
    struct Tally { unsigned passed = 0, failed = 0; Failing failing = Failing::none; };
    enum class Judgement : std::uint8_t { good, bad, over };

    Judgement judge(Blocks, unsigned passes_wanted);
    bool baseline();
    void control();                       // more one-block commands: how often do commands fail that are surely short enough?
    double stray_rate() const;
    double weight(const Tally&) const;    // log likelihood of "fails past a limit" against "fails now and then anywhere"
    std::vector<Blocks> ladder() const;
    bool try_hint();
    void grow();
    void narrow(unsigned passes_wanted);
    bool verify();                        // the limit holds under many commands, and so do lengths below it
    void fall_back();
    void settle();
    Blocks next_length() const;
    bool stuck() const;
    Attempt send(Blocks);
    Tally& mark_bad(Blocks, Tally&);

    SearchPlan plan_;
    Send send_;
    std::map<Blocks, Tally> tallies_;
    std::mt19937_64 random_;
    Blocks low_ = 0;
    std::optional<Blocks> high_;
    Failing high_failing_ = Failing::none;
    bool over_ = false, controlled_ = false, intermittent_ = false, stray_costly_ = false, verified_ = false;
    unsigned commands_ = 0, costly_ = 0;
};

}
