//! Efficiencies against timelines worked out by hand, and against counting every nanosecond of random ones.

use std::collections::BTreeMap;

use instr_analysis::efficiency::{Collector, Efficiencies, Loss, Report};
use instr_trace::Trace;
use instr_trace::model::{Activity, At, Code, Interpreter, Sink};
use instr_trace::synth::{self, START_TICKS, StreamWriter};

/// Id and fields (32-bit words, or one address behind the first) of an event.
type Entry = (u64, u8, Vec<u32>, Option<u64>);

/// Writes one stream for each list of events.
fn write(threads: &[Vec<Entry>]) -> (tempfile::TempDir, Trace) {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    for (thread, events) in (0..).zip(threads) {
        let mut stream = StreamWriter::create(dir.path(), layout, thread, 1 << 14).unwrap();
        for (time, id, words, address) in events {
            let fields = |body: &mut synth::Body| {
                for (at, word) in words.iter().enumerate() {
                    body.u32(*word);
                    if at == 0
                        && let Some(address) = address
                    {
                        body.addr(*address);
                    }
                }
            };
            stream.event(START_TICKS + time, *id, fields).unwrap();
        }
        stream.finish().unwrap();
    }
    let trace = Trace::open(dir.path()).unwrap();
    (dir, trace)
}

fn collect(threads: &[Vec<Entry>]) -> Report {
    let (_dir, trace) = write(threads);
    collect_trace(&trace)
}

fn collect_trace(trace: &Trace) -> Report {
    let mut collector = Collector::new(trace.threads());
    interpret(trace, &mut collector);
    collector.finish()
}

fn interpret(trace: &Trace, sink: &mut impl Sink) {
    let mut model = Interpreter::of(trace);
    let mut merge = trace.merge();
    while let Some(event) = merge.next().unwrap() {
        let position = trace.position(event.thread).unwrap();
        model.event(position, &event, sink);
    }
    model.finish(sink);
}

fn begin(time: u64, first: bool) -> Entry {
    (time, 1, vec![7, u32::from(first)], None)
}

fn fork(time: u64, seq: u32, function: u64) -> Entry {
    (time, 16, vec![seq, 0, 0], Some(function))
}

fn implicit(time: u64, leader: u32, seq: u32, number: u32) -> Entry {
    (time, 18, vec![leader, seq, number, 0], None)
}

fn end(time: u64, id: u8, words: &[u32]) -> Entry {
    (time, id, words.to_vec(), None)
}

fn close(actual: f64, expected: f64, what: &str) {
    let error = (actual - expected).abs();
    assert!(
        error <= 1e-9 * expected.abs().max(1.0),
        "{what}: {actual}, not {expected}"
    );
}

fn identities(e: &Efficiencies) {
    let pe = e.parallel_efficiency;
    close(
        e.load_balance * e.communication_efficiency,
        pe,
        "POP, multiplicative",
    );
    let talp = e.omp_serialization * e.omp_load_balance * e.omp_scheduling;
    close(talp, pe, "TALP");
    close(
        e.region_efficiency + e.serial_efficiency - 1.0,
        pe,
        "POP, additive",
    );
    let children = e.region_load_balance + e.region_scheduling + e.region_team_size - 3.0;
    close(
        children,
        e.region_efficiency - 1.0,
        "children of the region efficiency",
    );
    let losses = e.losses();
    let sum = losses.iter().map(|(_, share)| share).sum();
    close(sum, 1.0 - pe, "losses");
    assert!(losses.iter().all(|(_, share)| *share <= e.largest_loss().1));
}

/// Serial 0–100, a region 100–300 whose thread 0 works 110–290 and thread 1 120–180, serial 300–400.
fn two_threads() -> Vec<Vec<Entry>> {
    vec![
        vec![
            begin(0, true),
            fork(100, 1, 0x1000),
            implicit(110, 0, 1, 0),
            end(290, 19, &[]),
            end(300, 17, &[1]),
            end(400, 2, &[]),
        ],
        vec![
            begin(115, false),
            implicit(120, 0, 1, 1),
            end(180, 19, &[]),
            end(390, 2, &[]),
        ],
    ]
}

