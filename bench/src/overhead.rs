//! The document `docs/overhead.md`: what tracing adds to programs and to single constructs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::constructs::{self, CASES, Case};
use crate::machine::Machine;
use crate::programs;
use crate::report::Report;
use crate::sampling;
use crate::stats::Series;
use crate::symbolize;
use crate::table::{Side, aligned};
use crate::toolchain::{self, Toolchain};
use crate::{installed, memory, sensors, series, switches};

/// A/A of programs above which a run counts as disturbed.
const QUIET: f64 = 0.02;

/// What cannot be told.
const NOTHING: &str = "–";

/// The whole document; `whole` when it comes from a full run.
pub(crate) fn document(report: &Report, machine: &Machine, whole: bool) -> String {
    let mut text = String::from(
        "# Overhead\n\n\
         Written by `make bench`; edits are lost. What tracing adds to a program's run time and to each OpenMP construct, \
         with the default settings: every event is written to a file.\n\n",
    );
    if !whole {
        text.push_str("**Of a short or partial run: only good to see that everything works.**\n\n");
    }
    let noise = program_noise(report);
    if noise > QUIET {
        let _ = writeln!(
            text,
            "**The machine was not quiet: the same program twice typically differs by {:.1} %.**\n",
            noise * 100.0
        );
    }
    text.push_str(&machine_text(machine));
    text.push_str(PROGRAMS);
    text.push_str(&programs_table(&report.programs));
    text.push_str(&unrecorded_programs(&report.programs));
    if !report.installed.is_empty() {
        text.push_str(&installed::section(&report.installed));
    }
    text.push_str(CONSTRUCTS);
    text.push_str(&added_table(&report.constructs));
    for toolchain in toolchain::ALL {
        text.push_str(&details(&report.constructs, toolchain));
    }
    if !report.sensors.is_empty() {
        text.push_str(&sensors::section(&report.sensors));
    }
    if !report.series.is_empty() {
        text.push_str(&series::section(&report.series));
    }
    if !report.switches.is_empty() {
        text.push_str(&switches::section(&report.switches));
    }
    if !report.memory.is_empty() {
        text.push_str(&memory::section(&report.memory));
    }
    if !report.sampling.is_empty() {
        text.push_str(&sampling::section(&report.sampling));
    }
    text.push_str(&dominates(report));
    text.push_str(&symbolize::section(report.symbolize.as_ref()));
    text.push_str(METHOD);
    text
}

const PROGRAMS: &str = "\
## Programs

Two threads. *Grain* is the mean time that the plain program has for a task (for a chunk in a program of loops): what a task or chunk
adds has to be seen against it. *A/A* is how far the plain program and the plain program again are typically apart: a ratio within it
of 1 means nothing. *Added per event* is the time of a thread; it holds what the runtime's own locks and queues take longer because tasks
arrive in another rhythm, so that it may differ from the cost of storing an event, and be negative.

";

const CONSTRUCTS: &str = "
## Constructs

What tracing adds to one construct: time in ns (±: A/A, within which a difference means nothing); *in memory*: the same when events are not
written to a file (`INSTR_POLICY=ring`); instructions on one thread, which do not depend on how busy the machine is. With two threads, a construct is one of the whole team, and its time that of both
threads side by side. Tasks are created by one thread; with two threads, both execute them.

";

const METHOD: &str = "
## How it is measured

* Plain – traced – plain again in turn, in one run, every second round in the opposite order; a round compares the traced program with the mean of
  its two neighbours, so that a drift of the machine's speed cancels out. Figures are medians over the rounds.
* All programs are built with `-O2 -falign-functions=64 -falign-loops=64`: another place of an inner loop alone can change a program's run
  time by half, which would look like overhead.
* The programs check their results, and know by arithmetic how many tasks they make: a trace with another number of tasks, or one that lost an event, is an
  error, not a figure.
* Constructs: blocks of about 3 ms of one construct only; threads are bound to processors and wait actively, because waking one up takes a hundred
  times as long as what is measured. Events and bytes come from the trace of the last traced run.
* Instructions are counted by valgrind (callgrind) over 2000 operations on one thread, in user mode: reading the clock is one of them, though it
  takes as long as forty others.
* Sources: [bench](../bench/README.md). `scripts/bench.sh --only programs,constructs` measures this part alone; its result is left in
  `target/bench/overhead.md`.
";

/// Median over the programs of their A/A; 0 without programs.
fn program_noise(report: &Report) -> f64 {
    if report.programs.is_empty() {
        return 0.0;
    }
    let noises = report
        .programs
        .iter()
        .map(|program| program.times.ratio_noise());
    noises.collect::<Series>().median()
}

