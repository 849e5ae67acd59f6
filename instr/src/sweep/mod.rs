//! `instr sweep`: runs a program for every combination of threads, inputs and more, and says how it scales.

mod actuators;
mod axes;
pub(crate) mod config;
mod counters;
mod drawing;
mod energy;
mod execute;
mod figures;
mod ipmi;
pub mod options;
mod page;
mod pascal;
mod plan;
mod record;
mod region_path;
mod regions;
mod rows;
mod run;
mod table;

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use instr_analysis::scaling::LEVEL;
use instr_analysis::statistics::{bootstrap, location};
use instr_cc::exec;

use self::options::SweepOptions;
use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::launch;
use crate::output::{is_folder, write_to};
use crate::page::Page;
use crate::progress::Progress;
use crate::quote::{shown, typed};
use crate::sheet::MAX_ROWS;
use crate::summary::units::{counted, time};

use self::actuators::Actuators;
use self::config::Config;
use self::execute::Runner;
use self::plan::Point;
use self::record::Record;
use self::run::Run;

pub(crate) use actuators::{GUARD, stand_guard};
pub(crate) use drawing::{Curve, Drawing, Quantity, drawing};

/// More rounds than this are not run to make an interval smaller.
const MOST_REPEATS: u32 = 100;
/// An interrupt ends a rest after this at the latest.
const NAP: Duration = Duration::from_millis(100);
/// A sweep whose first runs all fail ends.
const FAILURES_IN_A_ROW: usize = 20;

/// Runs the command.
///
/// # Errors
///
/// A sweep that makes no sense, programs that cannot be started, and failures to write.
pub fn run(options: &SweepOptions, console: &mut Console<'_>) -> Result<()> {
    ensure!(
        files_on_output(options) + usize::from(options.json) <= 1,
        "standard output can have one of --csv, --parquet, --pascal and --json: name a file for the others"
    );
    let record = match &options.sweep {
        // The results of a sweep, to be shown again.
        Some(dir) if dir.is_dir() && options.command.is_empty() => {
            ensure!(
                Record::is(dir),
                "{} is no folder of a sweep: it has no sweep.toml",
                shown(dir)
            );
            Record::open(dir)?
        }
        Some(file) if options.command.is_empty() && pascal::is(file) => pascal::read(file)?,
        file => {
            let config = Config::of(options, file.as_deref())?;
            let points = plan::points(&config);
            if options.dry_run {
                return announce(&config, &points, console);
            }
            let dir = folder(options, &config);
            // What cannot be run leaves no folder.
            let mut runner = Runner::new(&config, &dir, false)?;
            runner.ask_controller()?;
            for point in &points {
                let words = runner.words(point);
                launch::find(words.first().map_or("", String::as_str).as_ref())?;
            }
            let actuators = Actuators::of(&config)?;
            let record = Record::begin(&dir, &config)?;
            make(record, &points, actuators, options, console)?
        }
    };
    show(&record, options, console)?;
    // The command ends here: to give back each text of a million regions takes a tenth of its time.
    std::mem::forget(record);
    Ok(())
}

/// Where the results go.
fn folder(options: &SweepOptions, config: &Config) -> PathBuf {
    options.output.clone().unwrap_or_else(|| {
        let name = match config.command[0].as_str() {
            "{program}" => config.programs.first().map_or("program", String::as_str),
            name => name,
        };
        let name = Path::new(name).file_name().unwrap_or_default();
        let mut name = name.to_owned();
        name.push(".sweep");
        name.into()
    })
}

