//! What `instr run` says when the program has ended.

use std::io;
use std::path::{Path, PathBuf};

use instr_trace::Metadata;

use super::owner;
use super::tree::{Moved, Tree, Untraced, VARIABLE};
use crate::console::Console;
use crate::find;
use crate::kernel::Finished;
use crate::quote::{shown, typed};
use crate::runs;
use crate::series::Told;
use crate::settings;
use crate::summary::units::counted;
use crate::why::{self, Contents, Question};

/// Traces that are named.
const SHOWN: usize = 8;

/// Puts what was recorded of the processors, and of started programs, in its place, when the program's `process` has ended. Says where the trace is; else why there is none, unless that is
/// `known`.
pub(super) fn report(
    question: &Question<'_>,
    begin: u64,
    known: bool,
    (process, finished, tree): (u32, Option<io::Result<Finished>>, Option<Tree>),
    console: &mut Console<'_>,
) {
    let place = question.place();
    let mut found = not_of_others(made_since(&place, begin));
    let has_more = tree.as_ref().is_some_and(|tree| !tree.traces().is_empty());
    let pid = match &finished {
        Some(Ok(finished)) => Some(u64::from(finished.pid())),
        _ => None,
    };
    let untraced = tree.as_ref().map(Tree::untraced).unwrap_or_default();
    let (of_program, of_started): (Vec<_>, Vec<_>) = untraced
        .into_iter()
        .partition(|one| one.pid == u64::from(process));
    let mine = match finished {
        Some(finished) => put(question, &found, &place, (finished, has_more), console),
        None => None,
    };
    // The trace of the run: of its own process, or what was made for it.
    let own = found
        .iter()
        .position(|(_, metadata)| Some(metadata.pid) == pid);
    let run = own.map(|at| found[at].0.clone());
    let run = run.or_else(|| mine.as_ref().map(|(dir, _)| dir.clone()));
    let started = match (tree, &run) {
        (Some(tree), Some(run)) => tree.put(run),
        (Some(tree), None) => tree.put(&place),
        (None, _) => Moved::default(),
    };
    if let Some(own) = own.filter(|_| !started.traces.is_empty()) {
        let own = found.swap_remove(own);
        found = vec![own];
    }
    tell_of_started(&started, console);
    tell_of_untraced(&of_started, console);
    let found = named(found, &place);
    let more = |dir: &Path| {
        if Some(dir) == run.as_deref() {
            started.traces.len()
        } else {
            0
        }
    };
    for (dir, metadata) in found.iter().take(SHOWN) {
        console.note(&described(dir, metadata, more(dir)));
        if let Some(trouble) = settings::trouble(metadata) {
            console.warn(&format!("settings: {trouble}"));
        }
    }
    if found.len() > SHOWN {
        console.note(&format!("and {} more traces", found.len() - SHOWN));
    }
    if let Some((dir, metadata)) = &mine {
        console.note(&described(dir, metadata, more(dir)));
    }
    let is_enough = has_more || !expects_more(question);
    if let Some(untraced) = of_program.first().filter(|_| found.is_empty()) {
        let (own, why) = (shown(question.program), why_not(untraced));
        console.warn(&match mine {
            Some(_) => format!("{own} recorded nothing itself: its trace could not be made: {why}"),
            None => format!("no trace was made at {}: {why}", shown(&place)),
        });
        return;
    }
    if !found.is_empty() || known || (mine.is_some() && is_enough) {
        return;
    }
    let mut text = match mine {
        Some(_) => format!("{} recorded nothing itself", shown(question.program)),
        None => format!("no trace was made at {}", shown(&place)),
    };
    let reasons = question.reasons();
    for reason in &reasons {
        text += &format!("\n  note: {}", reason.note);
        text += &reason
            .help
            .as_ref()
            .map_or(String::new(), |help| format!("\n  help: {help}"));
    }
    if reasons.is_empty() {
        text += "\n  note: the program ended before main, or closed every file it may open\n  help: INSTR_VERBOSE=1 has the program say why it is not traced";
    }
    console.warn(&text);
}

/// What is wrong with the traces of started programs, and where those are that could not be put into the trace of the run.
fn tell_of_started(started: &Moved, console: &mut Console<'_>) {
    let mut told: Vec<String> = Vec::new();
    for trace in &started.traces {
        let metadata = Metadata::read(&trace.join("metadata")).ok();
        if let Some(trouble) = metadata.as_ref().and_then(settings::trouble)
            && !told.contains(&trouble)
        {
            console.warn(&format!("settings: {trouble}"));
            told.push(trouble);
        }
    }
    let Some(left) = &started.left else {
        return;
    };
    if started.live > 0 {
        let who = match started.live {
            1 => "1 started process lives on; its trace is".to_owned(),
            live => format!("{live} started processes live on; their traces are"),
        };
        console.note(&format!("{who} in {}", shown(left)));
    }
    if let Some(error) = &started.trouble {
        console.warn(&format!(
            "traces of started programs could not be put into the trace of the run and are in {}: {}",
            shown(left),
            instr_trace::new_file::plain(io::Error::from(error.kind()))
        ));
    }
}

/// Processes that were started or forked, wanted to record something and could not.
fn tell_of_untraced(untraced: &[Untraced], console: &mut Console<'_>) {
    let Some(first) = untraced.first() else {
        return;
    };
    let others = match untraced.len() - 1 {
        0 => String::new(),
        others => format!(" (and {others} more)"),
    };
    console.warn(&format!(
        "process {}{others} recorded nothing: its trace could not be made: {}",
        first.pid,
        why_not(first)
    ));
}

