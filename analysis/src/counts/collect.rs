//! Spans and marks in, numbers out. Memory grows with the functions of the program and the names of its own regions, not with the events.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::ThreadInfo;
use instr_trace::event::{AllocatorKind, MutexKind, SyncKind, task_flags};
use instr_trace::model::{At, Begin, End, Found, Mark, Ran, Reading, Since, Sink, Span};
use instr_trace::sensors::Definitions;

use super::functions::{Functions, Stack};
use super::work::OpenWork;
use super::{Code, Collected, MutexCount, TaskCount};
use crate::Times;

/// Counts what a program did.
#[derive(Debug)]
pub struct Collector {
    pub(super) out: Collected,
    /// What is looked up for each event; it becomes part of `out` at the end.
    tasks: HashMap<Code, TaskCount>,
    mutexes: HashMap<(MutexKind, u64), MutexCount>,
    functions: Functions,
    pub(super) threads: Vec<Thread>,
    /// Bytes and kind of what OpenMP allocators gave and did not get back, by address.
    pub(super) allocated: HashMap<u64, (AllocatorKind, u64)>,
}

/// One thread.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// The running body; `None`: the initial task.
    pub(super) body: Option<Code>,
    /// The running body is that of a worker: what a team does together counts on its first thread.
    pub(super) is_worker: bool,
    /// Chunks and sections of the open work-sharing constructs.
    work: Vec<OpenWork>,
    strings: HashMap<u64, String>,
    /// What the last call of threads for a lock found.
    found: Option<Found>,
    functions: Stack,
}

impl Collector {
    /// For the threads of one trace, as [`instr_trace::Trace::threads`] gives them, and the counters that it defines.
    pub fn new(threads: &[ThreadInfo], definitions: &Definitions) -> Self {
        Self {
            out: Collected::default(),
            tasks: HashMap::new(),
            mutexes: HashMap::new(),
            functions: Functions::new(definitions),
            threads: threads.iter().map(|_| Thread::default()).collect(),
            allocated: HashMap::new(),
        }
    }

    /// What was counted.
    pub fn finish(mut self) -> Collected {
        self.out.tasks = self.tasks.into_iter().collect();
        self.out.mutexes = self.mutexes.into_iter().collect();
        (self.out.functions, self.out.function_counters) = self.functions.finish();
        self.out
    }
}

impl Sink for Collector {
    const READINGS: bool = true;

    #[inline]
    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        if let Reading::Counters { values, .. } = reading
            && let Some(thread) = self.threads.get_mut(at.position)
        {
            self.functions.read(&mut thread.functions, values);
        }
    }

    #[inline]
    fn body(&mut self, at: At, body: Option<&Span>) {
        let thread = &mut self.threads[at.position];
        thread.body = body.and_then(Span::body);
        thread.is_worker =
            matches!(body, Some(Span::Implicit { thread_num, .. }) if *thread_num != 0);
    }

    #[inline]
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        let out = &mut self.out;
        let is_first = how == Begin::Told;
        match *span {
            Span::Task {
                code, undeferred, ..
            } if is_first => {
                self.tasks.entry(code).or_default().executed += 1;
                out.undeferred += u64::from(undeferred);
            }
            Span::Create { code, flags, .. } if is_first => {
                self.tasks.entry(code).or_default().created += 1;
                out.special_tasks.detached += u64::from(flags & task_flags::DETACH != 0);
            }
            Span::WaitDepend { .. } if is_first => out.special_tasks.taskwaits_depend += 1,
            Span::Single if is_first => out.singles += 1,
            Span::Hold { kind, object } if how == Begin::Found => {
                let count = self.mutexes.entry((kind, object)).or_default();
                match self.threads[at.position].found.take() {
                    Some(Found::Free) => count.taken(),
                    _ => count.acquired(at.position as u32, None, at.time),
                }
            }
            Span::Work(work) => self.threads[at.position].work.push(OpenWork::new(work)),
            Span::Function { name } => {
                let Thread {
                    functions, strings, ..
                } = &mut self.threads[at.position];
                let text = || text_of(strings, name);
                self.functions
                    .begin(functions, at.time, name, is_first, text);
            }
            Span::Asking { called: true } => {
                if let Some(open) = self.threads[at.position].work.last_mut() {
                    open.end_piece(at.time);
                }
            }
            _ => {}
        }
    }

    /// What lost its end is not counted: its time would only mislead. Parallel and user regions and held locks, which may span the whole
    /// run, count up to where they are known to have ended.
    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        let ns = at.time.saturating_sub(since.first.unwrap_or(since.here));
        let is_told = how == End::Told;
        match *span {
            Span::Task { .. } if how == End::Suspended => self.out.special_tasks.suspended += 1,
            Span::Work(_) => self.end_work(at, how, ns),
            Span::Acquire { kind, object } => self.asked(at, (kind, object), how, ns),
            Span::Hold { kind, object } => {
                let count = self.mutexes.entry((kind, object)).or_default();
                match is_told {
                    true => count.released(at.position as u32, at.time - ns, at.time),
                    false if how.is_final() => count.held(ns),
                    false => {}
                }
            }
            Span::Function { .. } => {
                let stack = &mut self.threads[at.position].functions;
                self.functions.end(stack, at.time, how, since);
            }
            Span::Sync(kind) if is_told => self.waited(at, kind, ns),
            Span::Parallel { .. } | Span::User { .. } if how != End::Suspended => {
                self.ended(at, span, ns);
            }
            Span::Single | Span::Masked | Span::Target(_) | Span::Call { .. } if is_told => {
                self.ended(at, span, ns);
            }
            _ => {}
        }
    }

    #[inline]
    fn task_ran(&mut self, _at: At, task: &Span, ran: Ran) {
        let count = self.tasks.entry(task.body().unwrap_or_default());
        let count = count.or_default();
        count.own.add(ran.own);
        count.inclusive_ns = count.inclusive_ns.saturating_add(ran.whole);
    }

    #[inline]
    fn mark(&mut self, at: At, mark: Mark<'_>) {
        let thread = &mut self.threads[at.position];
        match mark {
            Mark::User { kind, .. } => *self.out.user_events.entry(kind).or_default() += 1,
            Mark::Chunk { begin, end } => {
                if let Some(open) = thread.work.last_mut() {
                    open.begin_piece(at.time);
                    open.chunk(begin, end);
                }
            }
            Mark::Section { .. } => {
                if let Some(open) = thread.work.last_mut() {
                    open.begin_piece(at.time);
                }
            }
            Mark::Piece { code, .. } => self.tasks.entry(code).or_default().created += 1,
            Mark::Text { address, text } => {
                let text = String::from_utf8_lossy(text).into_owned();
                if thread.strings.get(&address) != Some(&text) {
                    thread.functions.forget(address);
                    thread.strings.insert(address, text);
                }
            }
            Mark::Lock {
                kind,
                object,
                found,
                ..
            } => {
                thread.found = Some(found);
                if found == Found::Refused {
                    self.mutexes.entry((kind, object)).or_default().failed += 1;
                }
            }
            Mark::Counter { name, value } => {
                let counters = &mut self.out.counters;
                counters.entry(thread.text(name)).or_default().add(value);
            }
            _ => self.construct(at, mark),
        }
    }
}

