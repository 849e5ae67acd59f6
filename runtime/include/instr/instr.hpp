/*
 * The public interface of instr for C++ (11 and later): guards over the calls of instr/instr.h, which says what each call does. A guard ends
 * what it began when its scope is left, by an exception too. Under instr-cc guards record; in a plain build they compile to nothing, and with
 * INSTR_DYNAMIC defined they record under `instr run`.
 */
#ifndef INSTR_INSTR_HPP
#define INSTR_INSTR_HPP

#include <instr/instr.h>

/* Objects that were compiled in different ways may meet in one program: each keeps its own guards. */
#if defined(__INSTR__)
#define INSTR_I_WAY traced
#elif defined(INSTR_DYNAMIC)
#define INSTR_I_WAY dynamic
#else
#define INSTR_I_WAY plain
#endif

namespace instr {
inline namespace INSTR_I_WAY {

/* A region of the calling thread, up to the end of the scope: `instr::region step("step");`. */
class region {
public:
    /* `name` must stay valid and unchanged: a string literal, not the text of a std::string. */
    explicit region(const char *name) noexcept
    {
        instr_region_begin(name);
    }

    ~region()
    {
        instr_region_end();
    }

    region(const region &) = delete;
    region &operator=(const region &) = delete;
};

/* Recording, up to the end of the scope: the constructor calls instr_start(), the destructor instr_stop(), on all threads. */
class recording {
public:
    /* `config` is nullptr, or settings as instr_start() takes them. */
    explicit recording(const char *config = nullptr) noexcept : result_(instr_start(config))
    {
    }

    /* Stops what this guard has started: after a start that was refused, nothing has changed and nothing changes here. */
    ~recording()
    {
        if (result_ == 0)
            (void)instr_stop();
    }

    recording(const recording &) = delete;
    recording &operator=(const recording &) = delete;

    /* What instr_start() returned: 0, INSTR_NOT_RECORDED or INSTR_REFUSED. */
    int result() const noexcept
    {
        return result_;
    }

    /* Whether the program is being recorded since then. */
    explicit operator bool() const noexcept
    {
        return result_ == 0;
    }

private:
    int result_;
};

} // namespace INSTR_I_WAY
} // namespace instr

#undef INSTR_I_WAY

#endif
