//! libgomp, GCC 4 to 17: every entry point that compiled code can call.
//!
//! Names, prototypes and versions follow the `GOMP_*` version nodes of libgomp (`libgomp_g.h`, `libgomp.map`).
//! The version in `since` is GCC's; entry points without one are at least as old as GCC 4.9.

use core::ffi::{c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_ulonglong, c_ushort, c_void};

/// Body outlined by the compiler.
type Body = unsafe extern "C" fn(data: *mut c_void);
/// Copy constructor of task data: destination, source.
type Copy = Option<unsafe extern "C" fn(to: *mut c_void, from: *mut c_void)>;

// Parallel regions
unsafe extern "C" {
    #[probe(parallel)]
    pub fn GOMP_parallel(body: Body, data: *mut c_void, num_threads: c_uint, flags: c_uint);
    #[since(9)]
    #[probe(parallel_reductions)]
    pub fn GOMP_parallel_reductions(body: Body, data: *mut c_void, num_threads: c_uint, flags: c_uint) -> c_uint;
    /// Before GCC 4.9: the caller runs `body` itself, then calls `GOMP_parallel_end`.
    #[probe(parallel_start)]
    pub fn GOMP_parallel_start(body: Body, data: *mut c_void, num_threads: c_uint);
    #[probe(parallel_end)]
    pub fn GOMP_parallel_end();
    #[probe(parallel_sections)]
    pub fn GOMP_parallel_sections(body: Body, data: *mut c_void, num_threads: c_uint, count: c_uint, flags: c_uint);
    #[probe(parallel_sections_start)]
    pub fn GOMP_parallel_sections_start(body: Body, data: *mut c_void, num_threads: c_uint, count: c_uint);
    #[probe(parallel_loop, INSTR_LOOP_STATIC | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_static(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long, flags: c_uint);
    #[probe(parallel_loop, INSTR_LOOP_DYNAMIC | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_dynamic(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long, flags: c_uint);
    #[probe(parallel_loop, INSTR_LOOP_GUIDED | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_guided(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long, flags: c_uint);
    #[since(6)]
    #[probe(parallel_loop, INSTR_LOOP_DYNAMIC | INSTR_LOOP_NONMONOTONIC | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_nonmonotonic_dynamic(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long, flags: c_uint);
    #[since(6)]
    #[probe(parallel_loop, INSTR_LOOP_GUIDED | INSTR_LOOP_NONMONOTONIC | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_nonmonotonic_guided(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long, flags: c_uint);
    #[probe(parallel_loop_runtime, INSTR_LOOP_RUNTIME | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_runtime(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, flags: c_uint);
    #[since(9)]
    #[probe(parallel_loop_runtime, INSTR_LOOP_RUNTIME | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_maybe_nonmonotonic_runtime(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, flags: c_uint);
    #[since(9)]
    #[probe(parallel_loop_runtime, INSTR_LOOP_RUNTIME | INSTR_LOOP_NONMONOTONIC | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_nonmonotonic_runtime(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, flags: c_uint);
    #[probe(parallel_loop_start, INSTR_LOOP_STATIC | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_static_start(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long);
    #[probe(parallel_loop_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_dynamic_start(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long);
    #[probe(parallel_loop_start, INSTR_LOOP_GUIDED | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_guided_start(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long, chunk: c_long);
    #[probe(parallel_loop_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_COMBINED)]
    pub fn GOMP_parallel_loop_runtime_start(body: Body, data: *mut c_void, num_threads: c_uint, start: c_long, end: c_long, incr: c_long);
    #[since(9)]
    #[probe(teams)]
    pub fn GOMP_teams_reg(body: Body, data: *mut c_void, num_teams: c_uint, thread_limit: c_uint, flags: c_uint);
}

