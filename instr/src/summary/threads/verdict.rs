//! What cost most in programs of threads without parallel regions.

use super::super::model::{Critical, Summary, Thread, Verdict};
use super::super::units::{count, elide, percent, time};

/// A smaller share of the threads' time is not worth a word.
const LEAST: f64 = 0.05;

/// Where the time of the threads went: a name, and its part, ns. What is not named is in `other`. They add up to all of the threads' time.
pub fn times(summary: &Summary) -> Vec<(&'static str, u64)> {
    let sum = |of: fn(&Thread) -> u64| {
        let threads = summary.threads.iter().map(of);
        threads.fold(0, u64::saturating_add)
    };
    let all = sum(|thread| thread.sync_ns);
    let mut rest = all;
    let mut part = |ns: u64| {
        let ns = ns.min(rest);
        rest -= ns;
        ns
    };
    let waits = [
        ("waiting for locks", part(locks(summary))),
        (
            "waiting for conditions",
            part(of_kind(summary, "condition variable")),
        ),
        (
            "waiting in barriers",
            part(of_kind(summary, "thread barrier")),
        ),
        (
            "waiting for semaphores",
            part(of_kind(summary, "semaphore")),
        ),
        ("waiting for futures", part(of_kind(summary, "future"))),
        ("joining threads", part(of_kind(summary, "join"))),
    ];
    let mut rows = vec![("user code", sum(|thread| thread.useful_ns))];
    rows.extend(waits);
    rows.extend([
        ("other synchronization", rest),
        ("scheduling", sum(|thread| thread.sched_ns)),
        ("idle", sum(|thread| thread.idle_ns)),
        ("flush", sum(|thread| thread.flush_ns)),
    ]);
    rows
}

fn of_kind(summary: &Summary, kind: &str) -> u64 {
    let of = summary.syncs.iter().filter(|sync| sync.kind == kind);
    of.fold(0, |sum, sync| sum.saturating_add(sync.times.total_ns))
}

fn locks(summary: &Summary) -> u64 {
    let waits = summary.criticals.iter().map(|lock| lock.wait_ns);
    waits.fold(0, u64::saturating_add)
}

/// The largest loss; `None`: the program has one thread, or nothing of threads was recorded.
pub fn of(summary: &Summary) -> Option<Verdict> {
    let made = summary.threads.iter().any(|thread| thread.birth.is_some());
    let capacity = summary.capacity_ns();
    if !made || capacity == 0 {
        return None;
    }
    let share = |ns: u64| ns as f64 / capacity as f64;
    // Who waits for the end of others has nothing else to do.
    let others = summary.waits.iter().filter(|wait| wait.kind != "join");
    let waited = others.clone().map(|wait| wait.times.total_ns);
    let waited = waited.fold(0, u64::saturating_add);
    let locked = locks(summary);
    if share(locked) >= LEAST && locked >= waited {
        let most = summary.criticals.iter().max_by_key(|lock| lock.wait_ns)?;
        return Some(lock(most, share(locked)));
    }
    if share(waited) >= LEAST {
        let most = others.max_by_key(|wait| wait.times.total_ns)?;
        let text = format!(
            "threads wait for each other {} of their time, most for the {} {}: {}, {}",
            percent(share(waited)),
            most.kind,
            elide(&most.object, 64),
            super::super::units::counted(most.times.count, "time"),
            time(most.times.total_ns)
        );
        return Some(Verdict {
            kind: "waiting",
            share: share(waited),
            region: Some(most.place.label.clone()),
            text,
            ..Verdict::default()
        });
    }
    let useful = summary.threads.iter().map(|thread| thread.useful_ns);
    let useful = useful.fold(0, u64::saturating_add);
    let joining = of_kind(summary, "join").min(capacity);
    let worked = capacity - joining;
    Some(Verdict {
        kind: "healthy",
        text: format!(
            "the threads are in user code {} of the time that they do not wait for the end of others: no loss is large",
            percent(useful as f64 / worked.max(1) as f64)
        ),
        ..Verdict::default()
    })
}

fn lock(most: &Critical, share: f64) -> Verdict {
    let call = most.calls.iter().max_by_key(|call| call.wait_ns);
    let inside = match most.held_ns {
        0 => String::new(),
        ns => format!(", {} inside", time(ns)),
    };
    Verdict {
        kind: "locks",
        share,
        region: call.map(|call| call.place.label.clone()),
        text: format!(
            "threads wait for locks {} of their time, most for the {} {}: {} times it was taken, {} wait for it{inside}",
            percent(share),
            most.kind,
            elide(&most.name, 64),
            count(most.count),
            time(most.wait_ns),
        ),
        ..Verdict::default()
    }
}
