//! A picture as lines of text: what pipes get, and what the screen is made of.

use std::cmp::Reverse;

use super::picture::{Line, Picture, Thread};
use super::process::State;
use crate::summary::units::{brief, count, counted, elide_middle, percent, size, time};

/// By what threads are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Thread,
    State,
    Useful,
    Events,
}

impl Order {
    /// The next one.
    pub(super) fn next(self) -> Self {
        match self {
            Self::Thread => Self::State,
            Self::State => Self::Useful,
            Self::Useful => Self::Events,
            Self::Events => Self::Thread,
        }
    }

    /// For people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::State => "state",
            Self::Useful => "user code",
            Self::Events => "events",
        }
    }
}

/// Lines that say what a process did so far.
pub(super) fn head(line: &Line) -> Vec<String> {
    let state = match line.state {
        State::Running => "running",
        State::Ended => "has ended",
        State::Killed => "was killed, or is gone",
        State::Removed => "its trace was removed or replaced",
    };
    let mut all = vec![
        format!(
            "{} · process {} · {state} · {} · {}",
            elide_middle(&line.program, 40),
            line.pid,
            time(line.elapsed_ns),
            counted(line.threads.len() as u64, "thread")
        ),
        format!(
            "events {} ({}/s), {} recorded{}",
            count(line.events),
            count(line.events_per_s as u64),
            size(line.bytes),
            match line.discarded {
                0 => String::new(),
                lost => format!(", {} lost", count(lost)),
            }
        ),
        format!(
            "regions {} ({} open) · tasks {} created, {} not begun, {} running",
            count(line.regions),
            count(line.regions_running),
            count(line.tasks_created),
            count(line.tasks_not_begun),
            count(line.tasks_running)
        ),
    ];
    if let Some(heap) = line.heap_bytes {
        all[2] += &format!(" · heap {}", size(heap));
    }
    all
}

/// The heading of the threads' table.
pub(super) fn heading() -> String {
    format!(
        "{:<16}  {:<15}  {:>9}  {:>6}  {:>10}  {:>4}  region or task",
        "thread", "state", "for", "user", "events/s", "CPU"
    )
}

/// Threads in an order.
pub(super) fn sorted(line: &Line, order: Order) -> Vec<&Thread> {
    let mut all: Vec<&Thread> = line.threads.iter().collect();
    let useful = |thread: &Thread| (thread.useful.unwrap_or(0.0) * 1e6) as u64;
    match order {
        Order::Thread => {}
        Order::State => all.sort_by_key(|thread| thread.state),
        Order::Useful => all.sort_by_key(|thread| Reverse(useful(thread))),
        Order::Events => all.sort_by_key(|thread| Reverse(thread.events_per_s as u64)),
    }
    all
}

/// A line of the threads' table.
pub(super) fn thread(thread: &Thread) -> String {
    let processor = thread
        .processor
        .map_or("-".to_owned(), |number| number.to_string());
    let useful = thread.useful.map_or("-".to_owned(), percent);
    let since = match thread.since_ns {
        0 => "-".to_owned(),
        ns => time(ns),
    };
    format!(
        "{:<16}  {:<15}  {since:>9}  {useful:>6}  {:>10}  {processor:>4}  {}",
        elide_middle(&thread.name, 16),
        thread.state,
        count(thread.events_per_s as u64),
        brief(&thread.running, 40)
    )
}

/// Regions and tasks, those with most time first.
pub(super) fn bodies(line: &Line) -> Vec<String> {
    if line.bodies.is_empty() {
        return Vec::new();
    }
    let heading = format!(
        "{:>12}  {:>10}  {:>8}  region or task",
        "executions", "time", "threads"
    );
    let body = |body: &super::picture::Body| {
        let label = brief(&body.label, 60);
        format!(
            "{:>12}  {:>10}  {:>8}  {label}",
            count(body.executions),
            time(body.ns),
            body.threads
        )
    };
    std::iter::once(heading)
        .chain(line.bodies.iter().map(body))
        .collect()
}

/// Everything, with at most `rows` threads, and regions and tasks, of each process.
pub(super) fn all(picture: &Picture, rows: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in &picture.processes {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(head(line));
        lines.push(String::new());
        lines.push(heading());
        lines.extend(
            sorted(line, Order::Thread)
                .into_iter()
                .take(rows)
                .map(thread),
        );
        let more = line.threads.len().saturating_sub(rows);
        if more > 0 {
            lines.push(format!("... and {}", counted(more as u64, "more thread")));
        }
        let bodies = bodies(line);
        if !bodies.is_empty() {
            lines.push(String::new());
            lines.extend(bodies.into_iter().take(rows + 1));
        }
    }
    lines
}