fn machine_text(machine: &Machine) -> String {
    let mut text = format!(
        "Measured on: {}, {} processor{}{}.",
        machine.processor,
        machine.processors,
        if machine.processors == 1 { "" } else { "s" },
        if machine.virtual_machine {
            " of a virtual machine"
        } else {
            ""
        },
    );
    if !machine.programs.is_empty() {
        let _ = write!(text, " With: {}.", machine.programs.join("; "));
    }
    text.push_str(" Ratios travel to other machines, absolute times do not.\n\n");
    text
}

fn programs_table(programs: &[programs::Figures]) -> String {
    let line = |program: &programs::Figures| {
        let recorded = |text: String| {
            if program.recorded.is_some() {
                text
            } else {
                NOTHING.to_owned()
            }
        };
        let with_pieces = |text: String| {
            if program.pieces() > 0 {
                text
            } else {
                NOTHING.to_owned()
            }
        };
        [
            program.what.to_owned(),
            program.toolchain.compiler.to_owned(),
            format!("{:.3} s", program.times.plain()),
            with_pieces(program.pieces().to_string()),
            with_pieces(time(program.grain())),
            format!("{:.3}", program.times.ratio()),
            format!("±{:.3}", program.times.ratio_noise()),
            recorded(program.recorded.map_or(0, |all| all.events).to_string()),
            recorded(format!("{:.2} M", program.rate() / 1e6)),
            recorded(format!("{:.1}", program.bytes_per_event())),
            recorded(format!("{:+.0} ns", program.added_per_event())),
        ]
    };
    let mut sides = [Side::Right; 11];
    sides[0] = Side::Left;
    sides[1] = Side::Left;
    aligned(
        [
            "program",
            "compiler",
            "plain",
            "tasks or chunks",
            "grain",
            "traced ÷ plain",
            "A/A",
            "events",
            "events/s",
            "bytes/event",
            "added per event",
        ],
        sides,
        &programs.iter().map(line).collect::<Vec<_>>(),
    )
}

/// A length of time with a unit that suits it.
fn time(ns: f64) -> String {
    if ns < 1e3 {
        format!("{ns:.0} ns")
    } else if ns < 1e6 {
        format!("{:.1} µs", ns / 1e3)
    } else {
        format!("{:.1} ms", ns / 1e6)
    }
}

/// A sentence on programs of which nothing was recorded.
fn unrecorded_programs(programs: &[programs::Figures]) -> String {
    let names: Vec<_> = programs
        .iter()
        .filter(|program| program.recorded.is_none())
        .map(|program| format!("{} ({})", program.what, program.toolchain.compiler))
        .collect();
    if names.is_empty() {
        return String::new();
    }
    format!("\nNot recorded by this version: {}.\n", names.join("; "))
}

fn find<'c>(
    all: &'c [constructs::Figures],
    case: &Case,
    threads: u32,
    toolchain: Toolchain,
) -> Option<&'c constructs::Figures> {
    all.iter().find(|figures| {
        figures.case.name == case.name
            && figures.threads == threads
            && figures.toolchain == toolchain
    })
}

/// What is added, all compilers side by side.
fn added_table(all: &[constructs::Figures]) -> String {
    let mut lines = Vec::new();
    for case in &CASES {
        for &threads in case.threads {
            let found = toolchain::ALL.map(|toolchain| find(all, case, threads, toolchain));
            if found.iter().all(Option::is_none) {
                continue;
            }
            let [first, second] = found.map(added_cells);
            let [first_time, first_memory, first_count] = first;
            let [second_time, second_memory, second_count] = second;
            lines.push([
                case.what.to_owned(),
                threads.to_string(),
                first_time,
                first_memory,
                first_count,
                second_time,
                second_memory,
                second_count,
            ]);
        }
    }
    let [first, second] = toolchain::ALL.map(|toolchain| {
        [
            format!("{}, {}", toolchain.compiler, toolchain.runtime),
            "in memory".to_owned(),
            "instructions".to_owned(),
        ]
    });
    let mut sides = [Side::Right; 8];
    sides[0] = Side::Left;
    aligned(
        [
            "construct",
            "threads",
            &first[0],
            &first[1],
            &first[2],
            &second[0],
            &second[1],
            &second[2],
        ],
        sides,
        &lines,
    )
}

