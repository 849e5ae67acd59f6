//! The events: one row each.

use crate::kinds::*;
use crate::{Event, Field, Kind, Part};

/// Type of a field, in the raw format and in Rust.
#[derive(Debug)]
pub enum Type {
    /// 32 bits.
    U32,
    /// 32 bits, signed in Rust.
    I32,
    /// 64 bits.
    U64,
    /// 64 bits, signed.
    I64,
    /// An address of the target: 32 or 64 bits.
    Addr,
    /// 64 bits, a time of the raw clock; in Rust nanoseconds since the trace's start.
    Ticks,
    /// 32 bits, which are not all 0 when it holds.
    Truth,
    /// 32 bits, of which one means something.
    Bit(u32),
    /// 32 bits with named values.
    Kind(&'static Kind),
    /// The same in the low byte, and beside it a bit of another name.
    KindAndBit(&'static Kind, &'static str, u32),
    /// 32 bits, each of its own meaning.
    Flags(&'static Kind),
    /// Schedule of a loop with its flags.
    Schedule,
    /// A task: thread and number, 32 bits each, by their names in the raw format.
    Task(&'static str, &'static str),
    /// The same, or none.
    MaybeTask(&'static str, &'static str),
    /// A parallel region, likewise.
    Region(&'static str, &'static str),
    /// A text up to its zero byte, then zero bytes up to the next multiple of 4.
    Text,
    /// Their number in 32 bits, then as many 64-bit values.
    Values,
    /// The same, signed.
    Signed,
    /// The same with addresses.
    Addresses,
    /// The same with an address and the kind of a dependence each.
    Deps,
}

impl Type {
    /// Whether its size depends on its value.
    #[must_use]
    pub fn varies(&self) -> bool {
        matches!(
            self,
            Self::Text | Self::Values | Self::Signed | Self::Addresses | Self::Deps
        )
    }
}

pub(crate) const fn event(
    id: u8,
    name: &'static str,
    fields: &'static [Field],
    when: &'static str,
) -> Event {
    Event {
        id,
        name,
        fields,
        packed: &[],
        when,
    }
}

impl Event {
    const fn packed(self, packed: &'static [Part]) -> Self {
        Self { packed, ..self }
    }
}

const PARALLEL_BEGIN: &[Part] = &[
    Part::Field("seq"),
    Part::Near("function"),
    Part::Bits(&[("requested", 21), ("kind", 9), ("extra", 2)]),
    Part::High("more", "extra"),
];

const IMPLICIT_BEGIN: &[Part] = &[
    Part::Field("region"),
    Part::Bits(&[("thread_num", 15), ("team_size", 15), ("extra", 2)]),
    Part::Wide("more", "extra"),
];

const TASK_CREATE: &[Part] = &[
    Part::Field("seq"),
    Part::Near("function"),
    Part::Bits(&[("flags", 21), ("count", 9), ("extra", 2)]),
    Part::High("more", "extra"),
    Part::Deps("deps"),
];

const fn field(name: &'static str, ty: Type) -> Field {
    Field {
        name,
        rust: name,
        ty,
    }
}

macro_rules! simple {
    ($($function:ident $ty:ident),*) => {
        $(pub(crate) const fn $function(name: &'static str) -> Field {
            field(name, Type::$ty)
        })*
    };
}

simple!(
    u32 U32, i32 I32, u64 U64, i64 I64, addr Addr, ticks Ticks, truth Truth, schedule Schedule, text Text, values Values,
    signed Signed, addresses Addresses, deps Deps
);

pub(crate) const fn kind(name: &'static str, kind: &'static Kind) -> Field {
    field(name, Type::Kind(kind))
}

const fn flags(name: &'static str, flags: &'static Kind) -> Field {
    field(name, Type::Flags(flags))
}

const fn bit(name: &'static str, bit: u32) -> Field {
    field(name, Type::Bit(bit))
}

const fn task(name: &'static str, thread: &'static str, seq: &'static str) -> Field {
    field(name, Type::Task(thread, seq))
}

const fn maybe_task(name: &'static str, thread: &'static str, seq: &'static str) -> Field {
    field(name, Type::MaybeTask(thread, seq))
}

const fn region(name: &'static str, thread: &'static str, seq: &'static str) -> Field {
    field(name, Type::Region(thread, seq))
}

impl Field {
    const fn named(self, rust: &'static str) -> Self {
        Self {
            name: self.name,
            rust,
            ty: self.ty,
        }
    }
}

/// A kind whose word has another bit, of the name `bit`.
const fn kind_and_bit(
    name: &'static str,
    kind: &'static Kind,
    bit: &'static str,
    mask: u32,
) -> Field {
    field(name, Type::KindAndBit(kind, bit, mask))
}

/// All of them, by id.
#[rustfmt::skip]
pub const EVENTS: &[Event] = &[
    event(1, "thread_begin", &[u32("os_tid"), flags("flags", &THREAD_FLAGS)], "first event of a stream; flags bit 0: the initial thread, bit 1: a thread of the runtime's own, which reads sensors on a period: not one of the program's, left out of all counts of threads; bit 2: no thread, a processor (88)"),
    event(2, "thread_end", &[], "the thread ended, or the trace was closed"),
    event(3, "clock_sync", &[u64("ticks"), u64("monotonic_ns"), u64("realtime_ns")], "pairs for the clock conversion: at the start, at flushes, at the end"),
    event(4, "flush", &[ticks("begin"), u32("bytes")], "the runtime wrote a packet; it began at tick `begin`, ended at this event's time"),
    event(5, "tracing_off", &[], "`instr_stop`"),
    event(6, "tracing_on", &[], "`instr_start`"),
    event(7, "string", &[text("text"), addr("address")], "the text behind an address used by later events of this stream (the text first, so that the event ends on a word)"),
    event(8, "user_event", &[u32("type").named("kind"), u64("value")], "`instr_event`"),
    event(9, "region_begin", &[addr("name")], "`instr_region_begin`; `name` is defined by an earlier `string`"),
    event(10, "region_end", &[], "`instr_region_end`"),
    event(11, "counter", &[addr("name"), i64("value")], "`instr_counter`"),
    event(12, "call_begin", &[addr("name"), values("args")], "generated stub of a described function without a probe"),
    event(13, "call_end", &[u64("result")], "of the thread's innermost open call; 0 when the function returns void, and when an exception, a jump or the thread's end left it"),
    event(16, "parallel_begin", &[u32("seq"), addr("function"), u32("requested"), kind_and_bit("kind", &PARALLEL_KIND, "call_site", 0x100)], "entry of a parallel construct. Region id = (thread of this stream, seq). Bit 0x100 of `kind`: `function` is not the outlined body but a return address into the encountering function (OMPT). `requested` 2,097,151: so many or more").packed(PARALLEL_BEGIN),
    event(17, "parallel_end", &[u32("seq")], "its return, after the closing barrier"),
    event(18, "implicit_begin", &[region("region", "region_thread", "region_seq"), u32("thread_num"), u32("team_size")], "implicit task begins on this thread; team_size is told by the encountering thread only, 0 on the others. `more`, if there is any: thread_num and team_size").packed(IMPLICIT_BEGIN),
    event(19, "implicit_end", &[], "the body returned; what follows on this thread until `parallel_end` is the closing barrier (explicit tasks may run in it)"),
    event(20, "loop_begin", &[schedule("schedule"), i64("start"), i64("end"), i64("incr"), i64("chunk")], "a work-sharing loop with a runtime call of its own; for the `start` functions written at entry"),
    event(21, "sections_begin", &[u32("count")], "a `sections` construct begins; `count` sections"),
    event(22, "single", &[truth("executor")], "a `single` construct; `executor` is 1 on the thread that executes the block"),
    event(23, "chunk_begin", &[i64("begin"), i64("end")], "a chunk [begin, end) was handed out (u64 loops: same bits)"),
    event(24, "section_begin", &[u32("number")], "section `number`, from 1, was handed out"),
    event(25, "dispatch", &[], "entry of a call that asks for the next chunk or section: ends the running one, if any"),
    event(26, "work_end", &[truth("nowait")], "the loop, sections or scope construct ends (entry of the end call); when `nowait` is 0 `sync_begin`(2) follows"),
    event(27, "static_loop", &[addr("site")], "inferred: the calls of `omp_get_num_threads` and `omp_get_thread_num` with which GCC 16 and before begin a static loop; `site` is the return address of the second. Its end is not visible"),
    event(28, "masked_begin", &[], "a `masked` (`master`) block begins on this thread"),
    event(29, "masked_end", &[], "its end"),
    event(30, "scope_begin", &[], "a `scope` construct; ends like a loop"),
    event(31, "single_end", &[], "the end of the `single` block on its executing thread, where the run-time library tells it"),
    event(32, "sync_begin", &[kind("kind", &SYNC_KIND)], "the thread begins to wait (tasks may run inside)"),
    event(33, "sync_end", &[kind("kind", &SYNC_KIND)], "the wait is over"),
    event(34, "mutex_acquire", &[kind("kind", &MUTEX_KIND), addr("object")], "about to acquire"),
    event(35, "mutex_acquired", &[kind("kind", &MUTEX_KIND), addr("object")], "holds it (a failed test leaves `mutex_acquire` … `mutex_failed`)"),
    event(36, "mutex_released", &[kind("kind", &MUTEX_KIND), addr("object")], "about to give it back"),
    event(37, "mutex_failed", &[kind("kind", &MUTEX_KIND), addr("object")], "`omp_test_lock` returned 0"),
    event(38, "cancel", &[kind("kind", &CANCEL_KIND), flags("flags", &CANCEL_FLAGS)], "a `cancel` construct or a `cancellation point`"),
    event(39, "doacross", &[kind("kind", &DOACROSS_KIND), signed("vector")], "iteration `vector` is posted or waited for; in the second case `sync_begin`(8) follows"),
    event(40, "task_create", &[u32("seq"), addr("function"), flags("flags", &TASK_FLAGS), deps("deps")], "entry of a task construct. Task id = (thread of this stream, seq); its parent is the task running on this thread").packed(TASK_CREATE),
    event(41, "task_created", &[], "the runtime call returned. An undeferred task runs between 40 and 41"),
    event(42, "task_begin", &[task("task", "thread", "seq")], "the body begins on this thread"),
    event(43, "task_end", &[], "the innermost running explicit task of this thread ended"),
    event(44, "task_depend", &[u32("seq"), deps("deps")], "more entries of the `task_create` that follows (before it in the stream), at most 64 an event"),
    event(45, "taskwait_depend", &[u32("seq"), bit("flags", 1).named("nowait"), deps("deps")], "an empty included task (thread of this stream, seq), numbered with the tasks; flags bit 0: `nowait`. Else `sync_begin`(4) follows and the task is complete at `sync_end`(4). Longer lists: `task_depend` before it"),
    event(46, "taskloop_begin", &[u32("seq"), addr("function"), flags("flags", &TASK_FLAGS), u64("num_tasks"), i64("start"), i64("end"), i64("step")], "the taskloop is (thread of this stream, seq), numbered with the tasks; its tasks get their identity when they begin: see 49"),
    event(47, "taskloop_end", &[], "the call of the taskloop returned"),
    event(48, "taskgroup_begin", &[], "a taskgroup region begins; `sync_begin`(5) … `sync_end`(5) is its end"),
    event(49, "taskloop_task", &[task("taskloop", "loop_thread", "loop_seq"), u32("seq"), i64("start"), i64("end")], "just before `task_begin`(this thread, seq): the task is one piece [start, end) of that taskloop; stands for its creation too"),
    event(50, "task_suspend", &[], "the innermost running explicit task leaves this thread before its end (untied tasks of libomp)"),
    event(51, "task_resume", &[task("task", "thread", "seq")], "the task goes on here, on top of what runs"),
    event(52, "task_event", &[task("task", "thread", "seq"), addr("handle")], "the task has a `detach` clause: it is complete when its body has ended and `handle` is fulfilled. May be told more than once, and before `task_create` ends"),
    event(53, "task_fulfill", &[maybe_task("task", "thread", "seq"), addr("handle")], "`omp_fulfill_event`, at entry; thread 0xffffffff: the task is the last one told with that handle (its `task_event` may come later in time, when the creating call has not returned)"),
    event(54, "target_begin", &[kind("kind", &TARGET_KIND), addr("function"), i32("device"), flags("flags", &TARGET_FLAGS)], "a device construct. A `target` with `nowait` or `depend` is also a task: `task_create` with flag 0x10000 precedes"),
    event(55, "target_end", &[kind("kind", &TARGET_KIND)], "its call returned"),
    event(56, "omp_alloc", &[kind("kind", &ALLOCATOR_KIND), addr("address"), u64("bytes"), addr("allocator")], "memory from an OpenMP allocator; address 0: refused"),
    event(57, "omp_free", &[kind("kind", &ALLOCATOR_KIND), addr("address")], "given back"),
    event(64, "sensor", &[u32("sensor"), signed("values")], "a reading of sensor `sensor_N` (metadata), at this time; raw numbers"),
    event(65, "sensor_lost", &[u32("sensor"), u32("error")], "reading it failed (`error`: errno where there is one); it is not read again"),
    event(66, "thread_counters", &[flags("flags", &COUNTER_FLAGS), signed("values")], "the counters `counter_0` … of this thread since it was attached; the lowest number: not counted here"),
    event(67, "mem_get", &[kind("kind", &BLOCK_KIND), u64("bytes"), addr("site")], "a call that gets a block of the heap begins; `bytes` as asked for; `site`: return address of the call"),
    event(68, "mem_move", &[addr("old"), u64("bytes"), addr("site")], "a call of `realloc` or `reallocarray` begins; old 0: for a new block"),
    event(69, "mem_got", &[addr("address")], "the end of the call that the thread's last `mem_get` or `mem_move` began: the block is the program's; 0: refused, or it was an exception that left `new`. Of a `mem_move` with 0 bytes: `old` is given back; refused, `old` stays. Another thread may get `old` before this event: an address that is told twice belongs to two blocks until this event (or another) takes one away"),
    event(70, "mem_give", &[kind("kind", &BLOCK_KIND), addr("address")], "a call begins that gives a block back (never 0), which is no longer the program's"),
    event(71, "mem_given", &[], "its end"),
    event(72, "mem_alloc", &[kind("kind", &BLOCK_KIND), addr("address"), u64("bytes"), addr("site")], "a block that a call inside of one of the heap's functions got and kept; where there is no `mem_get`: any block, written after its call; address 0: refused"),
    event(73, "mem_free", &[kind("kind", &BLOCK_KIND), addr("address")], "the same of a block that is about to be given back"),
    event(74, "mem_realloc", &[addr("old"), addr("address"), u64("bytes"), addr("site")], "`mem_move` and `mem_got` in one, written after the call"),
    event(75, "mem_map", &[addr("address"), u64("bytes"), addr("site")], "`mmap`, told after the call; address 0: refused; what was mapped there before is gone"),
    event(76, "mem_unmap", &[addr("address"), u64("bytes")], "`munmap`, told before the call"),
    event(77, "mem_remap", &[addr("old"), u64("old_bytes"), addr("address"), u64("bytes"), addr("site")], "`mremap`, told after the call; address 0: refused"),
    event(78, "mem_heap", &[u64("arena"), u64("used"), u64("free"), u64("mapped")], "state of the C library's heap, bytes: got from the system, handed out, free, mapped block by block (part of the first two). At the start and the end"),
    event(79, "stack", &[kind("kind", &STACK_KIND), addr("low"), addr("high"), addr("mark")], "the thread's stack [low, high)"),
    event(80, "sampling", &[kind("source", &SAMPLING_CLOCK), u32("signal"), u64("period_ns")], "sampling of this thread begins"),
    event(81, "sample", &[addr("pc"), addr("sp"), u32("weight"), addresses("stack")], "the thread was at `pc`; `stack` has return addresses, innermost first; `weight`: how many periods it stands for. On x86-64 Linux there stand behind them 0, or 1 when the first of them is a guess (a leaf's, taken from the top of the stack); the frame pointer; and up to 8 words of the stack from `sp` on, 0 in place of one that is neither in the stack nor near code that runs: with the unwind tables a reader finds the caller that frame pointers leave out in a function's first and last instructions"),
    event(82, "sample_stack", &[addr("pc"), addr("sp"), u32("weight"), u32("registers"), addresses("words")], "the same; the first `registers` words are registers (x86-64: rbx, rbp, r12 to r15), the others the stack from `sp` on"),
    event(83, "sample_lost", &[u32("count")], "periods without a sample: they ended while an event was written and another sample already waited for its end"),
    event(88, "thread_switch", &[u32("processor"), u32("from"), u32("to")], "a processor leaves thread `from` for `to` (the system's ids, as `os_tid`); the same twice: that thread runs when the record begins. Only in the stream of that processor: its first event is `thread_begin` with flags bit 2, its `os_tid` is the processor's number, and no thread's state follows from it"),
    event(89, "processor", &[u32("processor")], "what follows in this packet was recorded on that processor; on systems whose threads migrate (RTEMS), with the first records of each packet (an event that opens a new packet comes before it) and whenever it changes"),
    event(90, "thread_name", &[text("name"), addr("os_tid")], "what the system calls the thread `os_tid` (RTEMS); in its own stream, behind `thread_begin`"),
    event(91, "thread_time", &[u64("run_ns"), u64("wait_ns")], "since the thread's beginning: its time on a processor, and the time that it was ready to run and waited for one, as the system counts them (Linux: `/proc/PID/schedstat`). When it ends or the trace does, where it was recorded for 10 ms at least; and at the begin of its record, where it had run for more than 1 ms before"),
    event(92, "scheduled", &[kind("state", &SCHEDULED_KIND), u32("number")], "from now on the system has the thread in this state; `number` is the processor of `RUNNING` (0xffffffff: not known), and how many records the system lost at `UNKNOWN` (0: not known). The only event of streams of context switches (`switches_NNNN`): the `os_tid` of their packets is the thread's, `thread` is its index with bit 31 set. The last one says `UNKNOWN`"),
    event(93, "thread_create", &[u32("seq"), addr("function"), addr("site")], "a thread is about to be made, which begins with `function`; `site`: return address of the call. The new thread is (thread of this stream, seq)"),
    event(94, "thread_created", &[u32("error")], "the call returned; not 0: there is no new thread"),
    event(95, "thread_start", &[u32("creator"), u32("seq"), addr("function"), addr("handle")], "a thread begins that thread `creator` made, there with `seq`; `handle`: its `pthread_t`, by which it is joined (`wait`(14))"),
    event(96, "wait", &[kind("kind", &SYNC_KIND), addr("object"), addr("site")], "the thread begins to wait for the object (11 to 16), up to `sync_end`; `site`: return address of the call"),
    event(97, "lock_taken", &[kind("kind", &MUTEX_KIND), addr("object"), addr("site")], "it has the lock, without having waited for it; also behind the wait for a condition, which gives its mutex back meanwhile"),
    event(98, "lock_wait", &[kind("kind", &MUTEX_KIND), addr("object"), addr("site")], "the lock is not free: the thread waits, up to `mutex_acquired`, `lock_waited` or `mutex_failed`"),
    event(99, "lock_waited", &[kind("kind", &MUTEX_KIND), addr("object")], "it has the lock; when it gives it back is not recorded (`INSTR_PTHREAD=waits`)"),
    event(100, "lock_busy", &[kind("kind", &MUTEX_KIND), addr("object"), addr("site")], "a try (`pthread_mutex_trylock`) found it taken"),
    event(101, "function_begin", &[addr("function")], "a function that a language's runtime tells of begins on this thread (`instr_function_begin`). `function` is the address of its text, defined by an earlier `string`: its name, a tab, and `FILE:LINE` of its first line; without the tab and what follows, a function of C"),
    event(102, "function_end", &[addr("function")], "it returns; what began inside of it and has not ended ends too"),
    event(103, "function_unwind", &[addr("function")], "an exception leaves it"),
    event(104, "function_suspend", &[addr("function")], "it leaves its thread and may go on later (a generator that yields, a coroutine that awaits)"),
    event(105, "function_resume", &[addr("function")], "it goes on, perhaps on another thread"),
];
