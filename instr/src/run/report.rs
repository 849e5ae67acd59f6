//! What `instr run` says when the program has ended.

use std::io;
use std::path::{Path, PathBuf};

use instr_trace::Metadata;

use super::owner;
use crate::console::Console;
use crate::find;
use crate::kernel::Finished;
use crate::quote::{shown, typed};
use crate::runs;
use crate::settings;
use crate::why::{self, Contents, Question};

/// Traces that are named.
const SHOWN: usize = 8;

/// Puts what was recorded of the processors in its place. Says where the trace is; else why there is none, unless that is `known`.
pub(super) fn report(
    question: &Question<'_>,
    begin: u64,
    known: bool,
    finished: Option<io::Result<Finished>>,
    console: &mut Console<'_>,
) {
    let place = question.place();
    let found = made_since(&place, begin);
    let mine = match finished {
        Some(finished) => put(question, &found, &place, finished, console),
        None => None,
    };
    let found = named(found, &place);
    for (dir, metadata) in found.iter().take(SHOWN) {
        console.note(&described(dir, metadata));
        if let Some(trouble) = settings::trouble(metadata) {
            console.warn(&format!("settings: {trouble}"));
        }
    }
    if found.len() > SHOWN {
        console.note(&format!("and {} more traces", found.len() - SHOWN));
    }
    if let Some((dir, metadata)) = &mine {
        console.note(&described(dir, metadata));
    }
    if !found.is_empty() || known || (mine.is_some() && !expects_more(question)) {
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
    finished: io::Result<Finished>,
    console: &mut Console<'_>,
) -> Option<(PathBuf, Metadata)> {
    let put = |finished: Finished, console: &mut Console<'_>| {
        if finished.lost() > 0 {
            console.warn(&format!(
                "{} events of context switches were lost: they came faster than they could be read",
                finished.lost()
            ));
        }
        let (pid, sums) = (u64::from(finished.pid()), finished.only_sums());
        if let Some(trouble) = finished.trouble().filter(|_| !sums) {
            console.warn(&format!("context switches: {trouble}"));
        }
        if let Some((dir, _)) = found.iter().find(|(_, metadata)| metadata.pid == pid) {
            return finished.put(dir).map(|()| None);
        }
        let mut owner = owner(question);
        let Some(before) = displaced(question, place) else {
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

fn described(dir: &Path, metadata: &Metadata) -> String {
    let dir = dir.strip_prefix("./").unwrap_or(dir);
    let program = shown(&metadata.program);
    if metadata.empty {
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
    format!(
        "trace: {}{run}{state}; instr summary {} shows it",
        shown(dir),
        typed(dir)
    )
}
