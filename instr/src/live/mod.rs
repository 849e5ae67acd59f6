//! `instr live`: what a running program does, by the files of its trace. `docs/live.md` says what is shown.
//!
//! | module | job |
//! |---|---|
//! | `target` | which trace a user means |
//! | `process`, `watch` | a process that is followed, and what it did so far |
//! | `picture` | the numbers of a moment |
//! | `text`, `screen` | as lines, and on a terminal |

mod picture;
mod process;
mod screen;
mod target;
mod text;
mod watch;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::cli::{LiveOptions, SymbolOptions};
use crate::console::{Console, NO_OUTPUT};
use crate::page::Page;
use picture::{Before, Picture};
use process::{Process, State};

/// Processes that are followed: those that others fork or start are found while they run.
const MOST: usize = 64;
/// Threads that a picture in a pipe has.
const ROWS: usize = 40;
/// Time between two pictures unless the user says otherwise.
const INTERVAL: Duration = Duration::from_millis(500);

/// Runs the command.
///
/// # Errors
///
/// Nothing that writes a trace has this name, and failures of the terminal.
pub fn run(options: &LiveOptions, console: &mut Console<'_>) -> Result<()> {
    let dir = target::find(&options.target)?;
    let mut session = Session {
        processes: vec![Process::new(&dir)],
        known: vec![dir],
        before: Before::default(),
        symbols: &options.symbols,
    };
    let interval = options.interval.unwrap_or(INTERVAL);
    if console.height.is_some() && !options.once && !options.json {
        console.out.flush().context(NO_OUTPUT)?;
        return screen::run(&mut session, interval, console.colour, console.is_ascii());
    }
    // Rates need two looks; what has ended has none.
    let mut picture = session.look()?;
    if session
        .processes
        .iter()
        .any(|process| process.state == State::Running)
    {
        std::thread::sleep(interval);
        picture = session.look()?;
    }
    if options.json {
        serde_json::to_writer_pretty(&mut *console.out, &picture).context(NO_OUTPUT)?;
        return writeln!(console.out).context(NO_OUTPUT);
    }
    let lines = text::all(&picture, ROWS);
    let write = |page: &mut Page<'_>| {
        use std::io::Write as _;
        lines
            .iter()
            .try_for_each(|line| writeln!(page, "{}", line.trim_end()))
    };
    console.page(ROWS, write).context(NO_OUTPUT)
}

/// A process, and all that it forked or started.
struct Session<'a> {
    processes: Vec<Process>,
    known: Vec<PathBuf>,
    before: Before,
    symbols: &'a SymbolOptions,
}

impl Session<'_> {
    /// Reads what is new, and gives the numbers of the moment.
    fn look(&mut self) -> Result<Picture> {
        let mut at = 0;
        while at < self.processes.len() {
            let looked = self.processes[at].look(self.symbols);
            if at == 0 {
                looked?;
            }
            for child in self.processes[at].children.clone() {
                if self.known.len() < MOST && !self.known.contains(&child) {
                    self.processes.push(Process::new(&child));
                    self.known.push(child);
                }
            }
            at += 1;
        }
        Ok(picture::take(&mut self.processes, &mut self.before))
    }
}
