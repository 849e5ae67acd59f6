//! Threads of POSIX, C11 and C++, and what they wait for (docs/decisions/0024).
//!
//! `pthread_t` and `thrd_t` are `unsigned long` on Linux. What never waits and takes no lock is not described: `pthread_cond_signal`, `sem_post`.

use core::ffi::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

/// What a thread runs.
type Start = unsafe extern "C" fn(arg: *mut c_void) -> *mut c_void;
type StartC11 = unsafe extern "C" fn(arg: *mut c_void) -> c_int;
type Once = unsafe extern "C" fn();

// POSIX: threads
unsafe extern "C" {
    #[probe(pthread_create, INSTR_CALLER)]
    pub fn pthread_create(thread: *mut c_ulong, attributes: *const c_void, start: Start, arg: *mut c_void) -> c_int;
    #[probe(pthread_join, INSTR_CALLER)]
    pub fn pthread_join(thread: c_ulong, result: *mut *mut c_void) -> c_int;
    #[probe(pthread_timedjoin, INSTR_CALLER)]
    pub fn pthread_timedjoin_np(thread: c_ulong, result: *mut *mut c_void, until: *const c_void) -> c_int;
    #[probe(pthread_clockjoin, INSTR_CALLER)]
    pub fn pthread_clockjoin_np(thread: c_ulong, result: *mut *mut c_void, clock: c_int, until: *const c_void) -> c_int;
    #[probe(pthread_setname)]
    pub fn pthread_setname_np(thread: c_ulong, name: *const c_char) -> c_int;
}

// POSIX: locks
unsafe extern "C" {
    #[probe(pthread_lock, INSTR_MUTEX_PTHREAD, INSTR_CALLER)]
    pub fn pthread_mutex_lock(mutex: *mut c_void) -> c_int;
    #[probe(pthread_trylock, INSTR_MUTEX_PTHREAD, INSTR_CALLER)]
    pub fn pthread_mutex_trylock(mutex: *mut c_void) -> c_int;
    #[probe(pthread_timedlock, INSTR_MUTEX_PTHREAD, INSTR_CALLER)]
    pub fn pthread_mutex_timedlock(mutex: *mut c_void, until: *const c_void) -> c_int;
    #[probe(pthread_clocklock, INSTR_MUTEX_PTHREAD, INSTR_CALLER)]
    pub fn pthread_mutex_clocklock(mutex: *mut c_void, clock: c_int, until: *const c_void) -> c_int;
    #[probe(pthread_unlock, INSTR_MUTEX_PTHREAD)]
    pub fn pthread_mutex_unlock(mutex: *mut c_void) -> c_int;
    #[probe(pthread_lock, INSTR_MUTEX_READ, INSTR_CALLER)]
    pub fn pthread_rwlock_rdlock(lock: *mut c_void) -> c_int;
    #[probe(pthread_trylock, INSTR_MUTEX_READ, INSTR_CALLER)]
    pub fn pthread_rwlock_tryrdlock(lock: *mut c_void) -> c_int;
    #[probe(pthread_timedlock, INSTR_MUTEX_READ, INSTR_CALLER)]
    pub fn pthread_rwlock_timedrdlock(lock: *mut c_void, until: *const c_void) -> c_int;
    #[probe(pthread_clocklock, INSTR_MUTEX_READ, INSTR_CALLER)]
    pub fn pthread_rwlock_clockrdlock(lock: *mut c_void, clock: c_int, until: *const c_void) -> c_int;
    #[probe(pthread_lock, INSTR_MUTEX_WRITE, INSTR_CALLER)]
    pub fn pthread_rwlock_wrlock(lock: *mut c_void) -> c_int;
    #[probe(pthread_trylock, INSTR_MUTEX_WRITE, INSTR_CALLER)]
    pub fn pthread_rwlock_trywrlock(lock: *mut c_void) -> c_int;
    #[probe(pthread_timedlock, INSTR_MUTEX_WRITE, INSTR_CALLER)]
    pub fn pthread_rwlock_timedwrlock(lock: *mut c_void, until: *const c_void) -> c_int;
    #[probe(pthread_clocklock, INSTR_MUTEX_WRITE, INSTR_CALLER)]
    pub fn pthread_rwlock_clockwrlock(lock: *mut c_void, clock: c_int, until: *const c_void) -> c_int;
    #[probe(pthread_unlock, INSTR_MUTEX_READ)]
    pub fn pthread_rwlock_unlock(lock: *mut c_void) -> c_int;
    #[probe(pthread_lock, INSTR_MUTEX_SPIN, INSTR_CALLER)]
    pub fn pthread_spin_lock(lock: *mut c_void) -> c_int;
    #[probe(pthread_trylock, INSTR_MUTEX_SPIN, INSTR_CALLER)]
    pub fn pthread_spin_trylock(lock: *mut c_void) -> c_int;
    #[probe(pthread_unlock, INSTR_MUTEX_SPIN)]
    pub fn pthread_spin_unlock(lock: *mut c_void) -> c_int;
}

