//! Traces as files of other formats, as tables, as predictions and compared: fed with random traces of all kinds of events, in order and damaged. What is
//! written must be complete or not there at all.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::Result;
use instr_export::{FORMATS, Shape};
use instr_trace::Trace;

use super::Target;
use super::outputs::{Outputs, command, random_trace};
use crate::input::Input;
use crate::processor::processor_ms;
use crate::random::Random;
use crate::seeds::Seeds;

/// Processor time of all commands together: at least, and for each event, ms.
const BASE_MS: u64 = 4000;
const EVENTS_PER_MS: u64 = 5;

/// What is asked of the tables: joins, groups and orders over all that random traces have.
const QUESTIONS: [&str; 6] = [
    "SELECT sum(events) FROM processes",
    "SELECT kind, name, ended, count(*), sum(duration_ns), min(begin_ns), max(end_ns) FROM spans GROUP BY kind, name, ended ORDER BY 4 DESC, 1, 2, 3",
    "SELECT t.name, s.state, sum(s.duration_ns) FROM states s JOIN threads t ON t.thread = s.thread WHERE s.begin_ns > 100 GROUP BY 1, 2",
    "SELECT a.task, count(*), max(b.end_ns) FROM tasks a LEFT JOIN edges e ON e.to_task = a.task LEFT JOIN tasks b ON b.task = e.from_task GROUP BY a.task ORDER BY 2 DESC, 1 LIMIT 20",
    "SELECT what, kind, object_name, count(*) FROM sync WHERE duration_ns BETWEEN 10 AND 1000000 OR found IS NULL GROUP BY 1, 2, 3",
    "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM memory), (SELECT count(*) FROM samples), (SELECT count(*) FROM sensors), (SELECT count(*) FROM regions)",
];

/// Feeds `instr export`, `query`, `predict` and `diff`.
pub(crate) struct Exports(Outputs);

impl Exports {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self(Outputs::new()?))
    }
}

impl Target for Exports {
    fn seeds(&self, seeds: &Seeds) -> Result<Vec<Input>> {
        self.0.seeds(seeds)
    }

    fn fresh(&self, random: &mut Random) -> Option<Input> {
        random_trace(random).ok()
    }

    fn run(&mut self, input: &Input) -> bool {
        let folder = self.0.folder().join("trace");
        if input.write_folder(&folder).is_err() {
            return false;
        }
        let Ok(trace) = Trace::open(&folder) else {
            return false;
        };
        // Every event takes at least its header.
        let events = trace.bytes() / 8;
        drop(trace);
        let begin = processor_ms();
        let Ok(place) = tempfile::tempdir_in(self.0.folder()) else {
            return false;
        };
        let exported = export(&folder, place.path());
        ask(&folder);
        told(&["predict", "--threads", "1,3,64"], &[&folder]);
        told(
            &["predict", "--json", "--threads", "2", "--chunk", "3"],
            &[&folder],
        );
        told(&["diff", "--json"], &[&folder, &folder]);
        let (taken, most) = (processor_ms() - begin, BASE_MS + events / EVENTS_PER_MS);
        assert!(taken <= most, "{taken} ms for at most {events} events");
        exported
    }
}

/// Runs a command that may refuse the trace, and must not do worse; its status and output.
fn told(words: &[&str], traces: &[&Path]) -> (u8, String) {
    let traces = traces.iter().map(|trace| trace.as_os_str());
    let words: Vec<&OsStr> = words.iter().map(OsStr::new).chain(traces).collect();
    match command(&words) {
        Ok((status, out)) if status < 2 => (status, out),
        Ok((status, _)) => panic!("{words:?}: status {status}"),
        Err(why) => panic!("{words:?}: {why}"),
    }
}

/// In every format; whether one was written.
fn export(trace: &Path, place: &Path) -> bool {
    let mut any = false;
    for format in FORMATS {
        let out = place.join("out");
        let words = [
            "export",
            "--format",
            format.name,
            "-o",
            &out.to_string_lossy(),
        ];
        let (status, _) = told(&words, &[trace]);
        let right = match (status, format.shape()) {
            (0, Shape::File) => out.is_file(),
            (0, Shape::Folder) => out.is_dir(),
            _ => true,
        };
        assert!(right, "{}: nothing was written", format.name);
        any |= status == 0;
        if status == 0 {
            let removed = match out.is_dir() {
                true => std::fs::remove_dir_all(&out),
                false => std::fs::remove_file(&out),
            };
            removed.expect("the output can be removed");
        }
        let left = std::fs::read_dir(place).map_or(0, Iterator::count);
        assert_eq!(
            left, 0,
            "{} leaves something beside its output",
            format.name
        );
    }
    any
}

/// By SQL. The number of events is that of the summary.
fn ask(trace: &Path) {
    let summary = told(&["summary", "--json"], &[trace]);
    for (number, question) in QUESTIONS.iter().enumerate() {
        let words = ["query", "--format", "csv"].map(OsStr::new);
        let words: Vec<&OsStr> = words
            .into_iter()
            .chain([trace.as_os_str(), OsStr::new(question)])
            .collect();
        let (status, out) = match command(&words) {
            Ok((status, out)) if status < 2 => (status, out),
            other => panic!("{question}: {other:?}"),
        };
        if number == 0 && status == 0 && summary.0 == 0 {
            let events = out.lines().nth(1).unwrap_or("");
            assert_eq!(
                Some(events),
                super::outputs::events_of(&summary.1),
                "events"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutate::mutate;

    #[test]
    fn random_traces_and_mutations_of_them_pass_every_export() {
        let _one = crate::memory::COUNTS.lock().unwrap();
        let (mut target, mut random) = (Exports::new().unwrap(), Random::new(3));
        let mut accepted = 0;
        for _ in 0..6 {
            let mut input = target.fresh(&mut random).unwrap();
            let other = target.fresh(&mut random).unwrap();
            accepted += u32::from(target.run(&input));
            mutate(&mut input, &other, &mut random);
            target.run(&input);
        }
        assert!(accepted > 4, "{accepted}");
    }
}
