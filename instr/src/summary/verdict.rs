//! What cost most: the one sentence that comes first.
//!
//! Losses of the efficiency tree are what the program does to itself. Two things that tree cannot see come before them: threads that wait
//! for a processor, and threads that sleep in user code. Both are in the system's account of each thread; where context switches were
//! recorded, it is known in which code that was.

use instr_analysis::scheduling::Split;

use super::advice;
use super::build::OUTSIDE;
use super::load::model::Efficiency;
use super::model::{Summary, Thread, Verdict};
use super::units::{brief, count, counted, elide, percent, time};

/// A smaller share of the threads' time is not worth a word.
const LEAST: f64 = 0.05;
/// Waiting for a processor makes regions unbalanced and late: from this part of such a loss on it is the cause. One of two threads that waits
/// keeps one other from work, one of many keeps many.
const CAUSE_OF_TWO: f64 = 0.6;
/// The same for three and more threads.
const CAUSE_OF_MANY: f64 = 0.3;

/// A place is named when it has this part of what is told.
const MOST: f64 = 0.5;
/// Names of functions in remarks.
const MAX_NAME: usize = 60;

/// The system's account of the threads that have one, in shares of all threads' time.
struct Account {
    waited_ns: u64,
    waited: f64,
    /// Label of the code in which most of it was.
    waited_in: Option<String>,
    asleep_ns: u64,
    asleep: f64,
    asleep_in: Option<String>,
}

/// Of one thread: waiting for a processor, and at least so long asleep in user code, ns. `None`: the system has told nothing of it.
fn of_thread(thread: &Thread) -> Option<(u64, u64)> {
    let times = thread.processor_ns.zip(thread.processor_wait_ns);
    let known = |split: &Split| split.unknown_ns as f64 <= LEAST * split.total_ns() as f64;
    let recorded = thread.scheduling.as_ref();
    if let Some(found) = recorded.filter(|found| known(&found.useful)) {
        let ready = found.whole.ready_ns;
        let waited = times.map_or(ready, |(_, waited)| waited);
        // A thread that is woken may wait for a processor: that ends its sleep, wherever it was.
        let woken = waited.saturating_sub(ready);
        return Some((waited, found.useful.blocked_ns.saturating_sub(woken)));
    }
    // What is neither running nor waiting is sleep. Waiting for other threads may be sleep too: only what useful time has beyond
    // all running and waiting certainly is sleep in user code.
    let (ran, waited) = times?;
    let asleep = thread.useful_ns.saturating_sub(ran.saturating_add(waited));
    Some((waited, asleep))
}

/// Label of the place that has most of the useful time that `part` says.
fn mostly(summary: &Summary, part: fn(&Split) -> u64) -> Option<String> {
    let times = || summary.scheduling.iter().map(|at| part(&at.useful));
    let whole = times().fold(0, u64::saturating_add);
    let at = summary
        .scheduling
        .iter()
        .max_by_key(|at| part(&at.useful))?;
    let has_most = part(&at.useful) > 0 && part(&at.useful) as f64 > MOST * whole as f64;
    // Without regions all code is outside of them.
    let says_something = !summary.parallel_regions.is_empty() || at.place.label != OUTSIDE;
    (has_most && says_something).then(|| at.place.label.clone())
}

/// What the program does to itself, where other programs kept its threads from their processors: less than it seems, but not nothing.
fn beside(largest: Option<&Verdict>, waiting: &Verdict) -> Option<String> {
    const OWN: [&str; 9] = [
        "sequential",
        "serial",
        "imbalance",
        "locks",
        "waiting",
        "interpreter lock",
        "fine tasks",
        "late tasks",
        "dependences",
    ];
    let largest = largest.filter(|largest| OWN.contains(&largest.kind))?;
    let own = waiting.kind == "preempted" || largest.kind == "serial";
    own.then(|| {
        format!(
            "waiting makes other losses larger; of them, {}",
            largest.text
        )
    })
}

