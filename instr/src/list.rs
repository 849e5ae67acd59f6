//! `instr list`: the traces in a folder, earlier runs included.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use comfy_table::{CellAlignment, ContentLineStyle, LineStyle, Table, TableStyle};
use instr_trace::kernel::Part;
use instr_trace::{Metadata, Session, Trace};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::cli::ListOptions;
use crate::console::{Console, NO_OUTPUT};
use crate::find;
use crate::runs;
use crate::summary::units::{counted, elide, size, time};

/// Folders of forked children nest no deeper.
const MAX_DEPTH: usize = 64;
/// Characters of the arguments in the table: as many as the page has room for, but no fewer and no more than these.
const ARGUMENTS: std::ops::RangeInclusive<usize> = 10..=60;
/// Characters of a name in the table.
const NAME: usize = 40;
/// A line below the header and nothing else.
const STYLE: TableStyle = TableStyle::new()
    .header_lines(ContentLineStyle::none().junction(' '))
    .header_separator(LineStyle::none().fill('-').junction(' '))
    .content_lines(ContentLineStyle::none().junction(' '));

/// A trace, as the list shows it.
#[derive(Debug, Serialize)]
struct Run {
    /// The folder.
    directory: String,
    /// What it belongs to: the folder of the newest run.
    newest: String,
    /// Number of the run, where it has one: an empty one has none.
    run: Option<u64>,
    program: String,
    /// The program's arguments, with a blank between them.
    arguments: Option<String>,
    /// The begin, ns since 1970.
    started_realtime_ns: Option<u64>,
    duration_ns: Option<u64>,
    /// Of all processes.
    threads: Option<u64>,
    processes: Option<u64>,
    /// On disk; what other names share (the program's file) is not counted.
    bytes: u64,
    state: State,
    /// Why the trace cannot be read.
    trouble: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// The trace was closed.
    Complete,
    /// It was closed, and nothing was recorded.
    Empty,
    /// It was not closed, and its process lives.
    Running,
    /// It was not closed: the program was killed, crashed, or became another one by exec.
    Killed,
    Unreadable,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Empty => "empty",
            Self::Running => "running",
            Self::Killed => "killed",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// Names that lead to no trace, folders that cannot be read, and failures to write.
pub fn run(options: &ListOptions, console: &mut Console<'_>) -> Result<()> {
    let mut found = Vec::new();
    for place in &options.places {
        found.extend(traces_of(place)?);
    }
    found.sort();
    found.dedup();
    let mut runs: Vec<Run> = found.iter().map(|dir| Run::of(dir)).collect();
    // The newest run of each program comes first, the empty one last.
    let order = |run: &Run| {
        let empty = run.directory.ends_with(".empty");
        let begin = std::cmp::Reverse(run.started_realtime_ns);
        (run.newest.clone(), empty, begin, std::cmp::Reverse(run.run))
    };
    runs.sort_by_cached_key(order);
    if options.json {
        serde_json::to_writer_pretty(&mut *console.out, &runs).context(NO_OUTPUT)?;
        return writeln!(console.out).context(NO_OUTPUT);
    }
    table(&runs, console).context(NO_OUTPUT)
}

/// All traces in a folder, or all runs of the program that a trace or program names.
fn traces_of(place: &Path) -> Result<Vec<PathBuf>> {
    if place.is_dir() && !runs::is_trace(place) {
        fs::read_dir(place).with_context(|| format!("cannot read {}", place.display()))?;
        return Ok(find::all_in(place));
    }
    let trace = find::trace(place)?;
    let base = match runs::is_earlier(&trace) {
        true => runs::base(&trace),
        false => trace.clone(),
    };
    let mut all: Vec<_> = runs::earlier(&base)
        .into_iter()
        .map(|(_, path)| path)
        .collect();
    all.extend(runs::empty(&base));
    all.extend(Some(base).filter(|base| runs::is_trace(base)));
    if all.is_empty() {
        all.push(trace); // its reader says what is wrong with it
    }
    Ok(all)
}

impl Run {
    fn of(dir: &Path) -> Self {
        let dir = dir.strip_prefix("./").unwrap_or(dir);
        let file = Metadata::file_in(dir).unwrap_or_else(|| dir.join("metadata"));
        let metadata = Metadata::read(&file);
        let session = Session::open(&[dir]);
        let trouble = session.as_ref().err().map(ToString::to_string);
        let metadata = metadata.unwrap_or_default();
        let traces = session.as_ref().map_or(&[][..], Session::traces);
        let opened = !traces.is_empty();
        let end = |process: usize| {
            let trace = &traces[process];
            session
                .as_ref()
                .map_or(0, |session| session.time(process, trace.end_time()))
        };
        let threads = traces
            .iter()
            .map(|trace| trace.threads().len() as u64)
            .sum();
        // Where the program recorded nothing itself, the launcher did.
        let part = Part::of_trace(dir).ok().flatten();
        let launched = part.as_ref().map(|part| part.info());
        let launched = launched.map(|info| {
            info.end_monotonic_ns
                .saturating_sub(info.start_monotonic_ns)
        });
        let with_events = traces.iter().any(|trace| !trace.threads().is_empty());
        let earlier = runs::is_earlier(dir);
        let newest = if earlier {
            runs::base(dir)
        } else {
            dir.to_owned()
        };
        let own = metadata.run.filter(|_| !metadata.empty);
        let number = runs::number(dir).filter(|_| earlier).or(own);
        Self {
            directory: dir.display().to_string(),
            newest: newest.display().to_string(),
            run: number,
            state: if opened {
                state(&metadata)
            } else {
                State::Unreadable
            },
            program: metadata.program,
            arguments: metadata.arguments,
            started_realtime_ns: Some(metadata.start_realtime_ns).filter(|ns| *ns != 0),
            // Where no event is, there is no end.
            duration_ns: match with_events {
                true => (0..traces.len())
                    .filter(|process| has_events(&traces[*process]))
                    .map(end)
                    .max(),
                false => launched,
            },
            threads: opened.then_some(threads),
            processes: opened.then_some(traces.len() as u64),
            bytes: bytes(dir, 0),
            trouble,
        }
    }
}

fn has_events(trace: &Trace) -> bool {
    let mut threads = trace.threads().iter();
    threads.any(|thread| thread.last_time > 0 || thread.packets > 0)
}

fn state(metadata: &Metadata) -> State {
    match (metadata.closed, metadata.empty) {
        (true, true) => State::Empty,
        (true, false) => State::Complete,
        (false, _) if lives(metadata) => State::Running,
        (false, _) => State::Killed,
    }
}

/// Whether the process of a trace runs on this machine. Its number alone may be another's by now.
fn lives(metadata: &Metadata) -> bool {
    let here = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let program = fs::read_link(format!("/proc/{}/exe", metadata.pid));
    here.trim_end() == metadata.hostname
        && program.is_ok_and(|path| path.display().to_string() == metadata.executable)
}

/// Bytes of the files below a folder that have no other name.
fn bytes(dir: &Path, depth: usize) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let of_entry = |entry: fs::DirEntry| match entry.metadata() {
        Ok(status) if status.is_dir() && depth < MAX_DEPTH => bytes(&entry.path(), depth + 1),
        Ok(status) if status.is_file() && status.nlink() == 1 => {
            status.blocks().saturating_mul(512)
        }
        _ => 0,
    };
    entries.map(of_entry).fold(0, u64::saturating_add)
}