#[test]
fn a_region_of_two_threads_worked_out_by_hand() {
    let report = collect(&two_threads());
    let budget = &report.budget;
    // The capacity of 2 · 400 is 440 useful, 200 of one thread waiting for the other's serial code, 120 of imbalance (180 − 60),
    // and 2 · 20 of starting and ending the region.
    assert_eq!((budget.threads, budget.elapsed_ns), (2, 400));
    assert_eq!(budget.useful_of_threads, [380, 60]);
    assert_eq!(
        (budget.serial_useful_ns, budget.region_useful_ns),
        (200, 240)
    );
    assert_eq!((budget.parallel_ns, budget.allotted_ns), (200, 400));
    assert_eq!(
        (
            budget.serialization_ns(),
            budget.imbalance_ns,
            budget.scheduling_ns
        ),
        (200, 120, 40)
    );
    assert_eq!(budget.unused_ns(), 0);
    let e = budget.efficiencies().unwrap();
    close(e.parallel_efficiency, 440.0 / 800.0, "PE");
    close(e.load_balance, 220.0 / 380.0, "LB");
    close(e.communication_efficiency, 380.0 / 400.0, "CommE");
    close(e.omp_serialization, 440.0 / 640.0, "OMP_serial");
    close(e.omp_load_balance, 640.0 / 760.0, "OMP_LB");
    close(e.omp_scheduling, 760.0 / 800.0, "OMP_sched");
    // Amdahl: 1 − serial · (1 − 1/2) / R.
    close(e.serial_efficiency, 1.0 - 200.0 * 0.5 / 400.0, "serial");
    close(e.region_efficiency, 1.0 - (200.0 - 120.0) / 400.0, "region");
    close(
        e.region_load_balance,
        1.0 - (180.0 - 120.0) / 400.0,
        "region LB",
    );
    close(e.region_scheduling, 1.0 - 20.0 / 400.0, "region sched");
    close(e.region_team_size, 1.0, "team");
    assert_eq!(e.largest_loss().0, Loss::Serial);
    identities(&e);
    let load = &report.regions[&Code::from(0x1000)];
    assert_eq!((load.executions, load.outermost, load.threads), (1, 1, 2));
    assert_eq!((load.longest_useful_ns, load.shortest_useful_ns), (180, 60));
    close(load.imbalance_ratio().unwrap(), 1.5, "max/mean");
    // Closing barrier: 290–300 and 180–300.
    let waits: Vec<u64> = load
        .by_thread
        .values()
        .map(|load| load.barrier_ns)
        .collect();
    assert_eq!(waits, [10, 120]);
    // Begins 10 and 20 behind that of the region: 2 · 20 is all of the scheduling.
    let starts: Vec<u64> = load.by_thread.values().map(|load| load.start_ns).collect();
    assert_eq!((starts, load.starting_ns), (vec![10, 20], 40));
}

/// Two threads lead a region of two at the same time, 100–300; of the first one's team the other thread works until 200.
#[test]
fn regions_at_the_same_time_worked_out_by_hand() {
    let leader = |index: u32, function| {
        vec![
            begin(0, index == 0),
            fork(100, 1, function),
            implicit(100, index, 1, 0),
            end(300, 19, &[]),
            end(300, 17, &[1]),
            end(400, 2, &[]),
        ]
    };
    let other = |leader, until| {
        vec![
            begin(100, false),
            implicit(100, leader, 1, 1),
            end(until, 19, &[]),
            end(400, 2, &[]),
        ]
    };
    let report = collect(&[
        leader(0, 0x1000),
        other(0, 200),
        leader(2, 0x2000),
        other(2, 300),
    ]);
    let budget = &report.budget;
    // Of 4 · 400: useful 2 · 200 outside and 300 + 400 inside; 100 of imbalance; two threads wait 200 each for the others' serial code.
    assert_eq!((budget.threads, budget.elapsed_ns), (4, 400));
    assert!(budget.overlapping);
    assert_eq!(
        (budget.serial_useful_ns, budget.region_useful_ns),
        (400, 700)
    );
    let e = budget.efficiencies().unwrap();
    close(e.parallel_efficiency, 1100.0 / 1600.0, "PE");
    close(e.serial_efficiency, 1.0 - 400.0 / 1600.0, "serial");
    close(e.region_load_balance, 1.0 - 100.0 / 1600.0, "region LB");
    close(e.region_scheduling, 1.0, "region sched");
    close(e.region_team_size, 1.0, "team");
    identities(&e);
}