// Work-sharing loops with `long` iterations
unsafe extern "C" {
    #[probe(loop_start, INSTR_LOOP_STATIC)]
    pub fn GOMP_loop_static_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_static_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_start, INSTR_LOOP_DYNAMIC)]
    pub fn GOMP_loop_dynamic_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_dynamic_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_start, INSTR_LOOP_GUIDED)]
    pub fn GOMP_loop_guided_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_guided_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_runtime_start, INSTR_LOOP_RUNTIME)]
    pub fn GOMP_loop_runtime_start(start: c_long, end: c_long, incr: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_runtime_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(6)]
    #[probe(loop_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_NONMONOTONIC)]
    pub fn GOMP_loop_nonmonotonic_dynamic_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(6)]
    #[probe(loop_next)]
    pub fn GOMP_loop_nonmonotonic_dynamic_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(6)]
    #[probe(loop_start, INSTR_LOOP_GUIDED | INSTR_LOOP_NONMONOTONIC)]
    pub fn GOMP_loop_nonmonotonic_guided_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(6)]
    #[probe(loop_next)]
    pub fn GOMP_loop_nonmonotonic_guided_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(9)]
    #[probe(loop_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_NONMONOTONIC)]
    pub fn GOMP_loop_nonmonotonic_runtime_start(start: c_long, end: c_long, incr: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(9)]
    #[probe(loop_next)]
    pub fn GOMP_loop_nonmonotonic_runtime_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(9)]
    #[probe(loop_runtime_start, INSTR_LOOP_RUNTIME)]
    pub fn GOMP_loop_maybe_nonmonotonic_runtime_start(start: c_long, end: c_long, incr: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(9)]
    #[probe(loop_next)]
    pub fn GOMP_loop_maybe_nonmonotonic_runtime_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_start, INSTR_LOOP_STATIC | INSTR_LOOP_ORDERED)]
    pub fn GOMP_loop_ordered_static_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_ordered_static_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_ORDERED)]
    pub fn GOMP_loop_ordered_dynamic_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_ordered_dynamic_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_start, INSTR_LOOP_GUIDED | INSTR_LOOP_ORDERED)]
    pub fn GOMP_loop_ordered_guided_start(start: c_long, end: c_long, incr: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_ordered_guided_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_ORDERED)]
    pub fn GOMP_loop_ordered_runtime_start(start: c_long, end: c_long, incr: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[probe(loop_next)]
    pub fn GOMP_loop_ordered_runtime_next(istart: *mut c_long, iend: *mut c_long) -> bool;
    /// The schedule is the argument `sched`.
    #[since(9)]
    #[probe(loop_generic_start, INSTR_LOOP_RUNTIME)]
    pub fn GOMP_loop_start(start: c_long, end: c_long, incr: c_long, sched: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long, reductions: *mut usize, mem: *mut *mut c_void) -> bool;
    #[since(9)]
    #[probe(loop_generic_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_ORDERED)]
    pub fn GOMP_loop_ordered_start(start: c_long, end: c_long, incr: c_long, sched: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long, reductions: *mut usize, mem: *mut *mut c_void) -> bool;
    #[since(6)]
    #[probe(loop_doacross_start, INSTR_LOOP_STATIC | INSTR_LOOP_DOACROSS)]
    pub fn GOMP_loop_doacross_static_start(ncounts: c_uint, counts: *mut c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(6)]
    #[probe(loop_doacross_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_DOACROSS)]
    pub fn GOMP_loop_doacross_dynamic_start(ncounts: c_uint, counts: *mut c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(6)]
    #[probe(loop_doacross_start, INSTR_LOOP_GUIDED | INSTR_LOOP_DOACROSS)]
    pub fn GOMP_loop_doacross_guided_start(ncounts: c_uint, counts: *mut c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(6)]
    #[probe(loop_doacross_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_DOACROSS)]
    pub fn GOMP_loop_doacross_runtime_start(ncounts: c_uint, counts: *mut c_long, istart: *mut c_long, iend: *mut c_long) -> bool;
    #[since(9)]
    #[probe(loop_doacross_generic_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_DOACROSS)]
    pub fn GOMP_loop_doacross_start(ncounts: c_uint, counts: *mut c_long, sched: c_long, chunk: c_long, istart: *mut c_long, iend: *mut c_long, reductions: *mut usize, mem: *mut *mut c_void) -> bool;
}

