//! One run: placeholders, environment, time, regions.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result};
use instr_cc::exec::{Call, Measured};
use instr_trace::energy::PowerModel;

use super::axes::Input;
use super::config::{Config, Measure};
use super::counters::{self, Counters};
use super::ipmi::Controller;
use super::plan::Point;
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
/// How often sensors are read unless the sweep says otherwise.
const SENSORS_PERIOD: &str = "10ms";

/// Runs points of a sweep.
#[derive(Debug)]
pub(super) struct Runner<'c> {
    config: &'c Config,
    /// Where traces go, and whether they stay.
    traces: PathBuf,
    /// Print what the program prints.
    show_output: bool,
    sequence: u32,
    /// Meters of the machine, for runs without a trace.
    meters: Option<Zones>,
    /// Of the chip, for traces without meters.
    model: Option<PowerModel>,
    /// Of runs without a trace.
    counters: Option<Counters>,
    /// That of the machine, for runs without a trace.
    controller: Option<Controller>,
}

impl<'c> Runner<'c> {
    /// For a sweep whose folder is `dir`.
    ///
    /// # Errors
    ///
    /// A target that does not exist or has no power model.
    pub(super) fn new(config: &'c Config, dir: &Path, show_output: bool) -> Result<Self> {
        let chip = config
            .target
            .as_ref()
            .map(|name| Chip::named(name.as_ref()));
        let plain = config.measure == Measure::Plain;
        Ok(Self {
            config,
            traces: dir.join("traces"),
            show_output,
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
        })
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
                ("{input}", Some(input)) => {
                    words.extend(input.arguments.iter().map(|word| filled(word, point, None)))
                }
                ("{input}", None) => {}
                _ => words.push(filled(word, point, input)),
            }
        }
        if let Some(input) = input.filter(|_| !takes_input) {
            words.extend(input.arguments.iter().map(|word| filled(word, point, None)));
        }
        words
    }

    /// Runs a point once.
    ///
    /// # Errors
    ///
    /// A program that cannot be started. One that fails gives a run with its failure.
    pub(super) fn run(&mut self, point: &Point, repeat: u32) -> Result<Run> {
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
        let run = || counters::around(counters, || call.measure(output, limit));
        let meters = self.meters.as_mut();
        let ((measured, counted), joules) = match &self.controller {
            Some(controller) => controller.around(run),
            None => energy::around(meters, run),
        };
        let measured = measured.with_context(|| format!("cannot run {name}"))?;
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
            if self.config.measure == Measure::Regions {
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
            _ => format!("now-{}.instr", std::process::id()),
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

    /// Nothing: the program prints where this one does. Else what it prints goes nowhere.
    fn output(&self) -> Result<Option<File>> {
        match self.show_output {
            true => Ok(None),
            false => Ok(Some(
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

fn filled(word: &str, point: &Point, input: Option<&Input>) -> String {
    let mut text = word
        .replace("{threads}", &point.threads.to_string())
        .replace("__nt__", &point.threads.to_string());
    if let Some(program) = &point.program {
        text = text.replace("{program}", program);
    }
    if let Some(smt) = point.smt {
        text = text.replace("{smt}", smt.word());
    }
    if let Some(khz) = point.frequency_khz {
        text = text.replace("{frequency}", &khz.to_string());
    }
    if let Some(input) = input {
        text = text.replace("{input}", &input.arguments.join(" "));
        if let Some(size) = input.size {
            text = text.replace("{size}", &size.to_string());
        }
    }
    text
}

fn of_measured(point: &Point, repeat: u32, begin: SystemTime, measured: &Measured) -> Run {
    let status = measured.status;
    let failure = match (measured.timed_out, status.code(), status.signal()) {
        (true, ..) => Some("its time was over".to_owned()),
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
        Runner::new(&config, Path::new("/nonexistent"), false)
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
        let mut runner = Runner::new(&config, dir.path(), false).unwrap();
        let mut good = point("0");
        good.environment.insert("A".to_owned(), "1".to_owned());
        let run = runner.run(&good, 2).unwrap();
        assert_eq!((run.failure, run.repeat), (None, 2));
        assert!(run.seconds > 0.0 && run.seconds < 20.0 && run.begin_ns > 0);
        let mut bad = point("3");
        bad.environment.insert("A".to_owned(), "1".to_owned());
        assert_eq!(
            runner.run(&bad, 0).unwrap().failure.as_deref(),
            Some("it ended with status 3")
        );
    }
}
