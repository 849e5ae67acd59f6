//! One run: placeholders, environment, time, regions.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use instr_cc::exec::{self, Call, Measured};
use instr_trace::energy::PowerModel;

use super::actuators::Guard;
use super::axes::Input;
use super::config::{Config, Measure};
use super::counters::{self, Counters};
use super::ipmi::Controller;
use super::plan::Point;
use super::record::{NOW, TRACES};
use super::run::{Counted, Energy, Run};
use super::{actuators, energy, regions};
use crate::launch;
use crate::series::rapl::Zones;
use crate::summary::power::Chip;

/// Variables that set the number of threads, of OpenMP and of libraries that do not look there.
const THREADS: [&str; 4] = [
    "OMP_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
];
/// Without this, libgomp makes threads of its own accord.
const DYNAMIC: &str = "OMP_DYNAMIC";
/// How long children of a program may take to end after it.
const ENDING: Duration = Duration::from_millis(50);
/// How often sensors are read unless the sweep says otherwise.
const SENSORS_PERIOD: &str = "10ms";

/// Where what programs print goes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Output {
    /// Nowhere.
    Nowhere,
    /// Where this process prints.
    Shown,
    /// To the error stream: standard output has something for another program.
    OnErrors,
}

/// Runs points of a sweep.
#[derive(Debug)]
pub(super) struct Runner<'c> {
    config: &'c Config,
    /// Where traces go, and whether they stay.
    traces: PathBuf,
    /// Where what the program prints goes.
    output: Output,
    sequence: u32,
    /// Meters of the machine, for runs without a trace.
    meters: Option<Zones>,
    /// Of the chip, for traces without meters.
    model: Option<PowerModel>,
    /// Of runs without a trace.
    counters: Option<Counters>,
    /// That of the machine, for runs without a trace.
    controller: Option<Controller>,
    /// Processes that a run has left behind, of the first such run.
    left_behind: usize,
}

impl<'c> Runner<'c> {
    /// For a sweep whose folder is `dir`.
    ///
    /// # Errors
    ///
    /// A target that does not exist or has no power model.
    pub(super) fn new(config: &'c Config, dir: &Path, output: Output) -> Result<Self> {
        let chip = config
            .target
            .as_ref()
            .map(|name| Chip::named(name.as_ref()));
        let plain = config.measure == Measure::Plain;
        Ok(Self {
            config,
            traces: dir.join(TRACES),
            output,
            sequence: 0,
            // Meters that may not be read are no fault of the sweep: `instr doctor` names them.
            meters: plain.then(|| Zones::open(&actuators::root().join("sys"), &mut |_| {})),
            model: chip.transpose()?.map(|chip| chip.power),
            counters: config
                .counters
                .as_deref()
                .filter(|_| plain)
                .map(|list| Counters::new(list, &actuators::root().join("sys"))),
            controller: None,
            left_behind: 0,
        })
    }

    /// How many processes went on when the first run had ended that left any.
    pub(super) fn left_behind(&self) -> usize {
        self.left_behind
    }

    /// Asks the management controller for the first time, where there is one to ask.
    ///
    /// # Errors
    ///
    /// There is none, or it does not answer.
    pub(super) fn ask_controller(&mut self) -> Result<()> {
        let wanted = self.config.ipmi.as_deref();
        self.controller = wanted.map(Controller::new).transpose()?;
        Ok(())
    }

    /// The words that a point runs.
    pub(super) fn words(&self, point: &Point) -> Vec<String> {
        let input = self.config.input(point);
        let takes_input = self
            .config
            .command
            .iter()
            .any(|word| word.contains("{input}"));
        let mut words = Vec::new();
        for word in &self.config.command {
            match (word.as_str(), input) {
                // Alone it stands for all words of the input.
                ("{input}", Some(input)) => words.extend(of_input(input, point)),
                ("{input}", None) => {}
                _ => words.push(filled(word, point, input)),
            }
        }
        if let Some(input) = input.filter(|_| !takes_input) {
            words.extend(of_input(input, point));
        }
        words
    }