/// What is beside the verdict, with its place and what helps.
fn remark(beside: &Verdict, summary: &Summary) -> String {
    let mut text = beside.text.clone();
    if let Some(label) = &beside.region {
        text = format!("{text}; most of it in {}", brief(label, MAX_NAME));
    }
    if beside.kind == "oversubscribed" {
        let (advice, _) = advice::of(beside.kind, summary);
        text = format!("{text}; {advice}");
    }
    text
}

/// What the threads waited for a processor, ns; none where the system has told nothing of it.
pub(super) fn waited_ns(summary: &Summary) -> Option<u64> {
    let times = summary.threads.iter().filter_map(of_thread);
    times.map(|(waited, _)| waited).reduce(u64::saturating_add)
}

impl Account {
    fn of(summary: &Summary) -> Option<Self> {
        let sum = |all: &mut dyn Iterator<Item = u64>| all.fold(0, u64::saturating_add);
        let times = || summary.threads.iter().filter_map(of_thread);
        let capacity = summary.capacity_ns();
        let waited_ns = waited_ns(summary)?;
        if capacity == 0 {
            return None;
        }
        let asleep_ns = sum(&mut times().map(|(_, asleep)| asleep));
        let share = |ns: u64| ns as f64 / capacity as f64;
        Some(Self {
            waited_ns,
            waited: share(waited_ns),
            waited_in: mostly(summary, |split| split.ready_ns),
            asleep_ns,
            asleep: share(asleep_ns),
            asleep_in: mostly(summary, |split| split.blocked_ns),
        })
    }
}

/// The sentence, and remarks on what else distorts the numbers. The rest of the summary must be there.
pub(super) fn of(summary: &Summary) -> (Option<Verdict>, Vec<String>) {
    let (verdict, remarks) = chosen(summary);
    let advised = |mut verdict: Verdict| {
        (verdict.advice, verdict.reading) = advice::of(verdict.kind, summary);
        verdict
    };
    (verdict.map(advised), remarks)
}

fn chosen(summary: &Summary) -> (Option<Verdict>, Vec<String>) {
    if let Some(verdict) = cut_off(summary) {
        return (Some(verdict), Vec::new());
    }
    let largest = largest(summary);
    let Some(account) = Account::of(summary) else {
        return (largest, Vec::new());
    };
    let (kind, share) = match (&summary.efficiency, &largest) {
        (Some(efficiency), _) => (efficiency.largest_loss.kind, efficiency.largest_loss.share),
        (None, Some(largest)) => (largest.kind, largest.share),
        (None, None) => ("none", 0.0),
    };
    let threads = summary.efficiency.as_ref().map_or(1, |all| all.threads);
    let explained = match kind {
        "serial" => share,
        _ if threads <= 2 => CAUSE_OF_TWO * share,
        _ => CAUSE_OF_MANY * share,
    };
    let mut remarks = Vec::new();
    let largest_but_for = largest.clone();
    let mut verdict = largest;
    let idle = (kind == "serial").then(|| serial_sleep(summary, &account));
    if let Some(idle) = idle.flatten() {
        verdict = Some(idle);
    } else if account.asleep >= LEAST {
        let asleep = sleeping(&account);
        if account.asleep >= share {
            verdict = Some(asleep);
        } else {
            remarks.push(remark(&asleep, summary));
        }
    }
    if account.waited >= LEAST {
        let waiting = waiting(summary, &account);
        let most = account.asleep.max(explained);
        if account.waited >= most {
            if let Some(other) = verdict.filter(|other| other.kind == "sleeping") {
                remarks.push(remark(&other, summary));
            }
            remarks.extend(beside(largest_but_for.as_ref(), &waiting));
            verdict = Some(waiting);
        } else {
            remarks.push(remark(&waiting, summary));
        }
    }
    (verdict, remarks)
}

