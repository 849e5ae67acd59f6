use std::path::Path;

use instr_trace::kernel::{
    Context, Info, Leave, Part, Record, Recorded, ThreadId, What, Writer, write_info,
};

use super::model::{Allocation, Thread};
use super::{Each, Slice, Stretch, Woken, allocation, comparable, each};

/// Begin of every recording, and the length of most.
const BEGIN: u64 = 1_000_000_000;

fn id(pid: u32, tid: u32) -> ThreadId {
    ThreadId { pid, tid }
}

/// A recording of process 10 from [`BEGIN`] to `end` behind it, with these events: processor, time, thread, what.
fn part(dir: &Path, end: u64, recorded: Recorded, events: &[(u32, u64, ThreadId, What)]) -> Part {
    std::fs::create_dir_all(dir).unwrap();
    for processor in 0..2 {
        let mut writer = Writer::new(dir, [1; 16], processor).unwrap();
        for (_, time, thread, what) in events.iter().filter(|event| event.0 == processor) {
            let record = Record {
                time: BEGIN + time,
                processor,
                thread: *thread,
                what: what.clone(),
            };
            writer.add(&record).unwrap();
        }
        writer.flush().unwrap();
    }
    let info = Info {
        recorded,
        pid: 10,
        program: "app".into(),
        boot_id: "b".into(),
        start_monotonic_ns: BEGIN,
        end_monotonic_ns: BEGIN + end,
        ..Info::default()
    };
    write_info(dir, [1; 16], &info).unwrap();
    Part::open(dir).unwrap()
}

fn of(end: u64, recorded: Recorded, events: &[(u32, u64, ThreadId, What)]) -> Allocation {
    let dir = tempfile::tempdir().unwrap();
    let part = part(dir.path(), end, recorded, events);
    allocation(&[&part]).unwrap()
}

fn exec(name: &str) -> What {
    What::Exec(name.into())
}

const OUT: What = What::Out(Leave::Blocked);
const PREEMPTED: What = What::Out(Leave::Ready);

fn thread(allocation: &Allocation, tid: u32) -> &Thread {
    let processes = &allocation.applications[0].processes;
    let mut threads = processes.iter().flat_map(|process| &process.threads);
    threads.find(|thread| thread.tid == tid).unwrap()
}

/// On a processor, ready, blocked, voluntary, involuntary, migrations.
fn times(thread: &Thread) -> [u64; 6] {
    let times = &thread.times;
    [
        times.on_processor_ns,
        times.ready_ns,
        times.blocked_ns,
        times.voluntary,
        times.involuntary,
        times.migrations,
    ]
}

#[test]
fn the_life_of_a_thread_is_divided_without_a_rest() {
    let one = id(10, 10);
    let found = of(
        1000,
        Recorded::Tree,
        &[
            (0, 100, one, exec("app")),
            (0, 300, one, OUT),
            (1, 450, one, What::In),
            (1, 500, one, PREEMPTED),
            (1, 580, one, What::In),
            (1, 900, one, What::Exit),
        ],
    );
    let one = thread(&found, 10);
    assert_eq!(times(one), [200 + 50 + 320, 80, 150, 1, 1, 1]);
    assert_eq!((one.begin_ns, one.end_ns), (100, Some(900)));
    let on: Vec<_> = one
        .processors
        .iter()
        .map(|at| (at.processor, at.ns))
        .collect();
    assert_eq!(on, [(0, 200), (1, 370)]);
    assert_eq!(found.in_use_ns, [1000 - 570, 570]);
    assert_eq!(found.duration_ns, 1000);
}

/// States of a thread follow each other without a gap, and their sums are its times; a time without length is none.
#[test]
fn stretches_are_the_life_of_a_thread() {
    let one = id(10, 10);
    let dir = tempfile::tempdir().unwrap();
    let events = [
        (0, 100, one, exec("app")),
        (0, 300, one, OUT),
        (1, 450, one, What::In),
        (1, 500, one, PREEMPTED),
        (1, 580, one, What::In),
        (1, 600, one, What::Name("late".into())),
        (1, 900, one, What::Exit),
    ];
    let part = part(dir.path(), 1000, Recorded::Tree, &events);
    let mut seen = Vec::new();
    let found = super::each_stretch(&[&part], &mut |stretch| {
        assert_eq!((stretch.thread, stretch.pid, stretch.tid), (0, 10, 10));
        assert_eq!(stretch.application, Some(0));
        seen.push((stretch.state, stretch.begin_ns, stretch.end_ns));
    });
    let expected = [
        ("running", 100, 300),
        ("blocked", 300, 450),
        ("running", 450, 500),
        ("ready", 500, 580),
        ("running", 580, 900),
    ];
    assert_eq!(seen, expected);
    let sum = |state| {
        let own = seen.iter().filter(|stretch| stretch.0 == state);
        own.map(|(_, begin, end)| end - begin).sum::<u64>()
    };
    let found = found.unwrap();
    let times = times(thread(&found, 10));
    assert_eq!([sum("running"), sum("ready"), sum("blocked")], times[..3]);
}

