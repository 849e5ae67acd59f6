//! What must be equal, and by which rules numbers differ.
//!
//! * A time line shows each begin of a span; the summary counts waits and tasks whose end was recorded, and regions whatever their end.
//! * A task that goes on elsewhere is shown once more in the time line, with all that is open in it, and is not executed once more.
//! * The graph gives a task when its outermost region ends. One that begins behind that, because events have changed places, was given
//!   as a task that did not run: a record that was given is not kept. The time line, which forgets as little of what comes, shows it.
//!   Arrows are not compared then.
//! * A region, or a region of the program's own, that is open in a task which is suspended and never resumed is shown and not counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::path::Path;

use instr_tests::prv::{self, Object, check};
use instr_trace::event::{MutexKind, SyncKind};
use instr_trace::model::State;
use serde_json::Value;

use crate::facts::{self, Count, Facts};
use crate::outputs::{self, Outputs};

const PARALLEL: u64 = 60_000_001;
const PARALLEL_FUNCTION: u64 = 60_000_018;
const TASK_FUNCTION: u64 = 60_000_023;
const CREATED_FUNCTION: u64 = 60_000_024;
/// Tasks that the process has created and begun so far.
const TASKS_CREATED: u64 = 65_000_000;
const TASKS_EXECUTED: u64 = 65_000_001;
const USER_REGION: u64 = 20_000_000;
const CALL: u64 = 20_000_001;
const MEMORY: u64 = 40_000_040;
const IN_USE: u64 = 20_000_010;
/// A lock is held.
const HELD: i128 = 6;
/// Types that stand for user types that are taken.
const TAKEN: std::ops::Range<u64> = 23_000_000..24_000_000;
/// The tag of a dependence.
const DEPEND: u64 = 60_000_001;

/// Collects what is not equal.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn equal<T: PartialEq + Debug>(&mut self, what: &str, left: T, right: T) {
        if left != right {
            self.0.push(format!("{what}: {left:?} and {right:?}"));
        }
    }
}

/// Compares all outputs of a trace; `sound`: nothing is missing in it.
pub(crate) fn compare(path: &Path, sound: bool) -> Result<(), String> {
    if instr_trace::Trace::open(path).is_err() {
        // Every command refuses it.
        return outputs::of(path).map_or(Ok(()), |_| Err("a refused trace is accepted".into()));
    }
    let (facts, outputs) = (facts::of(path)?, outputs::of(path)?);
    let mut all = Differences::default();
    summary(&mut all, &facts, &outputs.summary);
    states(&mut all, &facts, &outputs.summary);
    graph(&mut all, &outputs);
    if let Some(prv) = &outputs.prv {
        times(&mut all, &facts, &outputs.summary, prv);
        time_line(&mut all, &facts, prv);
        memory(&mut all, &facts, &outputs.summary, prv);
        arrows(&mut all, &facts, &outputs.graph, prv);
        if let Err(why) = check::check(prv, check::Options::default()) {
            all.0.push(why);
        }
        if sound {
            in_order(&mut all, &facts, &outputs.graph, prv);
        }
    }
    match all.0.is_empty() {
        true => Ok(()),
        false => Err(all.0.join("\n  ")),
    }
}

fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Sum of a field over a list.
fn sum(list: &Value, field: &str) -> u64 {
    let items = list.as_array().into_iter().flatten();
    items
        .map(|item| int(&item[field]))
        .fold(0, u64::saturating_add)
}

/// States of threads, their fields in the summary and numbers in the time line.
const STATES: [(State, &str, u32); 5] = [
    (State::Useful, "useful_ns", 1),
    (State::Synchronization, "sync_ns", 5),
    (State::Scheduling, "sched_ns", 7),
    (State::Idle, "idle_ns", 0),
    (State::Flush, "flush_ns", 24),
];