/// What would be run.
fn announce(config: &Config, points: &[Point], console: &mut Console<'_>) -> Result<()> {
    let runs = points.len() as u64 * u64::from(config.repeat + config.warm_up);
    let runner = Runner::new(config, Path::new("."), false)?;
    let mut text = format!(
        "{}, {} each: {}\n",
        counted(points.len() as u64, "point"),
        counted(u64::from(config.repeat + config.warm_up), "run"),
        counted(runs, "run")
    );
    if config.idle > 0.0 {
        text += &format!(
            "{} of rest between them\n",
            time((config.idle * runs as f64 * 1e9) as u64)
        );
    }
    if let Some(limit) = config.timeout {
        text += &format!(
            "at most {} of runs\n",
            time((limit * runs as f64 * 1e9) as u64)
        );
    }
    for point in points.iter().take(MAX_ROWS) {
        let words: Vec<String> = runner.words(point).iter().map(typed).collect();
        text += &format!("  {} thread(s)  {}\n", point.threads, words.join(" "));
    }
    if points.len() > MAX_ROWS {
        text += &format!("  … {} more\n", points.len() - MAX_ROWS);
    }
    console.out.write_all(text.as_bytes()).context(NO_OUTPUT)
}

/// Runs what is not recorded yet.
fn make(
    mut record: Record,
    points: &[Point],
    mut actuators: Actuators,
    options: &SweepOptions,
    console: &mut Console<'_>,
) -> Result<Record> {
    let config = record.config().clone();
    exec::catch_interrupts();
    let mut runner = Runner::new(&config, record.dir(), options.show_output)?;
    runner.ask_controller()?;
    let mut sweep = Sweep {
        runner,
        config: &config,
        failed: 0,
    };
    let result = sweep.rounds(&mut record, points, &mut actuators, console);
    let restored = actuators.restore();
    result.and(restored)?;
    if exec::interrupted().is_some() {
        let left = missing(&record, points, config.repeat);
        console.note(&format!(
            "interrupted; {} left. The same command goes on from here: {}",
            counted(left, "run"),
            shown(record.dir())
        ));
    }
    Ok(record)
}

struct Sweep<'c> {
    runner: Runner<'c>,
    config: &'c Config,
    /// Failures since the last run that counts.
    failed: usize,
}

impl Sweep<'_> {
    fn rounds(
        &mut self,
        record: &mut Record,
        points: &[Point],
        actuators: &mut Actuators,
        console: &mut Console<'_>,
    ) -> Result<()> {
        let planned = missing(record, points, self.config.repeat);
        let mut bar = Progress::new("sweeping", console);
        let mut done = 0;
        for point in points
            .iter()
            .flat_map(|point| std::iter::repeat_n(point, self.config.warm_up as usize))
        {
            if planned > 0 && exec::interrupted().is_none() {
                self.one(point, 0, actuators)?;
            }
        }
        let further = self.config.until.map_or(0, |_| MOST_REPEATS);
        for round in 0..self.config.repeat.max(further) {
            let wanted: Vec<&Point> = plan::shuffled(points, self.config.seed, round)
                .into_iter()
                .filter(|point| {
                    !record.has(point, round)
                        && (round < self.config.repeat || self.is_vague(record, point))
                })
                .collect();
            for point in wanted {
                if exec::interrupted().is_some() {
                    return Ok(());
                }
                let run = self.one(point, round, actuators)?;
                if exec::interrupted().is_some() {
                    return Ok(());
                }
                self.judge(&run)?;
                record.add(run)?;
                done += 1;
                bar.at(done, planned.max(done + 1));
            }
        }
        Ok(())
    }

    fn one(&mut self, point: &Point, round: u32, actuators: &mut Actuators) -> Result<Run> {
        rest(Duration::from_secs_f64(self.config.idle));
        actuators.set(point)?;
        self.runner.run(point, round)
    }

    /// A program that always fails is not run for hours.
    fn judge(&mut self, run: &Run) -> Result<()> {
        let Some(failure) = &run.failure else {
            self.failed = 0;
            return Ok(());
        };
        self.failed += 1;
        if self.failed < FAILURES_IN_A_ROW {
            return Ok(());
        }
        let words: Vec<String> = self.runner.words(&run.point).iter().map(typed).collect();
        Err(Refusal {
            message: format!("{FAILURES_IN_A_ROW} runs in a row failed; the last one: {failure}"),
            notes: vec![format!("it was {}", words.join(" "))],
            help: Some("--show-output prints what the program prints".to_owned()),
        }
        .into())
    }

    /// Whether the interval of a point's median is wider than was asked for.
    fn is_vague(&self, record: &Record, point: &Point) -> bool {
        let Some(share) = self.config.until else {
            return false;
        };
        let seconds: Vec<f64> = record
            .runs()
            .iter()
            .filter(|run| run.point == *point && run.failure.is_none())
            .map(|run| run.seconds)
            .collect();
        let (Some(median), Some((low, high))) = (
            location::median(&seconds),
            bootstrap::median_interval(&seconds, LEVEL),
        ) else {
            return true;
        };
        (high - low) / 2.0 > share / 100.0 * median
    }
}

