//! Counts and times of the time line, and what is shown of the heap.

use std::collections::BTreeMap;

use instr_trace::event::{MutexKind, SyncKind};
use serde_json::Value;

use super::facts::{Count, Facts};
use super::{Differences, STATES, int};
use crate::prv::{self, Object};

const PARALLEL: u64 = 60_000_001;
const PARALLEL_FUNCTION: u64 = 60_000_018;
const TASK_FUNCTION: u64 = 60_000_023;
const CREATED_FUNCTION: u64 = 60_000_024;
/// Tasks that the process has created and begun so far.
const TASKS_CREATED: u64 = 65_000_000;
const TASKS_EXECUTED: u64 = 65_000_001;
const USER_REGION: u64 = 20_000_000;
const CALL: u64 = 20_000_001;
const FUNCTION: u64 = 60_000_019;
const SCHEDULED: u64 = 20_000_031;
const MEMORY: u64 = 40_000_040;
const IN_USE: u64 = 20_000_010;
/// A lock is held.
const HELD: i128 = 6;
/// Types that stand for user types that are taken.
const TAKEN: std::ops::Range<u64> = 23_000_000..24_000_000;

/// Duration, and states of each thread in the time line.
pub(super) fn times(all: &mut Differences, facts: &Facts, summary: &Value, prv: &prv::Trace) {
    let duration = int(&summary["duration_ns"]);
    all.equal("duration, summary and .prv", duration, prv.header.end);
    let mut shown: BTreeMap<(Object, u32), u64> = BTreeMap::new();
    for state in &prv.states {
        *shown.entry((state.object, state.state)).or_default() += state.end - state.begin;
    }
    for position in 0..facts.threads {
        for (_, field, number) in STATES {
            let own = int(&summary["threads"][position][field]);
            let object = (1, 1, position as u32 + 1);
            let line = shown.get(&(object, number)).copied().unwrap_or(0);
            let what = format!("thread {position}, {field}, summary and .prv");
            all.equal(&what, own, line);
        }
    }
}

/// What the system did with each thread: a value lasts up to the next one.
pub(super) fn scheduling(all: &mut Differences, summary: &Value, prv: &prv::Trace) {
    let mut open: BTreeMap<Object, (i128, u64)> = BTreeMap::new();
    let mut shown: BTreeMap<(Object, i128), u64> = BTreeMap::new();
    for event in prv.events.iter().filter(|event| event.kind == SCHEDULED) {
        let next = (event.value, event.time);
        if let Some((value, begin)) = open.insert(event.object, next) {
            *shown.entry((event.object, value)).or_default() += event.time - begin;
        }
    }
    let left = open.values().filter(|(value, _)| *value != 0).count();
    all.equal("threads whose scheduling does not end, .prv", left, 0);
    let threads = summary["threads"].as_array().map_or(&[][..], Vec::as_slice);
    for (position, thread) in (1..).zip(threads) {
        let whole = &thread["scheduling"]["whole"];
        for (value, field) in [(1, "running_ns"), (2, "ready_ns"), (3, "blocked_ns")] {
            let line = shown.get(&((1, 1, position), value)).copied();
            let what = format!("thread {position}, {field}, summary and .prv");
            all.equal(&what, int(&whole[field]), line.unwrap_or(0));
        }
    }
}

/// Type of a wait in the time line, and the value of its begin.
fn sync_type(kind: SyncKind) -> (u64, i128) {
    match kind {
        SyncKind::ExplicitBarrier => (60_000_005, 1),
        SyncKind::ImplicitBarrier => (60_000_016, 1),
        SyncKind::Taskwait => (60_000_022, 1),
        SyncKind::TaskwaitDepend => (60_000_022, 2),
        SyncKind::TaskgroupEnd => (60_000_025, 2),
        SyncKind::Taskyield => (60_000_035, 1),
        SyncKind::DoacrossSink => (20_000_005, 2),
        SyncKind::Copyprivate => (20_000_006, 1),
        SyncKind::Reduction => (20_000_006, 2),
        SyncKind::TeamsEnd => (20_000_006, 3),
        SyncKind::Condition => (20_000_006, 5),
        SyncKind::ThreadBarrier => (20_000_006, 6),
        SyncKind::Semaphore => (20_000_006, 7),
        SyncKind::Join => (20_000_006, 8),
        SyncKind::Once => (20_000_006, 9),
        SyncKind::Future => (20_000_006, 10),
        _ => (20_000_006, 4),
    }
}

