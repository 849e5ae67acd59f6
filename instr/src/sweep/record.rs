//! The folder of a sweep: what is swept, and a line for each run, written when it has ended, so that an interrupted sweep goes on where it was.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::fs::{FlockOperation, flock};

use super::config::{Config, Measure};
use super::plan::Point;
use super::run::{Lines, Run, read};
use crate::quote::shown;

/// The file with what is swept.
const CONFIG: &str = "sweep.toml";
/// The file with a line for each run.
const RUNS: &str = "runs.jsonl";

/// The folder of traces that stay.
pub(super) const TRACES: &str = "traces";
/// What traces that do not stay begin with.
pub(super) const NOW: &str = "now-";

/// Points and repeats.
type Numbers = HashSet<(Point, u32)>;

/// The folder.
#[derive(Debug)]
pub(super) struct Record {
    dir: PathBuf,
    config: Config,
    runs: Vec<Run>,
    /// Points and repeats that need no further run: those that count, and those that this process has run.
    known: Numbers,
    /// Those that failed before this process began: they are run again.
    failed: Numbers,
    /// Lines that were no runs.
    damaged: usize,
    file: Option<File>,
}

impl Record {
    /// Reads the folder of a sweep.
    ///
    /// # Errors
    ///
    /// A folder that is none, and files that cannot be read.
    pub(super) fn open(dir: &Path) -> Result<Self> {
        let config = Config::read_whole(&dir.join(CONFIG))?;
        let Lines { runs, damaged, .. } = read(&dir.join(RUNS))?;
        let (runs, double) = once(runs);
        Ok(Self {
            dir: dir.to_owned(),
            config,
            known: HashSet::new(),
            failed: HashSet::new(),
            runs,
            damaged: damaged + double,
            file: None,
        })
    }

    /// Runs that another tool recorded, in the file `from`.
    pub(super) fn imported(from: &Path, config: Config, runs: Vec<Run>) -> Self {
        Self {
            dir: from.to_owned(),
            config,
            known: HashSet::new(),
            failed: HashSet::new(),
            runs,
            damaged: 0,
            file: None,
        }
    }

    /// Whether a folder is that of a sweep.
    pub(super) fn is(dir: &Path) -> bool {
        dir.join(CONFIG).is_file()
    }

    /// Whether a file is one that a sweep keeps its results in.
    pub(super) fn owns(file: &Path) -> bool {
        let is_one = file
            .file_name()
            .is_some_and(|name| name == RUNS || name == CONFIG);
        is_one && file.parent().is_some_and(Self::is)
    }

    /// Reads what is there, as the sweep would that goes on with it.
    ///
    /// # Errors
    ///
    /// Those of [`Record::open`], and a sweep of something else.
    pub(super) fn look(dir: &Path, config: &Config) -> Result<Self> {
        let mut record = Self::open(dir)?;
        together(dir, config, &record.config)?;
        (record.known, record.failed) = numbers(&record.runs);
        Ok(record)
    }

