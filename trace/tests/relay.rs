//! A sink that works on a thread of its own gets the calls that it would get at once, in the same order.

use instr_trace::Trace;
use instr_trace::event::RegionId;
use instr_trace::model::{
    Activity, At, Begin, Call, End, Interval, Mark, Memory, Ran, Reading, Run, Sample, Scheduled,
    Since, Sink, Span, State, Switch, relayed, replay, replay_ahead,
};
use instr_trace::synth::random::{self, Damage, Recipe};
use instr_trace::synth::{self, START_TICKS, StreamWriter};

/// Writes down what it is called with.
#[derive(Default)]
struct Log(Vec<String>);

impl Log {
    fn add(&mut self, what: std::fmt::Arguments<'_>) {
        self.0.push(what.to_string());
    }
}

impl Sink for Log {
    const TIMES: bool = false;
    const PROCESSORS: bool = true;

    fn process(&mut self, process: usize) {
        self.add(format_args!("process {process}"));
    }
    fn thread_begin(&mut self, at: At) {
        self.add(format_args!("thread begins {at:?}"));
    }
    fn thread_end(&mut self, at: At) {
        self.add(format_args!("thread ends {at:?}"));
    }
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.add(format_args!("begin {at:?} {span:?} {how:?}"));
    }
    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        self.add(format_args!("end {at:?} {span:?} {how:?}"));
    }
    fn body(&mut self, at: At, body: Option<&Span>) {
        self.add(format_args!("body {at:?} {body:?}"));
    }
    fn region_end(&mut self, at: At, region: RegionId, members: &[usize]) {
        self.add(format_args!("region {at:?} {region:?} {members:?}"));
    }
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Depend { task, entries } => {
                let entries: Vec<_> = entries.collect();
                self.add(format_args!("depend {at:?} {task:?} {entries:?}"));
            }
            other => self.add(format_args!("mark {at:?} {other:?}")),
        }
    }
    fn state(&mut self, at: At, state: State) {
        self.add(format_args!("state {at:?} {state:?}"));
    }
    fn activity(&mut self, at: At, activity: Activity) {
        self.add(format_args!("activity {at:?} {activity:?}"));
    }
    fn interval(&mut self, interval: Interval) {
        self.add(format_args!("{interval:?}"));
    }
    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        self.add(format_args!("on {at:?} {processor:?}"));
    }
    fn trace_end(&mut self) {
        self.add(format_args!("end of the trace"));
    }
}

/// Writes down all, with times and what is large.
#[derive(Default)]
struct All(Log);

impl Sink for All {
    const MEMORY: bool = true;
    const READINGS: bool = true;
    const SAMPLES: bool = true;
    const PROCESSORS: bool = true;

    fn thread_begin(&mut self, at: At) {
        self.0.thread_begin(at);
    }
    fn thread_end(&mut self, at: At) {
        self.0.thread_end(at);
    }
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.0.begin(at, span, how);
    }
    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        self.0
            .add(format_args!("end {at:?} {span:?} {how:?} {since:?}"));
    }
    fn body(&mut self, at: At, body: Option<&Span>) {
        self.0.body(at, body);
    }
    fn task_ran(&mut self, at: At, task: &Span, ran: Ran) {
        self.0.add(format_args!("ran {at:?} {task:?} {ran:?}"));
    }
    fn region_end(&mut self, at: At, region: RegionId, members: &[usize]) {
        self.0.region_end(at, region, members);
    }
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        self.0.mark(at, mark);
    }
    fn state(&mut self, at: At, state: State) {
        self.0.state(at, state);
    }
    fn activity(&mut self, at: At, activity: Activity) {
        self.0.activity(at, activity);
    }
    fn interval(&mut self, interval: Interval) {
        self.0.interval(interval);
    }
    fn trace_end(&mut self) {
        self.0.trace_end();
    }
    fn memory(&mut self, at: At, memory: &Memory) {
        self.0.add(format_args!("memory {at:?} {memory:?}"));
    }
    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        self.0.add(format_args!("reading {at:?} {reading:?}"));
    }
    fn sample(&mut self, at: At, sample: &Sample<'_>) {
        self.0.add(format_args!("sample {at:?} {sample:?}"));
    }
    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        self.0.on_cpu(at, processor);
    }
    fn scheduled(&mut self, at: At, state: Scheduled, lost: u32) {
        self.0
            .add(format_args!("scheduled {at:?} {state:?} {lost}"));
    }
    fn switch(&mut self, switch: &Switch) {
        self.0.add(format_args!("switch {switch:?}"));
    }
    fn ran(&mut self, run: &Run) {
        self.0.add(format_args!("run {run:?}"));
    }
}

