// The heap from C++, in rounds, as many as the first argument says. Prints what one round asks for itself: allocations frees bytes. With a
// second argument the libraries allocate too: strings, streams; with `throws` also exceptions, and a handler of `new` gives memory back. In
// static programs GCC's unwinder makes a table with the first of them, as large as the program.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

static void *volatile kept;
static unsigned long allocations, frees, bytes;

template <typename T> static T *seen(T *p)
{
    kept = const_cast<std::remove_cv_t<T> *>(p);
    return p;
}

// Both, of so many bytes.
static void pair(unsigned long size)
{
    allocations++;
    frees++;
    bytes += size;
}

struct Plain {
    char data[24];
};
// delete[] has to know how many there are: the compiler asks for one more word.
struct Kept {
    char data[40];
    ~Kept() { kept = data; }
};
struct alignas(64) Wide {
    char data[64];
    ~Wide() { kept = data; }
};
struct Base {
    virtual ~Base() { kept = this; }
};
struct Derived : Base {
    char data[200];
};

static void operators()
{
    delete seen(new Plain), pair(sizeof(Plain));
    delete[] seen(new Plain[5]), pair(5 * sizeof(Plain));
    delete[] seen(new Kept[5]), pair(5 * sizeof(Kept) + sizeof(std::size_t));
    delete seen(new Wide), pair(sizeof(Wide));
    delete[] seen(new Wide[3]), pair(4 * sizeof(Wide)); // the word takes an aligned place
    delete seen(static_cast<Base *>(new Derived)), pair(sizeof(Derived));
    delete seen(new (std::nothrow) Plain), pair(sizeof(Plain));
    delete[] seen(new (std::nothrow) Kept[2]), pair(2 * sizeof(Kept) + sizeof(std::size_t));
    // By name: every form there is.
    const auto align = std::align_val_t(32);
    ::operator delete(seen(::operator new(10))), pair(10);
    ::operator delete(seen(::operator new(11)), std::size_t(11)), pair(11);
    ::operator delete(seen(::operator new(12, std::nothrow)), std::nothrow), pair(12);
    ::operator delete(seen(::operator new(13, align)), align), pair(13);
    ::operator delete(seen(::operator new(14, align)), std::size_t(14), align), pair(14);
    ::operator delete(seen(::operator new(15, align, std::nothrow)), align, std::nothrow), pair(15);
    ::operator delete[](seen(::operator new[](16))), pair(16);
    ::operator delete[](seen(::operator new[](17)), std::size_t(17)), pair(17);
    ::operator delete[](seen(::operator new[](18, std::nothrow)), std::nothrow), pair(18);
    ::operator delete[](seen(::operator new[](19, align)), align), pair(19);
    ::operator delete[](seen(::operator new[](20, align)), std::size_t(20), align), pair(20);
    ::operator delete[](seen(::operator new[](21, align, std::nothrow)), align, std::nothrow), pair(21);
    ::operator delete(nullptr);
    ::operator delete[](nullptr);
}

// An allocator that counts, over the usual one.
template <typename T> struct Counting {
    using value_type = T;
    Counting() = default;
    template <typename U> Counting(const Counting<U> &) {}
    T *allocate(std::size_t n)
    {
        allocations++;
        bytes += n * sizeof(T);
        return std::allocator<T>().allocate(n);
    }
    void deallocate(T *p, std::size_t n)
    {
        frees++;
        std::allocator<T>().deallocate(p, n);
    }
    template <typename U> bool operator==(const Counting<U> &) const { return true; }
    template <typename U> bool operator!=(const Counting<U> &) const { return false; }
};

static void containers()
{
    std::vector<long, Counting<long>> grows;
    std::map<int, double, std::less<int>, Counting<std::pair<const int, double>>> map;
    std::list<Wide, Counting<Wide>> list(3);
    for (int i = 0; i < 300; i++) {
        grows.push_back(i);
        map[i * 37 % 101] = i;
    }
    auto shared = std::allocate_shared<Derived>(Counting<Derived>());
    kept = shared.get();
}

// A function of malloc's family beside: given back by the other side of the language.
static void mixed()
{
    std::free(seen(std::malloc(77))), pair(77);
    std::unique_ptr<char, void (*)(void *)> owned(static_cast<char *>(std::calloc(3, 9)), std::free);
    pair(27);
}

static void *reserve;

static void gives_reserve_back()
{
    if (reserve == nullptr)
        throw std::bad_alloc();
    std::free(reserve);
    reserve = nullptr;
}

static std::string library(int round)
{
    std::string text(50 + static_cast<std::size_t>(round), 'x');
    std::ostringstream stream;
    for (int i = 0; i < 100; i++)
        stream << text << i;
    text += stream.str();
    kept = const_cast<char *>(text.data());
    auto shared = std::make_shared<Kept>();
    kept = shared.get();
    return text;
}

static bool throws(const std::string &text)
{
    volatile std::size_t much = ~std::size_t(0) / 2 - 64;
    try {
        throw std::runtime_error(text);
    } catch (const std::exception &error) {
        kept = const_cast<char *>(error.what());
    }
    reserve = std::malloc(1000);
    std::set_new_handler(gives_reserve_back);
    try {
        kept = ::operator new(much);
    } catch (const std::bad_alloc &) {
        kept = nullptr;
    }
    std::set_new_handler(nullptr);
    // The library throws, and catches.
    return ::operator new(much, std::nothrow) == nullptr && ::operator new[](much, std::nothrow) == nullptr;
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        allocations = frees = bytes = 0;
        operators();
        containers();
        mixed();
        if (argc <= 2)
            continue;
        const std::string text = library(i);
        if (argv[2][0] == 't' && !throws(text))
            return 3;
    }
    std::printf("%lu %lu %lu\n", allocations, frees, bytes);
    return 0;
}