    /// Placeholders of the command, of programs and of variables that stay as they are, as nothing says what they stand for.
    pub(super) fn unfilled(&self) -> Vec<&'static str> {
        let config = self.config;
        let has_size = config.inputs.iter().all(|input| input.size.is_some());
        let known = [
            ("{program}", !config.programs.is_empty()),
            ("{input}", !config.inputs.is_empty()),
            ("{size}", !config.inputs.is_empty() && has_size),
            ("{frequency}", !config.frequencies.is_empty()),
            ("{smt}", !config.smt.is_empty()),
        ];
        let words = config.command.iter().chain(&config.programs);
        let words: Vec<&String> = words.chain(config.environment.values().flatten()).collect();
        let asks = |name: &str| {
            let alone = |word: &str| name == "{input}" && word == name; // it leaves no word
            words
                .iter()
                .any(|word| word.contains(name) && !alone(word.as_str()))
        };
        let left = known
            .into_iter()
            .filter(|(name, is_known)| !is_known && asks(name));
        left.map(|(name, _)| name).collect()
    }

    /// Runs a point once.
    ///
    /// # Errors
    ///
    /// A program that cannot be started. One that fails gives a run with its failure.
    pub(super) fn run(&mut self, point: &Point, repeat: u32, guard: &mut Guard) -> Result<Run> {
        let words = self.words(point);
        let name = words.first().context("no program is named")?;
        let program = launch::find(name.as_ref())?;
        let (call, trace) = match self.config.measure {
            Measure::Plain => (Call::new(&program).args(&words[1..]), None),
            Measure::Regions | Measure::Traces => {
                let trace = self.trace_of(point, repeat)?;
                (self.traced(&program, &words[1..], &trace)?, Some(trace))
            }
        };
        let mut call = call;
        call.variables = self.variables(point);
        let begin = SystemTime::now();
        let (output, limit) = (self.output()?, self.limit());
        let counters = self.counters.as_ref();
        let apart = Some(guard.id());
        let began = |group| guard.running(group);
        let run = || counters::around(counters, || launch::measure(&call, output, limit, began));
        let meters = self.meters.as_mut();
        let ((measured, counted), joules) = match &self.controller {
            Some(controller) => controller.around(run),
            None => energy::around(meters, run),
        };
        guard.running(0);
        let measured = measured?;
        if measured.timed_out || exec::interrupted().is_some() {
            exec::kill_children(apart);
        } else if self.left_behind == 0 {
            self.left_behind = left_behind(apart);
        }
        let mut run = of_measured(point, repeat, begin, &measured);
        run.counted = counted;
        run.energy = joules.map(|joules| Energy {
            joules,
            joules_are_modelled: false,
        });
        if let Some(trace) = trace {
            if run.failure.is_none() {
                match regions::of(&trace, self.model.as_ref()) {
                    Ok(found) => {
                        run.seconds = found.seconds;
                        run.energy = found.energy;
                        run.counted = found.counted;
                        run.regions = found.regions;
                    }
                    Err(error) => run.failure = Some(format!("{error:#}")),
                }
            }
            if self.config.measure == Measure::Regions || exec::interrupted().is_some() {
                // What stays is not in the way of the next run, which has a name of its own.
                let _ = std::fs::remove_dir_all(&trace);
            }
        }
        Ok(run)
    }

    /// `instr run` of the program, which brings the runtime to programs that were not built with it.
    fn traced(&self, program: &Path, arguments: &[String], trace: &Path) -> Result<Call> {
        let own = std::env::current_exe().context("cannot find the file of this program")?;
        let mut call = Call::new(own)
            .args(["run", "-q", "-o"])
            .args([trace])
            .args(["--"])
            .args([program])
            .args(arguments);
        // Switches are not asked for, and cost.
        call.env.push(("INSTR_SWITCHES", Some("0".into())));
        if let Some(sensors) = &self.config.sensors {
            call.env.push(("INSTR_SENSORS", Some(sensors.into())));
            let period = self.config.sensors_period.as_deref();
            let period = period.unwrap_or(SENSORS_PERIOD);
            call.env.push(("INSTR_SENSORS_PERIOD", Some(period.into())));
        }
        if let Some(counters) = &self.config.counters {
            call.env.push(("INSTR_COUNTERS", Some(counters.into())));
        }
        Ok(call)
    }

    fn trace_of(&mut self, point: &Point, repeat: u32) -> Result<PathBuf> {
        let name = match self.config.measure {
            Measure::Traces => {
                let series: String = point
                    .series()
                    .chars()
                    .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                    .take(80)
                    .collect();
                self.sequence += 1;
                let begin = SystemTime::now()
                    .duration_since(UNIX_EPOCH)
                    .unwrap_or_default()
                    .as_millis();
                format!(
                    "t{}-{series}-r{repeat}-{begin}-{}.instr",
                    point.threads, self.sequence
                )
            }
            _ => format!("{NOW}{}.instr", std::process::id()),
        };
        std::fs::create_dir_all(&self.traces).context("cannot make a folder for traces")?;
        let path = self.traces.join(name);
        // A run that was killed may have left one.
        let _ = std::fs::remove_dir_all(&path);
        Ok(path)
    }

    fn limit(&self) -> Option<Duration> {
        self.config.timeout.map(Duration::from_secs_f64)
    }

    /// Nothing: the program prints where this one does.
    fn output(&self) -> Result<Option<File>> {
        match self.output {
            Output::Shown => Ok(None),
            Output::OnErrors => {
                let own = std::io::stderr().as_fd().try_clone_to_owned();
                Ok(Some(own.context("cannot copy the error stream")?.into()))
            }
            Output::Nowhere => Ok(Some(
                File::options()
                    .write(true)
                    .open("/dev/null")
                    .context("cannot open /dev/null")?,
            )),
        }
    }

    fn variables(&self, point: &Point) -> Vec<(OsString, OsString)> {
        let threads = point.threads.to_string();
        let threads = THREADS.map(|name| (name.into(), threads.clone().into()));
        let mut variables: Vec<(OsString, OsString)> = threads.into();
        variables.push((DYNAMIC.into(), "false".into()));
        let input = self.config.input(point);
        let own = point.environment.iter();
        variables
            .extend(own.map(|(name, value)| (name.into(), filled(value, point, input).into())));
        variables
    }
}

