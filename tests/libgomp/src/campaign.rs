//! Many programs at once.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::catalog::Program;
use crate::compile::Builder;
use crate::trial::{self, Settings, Trial};

/// What stays on the disk.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// Where each program gets a folder.
    pub dir: PathBuf,
    /// Whether these folders stay.
    pub keep: bool,
}

impl Workspace {
    /// The folder of a program.
    #[must_use]
    pub fn of(&self, id: &str) -> PathBuf {
        self.dir.join(id.replace(['/', '@'], "_"))
    }

    /// Tries one program in its folder.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made.
    pub fn run(
        &self,
        program: &Program,
        builder: &Builder,
        settings: &Settings,
    ) -> std::io::Result<Trial> {
        let dir = self.of(&program.id);
        remove(&dir)?;
        std::fs::create_dir_all(&dir)?;
        let trial = trial::run(program, builder, settings, &dir);
        if !self.keep {
            remove(&dir)?;
        }
        Ok(trial)
    }
}

fn remove(dir: &Path) -> std::io::Result<()> {
    if dir.exists() {
        std::fs::remove_dir_all(dir)
    } else {
        Ok(())
    }
}

/// Tries all programs, `jobs` at a time, and calls `done` after each. The result is in the order of `programs`.
///
/// # Errors
///
/// When a working folder cannot be made.
pub fn run(
    programs: &[Program],
    builder: &Builder,
    settings: &Settings,
    workspace: &Workspace,
    jobs: usize,
    done: &(dyn Fn(&Trial) + Sync),
) -> std::io::Result<Vec<Trial>> {
    let next = AtomicUsize::new(0);
    let finished = Mutex::new(Vec::with_capacity(programs.len()));
    let work = || {
        while let Some((at, program)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            programs.get(at).map(|program| (at, program))
        } {
            let trial = workspace.run(program, builder, settings);
            if let Ok(trial) = &trial {
                done(trial);
            }
            finished
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((at, trial));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut finished = finished
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    finished.sort_by_key(|(at, _)| *at);
    finished.into_iter().map(|(_, trial)| trial).collect()
}