// Work-sharing loops with `unsigned long long` iterations
unsafe extern "C" {
    #[probe(loop_ull_start, INSTR_LOOP_STATIC | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_static_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_static_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_dynamic_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_dynamic_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_start, INSTR_LOOP_GUIDED | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_guided_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_guided_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_runtime_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_runtime_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(6)]
    #[probe(loop_ull_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_NONMONOTONIC | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_nonmonotonic_dynamic_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(6)]
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_nonmonotonic_dynamic_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(6)]
    #[probe(loop_ull_start, INSTR_LOOP_GUIDED | INSTR_LOOP_NONMONOTONIC | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_nonmonotonic_guided_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(6)]
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_nonmonotonic_guided_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(9)]
    #[probe(loop_ull_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_NONMONOTONIC | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_nonmonotonic_runtime_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(9)]
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_nonmonotonic_runtime_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(9)]
    #[probe(loop_ull_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_maybe_nonmonotonic_runtime_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(9)]
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_maybe_nonmonotonic_runtime_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_start, INSTR_LOOP_STATIC | INSTR_LOOP_ORDERED | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_ordered_static_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_ordered_static_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_ORDERED | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_ordered_dynamic_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_ordered_dynamic_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_start, INSTR_LOOP_GUIDED | INSTR_LOOP_ORDERED | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_ordered_guided_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_ordered_guided_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_ORDERED | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_ordered_runtime_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[probe(loop_ull_next)]
    pub fn GOMP_loop_ull_ordered_runtime_next(istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    /// The schedule is the argument `sched`.
    #[since(9)]
    #[probe(loop_ull_generic_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, sched: c_long, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong, reductions: *mut usize, mem: *mut *mut c_void) -> bool;
    #[since(9)]
    #[probe(loop_ull_generic_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_ORDERED | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_ordered_start(up: bool, start: c_ulonglong, end: c_ulonglong, incr: c_ulonglong, sched: c_long, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong, reductions: *mut usize, mem: *mut *mut c_void) -> bool;
    #[since(6)]
    #[probe(loop_ull_doacross_start, INSTR_LOOP_STATIC | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_doacross_static_start(ncounts: c_uint, counts: *mut c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(6)]
    #[probe(loop_ull_doacross_start, INSTR_LOOP_DYNAMIC | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_doacross_dynamic_start(ncounts: c_uint, counts: *mut c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(6)]
    #[probe(loop_ull_doacross_start, INSTR_LOOP_GUIDED | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_doacross_guided_start(ncounts: c_uint, counts: *mut c_ulonglong, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(6)]
    #[probe(loop_ull_doacross_runtime_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_doacross_runtime_start(ncounts: c_uint, counts: *mut c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong) -> bool;
    #[since(9)]
    #[probe(loop_ull_doacross_generic_start, INSTR_LOOP_RUNTIME | INSTR_LOOP_DOACROSS | INSTR_LOOP_ULL)]
    pub fn GOMP_loop_ull_doacross_start(ncounts: c_uint, counts: *mut c_ulonglong, sched: c_long, chunk: c_ulonglong, istart: *mut c_ulonglong, iend: *mut c_ulonglong, reductions: *mut usize, mem: *mut *mut c_void) -> bool;
}

// Ends of loops, ordered, doacross
unsafe extern "C" {
    #[probe(loop_end)]
    pub fn GOMP_loop_end();
    #[probe(loop_end_nowait)]
    pub fn GOMP_loop_end_nowait();
    #[probe(loop_end_cancel)]
    pub fn GOMP_loop_end_cancel() -> bool;
    #[probe(mutex_enter, INSTR_MUTEX_ORDERED)]
    pub fn GOMP_ordered_start();
    #[probe(mutex_leave, INSTR_MUTEX_ORDERED)]
    pub fn GOMP_ordered_end();
    #[since(6)]
    #[probe(doacross_post)]
    pub fn GOMP_doacross_post(counts: *mut c_long);
    #[since(6)]
    #[probe(doacross_wait)]
    pub fn GOMP_doacross_wait(first: c_long, ...);
    #[since(6)]
    #[probe(doacross_ull_post)]
    pub fn GOMP_doacross_ull_post(counts: *mut c_ulonglong);
    #[since(6)]
    #[probe(doacross_ull_wait)]
    pub fn GOMP_doacross_ull_wait(first: c_ulonglong, ...);
}

