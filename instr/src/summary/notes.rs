//! What a reader of the tables should know besides: losses, flushes, things a compiler hides.

use instr_analysis::switches::ScheduledThread;

use super::model::Summary;
use super::units::{count, counted, elide, time};

/// Notes that need to be given only once, however many processes are shown.
#[derive(Debug, Default)]
pub struct Told {
    static_loops: bool,
}

/// What the runtime says of libomp where it asked for no mutual exclusion (`runtime/ompt/tool.c`).
pub(crate) const WITHOUT_MUTEXES: &str = "mutual exclusion is not recorded";

/// What can be said of a trace that its program did not close.
pub(crate) const NOT_CLOSED: &str = "was not closed (the program was killed, crashed, became another one by exec, or still runs; or the disk was full)";

/// What is missing from the trace of one process, most serious first: the numbers are of what is there.
pub fn losses(summary: &Summary) -> Vec<String> {
    let mut notes = Vec::new();
    if summary.discarded > 0 {
        let share = summary.discarded as f64 * 100.0
            / (summary.discarded.saturating_add(summary.events)) as f64;
        let events = counted(summary.discarded, "event");
        notes.push(format!(
            "{events} discarded ({share:.1}%): the tables do not show what was lost"
        ));
    }
    if summary.discarded_unattached > 0 {
        notes.push(format!(
            "{} of them belong to no thread shown: there was no memory for another buffer, or a signal handler or interrupt routine recorded where its thread had recorded nothing yet",
            count(summary.discarded_unattached)
        ));
    }
    let lines = counted(summary.lost_lines, "line");
    match summary.lost_events {
        None if summary.lost_lines > 0 => notes.push(format!(
            "{lines} of the console and the end of the trace were lost: nobody knows how many events are missing"
        )),
        Some(events) if events > 0 => notes.push(format!(
            "{} of them were lost with {lines} of the console",
            count(events)
        )),
        _ => {}
    }
    if let Some(trouble) = &summary.setting_trouble {
        notes.push(format!("not as it was set: {}", elide(trouble, 200)));
    }
    if !summary.closed && is_python_child(summary) {
        notes.push(
            "the process ended without its cleanup, as after os._exit() and where a pool is terminated: its last event may be missing"
                .to_owned(),
        );
        return notes;
    }
    if summary.truncated_streams > 0 {
        let streams = summary.truncated_streams;
        notes.push(match streams {
            1 => "1 stream was not closed: its last event may be missing".to_owned(),
            _ => format!("{streams} streams were not closed: their last events may be missing"),
        });
    }
    if !summary.closed {
        notes.push(format!("the trace {NOT_CLOSED}"));
    }
    notes
}

/// Whether it is a process that one of Python made: `multiprocessing` kills them, or lets them end without cleanup.
fn is_python_child(summary: &Summary) -> bool {
    (summary.forked || summary.started) && !summary.functions.is_empty()
}

/// Writing the trace that takes less of the threads' time than this is not worth a word.
const LEAST_FLUSH: f64 = 0.01;

