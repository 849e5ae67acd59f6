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

use anyhow::{Context as _, Result, bail, ensure};
use instr_analysis::scaling::LEVEL;
use instr_analysis::statistics::{limits, location};
use instr_cc::exec;

use self::options::SweepOptions;
use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::launch;
use crate::output::{is_folder, write_to};
use crate::page::Page;
use crate::progress::Progress;
use crate::quote::{shown, typed, word as word_of};
use crate::sheet::MAX_ROWS;
use crate::summary::units::{counted, time};

use self::actuators::Actuators;
use self::config::Config;
use self::execute::{Output, Runner};
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
    // What lies in the folder of a sweep is not written over.
    for file in [&options.csv, &options.parquet, &options.pascal]
        .into_iter()
        .flatten()
    {
        ensure!(
            !Record::owns(file),
            "{} is a file of a sweep: give another name",
            shown(file)
        );
    }
    let record = match &options.sweep {
        // The results of a sweep, to be shown again.
        Some(dir) if dir.is_dir() && options.command.is_empty() => {
            ensure!(
                Record::is(dir),
                "{} is no folder of a sweep: it has no sweep.toml",
                shown(dir)
            );
            options.refuse_those_of_runs(dir)?;
            Record::open(dir)?
        }
        Some(file) if options.command.is_empty() && pascal::is(file) => {
            options.refuse_those_of_runs(file)?;
            pascal::read(file)?
        }
        file => {
            let config = Config::of(options, file.as_deref())?;
            let points = plan::points(&config)?;
            let dir = folder(options, &config);
            let mut runner = Runner::new(&config, &dir, Output::Nowhere)?;
            warn_of_placeholders(&runner, console);
            if options.dry_run {
                return announce(&runner, &config, &points, &dir, console);
            }
            // What cannot be run leaves no folder.
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
    if let Some(signal) = exec::interrupted() {
        console.out.flush().context(NO_OUTPUT)?;
        exec::end_by(signal);
    }
    Ok(())
}

/// A word in braces may be the program's own, so it is left as it is.
fn warn_of_placeholders(runner: &Runner<'_>, console: &mut Console<'_>) {
    for name in runner.unfilled() {
        console.warn(&format!(
            "{name} stays as it is: the sweep has nothing that it stands for at every point"
        ));
    }
}

/// Words as a shell takes them, but for the first one they may begin with `-`.
fn line_of(words: &[String]) -> String {
    let mut text = words.first().map(typed).unwrap_or_default();
    for word in words.iter().skip(1) {
        text.push(' ');
        text += &word_of(word);
    }
    text
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
fn announce(
    runner: &Runner<'_>,
    config: &Config,
    points: &[Point],
    dir: &Path,
    console: &mut Console<'_>,
) -> Result<()> {
    let each = u64::from(config.repeat) + u64::from(config.warm_up);
    let runs = points.len() as u64 * each;
    let mut text = format!(
        "{}, {} each: {}\n",
        counted(points.len() as u64, "point"),
        counted(each, "run"),
        counted(runs, "run")
    );
    if Record::is(dir) {
        let record = Record::look(dir, config)?;
        text += &format!(
            "{} has some of them: {} left\n",
            shown(dir),
            counted(missing(&record, points, config.repeat), "run")
        );
    }
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
        let threads = counted(u64::from(point.threads), "thread");
        text += &format!("  {threads}  {}\n", line_of(&runner.words(point)));
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
    exec::adopt_orphans();
    let output = match (
        options.show_output,
        options.json || files_on_output(options) > 0,
    ) {
        (false, _) => Output::Nowhere,
        (true, false) => Output::Shown,
        (true, true) => Output::OnErrors,
    };
    let mut runner = Runner::new(&config, record.dir(), output)?;
    runner.ask_controller()?;
    let mut sweep = Sweep {
        runner,
        config: &config,
        failed: 0,
    };
    let result = sweep.rounds(&mut record, points, &mut actuators, console);
    let left_behind = sweep.runner.left_behind();
    let restored = actuators.restore();
    let result = result.and(restored);
    if result.is_err() {
        record.remove_if_empty();
    }
    result?;
    if left_behind > 0 {
        console.warn(&format!(
            "processes of the program went on when it had ended ({left_behind} of the first such run): later runs were measured beside them"
        ));
    }
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
                record.add(run.clone())?;
                self.judge(&run)?;
                done += 1;
                bar.at(done, planned.max(done));
            }
        }
        Ok(())
    }

    fn one(&mut self, point: &Point, round: u32, actuators: &mut Actuators) -> Result<Run> {
        rest(Duration::from_secs_f64(self.config.idle));
        actuators.set(point)?;
        self.runner.run(point, round, actuators.guard())
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
        Err(Refusal {
            message: format!("{FAILURES_IN_A_ROW} runs in a row failed; the last one: {failure}"),
            notes: vec![format!(
                "it was {}",
                line_of(&self.runner.words(&run.point))
            )],
            help: Some("--show-output prints what the program prints".to_owned()),
        }
        .into())
    }

    /// Whether the interval of a point's median is wider than was asked for.
    fn is_vague(&self, record: &Record, point: &Point) -> bool {
        let Some(share) = self.config.until else {
            return false;
        };
        let own = record.runs().iter().filter(|run| run.point == *point);
        let seconds: Vec<f64> = own
            .filter(|run| run.failure.is_none())
            .map(|run| run.seconds)
            .collect();
        if seconds.is_empty() {
            return false; // one that only fails does not become clearer
        }
        let (Some(median), Some((low, high))) = (
            location::median(&seconds),
            limits::of_median(&seconds, LEVEL),
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
    if record.runs().is_empty() {
        ensure!(
            record.damaged() == 0,
            "{} of {} cannot be read: it has no other",
            counted(record.damaged() as u64, "line"),
            shown(record.file())
        );
        bail!("{} has no run yet", shown(record.dir()));
    }
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
    ensure!(
        figures.runs > 0,
        "no run of {} counts: all of them failed",
        shown(record.dir())
    );
    Ok(())
}