/// Waits, or until somebody interrupts.
fn rest(time: Duration) {
    let begin = Instant::now();
    while exec::interrupted().is_none() {
        let Some(left) = time
            .checked_sub(begin.elapsed())
            .filter(|left| !left.is_zero())
        else {
            return;
        };
        std::thread::sleep(left.min(NAP));
    }
}

/// How many repeats of points have no run yet.
fn missing(record: &Record, points: &[Point], repeats: u32) -> u64 {
    let of_point = |point| (0..repeats).filter(move |repeat| !record.has(point, *repeat));
    points.iter().flat_map(of_point).count() as u64
}

/// Whether `instr report` has a page of a sweep to write for this.
pub(crate) fn is_sweep(path: &Path) -> bool {
    Record::is(path)
}

/// Writes the page of a sweep into `output`, or into a file with the name of the sweep in the current directory. Gives the name of the file.
///
/// # Errors
///
/// A folder that cannot be read, and failures to write.
pub(crate) fn report(
    dir: &Path,
    output: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<PathBuf> {
    let record = Record::open(dir)?;
    let figures = figures::of(&record, &[]);
    ensure!(figures.runs > 0, "{} has no run that counts", shown(dir));
    let folder = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    let name = folder
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let own = PathBuf::from(format!("{name}.html"));
    let path = match output {
        Some(path) if is_folder(path) => path.join(own),
        Some(path) => path.to_owned(),
        None => own,
    };
    write_to(&path, console, |out| page::write(&name, &figures, out))?;
    Ok(path)
}

/// How many files of runs go to standard output.
fn files_on_output(options: &SweepOptions) -> usize {
    let files = [&options.csv, &options.parquet, &options.pascal];
    let is_output = |file: &&&Option<PathBuf>| file.as_deref() == Some(Path::new("-"));
    files.iter().filter(is_output).count()
}

fn show(record: &Record, options: &SweepOptions, console: &mut Console<'_>) -> Result<()> {
    if let Some(path) = &options.csv {
        write_to(path, console, |out| rows::csv(record, out))?;
    }
    if let Some(path) = &options.parquet {
        write_to(path, console, |out| rows::parquet(record, out))?;
    }
    if let Some(path) = &options.pascal {
        write_to(path, console, |out| pascal::write(record, out))?;
    }
    if files_on_output(options) > 0 {
        return Ok(());
    }
    let ask = options
        .model
        .as_ref()
        .map(|counts| counts.0.clone())
        .unwrap_or_default();
    let mut figures = ManuallyDrop::new(figures::of(record, &ask)); // for the same reason
    if let Some(level) = options.level {
        figures.fold(level as usize);
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *console.out, &*figures).context(NO_OUTPUT)?;
        return writeln!(console.out).context(NO_OUTPUT);
    }
    ensure!(
        figures.runs > 0 || !figures.failures.is_empty(),
        "{} has no run yet",
        shown(record.dir())
    );
    console
        .page(
            options.top.map_or(MAX_ROWS, |top| top as usize),
            |page: &mut Page<'_>| table::write(&figures, options.executions, page),
        )
        .context(NO_OUTPUT)?;
    let again = format!(
        "the runs are in {}; `instr sweep {}` shows this again",
        shown(record.dir()),
        typed(record.dir())
    );
    console.note(&again);
    Ok(())
}
