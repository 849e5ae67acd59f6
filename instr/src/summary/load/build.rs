//! Numbers of the library to sections.

use instr_analysis::efficiency::{self, Efficiencies, Loss, Report};
use instr_trace::Names;
use instr_trace::names::CodeRole;
use instr_trace::tasks::Totals;

use super::super::model::{OpenRegion, ParallelRegion, Place, Summary};
use super::super::units::percent;
use super::model::{
    Additive, Efficiency, Graph, LargestLoss, Multiplicative, RegionLoad, Talp, ThreadLoad,
};

/// Below this share of the threads' time nothing is called a loss.
const NEGLIGIBLE: f64 = 0.005;

/// Fills efficiency, load and graph; the regions themselves must be there. Regions of which only threads inside were seen are
/// added without executions.
pub fn fill(summary: &mut Summary, report: &Report, totals: &Totals, names: &dyn Names) {
    for (code, load) in &report.regions {
        let address = Some(code.address).filter(|address| *address != 0);
        let known = summary
            .parallel_regions
            .iter_mut()
            .find(|region| (region.place.address, region.place.call_site) == (address, code.site));
        match known {
            Some(region) => region.load = Some(region_load(load)),
            None => summary.parallel_regions.push(ParallelRegion {
                place: Place::of(names, Some(*code), CodeRole::Parallel),
                load: Some(region_load(load)),
                ..ParallelRegion::default()
            }),
        }
    }
    summary.efficiency = efficiency(summary, report, names);
    summary.open_region = report.open.map(|(code, begin)| OpenRegion {
        label: Place::of(names, Some(code), CodeRole::Parallel).label,
        since_ns: summary.duration_ns.saturating_sub(begin),
    });
    summary.graph = graph(totals);
}

fn region_load(load: &efficiency::RegionLoad) -> RegionLoad {
    let of_outermost = |value: f64| (load.outermost > 0).then_some(value);
    let thread = |(number, load): (&u32, &efficiency::ThreadLoad)| ThreadLoad {
        thread_num: Some(*number).filter(|number| *number != u32::MAX),
        executions: load.executions,
        useful_ns: load.useful_ns,
        barrier_ns: load.barrier_ns,
        start_ns: load.start_ns,
    };
    let by_thread: Vec<_> = load.by_thread.iter().map(thread).collect();
    RegionLoad {
        threads: load.threads,
        useful_max_ns: load.longest_useful_ns,
        useful_mean_ns: load.mean_useful_ns.round() as u64,
        useful_min_ns: load.shortest_useful_ns,
        imbalance: load.imbalance_ratio(),
        imbalance_loss_ns: load.imbalance_loss_ns().round() as u64,
        barrier_ns: by_thread
            .iter()
            .fold(0, |sum, thread| sum.saturating_add(thread.barrier_ns)),
        starting_ns: load.starting_ns,
        outermost: load.outermost,
        parallel_efficiency: of_outermost(load.parallel_efficiency()),
        load_balance: of_outermost(load.load_balance()),
        scheduling: of_outermost(load.scheduling()),
        by_thread,
    }
}

fn efficiency(summary: &Summary, report: &Report, names: &dyn Names) -> Option<Efficiency> {
    let budget = &report.budget;
    if report.regions.is_empty() {
        return None;
    }
    let e = budget.efficiencies()?;
    Some(Efficiency {
        threads: budget.threads,
        elapsed_ns: budget.elapsed_ns,
        capacity_ns: budget.capacity_ns(),
        useful_ns: budget.useful_ns(),
        serialization_ns: budget.serialization_ns(),
        imbalance_ns: budget.imbalance_ns,
        scheduling_ns: budget.scheduling_ns,
        serial_useful_ns: budget.serial_useful_ns,
        region_useful_ns: budget.region_useful_ns,
        parallel_ns: budget.parallel_ns,
        useful_of_threads_ns: budget.useful_of_threads.clone(),
        parallel_efficiency: e.parallel_efficiency,
        multiplicative: Multiplicative {
            load_balance: e.load_balance,
            communication_efficiency: e.communication_efficiency,
        },
        additive: Additive {
            openmp_region_efficiency: e.region_efficiency,
            load_balance: e.region_load_balance,
            scheduling: e.region_scheduling,
            team_size: e.region_team_size,
            serial_region_efficiency: e.serial_efficiency,
        },
        talp: Talp {
            serialization: e.omp_serialization,
            load_balance: e.omp_load_balance,
            scheduling: e.omp_scheduling,
        },
        largest_loss: largest_loss(summary, report, &e, names),
    })
}

