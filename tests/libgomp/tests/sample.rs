//! The fixed sample of libgomp's test programs: each is a test of its own.
//!
//! `INSTR_TEST_BIN`, `INSTR_TEST_STRICT` and `INSTR_TEST_KEEP` as in `tests/README.md`.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use instr_libgomp_tests::campaign::Workspace;
use instr_libgomp_tests::catalog::{self, Program};
use instr_libgomp_tests::compile::{Builder, Linkage};
use instr_libgomp_tests::exceptions::Exceptions;
use instr_libgomp_tests::trial::{Outcome, Plain, Settings};
use instr_libgomp_tests::unpack::Suite;
use instr_libgomp_tests::{report, sample};
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Arguments;

/// Two programs at once, each of several threads.
const THREADS: usize = 2;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(THREADS);
    let trials = sample::names()
        .into_iter()
        .map(|name| trial(format!("libgomp::{name}"), move || run(name)))
        .collect();
    instr_tests::outcome::run(&arguments, trials);
}

/// What all programs of the sample share.
struct Shared {
    builder: Builder,
    programs: Vec<Program>,
    settings: Settings,
    workspace: Workspace,
}

/// Unpacks and prepares once.
fn shared() -> Check<&'static Shared> {
    static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();
    let archive = Suite::archive()
        .ok_or_else(|| Stop::Skip("Debian's package gcc-12-source is not installed".into()))?;
    for compiler in ["gcc", "g++", "gfortran"] {
        need(compiler)?;
    }
    let made = SHARED.get_or_init(|| prepare(&archive).map_err(|stop| stop.to_string()));
    made.as_ref().map_err(|why| Stop::Fail(why.clone()))
}

fn prepare(archive: &std::path::Path) -> Check<Shared> {
    let scratch = workspace::scratch()?;
    let target: PathBuf = workspace::profile_dir()?
        .parent()
        .ok_or("no target folder")?
        .to_owned();
    let suite = Suite::unpack(archive, &target.join("libgomp-testsuite"))
        .map_err(|why| Stop::Fail(format!("{why:#}")))?;
    let programs = sample::select(catalog::programs(&suite)?)?;
    let work = scratch.join("libgomp-sample");
    std::fs::create_dir_all(&work)?;
    let builder = Builder::new(suite, tools()?.clone(), &work)?;
    Ok(Shared {
        builder,
        programs,
        settings: Settings {
            linkages: Linkage::ALL.to_vec(),
            limit: Duration::from_secs(60),
            exceptions: Exceptions::of_project()?,
        },
        workspace: Workspace {
            dir: work,
            keep: std::env::var_os("INSTR_TEST_KEEP").is_some_and(|value| value == "1"),
        },
    })
}

fn run(name: &str) -> Check {
    let shared = shared()?;
    let program = shared.programs.iter().find(|program| program.id == name);
    let program = program.ok_or_else(|| format!("no program {name}"))?;
    let trial = shared
        .workspace
        .run(program, &shared.builder, &shared.settings)?;
    if let Plain::Unsupported(why) = &trial.plain {
        return Err(Stop::Skip(why.clone()));
    }
    ensure(trial.plain == Plain::Passed, || {
        format!("plainly: {:?}", trial.plain)
    })?;
    for (linkage, outcome) in &trial.outcomes {
        if let Outcome::Unstable(why) = outcome {
            return Err(Stop::Skip(format!("{linkage}: unstable plainly: {why}")));
        }
    }
    ensure(!trial.failed(), || {
        report::failures(&trial, "scripts/conformance.sh")
    })
}
