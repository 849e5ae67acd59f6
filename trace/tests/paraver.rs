//! Paraver output of random programs, whole and cut: order, nesting, states, communications.

use std::collections::BTreeMap;
use std::path::Path;

use instr_trace::model::{Interpreter, Intervals, State};
use instr_trace::paraver::{self, Comms, Options, Stats, TAG_CREATE, TAG_DEPEND};
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{CodeName, Layout, Names, Session, Trace};

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

struct Symbols;

impl Names for Symbols {
    fn resolve(&self, address: u64) -> Option<CodeName> {
        Some(CodeName {
            function: Some(format!("f{address:x}._omp_fn.0")),
            file: Some("/src/a.c".into()),
            line: Some(address as u32),
            module: Some("/bin/app".into()),
            place: None,
        })
    }
}

type Stream = StreamWriter<Vec<u8>>;

/// Types of ours that nest. A damaged user event has any.
const OWN_TYPES: std::ops::Range<u64> = 20_000_000..100_000_000;

/// Writes a random but well-formed program and gives the streams' bytes, one a thread.
struct Program {
    random: Random,
    streams: Vec<Stream>,
    now: u64,
    seq: u32,
    tasks: u64,
    edges: u64,
}

impl Program {
    fn new(layout: Layout, threads: u32, seed: u64) -> Self {
        let limit = 600;
        let streams = (0..threads)
            .map(|thread| StreamWriter::new(Vec::new(), layout, thread, limit))
            .collect();
        Self {
            random: Random(seed),
            streams,
            now: START_TICKS,
            seq: 0,
            tasks: 0,
            edges: 0,
        }
    }

    fn put(&mut self, thread: usize, id: u8, words: &[u64], fields: impl FnOnce(&mut synth::Body)) {
        self.now += self.random.below(4);
        let now = self.now;
        self.streams[thread]
            .event(now, id, |body| {
                for word in words {
                    body.u32(*word as u32);
                }
                fields(body);
            })
            .unwrap();
    }

    fn plain(&mut self, thread: usize, id: u8, words: &[u64]) {
        self.put(thread, id, words, |_| {});
    }

    /// `team` threads run a region, one of whose threads creates tasks that the others run at once.
    fn region(&mut self, number: u64) {
        let team = self.streams.len();
        self.put(0, 16, &[number], |b| {
            _ = b.addr(0x400).u32(team as u32).u32(0)
        });
        for thread in 0..team {
            self.plain(thread, 18, &[0, number, thread as u64, team as u64]);
        }
        let mut last = BTreeMap::new();
        for _ in 0..self.random.below(30) {
            let thread = self.random.below(team as u64) as usize;
            match self.random.below(9) {
                0 => self.workshare(thread),
                1 => self.locked(thread),
                2 => {
                    self.plain(thread, 32, &[1]);
                    self.plain(thread, 33, &[1]);
                }
                3 => self.put(thread, 8, &[77], |b| _ = b.u64(5)),
                4 => self.undeferred(0),
                5 => {
                    let begin = self.now;
                    self.now += 3;
                    self.put(thread, 4, &[], |b| _ = b.u64(begin).u32(10));
                }
                _ => self.task(thread, &mut last),
            }
        }
        for thread in 0..team {
            self.plain(thread, 19, &[]);
        }
        self.plain(0, 17, &[number]);
    }

    fn workshare(&mut self, thread: usize) {
        self.put(thread, 20, &[2], |b| _ = b.i64(0).i64(10).i64(1).i64(1));
        for _ in 0..self.random.below(3) {
            self.put(thread, 23, &[], |b| _ = b.i64(0).i64(1));
            self.plain(thread, 25, &[]);
        }
        self.plain(thread, 26, &[0]);
        self.plain(thread, 32, &[2]);
        self.plain(thread, 33, &[2]);
    }

    fn locked(&mut self, thread: usize) {
        let kind = 1 + self.random.below(6);
        for id in [34, 35, 36] {
            self.put(thread, id, &[kind], |b| _ = b.addr(0x700));
        }
        self.put(thread, 34, &[5], |b| _ = b.addr(0x708));
        self.put(thread, 37, &[5], |b| _ = b.addr(0x708));
    }

