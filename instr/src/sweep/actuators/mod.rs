//! What a run is given of the machine: its processors, their hardware threads, their clocks. Everything is put back as it was found, also when this process is killed: a guard, which waits for its end, has a
//! copy, and ends the run that goes on then.

mod affinity;
mod clocks;
mod guard;
mod processors;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use self::affinity::Affinity;
use self::clocks::Clocks;
use self::processors::{HardwareThreads, HotPlug};
use super::config::Config;
use super::plan::Point;
use crate::quote::shown;

pub(super) use guard::Guard;
pub(crate) use guard::{GUARD, stand_guard};

/// The folder of the processors.
const FOLDER: &str = "sys/devices/system/cpu";

/// Sets what a point wants.
trait Actuator {
    /// Sets it up for a point.
    fn set(&mut self, point: &Point) -> Result<()>;

    /// Files of the machine that it writes, with what stands in them, in the order in which they are to be written back.
    fn found(&self) -> Vec<(PathBuf, String)> {
        Vec::new()
    }

    /// Puts back what is this process's own.
    fn restore(&mut self) -> Result<()> {
        Ok(())
    }
}

/// All that a sweep needs, in the order in which they are set: a processor is there before it is chosen, or has a clock.
pub(super) struct Actuators {
    all: Vec<Box<dyn Actuator>>,
    guard: Guard,
}

impl Actuators {
    /// Reads what is to be put back, and gives it to the guard before anything is changed.
    ///
    /// # Errors
    ///
    /// What this machine does not have, or does not let this account change.
    pub(super) fn of(config: &Config) -> Result<Self> {
        let root = root();
        let mut all: Vec<Box<dyn Actuator>> = Vec::new();
        if !config.smt.is_empty() {
            all.push(Box::new(HardwareThreads::new(&root)?));
        }
        if config.hot_plug {
            all.push(Box::new(HotPlug::new(&root)?));
        }
        if !config.placements.is_empty() {
            all.push(Box::new(Affinity::new()?));
        }
        if !config.frequencies.is_empty() || config.governor.is_some() {
            all.push(Box::new(Clocks::new(&root, config)?));
        }
        let found: Vec<(PathBuf, String)> = all.iter().flat_map(|it| it.found()).collect();
        let guard = Guard::new(found)?;
        Ok(Self { all, guard })
    }

    /// The guard, which has the run that goes on, too.
    pub(super) fn guard(&mut self) -> &mut Guard {
        &mut self.guard
    }

    /// Sets all of them up for a point.
    pub(super) fn set(&mut self, point: &Point) -> Result<()> {
        self.all.iter_mut().try_for_each(|it| it.set(point))
    }

    /// Puts back what was there before; all of it is tried.
    pub(super) fn restore(&mut self) -> Result<()> {
        let own = self.all.iter_mut().map(|it| it.restore());
        let own = own.fold(Ok(()), Result::and);
        own.and(self.guard.restore())
    }
}

/// Where `/sys` is looked for.
pub(super) fn root() -> PathBuf {
    std::env::var_os("INSTR_SENSORS_ROOT").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {text} into {}", shown(path)))
}
