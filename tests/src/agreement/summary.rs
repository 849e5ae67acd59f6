//! Counts and times of the summary.

use std::collections::BTreeMap;

use instr_trace::event::SyncKind;
use serde_json::Value;

use super::facts::{Count, Facts};
use super::{Differences, STATES, int, sum};

/// States of each thread, and useful time.
pub(super) fn states(all: &mut Differences, facts: &Facts, summary: &Value) {
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
        let by_thread = by_thread.into_iter().flatten().map(int);
        let by_thread = by_thread.fold(0, u64::saturating_add);
        all.equal("useful time of threads and of all", by_thread, useful);
    }
}

/// Counts and times of the summary.
pub(super) fn summary(all: &mut Differences, facts: &Facts, summary: &Value) {
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
        SyncKind::Condition => "condition variable",
        SyncKind::ThreadBarrier => "thread barrier",
        SyncKind::Semaphore => "semaphore",
        SyncKind::Join => "join",
        SyncKind::Once => "once",
        SyncKind::Future => "future",
        _ => "unknown",
    }
}
