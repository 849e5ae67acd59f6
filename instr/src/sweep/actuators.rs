//! What a run is given of the machine: processors, their clocks. Everything is put back as it was found, also when this process is killed: a guard, which waits for its end, has a copy.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ChildStdin;

use anyhow::{Context as _, Result, ensure};
use instr_cc::exec::Call;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::config::{Config, Placement};
use super::plan::Point;
use crate::quote::shown;

/// Files of one processor's clock, relative to its folder.
const FOLDER: &str = "sys/devices/system/cpu";
/// The governor whose clock is the one that is written.
const USERSPACE: &str = "userspace";
/// What the guard is asked with when there is nothing left to do.
const DONE: &str = "done";
/// Argument of this program that makes it the guard.
pub(crate) const GUARD: &str = "sweep-guard";

/// Sets what a point wants.
pub(super) trait Actuator {
    /// Sets it up for a point.
    fn set(&mut self, point: &Point) -> Result<()>;
    /// Puts back what was there before.
    fn restore(&mut self) -> Result<()>;
}

/// All that a sweep needs, in the order in which they are set.
pub(super) fn of(config: &Config) -> Result<Vec<Box<dyn Actuator>>> {
    let mut all: Vec<Box<dyn Actuator>> = Vec::new();
    if !config.placements.is_empty() {
        all.push(Box::new(Affinity::new()?));
    }
    if !config.frequencies.is_empty() || config.governor.is_some() {
        all.push(Box::new(Clocks::new(&root(), config)?));
    }
    Ok(all)
}

/// Where `/sys` is looked for.
pub(super) fn root() -> PathBuf {
    std::env::var_os("INSTR_SENSORS_ROOT").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

/// Which processors this process, and so its children, may use. That is its own: it needs no guard.
struct Affinity {
    before: CpuSet,
    allowed: Vec<usize>,
}

impl Affinity {
    fn new() -> Result<Self> {
        let before = sched_getaffinity(None).context("cannot read which processors may be used")?;
        let allowed = (0..CpuSet::MAX_CPU)
            .filter(|cpu| before.is_set(*cpu))
            .collect();
        Ok(Self { before, allowed })
    }

    fn chosen(&self, placement: Placement, threads: usize) -> Vec<usize> {
        let count = threads.clamp(1, self.allowed.len());
        match placement {
            Placement::Any => self.allowed.clone(),
            Placement::Compact => self.allowed[..count].to_vec(),
            Placement::Spread => (0..count)
                .map(|at| self.allowed[at * self.allowed.len() / count])
                .collect(),
        }
    }
}

impl Actuator for Affinity {
    fn set(&mut self, point: &Point) -> Result<()> {
        let mut set = CpuSet::new();
        let placement = point.placement.unwrap_or(Placement::Any);
        self.chosen(placement, point.threads as usize)
            .into_iter()
            .for_each(|cpu| set.set(cpu));
        sched_setaffinity(None, &set).context("cannot choose processors")
    }

    fn restore(&mut self) -> Result<()> {
        sched_setaffinity(None, &self.before).context("cannot give all processors back")
    }
}

/// Governor and clock of all processors that have cpufreq.
struct Clocks {
    folders: Vec<PathBuf>,
    governor: Option<String>,
    /// Files with what stood in them, in the order in which they are written back.
    before: Vec<(PathBuf, String)>,
    /// Its other end puts everything back when this one is closed without the last word.
    guard: ChildStdin,
}

impl Clocks {
    fn new(root: &Path, config: &Config) -> Result<Self> {
        let all = root.join(FOLDER);
        let entries = std::fs::read_dir(&all).into_iter().flatten();
        let mut folders: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path().join("cpufreq"))
            .filter(|folder| folder.join("scaling_governor").is_file())
            .collect();
        folders.sort();
        ensure!(
            !folders.is_empty(),
            "this machine lets nobody set the clock of its processors: no processor below {} has cpufreq",
            shown(&all)
        );
        for khz in &config.frequencies {
            check(&folders[0], *khz)?;
        }
        let path = folders[0].join("scaling_available_governors");
        let available = std::fs::read_to_string(&path).unwrap_or_default();
        let has = |governor: &str| available.split_whitespace().any(|word| word == governor);
        let governor = match &config.governor {
            Some(governor) => {
                ensure!(
                    has(governor) || available.is_empty(),
                    "{} has no governor `{governor}`: it has {}",
                    shown(&path),
                    available.trim()
                );
                Some(governor.clone())
            }
            // A driver without it takes bounds instead.
            None => has(USERSPACE).then(|| USERSPACE.to_owned()),
        };
        Self::guarded(folders, governor)
    }

    /// Reads what is to be put back, and gives it to the guard before anything is changed.
    fn guarded(folders: Vec<PathBuf>, governor: Option<String>) -> Result<Self> {
        let mut before = Vec::new();
        for folder in &folders {
            // A bound that excludes the other one is refused: the upper one goes up first.
            for name in [
                "scaling_max_freq",
                "scaling_min_freq",
                "scaling_max_freq",
                "scaling_governor",
                "scaling_setspeed",
            ] {
                let path = folder.join(name);
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let text = text.trim();
                if !text.is_empty() && text != "<unsupported>" {
                    before.push((path, text.to_owned()));
                }
            }
        }
        let guard = guard(&before)?;
        Ok(Self {
            folders,
            governor,
            before,
            guard,
        })
    }
}

