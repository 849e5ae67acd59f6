//! Run time of whole programs, traced and plain: recursive tasks of different grain, and sparselu with tasks and with loops.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::recorded::{self, Recorded};
use crate::report::Report;
use crate::run::{Bench, output};
use crate::stats::Compared;
use crate::table::Row;
use crate::toolchain::{self, Pair, Toolchain};

/// Threads of every program.
pub(crate) const THREADS: u32 = 2;

/// A program and the arguments that make it run for about half a second on two threads.
struct Program {
    /// Name in the tables.
    what: &'static str,
    source: Source,
    arguments: &'static [&'static str],
    /// Arguments of a short run.
    quick: &'static [&'static str],
    rounds: usize,
}

/// Where a program comes from.
enum Source {
    /// `programs/NAME.c` of this folder, which prints how many tasks it makes.
    Own(&'static str),
    /// A program of `examples/sparselu`, and whether `--count` says how many tasks it makes.
    Sparselu { program: &'static str, tasks: bool },
}

const PROGRAMS: [Program; 6] = [
    Program {
        what: "fib, fine",
        source: Source::Own("fib"),
        arguments: &["37", "12"],
        quick: &["30", "12"],
        rounds: 9,
    },
    Program {
        what: "fib, coarse",
        source: Source::Own("fib"),
        arguments: &["41", "22"],
        quick: &["34", "22"],
        rounds: 9,
    },
    Program {
        what: "n-queens",
        source: Source::Own("nqueens"),
        arguments: &["14", "6"],
        quick: &["11", "4"],
        rounds: 9,
    },
    Program {
        what: "merge sort",
        source: Source::Own("sort"),
        arguments: &["6000000", "1000"],
        quick: &["300000", "1000"],
        rounds: 9,
    },
    Program {
        what: "sparselu, tasks",
        source: Source::Sparselu {
            program: "sparselu_task",
            tasks: true,
        },
        arguments: &["40"],
        quick: &["12"],
        rounds: 15,
    },
    Program {
        what: "sparselu, loops",
        source: Source::Sparselu {
            program: "sparselu_for",
            tasks: false,
        },
        arguments: &["40"],
        quick: &["12"],
        rounds: 15,
    },
];

/// One program with one compiler.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Name of the program.
    pub(crate) what: &'static str,
    /// What it was built with.
    pub(crate) toolchain: Toolchain,
    /// Run times, s.
    pub(crate) times: Compared,
    /// What the traced program left; `None` when there was no trace.
    pub(crate) recorded: Option<Recorded>,
    /// Tasks that the program makes, by its own arithmetic; 0 for a program of loops.
    pub(crate) tasks: u64,
}

impl Figures {
    /// Tasks or, without tasks, chunks of loops.
    pub(crate) fn pieces(&self) -> u64 {
        match self.recorded {
            Some(recorded) if self.tasks == 0 => recorded.chunks,
            _ => self.tasks,
        }
    }

    /// Mean time that a thread of the plain program has for one task or chunk, ns.
    pub(crate) fn grain(&self) -> f64 {
        self.times.plain() * 1e9 * f64::from(THREADS) / self.pieces() as f64
    }

    /// Events that the traced program records in a second.
    pub(crate) fn rate(&self) -> f64 {
        self.recorded.map_or(0.0, |recorded| recorded.events as f64) / self.times.changed()
    }

    /// Time of a thread that an event adds, ns.
    pub(crate) fn added_per_event(&self) -> f64 {
        let events = self.recorded.map_or(0.0, |recorded| recorded.events as f64);
        self.times.difference() * 1e9 * f64::from(THREADS) / events
    }

    /// Size of an event, packet headers included.
    pub(crate) fn bytes_per_event(&self) -> f64 {
        self.recorded.map_or(f64::NAN, |recorded| {
            recorded.bytes as f64 / recorded.events as f64
        })
    }
}

/// All programs with all compilers that are installed.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    for toolchain in toolchain::ALL {
        if toolchain.version().is_none() {
            eprintln!("bench: {}: not installed", toolchain.compiler);
            continue;
        }
        let sparselu = toolchain.build_example(bench, "sparselu")?;
        for program in PROGRAMS {
            eprintln!("bench: programs: {}, {}", program.what, toolchain.compiler);
            let figures = measure_one(bench, toolchain, &program, &sparselu)
                .with_context(|| format!("{}, {}", program.what, toolchain.compiler))?;
            report.rows.extend(rows(&figures));
            report.programs.push(figures);
        }
    }
    Ok(())
}

