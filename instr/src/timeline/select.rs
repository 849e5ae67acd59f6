//! Which part of the time, and which threads, are shown.

use anyhow::Result;
use instr_trace::{Names, Session};

use crate::cli::PartOptions;
use crate::console::{Console, Refusal};
use crate::progress::Progress;
use crate::quote::harmless;
use crate::report::timeline::part::{Row, Window, end, rows, view};
use crate::summary::units::{elide, time as shown};

/// Names that a message lists.
const LISTED: usize = 8;
/// Characters of a name in a message.
const NAME: usize = 60;

/// The time that is shown, ns since the session's begin.
///
/// # Errors
///
/// A time behind the end, an empty one, and a region that was not executed.
pub(crate) fn time(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    options: &PartOptions,
    console: &mut Console<'_>,
) -> Result<(u64, u64)> {
    let last = end(session);
    match &options.region {
        Some(text) => region(session, names, text, console),
        None => between(options, last),
    }
}

/// The time that `--from` and `--to` name of one that ends at `last`.
///
/// # Errors
///
/// A time behind the end, or an empty one.
pub(crate) fn between(options: &PartOptions, last: u64) -> Result<(u64, u64)> {
    let from = options.from.unwrap_or(0);
    let to = options.to.unwrap_or(last).min(last);
    let asked = options.from.is_some() || options.to.is_some();
    if asked && (from >= last || from >= to) {
        let message = match from >= last {
            true => format!(
                "nothing is recorded behind {}: the time line ends at {}",
                shown(from),
                shown(last)
            ),
            false => format!("the time from {} to {} is empty", shown(from), shown(to)),
        };
        return Err(refusal(
            message,
            format!("choose a time between 0 and {}", shown(last)),
        ));
    }
    Ok((from, to))
}

/// The longest execution of what has this text in its name.
fn region(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    text: &str,
    console: &mut Console<'_>,
) -> Result<(u64, u64)> {
    let window = Window {
        from: 0,
        to: end(session),
        columns: 1,
    };
    let mut bar = Progress::new("looking for the region", console);
    let found = view(session, names, window, &|_, _| false, &mut |done, total| {
        bar.at(done, total)
    })?;
    drop(bar);
    let all = found.executions(names);
    let fits = all.iter().filter(|(name, _)| name.contains(text));
    let longest = fits.max_by_key(|(_, at)| at.ns());
    let Some((name, at)) = longest else {
        let mut by_time = all;
        by_time.sort_by_key(|(_, at)| std::cmp::Reverse(at.ns()));
        let some = by_time
            .iter()
            .take(LISTED)
            .map(|(name, _)| elide(name, NAME));
        let listed: Vec<_> = some.collect();
        let help = match listed.is_empty() {
            true => "the trace has no regions, tasks or regions of the program's own".to_owned(),
            false => format!("there are: {}", listed.join(", ")),
        };
        return Err(refusal(
            format!("no region or task has \"{}\" in its name", harmless(text)),
            help,
        ));
    };
    console.note(&format!(
        "the longest execution of {}: {} from {}",
        elide(name, NAME),
        shown(at.ns()),
        shown(at.begin)
    ));
    Ok((at.begin, at.end.max(at.begin.saturating_add(1))))
}

/// Whether each thread of the session was asked for; `None`: all are.
///
/// # Errors
///
/// A word that fits no thread.
pub(crate) fn threads(session: &Session, words: &[String]) -> Result<Option<Vec<bool>>> {
    if words.is_empty() {
        return Ok(None);
    }
    let rows = rows(session);
    let mut chosen = vec![false; rows.len()];
    for word in words {
        let mut found = false;
        for (row, chosen) in rows.iter().zip(&mut chosen) {
            if fits(word, row) {
                (found, *chosen) = (true, true);
            }
        }
        if !found {
            let some: Vec<_> = rows
                .iter()
                .take(LISTED)
                .map(|row| format!("{} ({})", row.thread, elide(&row.name, NAME)))
                .collect();
            return Err(refusal(
                format!("no thread is \"{}\"", harmless(word)),
                format!(
                    "there are: {}{}",
                    some.join(", "),
                    if rows.len() > LISTED { " …" } else { "" }
                ),
            ));
        }
    }
    Ok(Some(chosen))
}

/// A number, a range of numbers, or a part of the name.
fn fits(word: &str, row: &Row) -> bool {
    let word = word.trim();
    if let Ok(number) = word.parse::<u32>() {
        return row.thread == number;
    }
    if let Some((first, last)) = word.split_once('-')
        && let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>())
    {
        return (first..=last).contains(&row.thread);
    }
    !word.is_empty() && row.name.contains(word)
}

fn refusal(message: String, help: String) -> anyhow::Error {
    Refusal {
        message,
        notes: Vec::new(),
        help: Some(help),
    }
    .into()
}