/// A run that ended inside a region, without an event there: what is known is its begin, which looks like a loss. Where it was the only region, what
/// was before it is all that there is, and looks like a loss too.
fn cut_off(summary: &Summary) -> Option<Verdict> {
    let open = summary.open_region.as_ref().filter(|_| !summary.closed)?;
    let loss = &summary.efficiency.as_ref()?.largest_loss;
    let is_of_it = loss.region.as_ref() == Some(&open.label);
    let once = summary.parallel_regions.iter().any(|region| {
        region.place.label == open.label
            && region.load.as_ref().is_some_and(|load| load.outermost <= 1)
    });
    let alone = summary.parallel_regions.len() == 1;
    (loss.share >= LEAST && (is_of_it || alone) && once).then(|| Verdict {
        kind: "cut off",
        region: Some(open.label.clone()),
        text: format!(
            "the trace ends inside of a parallel region, {} after it began: the program was ended there, or goes on, and what it did since its last event is not known",
            time(open.since_ns)
        ),
        ..Verdict::default()
    })
}

/// The largest loss of the efficiency tree, by its cause.
fn largest(summary: &Summary) -> Option<Verdict> {
    let Some(efficiency) = &summary.efficiency else {
        if let Some(of_threads) = super::threads::verdict::of(summary) {
            return Some(of_threads);
        }
        let sequential = summary.events > 0 && summary.threads.len() == 1;
        return sequential.then(|| Verdict {
            kind: "sequential",
            text: "one thread did all the work: no parallel region was seen".to_owned(),
            ..Verdict::default()
        });
    };
    let loss = &efficiency.largest_loss;
    let verdict = |kind, share, text| Verdict {
        kind,
        share,
        region: loss.region.clone(),
        text,
        ..Verdict::default()
    };
    if loss.share < LEAST {
        let text = format!(
            "the threads are in user code {} of their time: no loss is large",
            percent(efficiency.parallel_efficiency)
        );
        return Some(verdict("healthy", loss.share, text));
    }
    let kind = match loss.cause {
        "work" => "imbalance",
        "tasks" => "waiting for tasks",
        "unknown" => "scheduling",
        other => other,
    };
    if kind == "locks" {
        return Some(locks(summary, efficiency));
    }
    if matches!(loss.kind, "imbalance" | "scheduling")
        && let Some((kind, share, text)) = of_tasks(summary, efficiency)
    {
        return Some(verdict(kind, share, text));
    }
    Some(verdict(kind, loss.share, loss.text.clone()))
}

/// Names the critical section or lock that was waited for longest.
fn locks(summary: &Summary, efficiency: &Efficiency) -> Verdict {
    let waited = summary.criticals.iter().map(|item| item.wait_ns);
    let waited = waited.fold(0, u64::saturating_add);
    let share = waited as f64 / efficiency.capacity_ns.max(1) as f64;
    let most = summary.criticals.iter().max_by_key(|item| item.wait_ns);
    let of = match most {
        Some(most) if most.name == most.kind => format!("the {}", most.kind),
        Some(most) => format!("the {} {}", most.kind, elide(&most.name, 64)),
        None => "locks".to_owned(),
    };
    let times = most.map_or(String::new(), |most| {
        let failed = match most.failed {
            0 => String::new(),
            failed => format!(" ({})", counted(failed, "failed attempt")),
        };
        if most.has_waits_only() {
            let (waits, wait) = (counted(most.count, "wait"), time(most.wait_ns));
            return format!(": {waits}, {wait} in all{failed}; the rest is not recorded");
        }
        format!(
            ": {} times it was taken, {} wait for it{failed}, {} inside",
            count(most.count),
            time(most.wait_ns),
            time(most.held_ns)
        )
    });
    Verdict {
        kind: "locks",
        share,
        region: efficiency.largest_loss.region.clone(),
        text: format!(
            "threads wait for critical sections and locks {} of their time, most for {of}{times}",
            percent(share)
        ),
        ..Verdict::default()
    }
}

/// A task this short can cost more than it does.
const SHORT_TASK_NS: u64 = 20_000;

