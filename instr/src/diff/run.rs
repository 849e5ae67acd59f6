//! One run, as far as it is compared: what its whole took, and its constructs with their executions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use instr_analysis::Times;
use instr_analysis::counts::Code;
use instr_analysis::executions::{Construct, Durations};
use instr_trace::Metadata;
use instr_trace::names::outer_function;
use serde::Serialize;

use crate::sheet::parts;
use crate::summary::model::{Critical, Place, Summary};

/// The row that is the run's time.
pub(crate) const RUN_TIME: &str = "run time";

/// Of a construct's executions in a run, one of these stands for the run: the quartile, unless runs differ less by another. Other work on the machine makes executions longer, hardly ever
/// shorter; how many it leaves alone is not the same everywhere.
pub(super) const LOWS: [f64; 4] = [0.25, 0.05, 0.0, 0.5];

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The run as a whole, by what its threads did.
    Run,
    /// A parallel region.
    Region,
    /// The implicit tasks of a parallel region: their own user code.
    ImplicitTask,
    /// A task function.
    Task,
    /// A work-sharing loop.
    Loop,
    /// A region of the program's own.
    User,
    /// Calls of a described function.
    Call,
    /// Holding a lock or critical section.
    Held,
    /// Waiting for a lock or critical section.
    Wait,
    /// Waiting of another kind: barriers, taskwait …
    Waiting,
}

impl Kind {
    /// For people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Region => "region",
            Self::ImplicitTask => "implicit task",
            Self::Task => "task",
            Self::Loop => "loop",
            Self::User => "user region",
            Self::Call => "call",
            Self::Held => "lock held",
            Self::Wait => "lock wait",
            Self::Waiting => "waiting",
        }
    }

    /// Whether it is a construct at a place in the source, which its label has.
    pub(crate) fn has_place(self) -> bool {
        matches!(
            self,
            Self::Region | Self::ImplicitTask | Self::Task | Self::Loop
        )
    }

    /// Whether it is code that runs, in which a program can become slower; what waits does so because of others.
    pub(crate) fn is_code(self) -> bool {
        !matches!(self, Self::Held | Self::Wait | Self::Waiting)
    }

    /// Whether its time is that of one thread at a time, so that it is a part of the run's time; else it is a part of the time of all threads.
    fn is_of_one_thread(self) -> bool {
        matches!(self, Self::Region | Self::User)
    }
}

/// What tells a construct from others, in any build of the program.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    /// Function or name, without the compiler's marks, and the schedule of a loop.
    pub(crate) name: String,
    /// Base name of the file.
    pub(crate) file: Option<String>,
    pub(crate) line: Option<u32>,
    /// For people; tells constructs of one line apart.
    pub(crate) label: String,
    /// The number of code without a name among that of its kind, from 1, in the order of addresses.
    pub(crate) unnamed: Option<u32>,
}

impl Key {
    /// The key of the implicit tasks of this region: its name stands first, as narrow tables cut what is behind.
    fn of_implicit_tasks(&self) -> Self {
        let what = ", implicit task";
        let label = match self.label.rsplit_once(" [") {
            Some((name, place)) => format!("{name}{what} [{place}"),
            None => format!("{}{what}", self.label),
        };
        Self {
            kind: Kind::ImplicitTask,
            label,
            ..self.clone()
        }
    }
}

/// The executions of a construct in one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Executions {
    pub(crate) count: u64,
    pub(crate) total_ns: u64,
    /// Where each was timed, until all of the run are known.
    durations: Option<Durations>,
    /// What follows from that, ns: [`LOWS`].
    lows_ns: Option<[f64; LOWS.len()]>,
}

impl Executions {
    /// Time of one execution, ns: the quantile of this number in [`LOWS`] where each was timed, else the mean of all; [`None`] where there are none.
    pub(super) fn each_ns(&self, low: usize) -> Option<f64> {
        self.lows_ns
            .map(|lows| lows[low])
            .or_else(|| (self.count > 0).then(|| self.total_ns as f64 / self.count as f64))
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        match (&mut self.durations, other.durations) {
            (Some(own), Some(durations)) => own.merge(&durations),
            (own, durations) => *own = durations,
        }
    }
}

/// One run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Run {
    pub(crate) path: PathBuf,
    pub(crate) program: String,
    pub(crate) arguments: Option<String>,
    pub(crate) target: String,
    /// ns since 1970; [`None`]: the trace does not tell.
    pub(crate) started_ns: Option<u64>,
    pub(crate) threads: u64,
    pub(crate) duration_ns: u64,
    /// Time of all threads, ns.
    pub(crate) capacity_ns: u64,
    /// Time that threads were ready and waited for a processor, where that is known, ns.
    pub(crate) unserved_ns: u64,
    /// It did not end by itself, or parts of its trace are missing: times of all of it mean nothing.
    pub(crate) is_cut: bool,
    pub(crate) constructs: BTreeMap<Key, Executions>,
}