#[test]
fn two_threads_on_one_processor_wait_for_each_other() {
    let (a, b) = (id(10, 10), id(10, 11));
    let mut events = vec![
        (0, 0, a, exec("app")),
        (0, 0, b, What::Fork(a)),
        (0, 10, a, PREEMPTED),
    ];
    // From 10 on they take turns, 10 each.
    for turn in 1..100u64 {
        let (ends, begins) = if turn % 2 == 1 { (b, a) } else { (a, b) };
        if turn == 1 {
            events.push((0, 10, b, What::In));
        }
        events.push((0, 10 + turn * 10, ends, PREEMPTED));
        events.push((0, 10 + turn * 10, begins, What::In));
    }
    let found = of(1010, Recorded::Tree, &events);
    // The last turn, from 1000 to the end, is a's.
    assert_eq!(times(thread(&found, 10))[..2], [10 + 50 * 10, 50 * 10]);
    let pair = |waited: u32, ran: u32| {
        let mut pairs = found.interference.iter();
        let pair = pairs.find(|pair| {
            pair.waited.tid == waited && pair.ran.as_ref().is_some_and(|ran_by| ran_by.tid == ran)
        });
        pair.map(|pair| (pair.times, pair.ns)).unwrap()
    };
    assert_eq!(pair(10, 11), (50, 500));
    // The new thread's wait for its first turn is nobody's fault that is known.
    assert_eq!(pair(11, 10), (50, 500 - 10 + 10));
    assert_eq!(found.interference.len(), 2);
    assert_eq!(found.in_use_ns, [0, 1010]);
}

#[test]
fn a_wait_ends_on_another_processor() {
    let (a, b) = (id(10, 10), id(10, 11));
    let events = [
        (0, 0, a, exec("app")),
        (0, 0, b, What::Fork(a)),
        (0, 100, a, PREEMPTED),
        (0, 100, b, What::In),
        (1, 150, a, What::In),
        (0, 300, b, OUT),
        (1, 400, a, OUT),
    ];
    let found = of(500, Recorded::Tree, &events);
    let [pair] = &found.interference[..] else {
        panic!("{:?}", found.interference);
    };
    assert_eq!((pair.waited.tid, pair.times, pair.ns), (10, 1, 50));
    assert_eq!(times(thread(&found, 10)), [100 + 250, 50, 100, 1, 1, 1]);
    assert_eq!(found.in_use_ns, [100, 250, 150]);
}

#[test]
fn who_is_not_recorded_is_told_apart() {
    let one = id(10, 10);
    let far = 100_000;
    let events = [
        (0, 0, one, exec("app")),
        (0, far, one, PREEMPTED),
        (0, 3 * far, one, What::In),
        (0, 4 * far, one, PREEMPTED),
        (0, 4 * far + 50, one, What::In), // it gave the processor away, and nobody wanted it
    ];
    let found = of(5 * far, Recorded::Tree, &events);
    let [pair] = &found.interference[..] else {
        panic!("{:?}", found.interference);
    };
    assert!(pair.ran.is_none());
    assert_eq!((pair.times, pair.ns), (1, 2 * far + 50));
}