    fn undeferred(&mut self, thread: usize) {
        self.seq += 1;
        let seq = u64::from(self.seq);
        self.put(thread, 40, &[seq], |b| _ = b.addr(0x600).u32(0x8000).u32(0));
        self.plain(thread, 42, &[thread as u64, seq]);
        self.plain(thread, 43, &[]);
        self.plain(thread, 41, &[]);
        self.tasks += 1;
    }

    fn task(&mut self, thread: usize, last: &mut BTreeMap<u64, u32>) {
        self.seq += 1;
        let (seq, address) = (self.seq, 0x900 + 8 * self.random.below(3));
        self.put(0, 40, &[u64::from(seq)], |b| {
            _ = b.addr(0x500).u32(8).deps(&[(address, 2)])
        });
        self.plain(0, 41, &[]);
        self.plain(thread, 42, &[0, u64::from(seq)]);
        self.plain(thread, 43, &[]);
        self.tasks += 1;
        self.edges += u64::from(last.insert(address, seq).is_some());
    }

    fn run(mut self, regions: u64) -> (Vec<Vec<u8>>, u64, u64) {
        for thread in 0..self.streams.len() {
            self.plain(thread, 1, &[0, u64::from(thread == 0)]);
        }
        for number in 1..=regions {
            self.region(number);
        }
        for thread in (0..self.streams.len()).rev() {
            self.plain(thread, 2, &[]);
        }
        let files = self
            .streams
            .into_iter()
            .map(|stream| stream.finish().unwrap())
            .collect();
        (files, self.tasks, self.edges)
    }
}

fn write_files(dir: &Path, layout: Layout, files: &[Vec<u8>]) {
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    for (thread, bytes) in files.iter().enumerate() {
        std::fs::write(synth::stream_path(dir, thread as u32), bytes).unwrap();
    }
}

fn merge(dirs: &[&Path], comms: Comms) -> (Stats, Prv) {
    let out = tempfile::tempdir().unwrap();
    let session = Session::open(dirs).unwrap();
    let names: Vec<Box<dyn Names>> = session
        .traces()
        .iter()
        .map(|_| Box::new(Symbols) as Box<dyn Names>)
        .collect();
    let mut last = (0, 0);
    let stats = paraver::write(
        &session,
        &names,
        &Options { comms },
        &out.path().join("o"),
        &mut |done, total| {
            assert!(done >= last.0 && done <= total);
            last = (done, total);
        },
    )
    .unwrap();
    assert!(last.1 > 0 && last.0 == last.1);
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 3);
    (stats, Prv::read(out.path()))
}

/// A `.prv` file, parsed without the help of what wrote it.
struct Prv {
    end: u64,
    /// (line, numbers) of each record.
    records: Vec<Vec<u64>>,
    header: String,
    pcf: String,
    row: String,
}

impl Prv {
    fn read(dir: &Path) -> Self {
        let text = std::fs::read_to_string(dir.join("o.prv")).unwrap();
        let mut lines = text.lines();
        let header = lines.next().unwrap();
        let end = header
            .split("):")
            .nth(1)
            .unwrap()
            .split("_ns")
            .next()
            .unwrap()
            .parse()
            .unwrap();
        let records = lines
            .map(|line| {
                line.split(':')
                    .map(|field| field.parse().unwrap())
                    .collect()
            })
            .collect();
        Self {
            end,
            records,
            header: header.to_owned(),
            pcf: std::fs::read_to_string(dir.join("o.pcf")).unwrap(),
            row: std::fs::read_to_string(dir.join("o.row")).unwrap(),
        }
    }