/// States of each thread, and useful time.
fn states(all: &mut Differences, facts: &Facts, summary: &Value) {
    for position in 0..facts.threads {
        for (state, field, _) in STATES {
            let model = facts.states.get(&(position, state)).copied().unwrap_or(0);
            let own = int(&summary["threads"][position][field]);
            let what = format!("thread {position}, {field}, summary and model");
            all.equal(&what, own, model);
        }
    }
    let efficiency = &summary["efficiency"];
    if efficiency.is_object() {
        let useful = facts.useful();
        all.equal(
            "useful time, efficiency and states",
            int(&efficiency["useful_ns"]),
            useful,
        );
        let by_thread = efficiency["useful_of_threads_ns"].as_array();
        let by_thread = by_thread.into_iter().flatten().map(int).sum();
        all.equal("useful time of threads and of all", by_thread, useful);
    }
}

/// Duration, and states of each thread in the time line.
fn times(all: &mut Differences, facts: &Facts, summary: &Value, prv: &prv::Trace) {
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

/// Counts and times of the summary.
fn summary(all: &mut Differences, facts: &Facts, summary: &Value) {
    let tasks = &summary["tasks"];
    let count = |field: &str| int(&tasks[field]);
    all.equal(
        "tasks created, summary",
        count("created"),
        facts.created + facts.pieces,
    );
    all.equal(
        "tasks executed, summary",
        count("executed"),
        facts.executed_told,
    );
    all.equal("undeferred, summary", count("undeferred"), facts.undeferred);
    all.equal(
        "empty tasks, summary",
        count("taskwaits_depend"),
        facts.empty_tasks,
    );
    all.equal("suspensions, summary", count("suspended"), facts.suspended);
    let functions = &summary["task_functions"];
    all.equal(
        "own times of tasks",
        sum(functions, "total_ns"),
        facts.own_ns,
    );
    all.equal(
        "times of tasks",
        sum(functions, "inclusive_ns"),
        facts.whole_ns,
    );
    let pairs = [
        ("regions", &summary["parallel_regions"], facts.regions.ended),
        (
            "user regions",
            &summary["regions"],
            facts.user_regions.ended,
        ),
        ("calls", &summary["calls"], facts.calls.told),
    ];
    for (what, list, ended) in pairs {
        let own = Count {
            count: sum(list, "count"),
            ns: sum(list, "total_ns"),
        };
        all.equal(&format!("{what}, summary"), own, ended);
    }
    let mut waits: BTreeMap<&str, Count> = BTreeMap::new();
    for (kind, shown) in &facts.syncs {
        let own = waits.entry(sync_name(*kind)).or_default();
        own.count += shown.told.count;
        own.ns = own.ns.saturating_add(shown.told.ns);
    }
    waits.retain(|_, own| own.count > 0);
    let own = summary["syncs"].as_array().into_iter().flatten();
    let own: BTreeMap<&str, Count> = own
        .map(|sync| {
            let times = Count {
                count: int(&sync["count"]),
                ns: int(&sync["total_ns"]),
            };
            (sync["kind"].as_str().unwrap_or(""), times)
        })
        .collect();
    all.equal("waits, summary", own, waits);
    let criticals = &summary["criticals"];
    all.equal(
        "acquisitions, summary",
        sum(criticals, "count"),
        facts.locks.values().sum(),
    );
    all.equal("refused, summary", sum(criticals, "failed"), facts.refused);
    let own = summary["user_events"].as_array().into_iter().flatten();
    let own = own.map(|event| (int(&event["type"]) as u32, int(&event["count"])));
    all.equal(
        "user events, summary",
        own.collect(),
        facts.user_events.clone(),
    );
}

/// The names of waits in the summary (`docs/summary-json.md`).
fn sync_name(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::ExplicitBarrier => "barrier",
        SyncKind::ImplicitBarrier => "work-sharing barrier",
        SyncKind::Taskwait => "taskwait",
        SyncKind::TaskwaitDepend => "taskwait depend",
        SyncKind::TaskgroupEnd => "taskgroup",
        SyncKind::Taskyield => "taskyield",
        SyncKind::Copyprivate => "copyprivate",
        SyncKind::DoacrossSink => "doacross sink",
        SyncKind::Reduction => "reduction",
        SyncKind::TeamsEnd => "end of teams",
        _ => "unknown",
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
        _ => (20_000_006, 4),
    }
}