#[test]
fn the_whole_system_has_others_and_idle_processors() {
    let (one, other, idle) = (id(10, 10), id(99, 99), id(0, 0));
    let events = [
        (0, 0, other, What::Name("other".into())),
        (0, 50, id(10, 10), What::Fork(id(7, 7))),
        (0, 100, one, What::In),
        (0, 300, one, PREEMPTED),
        (0, 300, other, What::In),
        (0, 700, other, OUT),
        (0, 700, one, What::In),
        (0, 800, one, OUT),
        (0, 800, idle, What::In),
        (0, 950, idle, PREEMPTED),
        (0, 950, other, What::In),
    ];
    let found = of(1000, Recorded::System, &events);
    assert_eq!(times(thread(&found, 10)), [300, 50 + 400, 200, 1, 1, 0]);
    let lane = &found.processors[0];
    assert_eq!(lane.busy_ns, [300]);
    assert_eq!(lane.others_ns, Some(400 + 50));
    let [pair] = &found.interference[..] else {
        panic!("{:?}", found.interference);
    };
    let ran = pair.ran.as_ref().unwrap();
    assert_eq!((ran.name.as_str(), ran.application), ("other", None));
    assert_eq!((pair.times, pair.ns), (1, 400));
    assert_eq!(
        found.applications[0].processes.len(),
        1,
        "others are none of its processes"
    );
}

#[test]
fn processes_have_parents_names_and_ends() {
    let (shell, child) = (id(10, 10), id(20, 20));
    let events = [
        (0, 0, shell, exec("sh")),
        (0, 1, shell, What::Arguments("sh -c x".into())),
        (0, 10, child, What::Fork(shell)),
        (0, 20, shell, OUT),
        (0, 20, child, What::In),
        (0, 30, child, exec("cc")),
        (0, 40, id(20, 21), What::Fork(child)),
        (0, 50, child, What::Exit),
        (0, 60, id(20, 21), What::In),
        (0, 70, id(20, 21), What::Exit),
        (0, 70, shell, What::In),
        (0, 80, id(20, 20), What::Fork(shell)), // the number again
    ];
    let found = of(100, Recorded::Tree, &events);
    let processes = &found.applications[0].processes;
    let shown: Vec<_> = processes
        .iter()
        .map(|process| {
            (
                process.pid,
                process.parent,
                process.name.as_str(),
                process.end_ns,
            )
        })
        .collect();
    let expected = [
        (10, None, "sh", None),
        (20, Some(10), "cc", Some(70)),
        (20, Some(10), "sh", None),
    ];
    assert_eq!(shown, expected);
    assert_eq!(processes[0].arguments, "sh -c x");
    assert_eq!(processes[1].threads.len(), 2);
}

/// perf reports an exit before the thread leaves its processor: it may be preempted in between, or wait. It is the same thread, and ends where it leaves last.
#[test]
fn a_thread_may_run_on_behind_its_exit() {
    let one = id(10, 10);
    let events = |more: &[(u32, u64, ThreadId, What)]| {
        let begin = [(0, 0, one, exec("app")), (0, 100, one, What::Exit)];
        [&begin[..], more].concat()
    };
    let preempted = [
        (0, 110, one, PREEMPTED),
        (1, 150, one, What::In),
        (1, 160, one, OUT),
    ];
    let waits = [
        (0, 110, one, OUT),
        (0, 150, one, What::In),
        (0, 160, one, OUT),
    ];
    let reaped = [(0, 110, one, PREEMPTED)];
    let behind = [
        (0, 150, one, What::In),
        (0, 155, one, PREEMPTED),
        (0, 157, one, What::In),
        (0, 160, one, OUT),
    ];
    // On the processor, unknown, migrations, end.
    for (more, on, unknown, migrations, end) in [
        (&preempted[..], 110, 50, 1, 160),
        (&waits[..], 110, 50, 0, 160),
        (&reaped[..], 100, 0, 0, 100),
        (&behind[..], 108, 52, 0, 160),
    ] {
        let found = of(1000, Recorded::System, &events(more));
        let processes = &found.applications[0].processes;
        assert_eq!(processes.len(), 1, "{processes:?}");
        assert_eq!(
            (processes[0].end_ns, processes[0].name.as_str()),
            (Some(end), "app")
        );
        let thread = thread(&found, 10);
        assert_eq!(times(thread), [on, 0, 0, 0, 0, migrations]);
        assert_eq!(thread.times.unknown_ns, unknown);
    }
    // Another thread executes a program and gets the number of the first one, which is in its last steps.
    let other = id(10, 11);
    let exec = [
        (0, 0, one, exec("app")),
        (0, 10, other, What::Fork(one)),
        (0, 100, one, What::Exit),
        (0, 110, one, PREEMPTED),
        (0, 120, one, What::In),
        (1, 130, one, exec("next")),
        (1, 200, one, OUT),
        (1, 300, one, What::In),
    ];
    let found = of(1000, Recorded::System, &exec);
    let processes = &found.applications[0].processes;
    assert_eq!((processes.len(), processes[0].threads.len()), (1, 3));
    let next = &processes[0].threads[2];
    assert_eq!(times(next)[..3], [70 + 700, 0, 100]);
    // Where events were lost since, the number may be another thread's.
    let lost = [
        (0, 120, ThreadId::default(), What::Lost(9)),
        (0, 150, one, What::In),
    ];
    let found = of(1000, Recorded::System, &events(&lost));
    assert_eq!(found.applications[0].processes.len(), 2);
}

