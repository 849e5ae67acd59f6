//! The traced program is a guest: whatever happens to it or to us, its output and status are those of the plain run, and what was
//! lost is counted.

mod clocks;
mod forks;
mod killed;
mod leaves;
mod libraries;
mod one_runtime;
mod places;
mod policies;
mod runs;
mod signals;
mod strangers;

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::ctf::{self, Event};
use instr_tests::outcome::{Check, Stop, ensure};
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    let groups = [
        clocks::trials(),
        killed::trials(),
        policies::trials(),
        places::trials(),
        runs::trials(),
        leaves::trials(),
        forks::trials(),
        libraries::trials(),
        one_runtime::trials(),
        signals::trials(),
        strangers::trials(),
    ];
    groups.into_iter().flatten().collect()
}

/// A program of `tests/robust`, plain and traced, in a working folder of its own.
pub(crate) struct Guest {
    pub(crate) dir: TempDir,
    pub(crate) plain: PathBuf,
    pub(crate) traced: PathBuf,
    target: Target,
}

impl Guest {
    /// Builds `tests/robust/NAME.c` for x86-64.
    pub(crate) fn build(name: &str) -> Check<Self> {
        Self::build_for(name, Target::X86_64)
    }

    pub(crate) fn build_for(name: &str, target: Target) -> Check<Self> {
        let dir = workspace::work_dir(name)?;
        let source = source(name)?;
        let build = Build::openmp(target).flag("-pthread").flag("-ldl");
        let (plain, traced) = (
            dir.path().join("plain").join(name),
            dir.path().join("traced").join(name),
        );
        for program in [&plain, &traced] {
            std::fs::create_dir_all(program.parent().ok_or("no folder")?)?;
        }
        build.plain(&[&source], &plain)?;
        build.traced(&[&source], &traced)?;
        Ok(Self {
            dir,
            plain,
            traced,
            target,
        })
    }

    /// A path in the working folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A run of the plain program.
    pub(crate) fn plain(&self) -> Run {
        self.target.run(&self.plain).dir(self.dir.path())
    }

    /// A run of the traced program.
    pub(crate) fn traced(&self) -> Run {
        self.target.run(&self.traced).dir(self.dir.path())
    }

    /// Runs both with the same arguments and environment, demands the same outcome, returns that of the traced run.
    pub(crate) fn compare(&self, args: &[&str], env: &[(&str, &str)]) -> Check<Outcome> {
        let with = |run: Run| {
            env.iter()
                .fold(run.args(args), |run, (name, value)| run.env(name, value))
                .output()
        };
        let plain = with(self.plain())?;
        let traced = with(self.traced())?;
        plain.same_as(&traced)?;
        Ok(traced)
    }
}

/// A source of `tests/robust`.
pub(crate) fn source(name: &str) -> Check<PathBuf> {
    Ok(workspace::root()?
        .join("tests/robust")
        .join(name)
        .with_extension("c"))
}

/// `instr repair`: what a killed program left, as a trace for every reader.
pub(crate) fn repair(trace: &Path) -> Check<PathBuf> {
    repair_to(trace, trace.with_extension("repaired"))
}

/// The same with a name for the result.
pub(crate) fn repair_to(trace: &Path, repaired: PathBuf) -> Check<PathBuf> {
    Run::new(&tools()?.instr)
        .arg("repair")
        .arg(trace)
        .arg("-o")
        .arg(&repaired)
        .succeed()?;
    Ok(repaired)
}

/// The values of the user events of type `kind`, in the order of their stream.
pub(crate) fn values(events: &[Event], kind: i128) -> Vec<i128> {
    let wanted = |event: &&Event| event.name == "user_event" && event.get("type") == Some(kind);
    events
        .iter()
        .filter(wanted)
        .filter_map(|event| event.get("value"))
        .collect()
}

/// Demands the values `first..=last` of type `kind`, each once and in order.
pub(crate) fn contiguous(events: &[Event], kind: i128, first: i128, last: i128) -> Check {
    let values = values(events, kind);
    let complete = values.iter().copied().eq(first..=last);
    ensure(complete, || {
        let broken = values
            .iter()
            .zip(first..)
            .position(|(value, expected)| *value != expected);
        format!(
            "events of type {kind}: expected {first}..={last}, got {} of them, first wrong at {broken:?}",
            values.len()
        )
    })
}

/// `discarded` of `instr summary --json`.
pub(crate) fn discarded(summary: &Value) -> Check<i128> {
    let count = summary["discarded"]
        .as_u64()
        .ok_or("summary: discarded is no unsigned integer")?;
    Ok(count.into())
}

/// A trace after a clean end: read by babeltrace2 without a warning and merged to Paraver without a mistake.
pub(crate) fn sound(trace: &Path, open: bool) -> Check<Vec<Event>> {
    let events = ctf::read(trace)?;
    cases::paraver(trace, instr_tests::prv::check::Options { open })?;
    Ok(events)
}

/// The single entry of a folder whose name begins with `prefix`.
pub(crate) fn only_entry(dir: &Path, prefix: &str) -> Check<PathBuf> {
    let entries = std::fs::read_dir(dir)?.flatten().map(|entry| entry.path());
    let named = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(prefix))
    };
    let found: Vec<PathBuf> = entries.filter(named).collect();
    match <[PathBuf; 1]>::try_from(found) {
        Ok([path]) => Ok(path),
        Err(found) => Err(Stop::Fail(format!(
            "expected one entry {prefix}* in {}, got {found:?}",
            dir.display()
        ))),
    }
}