fn measure_one(
    bench: &Bench,
    toolchain: Toolchain,
    program: &Program,
    sparselu: &Pair,
) -> Result<Figures> {
    let pair = match program.source {
        Source::Own(name) => {
            let source = bench.source(&format!("programs/{name}.c"));
            toolchain.build(bench, name, &[source])?
        }
        Source::Sparselu { program, .. } => Pair {
            plain: sparselu.plain.join(program),
            traced: sparselu.traced.join(program),
        },
    };
    let arguments = bench.choose(program.arguments, program.quick);
    let trace = bench.fresh("programs.instr")?;
    // Goals are for gcc.
    let rounds = if toolchain == toolchain::GCC {
        program.rounds
    } else {
        program.rounds.div_ceil(2)
    };
    let times = Compared::measure(
        bench.choose(rounds, 2),
        || seconds(&pair.plain, arguments, &trace),
        || seconds(&pair.traced, arguments, &trace),
    )?;
    let tasks = expected_tasks(&program.source, &pair, arguments)?;
    // Plain runs after the last traced one leave its trace alone.
    let recorded = recorded::count(&trace)?.filter(|recorded| recorded.tasks > 0 || tasks == 0);
    ensure!(
        recorded.is_some() || toolchain != toolchain::GCC,
        "the program left no trace: it was linked without the runtime"
    );
    if let Some(recorded) = recorded {
        ensure!(
            recorded.tasks == tasks,
            "{} tasks in the trace, {tasks} in the program",
            recorded.tasks
        );
    }
    let _ = bench.fresh("programs.instr")?;
    Ok(Figures {
        what: program.what,
        toolchain,
        times,
        recorded,
        tasks,
    })
}

/// The time that a program prints for its parallel part. A traced one replaces the earlier trace.
fn seconds(program: &Path, arguments: &[&str], trace: &PathBuf) -> Result<f64> {
    let printed = output(
        Command::new(program)
            .args(arguments)
            .env("OMP_NUM_THREADS", THREADS.to_string())
            .env("OMP_PROC_BIND", "true")
            .env("INSTR_TRACE", trace)
            .env("INSTR_KEEP", "0"),
    )?;
    number(&printed.stdout, "time:")
        .or_else(|| number(&printed.stderr, "time:"))
        .with_context(|| format!("{} printed no time", program.display()))
}

/// How many tasks a program makes, from its own arithmetic; 0 when it has none.
fn expected_tasks(source: &Source, pair: &Pair, arguments: &[&str]) -> Result<u64> {
    let mut command = Command::new(&pair.plain);
    command.args(arguments);
    match source {
        Source::Sparselu { tasks: false, .. } => return Ok(0),
        Source::Sparselu { .. } => {
            command.arg("--count");
        }
        Source::Own(_) => {}
    }
    let text = output(&mut command)?.stdout;
    number(&text, "tasks:")
        .or_else(|| number(&text, "tasks"))
        .map(|tasks| tasks as u64)
        .with_context(|| format!("{} printed no number of tasks", pair.plain.display()))
}

/// The number behind the first word of a line.
pub(crate) fn number(text: &str, first: &str) -> Option<f64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next()? == first).then(|| words.next()?.parse().ok())?
    })
}

/// The added run time, with a goal for the programs whose grain is that of real programs.
fn rows(figures: &Figures) -> Vec<Row> {
    let what = format!(
        "{}, {}, added run time",
        figures.what, figures.toolchain.compiler
    );
    let added = (figures.times.ratio() - 1.0) * 100.0;
    let note = format!(
        "plain {:.3} s, A/A ±{:.2} %; of the least times {:+.2} %; {:.2} M events/s",
        figures.times.plain(),
        figures.times.ratio_noise() * 100.0,
        (figures.times.best_ratio() - 1.0) * 100.0,
        figures.rate() / 1e6
    );
    if figures.recorded.is_none() {
        return vec![Row::info(&what, "not recorded".to_owned(), note)];
    }
    let time = if figures.what.starts_with("sparselu") {
        Row::at_most(&what, 1.0, " %", added, 2, note)
    } else {
        Row::info(&what, format!("{added:.1} %"), note)
    };
    vec![
        time,
        Row::info(
            &format!(
                "{}, {}, bytes per event",
                figures.what, figures.toolchain.compiler
            ),
            format!("{:.1} B", figures.bytes_per_event()),
            format!("{} events", figures.recorded.map_or(0, |all| all.events)),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(seconds: [f64; 2], recorded: Option<Recorded>, tasks: u64) -> Figures {
        Figures {
            what: "x",
            toolchain: toolchain::GCC,
            times: Compared::measure(1, || Ok::<_, ()>(seconds[0]), || Ok(seconds[1])).unwrap(),
            recorded,
            tasks,
        }
    }

    #[test]
    fn reads_what_programs_print() {
        let text = "checksum: 1\ntime: 0.573045 s with up to 2 threads\ntasks 6180\n";
        assert_eq!(number(text, "time:"), Some(0.573_045));
        assert_eq!(number(text, "tasks"), Some(6180.0));
        assert_eq!(number(text, "tasks:"), None);
    }

    #[test]
    fn figures_follow_from_times_and_counts() {
        let recorded = Recorded {
            events: 8_000_000,
            tasks: 1_000_000,
            chunks: 7,
            bytes: 160_000_000,
        };
        let tasks = figures([1.0, 1.25], Some(recorded), 1_000_000);
        assert_eq!(tasks.grain(), 2000.0);
        assert_eq!(tasks.rate(), 6.4e6);
        assert_eq!(tasks.bytes_per_event(), 20.0);
        assert_eq!(tasks.added_per_event(), 62.5);
        assert_eq!(figures([1.0, 1.25], Some(recorded), 0).pieces(), 7);
    }

    #[test]
    fn program_without_a_trace_is_not_recorded() {
        let rows = rows(&figures([1.0, 1.0], None, 10));
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (rows[0].measured.as_str(), rows[0].met),
            ("not recorded", None)
        );
    }
}