impl Run {
    /// The run of a program and of the processes that it forked.
    pub(crate) fn of(metadata: &Metadata, summary: &Summary) -> Self {
        let mut run = Self {
            path: summary.path.clone(),
            program: summary.program.clone(),
            arguments: metadata.arguments.clone().filter(|text| !text.is_empty()),
            target: summary.target.clone(),
            started_ns: summary.started_realtime_ns,
            duration_ns: summary.duration_ns,
            threads: match &summary.efficiency {
                Some(efficiency) => efficiency.threads,
                None => summary.threads.len() as u64,
            },
            is_cut: !summary.closed && !summary.is_only_processors(),
            ..Self::default()
        };
        run.of_run(RUN_TIME, summary.duration_ns);
        if let Some(efficiency) = &summary.efficiency {
            let serial = efficiency.elapsed_ns.saturating_sub(efficiency.parallel_ns);
            run.of_run("outside of regions", serial);
        }
        run.add(summary, None);
        for executions in run.constructs.values_mut() {
            let durations = executions.durations.take();
            executions.lows_ns = durations
                .filter(|durations| durations.count() > 0)
                .map(|durations| LOWS.map(|share| durations.quantile_ns(share).unwrap_or(0.0)));
        }
        run
    }

    /// Whether there is anything to compare.
    pub(crate) fn is_empty(&self) -> bool {
        self.duration_ns == 0
    }

    /// The share of a construct's time, 0 to 1.
    pub(crate) fn share(&self, key: &Key) -> f64 {
        let whole = match key.kind.is_of_one_thread() || self.capacity_ns == 0 {
            true => self.duration_ns,
            false => self.capacity_ns,
        };
        let of = self
            .constructs
            .get(key)
            .map_or(0, |executions| executions.total_ns);
        of as f64 / whole.max(1) as f64
    }

    /// How much code of a kind has no name.
    pub(super) fn unnamed(&self, kind: Kind) -> u32 {
        let keys = self.constructs.keys().filter(|key| key.kind == kind);
        keys.filter_map(|key| key.unnamed).max().unwrap_or(0)
    }

    fn of_run(&mut self, name: &str, ns: u64) {
        let key = Key {
            kind: Kind::Run,
            name: name.to_owned(),
            file: None,
            line: None,
            label: name.to_owned(),
            unnamed: None,
        };
        self.executed(key, 1, ns, None);
    }

    fn executed(&mut self, key: Key, count: u64, total_ns: u64, durations: Option<Durations>) {
        let executions = Executions {
            count,
            total_ns,
            durations,
            lows_ns: None,
        };
        match self.constructs.get_mut(&key) {
            Some(known) if key.kind == Kind::Run => {
                known.total_ns = known.total_ns.saturating_add(total_ns)
            }
            Some(known) => known.merge(executions),
            None => _ = self.constructs.insert(key, executions),
        }
    }

    /// `around`: the numbers of the process that forked this one. A forked child has its code at the same addresses.
    fn add(&mut self, summary: &Summary, around: Option<&Unnamed>) {
        let own;
        let unnamed = match around.filter(|_| summary.forked) {
            Some(around) => around,
            None => {
                own = Unnamed::of(summary);
                &own
            }
        };
        self.capacity_ns = self.capacity_ns.saturating_add(summary.capacity_ns());
        self.is_cut |= summary.truncated_streams > 0 || summary.discarded > 0;
        let states = summary.threads.iter().map(|thread| thread.states());
        let sums = states.fold([0_u64; 5], |sums, states| {
            std::array::from_fn(|at| sums[at].saturating_add(states[at]))
        });
        let waits = summary
            .threads
            .iter()
            .filter_map(|thread| thread.processor_wait_ns);
        self.unserved_ns = waits.fold(self.unserved_ns, u64::saturating_add);
        if !summary.threads.is_empty() {
            self.of_run("user code of all threads", sums[0]);
            self.of_run("waiting of all threads", sums[1]);
            self.of_run("OpenMP library, all threads", sums[2]);
        }
        self.code(summary, unnamed);
        self.named(summary);
        for lock in &summary.criticals {
            self.lock(lock);
        }
        for sync in &summary.syncs {
            self.plain(Kind::Waiting, sync.kind, &sync.times, None);
        }
        let children = summary.children.iter();
        children.for_each(|child| self.add(child, Some(unnamed)));
    }