/// A moment in the local time of this machine.
fn local(ns: u64) -> String {
    let moment = Timestamp::from_nanosecond(i128::from(ns));
    let shown = |moment: Timestamp| {
        let zoned = moment.to_zoned(TimeZone::system());
        zoned.strftime("%Y-%m-%d %H:%M").to_string()
    };
    moment.map_or_else(|_| "?".to_owned(), shown)
}

/// The heads of the columns, and the rows. Counts are left out where lines would be longer than `width`.
fn cells(runs: &[Run], width: usize) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let several = runs.iter().any(|run| run.processes.unwrap_or(0) > 1);
    let or_dash = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    let number = |value: Option<u64>| or_dash(value.map(|value| value.to_string()));
    let column = |head: &'static str, cell: &dyn Fn(&Run) -> String| {
        (head, runs.iter().map(cell).collect::<Vec<_>>())
    };
    let mut columns = vec![
        column("trace", &|run| elide(&run.directory, NAME)),
        column("run", &|run| number(run.run)),
        column("started", &|run| {
            or_dash(run.started_realtime_ns.map(local))
        }),
        column("took", &|run| or_dash(run.duration_ns.map(time))),
        column("threads", &|run| number(run.threads)),
        column("processes", &|run| number(run.processes)),
        column("size", &|run| size(run.bytes)),
        column("state", &|run| run.state.word().to_owned()),
    ];
    columns.retain(|(head, _)| several || *head != "processes");
    let used = |columns: &[(&str, Vec<String>)]| -> usize {
        let wide = |(head, cells): &(&str, Vec<String>)| {
            let cells = cells.iter().map(|cell| cell.chars().count());
            cells.chain([head.len()]).max().unwrap_or(0) + 2
        };
        columns.iter().map(wide).sum()
    };
    for less in ["threads", "processes"] {
        if used(&columns) + ARGUMENTS.start() > width {
            columns.retain(|(head, _)| *head != less);
        }
    }
    let room = width.saturating_sub(used(&columns));
    let room = room.clamp(*ARGUMENTS.start(), *ARGUMENTS.end());
    columns.push(column("arguments", &|run| {
        elide(run.arguments.as_deref().unwrap_or(""), room)
    }));
    let row = |at: usize| columns.iter().map(|(_, cells)| cells[at].clone()).collect();
    let rows = (0..runs.len()).map(row).collect();
    (columns.iter().map(|(head, _)| *head).collect(), rows)
}