// Sections, single, scope
unsafe extern "C" {
    #[probe(sections_start)]
    pub fn GOMP_sections_start(count: c_uint) -> c_uint;
    #[since(9)]
    #[probe(sections2_start)]
    pub fn GOMP_sections2_start(count: c_uint, reductions: *mut usize, mem: *mut *mut c_void) -> c_uint;
    #[probe(sections_next)]
    pub fn GOMP_sections_next() -> c_uint;
    #[probe(sections_end)]
    pub fn GOMP_sections_end();
    #[probe(sections_end_nowait)]
    pub fn GOMP_sections_end_nowait();
    #[probe(sections_end_cancel)]
    pub fn GOMP_sections_end_cancel() -> bool;
    #[probe(single_start)]
    pub fn GOMP_single_start() -> bool;
    #[probe(single_copy_start)]
    pub fn GOMP_single_copy_start() -> *mut c_void;
    #[probe(single_copy_end)]
    pub fn GOMP_single_copy_end(data: *mut c_void);
    #[since(12)]
    #[probe(scope_start)]
    pub fn GOMP_scope_start(reductions: *mut usize);
}

// Mutual exclusion
unsafe extern "C" {
    #[probe(mutex_enter, INSTR_MUTEX_CRITICAL)]
    pub fn GOMP_critical_start();
    #[probe(mutex_leave, INSTR_MUTEX_CRITICAL)]
    pub fn GOMP_critical_end();
    #[probe(critical_name_start)]
    pub fn GOMP_critical_name_start(lock: *mut *mut c_void);
    #[probe(critical_name_end)]
    pub fn GOMP_critical_name_end(lock: *mut *mut c_void);
    #[probe(mutex_enter, INSTR_MUTEX_ATOMIC)]
    pub fn GOMP_atomic_start();
    #[probe(mutex_leave, INSTR_MUTEX_ATOMIC)]
    pub fn GOMP_atomic_end();
}

// Synchronization and cancellation
unsafe extern "C" {
    #[probe(barrier)]
    pub fn GOMP_barrier();
    #[probe(barrier_cancel)]
    pub fn GOMP_barrier_cancel() -> bool;
    #[probe(taskwait)]
    pub fn GOMP_taskwait();
    #[since(9)]
    #[probe(taskwait_depend)]
    pub fn GOMP_taskwait_depend(depend: *mut *mut c_void);
    #[since(13)]
    #[probe(taskwait_depend_nowait)]
    pub fn GOMP_taskwait_depend_nowait(depend: *mut *mut c_void);
    #[probe(taskyield)]
    pub fn GOMP_taskyield();
    #[probe(taskgroup_start)]
    pub fn GOMP_taskgroup_start();
    #[probe(taskgroup_end)]
    pub fn GOMP_taskgroup_end();
    /// `which`: 1 parallel, 2 for, 4 sections, 8 taskgroup.
    #[probe(cancel)]
    pub fn GOMP_cancel(which: c_int, do_cancel: bool) -> bool;
    #[probe(cancellation_point)]
    pub fn GOMP_cancellation_point(which: c_int) -> bool;
}

// Tasks
unsafe extern "C" {
    /// `priority` since GCC 6, `detach` since 11: older objects pass fewer; `flags` tells which arguments exist.
    #[probe(task)]
    pub fn GOMP_task(body: Body, data: *mut c_void, copy: Copy, arg_size: c_long, arg_align: c_long, if_clause: bool, flags: c_uint, depend: *mut *mut c_void, priority: c_int, detach: *mut c_void);
    #[since(6)]
    #[probe(taskloop)]
    pub fn GOMP_taskloop(body: Body, data: *mut c_void, copy: Copy, arg_size: c_long, arg_align: c_long, flags: c_uint, num_tasks: c_ulong, priority: c_int, start: c_long, end: c_long, step: c_long);
    #[since(6)]
    #[probe(taskloop_ull)]
    pub fn GOMP_taskloop_ull(body: Body, data: *mut c_void, copy: Copy, arg_size: c_long, arg_align: c_long, flags: c_uint, num_tasks: c_ulong, priority: c_int, start: c_ulonglong, end: c_ulonglong, step: c_ulonglong);
    #[since(9)]
    #[no_wrap = "bookkeeping of task reductions: it never waits"]
    pub fn GOMP_taskgroup_reduction_register(data: *mut usize);
    #[since(9)]
    #[no_wrap = "bookkeeping of task reductions: it never waits"]
    pub fn GOMP_taskgroup_reduction_unregister(data: *mut usize);
    #[since(9)]
    #[no_wrap = "bookkeeping of task reductions at the top of every task that takes part: it never waits"]
    pub fn GOMP_task_reduction_remap(count: size_t, original: size_t, pointers: *mut *mut c_void);
    /// Waits for the tasks of the reduction and, unless `cancelled`, for the team.
    #[since(9)]
    #[probe(reductions_end)]
    pub fn GOMP_workshare_task_reduction_unregister(cancelled: bool);
}

