//! Speed and memory of `instr symbolize` beside those of binutils, LLVM and elfutils, on a large C++ program.

mod program;
mod text;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use instr_symtab::{Image, map_file};

use crate::report::Report;
use crate::run::{Bench, Cost, cost_between};
use crate::stats::Series;
use crate::table::Row;

pub(crate) use text::section;

/// Questions of the large run.
const ADDRESSES: usize = 100_000;

/// Passes over all addresses whose answers are known.
const WARM_PASSES: usize = 9;

/// A program that answers addresses on its standard input with functions, files, lines and inlined frames.
#[derive(Debug, Clone)]
pub(crate) struct Tool {
    /// Name in the table.
    pub(crate) name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// Only so many questions, because it takes so long.
    pub(crate) limit: usize,
}

/// What one tool took.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) tool: Tool,
    /// All answers, s.
    pub(crate) all: Series,
    /// The same in processor time, s.
    pub(crate) processor: Series,
    /// From the start of the process to its end after one answer, s.
    pub(crate) first: Series,
    /// Largest resident set of all runs, bytes.
    pub(crate) peak: u64,
}

/// Everything this part found.
#[derive(Debug)]
pub(crate) struct Figures {
    /// Bytes of debug sections.
    pub(crate) debug_bytes: u64,
    pub(crate) questions: usize,
    /// Ours first.
    pub(crate) tools: Vec<Measured>,
    /// A look-up whose answer is known, ns.
    pub(crate) warm: f64,
    /// Share of the lines that are the same as those of binutils.
    pub(crate) agreement: f64,
    /// The program with more than 1 GB of debug information.
    pub(crate) huge: Option<Huge>,
}

/// Opening a huge program.
#[derive(Debug)]
pub(crate) struct Huge {
    pub(crate) debug_bytes: u64,
    /// Opening it in a process that runs, s.
    pub(crate) open: f64,
    /// First answer of the command, s.
    pub(crate) first: f64,
    /// Peak memory of that, bytes.
    pub(crate) peak: u64,
}

/// Builds the program, or takes that of an earlier run, and asks every tool in turn.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let units = bench.choose(program::UNITS, 4);
    let program = program::build(bench, units)?;
    let questions = bench.choose(ADDRESSES, 2000);
    let addresses = program::addresses(&program, questions)?;
    let mut tools = Vec::new();
    for tool in tools_here(bench) {
        tools.push(Measured {
            tool,
            all: Series::default(),
            processor: Series::default(),
            first: Series::default(),
            peak: 0,
        });
    }
    for round in 0..bench.choose(3, 1) {
        eprintln!("bench: symbolize: round {}", round + 1);
        for measured in &mut tools {
            ask(bench, &program, &addresses, measured)?;
        }
    }
    for _ in 0..bench.choose(9, 1) {
        for measured in &mut tools {
            let one = run(
                bench,
                &measured.tool,
                &program,
                &addresses[..1],
                "first.out",
            )?;
            measured.first.push(one.time.as_secs_f64());
        }
    }
    let figures = Figures {
        debug_bytes: program::debug_bytes(&program)?,
        questions,
        agreement: text::agreement(&bench.path("ours.out"), &bench.path("binutils.out"))?,
        tools,
        warm: warm(&program, &addresses)?,
        huge: match bench.quick {
            true => None,
            false => Some(huge(bench)?),
        },
    };
    report.rows.extend(rows(&figures));
    report.symbolize = Some(figures);
    Ok(())
}

/// Ours and the others that are installed.
fn tools_here(bench: &Bench) -> Vec<Tool> {
    let tool = |name, program: &Path, arguments, limit| Tool {
        name,
        program: program.to_owned(),
        arguments,
        limit,
    };
    let mut tools = vec![
        tool(
            "ours",
            &bench.bin.join("instr"),
            &["symbolize", "-f", "-i", "-e"],
            usize::MAX,
        ),
        tool(
            "binutils",
            Path::new("addr2line"),
            &["-f", "-i", "-e"],
            usize::MAX,
        ),
    ];
    let llvm = ["llvm-symbolizer", "llvm-symbolizer-14"];
    if let Some(found) = llvm.into_iter().find(|name| runs(name)) {
        let arguments = &["--functions", "--inlines", "-e"];
        tools.push(tool("llvm", Path::new(found), arguments, usize::MAX));
    }
    if runs("eu-addr2line") {
        let arguments = &["-f", "-i", "-e"];
        tools.push(tool("elfutils", Path::new("eu-addr2line"), arguments, 200));
    }
    tools
}