    fn check(&self) {
        let mut last = 0;
        let mut reached: BTreeMap<[u64; 2], u64> = BTreeMap::new();
        let mut lives: BTreeMap<[u64; 2], (u64, u64)> = BTreeMap::new();
        let mut stacks: BTreeMap<([u64; 2], u64), Vec<u64>> = BTreeMap::new();
        for record in &self.records {
            assert!(record[5] >= last, "{record:?} after {last}");
            last = record[5];
            let thread = [record[3], record[4]];
            match record[0] {
                1 => {
                    let before = reached.insert(thread, record[6]).unwrap_or(0);
                    assert!(
                        record[5] == before && record[6] > before,
                        "{record:?} behind {before}"
                    );
                    if record[7] == 2 && before == 0 {
                        lives.insert(thread, (record[6], self.end));
                    } else if record[7] == 2 {
                        lives.entry(thread).or_insert((0, self.end)).1 = record[5];
                    }
                }
                2 => {
                    let types = record[6..].chunks_exact(2).map(|pair| pair[0]);
                    let different: std::collections::BTreeSet<u64> = types.clone().collect();
                    assert_eq!(different.len(), types.count(), "a type twice: {record:?}");
                    for pair in record[6..]
                        .chunks_exact(2)
                        .filter(|pair| OWN_TYPES.contains(&pair[0]))
                    {
                        self.nest(stacks.entry((thread, pair[0])).or_default(), pair, record);
                    }
                }
                _ => assert!(
                    record[5] <= record[6] && record[6] <= record[11] && record[11] <= record[12],
                    "{record:?}"
                ),
            }
        }
        assert!(reached.values().all(|end| *end == self.end), "{reached:?}");
        for ((thread, kind), stack) in stacks {
            assert!(stack.is_empty(), "{kind} is open on {thread:?}: {stack:?}");
        }
        for record in self.records.iter().filter(|record| record[0] == 3) {
            for (thread, time) in [
                ([record[3], record[4]], record[5]),
                ([record[9], record[10]], record[11]),
            ] {
                let (born, dead) = lives.get(&thread).copied().unwrap_or((0, self.end));
                assert!(
                    (born..=dead).contains(&time),
                    "{record:?} is outside {born}..{dead}"
                );
            }
        }
    }

    fn nest(&self, stack: &mut Vec<u64>, pair: &[u64], record: &[u64]) {
        assert!(
            self.pcf.contains(&format!("    {}    ", pair[0])),
            "{pair:?} is not in the .pcf"
        );
        match pair {
            // Numbers, not intervals.
            [65_000_000 | 65_000_001 | 40_000_033 | 20_000_030, _] => {}
            [60_000_006 | 60_000_007 | 60_000_033 | 20_000_012, 3] => stack.push(3),
            [
                60_000_006 | 60_000_007 | 60_000_033 | 20_000_012,
                value @ (5 | 6),
            ] => {
                assert_eq!(
                    stack.pop(),
                    Some(if *value == 6 { 3 } else { 6 }),
                    "{record:?}"
                );
                stack.push(*value);
            }
            [_, 0] => assert!(stack.pop().is_some(), "{pair:?} ends nothing: {record:?}"),
            [_, value] => stack.push(*value),
            _ => unreachable!(),
        }
    }

    fn tags(&self, tag: u32) -> u64 {
        self.records
            .iter()
            .filter(|record| record[0] == 3 && record[14] == u64::from(tag))
            .count() as u64
    }
}

#[test]
fn random_programs_give_sound_records() {
    for seed in 0..24 {
        let layout = synth::layouts()[seed as usize % 4];
        let dir = tempfile::tempdir().unwrap();
        let (files, tasks, edges) = Program::new(layout, 1 + seed as u32 % 4, seed).run(6);
        write_files(dir.path(), layout, &files);
        let (stats, prv) = merge(&[dir.path()], Comms::All);
        prv.check();
        assert_eq!(
            (stats.tasks, stats.creations),
            (tasks, tasks),
            "seed {seed}"
        );
        assert_eq!(
            (prv.tags(TAG_CREATE), prv.tags(TAG_DEPEND)),
            (tasks, edges),
            "seed {seed}"
        );
        assert!(prv.pcf.contains("f400 (omp parallel a.c:1024)"));
    }
}

#[test]
fn programs_cut_anywhere_give_sound_records() {
    for seed in 0..60u64 {
        let layout = synth::layouts()[seed as usize % 4];
        let dir = tempfile::tempdir().unwrap();
        let (mut files, ..) = Program::new(layout, 3, seed).run(4);
        let mut random = Random(seed);
        for bytes in &mut files {
            let keep = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes.truncate(keep),
                1 => bytes[keep] ^= 0x55,
                _ => drop(bytes.drain(..keep & !3)),
            }
        }
        write_files(dir.path(), layout, &files);
        let out = tempfile::tempdir().unwrap();
        let session = Session::open(&[dir.path()]).unwrap();
        if session.traces()[0].threads().is_empty() {
            continue;
        }
        paraver::write(
            &session,
            &[],
            &Options::default(),
            &out.path().join("o"),
            &mut |_, _| {},
        )
        .unwrap();
        Prv::read(out.path()).check();
    }
}