    /// Begins, or goes on with what is there: the same command and measurement; axes and repeats may have grown.
    ///
    /// # Errors
    ///
    /// A folder that holds something else or is written to by another sweep, a sweep of something else, and what the system refuses.
    pub(super) fn begin(dir: &Path, config: &Config) -> Result<Self> {
        let cannot = || format!("cannot write {}", shown(dir));
        let mut config = config.clone();
        if !Self::is(dir) {
            ensure!(
                has_nothing(dir),
                "{}: it is no folder of a sweep, and it is not empty",
                cannot()
            );
            std::fs::create_dir_all(dir).with_context(cannot)?;
        } else {
            config = together(dir, &config, &Config::read_whole(&dir.join(CONFIG))?)?;
        }
        let text = toml::to_string(&config).context("cannot write the sweep as TOML")?;
        let path = dir.join(RUNS);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .read(true)
            .open(&path)
            .with_context(cannot)?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!("{}: another sweep writes there", cannot());
        }
        let new = instr_trace::new_file::NewFile::create(&dir.join(CONFIG)).with_context(cannot)?;
        new.file().write_all(text.as_bytes()).with_context(cannot)?;
        new.publish().with_context(cannot)?;
        let Lines {
            runs,
            damaged,
            complete,
        } = read(&path)?;
        remove_unfinished(&dir.join(TRACES));
        // What was cut by the end of the sweep is run again.
        file.set_len(complete).with_context(cannot)?;
        file.seek(SeekFrom::End(0)).with_context(cannot)?;
        let (runs, double) = once(runs);
        let (known, failed) = numbers(&runs);
        Ok(Self {
            dir: dir.to_owned(),
            config,
            known,
            failed,
            runs,
            damaged: damaged + double,
            file: Some(file),
        })
    }

    /// Adds a run; it is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// What the system refuses.
    pub(super) fn add(&mut self, run: Run) -> Result<()> {
        let mut line = serde_json::to_string(&run).context("cannot write a run as JSON")?;
        line.push('\n');
        let file = self
            .file
            .as_mut()
            .context("the sweep was opened for reading")?;
        let written = file
            .write_all(line.as_bytes())
            .and_then(|()| file.sync_data());
        let path = self.dir.join(RUNS);
        written.with_context(|| format!("cannot write {}", shown(&path)))?;
        let is_there = match (file.metadata(), path.metadata()) {
            (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
            _ => false,
        };
        ensure!(
            is_there,
            "cannot write {}: somebody has removed it since the sweep began",
            shown(&path)
        );
        let number = (run.point.clone(), run.repeat);
        if self.failed.remove(&number) {
            self.runs
                .retain(|before| (before.repeat, &before.point) != (number.1, &number.0));
        }
        self.known.insert(number);
        self.runs.push(run);
        Ok(())
    }

    /// Removes a folder that has no run.
    pub(super) fn remove_if_empty(&self) {
        if self.runs.is_empty() && self.file.is_some() {
            for name in [RUNS, CONFIG] {
                // What stays says what went wrong, as the error does that is on its way.
                let _ = std::fs::remove_file(self.dir.join(name));
            }
            let _ = std::fs::remove_dir(self.dir.join(TRACES));
            let _ = std::fs::remove_dir(&self.dir);
        }
    }

    /// What is swept.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// All runs, in the order in which they ended.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Whether a repeat of a point has been run.
    pub(super) fn has(&self, point: &Point, repeat: u32) -> bool {
        self.known.contains(&(point.clone(), repeat))
    }

    /// Lines that were no runs.
    pub(super) fn damaged(&self) -> usize {
        self.damaged
    }

    /// The file with the runs.
    pub(super) fn file(&self) -> PathBuf {
        self.dir.join(RUNS)
    }

    /// The folder.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Those of the runs that count, and of those that failed.
fn numbers(runs: &[Run]) -> (Numbers, Numbers) {
    let (mut known, mut failed) = (Numbers::new(), Numbers::new());
    for run in runs {
        let of_its_kind = match run.failure {
            None => &mut known,
            Some(_) => &mut failed,
        };
        of_its_kind.insert((run.point.clone(), run.repeat));
    }
    (known, failed)
}

/// A sweep with what the folder has of it.
fn together(dir: &Path, config: &Config, before: &Config) -> Result<Config> {
    let same = |what: &str, same: bool| -> Result<()> {
        ensure!(
            same,
            "{} holds a sweep with another {what}: choose another folder (-o)",
            shown(dir)
        );
        Ok(())
    };
    same("command", before.command == config.command)?;
    let traced = |config: &Config| config.measure != Measure::Plain;
    same("measurement", traced(before) == traced(config))?;
    same("governor", before.governor == config.governor)?;
    same("list of counters", before.counters == config.counters)?;
    same("use of hot-plug", before.hot_plug == config.hot_plug)?;
    let mut all = config.clone();
    all.add_earlier(before)
        .with_context(|| format!("{} holds another sweep", shown(dir)))?;
    Ok(all)
}

/// Removes what runs have left that nobody could end in order: traces of [`NOW`], and files beside them.
fn remove_unfinished(traces: &Path) {
    for entry in std::fs::read_dir(traces).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.strip_prefix('.').unwrap_or(&name).starts_with(NOW) {
            // What stays is in nobody's way.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether there is no folder, or nothing in it but what a sweep leaves there that could not write its file.
fn has_nothing(dir: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return true;
    };
    entries.flatten().all(|entry| {
        let length = entry.metadata().map_or(1, |file| file.len());
        entry.file_name() == RUNS && length == 0
    })
}

/// Each repeat of a point once, and how many lines were too many. A run that failed is run again when the sweep goes on: then its last line holds.
fn once(runs: Vec<Run>) -> (Vec<Run>, usize) {
    let mut places: HashMap<(&Point, u32), usize> = HashMap::with_capacity(runs.len());
    let mut double = 0;
    let mut stays = vec![true; runs.len()];
    for (at, run) in runs.iter().enumerate() {
        match places.entry((&run.point, run.repeat)) {
            Entry::Vacant(place) => {
                place.insert(at);
            }
            Entry::Occupied(mut place) if runs[*place.get()].failure.is_some() => {
                stays[place.insert(at)] = false;
            }
            Entry::Occupied(_) => {
                stays[at] = false;
                double += 1;
            }
        }
    }
    drop(places);
    let mut stays = stays.into_iter();
    let mut runs = runs;
    runs.retain(|_| stays.next().unwrap_or(true));
    (runs, double)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::run::{Counted, Energy, Region};

    fn run(threads: u32, repeat: u32) -> Run {
        let point = Point {
            program: None,
            input: Some("big".to_owned()),
            environment: [("X".to_owned(), "1".to_owned())].into(),
            placement: None,
            frequency_khz: None,
            smt: None,
            threads,
        };
        Run {
            point,
            repeat,
            begin_ns: 1,
            seconds: 0.5,
            user_seconds: 0.4,
            system_seconds: 0.1,
            resident_bytes: Some(1),
            energy: Some(Energy {
                joules: 2.5,
                joules_are_modelled: true,
            }),
            counted: Counted {
                counters: [("page-faults".to_owned(), 7)].into(),
                counters_are_estimates: true,
                not_counted: [("cycles".to_owned(), "no".to_owned())].into(),
            },
            failure: None,
            regions: vec![Region {
                path: vec!["a".to_owned()].into(),
                count: 2,
                seconds: 0.25,
                own_seconds: 0.25,
                executions: None,
                joules: Some(1.0),
                counters: [("page-faults".to_owned(), 3)].into(),
            }],
        }
    }

    #[test]
    fn what_was_cut_is_forgotten_and_the_rest_stays() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config {
            command: vec!["app".to_owned()],
            ..Config::default()
        };
        let mut record = Record::begin(dir.path(), &config).unwrap();
        record.add(run(1, 0)).unwrap();
        record.add(run(2, 0)).unwrap();
        assert!(
            Record::begin(dir.path(), &config)
                .unwrap_err()
                .to_string()
                .contains("another sweep writes")
        );
        drop(record);
        let path = dir.path().join(RUNS);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let mut record = Record::begin(dir.path(), &config).unwrap();
            let lines = whole[..cut].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(record.runs().len(), lines);
            record.add(run(4, 0)).unwrap();
            let again = Record::open(dir.path()).unwrap();
            assert_eq!((again.runs().len(), again.damaged()), (lines + 1, 0));
            assert_eq!(again.runs().last(), Some(&run(4, 0)));
        }
    }

    #[test]
    fn other_folders_and_other_sweeps_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let config = Config {
            command: vec!["app".to_owned()],
            ..Config::default()
        };
        std::fs::write(dir.path().join("mine"), "x").unwrap();
        let error = Record::begin(dir.path(), &config).unwrap_err().to_string();
        assert!(error.contains("not empty"), "{error}");
        let dir = tempfile::tempdir().unwrap();
        drop(Record::begin(dir.path(), &config).unwrap());
        let other = Config {
            command: vec!["other".to_owned()],
            ..Config::default()
        };
        let error = Record::begin(dir.path(), &other).unwrap_err().to_string();
        assert!(error.contains("another command"), "{error}");
    }
}
