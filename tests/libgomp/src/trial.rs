//! One program: built and run plainly, then in each linkage; its verdicts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use instr_tests::process::Status;

use crate::catalog::Program;
use crate::compile::{Builder, Built, Linkage};
use crate::directives::{Demands, Verdict};
use crate::exceptions::Exceptions;
use crate::judge::{self, Content, Ending};
use crate::process::{Call, End, Ended};

/// How often a program is run again to tell a rare failure from a steady one.
const AGAIN: usize = 3;

/// How a program did without us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plain {
    /// It passed.
    Passed,
    /// It is only compiled or linked.
    NotRun(String),
    /// It needs something that is not here.
    Unsupported(String),
    /// It fails by itself.
    Failed(Step, String),
    /// A directive is not understood: a failure of ours.
    NotUnderstood(String),
}

/// Where something failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Compiling and linking.
    Build,
    /// Running.
    Run,
    /// Reading the trace.
    Trace,
}

impl Step {
    /// Its name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Run => "run",
            Self::Trace => "trace",
        }
    }
}

/// How a program did instrumented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It passed and its trace is sound.
    Passed(Content),
    /// It passed, and calls nothing that is recorded.
    NothingToRecord,
    /// It failed.
    Failed(Step, String),
    /// It failed, and so it does now and then without us.
    Unstable(String),
    /// It failed, as `exceptions.toml` says.
    Excepted(Step, String),
}

/// Everything about one program.
#[derive(Debug, Clone)]
pub struct Trial {
    /// [`Program::id`].
    pub id: String,
    /// [`Program::group`].
    pub group: usize,
    /// Without us.
    pub plain: Plain,
    /// In each linkage that was tried; empty unless it passed plainly.
    pub outcomes: Vec<(Linkage, Outcome)>,
}

impl Trial {
    /// Whether anything failed that must not.
    #[must_use]
    pub fn failed(&self) -> bool {
        let failed = |(_, outcome): &(_, Outcome)| matches!(outcome, Outcome::Failed(..));
        matches!(self.plain, Plain::NotUnderstood(_)) || self.outcomes.iter().any(failed)
    }
}

/// How programs are tried.
#[derive(Debug)]
pub struct Settings {
    /// In these linkages.
    pub linkages: Vec<Linkage>,
    /// Time limit of a run; a program may ask for more.
    pub limit: Duration,
    /// What may fail.
    pub exceptions: Exceptions,
}

/// Tries a program in `dir`, which is empty.
pub fn run(program: &Program, builder: &Builder, settings: &Settings, dir: &Path) -> Trial {
    let mut trial = Trial {
        id: program.id.clone(),
        group: program.group,
        plain: Plain::Passed,
        outcomes: Vec::new(),
    };
    let demands = match &program.demands {
        Ok(demands) => demands,
        Err(why) => {
            trial.plain = Plain::NotUnderstood(why.clone());
            return trial;
        }
    };
    let bench = Bench {
        program,
        demands,
        builder,
        settings,
        dir,
    };
    let reference = match bench.plain() {
        Ok(reference) => reference,
        Err(plain) => {
            trial.plain = plain;
            return trial;
        }
    };
    for &linkage in &settings.linkages {
        let outcome = bench.instrumented(linkage, &reference);
        trial.outcomes.push((linkage, outcome));
    }
    trial
}

struct Bench<'a> {
    program: &'a Program,
    demands: &'a Demands,
    builder: &'a Builder,
    settings: &'a Settings,
    dir: &'a Path,
}

