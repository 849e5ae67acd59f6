//! `instr query`: SQL over traces.

mod answer;
pub mod options;
mod prompt;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use instr_query::questions::{self, QUESTIONS};
use instr_query::{Engine, Limits, QueryError};

use self::options::QueryOptions;
use crate::console::{Console, NO_OUTPUT, Refusal, WrongUsage};
use crate::find;
use crate::output::write_to;
use crate::progress::Progress;
use crate::quote::{harmless, shown};
use crate::symbols::{
    as_names, damaged_kernel_streams, of_session, open_session, warn_of_losses, warn_of_unreadable,
};

use answer::Answer;

/// The longest statement that is read from a file.
const MAX_SQL: u64 = 1 << 20;

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, statements that are wrong or would do more than read, and failures to write.
pub fn run(options: &QueryOptions, console: &mut Console<'_>) -> Result<()> {
    if options.list {
        return list(console);
    }
    let (traces, sql) = words(options)?;
    let sql = match (sql, &options.file) {
        (Some(_), Some(_)) => {
            let why = "SQL is given twice: as a word, and by --file";
            return Err(WrongUsage(why.to_owned()).into());
        }
        (None, Some(file)) => Some(read(file)?),
        (None, None) if !std::io::stdin().is_terminal() => Some(read(Path::new("-"))?),
        (sql, _) => sql,
    };
    let session = open_session(&traces, console)?;
    let all = session.traces().iter();
    all.for_each(|trace| warn_of_losses(trace, console));
    let symbols = of_session(&session, &options.symbols);
    let names = as_names(&symbols);
    let limits = Limits {
        memory: options.memory << 20,
        time: options.time.map(Duration::from_secs),
        interrupted: Arc::default(),
    };
    let interrupted = limits.interrupted.clone();
    let engine = Engine::new(&session, &names, limits).map_err(|error| refusal(error, ""))?;
    match sql {
        Some(sql) => ask(&engine, &sql, options, console)?,
        None => prompt::run(&engine, options, &interrupted, console)?,
    }
    if engine.damaged_streams() > 0 {
        console.warn(&damaged_kernel_streams(engine.damaged_streams()));
    }
    let all = session.traces().iter();
    all.for_each(|trace| warn_of_unreadable(trace, console));
    symbols.iter().for_each(|symbols| symbols.report(console));
    Ok(())
}

/// Traces, and the statement if the last word is one: a question's name, or what has a blank in it and is no file.
fn words(options: &QueryOptions) -> Result<(Vec<PathBuf>, Option<String>)> {
    let here = || vec![PathBuf::from(".")];
    let paths = |words: &[OsString]| match words {
        [] => here(),
        words => words.iter().map(PathBuf::from).collect(),
    };
    let Some((last, before)) = options.words.split_last() else {
        return Ok((here(), None));
    };
    let text = last.to_string_lossy();
    if let Some(question) =
        questions::named(&text).filter(|_| find::trace(Path::new(last)).is_err())
    {
        return Ok((paths(before), Some(question.sql.to_owned())));
    }
    let is_sql = text.contains([' ', '\n', '\t', ';', '(']) || text.trim().is_empty();
    if is_sql && !Path::new(last).exists() {
        return Ok((paths(before), Some(text.into_owned())));
    }
    if let Err(error) = find::trace(Path::new(last)) {
        let near = questions::nearest(&text);
        // Behind a trace stands a question, rather than another trace.
        return match (near, before) {
            (Some(near), _) => Err(no_question(&text, near)),
            (None, [_, ..]) if !Path::new(last).exists() => Err(no_question(&text, "")),
            _ => Err(error),
        };
    }
    Ok((paths(&options.words), None))
}

fn no_question(text: &str, near: &str) -> anyhow::Error {
    let help = match near {
        "" => "instr query --list has the questions; SQL is one word: \"SELECT …\"".to_owned(),
        near => format!("did you mean {near}?"),
    };
    Refusal {
        message: format!("{text} is neither a trace nor a question"),
        notes: Vec::new(),
        help: Some(help),
    }
    .into()
}

/// The statement in a file; `-`: standard input.
fn read(file: &Path) -> Result<String> {
    let cannot = || format!("cannot read {}", file.display());
    let mut text = String::new();
    let read = match file == Path::new("-") {
        true => std::io::stdin()
            .lock()
            .take(MAX_SQL + 1)
            .read_to_string(&mut text),
        false => {
            let file = std::fs::File::open(file).with_context(cannot)?;
            file.take(MAX_SQL + 1).read_to_string(&mut text)
        }
    };
    let bytes = read.with_context(cannot)?;
    if bytes as u64 > MAX_SQL {
        let what = format!("{}: a statement has no more than 1 MiB", cannot());
        anyhow::bail!(what);
    }
    // As a word: the name of a question.
    let question = questions::named(text.trim());
    Ok(question.map_or(text, |question| question.sql.to_owned()))
}

