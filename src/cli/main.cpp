#include <cstdio>

int main() {
    std::puts("sgprobe " SGPROBE_VERSION);
}
