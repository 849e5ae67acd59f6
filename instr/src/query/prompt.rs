//! Statements that are typed, one after another, with a history.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use instr_query::Engine;
use instr_query::questions::QUESTIONS;
use instr_tables::TABLES;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use signal_hook::consts::SIGINT;

use super::list;
use super::options::QueryOptions;
use crate::console::{Console, NO_OUTPUT};

/// Statements that are remembered.
const REMEMBERED: usize = 1000;

const HELP: &str = "SELECT …;          an answer; a statement ends with ;
NAME               a question of .questions
.tables            the tables, and what a row is
.schema TABLE      its columns
.questions         questions with names
.quit              the end, as Ctrl-D
Ctrl-C ends a statement that runs.";

/// Where statements are remembered: in the user's folder for states of programs.
fn history() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let states = set("XDG_STATE_HOME").map(PathBuf::from);
    let states = states.or_else(|| Some(PathBuf::from(set("HOME")?).join(".local/state")))?;
    Some(states.join("instr/query.history"))
}

/// Asks until the user ends it.
pub(super) fn run(
    engine: &Engine<'_>,
    options: &QueryOptions,
    interrupted: &Arc<AtomicBool>,
    console: &mut Console<'_>,
) -> Result<()> {
    crate::interrupted::ends_statements();
    let config = Config::builder()
        .max_history_size(REMEMBERED)
        .map(|config| config.auto_add_history(false).build());
    let cannot = "cannot read from the terminal";
    let mut editor =
        Editor::<(), FileHistory>::with_config(config.context(cannot)?).context(cannot)?;
    let history = history();
    if let Some(history) = &history {
        // There is none before the first time.
        let _ = editor.load_history(history);
    }
    writeln!(
        console.out,
        "SQL over the tables of docs/tables.md; .help says what else there is."
    )
    .context(NO_OUTPUT)?;
    let mut statement = String::new();
    loop {
        console.out.flush().context(NO_OUTPUT)?;
        let prompt = if statement.is_empty() {
            "instr> "
        } else {
            "  ...> "
        };
        match editor.readline(prompt) {
            Ok(line) => statement += &(line + "\n"),
            Err(ReadlineError::Interrupted) => {
                statement.clear();
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error).context(cannot),
        }
        let whole = statement.trim();
        let is_command =
            whole.starts_with('.') || QUESTIONS.iter().any(|question| question.name == whole);
        if whole.is_empty() {
            statement.clear();
        } else if is_command || whole.ends_with(';') {
            let whole = whole.to_owned();
            statement.clear();
            let _ = editor.add_history_entry(whole.replace('\n', " "));
            if matches!(whole.as_str(), ".quit" | ".exit") {
                break;
            }
            answer(engine, &whole, options, interrupted, console)?;
        }
    }
    if let Some(history) = &history {
        // Who cannot write there has no history.
        let _ = history.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(history);
    }
    Ok(())
}

/// What was typed, answered; only an output that cannot be written ends the prompt.
fn answer(
    engine: &Engine<'_>,
    typed: &str,
    options: &QueryOptions,
    interrupted: &Arc<AtomicBool>,
    console: &mut Console<'_>,
) -> Result<()> {
    if typed.starts_with('.') {
        return command(engine, typed, console);
    }
    interrupted.store(false, Ordering::Relaxed);
    let signal = signal_hook::flag::register(SIGINT, interrupted.clone());
    let question = QUESTIONS.iter().find(|question| question.name == typed);
    let sql = question.map_or(typed, |question| question.sql);
    let result = super::ask(engine, sql, options, console);
    if let Ok(signal) = signal {
        signal_hook::low_level::unregister(signal);
    }
    let is_refused = |error: &anyhow::Error| {
        error
            .chain()
            .any(|cause| cause.is::<crate::console::Refusal>())
    };
    match result {
        Err(error) if is_refused(&error) => {
            console.finish(Err(error));
            Ok(())
        }
        other => other,
    }
}

fn command(engine: &Engine<'_>, typed: &str, console: &mut Console<'_>) -> Result<()> {
    let mut words = typed.split_whitespace();
    let (name, argument) = (words.next().unwrap_or(""), words.next());
    let out = &mut console.out;
    match (name, argument) {
        (".help", _) => writeln!(out, "{HELP}").context(NO_OUTPUT),
        (".tables", _) => {
            for (table, (_, rows)) in TABLES.iter().zip(engine.rows()) {
                let rows = rows.map_or(String::new(), |rows| format!(" ({rows} rows)"));
                writeln!(out, "{:10} {}{rows}", table.name, table.about).context(NO_OUTPUT)?;
            }
            Ok(())
        }
        (".questions", _) => list(console),
        (".schema", None) => {
            for table in TABLES {
                let names: Vec<_> = table.columns.iter().map(|column| column.name).collect();
                writeln!(out, "{}: {}", table.name, names.join(", ")).context(NO_OUTPUT)?;
            }
            Ok(())
        }
        (".schema", Some(wanted)) => match instr_tables::table(wanted.trim_end_matches(';')) {
            Some(table) => {
                for column in table.columns {
                    let kind = instr_tables::document::type_name(column.kind);
                    writeln!(out, "{:20} {kind:8} {}", column.name, column.about)
                        .context(NO_OUTPUT)?;
                }
                Ok(())
            }
            None => {
                console.note(&format!("there is no table {wanted}; .tables has them"));
                Ok(())
            }
        },
        _ => {
            console.note(&format!("there is no {name}; .help says what there is"));
            Ok(())
        }
    }
}
