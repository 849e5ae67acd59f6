//! Functions of languages: calls, times with and without what they call.

use hashbrown::HashMap;
use instr_trace::model::{Count, End, Since};
use instr_trace::sensors::{CounterDef, Definitions};
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
    /// What the counters of its threads counted in it, in the order of the trace's counters; empty where that is not recorded.
    pub counted: Vec<Counted>,
    /// Stays that have ended.
    stays: u64,
}

/// What a counter counted in a function.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Without other recorded functions.
    pub own: u64,
    /// With what it calls; where it calls itself, that counts once.
    pub total: u64,
}

impl Counted {
    fn add(&mut self, other: Self) {
        self.own = self.own.saturating_add(other.own);
        self.total = self.total.saturating_add(other.total);
    }
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
    /// For each open function, as many as there are counters: what they counted in it so far; `total` of what it called.
    counted: Vec<Counted>,
    /// How many of the open functions have been open since the last reading.
    kept: usize,
}

impl Stack {
    /// What counters counted since the reading before belongs to the innermost function that was open all the while.
    fn read(&mut self, values: &[Count]) {
        let kept = std::mem::replace(&mut self.kept, self.open.len());
        let width = self.counted.len() / self.open.len().max(1);
        let innermost = kept.saturating_sub(1) * width..kept * width;
        if let Some(counted) = self.counted.get_mut(innermost) {
            for (counted, value) in counted.iter_mut().zip(values) {
                counted.own = counted.own.saturating_add(value.grown);
            }
        }
    }

    /// The innermost function leaves its thread: what was counted in it, which its caller's total has too.
    fn leave(&mut self, width: usize) -> Vec<Counted> {
        let at = self.open.len() * width;
        let mut counted = self.counted.split_off(at.min(self.counted.len()));
        for (at, counted) in counted.iter_mut().enumerate() {
            counted.total = counted.total.saturating_add(counted.own);
            if let Some(outer) = (self.counted.len() + at).checked_sub(width) {
                let outer = &mut self.counted[outer];
                outer.total = outer.total.saturating_add(counted.total);
            }
        }
        self.kept = self.kept.min(self.open.len());
        counted
    }

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
    /// Counters that are read in functions, and whether each was ever counted.
    counters: Vec<(CounterDef, bool)>,
}

impl Functions {
    /// Of a trace whose threads have these counters.
    pub(super) fn new(definitions: &Definitions) -> Self {
        let counters = definitions.counters.iter();
        let counters = counters.filter(|_| definitions.counts_functions);
        Self {
            counters: counters.map(|counter| (counter.clone(), false)).collect(),
            ..Self::default()
        }
    }

