//! Who woke whom, and how long that one waited for a processor then.

use std::cmp::Reverse;

use hashbrown::HashMap;
use instr_trace::kernel::{Context, ThreadId};

use super::model::{Wake, Who};
use super::threads::Threads;

/// Pairs that are kept apart.
const MOST_PAIRS: usize = 1 << 16;

/// Who woke: a thread of the recording by its position, another one by its numbers, an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum By {
    Known(usize),
    Other(ThreadId),
    Nobody,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Pair {
    woken: usize,
    context: Context,
    by: By,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    times: u64,
    delay_ns: u64,
    longest_ns: u64,
}

/// Sums of pairs.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    numbers: HashMap<Pair, usize>,
    pairs: Vec<(Pair, Sums)>,
    more: u64,
}

impl Wakes {
    /// A thread was woken by one that is known, or by another one. Returns the number of the pair.
    pub(super) fn add(
        &mut self,
        woken: usize,
        context: Context,
        by: ThreadId,
        known: Option<usize>,
    ) -> usize {
        let by = match (known, context) {
            (Some(known), _) => By::Known(known),
            (None, Context::Thread | Context::Unknown) if by.tid != 0 => By::Other(by),
            _ => By::Nobody,
        };
        let pair = Pair { woken, context, by };
        let number = match self.numbers.get(&pair) {
            Some(number) => *number,
            None if self.pairs.len() >= MOST_PAIRS => {
                self.more = self.more.saturating_add(1);
                return usize::MAX;
            }
            None => {
                let number = self.pairs.len();
                self.numbers.insert(pair, number);
                self.pairs.push((pair, Sums::default()));
                number
            }
        };
        self.pairs[number].1.times += 1;
        number
    }

    /// The woken thread of a pair has run, so much later.
    pub(super) fn ran(&mut self, number: usize, ns: u64) {
        if let Some((_, sums)) = self.pairs.get_mut(number) {
            sums.delay_ns = sums.delay_ns.saturating_add(ns);
            sums.longest_ns = sums.longest_ns.max(ns);
        }
    }

    /// The pairs whose woken threads are of applications, and how many wake-ups were in none.
    pub(super) fn finish(self, threads: &Threads) -> (Vec<Wake>, u64) {
        let who = |at: usize| {
            let thread = &threads.all[at];
            let process = &threads.processes[thread.process];
            Who {
                application: process.application,
                pid: process.pid,
                tid: thread.tid,
                name: thread.name.clone(),
            }
        };
        let is_own = |pair: &Pair| {
            let process = threads.all[pair.woken].process;
            threads.processes[process].application.is_some()
        };
        let own = self.pairs.into_iter().filter(|(pair, _)| is_own(pair));
        let wake = |(pair, sums): (Pair, Sums)| Wake {
            woken: who(pair.woken),
            context: match pair.context {
                Context::Thread => "thread",
                Context::Interrupt => "interrupt",
                Context::Unknown => "unknown",
            },
            by: match pair.by {
                By::Known(at) => Some(who(at)),
                By::Other(id) => Some(Who {
                    application: None,
                    pid: id.pid,
                    tid: id.tid,
                    name: String::new(),
                }),
                By::Nobody => None,
            },
            times: sums.times,
            delay_ns: sums.delay_ns,
            longest_ns: sums.longest_ns,
        };
        let mut found: Vec<Wake> = own.map(wake).collect();
        // Pairs are in order of their first time: what is equal stays so.
        found.sort_by_key(|wake| Reverse((wake.times, wake.delay_ns)));
        (found, self.more)
    }
}
