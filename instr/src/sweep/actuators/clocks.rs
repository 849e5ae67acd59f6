//! Clocks of processors and their governors: cpufreq (Linux, Documentation/admin-guide/pm/cpufreq.rst).

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::{Actuator, FOLDER, write};
use crate::quote::shown;
use crate::sweep::config::Config;
use crate::sweep::plan::Point;

/// The governor whose clock is the one that is written.
const USERSPACE: &str = "userspace";

/// Governor and clock of all processors that have cpufreq.
pub(super) struct Clocks {
    folders: Vec<PathBuf>,
    governor: Option<String>,
}

impl Clocks {
    pub(super) fn new(root: &Path, config: &Config) -> Result<Self> {
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
        Ok(Self { folders, governor })
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

impl Actuator for Clocks {
    fn set(&mut self, point: &Point) -> Result<()> {
        // A processor that is off-line has no clock.
        for folder in self.folders.iter().filter(|folder| folder.is_dir()) {
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

    fn found(&self) -> Vec<(PathBuf, String)> {
        let mut found = Vec::new();
        for folder in &self.folders {
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
                    found.push((path, text.to_owned()));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