#[test]
fn an_exec_ends_the_other_threads() {
    let (first, second) = (id(10, 10), id(10, 11));
    let events = [
        (0, 0, first, exec("app")),
        (0, 10, second, What::Fork(first)),
        (0, 20, first, OUT),
        (0, 20, second, What::In),
        (0, 50, first, exec("next")), // the second thread is the first one from now on
        (0, 90, first, OUT),
    ];
    let found = of(100, Recorded::Tree, &events);
    assert_eq!(thread(&found, 11).end_ns, Some(50));
    assert_eq!(times(thread(&found, 11))[0], 30);
    assert_eq!(times(thread(&found, 10))[..3], [20 + 40, 0, 30 + 10]);
    assert_eq!(found.in_use_ns, [10, 90]);
}

#[test]
fn lost_events_leave_unknown_time_and_no_wrong_one() {
    let one = id(10, 10);
    let events = [
        (0, 0, one, exec("app")),
        (0, 100, one, OUT),
        (0, 150, one, What::In),
        (0, 500, ThreadId::default(), What::Lost(7)),
        (0, 600, one, What::In),
        (0, 700, one, What::Exit),
    ];
    let found = of(1000, Recorded::Tree, &events);
    let one = thread(&found, 10);
    assert_eq!(times(one)[..3], [100 + 100, 0, 50]);
    assert_eq!(one.times.unknown_ns, 450);
    assert_eq!(found.lost, 7);
}

#[test]
fn recordings_of_one_machine_are_put_on_one_time_line() {
    let dir = tempfile::tempdir().unwrap();
    let one = id(10, 10);
    let a = part(
        &dir.path().join("a"),
        1000,
        Recorded::Tree,
        &[
            (0, 0, one, exec("a")),
            (0, 200, one, PREEMPTED),
            (0, 600, one, What::In),
        ],
    );
    let two = id(30, 30);
    let b = part(
        &dir.path().join("b"),
        2000,
        Recorded::Tree,
        &[(0, 200, two, What::In), (0, 600, two, OUT)],
    );
    assert_eq!(comparable(&[&a, &b]), None);
    let found = allocation(&[&a, &b]).unwrap();
    let [pair] = &found.interference[..] else {
        panic!("{:?}", found.interference);
    };
    let ran = pair.ran.as_ref().unwrap();
    assert_eq!(
        (pair.waited.application, ran.application),
        (Some(0), Some(1))
    );
    assert_eq!((pair.times, pair.ns), (1, 400));
    assert_eq!(found.processors[0].busy_ns, [600, 400]);
    assert_eq!(found.duration_ns, 2000);
    let on: Vec<_> = found.processors[0]
        .busy
        .iter()
        .map(|share| *share > 0.0)
        .collect();
    assert_eq!((on[29], on[30]), (true, false), "busy up to the middle");
}