/// Names the largest loss, and the region that has most of it.
fn largest_loss(
    summary: &Summary,
    report: &Report,
    e: &Efficiencies,
    names: &dyn Names,
) -> LargestLoss {
    let (loss, share) = e.largest_loss();
    if share < NEGLIGIBLE {
        return LargestLoss {
            kind: "none",
            cause: "none",
            share,
            region: None,
            text: "next to nothing is lost: the threads are in user code all the time".to_owned(),
        };
    }
    let threads = report.budget.threads;
    let worst = |of: &dyn Fn(&efficiency::RegionLoad) -> u64| {
        let (code, load) = report
            .regions
            .iter()
            .max_by_key(|(code, load)| (of(load), std::cmp::Reverse(**code)))?;
        (of(load) > 0).then(|| Place::of(names, Some(*code), CodeRole::Parallel).label)
    };
    let (kind, region, (cause, why)) = match loss {
        Loss::Serial if threads == 1 => {
            return LargestLoss {
                kind: "serial",
                cause: "sequential",
                share,
                region: None,
                text: format!(
                    "one thread did all the work, with teams of one thread; {} of its time was not in user code",
                    percent(share)
                ),
            };
        }
        Loss::Serial => (
            "serial",
            None,
            (
                "serial",
                "outside of parallel regions one thread works and the others wait",
            ),
        ),
        Loss::Imbalance => (
            "imbalance",
            worst(&|load| load.imbalance_ns),
            imbalance_cause(summary, report),
        ),
        Loss::Scheduling => (
            "scheduling",
            worst(&|load| load.scheduling_ns),
            scheduling_cause(summary, report),
        ),
        Loss::TeamSize => (
            "team size",
            // What the other threads had of its time.
            worst(&|load| {
                let all = threads.saturating_mul(load.outermost_elapsed_ns);
                all.saturating_sub(load.allotted_ns)
            }),
            ("team size", "regions with fewer threads than there are"),
        ),
    };
    LargestLoss {
        kind,
        cause,
        share,
        region,
        text: format!(
            "the largest loss, {} of the threads' time, is {}: {why}",
            percent(share),
            if kind == "serial" {
                "serial code"
            } else {
                kind
            },
        ),
    }
}

/// A cause as it is named in JSON, and in words.
type Cause = (&'static str, &'static str);

/// What the other threads of regions do while the one with the most work goes on.
fn imbalance_cause(summary: &Summary, report: &Report) -> Cause {
    let mutexes = summary.criticals.iter().map(|item| item.wait_ns);
    let mutexes = mutexes.fold(0, u64::saturating_add);
    match mutexes >= report.budget.imbalance_ns / 2 && mutexes > 0 {
        true => (
            "locks",
            "threads of a region wait for critical sections and locks while another works",
        ),
        false => (
            "work",
            "threads of a region wait for the one with the most work",
        ),
    }
}

/// What the threads of regions do when even the one with the most work is not in user code.
fn scheduling_cause(summary: &Summary, report: &Report) -> Cause {
    let sum = |all: &mut dyn Iterator<Item = u64>| all.fold(0, u64::saturating_add);
    let regions = report.regions.values();
    let all_barriers = sum(&mut regions
        .flat_map(|load| load.by_thread.values())
        .map(|thread| thread.barrier_ns));
    // Others wait for a thread that comes late.
    let starting = sum(&mut report.regions.values().map(|load| load.starting_ns));
    // What is waited for the thread with the most work of a region is imbalance.
    let barriers = all_barriers
        .saturating_sub(report.budget.imbalance_ns)
        .saturating_sub(starting);
    let mutexes = sum(&mut summary.criticals.iter().map(|item| item.wait_ns));
    let waits = sum(&mut summary.threads.iter().map(|thread| thread.sync_ns));
    let tasks = waits.saturating_sub(all_barriers).saturating_sub(mutexes);
    let library = sum(&mut summary.threads.iter().map(|thread| thread.sched_ns));
    let causes = [
        (
            starting,
            "starting",
            "regions begin late on some thread, which the run-time library creates or wakes up",
        ),
        (
            barriers,
            "barriers",
            "threads wait in barriers inside of regions, now for one and now for another",
        ),
        (
            mutexes,
            "locks",
            "threads wait for critical sections and locks",
        ),
        (
            tasks,
            "tasks",
            "threads wait for tasks (taskwait, taskgroup) and find none to run",
        ),
        (library, "library", "creating tasks and fetching chunks"),
    ];
    let unknown = (
        0,
        "unknown",
        "regions take longer than their longest thread is in user code",
    );
    let larger =
        |best: (u64, _, _), cause: (u64, _, _)| if cause.0 > best.0 { cause } else { best };
    let (_, cause, why) = causes.into_iter().fold(unknown, larger);
    (cause, why)
}

fn graph(totals: &Totals) -> Option<Graph> {
    (totals.regions > 0).then(|| Graph {
        regions: totals.regions,
        threads: totals.threads,
        work_ns: totals.work_ns,
        task_work_ns: totals.task_work_ns,
        span_ns: totals.span_ns,
        average_parallelism: totals.average_parallelism(),
        span_hops: totals.span_hops,
        width: totals.width,
        chain_ns: totals.chain_ns,
        chain_hops: totals.chain_hops,
        elapsed_ns: totals.elapsed_ns,
        capacity_ns: totals.capacity_ns,
        delay_ns: totals.delay_ns,
        no_work_ns: totals.no_work_ns,
        lower_bound_ns: totals.lower_bound_ns,
        upper_bound_ns: totals.upper_bound_ns,
        ready_wait_ns: totals.ready_wait_ns,
        dependency_wait_ns: totals.dependency_wait_ns,
        order_violations: totals.order_violations,
        exclusion_violations: totals.exclusion_violations,
        headline: totals.headline(),
    })
}