impl Collector {
    /// A span has ended that lasted `ns`.
    fn ended(&mut self, at: At, span: &Span, ns: u64) {
        let thread = &self.threads[at.position];
        let out = &mut self.out;
        match *span {
            Span::Parallel { code, .. } => out.regions.entry(code).or_default().add(ns),
            Span::Single => out.single_times.add(ns),
            Span::Masked => out.masked.entry(thread.body).or_default().add(ns),
            Span::Target(target) => {
                let key = (target.kind, target.function);
                out.targets.entry(key).or_default().add(ns);
            }
            Span::User { name } => thread.add_named(&mut out.user_regions, name, ns),
            Span::Call { name } => thread.add_named(&mut out.calls, name, ns),
            _ => {}
        }
    }

    /// The wait for a lock is over, of which calls of threads say by themselves that it was one.
    fn asked(&mut self, at: At, lock: (MutexKind, u64), how: End, ns: u64) {
        let is_wait = self.threads[at.position].found.take() == Some(Found::Held);
        if !matches!(how, End::Told | End::Refused) {
            return;
        }
        let count = self.mutexes.entry(lock).or_default();
        match how {
            End::Told if is_wait => count.waited(ns),
            End::Told => {
                let asked = at.time.saturating_sub(ns);
                count.acquired(at.position as u32, Some(asked), at.time);
            }
            _ => count.refused(ns),
        }
    }

    fn waited(&mut self, at: At, kind: SyncKind, ns: u64) {
        self.out.syncs.entry(kind).or_default().add(ns);
        if kind == SyncKind::DoacrossSink {
            let body = self.threads[at.position].body;
            self.out.doacross.entry(body).or_default().times.add(ns);
        }
    }

    fn end_work(&mut self, at: At, how: End, ns: u64) {
        let thread = &mut self.threads[at.position];
        if let Some(mut open) = thread.work.pop()
            && how == End::Told
        {
            open.end_piece(at.time);
            if let Some(count) = self.out.work(open.work, thread.body) {
                count.instances += u64::from(!thread.is_worker);
                count.times.add(ns);
                open.count(count);
            }
        }
    }
}

fn text_of(strings: &HashMap<u64, String>, address: u64) -> String {
    let text = strings.get(&address).cloned();
    text.unwrap_or_else(|| format!("{address:#x}"))
}

impl Thread {
    /// The text behind an address, or the address.
    fn text(&self, address: u64) -> String {
        text_of(&self.strings, address)
    }

    fn add_named(&self, to: &mut BTreeMap<String, Times>, name: u64, ns: u64) {
        match self.strings.get(&name).and_then(|text| to.get_mut(text)) {
            Some(times) => times.add(ns),
            None => to.entry(self.text(name)).or_default().add(ns),
        }
    }
}