/// A region of one thread for 300 of 400, beside three threads that work all the time in no region: nothing is lost but 100 at its barrier.
#[test]
fn threads_of_no_region_that_work_beside_one_lose_nothing() {
    let mut threads = vec![vec![
        begin(0, true),
        fork(100, 1, 0x1000),
        implicit(100, 0, 1, 0),
        end(300, 19, &[]),
        end(400, 17, &[1]),
        end(400, 2, &[]),
    ]];
    threads.extend((0..3).map(|_| vec![begin(0, false), end(400, 2, &[])]));
    let report = collect(&threads);
    let budget = &report.budget;
    assert_eq!((budget.threads, budget.elapsed_ns), (4, 400));
    assert_eq!(
        (budget.serial_useful_ns, budget.region_useful_ns),
        (1300, 200)
    );
    let e = budget.efficiencies().unwrap();
    close(e.parallel_efficiency, 1500.0 / 1600.0, "PE");
    close(e.serial_efficiency, 1.0, "serial");
    close(e.region_efficiency, 1500.0 / 1600.0, "region");
    close(e.region_team_size, 1.0, "team");
    identities(&e);
}

#[test]
fn a_region_whose_end_is_lost_ends_with_the_loss() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir.path(), layout, 0, 1 << 14).unwrap();
    let at = |time: u64| START_TICKS + time;
    stream.event(at(0), 1, |b| _ = b.u32(7).u32(1)).unwrap();
    let fork = |b: &mut synth::Body| _ = b.u32(1).addr(0x1000).u32(0).u32(0);
    stream.event(at(100), 16, fork).unwrap();
    let implicit = |b: &mut synth::Body| _ = b.u32(0).u32(1).u32(0).u32(1);
    stream.event(at(110), 18, implicit).unwrap();
    stream.close_packet().unwrap();
    // No region runs when the next packet begins.
    stream.context.discarded = 2;
    stream.event(at(300), 8, |b| _ = b.u32(1).u64(1)).unwrap();
    stream.event(at(400), 2, |_| {}).unwrap();
    stream.finish().unwrap();
    let budget = collect_trace(&Trace::open(dir.path()).unwrap()).budget;
    assert_eq!((budget.elapsed_ns, budget.parallel_ns), (400, 200));
    assert_eq!(
        (budget.serial_useful_ns, budget.region_useful_ns),
        (200, 190)
    );
}

#[test]
fn a_program_without_regions_is_one_thread_that_loses_nothing() {
    let report = collect(&[vec![begin(0, true), end(500, 2, &[])]]);
    assert_eq!(report.budget.threads, 1);
    let e = report.budget.efficiencies().unwrap();
    close(e.parallel_efficiency, 1.0, "PE");
    close(e.serial_efficiency, 1.0, "serial");
    identities(&e);
    assert!(report.regions.is_empty());
}

