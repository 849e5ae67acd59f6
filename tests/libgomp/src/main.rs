//! `instr-libgomp-tests`: libgomp's own test programs, plainly and instrumented. See `--help`; `scripts/conformance.sh` prepares and
//! starts it.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow, bail};
use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use instr_libgomp_tests::campaign::{self, Workspace};
use instr_libgomp_tests::catalog::{self, Program};
use instr_libgomp_tests::compile::{Builder, Linkage};
use instr_libgomp_tests::exceptions::Exceptions;
use instr_libgomp_tests::trial::{Settings, Trial};
use instr_libgomp_tests::unpack::Suite;
use instr_libgomp_tests::{report, sample};
use instr_tests::toolchain::tools;

/// Runs the test programs of libgomp that Debian's package gcc-12-source ships. Each program that passes plainly must pass instrumented,
/// and its trace must be sound. Exit status: 0 all did, 1 some did not, 2 wrong usage.
#[derive(Debug, Parser)]
#[command(name = "instr-libgomp-tests")]
struct Arguments {
    /// Only programs whose name contains TEXT; `=NAME` for one alone. Several: any of them
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only the fixed sample of `make test`
    #[arg(long)]
    sample: bool,
    /// Only this linkage; several times for several (default: all)
    #[arg(long, value_enum)]
    linkage: Vec<Linkage>,
    /// Programs at a time (default: the number of processors)
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Time limit of a run in seconds; a program may ask for more
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,
    /// Keep each program's folder: what was built, what it printed, its trace
    #[arg(long)]
    keep: bool,
    /// List the programs with what is to be done, and do nothing
    #[arg(long)]
    list: bool,
    /// Folder that the tests are unpacked into
    #[arg(long, value_name = "DIR")]
    suite: PathBuf,
    /// Folder to work in
    #[arg(long, value_name = "DIR")]
    work: PathBuf,
    /// Command named in instructions to run a program again
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "scripts/conformance.sh",
        hide = true
    )]
    command: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("instr-libgomp-tests: error: {why:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything passed.
fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    let archive = Suite::archive().context(
        "the sources of GCC are not in /usr/src/gcc-12\n  help: install Debian's package gcc-12-source (scripts/setup.sh test)",
    )?;
    let suite = Suite::unpack(&archive, &std::path::absolute(&arguments.suite)?)?;
    let programs = choose(arguments, catalog::programs(&suite)?)?;
    if arguments.list {
        programs.iter().for_each(list);
        return Ok(true);
    }
    let work = std::path::absolute(&arguments.work)?;
    std::fs::create_dir_all(&work).with_context(|| format!("cannot make {}", work.display()))?;
    let scratch = tempfile::Builder::new()
        .prefix("runtime-")
        .tempdir_in(&work)?;
    let tools = tools().map_err(|why| anyhow!("{why}"))?.clone();
    let builder = Builder::new(suite, tools, scratch.path())?;
    let settings = Settings {
        linkages: match arguments.linkage.as_slice() {
            [] => Linkage::ALL.to_vec(),
            some => some.to_vec(),
        },
        limit: Duration::from_secs(arguments.timeout),
        exceptions: Exceptions::of_project().map_err(|why| anyhow!(why))?,
    };
    let workspace = Workspace {
        dir: work,
        keep: arguments.keep,
    };
    let jobs = arguments
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let begin = Instant::now();
    let bar = progress(programs.len());
    let done = |trial: &Trial| step(&bar, trial, &arguments.command);
    let trials = campaign::run(&programs, &builder, &settings, &workspace, jobs, &done)?;
    bar.finish_and_clear();
    Ok(conclude(arguments, &trials, &settings, begin.elapsed()))
}

fn choose(arguments: &Arguments, mut programs: Vec<Program>) -> anyhow::Result<Vec<Program>> {
    if arguments.sample {
        programs = sample::select(programs).map_err(|why| anyhow!(why))?;
    }
    let fits = |program: &Program, filter: &String| match filter.strip_prefix('=') {
        Some(name) => program.id == name,
        None => program.id.contains(filter.as_str()),
    };
    let filters = &arguments.filter;
    programs.retain(|program| filters.is_empty() || filters.iter().any(|f| fits(program, f)));
    if programs.is_empty() {
        bail!("no program has a name like that\n  help: --list lists them");
    }
    Ok(programs)
}

fn list(program: &Program) {
    match &program.demands {
        Ok(demands) => {
            let options = [program.always.as_slice(), &demands.options]
                .concat()
                .join(" ");
            println!("{}: {:?}: {options}", program.id, demands.verdict);
        }
        Err(why) => println!("{}: {why}", program.id),
    }
}

fn progress(programs: usize) -> ProgressBar {
    let bar = ProgressBar::new(programs as u64);
    if !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    let style = ProgressStyle::with_template(
        "{bar:30} {pos}/{len} {elapsed_precise}, {eta} left  {wide_msg}",
    );
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

/// After each program: a step of the bar, or now and then a line where there is no terminal; failures at once.
fn step(bar: &ProgressBar, trial: &Trial, command: &str) {
    bar.inc(1);
    bar.set_message(trial.id.clone());
    let failures = report::failures(trial, command);
    if bar.is_hidden() {
        eprint!("{failures}");
        if bar.position().is_multiple_of(100) {
            let (position, length) = (bar.position(), bar.length().unwrap_or_default());
            eprintln!(
                "{position} of {length} programs, {} s",
                bar.elapsed().as_secs()
            );
        }
    } else if !failures.is_empty() {
        bar.println(failures.trim_end());
    }
}

fn conclude(arguments: &Arguments, trials: &[Trial], settings: &Settings, time: Duration) -> bool {
    let failed = trials.iter().filter(|trial| trial.failed()).count();
    for trial in trials.iter().filter(|trial| trial.failed()) {
        println!("{}", report::failures(trial, &arguments.command).trim_end());
    }
    println!(
        "\n{}\n{}{}",
        report::table(trials, &settings.linkages),
        settings.exceptions.told(),
        report::notes(trials).trim_end()
    );
    let seconds = time.as_secs();
    if failed > 0 {
        println!(
            "conformance: FAILED: {failed} of {} programs, {seconds} s",
            trials.len()
        );
    } else {
        println!(
            "conformance: passed: {} programs, {seconds} s",
            trials.len()
        );
    }
    failed == 0
}