fn table(runs: &[Run], console: &mut Console<'_>) -> std::io::Result<()> {
    if runs.is_empty() {
        return writeln!(console.out, "no traces here");
    }
    let (header, rows) = cells(runs, console.width);
    let mut table = Table::new();
    table.load_style(STYLE).set_header(&header).add_rows(rows);
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if ["run", "took", "threads", "processes", "size"].contains(&header[at]) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(console.out, "{}", line.trim_end())?;
    }
    let total = runs
        .iter()
        .fold(0, |sum, run| run.bytes.saturating_add(sum));
    writeln!(
        console.out,
        "{}, {}; NAME.3 is run 3 of NAME (INSTR_KEEP says how many stay)",
        counted(runs.len() as u64, "trace"),
        size(total)
    )?;
    for run in runs {
        if let Some(trouble) = &run.trouble {
            console.warn(&elide(trouble, 200));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use instr_trace::synth;

    use crate::console::Status;
    use crate::console::tests::instr;

    /// Replaces what stands in the metadata of a synthetic trace.
    fn edit(trace: &std::path::Path, from: &str, to: &str) {
        let path = trace.join("metadata");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    #[test]
    fn a_trace_without_an_event_took_no_time() {
        let dir = tempfile::tempdir().unwrap();
        let trace = dir.path().join("full.instr");
        fs::create_dir(&trace).unwrap();
        synth::tasks(&trace, synth::layouts()[0], 1, 40).unwrap();
        // Nothing of its streams found room.
        for entry in fs::read_dir(&trace).unwrap().flatten() {
            if entry.file_name() != "metadata" {
                fs::write(entry.path(), "").unwrap();
            }
        }
        let (status, out, err) =
            instr::<std::ffi::OsString>(&["list".into(), "--json".into(), dir.path().into()]);
        assert_eq!(status, Status::Done, "{err}");
        let runs: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert!(runs[0]["duration_ns"].is_null(), "{out}");
    }

    #[test]
    fn runs_are_listed_with_their_state_the_newest_first() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, run) in [("heat.instr.1", 1), ("heat.instr.2", 2), ("heat.instr", 3)] {
            fs::create_dir(at(name)).unwrap();
            synth::tasks(&at(name), synth::layouts()[0], 2, 40).unwrap();
            edit(
                &at(name),
                "env {",
                &format!("env {{ run = {run}; arguments = \"-n {run}\";"),
            );
        }
        fs::create_dir(at("broken.instr")).unwrap();
        fs::write(at("broken.instr/metadata"), "nonsense").unwrap();
        let (status, out, err) = instr(&["list", "--json", dir.path().to_str().unwrap()]);
        assert_eq!(status, Status::Done, "{err}");
        let runs: serde_json::Value = serde_json::from_str(&out).unwrap();
        let field = |name: &str| -> Vec<String> {
            let runs = runs.as_array().unwrap().iter();
            runs.map(|run| run[name].to_string()).collect()
        };
        assert_eq!(field("run"), ["null", "3", "2", "1"]);
        assert_eq!(
            field("arguments")[1..],
            ["\"-n 3\"", "\"-n 2\"", "\"-n 1\""]
        );
        assert_eq!(field("state")[0], "\"unreadable\"");
        assert_eq!(field("threads")[1..], ["2", "2", "2"]);
        let (status, out, err) = instr(&["list", at("heat").to_str().unwrap()]);
        assert_eq!(status, Status::Done, "{err}");
        assert!(
            out.contains("3 traces, ") && !out.contains("broken"),
            "{out}"
        );
    }

    #[test]
    fn an_empty_run_has_no_number_that_the_next_one_has_too() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, head) in [
            ("heat.instr.1", "run = 1;"),
            ("heat.instr.empty", "run = 2; empty = 1;"),
            ("heat.instr", "run = 2;"),
            ("new.instr", "run = 1; empty = 1;"),
        ] {
            fs::create_dir(at(name)).unwrap();
            synth::tasks(&at(name), synth::layouts()[0], 2, 40).unwrap();
            edit(&at(name), "env {", &format!("env {{ {head}"));
        }
        let (status, out, err) = instr(&["list", "--json", dir.path().to_str().unwrap()]);
        assert_eq!(status, Status::Done, "{err}");
        let runs: serde_json::Value = serde_json::from_str(&out).unwrap();
        let runs: Vec<_> = runs.as_array().unwrap().iter().collect();
        let numbers: Vec<_> = runs.iter().map(|run| run["run"].to_string()).collect();
        assert_eq!(numbers, ["2", "1", "null", "null"], "{out}");
    }

    #[test]
    fn a_folder_without_traces_is_no_error_and_a_missing_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let (status, out, _) = instr(&["list", dir.path().to_str().unwrap()]);
        assert_eq!((status, out.as_str()), (Status::Done, "no traces here\n"));
        let (status, ..) = instr(&["list", dir.path().join("none").to_str().unwrap()]);
        assert_eq!(status, Status::Refused);
    }

    #[test]
    fn only_a_process_of_the_same_program_makes_a_trace_a_running_one() {
        let own = std::env::current_exe().unwrap();
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let mut metadata = instr_trace::Metadata {
            pid: u64::from(std::process::id()),
            hostname: host.trim_end().to_owned(),
            executable: own.display().to_string(),
            ..Default::default()
        };
        assert_eq!(super::state(&metadata), super::State::Running);
        metadata.executable = "/bin/other".into();
        assert_eq!(super::state(&metadata), super::State::Killed);
        metadata.executable = own.display().to_string();
        metadata.hostname.push('x');
        assert_eq!(super::state(&metadata), super::State::Killed);
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        metadata.pid = u64::from(child.id());
        assert_eq!(super::state(&metadata), super::State::Killed);
    }
}