/// Who comes may have looked at the clock before who leaves: each recording does so for itself.
#[test]
fn a_switch_between_two_recordings_has_one_order() {
    for early in [0, 300] {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (id(10, 10), id(30, 30));
        let events = [
            (0, 0, one, exec("a")),
            (
                0,
                10_000 - early,
                one,
                What::Wake {
                    by: id(0, 0),
                    processor: 0,
                    context: Context::Interrupt,
                },
            ),
            (0, 10_000, one, PREEMPTED),
            (0, 50_000 - early, one, What::In),
            (0, 90_000, one, OUT),
        ];
        let a = part(&dir.path().join("a"), 100_000, Recorded::Tree, &events);
        let events = [
            (0, 10_000 - early, two, What::In),
            (0, 50_000, two, PREEMPTED),
            (0, 90_000 - early, two, What::In),
            // It leaves without a word, and another one of its program comes: nobody waits for that.
            (0, 95_000, id(30, 31), What::In),
        ];
        let b = part(&dir.path().join("b"), 100_000, Recorded::Tree, &events);
        let found = allocation(&[&a, &b]).unwrap();
        let pairs: Vec<_> = found
            .interference
            .iter()
            .map(|pair| {
                (
                    pair.waited.tid,
                    pair.ran.as_ref().map(|who| who.tid),
                    pair.times,
                    pair.ns,
                )
            })
            .collect();
        assert_eq!(
            pairs,
            [(10, Some(30), 1, 40_000), (30, Some(10), 1, 40_000)]
        );
        let threads = |at: usize| &found.applications[at].processes[0].threads;
        assert_eq!(threads(0)[0].times.unknown_ns, 0);
        assert_eq!(threads(1)[0].times.unknown_ns, 5_000);
        assert_eq!(found.processors[0].busy_ns, [50_000, 40_000 + 10_000]);
    }
}

/// By eBPF the last leave of a thread is its exit.
#[test]
fn who_came_early_may_end_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (id(10, 10), id(30, 30));
    let events = [(0, 0, one, exec("a")), (0, 10_000, one, What::Exit)];
    let a = part(&dir.path().join("a"), 100_000, Recorded::Tree, &events);
    let events = [
        (1, 0, two, What::Name("b".into())),
        (0, 9_700, two, What::In),
        (0, 15_000, two, What::Exit),
    ];
    let b = part(&dir.path().join("b"), 100_000, Recorded::Tree, &events);
    let found = allocation(&[&a, &b]).unwrap();
    assert_eq!(found.processors[0].busy_ns, [10_000, 5_000]);
    let two = &found.applications[1].processes[0].threads[0];
    assert_eq!(
        (two.times.on_processor_ns, two.end_ns),
        (5_000, Some(15_000))
    );
}

/// One stream is cut: what another processor ran stays, and who may have run there is unknown.
#[test]
fn a_damaged_stream_is_of_one_processor() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other, third) = (id(10, 10), id(10, 11), id(10, 12));
    let events = [
        (0, 0, one, exec("app")),
        (0, 10, other, What::Fork(one)),
        (0, 15, third, What::Fork(one)),
        (1, 20, other, What::In),
        (1, 50, other, OUT),
        (1, 60, third, What::In),
        (0, 400, one, What::Name("app".into())),
    ];
    part(dir.path(), 1000, Recorded::Tree, &events);
    let stream = dir.path().join("processor_0001");
    let mut bytes = std::fs::read(&stream).unwrap();
    bytes.extend(b"no packet, but long enough to be taken for the begin of one, and much longer than its header");
    std::fs::write(&stream, bytes).unwrap();
    let found = allocation(&[&Part::open(dir.path()).unwrap()]).unwrap();
    assert_eq!(found.damaged_streams, 1);
    assert_eq!(times(thread(&found, 10))[0], 1000);
    for (tid, unknown) in [(11, 940), (12, 940)] {
        assert_eq!(thread(&found, tid).times.unknown_ns, unknown, "{tid}");
    }
}

/// Nobody knows what threads did after the last event that could be written.
#[test]
fn a_recording_that_broke_off_is_unknown_from_there_on() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (id(10, 10), id(10, 11));
    let events = [
        (0, 0, one, exec("app")),
        (0, 10, other, What::Fork(one)),
        (1, 20, other, What::In),
        (1, 50, other, OUT),
        (0, 100, one, What::Name("app".into())),
    ];
    let whole = part(dir.path(), 1000, Recorded::Tree, &events);
    let found = allocation(&[&whole]).unwrap();
    assert_eq!(times(thread(&found, 10))[0], 1000);
    let info = Info {
        trouble: Some("events could not be written: No space left on device".into()),
        ..whole.info().clone()
    };
    write_info(dir.path(), [1; 16], &info).unwrap();
    let broken = Part::open(dir.path()).unwrap();
    let found = allocation(&[&broken]).unwrap();
    let (one, other) = (thread(&found, 10), thread(&found, 11));
    assert_eq!((times(one)[0], one.times.unknown_ns), (100, 900));
    // It sleeps since the last event of the other processor, on which it may run by now.
    assert_eq!(times(other)[..3], [30, 10, 0]);
    assert_eq!((other.times.unknown_ns, other.end_ns), (950, None));
}

