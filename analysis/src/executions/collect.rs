//! Spans in, durations out. Memory grows with the constructs of the program, not with the events.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::ThreadInfo;
use instr_trace::model::{At, Code, End, Mark, Ran, Since, Sink, Span, Work};

use super::Durations;

/// What is executed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Construct {
    /// A parallel region, on the thread that encountered it, by its body.
    Region(Code),
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
    /// Texts by address, as the thread told them.
    texts: HashMap<u64, String>,
    /// Own regions and calls by the address of their name.
    named: HashMap<(bool, u64), Durations>,
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
    const STATES: bool = false;

    #[inline]
    fn body(&mut self, at: At, body: Option<&Span>) {
        self.threads[at.position].body = body.and_then(Span::body);
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
