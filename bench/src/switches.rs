//! What recording context switches takes: the same traced programs with `INSTR_SWITCHES=0` and with the default; and any program under `instr run`, by
//! perf and by eBPF.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::programs::number;
use crate::report::Report;
use crate::run::{Bench, ensure_traced, output};
use crate::stats::Compared;
use crate::table::{Row, Side, aligned};
use crate::toolchain;

/// A program of two threads: name in the table, its source, arguments of a long and of a short run.
type Case = (&'static str, &'static str, [&'static [&'static str]; 2]);

const CASES: [Case; 4] = [
    (
        "fib, fine",
        "programs/fib.c",
        [&["37", "12"], &["30", "12"]],
    ),
    (
        "n-queens",
        "programs/nqueens.c",
        [&["14", "6"], &["11", "4"]],
    ),
    (
        "hand-overs, 1 ms of work between",
        "switches.c",
        [&["400", "1000000"], &["20", "1000000"]],
    ),
    (
        "hand-overs, nothing between",
        "switches.c",
        [&["40000", "0"], &["2000", "0"]],
    ),
];

/// What `instr run` records by: name in the table, value of the setting, goal in ns.
const RECORDERS: [(&str, &str, f64); 2] = [
    ("hand-overs, `instr run` by perf", "perf", 1200.0),
    ("hand-overs, `instr run` by eBPF", "ebpf", 300.0),
];

/// One program.
#[derive(Debug)]
pub(crate) struct Cost {
    name: &'static str,
    times: Compared,
    /// Switches of a run, as the kernel counts them.
    switches: f64,
}

/// Measures every program.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    for (name, source, arguments) in CASES {
        eprintln!("bench: switches: {name}");
        let stem = Path::new(source).file_stem().unwrap_or_default();
        let stem = format!("switches-{}", stem.to_string_lossy());
        let pair = toolchain::GCC.build(bench, &stem, &[bench.source(source)])?;
        let arguments = bench.choose(arguments[0], arguments[1]);
        let mut switches = 0.0;
        let times = Compared::measure(
            bench.choose(9, 2),
            || Ok::<_, anyhow::Error>(run(bench, &pair.traced, arguments, "0")?.0),
            || {
                let (seconds, count) = run(bench, &pair.traced, arguments, "1")?;
                switches = count;
                Ok(seconds)
            },
        )?;
        report.switches.push(Cost {
            name,
            times,
            switches,
        });
    }
    if let Some(all) = report.switches.last() {
        report.rows.push(Row::at_most(
            "a context switch, recorded",
            1200.0,
            " ns",
            all.per_switch(),
            0,
            format!("{:.0} of them in a run", all.switches),
        ));
    }
    for (name, recorder, goal) in RECORDERS {
        eprintln!("bench: switches: {name}");
        let Some(cost) = by_launcher(bench, name, recorder)? else {
            eprintln!("bench: switches: {recorder} is not permitted here");
            continue;
        };
        report.rows.push(Row::at_most(
            &format!("a context switch under instr run, by {recorder}"),
            goal,
            " ns",
            cost.per_switch(),
            0,
            format!("{:.0} of them in a run", cost.switches),
        ));
        report.switches.push(cost);
    }
    Ok(())
}

/// The same hand-overs of a program that records nothing itself; nothing where the recorder is refused.
fn by_launcher(bench: &Bench, name: &'static str, recorder: &str) -> Result<Option<Cost>> {
    let program = bench.path("handover");
    let mut build = Command::new("gcc");
    build.arg("-O2").arg("-o").arg(&program);
    output(build.arg(bench.source("handover.c")))?;
    let trace = bench.path("handover.instr");
    let handovers = bench.choose("100000", "5000");
    let run = |switches: &str| -> Result<(f64, f64)> {
        bench.fresh("handover.instr")?;
        let mut command = bench.tool("instr");
        command.args(["run", "-q", "-o"]).arg(&trace).arg("--");
        command.arg(&program).arg(handovers);
        command.env("INSTR_SWITCHES", switches);
        let printed = output(&mut command)?.stdout;
        let seconds = number(&printed, "time:").context("the program printed no time")?;
        Ok((seconds, number(&printed, "switches:").unwrap_or(f64::NAN)))
    };
    run(recorder)?;
    let metadata = std::fs::read_to_string(trace.join("kernel/metadata")).unwrap_or_default();
    if !metadata.contains(&format!("recorder = \"{recorder}\"")) {
        return Ok(None);
    }
    let mut switches = 0.0;
    let times = Compared::measure(
        bench.choose(9, 2),
        || Ok::<_, anyhow::Error>(run("0")?.0),
        || {
            let (seconds, count) = run(recorder)?;
            switches = count;
            Ok(seconds)
        },
    )?;
    Ok(Some(Cost {
        name,
        times,
        switches,
    }))
}

/// Seconds of the parallel part, and switches where the program prints them.
fn run(bench: &Bench, program: &Path, arguments: &[&str], switches: &str) -> Result<(f64, f64)> {
    let trace = bench.fresh("switches.instr")?;
    let mut command = Command::new(program);
    command.args(arguments).env("OMP_NUM_THREADS", "2");
    command.env("INSTR_TRACE", &trace).env("INSTR_KEEP", "0");
    command.env("INSTR_SWITCHES", switches);
    let printed = output(&mut command)?.stdout;
    ensure_traced(&trace)?;
    let recorded = std::fs::read_dir(&trace)?.flatten().any(|entry| {
        entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(b"switches_")
    });
    ensure!(
        recorded == (switches == "1"),
        "the kernel does not report context switches to this user"
    );
    let seconds = number(&printed, "time:").context("the program printed no time")?;
    Ok((seconds, number(&printed, "switches:").unwrap_or(f64::NAN)))
}

impl Cost {
    /// Time that a switch takes longer, ns.
    fn per_switch(&self) -> f64 {
        self.times.difference() * 1e9 / self.switches
    }
}

/// The section of the document.
pub(crate) fn section(costs: &[Cost]) -> String {
    let mut text = String::from(
        "\n## Context switches\n\n\
         Traced programs of two threads by gcc that record the context switches of their threads, as they do by default where the kernel allows it, against the same with \
         `INSTR_SWITCHES=0`, in turn. In *hand-overs*, two threads on one processor hand a byte to and fro; each hand-over is a switch. The rows of `instr run` are of two processes that do the same and record nothing themselves: \
         processor time, per switch; eBPF records who woke whom, too.\n\n",
    );
    let rows: Vec<[String; 5]> = costs
        .iter()
        .map(|cost| {
            let known = cost.switches.is_finite();
            [
                cost.name.to_owned(),
                if known {
                    format!("{:.0}/s", cost.switches / cost.times.changed())
                } else {
                    "–".to_owned()
                },
                format!("{:.3}", cost.times.ratio()),
                format!("±{:.3}", cost.times.ratio_noise()),
                if known {
                    format!("{:+.0} ns", cost.per_switch())
                } else {
                    "–".to_owned()
                },
            ]
        })
        .collect();
    text.push_str(&aligned(
        ["program", "switches", "with ÷ without", "A/A", "a switch"],
        [
            Side::Left,
            Side::Right,
            Side::Right,
            Side::Right,
            Side::Right,
        ],
        &rows,
    ));
    text
}
