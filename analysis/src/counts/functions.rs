//! Functions of languages: calls, times with and without what they call.

use hashbrown::HashMap;
use instr_trace::model::{End, Since};
use instr_trace::words::{Asynchronous, asynchronous};

/// One function.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FunctionCount {
    /// Begins that are no resumptions.
    pub calls: u64,
    /// Times it went on (generators, coroutines).
    pub resumptions: u64,
    /// Time on threads, with what it calls, ns; where it calls itself, that counts once.
    pub total_ns: u64,
    /// Without other recorded functions, ns.
    pub own_ns: u64,
    /// Shortest stay on a thread, with what it calls, ns.
    pub min_ns: u64,
    /// Longest stay, ns.
    pub max_ns: u64,
    /// Of a task of an event loop, and of what such tasks await: time from each suspension to where it went on, ns. Of other functions,
    /// whose pieces do not know of each other, 0.
    pub suspended_ns: u64,
    /// Stays that have ended.
    stays: u64,
}

impl FunctionCount {
    fn stayed(&mut self, ns: u64) {
        self.min_ns = match self.stays {
            0 => ns,
            _ => self.min_ns.min(ns),
        };
        self.max_ns = self.max_ns.max(ns);
        self.stays += 1;
    }
}

/// A function that is open on a thread.
#[derive(Debug)]
struct Open {
    number: usize,
    address: u64,
    /// Time in recorded functions that it called.
    inner_ns: u64,
}

/// One thread.
#[derive(Debug, Default)]
pub(super) struct Stack {
    open: Vec<Open>,
    /// Numbers by the addresses of texts, until an address gets another text.
    numbers: HashMap<u64, usize>,
    /// How many of a function are open.
    depths: HashMap<usize, u32>,
    /// What the task awaits that is about to be suspended.
    awaited: Option<usize>,
}

impl Stack {
    /// The address gets another text.
    pub(super) fn forget(&mut self, address: u64) {
        if !self.numbers.is_empty() {
            self.numbers.remove(&address);
        }
    }
}

/// A task of an event loop that is suspended.
#[derive(Debug)]
struct Suspended {
    since: u64,
    awaits: Option<usize>,
}

/// All functions.
#[derive(Debug, Default)]
pub(super) struct Functions {
    texts: HashMap<String, usize>,
    counts: Vec<FunctionCount>,
    /// What each is, by its number.
    kinds: Vec<Option<Asynchronous>>,
    /// Tasks of event loops, by the addresses of their texts.
    suspended: HashMap<u64, Suspended>,
}

impl Functions {
    /// A function begins or goes on at `time`. `text` is asked for where its address is new on the thread.
    pub(super) fn begin(
        &mut self,
        stack: &mut Stack,
        time: u64,
        address: u64,
        told: bool,
        text: impl FnOnce() -> String,
    ) {
        let number = match stack.numbers.get(&address) {
            Some(number) => *number,
            None => {
                let next = self.counts.len();
                let text = text();
                let kind = asynchronous(&text);
                let number = *self.texts.entry(text).or_insert(next);
                if number == next {
                    self.counts.push(FunctionCount::default());
                    self.kinds.push(kind);
                }
                stack.numbers.insert(address, number);
                number
            }
        };
        let count = &mut self.counts[number];
        match told {
            true => count.calls += 1,
            false => count.resumptions += 1,
        }
        if self.kinds[number] == Some(Asynchronous::Task)
            && let Some(suspended) = self.suspended.remove(&address)
            && !told
        {
            let ns = time.saturating_sub(suspended.since);
            for number in [Some(number), suspended.awaits].into_iter().flatten() {
                let count = &mut self.counts[number];
                count.suspended_ns = count.suspended_ns.saturating_add(ns);
            }
        }
        *stack.depths.entry(number).or_default() += 1;
        stack.open.push(Open {
            number,
            address,
            inner_ns: 0,
        });
    }