/// Type of a lock in the time line.
fn lock_type(kind: MutexKind) -> u64 {
    match kind {
        MutexKind::NamedCritical | MutexKind::Lock | MutexKind::NestLock => 60_000_006,
        MutexKind::Ordered => 60_000_033,
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
fn time_line(all: &mut Differences, facts: &Facts, prv: &prv::Trace) {
    let pairs = [
        ("regions", PARALLEL, facts.regions),
        ("implicit tasks", PARALLEL_FUNCTION, facts.implicit),
        ("task bodies", TASK_FUNCTION, facts.tasks),
        ("user regions", USER_REGION, facts.user_regions),
        ("calls", CALL, facts.calls),
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
        facts.created + facts.empty_tasks + facts.constructs_again,
    );
    pending(all, prv);
    let values = |kind: u64, value: i128| {
        let of = |event: &&prv::Event| event.kind == kind && event.value == value;
        prv.events.iter().filter(of).count() as u64
    };
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

/// Tasks and edges of the graph, of the summary and of the time line.
fn graph(all: &mut Differences, outputs: &Outputs) {
    let (summary, graph) = (&outputs.summary, &outputs.graph);
    let edges = graph["edges"].as_array().map_or(&[][..], Vec::as_slice);
    let count = int(&summary["tasks"]["edges"]);
    all.equal("edges, summary and graph", count, edges.len() as u64);
    let analysis = &summary["graph"];
    if analysis.is_object() {
        for field in [
            "span_ns",
            "work_ns",
            "elapsed_ns",
            "capacity_ns",
            "no_work_ns",
            "delay_ns",
        ] {
            let (own, other) = (int(&analysis[field]), int(&graph["total"][field]));
            all.equal(&format!("graph's {field}, summary and graph"), own, other);
        }
    }
}

/// Nodes of the graph, and the arrows between them in the time line.
fn arrows(all: &mut Differences, facts: &Facts, graph: &Value, prv: &prv::Trace) {
    let edges = graph["edges"].as_array().map_or(&[][..], Vec::as_slice);
    let nodes = graph["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let known: BTreeMap<&str, &Value> = nodes
        .iter()
        .map(|node| (node["id"].as_str().unwrap_or(""), node))
        .collect();
    // An arrow needs both tasks to run, the later one behind the earlier one. A `taskwait` with `nowait` runs nowhere.
    let arrows = edges.iter().filter(|edge| {
        let end = |name: &str| {
            let name = edge[name].as_str().unwrap_or("");
            known.get(name).filter(|_| !facts.nowait.contains(name))
        };
        let (Some(from), Some(to)) = (end("from"), end("to")) else {
            return false;
        };
        match (from["end_ns"].as_u64(), to["begin_ns"].as_u64()) {
            (Some(end), Some(begin)) => end <= begin,
            _ => false,
        }
    });
    let drawn = prv.comms.iter().filter(|comm| comm.tag == DEPEND).count();
    let has_begun = |node: &&Value| node["begin_ns"].is_u64() && node["kind"] != "taskwait";
    let begun = nodes.iter().filter(has_begun).count() as u64;
    if begun == facts.executed_told {
        all.equal("dependences, graph and .prv", arrows.count(), drawn);
    } else {
        let fewer = begun < facts.executed_told;
        all.equal("tasks that the graph leaves out", fewer, true);
    }
    let ids: BTreeSet<&str> = known.keys().copied().collect();
    all.equal("nodes with a name of their own", ids.len(), nodes.len());
}

/// The heap.
fn memory(all: &mut Differences, facts: &Facts, summary: &Value, prv: &prv::Trace) {
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
}

/// What must hold when nothing is missing.
fn in_order(all: &mut Differences, facts: &Facts, graph: &Value, prv: &prv::Trace) {
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