/// Whether explicit tasks are behind the largest loss: too small, too late, or in a chain. With the share of the threads' time, and the sentence.
fn of_tasks(summary: &Summary, efficiency: &Efficiency) -> Option<(&'static str, f64, String)> {
    let graph = summary.graph.as_ref()?;
    let tasks = summary.tasks.executed;
    let lost = graph.delay_ns.saturating_add(graph.no_work_ns);
    let share = |ns: u64| ns as f64 / efficiency.capacity_ns.max(1) as f64;
    // Threads that come late, or have no processor, are no cost of tasks.
    let regions = summary.parallel_regions.iter();
    let starting = regions.filter_map(|region| region.load.as_ref());
    let starting = starting
        .map(|load| load.starting_ns)
        .fold(0, u64::saturating_add);
    // Else the loss is elsewhere than in regions with tasks.
    let least = efficiency.largest_loss.share / 2.0;
    if tasks == 0 || share(lost.saturating_sub(starting)) < least {
        return None;
    }
    let work = graph.task_work_ns / tasks;
    let outside = 1.0 - efficiency.useful_ns as f64 / efficiency.capacity_ns.max(1) as f64;
    let waited = waited_ns(summary).unwrap_or(0) as f64 * outside.clamp(0.0, 1.0);
    let others = starting.saturating_add(waited as u64);
    let created = summary.threads.iter().map(|thread| thread.sched_ns);
    let created = created.fold(0, u64::saturating_add).saturating_sub(others);
    // Not in user code although a task was ready.
    let delayed = graph.delay_ns.saturating_sub(others) / tasks;
    let cost = delayed.max(created / summary.tasks.created.max(1));
    if work < SHORT_TASK_NS && work <= cost {
        let text = format!(
            "tasks are too small: {} of work each, and {} to create and fetch each",
            time(work),
            time(cost)
        );
        return Some(("fine tasks", share(lost), text));
    }
    if graph.no_work_ns < lost / 2 {
        return None;
    }
    let idle = format!(
        "threads find no task that is ready {} of their time",
        percent(share(graph.no_work_ns))
    );
    if graph.chain_ns >= graph.elapsed_ns / 2 && graph.chain_hops > 1 {
        let text = format!(
            "{idle}: the longest chain of dependences, {}, takes {} of {}",
            counted(graph.chain_hops, "task"),
            time(graph.chain_ns),
            time(graph.elapsed_ns)
        );
        return Some(("dependences", share(graph.no_work_ns), text));
    }
    let text = format!(
        "{idle}: tasks are created too late, too few of them, or the last ones take too long"
    );
    Some(("late tasks", share(graph.no_work_ns), text))
}

/// Serial code of which most is sleep: no processor works meanwhile.
fn serial_sleep(summary: &Summary, account: &Account) -> Option<Verdict> {
    let efficiency = summary.efficiency.as_ref()?;
    let serial = efficiency.serial_useful_ns;
    let mut places = summary.scheduling.iter();
    let outside = places.find(|at| at.place.label == OUTSIDE);
    let asleep = match outside {
        Some(outside) => outside.useful.blocked_ns.min(account.asleep_ns),
        // Without records nobody knows where: what there is beyond the regions' user code was outside.
        None => account
            .asleep_ns
            .saturating_sub(efficiency.region_useful_ns),
    };
    (efficiency.largest_loss.share >= LEAST && asleep as f64 > MOST * serial as f64).then(|| {
        Verdict {
            kind: "sleeping",
            share: efficiency.largest_loss.share,
            region: Some(OUTSIDE.to_owned()),
            text: format!(
                "outside of parallel regions the program slept {} of {}, and all threads waited, {} of their time: input and output, sleep, or waits that are not OpenMP's",
                time(asleep),
                time(serial),
                percent(efficiency.largest_loss.share)
            ),
            ..Verdict::default()
        }
    })
}