/// The notes on one process; `detailed`: with those on single tables.
pub fn of(summary: &Summary, told: &mut Told, detailed: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if summary.openmp.contains(WITHOUT_MUTEXES) {
        notes.push(
            "critical sections, locks and ordered are not recorded, or not to the end: the thread that began with OpenMP may end \
             before others, and libomp crashes then where a tool asks for them"
                .to_owned(),
        );
    }
    let flush = summary
        .threads
        .iter()
        .fold(0u64, |sum, thread| sum.saturating_add(thread.flush_ns));
    let life = summary.threads.iter().map(super::model::Thread::life_ns);
    let life = life.fold(0, u64::saturating_add);
    if flush > 0 && flush as f64 >= LEAST_FLUSH * life as f64 {
        notes.push(format!(
            "writing the trace took {} of the threads' time (flush)",
            time(flush)
        ));
    }
    notes.extend(summary.remarks.iter().cloned());
    notes.extend(asleep(summary));
    let (created, executed) = (summary.tasks.created, summary.tasks.executed);
    if summary.closed
        && summary.discarded == 0
        && summary.truncated_streams == 0
        && (summary.lost_lines == 0 || summary.lost_events == Some(0))
        && created > executed
    {
        let tasks = counted(created - executed, "task");
        notes.push(format!("{tasks} created and never executed (cancelled)"));
    }
    if detailed
        && !summary.parallel_regions.is_empty()
        && summary.loops.is_empty()
        && !told.static_loops
    {
        told.static_loops = true;
        notes.push("static loops leave no runtime call in GCC <= 16: they are part of their region's useful time".to_owned());
    }
    for trouble in &summary.sensor_troubles {
        notes.push(format!(
            "not read: {}: {}",
            elide(&trouble.name, 64),
            elide(&trouble.why, 200)
        ));
    }
    for sensor in &summary.sensors {
        if let Some(lost) = sensor.lost_ns {
            notes.push(format!(
                "{} could not be read any more after {}",
                elide(&sensor.name, 64),
                time(lost)
            ));
        }
    }
    notes.extend(summary.sensors.iter().filter_map(missed_wraps));
    if summary.counters.iter().any(|counter| counter.scaled) {
        notes.push(
            "there are more counters than the processor counts at once: values are scaled by the time each was counted"
                .to_owned(),
        );
    }
    let sequential = matches!(&summary.verdict, Some(verdict) if verdict.kind == "sequential");
    if summary.events > 0
        && summary.parallel_regions.is_empty()
        && summary.tasks.created == 0
        && !sequential
        && summary.threads.iter().all(|thread| thread.birth.is_none())
    {
        notes.push("no OpenMP construct was seen".to_owned());
    }
    notes
}

/// Useful time is what no construct explains; where the system told its context switches, they say how much of it a thread cannot have run.
fn asleep(summary: &Summary) -> Option<String> {
    // Where threads tell their own switches the verdict has them.
    let switches = summary.context_switches.as_ref();
    let switches = switches.filter(|switches| switches.source != "threads")?;
    let unknown = switches.processors.iter().map(|at| at.unknown_ns);
    let unknown = unknown.fold(0, u64::saturating_add);
    let stood = |scheduled: &ScheduledThread| {
        let ran = scheduled.running_ns?.saturating_add(unknown);
        let thread = summary.threads.iter();
        let thread = thread.clone().find(|t| Some(t.index) == scheduled.index)?;
        let stood = thread.useful_ns.saturating_sub(ran);
        (stood > thread.useful_ns / 20 && stood > LEAST_SLEEP_NS).then_some((stood, thread))
    };
    let found: Vec<_> = switches.threads.iter().filter_map(stood).collect();
    let (stood, thread) = found.iter().max_by_key(|(stood, _)| *stood)?;
    let more = match found.len() - 1 {
        0 => String::new(),
        others => format!(
            "; so did {} for less",
            counted(others as u64, "more thread")
        ),
    };
    Some(format!(
        "{} did not run for at least {} of its {} of useful time (context switches): it slept, or others ran{more}",
        elide(&thread.name, 64),
        time(*stood),
        time(thread.useful_ns)
    ))
}

/// A shorter sleep is not worth a note.
const LEAST_SLEEP_NS: u64 = 1_000_000;
/// Power that no socket exceeds, W: a meter of energy that it fills between two readings may have begun again unseen.
const MOST_WATTS: f64 = 1000.0;

/// A total says nothing of a second wrap-around between two readings.
fn missed_wraps(sensor: &super::sensors::model::Sensor) -> Option<String> {
    let range = sensor
        .wraps_at
        .filter(|_| sensor.total_unit.as_deref() == Some("J"))?;
    let gap = sensor.longest_gap_ns as f64 * 1e-9;
    (gap * MOST_WATTS > range).then(|| {
        format!(
            "{} begins again every {range} J, and up to {} lie between its readings: more than one time around is not seen (a shorter \
             INSTR_SENSORS_PERIOD helps)",
            elide(&sensor.name, 64),
            time(sensor.longest_gap_ns)
        )
    })
}

#[cfg(test)]
mod tests {
    use instr_analysis::switches::{ContextSwitches, Processor};

    use super::super::model::{Loop, ParallelRegion, Thread};
    use super::*;