// Devices
unsafe extern "C" {
    #[probe(target)]
    pub fn GOMP_target(device: c_int, body: Body, unused: *const c_void, mapnum: size_t, hostaddrs: *mut *mut c_void, sizes: *mut size_t, kinds: *mut c_uchar);
    #[probe(target_data, INSTR_TARGET_DATA)]
    pub fn GOMP_target_data(device: c_int, unused: *const c_void, mapnum: size_t, hostaddrs: *mut *mut c_void, sizes: *mut size_t, kinds: *mut c_uchar);
    #[probe(target_data, INSTR_TARGET_UPDATE)]
    pub fn GOMP_target_update(device: c_int, unused: *const c_void, mapnum: size_t, hostaddrs: *mut *mut c_void, sizes: *mut size_t, kinds: *mut c_uchar);
    #[probe(target_end_data)]
    pub fn GOMP_target_end_data();
    #[since(6)]
    #[probe(target_ext)]
    pub fn GOMP_target_ext(device: c_int, body: Body, mapnum: size_t, hostaddrs: *mut *mut c_void, sizes: *mut size_t, kinds: *mut c_ushort, flags: c_uint, depend: *mut *mut c_void, args: *mut *mut c_void);
    #[since(6)]
    #[probe(target_data_ext)]
    pub fn GOMP_target_data_ext(device: c_int, mapnum: size_t, hostaddrs: *mut *mut c_void, sizes: *mut size_t, kinds: *mut c_ushort);
    #[since(6)]
    #[probe(target_update_ext, INSTR_TARGET_UPDATE)]
    pub fn GOMP_target_update_ext(device: c_int, mapnum: size_t, hostaddrs: *mut *mut c_void, sizes: *mut size_t, kinds: *mut c_ushort, flags: c_uint, depend: *mut *mut c_void);
    #[since(6)]
    #[probe(target_update_ext, INSTR_TARGET_ENTER_EXIT_DATA)]
    pub fn GOMP_target_enter_exit_data(device: c_int, mapnum: size_t, hostaddrs: *mut *mut c_void, sizes: *mut size_t, kinds: *mut c_ushort, flags: c_uint, depend: *mut *mut c_void);
    #[since(14)]
    #[no_wrap = "called for every indirect call inside a target region"]
    pub fn GOMP_target_map_indirect_ptr(pointer: *mut c_void) -> *mut c_void;
    pub fn GOMP_teams(num_teams: c_uint, thread_limit: c_uint);
    #[since(12)]
    pub fn GOMP_teams4(lower: c_uint, upper: c_uint, thread_limit: c_uint, first: bool) -> bool;
    #[since(15)]
    pub fn GOMP_interop(device: c_int, n_init: c_int, init: *mut *mut *mut c_void, target: *const c_int, prefer: *mut *const c_char, n_use: c_int, used: *mut *mut c_void, n_destroy: c_int, destroy: *mut *mut *mut c_void, flags: c_uint, depend: *mut *mut c_void);
    #[no_wrap = "runs before main, while the program is loaded"]
    pub fn GOMP_offload_register(table: *const c_void, kind: c_int, data: *const c_void);
    #[since(6)]
    #[no_wrap = "runs before main, while the program is loaded"]
    pub fn GOMP_offload_register_ver(version: c_uint, table: *const c_void, kind: c_int, data: *const c_void);
    #[no_wrap = "runs before main, while the program is loaded"]
    pub fn GOMP_offload_unregister(table: *const c_void, kind: c_int, data: *const c_void);
    #[since(6)]
    #[no_wrap = "runs before main, while the program is loaded"]
    pub fn GOMP_offload_unregister_ver(version: c_uint, table: *const c_void, kind: c_int, data: *const c_void);
}