// POSIX: waits
unsafe extern "C" {
    #[probe(pthread_cond_wait, INSTR_CALLER)]
    pub fn pthread_cond_wait(condition: *mut c_void, mutex: *mut c_void) -> c_int;
    #[probe(pthread_cond_timedwait, INSTR_CALLER)]
    pub fn pthread_cond_timedwait(condition: *mut c_void, mutex: *mut c_void, until: *const c_void) -> c_int;
    #[probe(pthread_cond_clockwait, INSTR_CALLER)]
    pub fn pthread_cond_clockwait(condition: *mut c_void, mutex: *mut c_void, clock: c_int, until: *const c_void) -> c_int;
    #[probe(pthread_barrier_wait, INSTR_CALLER)]
    pub fn pthread_barrier_wait(barrier: *mut c_void) -> c_int;
    #[probe(pthread_once, INSTR_CALLER)]
    pub fn pthread_once(control: *mut c_void, function: Once) -> c_int;
    #[probe(sem_wait, INSTR_CALLER)]
    pub fn sem_wait(semaphore: *mut c_void) -> c_int;
    #[probe(sem_timedwait, INSTR_CALLER)]
    pub fn sem_timedwait(semaphore: *mut c_void, until: *const c_void) -> c_int;
    #[probe(sem_clockwait, INSTR_CALLER)]
    pub fn sem_clockwait(semaphore: *mut c_void, clock: c_int, until: *const c_void) -> c_int;
}

// C11
unsafe extern "C" {
    #[probe(thrd_create, INSTR_CALLER)]
    pub fn thrd_create(thread: *mut c_ulong, start: StartC11, arg: *mut c_void) -> c_int;
    #[probe(thrd_join, INSTR_CALLER)]
    pub fn thrd_join(thread: c_ulong, result: *mut c_int) -> c_int;
    #[probe(pthread_lock, INSTR_MUTEX_PTHREAD, INSTR_CALLER)]
    pub fn mtx_lock(mutex: *mut c_void) -> c_int;
    #[probe(pthread_trylock, INSTR_MUTEX_PTHREAD, INSTR_CALLER)]
    pub fn mtx_trylock(mutex: *mut c_void) -> c_int;
    #[probe(pthread_timedlock, INSTR_MUTEX_PTHREAD, INSTR_CALLER)]
    pub fn mtx_timedlock(mutex: *mut c_void, until: *const c_void) -> c_int;
    #[probe(pthread_unlock, INSTR_MUTEX_PTHREAD)]
    pub fn mtx_unlock(mutex: *mut c_void) -> c_int;
    #[probe(pthread_cond_wait, INSTR_CALLER)]
    pub fn cnd_wait(condition: *mut c_void, mutex: *mut c_void) -> c_int;
    #[probe(pthread_cond_timedwait, INSTR_CALLER)]
    pub fn cnd_timedwait(condition: *mut c_void, mutex: *mut c_void, until: *const c_void) -> c_int;
    #[probe(call_once, INSTR_CALLER)]
    pub fn call_once(control: *mut c_void, function: Once);
}

// C++: std::thread, std::condition_variable::wait, and the wait of std::future, which are in libstdc++
unsafe extern "C" {
    #[probe(cxx_thread, INSTR_CALLER)]
    pub fn _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(thread: *mut c_void, state: *mut c_void, depend: Once);
    #[probe(cxx_join, INSTR_CALLER)]
    pub fn _ZNSt6thread4joinEv(thread: *mut c_void);
    #[probe(cxx_wait, INSTR_CALLER)]
    pub fn _ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(condition: *mut c_void, lock: *mut c_void);
    #[probe(cxx_future, INSTR_CALLER)]
    pub fn _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(futex: *mut c_void, word: *mut c_void, value: c_uint, has_end: bool, seconds: c_long, nanoseconds: c_long) -> bool;
    #[probe(cxx_future, INSTR_CALLER)]
    pub fn _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(futex: *mut c_void, word: *mut c_void, value: c_uint, has_end: bool, seconds: c_long, nanoseconds: c_long) -> bool;
}
