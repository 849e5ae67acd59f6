//! Spans in, durations out. Memory grows with the constructs of the program, not with the events.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::RegionId;
use instr_trace::ThreadInfo;
use instr_trace::model::{At, Begin, Code, End, Mark, Ran, Since, Sink, Span, State, Work};

use super::Durations;

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// A parallel region, on the thread that encountered it, by its body.
    Region(Code),
    /// An implicit task, by the body of its region: its own user code, without waiting and without explicit tasks that ran on top of it.
    Implicit(Code),
    /// An explicit task, by its body: its own time, without tasks that ran on top of it.
    Task(Code),
    /// A work-sharing loop on one thread, by the body around it and the name of its schedule.
    Loop(Option<Code>, &'static str),
    /// A region of the program's own, by its name.
    User(String),
    /// A call of a described function, by its name.
    Call(String),
}

/// Collects durations of executions.
#[derive(Debug)]
pub struct Collector {
    by_code: HashMap<Construct, Durations>,
    threads: Vec<Thread>,
}

#[derive(Debug, Default)]
struct Thread {
    /// The running body; `None`: the initial task.
    body: Option<Code>,
    /// The user code of its implicit tasks.
    implicit: Implicit,
    /// Texts by address, as the thread told them.
    texts: HashMap<u64, String>,
    /// Own regions and calls by the address of their name.
    named: HashMap<(bool, u64), Durations>,
}

/// User code of the implicit tasks of a thread.
#[derive(Debug, Default)]
struct Implicit {
    /// Those that have not ended, the innermost last, with the time of their user code, ns.
    open: Vec<(RegionId, u64)>,
    /// The one whose body runs.
    runs: Option<RegionId>,
    /// User code runs since then, ns.
    since: Option<u64>,
}

impl Implicit {
    /// Gives the time up to `now` to the implicit task whose user code has run.
    fn count(&mut self, now: u64) {
        let Some(since) = &mut self.since else {
            return;
        };
        let runs = |(region, _): &&mut (RegionId, u64)| Some(*region) == self.runs;
        if let Some((_, own)) = self.open.iter_mut().rev().find(runs) {
            *own += now.saturating_sub(*since);
        }
        *since = now;
    }

    /// Takes out the one of a region, with its time.
    fn end(&mut self, ended: RegionId, now: u64) -> Option<u64> {
        self.count(now);
        let at = self.open.iter().rposition(|(region, _)| *region == ended)?;
        Some(self.open.remove(at).1)
    }
}

impl Collector {
    /// For the threads of one trace.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        Self {
            by_code: HashMap::new(),
            threads: threads.iter().map(|_| Thread::default()).collect(),
        }
    }

    /// What was collected.
    pub fn finish(self) -> BTreeMap<Construct, Durations> {
        let mut all: BTreeMap<Construct, Durations> = self.by_code.into_iter().collect();
        for thread in self.threads {
            let named: BTreeMap<_, _> = thread.named.into_iter().collect();
            for ((is_call, address), durations) in named {
                let text = thread.texts.get(&address).cloned();
                let text = text.unwrap_or_else(|| format!("{address:#x}"));
                let construct = match is_call {
                    true => Construct::Call(text),
                    false => Construct::User(text),
                };
                all.entry(construct).or_default().merge(&durations);
            }
        }
        all
    }

    fn add(&mut self, construct: Construct, ns: u64) {
        self.by_code.entry(construct).or_default().add(ns);
    }
}

impl Sink for Collector {
    #[inline]
    fn body(&mut self, at: At, body: Option<&Span>) {
        let thread = &mut self.threads[at.position];
        thread.body = body.and_then(Span::body);
        thread.implicit.count(at.time);
        thread.implicit.runs = match body {
            Some(Span::Implicit { region, .. }) => Some(*region),
            _ => None,
        };
    }

    #[inline]
    fn state(&mut self, at: At, state: State) {
        let implicit = &mut self.threads[at.position].implicit;
        implicit.count(at.time);
        implicit.since = (state == State::Useful).then_some(at.time);
    }

