//! Programs as Debian has them (`installed/programs.toml`), plainly and under `instr run`: who ran on which processor, threads and OpenMP are recorded of all
//! that they start. They must print the same bytes and end with the same status.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::report::Report;
use crate::run::{self, Bench, ensure_traced, output};
use crate::stats::Compared;
use crate::table::{Row, Side, aligned};

/// What they are allowed to take longer, as a ratio.
const GOAL: f64 = 1.02;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    program: Vec<Program>,
}

/// One program; the fields are described in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    package: String,
    needs: PathBuf,
    what: String,
    large: String,
    small: String,
    #[serde(default)]
    prepare: String,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    command: Vec<String>,
    answer: Option<String>,
    #[serde(default)]
    answers: BTreeMap<String, String>,
    #[serde(default)]
    status: i32,
}

/// What one program took.
#[derive(Debug)]
pub(crate) struct Figures {
    name: String,
    what: String,
    /// Run times, s.
    times: Compared,
    /// Processor times of all its processes, and of `instr run`, s.
    cpu: Compared,
}

/// All that are installed.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let file = bench.source("installed/programs.toml");
    let text = std::fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}", file.display()))?;
    let file: File = toml::from_str(&text).with_context(|| file.display().to_string())?;
    for program in file.program {
        if !program.needs.exists() {
            eprintln!(
                "bench: {}: not installed (apt-get install {})",
                program.name, program.package
            );
            continue;
        }
        eprintln!("bench: installed: {}", program.name);
        let figures = measure_one(bench, &program).with_context(|| program.name.clone())?;
        report.rows.push(figures.row());
        report.installed.push(figures);
    }
    Ok(())
}

fn measure_one(bench: &Bench, program: &Program) -> Result<Figures> {
    let (size, which) = match bench.quick {
        true => (&program.small, "small"),
        false => (&program.large, "large"),
    };
    let sized = |text: &str| text.replace("{n}", size);
    let folder = bench.fresh("installed")?;
    std::fs::create_dir_all(&folder)?;
    let script = sized(&program.prepare);
    output(
        Command::new("sh")
            .args(["-ec", &script])
            .current_dir(&folder),
    )?;
    let trace = folder.join("trace.instr");
    let plain_output = folder.join("plain.out");
    let traced_output = folder.join("traced.out");
    let (words, environment) = (&program.command, &program.environment);
    let words: Vec<String> = words.iter().map(|word| sized(word)).collect();
    let cost = |mut command: Command, out: &Path| {
        command.current_dir(&folder).envs(environment);
        run::cost_into(&mut command, out, program.status)
    };
    let plain = || {
        let (first, rest) = words.split_first().context("no command")?;
        let mut command = Command::new(first);
        command.args(rest);
        cost(command, &plain_output)
    };
    let traced = || {
        let mut command = bench.tool("instr");
        command.args(["run", "-q", "-o"]).arg(&trace).arg("--");
        command.args(&words).env("INSTR_KEEP", "0");
        let cost = cost(command, &traced_output)?;
        ensure_traced(&trace)?;
        let same = std::fs::read(&plain_output)? == std::fs::read(&traced_output)?;
        ensure!(same, "it prints something else under instr run");
        Ok(cost)
    };
    // Once each before: files come from the disk, and the library that is preloaded may have to be built.
    plain()?;
    if let Some(answer) = &program.answer {
        let value = program.answers.get(which);
        let answer = answer.replace("{n}", value.map_or("", String::as_str));
        let printed = std::fs::read_to_string(&plain_output)?;
        ensure!(printed == answer, "it prints {printed:?}, not {answer:?}");
    }
    traced()?;
    let rounds = bench.choose(9, 2);
    let cpu = RefCell::new((Vec::new(), Vec::new()));
    let times = Compared::measure(
        rounds,
        || {
            let cost = plain()?;
            cpu.borrow_mut().0.push(cost.cpu.as_secs_f64());
            Ok::<_, anyhow::Error>(cost.time.as_secs_f64())
        },
        || {
            let cost = traced()?;
            cpu.borrow_mut().1.push(cost.cpu.as_secs_f64());
            Ok(cost.time.as_secs_f64())
        },
    )?;
    // The same rounds in the same order.
    let (plain, traced) = cpu.into_inner();
    let (mut plain, mut traced) = (plain.into_iter(), traced.into_iter());
    let short = "fewer processor times than rounds";
    let cpu = Compared::measure(
        rounds,
        || plain.next().context(short),
        || traced.next().context(short),
    )?;
    let _ = bench.fresh("installed")?;
    Ok(Figures {
        name: program.name.clone(),
        what: program.what.clone(),
        times,
        cpu,
    })
}

impl Figures {
    fn row(&self) -> Row {
        let (low, high) = self.times.ratio_interval();
        Row::at_most(
            &format!("{}, with instr run ÷ without", self.name),
            GOAL,
            "",
            self.times.ratio(),
            3,
            format!(
                "95 %: {low:.3} to {high:.3}; A/A ±{:.3}; processor time {:.3}",
                self.times.ratio_noise(),
                self.cpu.ratio()
            ),
        )
    }
}

/// The section of the document.
pub(crate) fn section(all: &[Figures]) -> String {
    let mut text = String::from(
        "\n## Programs that nobody built to be traced\n\n\
         Debian's programs as they are under `instr run`, with its defaults: who runs on which processor, OpenMP, threads and what they wait for, of all processes. The program alone and under `instr run` in turn; both print the same \
         bytes and end with the same status. *with ÷ without* is the median of the rounds' ratios, from the start of the command to its end, the 95 % interval that of the median. *Processor time* is that of all processes together, `instr run` included: \
         other programs on the machine disturb it less.\n\n",
    );
    let range = |times: &Compared| {
        let (low, high) = times.ratio_interval();
        format!("{low:.3} to {high:.3}")
    };
    let rows: Vec<[String; 8]> = all
        .iter()
        .map(|one| {
            [
                one.name.clone(),
                one.what.clone(),
                format!("{:.2} s", one.times.plain()),
                format!("{:.3}", one.times.ratio()),
                range(&one.times),
                format!("±{:.3}", one.times.ratio_noise()),
                format!("{:.3}", one.cpu.ratio()),
                range(&one.cpu),
            ]
        })
        .collect();
    text.push_str(&aligned(
        [
            "program",
            "what it does",
            "plain",
            "with ÷ without",
            "95 %",
            "A/A",
            "processor time",
            "95 %",
        ],
        [
            Side::Left,
            Side::Left,
            Side::Right,
            Side::Right,
            Side::Right,
            Side::Right,
            Side::Right,
            Side::Right,
        ],
        &rows,
    ));
    text
}