/// Time added, time added without writing to a file, instructions added.
fn added_cells(figures: Option<&constructs::Figures>) -> [String; 3] {
    let nothing = || NOTHING.to_owned();
    let Some(figures) = figures else {
        return [nothing(), nothing(), nothing()];
    };
    if !figures.cost.is_recorded() && is_unchanged(figures) {
        return ["not recorded".to_owned(), nothing(), nothing()];
    }
    let cost = &figures.cost;
    [
        format!(
            "{:+.0} ± {:.0}",
            cost.times.difference(),
            cost.times.difference_noise()
        ),
        format!("{:+.0}", cost.in_memory.difference()),
        figures
            .instructions
            .map_or_else(nothing, |count| format!("{:+.0}", count.added)),
    ]
}

/// Whether tracing changes nothing about a construct that leaves no events, so that it is not recorded rather than
/// watched for nothing. Without valgrind, nobody knows.
fn is_unchanged(figures: &constructs::Figures) -> bool {
    figures
        .instructions
        .is_none_or(|count| count.added.abs() < 1.0)
}

/// Plain times and events with one compiler.
fn details(all: &[constructs::Figures], toolchain: Toolchain) -> String {
    let all: Vec<_> = all
        .iter()
        .filter(|figures| figures.toolchain == toolchain)
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let line = |figures: &&constructs::Figures| {
        let cost = &figures.cost;
        let recorded = |text: String| {
            if cost.is_recorded() {
                text
            } else {
                NOTHING.to_owned()
            }
        };
        let events = cost.events.unwrap_or(0.0);
        [
            figures.case.what.to_owned(),
            figures.threads.to_string(),
            format!("{:.1}", cost.times.plain()),
            format!("{:.1}", cost.times.changed()),
            figures
                .instructions
                .map_or(NOTHING.to_owned(), |count| format!("{:.0}", count.plain)),
            recorded(format!("{events:.2}")),
            recorded(format!("{:.1}", cost.bytes_per_event)),
            recorded(format!("{:.0}", cost.times.difference() / events)),
        ]
    };
    let mut sides = [Side::Right; 8];
    sides[0] = Side::Left;
    let table = aligned(
        [
            "construct",
            "threads",
            "plain, ns",
            "traced, ns",
            "plain, instructions",
            "events",
            "bytes/event",
            "added ns/event",
        ],
        sides,
        &all.iter().map(line).collect::<Vec<_>>(),
    );
    format!(
        "\n### {}, {}: beside it\n\nEvents are those of the whole team.\n\n{table}{}",
        toolchain.compiler,
        toolchain.runtime,
        unrecorded(&all)
    )
}

/// A sentence on constructs that leave no event.
fn unrecorded(all: &[&constructs::Figures]) -> String {
    let names: BTreeSet<_> = all
        .iter()
        .filter(|figures| !figures.cost.is_recorded())
        .map(|figures| {
            let threads = figures.threads;
            let plural = if threads == 1 { "" } else { "s" };
            format!("{} ({threads} thread{plural})", figures.case.what)
        })
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let names: Vec<_> = names.into_iter().collect();
    format!("\nWithout an event of its own: {}.\n", names.join("; "))
}

/// What the added time consists of, in figures of this run.
fn dominates(report: &Report) -> String {
    let mut text = String::from("\n## What dominates\n\n");
    if let Some(cost) = report.event {
        let _ = writeln!(
            text,
            "* **The clock.** Reading the time stamp counter and storing 16 bytes takes {:.1} ns here, whoever does it; `instr_event`, \
             written to a file, {:.1} ns ({:.0} % of it).",
            cost.floor,
            cost.event,
            cost.floor / cost.event * 100.0
        );
    }
    let alone = || {
        report
            .constructs
            .iter()
            .filter(|figures| figures.threads == 1 && figures.cost.is_recorded())
            .filter_map(|figures| Some((&figures.cost, figures.cost.events?)))
    };
    if alone().next().is_some() {
        let in_memory: Series = alone()
            .map(|(cost, events)| cost.in_memory.difference() / events)
            .collect();
        let written: Series = alone()
            .map(|(cost, events)| {
                (cost.times.difference() - cost.in_memory.difference())
                    / (events * cost.bytes_per_event)
            })
            .collect();
        let _ = writeln!(
            text,
            "* **The number of events.** Over the recorded constructs on one thread, an event adds {:.0} ns in the median as long as it stays in \
             memory: what a construct adds is about its number of events times that, whatever the construct.\n\
             * **Bytes.** Writing to a file adds {:.2} ns a byte in the median, paid when a thread's buffer is full.",
            in_memory.median(),
            written.median()
        );
    }
    text.push_str(
        "* **Grain.** A task leaves four events (created, call returned, begin, end), the `taskwait` behind it two more. Divide what they add by \
         the grain of a program to get its ratio; below some microseconds a task, tracing shows, and so does the runtime's own cost \
         of making tasks.\n",
    );
    text
}

#[cfg(test)]
mod tests;