    /// The counters of a thread are read.
    pub(super) fn read(&mut self, stack: &mut Stack, values: &[Count]) {
        for ((_, seen), value) in self.counters.iter_mut().zip(values) {
            *seen |= value.value.is_some();
        }
        stack.read(values);
    }

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
                    self.counts.push(FunctionCount {
                        counted: vec![Counted::default(); self.counters.len()],
                        ..FunctionCount::default()
                    });
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
        let counted = stack.open.len() * self.counters.len();
        stack.counted.resize(counted, Counted::default());
    }

    /// The innermost one leaves its thread at `time`.
    pub(super) fn end(&mut self, stack: &mut Stack, time: u64, how: End, since: Since) {
        let Some(open) = stack.open.pop() else {
            return;
        };
        let ns = time.saturating_sub(since.here);
        let counted = stack.leave(self.counters.len());
        let count = &mut self.counts[open.number];
        count.stayed(ns);
        count.own_ns = count
            .own_ns
            .saturating_add(ns.saturating_sub(open.inner_ns));
        let depth = stack.depths.get_mut(&open.number);
        let is_outermost = depth.is_some_and(|depth| {
            *depth -= 1;
            *depth == 0
        });
        if is_outermost {
            count.total_ns = count.total_ns.saturating_add(ns);
        }
        for (count, Counted { own, total }) in count.counted.iter_mut().zip(counted) {
            let total = if is_outermost { total } else { 0 };
            count.add(Counted { own, total });
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

    /// By text, that with the most own time first; and the counters that counted in them.
    pub(super) fn finish(self) -> (Vec<(String, FunctionCount)>, Vec<CounterDef>) {
        let mut counts = self.counts;
        for count in &mut counts {
            let mut seen = self.counters.iter().map(|(_, seen)| *seen);
            count.counted.retain(|_| seen.next().unwrap_or(false));
        }
        let counters = self.counters.into_iter().filter(|(_, seen)| *seen);
        let counters = counters.map(|(counter, _)| counter).collect();
        let mut all: Vec<_> = self
            .texts
            .into_iter()
            .map(|(text, number)| (text, std::mem::take(&mut counts[number])))
            .collect();
        all.sort_by(|(a, one), (b, other)| other.own_ns.cmp(&one.own_ns).then_with(|| a.cmp(b)));
        (all, counters)
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
        let found = all.finish().0;
        let numbers: Vec<_> = found
            .iter()
            .map(|(name, count)| (name.as_str(), count.calls, count.total_ns, count.own_ns))
            .collect();
        assert_eq!(numbers, [("f", 2, 100, 80), ("g", 1, 30, 20)]);
        assert_eq!((found[0].1.min_ns, found[0].1.max_ns), (10, 100));
    }

    fn grown(by: u64) -> [Count; 2] {
        let value = Some(by.cast_signed());
        let none = Count {
            value: None,
            grown: 0,
        };
        [Count { value, grown: by }, none]
    }

    /// `f` calls `g`, which calls `f`, with a reading behind each begin and before each end. The counter grows by 1 before all, by 2 in `f`, 4 in `g`, 8 in the inner `f`, 16 in
    /// `g` again, 32 in `f` again, and by 64 behind all. A second counter never counts.
    #[test]
    fn counts_belong_to_the_innermost_function_that_was_open_between_two_readings() {
        let counter = |name: &str| CounterDef {
            name: name.to_owned(),
            unit: String::new(),
        };
        let mut all = Functions::new(&Definitions {
            counters: vec![counter("page-faults"), counter("cycles")],
            counts_functions: true,
            ..Definitions::default()
        });
        let mut stack = Stack::default();
        let names = [(1, "f"), (2, "g"), (1, "f")];
        for ((address, name), by) in names.into_iter().zip([1, 2, 4]) {
            all.begin(&mut stack, 0, address, true, || name.to_owned());
            all.read(&mut stack, &grown(by));
        }
        for by in [8, 16, 32] {
            all.read(&mut stack, &grown(by));
            all.end(&mut stack, 1, End::Told, since(0));
        }
        all.read(&mut stack, &grown(64));
        let (found, counters) = all.finish();
        assert_eq!(counters, [counter("page-faults")]);
        let counted = |name: &str| {
            let (_, count) = found.iter().find(|(text, _)| text == name).unwrap();
            count.counted.as_slice()
        };
        let [own, total] = [42, 62];
        assert_eq!(counted("f"), [Counted { own, total }]);
        let [own, total] = [20, 28];
        assert_eq!(counted("g"), [Counted { own, total }]);
    }

    /// The reading behind the begin of `g` is lost: what was counted from the one before to the one before its end is its caller's.
    #[test]
    fn counts_behind_a_lost_reading_belong_to_what_was_open_before() {
        let counters = vec![CounterDef {
            name: "page-faults".to_owned(),
            unit: String::new(),
        }];
        let mut all = Functions::new(&Definitions {
            counters,
            counts_functions: true,
            ..Definitions::default()
        });
        let mut stack = Stack::default();
        all.begin(&mut stack, 0, 1, true, || "f".to_owned());
        all.read(&mut stack, &grown(1));
        all.begin(&mut stack, 0, 2, true, || "g".to_owned());
        all.read(&mut stack, &grown(5));
        all.end(&mut stack, 1, End::Told, since(0));
        all.end(&mut stack, 1, End::Cut, since(0));
        let (found, _) = all.finish();
        let owns = found.iter().map(|(_, count)| count.counted[0].own);
        assert_eq!(owns.sum::<u64>(), 5);
        let f = &found.iter().find(|(text, _)| text == "f").unwrap().1;
        assert_eq!(f.counted, [Counted { own: 5, total: 5 }]);
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
        let found = all.finish().0;
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
        let found = all.finish().0;
        let numbers: Vec<_> = found
            .iter()
            .map(|(name, count)| (name.as_str(), count.calls, count.own_ns, count.suspended_ns))
            .collect();
        assert_eq!(numbers, [("task t", 2, 26, 55), ("await get", 2, 0, 55)]);
    }
}