fn runs(name: &str) -> bool {
    Command::new(name)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// All questions to one tool.
fn ask(bench: &Bench, program: &Path, addresses: &[u64], measured: &mut Measured) -> Result<()> {
    let count = addresses.len().min(measured.tool.limit);
    let out = format!("{}.out", measured.tool.name);
    let cost = run(bench, &measured.tool, program, &addresses[..count], &out)?;
    measured.all.push(cost.time.as_secs_f64());
    measured.processor.push(cost.cpu.as_secs_f64());
    measured.peak = measured.peak.max(cost.peak);
    Ok(())
}

/// One run with these questions on standard input; the answers go to a file.
fn run(bench: &Bench, tool: &Tool, program: &Path, addresses: &[u64], out: &str) -> Result<Cost> {
    let questions: String = addresses.iter().map(|a| format!("{a:#x}\n")).collect();
    let file = bench.path("questions.txt");
    std::fs::write(&file, questions).with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = Command::new(&tool.program);
    command.args(tool.arguments).arg(program);
    cost_between(&mut command, &file, &bench.path(out))
}

/// Nanoseconds of a look-up whose answer is known: median over passes in the order of the questions, which is random.
fn warm(program: &Path, addresses: &[u64]) -> Result<f64> {
    let image = open(program)?;
    let known = image.lookup_all(addresses);
    ensure!(
        known.iter().any(|answer| answer.frames.len() > 1),
        "no inlined frames"
    );
    let mut passes = Series::default();
    for _ in 0..WARM_PASSES {
        let begin = Instant::now();
        let frames: usize = addresses
            .iter()
            .map(|&address| image.lookup(address).frames.len())
            .sum();
        passes.push(begin.elapsed().as_nanos() as f64 / addresses.len() as f64);
        ensure!(frames > 0, "no frames");
    }
    Ok(passes.median())
}

fn open(program: &Path) -> Result<Image> {
    let cannot = || format!("cannot read {}", program.display());
    Image::from_bytes(map_file(program).with_context(cannot)?).with_context(cannot)
}

/// Opens a program with more than 1 GB of debug information.
fn huge(bench: &Bench) -> Result<Huge> {
    let program = program::build(bench, program::HUGE_UNITS)?;
    let address = program::addresses(&program, 1)?;
    let ours = &tools_here(bench)[0];
    let (mut opening, mut first) = (Series::default(), Series::default());
    let mut peak = 0;
    for _ in 0..9 {
        let begin = Instant::now();
        let image = open(&program)?;
        ensure!(
            image.wants().is_empty(),
            "the program lacks its debug information"
        );
        opening.push(begin.elapsed().as_secs_f64());
        let cost = run(bench, ours, &program, &address, "first.out")?;
        first.push(cost.time.as_secs_f64());
        peak = peak.max(cost.peak);
    }
    Ok(Huge {
        debug_bytes: program::debug_bytes(&program)?,
        open: opening.median(),
        first: first.median(),
        peak,
    })
}

impl Figures {
    /// The figures of one tool.
    pub(crate) fn of(&self, name: &str) -> Option<&Measured> {
        self.tools
            .iter()
            .find(|measured| measured.tool.name == name)
    }
}

/// The goals.
fn rows(figures: &Figures) -> Vec<Row> {
    let mut rows = Vec::new();
    let Some(ours) = figures.of("ours") else {
        return rows;
    };
    for (name, goal) in [("binutils", 10.0), ("llvm", 4.0)] {
        if let Some(other) = figures.of(name) {
            rows.push(Row::at_least(
                &format!(
                    "symbolize, {} addresses, time against {name}",
                    figures.questions
                ),
                goal,
                "×",
                other.all.median() / ours.all.median(),
                1,
                format!("{:.2} s and {:.2} s", other.all.median(), ours.all.median()),
            ));
        }
    }
    if let Some(llvm) = figures.of("llvm") {
        rows.push(Row::at_most(
            "symbolize, peak memory against llvm",
            0.5,
            "×",
            ours.peak as f64 / llvm.peak as f64,
            2,
            format!("{} and {} MiB", ours.peak >> 20, llvm.peak >> 20),
        ));
    }
    let first = ours.first.median() * 1e3;
    rows.push(Row::at_most(
        "symbolize, first answer",
        50.0,
        " ms",
        first,
        1,
        String::new(),
    ));
    let note = String::from("in random order");
    rows.push(Row::at_most(
        "look-up of a known address",
        200.0,
        " ns",
        figures.warm,
        0,
        note,
    ));
    if let Some(huge) = &figures.huge {
        rows.push(Row::at_most(
            "opening 1 GB of debug information",
            10.0,
            " ms",
            huge.open * 1e3,
            2,
            format!(
                "{} MB; first answer {:.1} ms",
                huge.debug_bytes / 1_000_000,
                huge.first * 1e3
            ),
        ));
    }
    rows
}