    fn clean() -> Summary {
        Summary {
            closed: true,
            events: 90,
            parallel_regions: vec![ParallelRegion::default()],
            ..Summary::default()
        }
    }

    #[test]
    fn every_loss_is_told() {
        let mut summary = clean();
        summary.discarded = 10;
        summary.discarded_unattached = 3;
        summary.lost_lines = 2;
        summary.lost_events = Some(4);
        summary.setting_trouble = Some("INSTR_BUFFER is too small".to_owned());
        summary.truncated_streams = 2;
        summary.closed = false;
        summary.threads = vec![Thread {
            flush_ns: 1_500,
            ..Thread::default()
        }];
        let text = [losses(&summary), of(&summary, &mut Told::default(), true)]
            .concat()
            .join("\n");
        for part in [
            "10 events discarded (10.0%)",
            "3 of them belong to no thread shown",
            "4 of them were lost with 2 lines of the console",
            "not as it was set: INSTR_BUFFER is too small",
            "2 streams were not closed",
            "not closed",
            "1.50 us",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    /// A worker of a pool of `multiprocessing` that was killed has one line, and what else was lost.
    #[test]
    fn a_child_of_python_that_ends_without_cleanup_has_one_line() {
        let mut summary = clean();
        summary.truncated_streams = 1;
        summary.closed = false;
        summary.discarded = 10;
        summary.functions = vec![crate::summary::model::Function::default()];
        assert_eq!(losses(&summary).len(), 3);
        summary.forked = true;
        let told = losses(&summary);
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[1].contains("without its cleanup"), "{told:?}");
    }

    #[test]
    fn a_thread_that_sleeps_in_its_useful_time_is_told_where_switches_say_so() {
        let mut summary = clean();
        summary.threads = vec![Thread {
            name: "main".to_owned(),
            useful_ns: 3_000_000_000,
            ..Thread::default()
        }];
        let told = |summary: &Summary| {
            of(summary, &mut Told::default(), true)
                .iter()
                .any(|note| note.contains("main did not run for at least 2.90 s of its 3.00 s"))
        };
        assert!(!told(&summary));
        summary.context_switches = Some(ContextSwitches {
            source: "switches",
            threads: vec![ScheduledThread {
                index: Some(0),
                running_ns: Some(100_000_000),
                ..ScheduledThread::default()
            }],
            ..ContextSwitches::default()
        });
        assert!(told(&summary));
        if let Some(switches) = &mut summary.context_switches {
            switches.threads[0].running_ns = Some(2_999_500_000);
        }
        assert!(!told(&summary));
        // Records of damaged switches may claim any time.
        if let Some(switches) = &mut summary.context_switches {
            switches.threads[0].running_ns = Some(100_000_000);
            let unknown_ns = u64::MAX;
            let processor = Processor {
                unknown_ns,
                ..Processor::default()
            };
            switches.processors = vec![processor; 2];
        }
        assert!(!told(&summary));
    }

    #[test]
    fn hidden_static_loops_are_told_once_and_only_without_loops() {
        let (mut summary, mut told) = (clean(), Told::default());
        let hints = |notes: Vec<String>| {
            notes
                .iter()
                .filter(|note| note.contains("static loops"))
                .count()
        };
        assert_eq!(hints(of(&summary, &mut told, true)), 1);
        assert_eq!(hints(of(&summary, &mut told, true)), 0, "the next process");
        summary.loops.push(Loop::default());
        assert!(of(&summary, &mut Told::default(), true).is_empty());
    }

    #[test]
    fn tasks_that_never_ran_are_told_unless_events_are_missing() {
        let mut summary = clean();
        summary.tasks.created = 3;
        summary.tasks.executed = 1;
        let cancelled = |summary: &Summary| {
            of(summary, &mut Told::default(), true)
                .iter()
                .any(|note| note.contains("2 tasks created and never"))
        };
        assert!(cancelled(&summary));
        summary.lost_lines = 1;
        assert!(!cancelled(&summary));
        summary.lost_events = Some(0);
        assert!(cancelled(&summary));
        summary.closed = false;
        assert!(!cancelled(&summary));
    }
}
