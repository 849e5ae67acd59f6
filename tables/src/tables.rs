//! The tables: every column's name, type, unit and meaning is here, and nowhere else. `docs/tables.md` is made from it.

use crate::define::tables;

tables! {
    /// A process: the program that was started, and each child and program that it started and that was traced.
    processes {
        /// Number of the process, from 0: parents come before what they started.
        process: i32;
        /// Number that the system gave it.
        pid: i64;
        /// The process that started it, if that one was traced.
        parent: Option<i32>;
        /// Name of the program.
        program: Text;
        /// Its arguments, with blanks between them.
        arguments: Option<Text>;
        /// Path of the program.
        executable: Text;
        /// Name of the machine.
        host: Text;
        /// Kind of the machine, such as `x86_64-linux`.
        target: Text;
        /// The OpenMP library, or `none`.
        openmp: Text;
        /// First event.
        begin_ns: i64, "ns";
        /// Last event.
        end_ns: i64, "ns";
        /// Time of day at time 0 of all tables, since 1970.
        epoch_ns: i64, "ns";
        /// Processors that it might use.
        processors: Option<i32>;
        /// Events that were recorded.
        events: i64;
        /// Events that were lost.
        lost: i64;
        /// Whether the program ended cleanly.
        closed: bool;
    }

    /// A thread that recorded something.
    threads {
        /// Its process.
        process: i32;
        /// Number of the thread in the process, from 0.
        thread: i32;
        /// Number that the system gave it; 0: not known.
        tid: i64;
        /// Its name.
        name: Text;
        /// Whether it runs `main`.
        initial: bool;
        /// Whether it worked in another thread's region before it led one itself.
        worker: bool;
        /// First event.
        begin_ns: i64, "ns";
        /// Last event.
        end_ns: i64, "ns";
        /// Events that were recorded.
        events: i64;
        /// Events that were lost.
        lost: i64;
    }

    /// Something at a moment: events and counters of the program's own, chunks of loops, cancellations, threads that are made.
    events {
        /// Its process.
        process: i32;
        /// Its thread.
        thread: i32;
        /// When.
        time_ns: i64, "ns";
        /// What: `user event`, `counter`, `chunk`, `section`, `static loop`, `post`, `await`, `cancel`, `tracing on`, `tracing off`, `detach`, `fulfill`, `taskloop piece`, `create thread`, `thread created`, `thread starts`.
        kind: Text;
        /// Name of a counter, of a cancelled construct, or of the code of a static loop, a piece or a new thread.
        name: Option<Text>;
        /// Type of a user event, number of a section, flags of a cancellation, number of a new thread among those of its creator.
        number: Option<i64>;
        /// Value of a user event or counter, first iteration of a chunk (of an unsigned loop above 2^63 less 2^64), error of `thread created`, creator of a thread that starts.
        value: Option<i64>;
        /// Iteration behind the last one of a chunk.
        value_end: Option<i64>;
        /// The task: of `detach`, `fulfill` and `taskloop piece`.
        task: Option<i64>;
        /// Handle of an event of a task.
        object: Option<i64>;
    }

    /// Something that has a begin and an end on a thread: a construct, a wait, a lock that is held, a region or call of the program's own, a function of Python. What leaves its thread and comes back has a row for each stretch.
    spans {
        /// Its process.
        process: i32;
        /// Its thread.
        thread: i32;
        /// Begin of the stretch.
        begin_ns: i64, "ns";
        /// Its end.
        end_ns: i64, "ns";
        /// From begin to end.
        duration_ns: i64, "ns";
        /// When it began first; missing where that was lost. Earlier than `begin_ns` for what was suspended.
        first_ns: Option<i64>, "ns";
        /// What: `parallel`, `implicit task`, `closing barrier`, `task`, `create`, `taskwait depend`, `taskloop`, `taskgroup`, `loop`, `sections`, `scope`, `asking`, `single`, `masked`, `wait`, `acquire`, `hold`, `target`, `flush`, `region`, `call`, `function` (of Python).
        kind: Text;
        /// How it ends: `event`, `refused` (a lock was not got), `implied` (with what it is in), `cut` (by a gap or with the thread), `suspended` and `kept` (it goes on later), `unseen` (it went on below a gap).
        ended: Text;
        /// Its name for people: of code, with the construct and the place; of a wait or lock, what is waited for; of a region or call, its name.
        name: Option<Text>;
        /// The function that is run.
        function: Option<Text>;
        /// Source file of its code.
        file: Option<Text>;
        /// Line of its code.
        line: Option<i32>;
        /// Address of its code.
        address: Option<i64>;
        /// The task: of `task`, `create`, `taskwait depend` and `taskloop`.
        task: Option<i64>;
        /// The region: of `parallel`, `implicit task` and `closing barrier`.
        region: Option<i64>;
        /// Address of the lock.
        object: Option<i64>;
    }

    /// A time in which a thread was in one state. Those of a thread add up to its life.
    states {
        /// Its process.
        process: i32;
        /// Its thread.
        thread: i32;
        /// Begin.
        begin_ns: i64, "ns";
        /// End.
        end_ns: i64, "ns";
        /// From begin to end.
        duration_ns: i64, "ns";
        /// `useful`, `synchronization`, `scheduling`, `flush` or `idle`.
        state: Text;
    }

    /// A parallel region that was executed.
    regions {
        /// Its process.
        process: i32;
        /// Its number: thread that encountered it · 2³² + its number there.
        region: i64;
        /// The thread that encountered it.
        thread: i32;
        /// Begin on that thread.
        begin_ns: i64, "ns";
        /// End on that thread.
        end_ns: i64, "ns";
        /// From begin to end.
        duration_ns: i64, "ns";
        /// Its name for people.
        name: Text;
        /// The function that is its body, or holds the construct.
        function: Option<Text>;
        /// Source file.
        file: Option<Text>;
        /// Line.
        line: Option<i32>;
        /// Address of the body.
        address: Option<i64>;
        /// Threads of its team that took part.
        team: Option<i32>;
        /// How it ends, as in `spans`.
        ended: Text;
    }

    /// An explicit task.
    tasks {
        /// Its process.
        process: i32;
        /// Its number: creating thread · 2³² + its number there.
        task: i64;
        /// Place in the order of creation in the process, from 0.
        number: i64;
        /// What made it: `task`, `taskloop`, `taskwait` or `target`.
        kind: Text;
        /// Its name for people.
        name: Text;
        /// The function that is its body, or creates it.
        function: Option<Text>;
        /// Source file.
        file: Option<Text>;
        /// Line.
        line: Option<i32>;
        /// Address of the body.
        address: Option<i64>;
        /// The thread that created it.
        creator: i32;
        /// The explicit task that created it.
        parent: Option<i64>;
        /// The outermost parallel region it was created in.
        region: Option<i64>;
        /// The thread that began it.
        thread: Option<i32>;
        /// Entry of the construct.
        created_ns: Option<i64>, "ns";
        /// The later of creation and the last predecessor's completion.
        ready_ns: Option<i64>, "ns";
        /// Begin of the body.
        begin_ns: Option<i64>, "ns";
        /// End of the body.
        end_ns: Option<i64>, "ns";
        /// End, or the later fulfilment of its `detach` event.
        complete_ns: Option<i64>, "ns";
        /// From begin to end, without tasks that ran on top of it and without the time it was suspended.
        duration_ns: Option<i64>, "ns";
        /// The part of `duration_ns` in user code.
        work_ns: i64, "ns";
        /// From creation to readiness.
        dependency_wait_ns: Option<i64>, "ns";
        /// From readiness to the begin: it waited for a thread.
        ready_wait_ns: Option<i64>, "ns";
        /// Tasks on the longest path that ends just before it.
        level: Option<i32>;
        /// The body ran inside of the construct that created it.
        undeferred: bool;
        /// It never began though its region has ended.
        cancelled: bool;
    }

    /// A dependence: one task waits for another one.
    edges {
        /// Their process.
        process: i32;
        /// The task that comes first.
        from_task: i64;
        /// The task that depends on it.
        to_task: i64;
    }

    /// A wait: for other threads, for tasks, or for a lock; or a lock that is held.
    sync {
        /// Its process.
        process: i32;
        /// Its thread.
        thread: i32;
        /// Begin: of what was suspended meanwhile, the first one.
        begin_ns: i64, "ns";
        /// End.
        end_ns: i64, "ns";
        /// From begin to end.
        duration_ns: i64, "ns";
        /// `wait`, `acquire` (for a lock) or `hold` (of one).
        what: Text;
        /// What is waited for, or the kind of lock: `barrier`, `closing barrier`, `taskwait`, `critical`, `mutex` and so on.
        kind: Text;
        /// How it ends, as in `spans`; `refused`: a lock was asked for in vain.
        ended: Text;
        /// What the thread found a lock of POSIX, C11 or C++ to be: `free` or `held`.
        found: Option<Text>;
        /// Address of the lock or object; of an interpreter's lock, the system's number of the thread that has it.
        object: Option<i64>;
        /// Its name, or its address.
        object_name: Option<Text>;
        /// The task or region in which the thread waits, by its name for people; missing outside of both.
        name: Option<Text>;
        /// The function that calls, or the task or region in which the thread waits.
        function: Option<Text>;
        /// Source file of it.
        file: Option<Text>;
        /// Line of it.
        line: Option<i32>;
    }

    /// Where a thread was at the end of a sampling period.
    samples {
        /// Its process.
        process: i32;
        /// Its thread.
        thread: i32;
        /// When.
        time_ns: i64, "ns";
        /// Periods that the sample stands for.
        periods: i64;
        /// Length of a period.
        period_ns: Option<i64>, "ns";
        /// The function, or in brackets the file that holds it.
        function: Option<Text>;
        /// Source file.
        file: Option<Text>;
        /// Line.
        line: Option<i32>;
        /// The instruction.
        address: i64;
        /// Functions by which the thread came there, the outermost first, with `;` between them; one in a name is `:`.
        stack: Option<Text>;
    }

    /// A value that was read: of a sensor, of a counter of a thread, or of a series of `instr run --config`.
    sensors {
        /// The process that it was read in, or for.
        process: i32;
        /// The thread: of counters of threads.
        thread: Option<i32>;
        /// When.
        time_ns: i64, "ns";
        /// Where it comes from: `sensor`, `counter` or `series`.
        source: Text;
        /// Name of the sensor and its value, or of the counter or series.
        sensor: Text;
        /// Unit of `value` and `grown`; empty: a plain number.
        unit: Text;
        /// Whether it only grows: `total`, or tells how much there is: `level`.
        kind: Text;
        /// What was read.
        value: Option<f64>;
        /// When it was read before.
        since_ns: Option<i64>, "ns";
        /// What a total grew by since then.
        grown: Option<f64>;
    }

    /// A time in which a processor ran a thread.
    switches {
        /// The process; of a program without a trace of its own, the process in whose trace it was recorded.
        process: i32;
        /// The thread, if it recorded something.
        thread: Option<i32>;
        /// Begin.
        begin_ns: i64, "ns";
        /// End.
        end_ns: i64, "ns";
        /// From begin to end.
        duration_ns: i64, "ns";
        /// Number of the processor.
        processor: Option<i32>;
        /// The system's number of the process.
        pid: i64;
        /// The system's number of the thread.
        tid: i64;
        /// Name of the thread.
        name: Text;
        /// What the thread did then: `blocked` (it waited for something), `ready` (another one took the processor), `ended` or `unknown`.
        next: Text;
    }

    /// A call of the heap, of pages, or of an OpenMP allocator, or a look at a thread's stack.
    memory {
        /// Its process.
        process: i32;
        /// Its thread.
        thread: i32;
        /// When.
        time_ns: i64, "ns";
        /// The call: `malloc`, `calloc`, `aligned`, `pages`, `realloc`, `free`, `new`, `new[]`, `delete`, `delete[]`, `mmap`, `munmap`, `mremap`, `omp_alloc`, `omp_free`; or `heap` (the C library's own account) or `stack`.
        call: Text;
        /// The block that is got, or the pages that are mapped.
        address: Option<i64>;
        /// Bytes that are got, nothing where they are refused; of `stack` in use; of `heap` handed out to the program.
        bytes: Option<i64>, "bytes";
        /// Bytes that are given back, where the block is known; of `mmap` and its like the bytes of pages that were known to be mapped and no longer are.
        freed_bytes: Option<i64>, "bytes";
        /// Whether it was asked for in vain.
        refused: bool;
        /// Blocks in use in the process after it.
        blocks_in_use: Option<i64>;
        /// Their bytes; of `mmap` and its like the bytes of mapped pages.
        bytes_in_use: Option<i64>, "bytes";
        /// The function that calls, where blocks are got.
        function: Option<Text>;
        /// Source file of the call.
        file: Option<Text>;
        /// Line of the call.
        line: Option<i32>;
    }
}