    /// Constructs that are known by their code.
    fn code(&mut self, summary: &Summary, unnamed: &Unnamed) {
        let durations = |construct: Construct| summary.executions.get(&construct).cloned();
        let code = |place: &Place| Code::new(place.address.unwrap_or(0), place.call_site);
        for region in &summary.parallel_regions {
            let key = unnamed.key(Kind::Region, &region.place, "");
            let own = durations(Construct::Region(code(&region.place)));
            let implicit = key.of_implicit_tasks();
            self.executed(key, region.times.count, region.times.total_ns, own);
            if let Some(own) = durations(Construct::Implicit(code(&region.place))) {
                self.executed(implicit, own.count(), own.total_ns(), Some(own));
            }
        }
        for task in &summary.task_functions {
            let key = unnamed.key(Kind::Task, &task.place, "");
            let own = durations(Construct::Task(code(&task.place)));
            self.executed(key, task.executed, task.total_ns, own);
        }
        for of_loop in &summary.loops {
            let key = unnamed.key(Kind::Loop, &of_loop.place, of_loop.schedule);
            let around = of_loop
                .place
                .address
                .map(|address| Code::new(address, of_loop.place.call_site));
            let own = durations(Construct::Loop(around, of_loop.schedule));
            self.executed(key, of_loop.instances, of_loop.times.total_ns, own);
        }
    }

    fn named(&mut self, summary: &Summary) {
        for region in &summary.regions {
            let own = summary
                .executions
                .get(&Construct::User(region.name.clone()));
            self.plain(Kind::User, &region.name, &region.times, own.cloned());
        }
        for call in &summary.calls {
            let own = summary.executions.get(&Construct::Call(call.name.clone()));
            self.plain(Kind::Call, &call.name, &call.times, own.cloned());
        }
    }

    fn plain(&mut self, kind: Kind, name: &str, times: &Times, durations: Option<Durations>) {
        let key = Key {
            kind,
            name: name.to_owned(),
            file: None,
            line: None,
            label: name.to_owned(),
            unnamed: None,
        };
        self.executed(key, times.count, times.total_ns, durations);
    }

    /// Locks without a symbol lie elsewhere in each run: those of a kind are one.
    fn lock(&mut self, lock: &Critical) {
        let name = match lock.name.starts_with("0x") {
            true => format!("{} without a name", lock.kind),
            false if lock.name == lock.kind => lock.name.clone(),
            false => format!("{} ({})", lock.name, lock.kind),
        };
        let times = |total_ns, count| Times {
            count,
            total_ns,
            ..Times::default()
        };
        self.plain(Kind::Held, &name, &times(lock.held_ns, lock.count), None);
        self.plain(Kind::Wait, &name, &times(lock.wait_ns, lock.count), None);
    }
}

/// Gives code that has no name a number by its address: addresses differ from run to run, their order does not.
#[derive(Default)]
struct Unnamed {
    codes: BTreeMap<Kind, BTreeSet<(u64, bool, &'static str)>>,
}

impl Unnamed {
    /// Of a process and of those that it forked.
    fn of(summary: &Summary) -> Self {
        let mut all = Self::default();
        all.collect(summary);
        all
    }

    fn collect(&mut self, summary: &Summary) {
        for region in &summary.parallel_regions {
            self.add(Kind::Region, &region.place, "");
        }
        for task in &summary.task_functions {
            self.add(Kind::Task, &task.place, "");
        }
        for of_loop in &summary.loops {
            self.add(Kind::Loop, &of_loop.place, of_loop.schedule);
        }
        let forked = summary.children.iter().filter(|child| child.forked);
        forked.for_each(|child| self.collect(child));
    }

    fn add(&mut self, kind: Kind, place: &Place, schedule: &'static str) {
        if let (None, Some(address)) = (&place.function, place.address) {
            let codes = self.codes.entry(kind).or_default();
            codes.insert((address, place.call_site, schedule));
        }
    }

    /// From 1.
    fn number(&self, kind: Kind, place: &Place, schedule: &'static str) -> Option<u32> {
        let code = (place.address?, place.call_site, schedule);
        let codes = self.codes.get(&kind)?;
        u32::try_from(codes.range(..=code).count()).ok()
    }

    /// `schedule` is that of a loop, else empty.
    fn key(&self, kind: Kind, place: &Place, schedule: &'static str) -> Key {
        let mut unnamed = None;
        let (mut label, mut name) = match (&place.function, place.address) {
            (None, Some(_)) => {
                let number = self.number(kind, place, schedule).unwrap_or(0);
                unnamed = Some(number);
                let name = format!("{} {number} without a name", kind.name());
                (name.clone(), name)
            }
            (Some(function), _) => (place.label.clone(), outer_function(function).0.to_owned()),
            (None, None) => (place.label.clone(), parts(&place.label).0),
        };
        if !schedule.is_empty() {
            let (outer, _, at) = parts(&label);
            label = match at.is_empty() {
                true => format!("{outer}, {schedule}"),
                false => format!("{outer}, {schedule} [omp for {at}]"),
            };
            name = format!("{name}, {schedule}");
        }
        let base = place
            .file
            .as_deref()
            .and_then(|file| file.rsplit(['/', '\\']).next());
        Key {
            kind,
            name,
            file: base.map(str::to_owned),
            line: place.line,
            label,
            unnamed,
        }
    }
}
