// The heap from C++: all forms of new and delete, a container, a request that throws.
//# Flags: -O1 -std=c++17 -fno-builtin --instr-memory
//# Expect: memory.sites[plain()].allocations = 4
//# Expect: memory.sites[plain()].allocated_bytes = 40 + 400 + 24 + 240
//# Expect: memory.sites[plain()].live_blocks = 0
//# Expect: memory.sites[aligned()].allocations = 4
//# Expect: memory.sites[aligned()].allocated_bytes = 4*128
//# Expect: memory.sites[aligned()].live_blocks = 0
//# Expect: memory.sites[too_much()].allocations = 0
//# Events: mem_give{kind=6} >= 4
//# Events: mem_give{kind=7} = 4
//# Expect@x86_64-linux: memory.allocations = 4 + 4 + 1
//# Expect@x86_64-linux: memory.allocated_bytes = 40 + 400 + 24 + 240 + 4*128 + 1000
//# Expect@x86_64-linux: memory.frees = 4 + 4 + 1
//# Expect@x86_64-linux: memory.live_bytes = 0
//# Expect@x86_64-linux: memory.refused = 1
//# Expect@x86_64-linux: memory.live_high_water_bytes = 1000
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <new>
#include <vector>

struct alignas(128) Wide {
    char bytes[128];
};

static void *volatile seen;

__attribute__((noinline)) void plain()
{
    void *a = ::operator new(40);
    void *b = ::operator new[](400);
    void *c = ::operator new(24, std::nothrow);
    void *d = ::operator new[](240, std::nothrow);
    seen = a;
    ::operator delete(a);
    ::operator delete[](b);
    ::operator delete(c, std::nothrow);
    ::operator delete[](d, std::nothrow);
}

__attribute__((noinline)) void aligned()
{
    const auto align = std::align_val_t(128);
    void *a = ::operator new(128, align);
    void *b = ::operator new[](128, align);
    void *c = ::operator new(128, align, std::nothrow);
    void *d = ::operator new[](128, align, std::nothrow);
    seen = reinterpret_cast<void *>((reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(d)) & 127);
    ::operator delete(a, align);
    ::operator delete[](b, align);
    ::operator delete(c, align, std::nothrow);
    ::operator delete[](d, align, std::nothrow);
}

__attribute__((noinline)) int too_much()
{
    volatile std::size_t much = SIZE_MAX / 2 + 10;
    try {
        seen = ::operator new(much);
    } catch (const std::bad_alloc &) {
        return 1;
    }
    return 0;
}

int main()
{
    plain();
    aligned();
    const int thrown = too_much();
    {
        std::vector<char> chars(1000);
        seen = chars.data();
    }
    std::printf("%d\n", thrown);
    return 0;
}