fn sleeping(account: &Account) -> Verdict {
    Verdict {
        kind: "sleeping",
        share: account.asleep,
        region: account.asleep_in.clone(),
        text: format!(
            "threads slept in user code for at least {}, {} of their time: input and output, sleep, or waits that are not OpenMP's",
            time(account.asleep_ns),
            percent(account.asleep)
        ),
        ..Verdict::default()
    }
}

/// As many processors as the process may use at once.
pub(super) fn usable_processors(summary: &Summary) -> Option<u64> {
    match (summary.processors, summary.processor_quota) {
        (Some(processors), Some(quota)) => Some((quota.ceil() as u64).min(processors)),
        (processors, _) => processors,
    }
}

fn waiting(summary: &Summary, account: &Account) -> Verdict {
    let threads = summary
        .efficiency
        .as_ref()
        .map_or(summary.threads.len() as u64, |efficiency| {
            efficiency.threads
        });
    let lost = format!(
        "ready to run, they waited for a processor for {}, {} of their time",
        time(account.waited_ns),
        percent(account.waited)
    );
    let (kind, text) = match usable_processors(summary) {
        Some(usable) if threads > usable => {
            let of = match summary.processor_quota {
                Some(quota) if quota < summary.processors.unwrap_or(0) as f64 => {
                    format!("the time of {quota} processors (cgroup)")
                }
                _ => counted(usable, "processor"),
            };
            let threads = counted(threads, "thread");
            ("oversubscribed", format!("{threads} share {of}: {lost}"))
        }
        Some(_) => (
            "preempted",
            format!("other programs used the processors of the threads: {lost}"),
        ),
        None => (
            "preempted",
            format!("the threads had not enough processors: {lost}"),
        ),
    };
    Verdict {
        kind,
        share: account.waited,
        region: account.waited_in.clone(),
        text,
        ..Verdict::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::load::model::{Efficiency, LargestLoss};
    use instr_analysis::scheduling::ThreadScheduling;

    use super::super::model::{Place, Scheduling};
    use super::*;

    const S: u64 = 1_000_000_000;

    /// `threads` threads that lived 10 s, were `useful` seconds in user code, ran `run` and waited `wait` seconds for a processor.
    fn run(threads: u64, useful: u64, run: u64, wait: u64) -> Summary {
        let thread = Thread {
            useful_ns: useful * S,
            sync_ns: (10 - useful) * S,
            processor_ns: Some(run * S),
            processor_wait_ns: Some(wait * S),
            ..Thread::default()
        };
        Summary {
            events: 10,
            processors: Some(2),
            threads: vec![thread; threads as usize],
            efficiency: Some(Efficiency {
                threads,
                capacity_ns: threads * 10 * S,
                largest_loss: LargestLoss {
                    kind: "scheduling",
                    cause: "starting",
                    share: (10 - useful) as f64 / 10.0,
                    text: "regions begin late".to_owned(),
                    ..LargestLoss::default()
                },
                ..Efficiency::default()
            }),
            ..Summary::default()
        }
    }

    fn kind(summary: &Summary) -> &'static str {
        of(summary).0.map_or("", |verdict| verdict.kind)
    }

    #[test]
    fn waiting_for_a_processor_explains_late_regions() {
        let crowded = run(8, 5, 2, 7);
        let verdict = of(&crowded).0.expect("one");
        assert_eq!(verdict.kind, "oversubscribed");
        assert_eq!(
            verdict.text,
            "8 threads share 2 processors: ready to run, they waited for a processor for 56.00 s, 70.0% of their time"
        );
        assert!(verdict.advice.contains("OMP_NUM_THREADS=2"));
        assert_eq!(kind(&run(2, 5, 2, 7)), "preempted");
        assert_eq!(kind(&run(2, 5, 9, 0)), "starting");
        let mut limited = run(2, 5, 2, 7);
        limited.processor_quota = Some(0.5);
        let verdict = of(&limited).0.expect("one");
        assert_eq!(verdict.kind, "oversubscribed");
        assert!(verdict.text.contains("the time of 0.5 processors (cgroup)"));
    }

    #[test]
    fn a_larger_loss_stays_and_the_wait_is_a_remark() {
        let mut summary = run(8, 2, 8, 2);
        if let Some(efficiency) = &mut summary.efficiency {
            efficiency.largest_loss.kind = "serial";
            efficiency.largest_loss.cause = "serial";
        }
        let (verdict, remarks) = of(&summary);
        assert_eq!(verdict.map(|verdict| verdict.kind), Some("serial"));
        assert_eq!(remarks.len(), 1);
        assert!(remarks[0].starts_with("8 threads share 2 processors"));
    }

    #[test]
    fn losses_of_the_program_itself_are_told_beside_other_programs() {
        let mut summary = run(2, 5, 3, 6);
        if let Some(efficiency) = &mut summary.efficiency {
            efficiency.largest_loss.kind = "imbalance";
            efficiency.largest_loss.cause = "work";
            efficiency.largest_loss.text = "the largest loss is imbalance".to_owned();
        }
        let (verdict, remarks) = of(&summary);
        assert_eq!(verdict.map(|verdict| verdict.kind), Some("preempted"));
        assert_eq!(
            remarks,
            ["waiting makes other losses larger; of them, the largest loss is imbalance"]
        );
        // With more threads than processors every region is unbalanced: that says nothing of the program.
        let mut crowded = summary;
        crowded.processors = Some(1);
        assert_eq!(of(&crowded).1, [""; 0]);
    }

    #[test]
    fn user_code_that_neither_runs_nor_waits_sleeps() {
        let verdict = of(&run(2, 10, 3, 1)).0.expect("one");
        assert_eq!(verdict.kind, "sleeping");
        assert!((verdict.share - 0.6).abs() < 1e-9);
        assert_eq!(kind(&run(2, 10, 10, 0)), "healthy");
    }

    #[test]
    fn recorded_switches_say_where_threads_slept_and_waited() {
        let label = |label: &str| Place {
            label: label.to_owned(),
            ..Place::default()
        };
        let place = |name: &str, ready: u64, blocked: u64| Scheduling {
            place: label(name),
            useful: Split {
                ready_ns: ready * S,
                blocked_ns: blocked * S,
                ..Split::default()
            },
            ..Scheduling::default()
        };
        let mut summary = run(2, 10, 3, 3);
        // 3 s of each thread's 10 it was woken and waited for a processor, or was preempted: 1 s of them in user code.
        for thread in &mut summary.threads {
            let whole = Split {
                running_ns: 3 * S,
                ready_ns: S,
                blocked_ns: 6 * S,
                unknown_ns: 0,
            };
            thread.scheduling = Some(ThreadScheduling {
                useful: whole,
                whole,
                ..ThreadScheduling::default()
            });
        }
        summary.scheduling = vec![place("read [a.c:3]", 0, 11), place("work [a.c:9]", 2, 1)];
        let verdict = of(&summary).0.expect("one");
        assert_eq!(verdict.kind, "sleeping");
        assert!((verdict.share - 0.4).abs() < 1e-9, "{}", verdict.share);
        assert_eq!(verdict.region.as_deref(), Some("read [a.c:3]"));
        assert!(verdict.text.contains("8.00 s, 40.0% of their time: "));
        let (_, remarks) = of(&summary);
        assert!(remarks[0].ends_with("6.00 s, 30.0% of their time; most of it in work [a.c:9]"));
        // Records are missing: the sums alone hold.
        for thread in &mut summary.threads {
            if let Some(found) = &mut thread.scheduling {
                found.useful.unknown_ns = 5 * S;
            }
        }
        let verdict = of(&summary).0.expect("one");
        assert!((verdict.share - 0.4).abs() < 1e-9, "10 - 3 - 3 of 10");
    }

    #[test]
    fn without_an_account_the_largest_loss_stands() {
        let mut summary = run(8, 5, 2, 7);
        for thread in &mut summary.threads {
            thread.processor_ns = None;
        }
        assert_eq!(kind(&summary), "starting");
    }
}