// Memory and messages
unsafe extern "C" {
    #[since(11)]
    #[probe(omp_aligned_alloc, INSTR_ALLOC_CLAUSE)]
    pub fn GOMP_alloc(align: size_t, size: size_t, allocator: usize) -> *mut c_void;
    #[since(11)]
    #[probe(omp_free, INSTR_ALLOC_CLAUSE)]
    pub fn GOMP_free(pointer: *mut c_void, allocator: usize);
    #[since(14)]
    #[no_wrap = "bookkeeping of Fortran allocations, nothing to measure"]
    pub fn GOMP_add_alloc(pointer: *mut c_void);
    #[since(14)]
    #[no_wrap = "bookkeeping of Fortran allocations, nothing to measure"]
    pub fn GOMP_is_alloc(pointer: *mut c_void) -> c_int;
    #[since(12)]
    pub fn GOMP_warning(message: *const c_char, length: size_t);
    #[since(12)]
    #[no_wrap = "ends the program with an error; the runtime sees the end of the process"]
    pub fn GOMP_error(message: *const c_char, length: size_t) -> !;
}

// GCC 17 (libgomp node GOMP_6.0.2): what ordinary code references there, and the entry points of `-fopenmp-ompt`.
// Signatures were still moving when this was written. `c_complex_int` is C's `_Complex int` (GNU): number of threads, own number.

// GCC 17
unsafe extern "C" {
    /// `kind`: 0 implicit of parallel, 1 implicit of a work-sharing construct, 2 explicit.
    #[since(17)]
    #[probe(barrier_ext)]
    pub fn GOMP_barrier_ext(kind: c_int);
    #[since(17)]
    #[probe(barrier_cancel_ext)]
    pub fn GOMP_barrier_cancel_ext(kind: c_int) -> bool;
    /// In place of `GOMP_atomic_start` where threads combine a reduction: the same lock, so told as atomic.
    #[since(17)]
    #[probe(mutex_enter, INSTR_MUTEX_ATOMIC)]
    pub fn GOMP_reduction_start();
    #[since(17)]
    #[probe(mutex_leave, INSTR_MUTEX_ATOMIC)]
    pub fn GOMP_reduction_end();
    #[since(17)]
    #[no_wrap = "the end of the block makes no call"]
    pub fn GOMP_has_masked_thread_num(thread: c_int) -> bool;
    #[since(17)]
    #[probe(masked_begin)]
    pub fn GOMP_has_masked_thread_num_with_end(thread: c_int) -> bool;
    #[since(17)]
    #[probe(masked_end)]
    pub fn GOMP_masked_end();
    #[since(17)]
    #[probe(single_start)]
    pub fn GOMP_single_start_with_end() -> bool;
    #[since(17)]
    #[probe(single_end)]
    pub fn GOMP_single_end();
    #[since(17)]
    #[probe(static_loop, INSTR_CALLER)]
    pub fn GOMP_loop_static_worksharing(niter: c_ulonglong) -> c_complex_int;
    #[since(17)]
    #[probe(static_loop_start, INSTR_LOOP_STATIC | INSTR_LOOP_COUNTED)]
    pub fn GOMP_loop_static_worksharing_start(niter: c_ulonglong) -> c_complex_int;
    #[since(17)]
    #[probe(static_loop_dispatch)]
    pub fn GOMP_loop_static_worksharing_dispatch(start: c_ulonglong, iterations: c_ulonglong);
    #[since(17)]
    #[probe(loop_end_nowait)]
    pub fn GOMP_loop_static_worksharing_end();
    #[since(17)]
    #[no_wrap = "the end of the loop makes no call"]
    pub fn GOMP_distribute_static_worksharing(niter: c_ulonglong) -> c_complex_int;
    #[since(17)]
    #[probe(static_loop_start, INSTR_LOOP_STATIC | INSTR_LOOP_COUNTED | INSTR_LOOP_DISTRIBUTE)]
    pub fn GOMP_distribute_static_worksharing_start(niter: c_ulonglong) -> c_complex_int;
    #[since(17)]
    #[probe(static_loop_dispatch)]
    pub fn GOMP_distribute_static_worksharing_dispatch(start: c_ulonglong, iterations: c_ulonglong);
    #[since(17)]
    #[probe(loop_end_nowait)]
    pub fn GOMP_distribute_static_worksharing_end();
}