impl Bench<'_> {
    /// The plain run, or why there is none that passes.
    fn plain(&self) -> Result<Ended, Plain> {
        match &self.demands.verdict {
            Verdict::Run => {}
            Verdict::NotRun(why) => return Err(Plain::NotRun(why.clone())),
            Verdict::Unsupported(why) => return Err(Plain::Unsupported(why.clone())),
        }
        if self.demands.expected_to_fail {
            return Err(Plain::Unsupported("expected to fail".into()));
        }
        let dir = self.dir.join("plain");
        let failed = |step| move |why| Plain::Failed(step, why);
        std::fs::create_dir(&dir).map_err(|why| Plain::Failed(Step::Build, why.to_string()))?;
        let built = self.builder.plain(self.program, self.demands, &dir);
        let executable = built.map_err(failed(Step::Build))?;
        self.execute(&[], &executable, &dir, "run")
            .map_err(failed(Step::Run))
    }

    /// Runs an executable, by a launcher if there is one, and demands what the directives say.
    fn execute(
        &self,
        launcher: &[PathBuf],
        executable: &Path,
        dir: &Path,
        name: &str,
    ) -> Result<Ended, String> {
        let limit = self.demands.timeout.map_or(self.settings.limit, |seconds| {
            self.settings.limit.max(Duration::from_secs(seconds))
        });
        let words: Vec<&Path> = launcher
            .iter()
            .map(PathBuf::as_path)
            .chain([executable])
            .collect();
        let mut call = Call::new(words[0], dir, limit.mul_f64(self.demands.timeout_factor))
            .args(&words[1..])
            .env("INSTR_TRACE", dir.join("trace"));
        for (key, value) in &self.demands.env {
            call = call.env(key, value);
        }
        let ended = call.run(name).map_err(|why| why.to_string())?;
        passed(self.demands, &ended).map_err(|why| format!("{why}\n{}", ended.text()))?;
        Ok(ended)
    }

    fn instrumented(&self, linkage: Linkage, reference: &Ended) -> Outcome {
        let exceptions = &self.settings.exceptions;
        match self.attempt(linkage, reference) {
            Ok(outcome) => outcome,
            Err((step, why)) => match exceptions.reason(&self.program.id, linkage) {
                Some(reason) => Outcome::Excepted(step, reason.to_owned()),
                None => Outcome::Failed(step, why),
            },
        }
    }

    fn attempt(&self, linkage: Linkage, reference: &Ended) -> Result<Outcome, (Step, String)> {
        let (plain, dir) = (self.dir.join("plain"), self.dir.join(linkage.name()));
        std::fs::create_dir(&dir).map_err(|why| (Step::Build, why.to_string()))?;
        let built = self
            .builder
            .instrumented(linkage, self.program, self.demands, &plain, &dir)
            .map_err(|why| (Step::Build, why))?;
        let ended = match self.execute(&built.launcher, &built.executable, &dir, "run") {
            Ok(ended) => ended,
            Err(why) => return self.unstable(&plain, why),
        };
        if ended.end != reference.end {
            let why = format!("{}, plainly {}", ended.end, reference.end);
            return Err((Step::Run, why));
        }
        self.same_output(&built, &dir, &ended, reference)
            .map_err(|why| (Step::Run, why))?;
        let trace = dir.join("trace");
        let launched = !built.launcher.is_empty();
        if !built.records {
            // A launcher leaves what the kernel says, in a folder of its own.
            if !trace.exists() || (launched && only_kernel(&trace)) {
                return Ok(Outcome::NothingToRecord);
            }
            // What is preloaded sees libraries too: libgfortran writes by a thread.
            if !launched {
                return Err((Step::Trace, "a trace of nothing".into()));
            }
        }
        // The program has calls that are recorded, but may make none of them in its run.
        if launched && (!trace.exists() || only_kernel(&trace)) {
            return match self.events_by_wrap(reference)? {
                0 => Ok(Outcome::NothingToRecord),
                events => Err((
                    Step::Trace,
                    format!("no event, where there are {events} by wrap"),
                )),
            };
        }
        let ending = Ending {
            regular: ended.end == End::SUCCESS,
            open: self
                .settings
                .exceptions
                .may_be_open(&self.program.id, linkage),
        };
        let content = judge::judge(&trace, ending).map_err(|why| (Step::Trace, why))?;
        Ok(Outcome::Passed(content))
    }

    /// How many events there are of what the program does where `instr-cc` links it: what no linkage sees is not missing in another one.
    fn events_by_wrap(&self, reference: &Ended) -> Result<i128, (Step, String)> {
        let trace = self.dir.join(Linkage::Wrap.name()).join("trace");
        if !trace.exists() {
            self.attempt(Linkage::Wrap, reference)?;
        }
        if !trace.exists() {
            return Ok(0);
        }
        let events = instr_tests::ctf::read(&trace);
        let events = events.map_err(|why| (Step::Trace, format!("by wrap: {why}")))?;
        let counts = instr_tests::ctf::counts(&events).into_iter();
        let of_program = counts.filter(|(name, _)| !OF_THREADS.contains(&&**name));
        Ok(of_program.map(|(_, count)| count).sum())
    }

    /// Tells a program that now and then fails by itself from one that fails because of us.
    fn unstable(&self, plain: &Path, why: String) -> Result<Outcome, (Step, String)> {
        for _ in 0..AGAIN {
            if let Err(own) = self.execute(&[], &plain.join("program"), plain, "again") {
                return Ok(Outcome::Unstable(format!(
                    "{why}; plainly, run again: {own}"
                )));
            }
        }
        Err((Step::Run, why))
    }

    /// The instrumented program prints what the plain one prints, if that is the same each time.
    fn same_output(
        &self,
        built: &Built,
        dir: &Path,
        ended: &Ended,
        reference: &Ended,
    ) -> Result<(), String> {
        if in_any_order(&ended.output) == in_any_order(&reference.output)
            || ended.end != End::SUCCESS
        {
            return Ok(());
        }
        let plain = self.dir.join("plain");
        for _ in 0..AGAIN {
            let again = self.execute(&[], &plain.join("program"), &plain, "again")?;
            if again.output != reference.output {
                return Ok(());
            }
        }
        // Which thread is first may be a matter of chance: the output is other each time, or only rarely.
        let other = dir.join("again");
        std::fs::create_dir(&other).map_err(|why| why.to_string())?;
        for _ in 0..AGAIN {
            let again = self.execute(&built.launcher, &built.executable, &other, "again")?;
            if again.output == reference.output {
                return Ok(());
            }
        }
        Err(format!(
            "prints something else\n--- plain\n{}\n--- instrumented\n{}",
            reference.text(),
            ended.text()
        ))
    }
}

/// The lines, sorted: which thread prints first may be a matter of chance.
fn in_any_order(output: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = output.split(|byte| *byte == b'\n').collect();
    lines.sort_unstable();
    lines
}

/// Events that each thread has, whatever the program does.
const OF_THREADS: [&str; 5] = [
    "clock_sync",
    "scheduled",
    "thread_begin",
    "thread_end",
    "thread_time",
];

/// Whether a trace has no events of the program.
fn only_kernel(trace: &Path) -> bool {
    instr_tests::cases::summary(trace).is_ok_and(|summary| summary["events"] == 0)
}

/// Whether a run ended and printed as the directives demand.
fn passed(demands: &Demands, ended: &Ended) -> Result<(), String> {
    let fails = match ended.end {
        End::TimedOut(_) => return Err(ended.end.to_string()),
        End::Status(status) => status != Status::Code(0),
    };
    if fails != demands.should_fail {
        let expected = if demands.should_fail {
            "another exit status than 0"
        } else {
            "exit status 0"
        };
        return Err(format!("{}, expected {expected}", ended.end));
    }
    match &demands.output {
        Some(output) if !output.is_match(&ended.output) => {
            Err(format!("the output does not match `{}`", output.as_str()))
        }
        _ => Ok(()),
    }
}