    /// The innermost one leaves its thread at `time`.
    pub(super) fn end(&mut self, stack: &mut Stack, time: u64, how: End, since: Since) {
        let Some(open) = stack.open.pop() else {
            return;
        };
        let ns = time.saturating_sub(since.here);
        let count = &mut self.counts[open.number];
        count.stayed(ns);
        count.own_ns = count
            .own_ns
            .saturating_add(ns.saturating_sub(open.inner_ns));
        if let Some(depth) = stack.depths.get_mut(&open.number) {
            *depth -= 1;
            if *depth == 0 {
                count.total_ns = count.total_ns.saturating_add(ns);
            }
        }
        if let Some(outer) = stack.open.last_mut() {
            outer.inner_ns = outer.inner_ns.saturating_add(ns);
        }
        let is_suspended = how == End::Suspended;
        match self.kinds[open.number] {
            None => {}
            Some(Asynchronous::Await) => stack.awaited = is_suspended.then_some(open.number),
            Some(Asynchronous::Task) => {
                let awaits = stack.awaited.take();
                if is_suspended {
                    let since = time;
                    let suspended = Suspended { since, awaits };
                    self.suspended.insert(open.address, suspended);
                }
            }
        }
    }

    /// By text, that with the most own time first.
    pub(super) fn finish(self) -> Vec<(String, FunctionCount)> {
        let mut counts = self.counts;
        let mut all: Vec<_> = self
            .texts
            .into_iter()
            .map(|(text, number)| (text, std::mem::take(&mut counts[number])))
            .collect();
        all.sort_by(|(a, one), (b, other)| other.own_ns.cmp(&one.own_ns).then_with(|| a.cmp(b)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn since(here: u64) -> Since {
        Since {
            here,
            first: Some(here),
        }
    }

    /// `f` from 0 to 100 calls `g` from 10 to 40, which calls `f` from 20 to 30.
    #[test]
    fn own_times_add_up_and_recursion_counts_once() {
        let mut all = Functions::default();
        let mut stack = Stack::default();
        for (address, name) in [(1, "f"), (2, "g"), (1, "f")] {
            all.begin(&mut stack, 0, address, true, || name.to_owned());
        }
        for (time, begin) in [(30, 20), (40, 10), (100, 0)] {
            all.end(&mut stack, time, End::Told, since(begin));
        }
        let found = all.finish();
        let numbers: Vec<_> = found
            .iter()
            .map(|(name, count)| (name.as_str(), count.calls, count.total_ns, count.own_ns))
            .collect();
        assert_eq!(numbers, [("f", 2, 100, 80), ("g", 1, 30, 20)]);
        assert_eq!((found[0].1.min_ns, found[0].1.max_ns), (10, 100));
    }

    #[test]
    fn a_text_at_another_address_is_the_same_function() {
        let mut all = Functions::default();
        let mut stack = Stack::default();
        all.begin(&mut stack, 0, 1, true, || "f".to_owned());
        all.end(&mut stack, 5, End::Told, since(0));
        stack.forget(1);
        all.begin(&mut stack, 0, 1, true, || "h".to_owned());
        all.end(&mut stack, 7, End::Told, since(6));
        all.begin(&mut stack, 0, 9, false, || "f".to_owned());
        all.end(&mut stack, 10, End::Told, since(8));
        let found = all.finish();
        assert_eq!(
            (
                found[0].0.as_str(),
                found[0].1.calls,
                found[0].1.resumptions
            ),
            ("f", 1, 1)
        );
        assert_eq!((found[0].1.own_ns, found[1].1.own_ns), (7, 1));
    }

    /// Two tasks in turn on one thread: the first runs from 0 to 10 and awaits a queue up to 35, the second runs from 20 to 30 and
    /// awaits the same one up to 60.
    #[test]
    fn a_task_that_is_suspended_does_not_run_but_awaits() {
        let mut all = Functions::default();
        let mut stack = Stack::default();
        let mut step = |address: u64, times: [u64; 2], told: bool, how: End| {
            let name = || "task t".to_owned();
            all.begin(&mut stack, times[0], address, told, name);
            if how == End::Suspended {
                all.begin(&mut stack, times[1], 9, true, || "await get".to_owned());
                all.end(&mut stack, times[1], End::Suspended, since(times[1]));
            }
            all.end(&mut stack, times[1], how, since(times[0]));
        };
        step(1, [0, 10], true, End::Suspended);
        step(2, [20, 30], true, End::Suspended);
        step(1, [35, 40], false, End::Told);
        step(2, [60, 61], false, End::Told);
        let found = all.finish();
        let numbers: Vec<_> = found
            .iter()
            .map(|(name, count)| (name.as_str(), count.calls, count.own_ns, count.suspended_ns))
            .collect();
        assert_eq!(numbers, [("task t", 2, 26, 55), ("await get", 2, 0, 55)]);
    }
}