/// Processes of a run that has ended, which are not ending too.
fn left_behind(apart: Option<u32>) -> usize {
    let begin = Instant::now();
    loop {
        let left = exec::children(apart).len();
        if left == 0 || begin.elapsed() >= ENDING {
            return left;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The words of an input. An `{input}` in them stays.
fn of_input<'a>(input: &'a Input, point: &'a Point) -> impl Iterator<Item = String> + 'a {
    let words = input.arguments.iter();
    words.map(move |word| known(word.clone(), point, input.size))
}

/// The words of the input come first: they may have the other placeholders.
fn filled(word: &str, point: &Point, input: Option<&Input>) -> String {
    let text = match input {
        Some(input) => word.replace("{input}", &input.arguments.join(" ")),
        None => word.to_owned(),
    };
    known(text, point, input.and_then(|input| input.size))
}

/// All placeholders but `{input}`.
fn known(text: String, point: &Point, size: Option<f64>) -> String {
    let threads = point.threads.to_string();
    let values = [
        ("{threads}", Some(threads.clone())),
        ("__nt__", Some(threads)), // PaScal's
        ("{program}", point.program.clone()),
        ("{smt}", point.smt.map(|smt| smt.word().to_owned())),
        (
            "{frequency}",
            point.frequency_khz.map(|khz| khz.to_string()),
        ),
        ("{size}", size.map(|size| size.to_string())),
    ];
    let fill = |text: String, (name, value): (&str, Option<String>)| match value {
        Some(value) => text.replace(name, &value),
        None => text,
    };
    values.into_iter().fold(text, fill)
}

fn of_measured(point: &Point, repeat: u32, begin: SystemTime, measured: &Measured) -> Run {
    let status = measured.status;
    let failure = match (measured.timed_out, status.code(), status.signal()) {
        (true, ..) => Some("its time was over".to_owned()),
        _ if measured.stopped => Some("the sweep was stopped meanwhile".to_owned()),
        (_, Some(0), _) => None,
        (_, Some(code), _) => Some(format!("it ended with status {code}")),
        (_, None, signal) => Some(format!("signal {} ended it", signal.unwrap_or(0))),
    };
    let since = begin.duration_since(UNIX_EPOCH).unwrap_or_default();
    Run {
        point: point.clone(),
        repeat,
        begin_ns: u64::try_from(since.as_nanos()).unwrap_or(0),
        seconds: measured.wall.as_secs_f64().max(1e-9),
        user_seconds: measured.user.as_secs_f64(),
        system_seconds: measured.system.as_secs_f64(),
        resident_bytes: measured.resident,
        energy: None,
        counted: Counted::default(),
        failure,
        regions: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, point: &Point) -> Vec<String> {
        let config: Config = toml::from_str(text).unwrap();
        Runner::new(&config, Path::new("/nonexistent"), Output::Nowhere)
            .unwrap()
            .words(point)
    }

    fn point(input: &str) -> Point {
        Point {
            program: Some("app2".to_owned()),
            input: Some(input.to_owned()),
            environment: std::collections::BTreeMap::new(),
            placement: None,
            frequency_khz: Some(1_200_000),
            smt: None,
            threads: 4,
        }
    }

    #[test]
    fn placeholders_are_filled() {
        let text = "command = ['{program}', '-t{threads}', '{input}', 'f={frequency}', 'in-{input}.dat', '{size}']\ninputs = [{ name = 'a', arguments = ['x y', 'z'], size = 7 }]";
        assert_eq!(
            words(text, &point("a")),
            ["app2", "-t4", "x y", "z", "f=1200000", "in-x y z.dat", "7"]
        );
        // Without a placeholder the input comes last, and PaScal's own placeholder is known.
        let text = "command = ['app']\ninputs = ['__nt__ 10']";
        assert_eq!(words(text, &point("__nt__ 10")), ["app", "4", "10"]);
        assert_eq!(
            words("command = ['app', '{input}']", &point("none")),
            ["app"]
        );
    }

    #[test]
    fn runs_are_measured_and_failures_named() {
        let config: Config = toml::from_str("command = ['sh', '-c', 'test $OMP_NUM_THREADS = 4 && test \"$A.B\" = 1.B && exit {input}']\ninputs = ['0', '3']\ntimeout = 20\n[environment]\nA = ['1']").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let mut runner = Runner::new(&config, dir.path(), Output::Nowhere).unwrap();
        let mut good = point("0");
        good.environment.insert("A".to_owned(), "1".to_owned());
        let mut guard = Guard::stand_in();
        let run = runner.run(&good, 2, &mut guard).unwrap();
        assert_eq!((run.failure, run.repeat), (None, 2));
        assert!(run.seconds > 0.0 && run.seconds < 20.0 && run.begin_ns > 0);
        let mut bad = point("3");
        bad.environment.insert("A".to_owned(), "1".to_owned());
        assert_eq!(
            runner.run(&bad, 0, &mut guard).unwrap().failure.as_deref(),
            Some("it ended with status 3")
        );
    }
}