    #[inline]
    fn begin(&mut self, at: At, span: &Span, _how: Begin) {
        if let Span::Implicit { region, .. } = *span {
            self.threads[at.position].implicit.open.push((region, 0));
        }
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        let ns = at.time.saturating_sub(since.first.unwrap_or(since.here));
        let is_told = how == End::Told;
        let thread = &mut self.threads[at.position];
        match *span {
            Span::Parallel { code, .. } if how != End::Suspended => {
                self.add(Construct::Region(code), ns);
            }
            Span::Implicit { region, code, .. } => {
                let own = thread.implicit.end(region, at.time);
                if let Some(own) = own.filter(|_| is_told && code.address != 0) {
                    self.add(Construct::Implicit(code), own);
                }
            }
            Span::Work(Work::Loop { schedule, .. }) if is_told => {
                let construct = Construct::Loop(thread.body, schedule.name());
                self.add(construct, ns);
            }
            Span::User { name } if how != End::Suspended => {
                thread.named.entry((false, name)).or_default().add(ns);
            }
            Span::Call { name } if is_told => {
                thread.named.entry((true, name)).or_default().add(ns);
            }
            _ => {}
        }
    }

    #[inline]
    fn task_ran(&mut self, _at: At, task: &Span, ran: Ran) {
        self.add(Construct::Task(task.body().unwrap_or_default()), ran.own);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        if let Mark::Text { address, text } = mark {
            let text = String::from_utf8_lossy(text).into_owned();
            self.threads[at.position].texts.insert(address, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use instr_trace::event::SyncKind;
    use instr_trace::model::replay;
    use instr_trace::{Trace, synth};

    use super::*;

    /// Two threads in a region that begins at 10. Thread 0 is in its implicit task from 12, waits at a barrier from 20 to 50, creates no task, runs a task from 60 to 75 in another
    /// wait from 58 to 80, and ends at 90: 8 + 8 + 10 of its own. Thread 1 is in its own from 15, has user code up to 49, waits up to 50, and ends at 85: 34 + 35.
    #[test]
    fn user_code_of_implicit_tasks_is_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let layout = synth::layouts()[0];
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let start = synth::START_TICKS;
        let code = synth::CODE_BASE + 8;
        let mut first = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
        let mut second = synth::StreamWriter::create(dir.path(), layout, 1, 1 << 16).unwrap();
        first.thread_begin(start, 1, 1).unwrap();
        second.thread_begin(start, 2, 0).unwrap();
        first.parallel_begin(start + 10, 1, code, 2, 0_u32).unwrap();
        first.implicit_begin(start + 12, (0, 1), 0, 2).unwrap();
        first
            .sync_begin(start + 20, SyncKind::ExplicitBarrier)
            .unwrap();
        first
            .sync_end(start + 50, SyncKind::ExplicitBarrier)
            .unwrap();
        first
            .sync_begin(start + 58, SyncKind::ExplicitBarrier)
            .unwrap();
        first.task_begin(start + 60, (1, 1)).unwrap();
        first.task_end(start + 75).unwrap();
        first
            .sync_end(start + 80, SyncKind::ExplicitBarrier)
            .unwrap();
        first.implicit_end(start + 90).unwrap();
        first.parallel_end(start + 95, 1).unwrap();
        first.thread_end(start + 100).unwrap();
        second.implicit_begin(start + 15, (0, 1), 1, 2).unwrap();
        second
            .sync_begin(start + 49, SyncKind::ExplicitBarrier)
            .unwrap();
        second
            .sync_end(start + 50, SyncKind::ExplicitBarrier)
            .unwrap();
        second.implicit_end(start + 85).unwrap();
        second.thread_end(start + 100).unwrap();
        first.finish().unwrap();
        second.finish().unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let mut collector = Collector::new(trace.threads());
        replay(&trace, &mut collector).unwrap();
        let found = collector.finish();
        let implicit: Vec<_> = found
            .iter()
            .filter(|(construct, _)| matches!(construct, Construct::Implicit(_)))
            .collect();
        let [(Construct::Implicit(of), own)] = implicit[..] else {
            panic!("one region: {implicit:?}")
        };
        assert_eq!((of.address, own.count()), (code, 2));
        let ends = [0.0, 1.0].map(|share| own.quantile_ns(share).unwrap());
        assert_eq!((own.total_ns(), ends), (26 + 69, [26.0, 69.0]));
    }
}