/// Type of a lock in the time line.
fn lock_type(kind: MutexKind) -> u64 {
    match kind {
        MutexKind::NamedCritical | MutexKind::Lock | MutexKind::NestLock => 60_000_006,
        MutexKind::Ordered => 60_000_033,
        MutexKind::Mutex | MutexKind::ReadLock | MutexKind::WriteLock | MutexKind::SpinLock => {
            20_000_012
        }
        _ => 60_000_007,
    }
}

/// Nonzero values of a type, and the times up to the 0 of each, by nesting on a thread.
fn shown(prv: &prv::Trace, kind: u64) -> Count {
    let mut open: BTreeMap<Object, Vec<u64>> = BTreeMap::new();
    let mut count = Count::default();
    for event in prv.events.iter().filter(|event| event.kind == kind) {
        let stack = open.entry(event.object).or_default();
        if event.value != 0 {
            count.count += 1;
            stack.push(event.time);
        } else if let Some(begin) = stack.pop() {
            count.ns = count.ns.saturating_add(event.time - begin);
        }
    }
    count
}

/// Counts and times of the time line.
pub(super) fn time_line(all: &mut Differences, facts: &Facts, prv: &prv::Trace) {
    let pairs = [
        ("regions", PARALLEL, facts.regions),
        ("implicit tasks", PARALLEL_FUNCTION, facts.implicit),
        ("task bodies", TASK_FUNCTION, facts.tasks),
        ("user regions", USER_REGION, facts.user_regions),
        ("calls", CALL, facts.calls),
        ("functions", FUNCTION, facts.functions),
    ];
    for (what, kind, model) in pairs {
        let expected = Count {
            count: model.begins,
            ns: model.visible.ns,
        };
        all.equal(&format!("{what}, .prv"), shown(prv, kind), expected);
    }
    let created = shown(prv, CREATED_FUNCTION).count;
    all.equal(
        "task constructs, .prv",
        created,
        facts.created + facts.empty_tasks + facts.taskloops + facts.constructs_again,
    );
    pending(all, prv);
    let values = |kind: u64, value: i128| {
        let of = |event: &&prv::Event| event.kind == kind && event.value == value;
        prv.events.iter().filter(of).count() as u64
    };
    let starts = values(60_000_025, 1);
    all.equal("begins of taskgroups, .prv", starts, facts.taskgroups);
    let mut waits: BTreeMap<(u64, i128), u64> = BTreeMap::new();
    for (kind, shown) in &facts.syncs {
        *waits.entry(sync_type(*kind)).or_default() += shown.begins;
    }
    for ((kind, value), begins) in waits {
        // Posts of a doacross loop have the same type.
        all.equal(
            &format!("waits {kind} {value}, .prv"),
            values(kind, value),
            begins,
        );
    }
    let mut holds: BTreeMap<u64, u64> = BTreeMap::new();
    for (kind, held) in &facts.holds {
        *holds.entry(lock_type(*kind)).or_default() += held;
    }
    for (kind, held) in holds {
        all.equal(&format!("locks {kind}, .prv"), values(kind, HELD), held);
    }
    let (mut own, mut taken) = (BTreeMap::new(), 0);
    for event in &prv.events {
        if TAKEN.contains(&event.kind) {
            taken += 1;
        } else if facts.user_events.contains_key(&(event.kind as u32)) {
            *own.entry(event.kind as u32).or_default() += 1;
        }
    }
    let plain: BTreeMap<u32, u64> = facts
        .user_events
        .iter()
        .filter(|(kind, _)| (1..20_000_000).contains(*kind))
        .map(|(kind, count)| (*kind, *count))
        .collect();
    let shown = own.iter().filter(|(kind, _)| plain.contains_key(kind));
    let shown: BTreeMap<u32, u64> = shown.map(|(kind, count)| (*kind, *count)).collect();
    all.equal("user events, .prv", shown, plain);
    if facts
        .user_events
        .keys()
        .all(|kind| (1..20_000_000).contains(kind))
    {
        all.equal("user events of taken types, .prv", taken, 0);
    }
}

