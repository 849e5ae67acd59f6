//! What is shown: numbers of a moment.

use std::time::Instant;

use serde::Serialize;

use super::process::{Process, State};
use super::watch::number;
use crate::report::timeline::{STATE_NAMES, STATES};

/// Version of the record.
const FORMAT: u32 = 1;
/// Regions and tasks that are listed.
const MOST_BODIES: usize = 100;

/// All processes.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Picture {
    pub(super) format: u32,
    pub(super) processes: Vec<Line>,
}

/// A process.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Line {
    pub(super) directory: String,
    pub(super) program: String,
    pub(super) pid: u64,
    pub(super) state: State,
    pub(super) elapsed_ns: u64,
    pub(super) bytes: u64,
    pub(super) events: u64,
    pub(super) events_per_s: f64,
    pub(super) discarded: u64,
    pub(super) regions: u64,
    pub(super) regions_running: u64,
    pub(super) tasks_created: u64,
    pub(super) tasks_executed: u64,
    pub(super) tasks_running: u64,
    pub(super) tasks_not_begun: u64,
    pub(super) heap_bytes: Option<u64>,
    pub(super) threads: Vec<Thread>,
    pub(super) bodies: Vec<Body>,
}

/// A thread.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Thread {
    pub(super) thread: u32,
    pub(super) os_tid: u32,
    pub(super) name: String,
    /// `ended`, or a state.
    pub(super) state: &'static str,
    /// How long it is in this state.
    pub(super) since_ns: u64,
    /// Region or task.
    pub(super) running: String,
    /// Share of user code since the last look.
    pub(super) useful: Option<f64>,
    pub(super) useful_ns: u64,
    pub(super) sync_ns: u64,
    pub(super) sched_ns: u64,
    pub(super) idle_ns: u64,
    pub(super) flush_ns: u64,
    pub(super) events: u64,
    pub(super) events_per_s: f64,
    /// That it ran on last; null: the system does not say.
    pub(super) processor: Option<u32>,
}

/// A region or task.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Body {
    pub(super) label: String,
    pub(super) task: bool,
    pub(super) executions: u64,
    pub(super) ns: u64,
    /// Threads that run it.
    pub(super) threads: u64,
}

/// By thread: user code and all of its time, ns, and events.
type Counts = Vec<(u64, u64, u64)>;

/// What was there at the last look.
#[derive(Debug, Default)]
pub(super) struct Before {
    at: Option<Instant>,
    processes: Vec<Counts>,
}

/// A picture of this moment; rates are since the one before.
pub(super) fn take(processes: &mut [Process], before: &mut Before) -> Picture {
    let now = Instant::now();
    let seconds = before.at.map(|at| now.duration_since(at).as_secs_f64());
    before.at = Some(now);
    before
        .processes
        .resize_with(processes.len(), Default::default);
    let mut picture = Picture {
        format: FORMAT,
        processes: Vec::new(),
    };
    for (process, before) in processes.iter_mut().zip(&mut before.processes) {
        picture.processes.push(line(process, before, seconds));
    }
    picture
}

fn line(process: &mut Process, before: &mut Counts, seconds: Option<f64>) -> Line {
    let rate = |more: u64| seconds.map_or(0.0, |seconds| more as f64 / seconds.max(1e-3));
    let events_before: u64 = before.iter().map(|(_, _, events)| events).sum();
    let threads = threads(process, before, seconds);
    let watch = &process.followed.watch;
    let mut bodies: Vec<_> = watch
        .bodies
        .iter()
        .map(|(key, body)| (*key, *body))
        .collect();
    bodies.sort_by_key(|(key, body)| (std::cmp::Reverse(body.ns), *key));
    let runs = |key| {
        watch
            .threads
            .iter()
            .filter(|thread| thread.body == Some(key))
            .count() as u64
    };
    let runs: Vec<u64> = bodies.iter().map(|(key, _)| runs(*key)).collect();
    let bodies = bodies
        .into_iter()
        .zip(runs)
        .take(MOST_BODIES)
        .map(|((key, body), threads)| Body {
            label: process.label(key),
            task: key.1,
            executions: body.executions,
            ns: body.ns,
            threads,
        });
    let bodies = bodies.collect();
    let (followed, watch) = (&process.followed, &process.followed.watch);
    Line {
        directory: process.dir.display().to_string(),
        program: process.program.clone(),
        pid: process.pid,
        state: process.state,
        elapsed_ns: process.now,
        bytes: process.bytes,
        events: followed.events,
        events_per_s: rate(followed.events.saturating_sub(events_before)),
        discarded: process.discarded,
        regions: watch.regions,
        regions_running: watch.open_regions,
        tasks_created: watch.created,
        tasks_executed: watch.executed,
        tasks_running: watch.running,
        tasks_not_begun: watch.created.saturating_sub(watch.executed),
        heap_bytes: watch.heap,
        threads,
        bodies,
    }
}

fn threads(process: &mut Process, before: &mut Counts, seconds: Option<f64>) -> Vec<Thread> {
    let (now, runs, pid) = (process.now, process.state == State::Running, process.pid);
    let all: Vec<_> = process.followed.watch.threads.clone();
    before.resize(all.len(), (0, 0, 0));
    let mut lines = Vec::with_capacity(all.len());
    for (position, thread) in all.iter().enumerate() {
        let mut ns = thread.ns;
        let (mut state, mut since) = (if thread.ended { "ended" } else { "not begun" }, 0);
        if let Some((own, begin)) = thread.now {
            state = STATE_NAMES[number(own)];
            since = now.saturating_sub(begin);
            ns[number(own)] = ns[number(own)].saturating_add(since);
        }
        let whole: u64 = ns.iter().fold(0, |sum, ns| sum.saturating_add(*ns));
        let (useful_before, whole_before, events_before) = before[position];
        let passed = whole.saturating_sub(whole_before);
        let useful =
            (passed > 0).then(|| ns[0].saturating_sub(useful_before) as f64 / passed as f64);
        before[position] = (ns[0], whole, thread.events);
        let running = thread
            .body
            .map(|body| process.label(body))
            .unwrap_or_default();
        let info = &process.followed.threads[position];
        let alive = runs && !thread.ended && info.os_tid != 0;
        let of: [u64; STATES] = ns;
        lines.push(Thread {
            thread: info.index,
            os_tid: info.os_tid,
            name: info.name.clone(),
            state,
            since_ns: since,
            running,
            useful: useful.map(|useful| useful.min(1.0)),
            useful_ns: of[0],
            sync_ns: of[1],
            sched_ns: of[2],
            idle_ns: of[3],
            flush_ns: of[4],
            events: thread.events,
            events_per_s: seconds.map_or(0.0, |seconds| {
                thread.events.saturating_sub(events_before) as f64 / seconds.max(1e-3)
            }),
            processor: alive.then(|| processor(pid, info.os_tid)).flatten(),
        });
    }
    lines
}

/// The processor that a thread ran on last: the 39th field of its `stat`; the second is its name in brackets, which may have blanks.
fn processor(pid: u64, tid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split(' ').nth(36)?.parse().ok()
}
