//! What must hold of every Paraver trace.
//!
//! * records are in time order, inside the trace's duration, on objects and processors the header declares;
//! * the states of a thread neither overlap nor leave gaps, from 0 to the end;
//! * every begin of a construct has its end, on the same thread, and constructs nest;
//! * a lock goes through waiting, held, released;
//! * both ends of a communication are inside the lives of their threads, nothing arrives before it was sent;
//! * a type has one value in a record;
//! * every state, type and value is declared in the `.pcf`; the `.row` names as many objects as the header declares.

use std::collections::{BTreeMap, BTreeSet};

use super::{Comm, Event, Object, State, Trace};

/// Types whose nonzero value opens and whose 0 closes a construct; the constructs of a thread nest.
const CONSTRUCTS: &[u64] = &[
    40_000_001, // application
    40_000_003, // flush
    60_000_001, // parallel
    60_000_002, // work-sharing
    60_000_005, // barrier
    60_000_011, // dispatch
    60_000_016, // join
    60_000_018, // parallel function
    60_000_118, // … its line
    60_000_022, // taskwait
    60_000_023, // task function, executed
    60_000_123, // … its line
    60_000_024, // task function, instantiated
    60_000_124, // … its line
    60_000_025, // taskgroup calls
    60_000_029, // taskloop
    60_000_035, // taskyield
];

/// Types whose nonzero value opens and whose 0 closes something that need not nest with constructs.
const REGIONS: &[u64] = &[
    60_000_019, // user function
    60_000_119, // … its line
    60_000_027, // within a taskgroup
    60_010_029, // number of a taskloop: of its call, and of its tasks
];

/// Types of mutual exclusion: waiting (3), held (6), leaving (5), out (0).
const LOCKS: &[u64] = &[60_000_006, 60_000_007, 60_000_033, 20_000_012];

/// The state of a thread that does not exist yet (or any more).
const NOT_CREATED: u32 = 2;

/// Largest event type that viewers read as a positive number.
const TYPE_LIMIT: u64 = 1 << 31;

/// Messages shown at most.
const SHOWN: usize = 20;

/// How strict to be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Constructs may be open at the end: the program was killed or left from inside one.
    pub open: bool,
}

/// Proves the trace right.
///
/// # Errors
///
/// The first mistakes found, each with its line.
pub fn check(trace: &Trace, options: Options) -> Result<(), String> {
    let mut checker = Checker {
        trace,
        options,
        problems: Vec::new(),
        lives: BTreeMap::new(),
    };
    checker.time_order();
    checker.rows();
    checker.states();
    checker.events();
    checker.constructs();
    checker.locks();
    checker.comms();
    if checker.problems.is_empty() {
        return Ok(());
    }
    let count = checker.problems.len();
    checker.problems.truncate(SHOWN);
    Err(format!(
        "{count} mistakes in the .prv:\n  {}",
        checker.problems.join("\n  ")
    ))
}

struct Checker<'a> {
    trace: &'a Trace,
    options: Options,
    problems: Vec<String>,
    /// Begin and end of each thread.
    lives: BTreeMap<Object, (u64, u64)>,
}

/// An interval of a construct.
#[derive(Debug, Clone, Copy)]
struct Span {
    begin: u64,
    end: u64,
    kind: u64,
    line: usize,
}