#[test]
fn communications_are_written_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::tasks(dir.path(), layout, 3, 4000).unwrap();
    for (comms, create, depend) in [
        (Comms::None, 0, 0),
        (Comms::Create, 1000, 0),
        (Comms::Depend, 0, 936),
        (Comms::All, 1000, 936),
    ] {
        let (stats, prv) = merge(&[dir.path()], comms);
        prv.check();
        assert_eq!(
            (prv.tags(TAG_CREATE), prv.tags(TAG_DEPEND)),
            (create, depend)
        );
        assert_eq!((stats.creations, stats.depends), (create, depend));
    }
}

#[test]
fn processes_become_tasks_of_one_application() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[3];
    let (files, ..) = Program::new(layout, 2, 1).run(2);
    write_files(dir.path(), layout, &files);
    write_files(&dir.path().join("fork-9"), layout, &files);
    let (_, prv) = merge(&[dir.path()], Comms::All);
    prv.check();
    let mut threads: Vec<_> = prv
        .records
        .iter()
        .map(|record| (record[1], record[3], record[4]))
        .collect();
    threads.sort_unstable();
    threads.dedup();
    assert_eq!(threads, [(1, 1, 1), (2, 1, 2), (3, 2, 1), (4, 2, 2)]);
}

#[test]
fn output_is_the_same_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[1];
    let (files, ..) = Program::new(layout, 4, 5).run(5);
    write_files(dir.path(), layout, &files);
    let bytes = || {
        let out = tempfile::tempdir().unwrap();
        let session = Session::open(&[dir.path()]).unwrap();
        paraver::write(
            &session,
            &[],
            &Options::default(),
            &out.path().join("o"),
            &mut |_, _| {},
        )
        .unwrap();
        ["prv", "pcf", "row"]
            .map(|extension| std::fs::read(out.path().join("o").with_extension(extension)).unwrap())
    };
    assert_eq!(bytes(), bytes());
}

#[test]
fn the_five_states_add_up_to_the_life_of_each_thread() {
    for seed in 0..20 {
        let layout = synth::layouts()[seed as usize % 4];
        let dir = tempfile::tempdir().unwrap();
        let (files, ..) = Program::new(layout, 4, seed).run(6);
        write_files(dir.path(), layout, &files);
        let trace = Trace::open(dir.path()).unwrap();
        let mut model = Interpreter::new(trace.threads());
        let mut sums = vec![0; trace.threads().len()];
        let mut reached: Vec<u64> = trace
            .threads()
            .iter()
            .map(|thread| thread.first_time)
            .collect();
        let mut add = Intervals(|interval: instr_trace::model::Interval| {
            assert_eq!(interval.begin, reached[interval.position]);
            reached[interval.position] = interval.end;
            sums[interval.position] += interval.end - interval.begin;
        });
        let mut merge = trace.merge();
        while let Some(event) = merge.next().unwrap() {
            let position = trace.position(event.thread).unwrap();
            model.event(position, &event, &mut add);
        }
        model.finish(&mut add);
        for (thread, sum) in trace.threads().iter().zip(sums) {
            assert_eq!(sum, thread.last_time - thread.first_time);
        }
    }
}

