//! Whether a trace can be what a run of an OpenMP program leaves.

use std::collections::{BTreeMap, BTreeSet};

use crate::ctf::Event;

/// Construct and the field that must agree at its end.
const PAIRS: [(&str, &str, Option<&str>); 11] = [
    ("parallel_begin", "parallel_end", Some("seq")),
    ("implicit_begin", "implicit_end", None),
    ("sync_begin", "sync_end", Some("kind")),
    ("wait", "sync_end", Some("kind")),
    ("thread_create", "thread_created", None),
    ("task_create", "task_created", None),
    ("task_begin", "task_end", None),
    ("taskloop_begin", "taskloop_end", None),
    ("masked_begin", "masked_end", None),
    ("target_begin", "target_end", Some("kind")),
    ("region_begin", "region_end", None),
];

/// Everything that is wrong, a line each: constructs of a thread nest and end, mutexes that were waited for were got or refused, every task is
/// created once, before it begins, and begins and ends at most once; regions are as large as they say.
#[must_use]
pub fn sound(events: &[Event]) -> Vec<String> {
    let mut problems = nesting(events);
    problems.extend(tasks(events));
    problems.extend(mutexes(events));
    problems.extend(teams(events));
    problems
}

fn nesting(events: &[Event]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: BTreeMap<i128, Vec<(&str, Option<i128>)>> = BTreeMap::new();
    // A task that leaves its thread in the middle takes what it opened along.
    if events.iter().any(|event| event.name == "task_suspend") {
        return problems;
    }
    for event in events {
        let stack = open.entry(event.stream).or_default();
        let value = |field: Option<&str>| field.and_then(|field| event.get(field));
        if let Some((_, end, field)) = PAIRS.iter().find(|pair| event.name == pair.0) {
            stack.push((end, value(*field)));
        } else if let Some((_, end, field)) = PAIRS.iter().find(|pair| event.name == pair.1)
            && stack.pop() != Some((*end, value(*field)))
        {
            problems.push(format!(
                "thread {}: {end} {:?} does not match what is open",
                event.stream,
                value(*field)
            ));
            return problems;
        }
    }
    for (thread, stack) in open {
        let left = stack
            .iter()
            .map(|(end, _)| format!("thread {thread}: no {end}"));
        problems.extend(left);
    }
    problems
}

fn tasks(events: &[Event]) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut created, mut begun) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        let seq = event.get("seq").unwrap_or(-1);
        match event.name.as_str() {
            "task_create" | "taskwait_depend" | "taskloop_task" | "taskloop_begin"
                if !created.insert((event.stream, seq)) =>
            {
                problems.push(format!("task {}.{seq} is created twice", event.stream));
            }
            "task_begin" => {
                let task = (event.get("thread").unwrap_or(-1), seq);
                if !created.contains(&task) {
                    problems.push(format!("task {task:?} begins before it is created"));
                }
                if !begun.insert(task) {
                    problems.push(format!("task {task:?} begins twice"));
                }
            }
            _ => {}
        }
    }
    problems
}

fn mutexes(events: &[Event]) -> Vec<String> {
    let mut balance: BTreeMap<(i128, i128), i128> = BTreeMap::new();
    for event in events {
        let step = match event.name.as_str() {
            "mutex_acquire" | "lock_wait" => 1,
            "mutex_acquired" | "mutex_failed" | "lock_waited" => -1,
            _ => continue,
        };
        let kind = event.get("kind").unwrap_or(-1);
        *balance.entry((event.stream, kind)).or_default() += step;
    }
    let wrong = balance.into_iter().filter(|(_, balance)| *balance != 0);
    wrong
        .map(|((thread, kind), _)| {
            format!(
                "thread {thread}: a mutex of kind {kind} is waited for and neither got nor refused"
            )
        })
        .collect()
}

fn teams(events: &[Event]) -> Vec<String> {
    let mut members: BTreeMap<(i128, i128), i128> = BTreeMap::new();
    let mut sizes = BTreeMap::new();
    let begins = events.iter().filter(|event| event.name == "implicit_begin");
    for event in begins {
        let number = |field| event.get(field).unwrap_or(-1);
        let region = (number("region_thread"), number("region_seq"));
        *members.entry(region).or_default() += 1;
        if number("team_size") > 0 {
            sizes.insert(region, number("team_size"));
        }
    }
    let wrong = members
        .into_iter()
        .filter(|(region, count)| sizes.get(region) != Some(count));
    wrong
        .map(|(region, count)| {
            format!(
                "region {region:?}: {count} implicit tasks of {:?}",
                sizes.get(&region)
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str, stream: i128, fields: &[(&str, i128)]) -> Event {
        Event {
            name: name.into(),
            stream,
            fields: fields
                .iter()
                .map(|&(name, value)| (name.to_owned(), value))
                .collect(),
            entries: Vec::new(),
        }
    }

    #[test]
    fn damage_of_every_kind_is_told() {
        let good = vec![
            event("task_create", 0, &[("seq", 0)]),
            event("task_created", 0, &[]),
            event("sync_begin", 1, &[("kind", 1)]),
            event("task_begin", 1, &[("thread", 0), ("seq", 0)]),
            event("task_end", 1, &[]),
            event("sync_end", 1, &[("kind", 1)]),
            event(
                "implicit_begin",
                0,
                &[("region_thread", 0), ("region_seq", 1), ("team_size", 1)],
            ),
            event("implicit_end", 0, &[]),
            event("mutex_acquire", 0, &[("kind", 1)]),
            event("mutex_acquired", 0, &[("kind", 1)]),
            event("wait", 0, &[("kind", 11)]),
            event("sync_end", 0, &[("kind", 11)]),
            event("lock_wait", 0, &[("kind", 7)]),
            event("lock_waited", 0, &[("kind", 7)]),
            event("thread_create", 0, &[("seq", 3)]),
            event("thread_created", 0, &[]),
        ];
        assert_eq!(sound(&good), Vec::<String>::new());
        // Every single event left out must be noticed.
        for index in 0..good.len() {
            let mut bad = good.clone();
            let gone = bad.remove(index);
            assert!(!sound(&bad).is_empty(), "{gone:?} is not missed");
        }
        let mut twice = good.clone();
        twice.extend(good[3..5].to_vec());
        assert_eq!(sound(&twice), ["task (0, 0) begins twice"]);
    }
}