#[test]
fn a_trace_that_is_read_ahead_gives_the_same_calls() {
    let folder = tempfile::tempdir().unwrap();
    let mut kinds = std::collections::BTreeMap::<String, usize>::new();
    for (number, damage) in Damage::EACH.into_iter().cycle().take(24).enumerate() {
        let dir = folder.path().join(number.to_string());
        let recipe = Recipe {
            seed: 900 + number as u64,
            threads: 1 + number as u32 % 4,
            constructs: if number == 0 { 2000 } else { 60 },
            damage,
            layout: synth::layouts()[number % synth::layouts().len()],
        };
        random::write(&dir, &recipe).unwrap();
        let trace = Trace::open(&dir).unwrap();
        let (mut expected, mut found) = (All::default(), All::default());
        replay(&trace, &mut expected).unwrap();
        replay_ahead(&trace, &mut found, true, |_| true).unwrap();
        assert!(found.0.0 == expected.0.0, "{recipe:?}");
        for line in &expected.0.0 {
            let kind = line.split(' ').next().unwrap_or_default();
            *kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }
    for kind in [
        "depend", "mark", "region", "ran", "memory", "reading", "sample", "switch", "run",
    ] {
        assert!(kinds.contains_key(kind), "{kind} of {kinds:?}");
    }
}

fn direct(trace: &Trace) -> Vec<String> {
    let mut log = Log::default();
    replay(trace, &mut log).unwrap();
    log.0
}

fn behind_a_relay(trace: &Trace, apart: bool, wants: impl Fn(&Call) -> bool) -> Vec<String> {
    let mut log = Log::default();
    relayed(&mut log, apart, wants, |sink| replay(trace, sink)).unwrap();
    log.0
}

#[test]
fn all_calls_come_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let (mut calls, mut kinds) = (0, std::collections::BTreeSet::new());
    for (number, damage) in Damage::EACH.into_iter().cycle().take(18).enumerate() {
        let dir = folder.path().join(number.to_string());
        let recipe = Recipe {
            seed: 500 + number as u64,
            threads: 1 + number as u32 % 4,
            constructs: if number == 0 { 2000 } else { 40 },
            damage,
            layout: synth::layouts()[number % synth::layouts().len()],
        };
        random::write(&dir, &recipe).unwrap();
        let trace = Trace::open(&dir).unwrap();
        let expected = direct(&trace);
        for apart in [false, true] {
            let found = behind_a_relay(&trace, apart, |_| true);
            assert!(found == expected, "{recipe:?}, apart: {apart}");
        }
        calls = calls.max(expected.len());
        let kind = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        kinds.extend(expected.iter().map(kind));
    }
    assert!(calls > 40_000, "several blocks: {calls}");
    for kind in ["depend", "mark", "region", "body", "state", "Interval"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
}

#[test]
fn what_is_not_wanted_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("t");
    synth::tasks(&dir, synth::layouts()[0], 3, 200_000).unwrap();
    let trace = Trace::open(&dir).unwrap();
    let wants = |call: &Call| matches!(call, Call::Depend(..) | Call::RegionEnd(..));
    let is_wanted = |line: &&String| line.starts_with("depend") || line.starts_with("region");
    let all = direct(&trace);
    let expected: Vec<_> = all.iter().filter(is_wanted).cloned().collect();
    assert!(expected.len() > 20_000, "{}", expected.len());
    assert!(behind_a_relay(&trace, true, wants) == expected);
}

/// Cannot go on after some calls.
struct Failing(usize);

impl Sink for Failing {
    const TIMES: bool = false;

    fn mark(&mut self, _at: At, _mark: Mark<'_>) {
        self.0 -= 1;
        assert_ne!(self.0, 0, "no further");
    }
}

/// Neither hangs nor hides it.
#[test]
#[should_panic(expected = "no further")]
fn a_panic_of_the_sink_is_passed_on() {
    let folder = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(folder.path(), layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(folder.path(), layout, 0, 1 << 16).unwrap();
    for number in 0..200_000 {
        stream.user_event(START_TICKS + number, 1, number).unwrap();
    }
    stream.finish().unwrap();
    let trace = Trace::open(folder.path()).unwrap();
    let _ = relayed(
        &mut Failing(1000),
        true,
        |_| true,
        |sink| replay(&trace, sink),
    );
}