fn why_not(untraced: &Untraced) -> String {
    let code = untraced.error.as_ref().and_then(io::Error::raw_os_error);
    match code {
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => "its place is not this user's alone, or holds something else".to_owned(),
    }
}

/// A program that calls OpenMP, or was built to be traced, should have a trace of its own.
fn expects_more(question: &Question<'_>) -> bool {
    matches!(
        why::contents(question.program),
        Some(Contents::Instrumented | Contents::Plain { openmp: true })
    )
}

/// The number of an earlier run that stays the newest one, since the program might have recorded something itself as that did, and has not.
fn displaced(question: &Question<'_>, place: &Path) -> Option<u64> {
    let earlier = Metadata::read(&place.join("metadata")).ok()?;
    let is_whole = !earlier.empty && place.join("thread_0000").exists();
    (is_whole && expects_more(question)).then(|| earlier.run.unwrap_or(1))
}

/// Puts the recording into the trace of the program's process, if it made one; else into a new trace, which is returned.
fn put(
    question: &Question<'_>,
    found: &[(PathBuf, Metadata)],
    place: &Path,
    (finished, has_more): (io::Result<Finished>, bool),
    console: &mut Console<'_>,
) -> Option<(PathBuf, Metadata)> {
    let put = |finished: Finished, console: &mut Console<'_>| {
        if finished.lost() > 0 {
            console.warn(&format!(
                "{} events of context switches were lost: they came faster than they could be read",
                finished.lost()
            ));
        }
        say_series(finished.series(), console);
        let (pid, sums) = (u64::from(finished.pid()), finished.only_sums());
        if let Some(trouble) = finished.trouble().filter(|_| !sums) {
            console.warn(&format!("context switches: {trouble}"));
        }
        let own = found.iter().find(|(_, metadata)| metadata.pid == pid);
        if !finished.is_wanted() && (own.is_some() || !has_more) {
            return Ok(None);
        }
        if let Some((dir, _)) = own {
            return finished.put(dir).map(|()| None);
        }
        let mut owner = owner(question);
        let Some(before) = displaced(question, place).filter(|_| !has_more) else {
            return finished.put_new(place, &owner).map(Some);
        };
        owner.keep = 0;
        owner.empty = Some(before + 1);
        let mut name = place.file_name().unwrap_or_default().to_owned();
        name.push(".empty");
        finished
            .put_new(&place.with_file_name(name), &owner)
            .map(Some)
    };
    match finished.and_then(|finished| put(finished, console)) {
        Ok(dir) => dir.and_then(|dir| {
            let metadata = Metadata::read(&dir.join("metadata")).ok()?;
            Some((dir, metadata))
        }),
        Err(error) => {
            console.warn(&format!(
                "the context switches could not be put into {}: {}",
                shown(place),
                instr_trace::new_file::plain(error)
            ));
            None
        }
    }
}

/// The traces in the folder of `place` that began at this time or later, ns since 1970.
fn made_since(place: &Path, begin: u64) -> Vec<(PathBuf, Metadata)> {
    let read = |dir: PathBuf| {
        let metadata = Metadata::read(&dir.join("metadata")).ok()?;
        (metadata.start_realtime_ns >= begin).then_some((dir, metadata))
    };
    let all = find::all_in(runs::folder_of(place)).into_iter();
    all.filter_map(read).collect()
}

/// Without those that another `instr run` at the same time has made, unless there are no others: the program may have started that one.
fn not_of_others(found: Vec<(PathBuf, Metadata)>) -> Vec<(PathBuf, Metadata)> {
    let launcher = format!("{}:", std::process::id());
    let is_of_other = |metadata: &Metadata| {
        let mut settings = metadata.settings.iter();
        settings.any(|(name, value)| name == VARIABLE && !value.starts_with(&launcher))
    };
    let (others, own): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(_, metadata)| is_of_other(metadata));
    if own.is_empty() { others } else { own }
}

/// Those named after `place`, or all if none is (a script starts other programs).
fn named(mut found: Vec<(PathBuf, Metadata)>, place: &Path) -> Vec<(PathBuf, Metadata)> {
    let name = place.file_name().unwrap_or_default().as_encoded_bytes();
    let is_named = |dir: &Path| {
        let own = dir.file_name().unwrap_or_default().as_encoded_bytes();
        own.starts_with(name)
    };
    if found.iter().any(|(dir, _)| is_named(dir)) {
        found.retain(|(dir, _)| is_named(dir));
    }
    found
}

/// `more`: programs that were started, whose traces are in this one.
pub(crate) fn described(dir: &Path, metadata: &Metadata, more: usize) -> String {
    let dir = dir.strip_prefix("./").unwrap_or(dir);
    let program = shown(&metadata.program);
    if metadata.empty && more == 0 {
        return match runs::is_earlier(dir) {
            true => format!(
                "{program} made no call that is recorded; the trace before it stays {}",
                shown(runs::base(dir))
            ),
            false => format!(
                "{program} made no call that is recorded: {} is empty",
                shown(dir)
            ),
        };
    }
    let run = metadata
        .run
        .map_or(String::new(), |run| format!(" (run {run})"));
    let state = if metadata.closed { "" } else { ", not closed" };
    let more = match more {
        0 => String::new(),
        more => format!(", with {}", counted(more as u64, "started program")),
    };
    format!(
        "trace: {}{run}{state}{more}; instr summary {} shows it",
        shown(dir),
        typed(dir)
    )
}

/// Says what was found of series while the program ran.
pub(crate) fn say_series(told: &Told, console: &mut Console<'_>) {
    super::say_refused(&told.refused, console);
    if let Some(trouble) = &told.trouble {
        console.warn(&format!("series: {trouble}"));
    }
}