#[test]
fn perfectly_parallel_code_loses_nothing_and_serial_code_loses_all_but_one_thread() {
    let team = |threads: u32, serial: u64| {
        let mut all = vec![vec![begin(0, true), fork(serial, 1, 0x1000)]];
        all[0].push(implicit(serial, 0, 1, 0));
        for number in 1..threads {
            all.push(vec![begin(serial, false), implicit(serial, 0, 1, number)]);
        }
        for events in &mut all {
            events.push(end(1000, 19, &[]));
        }
        all[0].push(end(1000, 17, &[1]));
        for events in &mut all {
            events.push(end(1000, 2, &[]));
        }
        collect(&all).budget.efficiencies().unwrap()
    };
    close(team(4, 0).parallel_efficiency, 1.0, "all parallel");
    for (threads, serial) in [(2, 500), (4, 250), (8, 900)] {
        let e = team(threads, serial);
        // Amdahl's law: speedup over serial execution / P.
        let n = f64::from(threads);
        let (s, p) = (serial as f64 / 1000.0, 1.0 - serial as f64 / 1000.0);
        close(e.parallel_efficiency, (s + n * p) / n, "Amdahl");
        close(e.omp_load_balance, 1.0, "balanced");
        close(e.omp_scheduling, 1.0, "no overhead");
        identities(&e);
    }
}

