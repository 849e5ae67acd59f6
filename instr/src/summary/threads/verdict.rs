//! What cost most in programs of threads without parallel regions.

use std::collections::BTreeMap;

use super::super::model::{Critical, Summary, Thread, Verdict};
use super::super::units::{count, counted, elide, percent, time};

/// A smaller share of the threads' time is not worth a word.
const LEAST: f64 = 0.05;

/// The lock of Python's interpreter, as a kind of wait and of verdict.
const INTERPRETER: &str = "interpreter lock";

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
        (
            "waiting for the interpreter's lock",
            part(of_kind(summary, INTERPRETER)),
        ),
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
    let interpreted = of_kind(summary, INTERPRETER);
    if share(waited) >= LEAST && interpreted > waited / 2 {
        return Some(interpreter(summary, share(interpreted), interpreted));
    }
    if share(waited) >= LEAST {
        let most = others.max_by_key(|wait| wait.times.total_ns)?;
        let text = format!(
            "threads wait for each other {} of their time, most for the {} {}: {}, {}",
            percent(share(waited)),
            most.kind,
            elide(&most.object, 64),
            counted(most.times.count, "time"),
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

/// Threads of Python run one at a time.
fn interpreter(summary: &Summary, share: f64, ns: u64) -> Verdict {
    let waits = summary
        .waits
        .iter()
        .filter(|wait| wait.kind == INTERPRETER && wait.object.starts_with("thread "));
    let mut holders: BTreeMap<&str, u64> = BTreeMap::new();
    for wait in waits {
        let held = holders.entry(&wait.object).or_default();
        *held = held.saturating_add(wait.times.total_ns);
    }
    let most = holders.into_iter().max_by_key(|(_, ns)| *ns);
    let who = most.map_or_else(String::new, |(holder, ns)| {
        format!(", {} of it held by {holder}", time(ns))
    });
    Verdict {
        kind: INTERPRETER,
        share,
        text: format!(
            "threads wait {} of their time for the interpreter's lock, which one of them has at a time: {}{who}",
            percent(share),
            time(ns)
        ),
        ..Verdict::default()
    }
}

fn lock(most: &Critical, share: f64) -> Verdict {
    let call = most.calls.iter().max_by_key(|call| call.wait_ns);
    let taken = match most.has_waits_only() {
        true => counted(most.count, "wait"),
        false => format!("{} times it was taken", count(most.count)),
    };
    let inside = match most.held_ns {
        0 => String::new(),
        ns => format!(", {} inside", time(ns)),
    };
    Verdict {
        kind: "locks",
        share,
        region: call.map(|call| call.place.label.clone()),
        text: format!(
            "threads wait for locks {} of their time, most for the {} {}: {taken}, {} wait for it{inside}",
            percent(share),
            most.kind,
            elide(&most.name, 64),
            time(most.wait_ns),
        ),
        ..Verdict::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::{Place, Sync, Times};
    use super::super::model::{Birth, LockCall, WaitCall};
    use super::*;

    const MS: u64 = 1_000_000;

    fn times(ms: u64) -> Times {
        let mut times = Times::default();
        times.add(ms * MS);
        times
    }

    fn place(label: &str) -> Place {
        Place {
            label: label.to_owned(),
            ..Place::default()
        }
    }

    /// Main joins two threads that live 100 ms, and wait for a lock and a condition so long.
    fn run(locked: u64, waited: u64) -> Summary {
        let made = Thread {
            useful_ns: 100 * MS - (locked + waited) * MS / 2,
            sync_ns: (locked + waited) * MS / 2,
            birth: Some(Birth::default()),
            ..Thread::default()
        };
        let main = Thread {
            sync_ns: 100 * MS,
            ..Thread::default()
        };
        let wait = |kind, ms, label| WaitCall {
            kind,
            object: "queue".to_owned(),
            place: place(label),
            times: times(ms),
        };
        let sync = |kind, ms| Sync {
            kind,
            times: times(ms),
        };
        let calls = [(1, "first"), (locked, "second")].map(|(ms, label)| LockCall {
            place: place(label),
            wait_ns: ms * MS,
            ..LockCall::default()
        });
        Summary {
            events: 100,
            threads: vec![main, made.clone(), made],
            criticals: vec![Critical {
                name: "table".to_owned(),
                kind: "mutex",
                count: 1234,
                wait_ns: locked * MS,
                held_ns: 7 * MS,
                calls: calls.into(),
                ..Critical::default()
            }],
            waits: vec![
                wait("condition variable", waited, "taker"),
                wait("join", 100, "main"),
            ],
            syncs: vec![sync("condition variable", waited), sync("join", 100)],
            ..Summary::default()
        }
    }

    #[test]
    fn the_larger_of_locks_and_waits_is_named_with_its_call() {
        let locks = of(&run(60, 30)).expect("one");
        assert_eq!(
            (locks.kind, locks.region.as_deref()),
            ("locks", Some("second"))
        );
        assert!(
            locks.text.contains("20.0%") && locks.text.contains("the mutex table: 1 234 times"),
            "60 of 300: {}",
            locks.text
        );
        let waiting = of(&run(30, 60)).expect("one");
        assert_eq!(
            (waiting.kind, waiting.region.as_deref()),
            ("waiting", Some("taker"))
        );
        assert!(
            waiting.text.contains("the condition variable queue"),
            "{}",
            waiting.text
        );
        // 14 of 300 is not worth a word; who joins others loses nothing.
        let healthy = of(&run(14, 0)).expect("one");
        assert_eq!(healthy.kind, "healthy");
        assert!(
            healthy.text.contains("93.0%"),
            "186 of 200: {}",
            healthy.text
        );
    }

    #[test]
    fn a_program_that_made_no_thread_has_other_verdicts() {
        let mut summary = run(60, 30);
        for thread in &mut summary.threads {
            thread.birth = None;
        }
        assert_eq!(of(&summary), None);
    }

    #[test]
    fn the_parts_add_up_to_the_time_of_all_threads() {
        for (locked, waited) in [(60, 30), (0, 0), (200, 0), (0, 200)] {
            let summary = run(locked, waited);
            let parts = super::times(&summary);
            let sum: u64 = parts.iter().map(|(_, ns)| ns).sum();
            assert_eq!(sum, summary.capacity_ns(), "{parts:?}");
            let part = |name| parts.iter().find(|part| part.0 == name).map(|part| part.1);
            assert_eq!(part("waiting for locks"), Some(locked * MS));
            assert_eq!(part("waiting for conditions"), Some(waited * MS));
            assert_eq!(part("joining threads"), Some(100 * MS));
        }
    }
}
