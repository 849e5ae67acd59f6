//! Graphs as programs: the driver, built with `instr-cc`, creates their tasks at run time.

use std::path::{Path, PathBuf};

use super::script::{self, Graph};
use crate::outcome::{Check, ensure};
use crate::toolchain::{Build, Target};
use crate::workspace;

/// The driver, built for one target.
#[derive(Debug, Clone)]
pub struct Driver {
    target: Target,
    program: PathBuf,
}

impl Driver {
    /// Builds it into `dir`.
    ///
    /// # Errors
    ///
    /// When it does not build; a skip when the compiler is missing.
    pub fn build(target: Target, dir: &Path) -> Check<Self> {
        let source = workspace::root()?.join("tests/random_graphs/driver.c");
        let program = dir.join(format!("driver-{}", target.name()));
        let mut build = Build::openmp(target).flag("-std=c11");
        if target == Target::Sparc32 {
            // SPARC V8 has no instruction for the driver's counters.
            build = build.flag("-latomic");
        }
        build.traced(&[&source], &program)?;
        Ok(Self { target, program })
    }

    /// Runs `graphs` in one process and returns the trace.
    ///
    /// # Errors
    ///
    /// When the run fails.
    pub fn run(&self, graphs: &[Graph], threads: u32, dir: &Path) -> Check<PathBuf> {
        let (script, trace) = (dir.join("script"), dir.join("trace"));
        std::fs::write(&script, script::text(graphs))?;
        let outcome = self
            .target
            .run(&self.program)
            .arg(&script)
            .arg(threads.to_string())
            .env("INSTR_TRACE", &trace)
            .succeed()?;
        ensure(outcome.errors().is_empty(), || format!("{outcome}"))?;
        Ok(trace)
    }
}