#[test]
fn states_are_those_of_a_region_computed_by_hand() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut master = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
    let mut worker = StreamWriter::create(dir.path(), layout, 1, 4096).unwrap();
    let at = |time: u64| START_TICKS + time;
    master.event(at(0), 1, |b| _ = b.u32(0).u32(1)).unwrap();
    master
        .event(at(100), 16, |b| _ = b.u32(1).addr(1).u32(2).u32(0))
        .unwrap();
    master
        .event(at(110), 18, |b| _ = b.u32(0).u32(1).u32(0).u32(2))
        .unwrap();
    worker.event(at(115), 1, |b| _ = b.u32(0).u32(0)).unwrap();
    worker
        .event(at(120), 18, |b| _ = b.u32(0).u32(1).u32(1).u32(2))
        .unwrap();
    master
        .event(at(130), 40, |b| _ = b.u32(5).addr(2).u32(0).u32(0))
        .unwrap();
    master.event(at(140), 41, |_| {}).unwrap();
    worker.event(at(150), 19, |_| {}).unwrap();
    worker.event(at(160), 42, |b| _ = b.u32(0).u32(5)).unwrap();
    worker.event(at(175), 43, |_| {}).unwrap();
    master.event(at(180), 32, |b| _ = b.u32(3)).unwrap();
    master.event(at(190), 33, |b| _ = b.u32(3)).unwrap();
    master.event(at(200), 19, |_| {}).unwrap();
    master.event(at(210), 17, |b| _ = b.u32(1)).unwrap();
    master.event(at(300), 2, |_| {}).unwrap();
    worker.event(at(310), 2, |_| {}).unwrap();
    master.finish().unwrap();
    worker.finish().unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let mut sums: BTreeMap<(usize, State), u64> = BTreeMap::new();
    let mut model = Interpreter::new(trace.threads());
    let mut merge = trace.merge();
    let mut add = Intervals(|interval: instr_trace::model::Interval| {
        *sums.entry((interval.position, interval.state)).or_default() +=
            interval.end - interval.begin;
    });
    while let Some(event) = merge.next().unwrap() {
        model.event(event.thread as usize, &event, &mut add);
    }
    model.finish(&mut add);
    let expected = [
        ((0, State::Useful), 100 + 20 + 40 + 10 + 90),
        ((0, State::Synchronization), 10 + 10),
        ((0, State::Scheduling), 10 + 10),
        // Idle for 5 before its first region, 30 in the body, 15 in the task; 10 + 35 in the closing barrier; then idle.
        ((1, State::Useful), 30 + 15),
        ((1, State::Synchronization), 10 + 35),
        ((1, State::Idle), 5 + 100),
    ];
    assert_eq!(sums, expected.into());
}

/// Thread, time and value of the events of one type.
fn events_of(prv: &Prv, kind: u64) -> Vec<(u64, u64, u64)> {
    let events = prv.records.iter().filter(|record| record[0] == 2);
    let values = events.flat_map(|record| record[6..].chunks(2).map(move |pair| (record, pair)));
    values
        .filter(|(_, pair)| pair[0] == kind)
        .map(|(record, pair)| (record[4], record[5], pair[1]))
        .collect()
}

#[test]
fn numbers_of_tasks_are_running_totals_of_the_process() {
    const CREATED: u64 = 65_000_000;
    const EXECUTED: u64 = 65_000_001;
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut first = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
    let mut second = StreamWriter::create(dir.path(), layout, 1, 4096).unwrap();
    let at = |time: u64| START_TICKS + time;
    first.thread_begin(at(0), 1, 1).unwrap();
    second.thread_begin(at(0), 2, 0).unwrap();
    // The first thread creates five tasks, the second runs them; then three, of which it runs two itself.
    for (begin, region, tasks) in [(100, 1, 0..5), (1100, 2, 5..8)] {
        first.parallel_begin(at(begin), region, 1, 2, 0u32).unwrap();
        first
            .implicit_begin(at(begin + 10), (0, region), 0, 2)
            .unwrap();
        second
            .implicit_begin(at(begin + 10), (0, region), 1, 2)
            .unwrap();
        for seq in tasks {
            let time = at(begin + 20 + 20 * u64::from(seq));
            first.task_create(time, seq, 0x2000, 0, &[]).unwrap();
            first.task_created(time + 1).unwrap();
            let runs = if seq < 6 { &mut second } else { &mut first };
            runs.task_begin(time + 2, (0, seq)).unwrap();
            runs.task_end(time + 3).unwrap();
        }
        first.implicit_end(at(begin + 500)).unwrap();
        second.implicit_end(at(begin + 500)).unwrap();
        first.parallel_end(at(begin + 510), region).unwrap();
    }
    for mut stream in [first, second] {
        stream.thread_end(at(2000)).unwrap();
        stream.finish().unwrap();
    }
    let (_, prv) = merge(&[dir.path()], Comms::All);
    prv.check();
    let values = |kind| -> Vec<(u64, u64)> {
        let events = events_of(&prv, kind).into_iter();
        events.map(|(row, _, value)| (row, value)).collect()
    };
    // Both threads at the ends of both regions.
    assert_eq!(values(CREATED), [(1, 5), (2, 5), (1, 8), (2, 8)]);
    assert_eq!(values(EXECUTED), values(CREATED));
}

