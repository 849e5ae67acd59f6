//! `instr extract`: a trace directory from what a board without a file system gave: its console's text, a dump of its memory, or a
//! core file. The files are those that the file sink would have written.
//!
//! | module | job |
//! |---|---|
//! | [`console`] | lines of the console sink among other text |
//! | [`image`] | the image of the RAM sink in a file with a target's memory |
//! | [`memory`] | where in a file memory is: raw dumps, ELF core files, S-records and listings of debug monitors |
//! | [`text`] | the metadata: what is the same in every trace, and what is missing |
//! | [`writer`] | the trace directory: complete packets, cut ones, metadata |

pub mod console;
pub mod image;
pub mod memory;
pub mod text;
pub mod writer;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use instr_trace::Trace;

use crate::cli::ExtractOptions;
use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::summary::units::{counted, size};

/// Damage that is described line by line; more is counted.
const MAX_REPORTS: usize = 20;

/// What was lost on the way, for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// The first few places, in words.
    pub places: Vec<String>,
    /// All places.
    pub count: u64,
    /// Packets of which nothing or only the beginning was recovered.
    pub packets: u64,
    /// Traces in the input beside the one that was taken.
    pub other_traces: usize,
}

impl Losses {
    /// Notes one place.
    pub fn add(&mut self, place: impl FnOnce() -> String) {
        if self.places.len() < MAX_REPORTS {
            self.places.push(place());
        }
        self.count += 1;
    }
}

/// What was extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// The program's name, as far as it can be a file's.
    pub program: String,
    /// What was lost.
    pub losses: Losses,
}

/// Extracts the trace in `input` to the new directory `to`. `number` chooses among several traces of a console, from 1.
///
/// # Errors
///
/// When there is no trace in the file, or it cannot be read, or the directory cannot be written.
pub fn extract(input: &Path, to: &Path, number: Option<usize>) -> Result<Extracted> {
    let memory = memory::open(input)?;
    if let Some(memory) = &memory
        && let Some(image) = image::find(memory)?
    {
        return image::extract(memory, &image, to);
    }
    if memory.is_some_and(|m| m.only_memory) {
        return Err(nothing("an image in memory (INSTR_SINK=ram)"));
    }
    console::extract(input, to, number)
}

fn nothing(what: &str) -> anyhow::Error {
    Refusal {
        message: format!("it does not hold {what}"),
        notes: Vec::new(),
        help: Some(format!(
            "{} describes how to get a trace from a board",
            instr_cc::documents::path("porting.md").display()
        )),
    }
    .into()
}

/// Runs the command.
///
/// # Errors
///
/// Inputs without a trace, an output that exists, and failures to read and write.
pub fn run(options: &ExtractOptions, console: &mut Console<'_>) -> Result<()> {
    let input = &options.input;
    let cannot = || format!("cannot extract a trace from {}", input.display());
    if let Some(output) = &options.output {
        refuse_existing(output)?;
    }
    let parent = options.output.as_deref().and_then(Path::parent);
    let parent = match parent {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = tempfile::Builder::new()
        .prefix(".instr-")
        .tempdir_in(parent)
        .map_err(instr_trace::new_file::plain)
        .with_context(|| format!("cannot make a directory in {}", parent.display()))?;
    let inner = temporary.path().join("trace");
    let done = extract(input, &inner, options.trace).with_context(cannot)?;
    report(&done.losses, input, console);
    let output = match &options.output {
        Some(output) => output.clone(),
        None => PathBuf::from(format!("{}.instr", done.program)),
    };
    refuse_existing(&output)?;
    let trace = Trace::open(&inner).with_context(cannot)?;
    let summary = format!(
        "{}: {}, {}",
        output.display(),
        counted(trace.threads().len() as u64, "thread"),
        size(trace.bytes())
    );
    drop(trace);
    std::fs::rename(&inner, &output)
        .with_context(|| format!("cannot make {}", output.display()))?;
    writeln!(console.out, "{summary}").context(NO_OUTPUT)
}

fn report(losses: &Losses, input: &Path, console: &mut Console<'_>) {
    for place in &losses.places {
        console.warn(&format!("{}: {place}", input.display()));
    }
    let shown = losses.places.len() as u64;
    if losses.count > shown {
        console.warn(&format!(
            "{}: {} more places are damaged",
            input.display(),
            losses.count - shown
        ));
    }
    if losses.packets > 0 {
        let packets = counted(losses.packets, "packet");
        console.warn(&format!(
            "{packets} lost, or cut where bytes were missing; the rest is whole"
        ));
    }
    if losses.other_traces > 0 {
        let others = counted(losses.other_traces as u64, "other trace");
        console.warn(&format!(
            "{} holds {others}; --trace=NUMBER takes another than the last",
            input.display()
        ));
    }
}

fn refuse_existing(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(Refusal {
        message: format!("cannot make {}: it exists", path.display()),
        notes: Vec::new(),
        help: Some("name a directory that does not exist, with -o".to_owned()),
    }
    .into())
}

/// A program's name as part of a file's.
fn file_name(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
    let plain = |b: &u8| match b {
        b'.' | b'_' | b'-' | b'+' => char::from(*b),
        b if b.is_ascii_alphanumeric() => char::from(*b),
        _ => '_',
    };
    let name: String = bytes[..end.min(200)].iter().map(plain).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() {
        "program".to_owned()
    } else {
        name.to_owned()
    }
}