/// Whether a clock is within what the processor has.
fn check(folder: &Path, khz: u64) -> Result<()> {
    let read = |name: &str| {
        std::fs::read_to_string(folder.join(name))
            .ok()
            .and_then(|text| text.trim().parse::<u64>().ok())
    };
    if let (Some(least), Some(most)) = (read("cpuinfo_min_freq"), read("cpuinfo_max_freq")) {
        ensure!(
            (least..=most).contains(&khz),
            "the clock {khz} kHz is not from {least} to {most} kHz, which {} allows",
            shown(folder)
        );
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {text} into {}", shown(path)))
}

impl Actuator for Clocks {
    fn set(&mut self, point: &Point) -> Result<()> {
        for folder in &self.folders {
            if let Some(governor) = &self.governor {
                write(&folder.join("scaling_governor"), governor)?;
            }
            let Some(khz) = point.frequency_khz else {
                continue;
            };
            let text = khz.to_string();
            if self.governor.as_deref() == Some(USERSPACE) {
                write(&folder.join("scaling_setspeed"), &text)?;
                continue;
            }
            let lowest = std::fs::read_to_string(folder.join("scaling_min_freq"))
                .ok()
                .and_then(|text| text.trim().parse().ok());
            let (first, second) = match lowest.is_some_and(|least: u64| least > khz) {
                true => ("scaling_min_freq", "scaling_max_freq"),
                false => ("scaling_max_freq", "scaling_min_freq"),
            };
            write(&folder.join(first), &text)?;
            write(&folder.join(second), &text)?;
        }
        Ok(())
    }

    fn restore(&mut self) -> Result<()> {
        put_back(&self.before);
        if let Some((path, text)) = self.before.last() {
            let now = std::fs::read_to_string(path).unwrap_or_default();
            ensure!(
                now.trim() == text,
                "cannot put {} back to {text}: it is {}",
                shown(path),
                now.trim()
            );
        }
        // A guard that has gone has nothing to do either.
        let _ = writeln!(self.guard, "{DONE}");
        Ok(())
    }
}

/// Writes values into their files, as far as that works.
fn put_back(before: &[(PathBuf, String)]) {
    for (path, text) in before {
        let _ = std::fs::write(path, text);
    }
}

/// Starts the guard with what it may have to put back.
fn guard(before: &[(PathBuf, String)]) -> Result<ChildStdin> {
    let own = std::env::current_exe().context("cannot find the file of this program")?;
    let call = Call::new(own).args([OsString::from(GUARD)]);
    let mut pipe = call
        .start_beside()
        .context("cannot start the guard that puts clocks back")?;
    for (path, text) in before {
        writeln!(pipe, "{}\t{text}", path.display()).context("the guard does not listen")?;
    }
    Ok(pipe)
}

/// The guard: reads files and values, and writes these back when its input ends without the last word.
pub(crate) fn stand_guard() -> Result<()> {
    let text = std::io::read_to_string(std::io::stdin()).context("cannot read what to put back")?;
    if text.lines().next_back() == Some(DONE) {
        return Ok(());
    }
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    let before: Vec<(PathBuf, String)> = lines
        .map(|(path, value)| (path.into(), value.to_owned()))
        .collect();
    put_back(&before);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_choose_processors_that_may_be_used() {
        let affinity = Affinity {
            before: CpuSet::new(),
            allowed: vec![0, 2, 4, 6],
        };
        assert_eq!(affinity.chosen(Placement::Compact, 2), [0, 2]);
        assert_eq!(affinity.chosen(Placement::Spread, 2), [0, 4]);
        assert_eq!(affinity.chosen(Placement::Spread, 9), [0, 2, 4, 6]);
        assert_eq!(affinity.chosen(Placement::Any, 1), [0, 2, 4, 6]);
    }

    #[test]
    fn a_machine_without_cpufreq_says_so() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(FOLDER).join("cpu0")).unwrap();
        let config = Config {
            frequencies: vec![1_000_000],
            ..Config::default()
        };
        let error = format!("{:#}", Clocks::new(dir.path(), &config).err().unwrap());
        assert!(
            error.contains("no processor below") && error.contains("has cpufreq"),
            "{error}"
        );
    }
}
