//! Who waits for a processor, and who runs there meanwhile.

use hashbrown::HashMap;

use super::model::{Interference, Who};
use super::threads::Threads;

/// Threads that wait for one processor and are followed; of more, nobody is made answerable.
pub(super) const MOST_WAITING: usize = 64;
/// Pairs that are kept apart.
const MOST_PAIRS: usize = 1 << 16;
/// Between two threads of one switch there is less time than this: else somebody ran who was not recorded.
pub(super) const DIRECT_NS: u64 = 20_000;

/// The waits for one processor.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Who waits, and since when.
    waiting: Vec<(usize, u64)>,
    /// Who lost the processor last, and when; nobody has it since.
    last: Option<(usize, u64)>,
}

/// Sums of pairs: who waited, and who ran (`None`: not recorded).
#[derive(Debug, Default)]
pub(super) struct Waits {
    pairs: HashMap<(usize, Option<usize>), (u64, u64)>,
    pub(super) unattributed: u64,
}

impl Queue {
    /// The thread could go on, but leaves the processor; whether its wait is followed.
    pub(super) fn leave(&mut self, thread: usize, time: u64) -> bool {
        self.last = Some((thread, time));
        self.join(thread, time)
    }

    /// A thread that was woken waits for the processor; whether its wait is followed.
    pub(super) fn join(&mut self, thread: usize, time: u64) -> bool {
        let is_followed = self.waiting.len() < MOST_WAITING;
        if is_followed {
            self.waiting.push((thread, time));
        }
        is_followed
    }

    /// The processor begins to run a thread: it took it from the one that left it.
    pub(super) fn take(&mut self, thread: usize, time: u64, waits: &mut Waits) {
        let Some((loser, since)) = self.last.take() else {
            return;
        };
        if time.saturating_sub(since) > DIRECT_NS {
            waits.add(loser, None, 1, 0);
        } else if loser != thread {
            waits.add(loser, Some(thread), 1, 0);
        }
    }

    /// A thread ran from then to now: all who waited meanwhile did so because of it.
    pub(super) fn ran(&self, thread: usize, from: u64, to: u64, waits: &mut Waits) {
        for (waiting, since) in &self.waiting {
            let ns = to.saturating_sub(from.max(*since));
            if *waiting != thread && ns > 0 {
                waits.add(*waiting, Some(thread), 0, ns);
            }
        }
    }

    /// The wait of a thread is over. `runs` is who has the processor, and since when.
    pub(super) fn end(
        &mut self,
        thread: usize,
        time: u64,
        runs: Option<(usize, u64)>,
        waits: &mut Waits,
    ) {
        let Some(at) = self.waiting.iter().position(|(other, _)| *other == thread) else {
            return;
        };
        let (_, since) = self.waiting.swap_remove(at);
        if let Some((runs, from)) = runs.filter(|(runs, _)| *runs != thread) {
            let ns = time.saturating_sub(from.max(since));
            waits.add(thread, Some(runs), 0, ns);
        }
    }
}

impl Waits {
    fn add(&mut self, waited: usize, ran: Option<usize>, times: u64, ns: u64) {
        let is_full = self.pairs.len() >= MOST_PAIRS;
        let pair = (waited, ran);
        if is_full && !self.pairs.contains_key(&pair) {
            self.unattributed = self.unattributed.saturating_add(ns);
            return;
        }
        let sums = self.pairs.entry(pair).or_default();
        sums.0 += times;
        sums.1 = sums.1.saturating_add(ns);
    }

    /// The pairs of threads of applications that waited, the longest first; what nobody of the recorded ran in their waits is somebody else's.
    pub(super) fn finish(mut self, threads: &Threads) -> (Vec<Interference>, u64) {
        let mut known: HashMap<usize, u64> = HashMap::new();
        for ((waited, _), (_, ns)) in &self.pairs {
            let sum = known.entry(*waited).or_default();
            *sum = sum.saturating_add(*ns);
        }
        for (waited, thread) in threads.all.iter().enumerate() {
            let known = known.get(&waited).copied().unwrap_or(0);
            let others = thread.preempted_ns.saturating_sub(known);
            let is_own = threads.processes[thread.process].application.is_some();
            if others > 0 && is_own {
                self.add(waited, None, 0, others);
            }
        }
        let application = |thread: usize| {
            let process = threads.all[thread].process;
            threads.processes[process].application
        };
        let who = |at: usize| {
            let thread = &threads.all[at];
            Who {
                application: application(at),
                pid: threads.processes[thread.process].pid,
                tid: thread.tid,
                name: thread.name.clone(),
            }
        };
        let mut found: Vec<_> = self
            .pairs
            .iter()
            .filter(|((waited, _), sums)| application(*waited).is_some() && **sums != (0, 0))
            .map(|((waited, ran), (times, ns))| Interference {
                waited: who(*waited),
                ran: ran.map(who),
                times: *times,
                ns: *ns,
            })
            .collect();
        found.sort_by_cached_key(|pair| {
            let numbers = |who: &Who| (who.application, who.tid);
            (
                std::cmp::Reverse((pair.ns, pair.times)),
                numbers(&pair.waited),
                pair.ran.as_ref().map(numbers),
            )
        });
        (found, self.unattributed)
    }
}
