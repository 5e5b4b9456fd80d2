#include "sgprobe/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "sgprobe/report/escape.h"

namespace sgprobe::cli {
namespace {

bool shown = false;

std::string duration(Nanoseconds time) {
    const auto s = std::chrono::duration_cast<std::chrono::seconds>(time + std::chrono::milliseconds(999)).count();
    if (s < 100) return fmt::format("{} s", s);
    if (s < 6000) return fmt::format("{} min", (s + 59) / 60);
    return fmt::format("{} h", (s + 3599) / 3600);
}

}

bool utf8_locale() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* value = std::getenv(name);
        if (!value || !*value) continue;
        std::string lower(value);
        std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
        return lower.find("utf-8") != lower.npos || lower.find("utf8") != lower.npos;
    }
    return false;
}

std::string progress_line(double fraction, Nanoseconds left, std::string_view what, unsigned columns, bool unicode) {
    fraction = std::clamp(std::isfinite(fraction) ? fraction : 0.0, 0.0, 1.0);
    constexpr unsigned bar = 24;
    const unsigned full = static_cast<unsigned>(fraction * bar);
    std::string line = "[";
    for (unsigned i = 0; i < bar; i++) line += i < full ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
    line += fmt::format("] {:3.0f} %", fraction * 100);
    if (left > Nanoseconds(0)) line += fmt::format(", {} left", duration(left));
    const std::size_t used = bar + 2 + 6 + 14;
    std::string tail = report::for_terminal(what);
    if (columns > used + 4 && !tail.empty()) line += ", " + tail.substr(0, columns - used - 3);
    return line;
}

void show_progress(double fraction, Nanoseconds left, std::string_view what) {
    if (!::isatty(STDERR_FILENO)) return;
    using Clock = std::chrono::steady_clock;
    static Clock::time_point last;
    if (shown && Clock::now() - last < std::chrono::milliseconds(100)) return;   // ten a second is enough for an eye
    last = Clock::now();
    winsize size{};
    const unsigned columns = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    fmt::print(stderr, "\r\x1b[K{}", progress_line(fraction, left, what, columns, utf8_locale()));
    std::fflush(stderr);
    shown = true;
}

void clear_progress() {
    if (!shown) return;
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    shown = false;
}

}