impl Checker<'_> {
    fn problem(&mut self, message: String) {
        self.problems.push(message);
    }

    fn time_order(&mut self) {
        for pair in self.trace.order.windows(2) {
            if pair[1].1 < pair[0].1 {
                self.problem(format!(
                    "line {}: time {} after {}",
                    pair[1].0, pair[1].1, pair[0].1
                ));
            }
        }
    }

    fn rows(&mut self) {
        let header = &self.trace.header;
        let sizes = [
            ("CPU", header.cpus() as usize),
            ("NODE", header.nodes.len()),
            ("THREAD", header.objects().len()),
        ];
        for (level, expected) in sizes {
            let actual = self.trace.rows.levels.get(level).map(Vec::len);
            if actual != Some(expected) {
                self.problem(format!(
                    "row: LEVEL {level} has {actual:?} names, the header says {expected}"
                ));
            }
        }
        for (threads, node) in header.applications.iter().flatten() {
            if *node == 0 || *node as usize > header.nodes.len() || *threads == 0 {
                self.problem(format!("header: task of {threads} threads on node {node}"));
            }
        }
    }

    fn states(&mut self) {
        let mut threads: BTreeMap<Object, Vec<&State>> = BTreeMap::new();
        for object in self.trace.header.objects() {
            threads.insert(object, Vec::new());
        }
        for state in &self.trace.states {
            self.place(state.line, state.cpu, state.object);
            if !self.trace.config.states.contains_key(&state.state) {
                self.problem(format!(
                    "line {}: state {} is not in the .pcf",
                    state.line, state.state
                ));
            }
            threads.entry(state.object).or_default().push(state);
        }
        for (object, mut states) in threads {
            states.sort_by_key(|state| (state.begin, state.end));
            self.cover(object, &states);
            let born = states
                .iter()
                .take_while(|state| state.state == NOT_CREATED)
                .map(|state| state.end)
                .max()
                .unwrap_or(0);
            let dead = states
                .iter()
                .rev()
                .take_while(|state| state.state == NOT_CREATED)
                .map(|state| state.begin)
                .min();
            let dead = dead.unwrap_or(self.trace.header.end).max(born);
            // States take time: a thread that lived for an instant has none.
            let instant = match states.iter().all(|state| state.state == NOT_CREATED) {
                true => self
                    .trace
                    .events
                    .iter()
                    .find(|event| event.object == object),
                false => None,
            };
            let life = instant.map_or((born, dead), |event| (event.time, event.time));
            self.lives.insert(object, life);
        }
    }

    /// The states of one thread, sorted, follow each other from 0 to the end.
    fn cover(&mut self, object: Object, states: &[&State]) {
        let mut reached = 0;
        for state in states {
            let overlap = if state.begin < reached {
                "overlaps"
            } else {
                "leaves a gap behind"
            };
            if state.begin != reached {
                self.problem(format!(
                    "line {}: state {}..{} of {object:?} {overlap} {reached}",
                    state.line, state.begin, state.end
                ));
            }
            if state.end < state.begin {
                self.problem(format!(
                    "line {}: state ends at {} before it begins at {}",
                    state.line, state.end, state.begin
                ));
            }
            reached = reached.max(state.end);
        }
        if reached != self.trace.header.end {
            self.problem(format!(
                "states of {object:?} end at {reached}, the trace at {}",
                self.trace.header.end
            ));
        }
    }

    fn place(&mut self, line: usize, cpu: u32, object: Object) {
        let header = &self.trace.header;
        let (application, task, thread) = object;
        let tasks = (application as usize)
            .checked_sub(1)
            .and_then(|index| header.applications.get(index));
        let threads = tasks
            .and_then(|tasks| tasks.get((task as usize).checked_sub(1)?))
            .map_or(0, |(threads, _)| *threads);
        if thread == 0 || thread > threads {
            self.problem(format!("line {line}: no object {object:?} in the header"));
        }
        if cpu > self.trace.header.cpus() {
            self.problem(format!("line {line}: no processor {cpu} in the header"));
        }
    }

    fn events(&mut self) {
        let mut record = (0, BTreeSet::new());
        for event in &self.trace.events {
            if record.0 != event.line {
                record = (event.line, BTreeSet::new());
            }
            if !record.1.insert(event.kind) {
                let (line, kind) = (event.line, event.kind);
                self.problem(format!("line {line}: type {kind} has two values"));
            }
            self.place(event.line, event.cpu, event.object);
            self.alive(event.line, event.object, event.time);
            let Event {
                line, kind, value, ..
            } = event;
            if !self.trace.config.types.contains_key(kind) {
                self.problem(format!("line {line}: type {kind} is not in the .pcf"));
            } else if self
                .trace
                .config
                .values
                .get(kind)
                .is_some_and(|values| !values.contains_key(value))
            {
                self.problem(format!(
                    "line {line}: value {value} of type {kind} is not in the .pcf"
                ));
            }
            if *kind >= TYPE_LIMIT {
                self.problem(format!("line {line}: type {kind} is not below 2^31"));
            }
        }
    }

    fn alive(&mut self, line: usize, object: Object, time: u64) {
        if let Some(&(born, dead)) = self.lives.get(&object)
            && !(born..=dead).contains(&time)
        {
            self.problem(format!(
                "line {line}: time {time} is outside the life {born}..{dead} of {object:?}"
            ));
        }
    }

    /// Every begin has its end, and constructs nest.
    fn constructs(&mut self) {
        let mut open: BTreeMap<(Object, u64), Vec<&Event>> = BTreeMap::new();
        let mut spans: BTreeMap<Object, Vec<Span>> = BTreeMap::new();
        for event in &self.trace.events {
            if !CONSTRUCTS.contains(&event.kind) && !REGIONS.contains(&event.kind) {
                continue;
            }
            let stack = open.entry((event.object, event.kind)).or_default();
            if event.value != 0 {
                stack.push(event);
            } else if let Some(begin) = stack.pop() {
                let span = Span {
                    begin: begin.time,
                    end: event.time,
                    kind: event.kind,
                    line: begin.line,
                };
                spans.entry(event.object).or_default().push(span);
            } else {
                self.problem(format!(
                    "line {}: end of type {} without a begin",
                    event.line, event.kind
                ));
            }
        }
        for event in open.into_values().flatten() {
            if !self.options.open {
                self.problem(format!(
                    "line {}: begin of type {} without an end",
                    event.line, event.kind
                ));
            }
            let span = Span {
                begin: event.time,
                end: self.trace.header.end,
                kind: event.kind,
                line: event.line,
            };
            spans.entry(event.object).or_default().push(span);
        }
        for (object, spans) in spans {
            self.nesting(
                object,
                spans
                    .into_iter()
                    .filter(|span| CONSTRUCTS.contains(&span.kind))
                    .collect(),
            );
        }
    }

    fn nesting(&mut self, object: Object, mut spans: Vec<Span>) {
        spans.sort_by_key(|span| (span.begin, std::cmp::Reverse(span.end)));
        let mut enclosing: Vec<Span> = Vec::new();
        for span in spans {
            while enclosing
                .last()
                .is_some_and(|outer| outer.end <= span.begin)
            {
                enclosing.pop();
            }
            if let Some(outer) = enclosing.last()
                && outer.end < span.end
            {
                let (outer, inner) = (*outer, span);
                self.problem(format!(
                    "line {}: type {} {}..{} of {object:?} crosses type {} {}..{} of line {}",
                    inner.line,
                    inner.kind,
                    inner.begin,
                    inner.end,
                    outer.kind,
                    outer.begin,
                    outer.end,
                    outer.line
                ));
            }
            enclosing.push(span);
        }
    }

    /// Each lock status follows from the one before: 3 waiting → 6 held → 5 leaving → 0 out; 3 → 0 when a test failed.
    fn locks(&mut self) {
        let mut status: BTreeMap<(Object, u64), Vec<(i128, usize)>> = BTreeMap::new();
        for event in self
            .trace
            .events
            .iter()
            .filter(|event| LOCKS.contains(&event.kind))
        {
            let stack = status.entry((event.object, event.kind)).or_default();
            let last = stack.last().map(|(value, _)| *value);
            let fits = match event.value {
                3 => {
                    stack.push((3, event.line));
                    true
                }
                6 => last == Some(3) && replace(stack, event),
                5 => last == Some(6) && replace(stack, event),
                0 => stack.pop().is_some(),
                _ => false,
            };
            if !fits {
                self.problem(format!(
                    "line {}: type {} goes from {last:?} to {}",
                    event.line, event.kind, event.value
                ));
            }
        }
        if !self.options.open {
            for ((object, kind), stack) in status {
                for (value, line) in stack {
                    self.problem(format!(
                        "line {line}: type {kind} of {object:?} stays at {value}"
                    ));
                }
            }
        }
    }

    fn comms(&mut self) {
        for comm in &self.trace.comms {
            let Comm {
                line,
                send,
                receive,
                ..
            } = comm;
            for end in [send, receive] {
                self.place(*line, end.cpu, end.object);
                self.alive(*line, end.object, end.logical);
                self.alive(*line, end.object, end.physical);
                if end.logical > end.physical {
                    self.problem(format!(
                        "line {line}: logical time {} after physical time {}",
                        end.logical, end.physical
                    ));
                }
            }
            if send.physical > receive.physical || send.logical > receive.physical {
                self.problem(format!(
                    "line {line}: received at {} before it was sent at {}",
                    receive.physical, send.physical
                ));
            }
        }
    }
}

fn replace(stack: &mut [(i128, usize)], event: &Event) -> bool {
    if let Some(top) = stack.last_mut() {
        *top = (event.value, event.line);
    }
    true
}

#[cfg(test)]
mod tests;
