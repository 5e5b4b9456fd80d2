// What ends a subcommand: thrown anywhere, caught in main alone, which prints the message and exits with the status.
#pragma once
#include <stdexcept>
#include <string>

namespace sgprobe {

// Exit statuses as sg3_utils has them (sg3_utils(8), EXIT STATUS), and ours (sgprobe(8)).
enum class ExitStatus : int {
    good = 0, syntax = 1, not_ready = 2, medium_hardware = 3, illegal_request = 5, unit_attention = 6, data_protect = 7,
    invalid_opcode = 9, aborted_command = 11, file_error = 15, reservation_conflict = 24, busy = 26, task_set_full = 27,
    contradiction = 31, timeout = 33, transport_error = 35, cliff_found = 36, inconclusive = 39, malformed = 97, other = 99,
    interrupted = 130,
};

class Failure : public std::runtime_error {
public:
    Failure(ExitStatus status, const std::string& message) : std::runtime_error(message), status_(static_cast<int>(status)) {}
    static Failure os(int os_errno, const std::string& what);   // 50 + errno through the library's own conversion; text appended
    int status() const { return status_; }
private:
    int status_;
};

}