#[test]
fn inner_regions_count_for_the_outermost_one() {
    // Thread 0 leads region 1 (0–1000) with thread 1; thread 1 leads an inner one (200–800) with thread 2, which works 300–500.
    let report = collect(&[
        vec![
            begin(0, true),
            fork(0, 1, 0x1000),
            implicit(0, 0, 1, 0),
            end(1000, 19, &[]),
            end(1000, 17, &[1]),
            end(1000, 2, &[]),
        ],
        vec![
            begin(0, false),
            implicit(0, 0, 1, 1),
            fork(200, 1, 0x2000),
            implicit(200, 1, 1, 0),
            end(700, 19, &[]),
            end(800, 17, &[1]),
            end(900, 19, &[]),
            end(1000, 2, &[]),
        ],
        vec![
            begin(290, false),
            implicit(300, 1, 1, 1),
            end(500, 19, &[]),
            end(1000, 2, &[]),
        ],
    ]);
    let outer = &report.regions[&Code::from(0x1000)];
    let inner = &report.regions[&Code::from(0x2000)];
    // Thread 1: 0–200, 200–700, 800–900.
    assert_eq!(outer.by_thread[&0].useful_ns, 1000);
    assert_eq!(outer.by_thread[&1].useful_ns, 800);
    assert_eq!(
        (inner.by_thread[&0].useful_ns, inner.by_thread[&1].useful_ns),
        (500, 200)
    );
    assert_eq!(
        (
            inner.by_thread[&0].barrier_ns,
            inner.by_thread[&1].barrier_ns
        ),
        (100, 300)
    );
    assert_eq!((outer.outermost, inner.outermost), (1, 0));
    let budget = &report.budget;
    assert_eq!((budget.threads, budget.region_useful_ns), (3, 2000));
    assert_eq!((budget.imbalance_ns, budget.scheduling_ns), (200 + 800, 0));
    identities(&budget.efficiencies().unwrap());
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A random program and, nanosecond by nanosecond, what each thread did: useful or not, and in which region.
struct Program {
    random: Random,
    events: Vec<Vec<Entry>>,
    /// For each thread its useful nanoseconds, each with the region (from 1) or 0.
    useful: Vec<BTreeMap<u64, u32>>,
    /// For each region: begin, end, threads.
    regions: Vec<(u64, u64, usize)>,
    now: u64,
}

impl Program {
    fn new(seed: u64, threads: usize) -> Self {
        let mut program = Self {
            random: Random(seed * 2 + 1),
            events: vec![Vec::new(); threads],
            useful: vec![BTreeMap::new(); threads],
            regions: Vec::new(),
            now: 0,
        };
        program.events[0].push(begin(0, true));
        for _ in 0..1 + program.random.below(6) {
            program.serial();
            program.region();
        }
        program.serial();
        let last = program.now;
        program.events[0].push(end(last, 2, &[]));
        program
    }

    /// Work and explicit barriers in turn from `from`; gives the time reached.
    fn work(&mut self, thread: usize, region: u32, from: u64, kind: u32) -> u64 {
        let mut at = from;
        for _ in 0..self.random.below(4) {
            let (work, wait) = (self.random.below(30), self.random.below(20));
            self.useful[thread].extend((at..at + work).map(|ns| (ns, region)));
            at += work;
            self.events[thread].push(end(at, 32, &[kind]));
            at += wait;
            self.events[thread].push(end(at, 33, &[kind]));
        }
        let work = self.random.below(40);
        self.useful[thread].extend((at..at + work).map(|ns| (ns, region)));
        at + work
    }

    fn serial(&mut self) {
        self.now = self.work(0, 0, self.now, 3);
    }

    fn region(&mut self) {
        let seq = self.regions.len() as u32 + 1;
        let team = 1 + self.random.below(self.events.len() as u64) as usize;
        let (from, mut last) = (self.now, self.now);
        self.events[0].push(fork(from, seq, 0x1000 + u64::from(seq % 3)));
        for thread in 0..team {
            let enter = from + self.random.below(10);
            if self.events[thread].is_empty() {
                self.events[thread].push(begin(enter, false));
            }
            self.events[thread].push(implicit(enter, 0, seq, thread as u32));
            let at = self.work(thread, seq, enter, 1);
            self.events[thread].push(end(at, 19, &[]));
            last = last.max(at);
        }
        self.now = last + self.random.below(10);
        self.events[0].push(end(self.now, 17, &[seq]));
        self.regions.push((from, self.now, team));
    }
}

#[test]
fn random_programs_agree_with_counting_every_nanosecond() {
    for seed in 0..150 {
        let program = Program::new(seed, 1 + (seed as usize % 5));
        let report = collect(&program.events);
        let budget = &report.budget;
        let elapsed = program.now;
        let took_part = program
            .events
            .iter()
            .filter(|events| !events.is_empty())
            .count();
        assert_eq!(budget.threads, took_part as u64, "{seed}");
        assert_eq!(budget.elapsed_ns, elapsed);
        let useful: Vec<u64> = program.useful[..took_part]
            .iter()
            .map(|ns| ns.len() as u64)
            .collect();
        // Which of the P threads a worker is depends on who came first.
        let mut sorted = (budget.useful_of_threads.clone(), useful.clone());
        sorted.0.sort_unstable();
        sorted.1.sort_unstable();
        assert_eq!(sorted.0, sorted.1, "{seed}");
        let (mut idle_serial, mut imbalance, mut scheduling) = (0, 0, 0);
        let in_a_region: u64 = program.regions.iter().map(|(from, to, _)| to - from).sum();
        assert_eq!(budget.parallel_ns, in_a_region, "{seed}");
        for (number, (from, to, team)) in (1..).zip(&program.regions) {
            // TALP: the least idle time of a thread is scheduling, what is beyond it imbalance.
            let idle: Vec<u64> = program.useful[..*team]
                .iter()
                .map(|ns| {
                    to - from - ns.values().filter(|region| **region == number).count() as u64
                })
                .collect();
            let least = *idle.iter().min().unwrap();
            imbalance += idle.iter().map(|ns| ns - least).sum::<u64>();
            scheduling += least * *team as u64;
            idle_serial += (took_part - team) as u64 * (to - from);
        }
        let serial_useful = program.useful[0]
            .values()
            .filter(|region| **region == 0)
            .count() as u64;
        idle_serial += took_part as u64 * (elapsed - in_a_region) - serial_useful;
        assert_eq!(
            (
                budget.serialization_ns(),
                budget.imbalance_ns,
                budget.scheduling_ns
            ),
            (idle_serial, imbalance, scheduling),
            "{seed}"
        );
        assert_eq!(
            budget.useful_ns() + idle_serial + imbalance + scheduling,
            budget.capacity_ns(),
            "{seed}"
        );
        if let Some(e) = budget.efficiencies() {
            let sum: u64 = useful.iter().sum();
            close(
                e.parallel_efficiency,
                sum as f64 / (took_part as u64 * elapsed) as f64,
                "PE",
            );
            identities(&e);
        }
    }
}

#[test]
fn programs_cut_or_damaged_still_add_up() {
    for seed in 0..60 {
        let mut program = Program::new(seed, 4);
        let mut random = Random(seed + 77);
        for events in &mut program.events {
            for _ in 0..random.below(3) {
                let at = random.below(events.len().max(1) as u64) as usize;
                events.truncate(events.len().min(at + 1));
                if events.len() > 2 {
                    events.remove(1 + random.below(events.len() as u64 - 1) as usize);
                }
            }
        }
        let report = collect(&program.events);
        let budget = &report.budget;
        let parts = budget.useful_ns()
            + budget.serialization_ns()
            + budget.imbalance_ns
            + budget.scheduling_ns;
        assert_eq!(parts, budget.capacity_ns(), "{seed}");
        if let Some(e) = budget.efficiencies() {
            identities(&e);
            assert!(
                (0.0..=1.0 + 1e-9).contains(&e.parallel_efficiency),
                "{seed}"
            );
        }
    }
}

/// Waits in barriers: time, position, whether one begins.
#[derive(Default)]
struct Barriers(Vec<(u64, usize, bool)>);

impl Sink for Barriers {
    fn activity(&mut self, at: At, activity: Activity) {
        let waits = activity == Activity::Barrier;
        self.0.push((at.time, at.position, waits));
    }
}

#[test]
fn the_end_of_a_region_lets_its_threads_out_of_the_barrier() {
    let mut threads = two_threads();
    // A third thread gives an event behind its end, right after the region's.
    threads.push(vec![
        begin(10, false),
        end(20, 2, &[]),
        (301, 8, vec![7, 0, 0], None),
    ]);
    let (_dir, trace) = write(&threads);
    let mut barriers = Barriers::default();
    interpret(&trace, &mut barriers);
    let of_region: Vec<_> = barriers.0.into_iter().filter(|of| of.0 > 150).collect();
    let expected = [
        (180, 1, true),
        (290, 0, true),
        (300, 1, false),
        (300, 0, false),
    ];
    assert_eq!(of_region, expected);
}

#[test]
fn loops_and_sections_whose_pieces_are_not_told_are_user_code() {
    // A loop 100–200 and sections 300–400 in a region 0–500 of one thread.
    let useful = |schedule: u32, openmp: &str| {
        let dir = tempfile::tempdir().unwrap();
        let layout = synth::layouts()[0];
        let metadata = synth::metadata(layout, 1_000_000_000, true);
        let metadata = metadata.replace("libgomp", openmp);
        std::fs::write(dir.path().join("metadata"), metadata).unwrap();
        let mut stream = StreamWriter::create(dir.path(), layout, 0, 1 << 14).unwrap();
        let mut event = |time: u64, id: u8, fields: &dyn Fn(&mut synth::Body)| {
            stream
                .event(START_TICKS + time, id, |body| fields(body))
                .unwrap();
        };
        event(0, 1, &|body| _ = body.u32(7).u32(1));
        event(0, 16, &|body| _ = body.u32(1).addr(0x1000).u32(0).u32(0));
        event(0, 18, &|body| _ = body.u32(0).u32(1).u32(0).u32(1));
        event(100, 20, &|body| {
            _ = body.u32(schedule).i64(0).i64(10).i64(1).i64(0)
        });
        event(200, 26, &|body| _ = body.u32(1));
        event(300, 21, &|body| _ = body.u32(2));
        event(400, 26, &|body| _ = body.u32(1));
        event(500, 19, &|_| {});
        event(500, 17, &|body| _ = body.u32(1));
        event(500, 2, &|_| {});
        stream.finish().unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        collect_trace(&trace).budget.useful_ns()
    };
    assert_eq!(useful(2, "libgomp"), 300, "all asked, none got anything");
    assert_eq!(useful(0x4002, "libgomp"), 400);
    assert_eq!(useful(0x4000, "libomp LLVM"), 500);
}
