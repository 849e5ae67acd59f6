//! Samples in, shares out. Memory grows with the program's code, not with the samples.

use std::cmp::Reverse;

use hashbrown::HashMap;
use instr_trace::Names;
use instr_trace::event::SamplingClock;
use instr_trace::model::{At, Sample, Sink};
use instr_trace::names::sampled_function;
use instr_trace::samples::Chain;

use super::model::{FunctionShare, Path, Samples};

/// More different chains of calls are not told apart.
const MAX_PATHS: usize = 1 << 16;
/// Chains that are told.
const SHOWN_PATHS: usize = 50;
const UNKNOWN: &str = "(unknown)";

/// Folds the samples of a trace; names are looked up as addresses come, each once.
pub struct Collector<'n> {
    names: &'n dyn Names,
    by_address: HashMap<u64, Option<u32>>,
    by_name: HashMap<String, u32>,
    functions: Vec<Function>,
    paths: HashMap<Vec<u32>, u64>,
    /// Functions of the sample at hand, innermost first.
    chain: Vec<u32>,
    /// The sample at hand.
    stack: Chain,
    out: Samples,
    any: bool,
}

struct Function {
    name: String,
    periods: u64,
    inclusive: u64,
    /// Number of the sample that counted it last.
    seen: u64,
}

impl Sink for Collector<'_> {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;
    const SAMPLES: bool = true;

    #[inline]
    fn sample(&mut self, _at: At, sample: &Sample<'_>) {
        self.take(sample);
    }
}

impl<'n> Collector<'n> {
    /// Names come from `names`.
    pub fn new(names: &'n dyn Names) -> Self {
        Self {
            names,
            by_address: HashMap::new(),
            by_name: HashMap::new(),
            functions: Vec::new(),
            paths: HashMap::new(),
            chain: Vec::new(),
            stack: Chain::default(),
            out: Samples::default(),
            any: false,
        }
    }

    /// Takes what sampling gives.
    pub(super) fn take(&mut self, sample: &Sample<'_>) {
        self.any = true;
        match *sample {
            Sample::Begins { clock, period_ns } => {
                self.out.period_ns = period_ns;
                self.out.clock = match clock {
                    SamplingClock::Real => "real",
                    _ => "cpu",
                };
                self.out.exact = clock != SamplingClock::Ticks;
            }
            Sample::Taken { frames, periods } => {
                let mut stack = std::mem::take(&mut self.stack);
                stack.read(self.names, &frames);
                self.taken(stack.pc(), periods, stack.callers().iter().copied());
                self.stack = stack;
            }
            Sample::Lost { periods } => self.out.lost += u64::from(periods),
            _ => {}
        }
    }

    pub(super) fn taken(&mut self, pc: u64, periods: u32, stack: impl Iterator<Item = u64>) {
        self.any = true;
        self.out.taken += 1;
        let weight = u64::from(periods);
        self.out.periods = self.out.periods.saturating_add(weight);
        self.chain.clear();
        let innermost = match self.function(pc) {
            Some(function) => function,
            None => self.named(UNKNOWN),
        };
        self.chain.push(innermost);
        for address in stack {
            // A return address is behind the call. What is no code was no frame.
            if let Some(function) = self.function(address.wrapping_sub(1)) {
                self.chain.push(function);
            }
        }
        let number = self.out.taken;
        for (depth, &function) in self.chain.iter().enumerate() {
            let function = &mut self.functions[function as usize];
            if depth == 0 {
                function.periods += weight;
            }
            if function.seen != number {
                function.seen = number;
                function.inclusive += weight;
            }
        }
        if let Some(periods) = self.paths.get_mut(&self.chain) {
            *periods += weight;
        } else if self.paths.len() < MAX_PATHS {
            self.paths.insert(self.chain.clone(), weight);
        }
    }

    /// The function at an address, or the file that holds it, if one is known.
    fn function(&mut self, address: u64) -> Option<u32> {
        if let Some(&known) = self.by_address.get(&address) {
            return known;
        }
        let function = sampled_function(self.names, address).map(|name| self.named(&name));
        self.by_address.insert(address, function);
        function
    }

    fn named(&mut self, name: &str) -> u32 {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        let number = self.functions.len() as u32;
        self.by_name.insert(name.to_owned(), number);
        self.functions.push(Function {
            name: name.to_owned(),
            periods: 0,
            inclusive: 0,
            seen: 0,
        });
        number
    }

    /// The shares; nothing when the program was not sampled.
    pub fn finish(mut self) -> Option<Samples> {
        if !self.any {
            return None;
        }
        let all = self.out.periods.max(1) as f64;
        let share = |periods: u64| periods as f64 / all;
        let mut functions: Vec<&Function> = self.functions.iter().collect();
        functions.sort_by_key(|f| (Reverse(f.periods), Reverse(f.inclusive), f.name.as_str()));
        self.out.functions = functions
            .iter()
            .map(|function| FunctionShare {
                function: function.name.clone(),
                share: share(function.periods),
                inclusive_share: share(function.inclusive),
                periods: function.periods,
            })
            .collect();
        let name = |&number: &u32| self.functions[number as usize].name.clone();
        let mut paths: Vec<(Vec<String>, u64)> = self
            .paths
            .iter()
            .map(|(chain, &periods)| (chain.iter().map(name).collect(), periods))
            .collect();
        paths.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        self.out.paths = paths
            .into_iter()
            .take(SHOWN_PATHS)
            .map(|(functions, periods)| Path {
                functions,
                share: share(periods),
                periods,
            })
            .collect();
        Some(self.out)
    }
}
