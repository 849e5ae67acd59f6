//! Hardware threads (SMT) and hot-plug of processors (Linux, Documentation/ABI/testing/sysfs-devices-system-cpu, Documentation/core-api/cpu_hotplug.rst). Both change the machine for everybody: they are used
//! when a sweep asks for them by name, and only then.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use rustix::fs::{Access, access};

use super::{Actuator, FOLDER, write};
use crate::quote::shown;
use crate::sweep::axes::Smt;
use crate::sweep::plan::Point;

/// Several hardware threads of a core, on or off.
pub(super) struct HardwareThreads {
    file: PathBuf,
    before: String,
}

impl HardwareThreads {
    pub(super) fn new(root: &Path) -> Result<Self> {
        let file = root.join(FOLDER).join("smt/control");
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let before = before.trim().to_owned();
        let why = match before.as_str() {
            "on" | "off" => "",
            "" => "it is not there",
            "forceoff" => "it was switched off when the machine started (forceoff)",
            "notsupported" => "its cores have one thread each (notsupported)",
            "notimplemented" => "its kernel does not do that (notimplemented)",
            _ => "it says something unknown",
        };
        ensure!(
            why.is_empty(),
            "this machine lets nobody switch hardware threads (SMT), {}: {why}",
            shown(&file)
        );
        may_write(&file, "switch hardware threads (SMT)")?;
        Ok(Self { file, before })
    }
}

impl Actuator for HardwareThreads {
    fn set(&mut self, point: &Point) -> Result<()> {
        match point.smt {
            Some(Smt::On) => write(&self.file, "on"),
            Some(Smt::Off) => write(&self.file, "off"),
            None => Ok(()),
        }
    }

    fn found(&self) -> Vec<(PathBuf, String)> {
        vec![(self.file.clone(), self.before.clone())]
    }
}

/// Processors that can be taken away: as many as a point has threads stay.
pub(super) struct HotPlug {
    /// Those that cannot, such as the first one on most machines.
    fixed: usize,
    /// The files `online` of the others that were on-line, by number.
    files: Vec<PathBuf>,
}

impl HotPlug {
    pub(super) fn new(root: &Path) -> Result<Self> {
        let folder = root.join(FOLDER);
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut numbers: Vec<u32> = entries
            .filter_map(|entry| {
                entry
                    .file_name()
                    .to_str()?
                    .strip_prefix("cpu")?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        let file = |number: &u32| folder.join(format!("cpu{number}/online"));
        let (with, fixed): (Vec<PathBuf>, Vec<PathBuf>) =
            numbers.iter().map(file).partition(|file| file.is_file());
        let is_online =
            |file: &PathBuf| std::fs::read_to_string(file).is_ok_and(|text| text.trim() == "1");
        let files: Vec<PathBuf> = with.into_iter().filter(is_online).collect();
        ensure!(
            !files.is_empty(),
            "this machine lets nobody take its processors away (hot-plug): none below {} has a file `online`",
            shown(&folder)
        );
        for file in &files {
            may_write(file, "take processors away (hot-plug)")?;
        }
        Ok(Self {
            fixed: fixed.len(),
            files,
        })
    }
}

impl Actuator for HotPlug {
    fn set(&mut self, point: &Point) -> Result<()> {
        let mut wanted = (point.threads as usize).max(1).saturating_sub(self.fixed);
        if self.fixed == 0 {
            // The last processor cannot go.
            wanted = wanted.max(1);
        }
        // First those that stay, so that there is one at any time.
        let (mut stay, mut others) = (0, Vec::new());
        for file in &self.files {
            // The second thread of a core is not there while SMT is off.
            match stay < wanted && write(file, "1").is_ok() {
                true => stay += 1,
                false => others.push(file),
            }
        }
        ensure!(
            stay + self.fixed > 0,
            "no processor stays on-line below {}",
            shown(self.files.first().map_or(Path::new(FOLDER), |file| file))
        );
        for file in others {
            let now = std::fs::read_to_string(file).unwrap_or_default();
            if now.trim() != "0" {
                write(file, "0")?;
            }
        }
        Ok(())
    }

    fn found(&self) -> Vec<(PathBuf, String)> {
        let files = self.files.iter();
        files.map(|file| (file.clone(), "1".to_owned())).collect()
    }
}

/// Says before the first run what would be refused at it.
fn may_write(file: &Path, what: &str) -> Result<()> {
    access(file, Access::WRITE_OK)
        .with_context(|| format!("cannot {what}: this account may not write {}", shown(file)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(FOLDER).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn point(threads: u32, smt: Option<Smt>) -> Point {
        Point {
            program: None,
            input: None,
            environment: BTreeMap::new(),
            placement: None,
            frequency_khz: None,
            smt,
            threads,
        }
    }

    #[test]
    fn as_many_processors_as_threads_stay() {
        let dir = machine(&[
            ("cpu0/topology", ""),
            ("cpu1/online", "1\n"),
            ("cpu2/online", "0\n"),
            ("cpu3/online", "1\n"),
            ("cpu10/online", "1\n"),
            ("cpufreq/online", "1\n"),
        ]);
        let online = || {
            [1, 2, 3, 10].map(|number| {
                let file = dir.path().join(FOLDER).join(format!("cpu{number}/online"));
                std::fs::read_to_string(file).unwrap().trim() == "1"
            })
        };
        let mut plug = HotPlug::new(dir.path()).unwrap();
        assert_eq!(plug.found().len(), 3, "the one that was off stays off");
        for (threads, expected) in [
            (1, [false, false, false, false]),
            (3, [true, false, true, false]),
            (2, [true, false, false, false]),
            (64, [true, false, true, true]),
        ] {
            plug.set(&point(threads, None)).unwrap();
            assert_eq!(online(), expected, "{threads} threads");
        }
    }

    #[test]
    fn hardware_threads_go_on_and_off() {
        let dir = machine(&[("smt/control", "on\n")]);
        let mut smt = HardwareThreads::new(dir.path()).unwrap();
        let now = || std::fs::read_to_string(dir.path().join(FOLDER).join("smt/control")).unwrap();
        smt.set(&point(1, Some(Smt::Off))).unwrap();
        assert_eq!(now(), "off");
        smt.set(&point(1, Some(Smt::On))).unwrap();
        assert_eq!(now(), "on");
    }

    #[test]
    fn machines_without_them_say_so() {
        let refused = |result: Result<()>| format!("{:#}", result.err().unwrap());
        let bare = machine(&[("cpu0/topology", "")]);
        let none = refused(HotPlug::new(bare.path()).map(|_| ()));
        assert!(none.contains("has a file `online`"), "{none}");
        let none = refused(HardwareThreads::new(bare.path()).map(|_| ()));
        assert!(none.contains("it is not there"), "{none}");
        for (word, why) in [
            ("notsupported", "one thread each"),
            ("forceoff", "when the machine started"),
        ] {
            let dir = machine(&[("smt/control", word)]);
            let refusal = refused(HardwareThreads::new(dir.path()).map(|_| ()));
            assert!(refusal.contains(why), "{refusal}");
        }
    }
}