/// The running totals of tasks: they never fall, and no more tasks have begun than were created.
fn pending(all: &mut Differences, prv: &prv::Trace) {
    let of = |wanted: u64| {
        let events = prv.events.iter().filter(move |event| event.kind == wanted);
        events.map(|event| event.value)
    };
    let (created, executed): (Vec<_>, Vec<_>) =
        (of(TASKS_CREATED).collect(), of(TASKS_EXECUTED).collect());
    all.equal("totals of tasks", created.len(), executed.len());
    all.equal("tasks created do not fall", created.is_sorted(), true);
    all.equal("tasks executed do not fall", executed.is_sorted(), true);
    let fits = created
        .iter()
        .zip(&executed)
        .all(|(created, executed)| created >= executed);
    all.equal("no more tasks begin than were created", fits, true);
}

/// The heap.
pub(super) fn memory(all: &mut Differences, facts: &Facts, summary: &Value, prv: &prv::Trace) {
    let memory = &summary["memory"];
    let in_use: Vec<i128> = prv
        .events
        .iter()
        .filter(|event| event.kind == IN_USE)
        .map(|event| event.value)
        .collect();
    let last = in_use.last().copied().unwrap_or(0);
    let most = in_use.iter().copied().max().unwrap_or(0);
    all.equal(
        "bytes in use at the end, .prv",
        last,
        i128::from(facts.in_use),
    );
    all.equal(
        "most bytes in use, .prv",
        most,
        i128::from(facts.most_in_use),
    );
    all.equal(
        "bytes in use at the end, summary",
        int(&memory["live_bytes"]),
        facts.in_use,
    );
    let most = int(&memory["live_high_water_bytes"]);
    all.equal("most bytes in use, summary", most, facts.most_in_use);
    let calls = prv.events.iter().filter(|event| {
        // 16 to 19 are calls of OpenMP's own allocators.
        event.kind == MEMORY && event.value != 0 && !(16..=19).contains(&event.value)
    });
    all.equal(
        "calls of the heap, .prv",
        calls.count() as u64,
        facts.heap_calls,
    );
    let (mut begun, mut time) = (BTreeMap::new(), 0);
    for event in prv.events.iter().filter(|event| event.kind == MEMORY) {
        match event.value {
            0 => {
                time += begun
                    .remove(&event.object)
                    .map_or(0, |begin| event.time - begin);
            }
            _ => _ = begun.entry(event.object).or_insert(event.time),
        }
    }
    all.equal("time in calls of the heap, .prv", time, facts.heap_ns);
}

/// What must hold when nothing is missing.
pub(super) fn in_order(all: &mut Differences, facts: &Facts, graph: &Value, prv: &prv::Trace) {
    let nodes = graph["nodes"].as_array().into_iter().flatten();
    let run = nodes.filter(|node| node["begin_ns"].is_u64() && node["kind"] != "taskwait");
    all.equal(
        "tasks that run, graph and model",
        run.count() as u64,
        facts.executed,
    );
    let total = prv.events.iter().rfind(|event| event.kind == TASKS_CREATED);
    let total = total.map_or(0, |event| event.value);
    all.equal(
        "tasks created, .prv",
        total,
        i128::from(facts.created + facts.pieces),
    );
    all.equal(
        "tasks created and executed",
        facts.created + facts.pieces,
        facts.executed,
    );
    all.equal(
        "regions begun and ended",
        facts.regions.begins,
        facts.regions.told.count,
    );
    all.equal(
        "implicit tasks begun and ended",
        facts.implicit.begins,
        facts.implicit.told.count,
    );
    all.equal(
        "times of tasks on threads",
        facts.tasks.visible.ns,
        facts.whole_ns,
    );
    for (kind, shown) in &facts.syncs {
        all.equal(
            &format!("{kind:?} begun and ended"),
            shown.begins,
            shown.told.count,
        );
    }
}
