//! Numbers by address to a [`Summary`] with names.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use instr_analysis::scheduling;
use instr_trace::Names;
use instr_trace::event::MutexKind;
use instr_trace::names::{CodeRole, format_label, format_site_label};
use instr_trace::sensors::CounterDef;
use instr_trace::tasks::Totals;
use instr_trace::words::{asynchronous, function_parts};

use super::counts::{Code, Collected, FunctionCount, MutexCount, mutex_name, sync_name};
use super::model::{
    Counter, Critical, Function, FunctionCounter, Loop, ParallelRegion, Place, Scheduling,
    Sections, Summary, Sync, TaskFunction, Tasks, Times, UserEvent, UserRegion,
};
use super::threads::build::object_name;

/// Label of what is in no parallel region.
pub(super) const OUTSIDE: &str = "(outside of parallel regions)";

impl Place {
    /// The place of a construct; [`None`] and address 0 stand for code that is not known.
    pub fn of(names: &dyn Names, code: Option<impl Into<Code>>, role: CodeRole) -> Self {
        let code = code.map(Into::into).filter(|code: &Code| code.address != 0);
        let Some(Code { address, site }) = code else {
            return Self {
                label: "(unknown)".to_owned(),
                ..Self::default()
            };
        };
        let (name, label) = if site {
            let name = names.resolve(address - 1).unwrap_or_default();
            let label = format_site_label(&name, address, role);
            (name, label)
        } else {
            let name = names.resolve(address).unwrap_or_default();
            let label = format_label(&name, address, role);
            (name, label)
        };
        Self {
            function: name.function,
            file: name.file,
            line: name.line,
            label,
            address: Some(address),
            call_site: site,
        }
    }

    /// The place of a body that may be missing because the construct stands in the initial task.
    pub(super) fn around(names: &dyn Names, code: Option<Code>) -> Self {
        match code {
            Some(_) => Self::of(names, code, CodeRole::Parallel),
            None => Self {
                label: OUTSIDE.to_owned(),
                ..Self::default()
            },
        }
    }
}

/// Fills the tables of `summary` from what was counted. `totals` are those of explicit tasks.
pub fn fill(summary: &mut Summary, collected: Collected, totals: &Totals, names: &dyn Names) {
    tasks(summary, &collected, totals, names);
    regions_and_work(summary, &collected, names);
    super::constructs::build::fill(summary, &collected, names);
    summary.singles = collected.singles;
    summary.syncs = syncs(&collected);
    summary.criticals = collected
        .mutexes
        .iter()
        .map(|(&(kind, object), count)| critical(kind, object, count, names))
        .collect();
    summary.criticals.sort_by_cached_key(|item| {
        (
            Reverse(item.wait_ns),
            Reverse(item.held_ns),
            item.name.clone(),
        )
    });
    summary.user_events = collected
        .user_events
        .into_iter()
        .map(|(kind, count)| UserEvent { kind, count })
        .collect();
    summary.regions = named(collected.user_regions);
    summary.calls = named(collected.calls);
    summary.functions = collected
        .functions
        .into_iter()
        .map(|counted| function(counted, &collected.function_counters))
        .collect();
    summary.counters = collected
        .counters
        .into_iter()
        .map(|(name, count)| Counter {
            name,
            count: count.count,
            min: count.min,
            max: count.max,
            last: count.last,
            source: "program",
            ..Counter::default()
        })
        .collect();
}

/// What the system did with the threads.
pub(super) fn scheduling(summary: &mut Summary, report: scheduling::Report, names: &dyn Names) {
    for (thread, found) in summary.threads.iter_mut().zip(report.threads) {
        thread.scheduling = found;
    }
    let place = |(code, found): (&Option<Code>, &scheduling::PlaceScheduling)| Scheduling {
        place: match found.is_task {
            true => Place::of(names, *code, CodeRole::Task),
            false => Place::around(names, *code),
        },
        useful: found.useful,
        preempted: found.preempted,
        blocked: found.blocked,
    };
    summary.scheduling = report.places.iter().map(place).collect();
    summary.scheduling.sort_by_key(|at| {
        let waits = at.useful.ready_ns.saturating_add(at.useful.blocked_ns);
        (Reverse(waits), at.place.address)
    });
}

fn syncs(collected: &Collected) -> Vec<Sync> {
    let mut by_name: BTreeMap<&'static str, Times> = BTreeMap::new();
    for (kind, times) in &collected.syncs {
        by_name.entry(sync_name(*kind)).or_default().merge(times);
    }
    let sync = |(kind, times)| Sync { kind, times };
    let mut syncs: Vec<_> = by_name.into_iter().map(sync).collect();
    syncs.sort_by_key(|sync| (Reverse(sync.times.total_ns), sync.kind));
    syncs
}