/// It sleeps, is woken, and waits: somebody who is not recorded has the processor. It never lost one itself.
#[test]
fn waits_after_wake_ups_alone_are_others() {
    let one = id(10, 10);
    let events = [
        (0, 0, one, exec("app")),
        (0, 100, one, OUT),
        (0, 200, one, wake(id(0, 0), 0, Context::Interrupt)),
        (0, 250, one, What::In),
        (0, 300, one, OUT),
    ];
    let found = of(1000, Recorded::Tree, &events);
    let [pair] = &found.interference[..] else {
        panic!("{:?}", found.interference);
    };
    assert_eq!((pair.ran.is_none(), pair.times, pair.ns), (true, 0, 50));
}

#[test]
fn recordings_of_two_machines_or_starts_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let a = part(&dir.path().join("a"), 1, Recorded::Tree, &[]);
    let b = part(&dir.path().join("b"), 1, Recorded::System, &[]);
    assert!(comparable(&[&a, &b]).unwrap().contains("whole system"));
    let path = dir.path().join("b/metadata");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("boot_id = \"b\"", "boot_id = \"c\"")).unwrap();
    let b = Part::open(&dir.path().join("b")).unwrap();
    assert!(comparable(&[&a, &b]).unwrap().contains("started"));
    assert_eq!(comparable(&[&b]), None);
}

#[test]
fn hostile_events_end_in_time_and_without_a_panic() {
    fastrand::seed(3);
    for _ in 0..200 {
        let mut events = Vec::new();
        let mut time = 0;
        for _ in 0..400 {
            // Now and then a time is far off.
            time += fastrand::u64(
                0..if fastrand::u32(0..300) == 0 {
                    1 << 54
                } else {
                    50
                },
            );
            time %= 1 << 55;
            let any = |most| fastrand::u32(0..most);
            let thread = id(any(4), any(6));
            let what = match any(9) {
                0..=2 => What::In,
                3 => OUT,
                4 => PREEMPTED,
                5 => What::Fork(id(any(4), any(6))),
                6 => What::Exit,
                7 => exec("x"),
                _ => What::Lost(u64::MAX),
            };
            events.push((any(2), time, thread, what));
        }
        let kind = if fastrand::bool() {
            Recorded::Tree
        } else {
            Recorded::System
        };
        let found = of(fastrand::u64(0..20_000), kind, &events);
        let processes = found.applications.iter().flat_map(|one| &one.processes);
        for thread in processes.flat_map(|process| &process.threads) {
            let times = &thread.times;
            let sum = times.on_processor_ns + times.ready_ns + times.blocked_ns + times.unknown_ns;
            let end = thread.end_ns.unwrap_or(found.duration_ns.max(time));
            assert!(sum <= end.saturating_sub(thread.begin_ns), "{thread:?}");
        }
        let in_use: u64 = found.in_use_ns.iter().sum();
        assert!(in_use <= found.duration_ns.max(time));
    }
}

#[test]
fn many_threads_of_one_process_end_in_time() {
    let first = id(10, 10);
    let mut events = vec![(0, 0, first, exec("app"))];
    let threads = 1000..101_000;
    events.extend(
        threads
            .clone()
            .map(|tid| (0, 1, id(10, tid), What::Fork(first))),
    );
    events.extend(threads.clone().map(|tid| (0, 2, id(10, tid), PREEMPTED)));
    events.extend(threads.map(|tid| (0, 3 << 54, id(10, tid), What::Exit)));
    let found = of(4 << 54, Recorded::Tree, &events);
    assert_eq!(found.applications[0].times.ready_ns, u64::MAX);
}

fn wake(by: ThreadId, processor: u32, context: Context) -> What {
    What::Wake {
        by,
        processor,
        context,
    }
}