/// Runs a statement and writes its answer to where the options say.
fn ask(
    engine: &Engine<'_>,
    sql: &str,
    options: &QueryOptions,
    console: &mut Console<'_>,
) -> Result<()> {
    let mut bar = Progress::new("reading", console);
    let path = options.output.as_deref().unwrap_or(Path::new("-"));
    is_not_read(path, options)?;
    let mut failed = None;
    let written = write_to(path, console, |out| {
        let mut answer = Answer::new(options.format, out);
        match engine.run(sql, &mut |done, total| bar.at(done, total), &mut answer) {
            Ok(()) => Ok(answer.finish()?),
            Err(QueryError::Output(error)) => Err(error.into()),
            // It is not the output's.
            Err(error) => {
                failed = Some(refusal(error, sql));
                anyhow::bail!("no answer")
            }
        }
    });
    failed.map_or(written, Err)
}

/// The answer does not take the place of the question.
fn is_not_read(output: &Path, options: &QueryOptions) -> Result<()> {
    let Some(file) = options.file.as_deref().filter(|_| output != Path::new("-")) else {
        return Ok(());
    };
    match (output.canonicalize(), file.canonicalize()) {
        (Ok(one), Ok(other)) if one == other => Err(Refusal {
            message: format!("cannot write {}: the statement is in it", shown(output)),
            notes: Vec::new(),
            help: Some("name another file: -o NAME".to_owned()),
        }
        .into()),
        _ => Ok(()),
    }
}

/// The error, with its place in the statement and what helps.
fn refusal(error: QueryError, sql: &str) -> anyhow::Error {
    let message = error.to_string();
    let (notes, help) = match error {
        QueryError::Output(error) => return error.into(),
        QueryError::Trace(error) => return error.into(),
        QueryError::Statement { offset, help, .. } => {
            let place = offset.map(|offset| place(sql, offset));
            let (place, notes) =
                place.map_or((String::new(), Vec::new()), |(place, shown)| (place, shown));
            let message = match place.is_empty() {
                true => format!("cannot run the query: {message}"),
                false => format!("cannot run the query, {place}: {message}"),
            };
            return Refusal {
                message,
                notes,
                help,
            }
            .into();
        }
        QueryError::Memory { needed, .. } => {
            let help = format!(
                "--memory {} lets it; or ask DuckDB, which needs less: instr export --format parquet (docs/query.md)",
                (needed >> 20) + 1
            );
            (Vec::new(), Some(help))
        }
        QueryError::Intermediate { .. } => {
            let help = "narrow it by WHERE or LIMIT; or --memory MIB; or ask DuckDB: instr export --format parquet (docs/query.md)";
            (Vec::new(), Some(help.to_owned()))
        }
        _ => (Vec::new(), None),
    };
    Refusal {
        message: format!("cannot run the query: {message}"),
        notes,
        help,
    }
    .into()
}

/// Line and column of a byte, both from 1, and the line with a mark below it.
fn place(sql: &str, offset: usize) -> (String, Vec<String>) {
    let before = sql.get(..offset).unwrap_or(sql);
    let line = before.matches('\n').count();
    let begin = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before[begin..].chars().count();
    let text = sql.lines().nth(line).unwrap_or("");
    // Long lines are shown around the place.
    let first = column.saturating_sub(50);
    let shown: String = text.chars().skip(first).take(100).collect();
    let shown = harmless(&shown.replace('\t', " "));
    let mark = format!("{}^", " ".repeat(column - first));
    let place = format!("line {}, column {}", line + 1, column + 1);
    (place, vec![format!("{shown}\n        {mark}")])
}

/// The questions.
fn list(console: &mut Console<'_>) -> Result<()> {
    let width = QUESTIONS
        .iter()
        .map(|question| question.name.len())
        .max()
        .unwrap_or(0);
    for question in QUESTIONS {
        writeln!(console.out, "{:width$}  {}", question.name, question.about).context(NO_OUTPUT)?;
    }
    writeln!(
        console.out,
        "\ninstr query DIR NAME asks one; docs/query.md has their SQL, docs/tables.md the tables."
    )
    .context(NO_OUTPUT)
}

#[cfg(test)]
mod tests;