#[test]
fn behind_a_loss_the_task_of_the_packet_runs() {
    const TASK_FUNCTION: u64 = 60_000_023;
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let at = |time: u64| START_TICKS + time;
        let mut main = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
        main.event(at(0), 1, |b| _ = b.u32(50).u32(1)).unwrap();
        let create = |b: &mut synth::Body| _ = b.u32(1).addr(0x2000).u32(8).u32(0);
        main.event(at(10), 40, create).unwrap();
        main.event(at(20), 41, |_| {}).unwrap();
        main.close_packet().unwrap();
        // The begin of the task is lost, its end is not.
        main.context.discarded = 2;
        main.context.task = (0, 1);
        main.event(at(50), 8, |b| _ = b.u32(7).u64(1)).unwrap();
        main.event(at(60), 43, |_| {}).unwrap();
        main.event(at(90), 2, |_| {}).unwrap();
        main.finish().unwrap();
        let (_, prv) = merge(&[dir.path()], Comms::All);
        prv.check();
        let runs: Vec<(u64, bool)> = events_of(&prv, TASK_FUNCTION)
            .into_iter()
            .map(|(_, time, function)| (time, function != 0))
            .collect();
        assert_eq!(runs, [(50, true), (60, false)], "{layout:?}");
    }
}

#[test]
fn threads_tell_their_processors_by_switches_and_by_their_own_events() {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let open = |thread| StreamWriter::create(dir.path(), layout, thread, 4096).unwrap();
        let at = |time: u64| START_TICKS + time;
        let (mut main, mut late) = (open(0), open(1));
        main.event(at(0), 1, |b| _ = b.u32(50).u32(1)).unwrap();
        main.event(at(10), 89, |b| _ = b.u32(0)).unwrap();
        main.event(at(600), 89, |b| _ = b.u32(2)).unwrap();
        main.event(at(1000), 2, |_| {}).unwrap();
        late.event(at(450), 1, |b| _ = b.u32(60).u32(0)).unwrap();
        late.event(at(900), 2, |_| {}).unwrap();
        let (mut first, mut third) = (open(2), open(3));
        first.event(at(0), 1, |b| _ = b.u32(0).u32(4)).unwrap();
        first
            .event(at(300), 88, |b| _ = b.u32(0).u32(50).u32(60))
            .unwrap();
        // The same switch that the thread itself tells at 600.
        third.event(at(0), 1, |b| _ = b.u32(2).u32(4)).unwrap();
        third
            .event(at(500), 88, |b| _ = b.u32(2).u32(7).u32(50))
            .unwrap();
        for mut stream in [first, third] {
            stream.event(at(1000), 2, |_| {}).unwrap();
            stream.finish().unwrap();
        }
        main.finish().unwrap();
        late.finish().unwrap();
        let (_, prv) = merge(&[dir.path()], Comms::All);
        prv.check();
        assert_eq!(
            events_of(&prv, 20_000_030),
            [
                (1, 10, 1),
                (1, 300, 0),
                (2, 450, 1), // it runs since 300, and is seen from its begin
                (1, 500, 3),
                (2, 900, 0),
                (1, 1000, 0),
            ]
        );
        assert_eq!(
            events_of(&prv, 40_000_033),
            [(1, 10, 0), (2, 450, 0), (1, 500, 2)]
        );
        // Records are on the processors that the node has, or on none.
        let on = |kind: u64, thread: u64| -> Vec<(u64, u64, u64)> {
            let of = prv
                .records
                .iter()
                .filter(|r| (r[0], r[4]) == (kind, thread));
            of.map(|r| (r[1], r[5], r[6])).collect()
        };
        assert_eq!(
            on(1, 1),
            [(0, 0, 10), (1, 10, 300), (0, 300, 500), (3, 500, 1000)]
        );
        assert_eq!(on(1, 2), [(0, 0, 450), (1, 450, 900), (0, 900, 1000)]);
        let header = &prv.header;
        assert!(header.contains("_ns:1(3):1:1(2:1)"), "{header}");
        assert!(prv.row.starts_with("LEVEL CPU SIZE 3\n"), "{}", prv.row);
        for label in [
            "Executing CPU",
            "Processor of the thread",
            "\n3      CPU 2\n",
        ] {
            assert!(prv.pcf.contains(label), "{label}");
        }
    }
}