fn tasks(summary: &mut Summary, collected: &Collected, totals: &Totals, names: &dyn Names) {
    summary.tasks = Tasks {
        created: collected.tasks.values().map(|count| count.created).sum(),
        executed: collected.tasks.values().map(|count| count.executed).sum(),
        undeferred: collected.undeferred,
        edges: totals.edges,
        taskwaits_depend: collected.special_tasks.taskwaits_depend,
        detached: collected.special_tasks.detached,
        fulfilled: collected.special_tasks.fulfilled,
        suspended: collected.special_tasks.suspended,
        // libgomp tells of none: there they are those that cancellation left without a begin.
        discarded: collected.special_tasks.discarded.max(totals.cancelled),
    };
    let task = |(code, count): (&Code, &super::counts::TaskCount)| TaskFunction {
        place: Place::of(names, Some(*code), CodeRole::Task),
        created: count.created,
        executed: count.executed,
        // A body that the end of the trace cuts has work and no total.
        work_ns: totals.work_of(*code).min(count.own.total_ns),
        total_ns: count.own.total_ns,
        min_ns: count.own.min_ns,
        mean_ns: count.own.mean_ns(),
        max_ns: count.own.max_ns,
        inclusive_ns: count.inclusive_ns,
    };
    summary.task_functions = collected.tasks.iter().map(task).collect();
    summary
        .task_functions
        .sort_by_key(|task| (Reverse(task.total_ns), task.place.address));
}

fn regions_and_work(summary: &mut Summary, collected: &Collected, names: &dyn Names) {
    let region = |(code, times): (&Code, &_)| ParallelRegion {
        place: Place::of(names, Some(*code), CodeRole::Parallel),
        times: *times,
        load: None,
    };
    summary.parallel_regions = collected.regions.iter().map(region).collect();
    summary
        .parallel_regions
        .sort_by_key(|region| (Reverse(region.times.total_ns), region.place.address));
    summary.loops = collected
        .loops
        .iter()
        .map(|(&(function, schedule), count)| Loop {
            place: Place::around(names, function),
            schedule,
            instances: count.instances,
            chunks: count.pieces,
            chunk_iterations: count.chunk_iterations,
            chunk_times: count.piece_times,
            fetch_ns: (count.piece_times.count > 0).then(|| {
                let chunks = count.piece_times.total_ns;
                count.times.total_ns.saturating_sub(chunks)
            }),
            times: count.times,
        })
        .collect();
    summary.loops.sort_by_key(|item| {
        (
            Reverse(item.times.total_ns),
            item.place.address,
            item.schedule,
        )
    });
    summary.sections = collected
        .sections
        .iter()
        .map(|(&function, count)| Sections {
            place: Place::around(names, function),
            instances: count.instances,
            executed: count.pieces,
            section_times: count.piece_times,
            times: count.times,
        })
        .collect();
    summary
        .sections
        .sort_by_key(|item| (Reverse(item.times.total_ns), item.place.address));
}

/// A lock by its name; those that have none are of their kind.
pub(crate) fn lock_name(kind: MutexKind, object: u64, names: &dyn Names) -> String {
    match kind {
        MutexKind::Critical | MutexKind::Atomic | MutexKind::Ordered => mutex_name(kind).to_owned(),
        _ => object_name(names, object),
    }
}

fn critical(kind: MutexKind, object: u64, count: &MutexCount, names: &dyn Names) -> Critical {
    Critical {
        name: lock_name(kind, object, names),
        kind: mutex_name(kind),
        address: Some(object),
        calls: Vec::new(),
        count: count.count,
        contended: count.contended,
        failed: count.failed,
        wait_ns: count.wait_ns,
        wait_max_ns: count.wait_max_ns,
        held_ns: count.held_ns,
        held_max_ns: count.held_max_ns,
    }
}

fn function((text, count): (String, FunctionCount), counters: &[CounterDef]) -> Function {
    let (name, place) = function_parts(&text);
    let (file, line) = match place.and_then(|place| place.rsplit_once(':')) {
        Some((file, line)) => (Some(file.to_owned()), line.parse().ok()),
        None => (place.map(str::to_owned), None),
    };
    Function {
        name: name.to_owned(),
        file,
        line,
        calls: count.calls,
        resumptions: count.resumptions,
        total_ns: count.total_ns,
        own_ns: count.own_ns,
        min_ns: count.min_ns,
        max_ns: count.max_ns,
        suspended_ns: asynchronous(&text).map(|_| count.suspended_ns),
        counters: counters
            .iter()
            .zip(count.counted)
            .map(|(counter, counted)| FunctionCounter {
                name: counter.name.clone(),
                unit: counter.unit.clone(),
                own: counted.own,
                total: counted.total,
            })
            .collect(),
    }
}

fn named(counted: BTreeMap<String, Times>) -> Vec<UserRegion> {
    let mut regions: Vec<_> = counted
        .into_iter()
        .map(|(name, times)| UserRegion { name, times })
        .collect();
    regions.sort_by_key(|region| Reverse(region.times.total_ns));
    regions
}
