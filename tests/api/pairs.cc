// `pairs PAIRS INSIDE OUTSIDE [CONFIG]`: what pairs.c does, with the guards of C++. Every region is left by an exception, and half of the recordings are.
#include <instr/instr.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

static void leave(uint32_t type, int number)
{
    instr::region here(type == 5 ? "inside" : "outside");
    instr_event(type, static_cast<uint64_t>(number));
    throw std::runtime_error("left");
}

static void events(uint32_t type, int count)
{
    for (int i = 1; i <= count; i++) {
        try {
            leave(type, i);
        } catch (const std::runtime_error &) {
        }
    }
}

static int record(int inside, const char *config, bool thrown)
{
    instr::recording recording(config);
    const int again = instr_start(nullptr);
#pragma omp parallel num_threads(2)
    events(5, inside);
    if (static_cast<bool>(recording) != (recording.result() == 0))
        std::puts("a guard contradicts itself");
    if (thrown)
        throw recording.result() + again;
    return recording.result() + again;
}

int main(int argc, char **argv)
{
    const int pairs = argc > 3 ? std::atoi(argv[1]) : 0, inside = argc > 3 ? std::atoi(argv[2]) : 0, outside = argc > 3 ? std::atoi(argv[3]) : 0;
    const char *const config = argc > 4 ? argv[4] : nullptr;
    int started = 0;
    events(6, outside);
    for (int pair = 0; pair < pairs; pair++) {
        try {
            started += record(inside, pair == 0 ? config : nullptr, pair % 2 == 1);
        } catch (int results) {
            started += results;
        }
#pragma omp parallel num_threads(2)
        events(6, outside);
    }
    std::printf("started %d stopped %d\n", started, instr_stop());
    return 0;
}