/// Thread 11 sleeps from 200 on and is woken by 10 at 300, but 10 keeps the processor up to 450; then 11 sleeps again, and a timer wakes it.
fn woken() -> Vec<(u32, u64, ThreadId, What)> {
    let (a, b) = (id(10, 10), id(10, 11));
    vec![
        (0, 0, a, exec("app")),
        (0, 10, b, What::Fork(a)),
        (0, 20, a, OUT),
        (0, 20, b, What::In),
        (0, 200, b, OUT),
        (0, 200, a, What::In),
        (0, 300, b, wake(a, 0, Context::Thread)),
        (0, 310, b, wake(a, 0, Context::Thread)), // it is awake already
        (0, 450, a, OUT),
        (0, 450, b, What::Priority(121)),
        (0, 450, b, What::In),
        (0, 460, a, wake(id(77, 78), 1, Context::Thread)), // another program
        (0, 480, b, wake(a, 1, Context::Thread)),          // it runs
        (0, 500, b, OUT),
        (0, 600, b, wake(a, 0, Context::Interrupt)),
        (0, 620, b, What::In),
        (0, 700, b, What::Out(Leave::Yielded)),
        (0, 740, b, What::In),
        (0, 800, b, What::Exit),
    ]
}

#[test]
fn a_blocked_thread_is_ready_from_its_wake_up_on() {
    let found = of(1000, Recorded::Tree, &woken());
    let (a, b) = (thread(&found, 10), thread(&found, 11));
    // b: new for 10; 180 + 50 + 80 + 60 on the processor; ready 150, 20 and 40; asleep 100 and 100.
    assert_eq!(times(b), [370, 10 + 150 + 20 + 40, 200, 2, 1, 0]);
    assert_eq!((b.times.woken_ns, b.times.yielded), (170, 1));
    assert_eq!((a.priority, b.priority), (None, Some(121)));
    // Of the waits of b, a held the processor for 150.
    let pair = found.interference.iter().find(|pair| {
        let ran = pair.ran.as_ref().map(|who| who.tid);
        (pair.waited.tid, ran) == (11, Some(10))
    });
    assert_eq!(pair.map(|pair| (pair.ns, pair.times)), Some((150, 0)));
    let wakes: Vec<_> = found
        .woken
        .iter()
        .map(|wake| {
            let by = wake.by.as_ref();
            let by = by.map(|who| (who.application, who.pid, who.tid, who.name.as_str()));
            let sums = (wake.times, wake.delay_ns, wake.longest_ns);
            (wake.woken.tid, wake.context, by, sums)
        })
        .collect();
    assert_eq!(
        wakes,
        [
            // Up to the end of the recording, without a processor.
            (10, "thread", Some((None, 77, 78, "")), (1, 540, 540)),
            (11, "thread", Some((Some(0), 10, 10, "app")), (1, 150, 150)),
            (11, "interrupt", None, (1, 20, 20)),
        ]
    );
    assert_eq!(found.more_wakes, 0);
}

/// The task of a processor that has nothing to do stands for what interrupts it, wherever that is said to have happened.
#[test]
fn who_is_woken_by_an_idle_processor_is_woken_by_an_interrupt() {
    let mut events = woken();
    for event in &mut events {
        if let What::Wake { by, context, .. } = &mut event.3
            && *context == Context::Interrupt
        {
            (*by, *context) = (id(0, 0), Context::Thread);
        }
    }
    let shown = |events: &[_]| format!("{:?}", of(1000, Recorded::Tree, events).woken);
    assert_eq!(shown(&events), shown(&woken()));
}

/// Outputs with arrows get each wake-up that ended a wait, in order of time.
#[test]
fn outputs_are_told_of_wake_ups() {
    #[derive(Default)]
    struct All {
        slices: usize,
        ns: u64,
        wakes: Vec<(u64, u32, u32, u32)>,
    }
    impl Each for All {
        fn slice(&mut self, _slice: &Slice<'_>) {
            self.slices += 1;
        }
        fn stretch(&mut self, stretch: &Stretch<'_>) {
            self.ns += stretch.end_ns - stretch.begin_ns;
        }
        fn woken(&mut self, woken: &Woken) {
            let by = (woken.by_tid, woken.by_processor);
            self.wakes.push((woken.time_ns, woken.tid, by.0, by.1));
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let part = part(dir.path(), 1000, Recorded::Tree, &woken());
    let mut all = All::default();
    let found = each(&[&part], &mut all).unwrap();
    assert_eq!(
        all.wakes,
        [(300, 11, 10, 0), (460, 10, 78, 1), (600, 11, 10, 0)]
    );
    assert_eq!(all.slices, 6);
    let lives: u64 = found.applications[0].processes[0]
        .threads
        .iter()
        .map(|thread| thread.end_ns.unwrap_or(1000) - thread.begin_ns)
        .sum();
    assert_eq!(all.ns, lives);
}
