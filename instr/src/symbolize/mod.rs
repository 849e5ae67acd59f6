//! `instr symbolize`: addr2line's options and output, JSON, many files, whole traces.
//!
//! | module | job |
//! |---|---|
//! | [`options`], [`arguments`] | what may be typed |
//! | `question`, `input` | what is asked, from the command line or a stream |
//! | `binaries`, `answer` | which file, which place in it, what is known of it |
//! | `text`, `json` | how it is shown |
//! | `traced` | the code addresses of a trace |

pub mod arguments;
pub mod options;

mod answer;
mod binaries;
mod input;
mod json;
mod question;
mod text;
mod traced;

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;

use anyhow::{Context, Result};

use crate::console::{Console, NO_OUTPUT};
use crate::quote::harmless;
use crate::symbols::open_trace;
use answer::{Answer, Session};
use binaries::Process;
use input::Lines;
use options::SymbolizeOptions;
use question::Question;

/// How much is read from standard input at once, bytes.
const INPUT_BYTES: usize = 1 << 20;

/// Addresses of the command line or of a trace that are looked up together.
const BATCH: usize = 1 << 14;

/// How many answers a thread spells out at once …
const PRINTED_TOGETHER: usize = 1 << 12;

/// … and how many threads there are at most.
const MAX_THREADS: usize = 16;

/// Runs the command: addresses of the command line, else those of the trace or on standard input. What is ready on
/// standard input is answered at once, so that the command can serve another program through pipes.
///
/// # Errors
///
/// Files that are no program, traces that cannot be read, and failures to read or write.
pub fn run(options: &SymbolizeOptions, console: &mut Console<'_>) -> Result<()> {
    // The process ends with the command: giving back every answer one by one would take a tenth of the time.
    let mut session = ManuallyDrop::new(Session::new(options));
    let dash = options.values.len() == 1 && options.values[0] == "-";
    let mut questions: Vec<Question> = match dash {
        true => Vec::new(),
        false => options
            .values
            .iter()
            .map(|value| Question::parse(value.as_encoded_bytes()))
            .collect(),
    };
    let mut from_input = questions.is_empty();
    if let Some(dir) = &options.trace {
        let trace = open_trace(dir, console)?;
        session.set_process(Process::new(&trace));
        if from_input && !dash {
            questions = traced::code_addresses(&trace)?;
            from_input = false;
        }
    } else if options.exe.is_some() {
        session.open_program(console)?;
    }
    if from_input {
        let waiting = !stdin_is_file();
        let input = BufReader::with_capacity(INPUT_BYTES, io::stdin().lock());
        let lines = Lines::new(input, waiting);
        return from_stream(lines, &mut session, options, console);
    }
    questions
        .chunks(BATCH)
        .try_for_each(|batch| answer_all(batch, &mut session, options, console))
}

/// Whether standard input is a regular file, which nobody writes answer by answer.
fn stdin_is_file() -> bool {
    let owned = io::stdin().as_fd().try_clone_to_owned();
    owned.is_ok_and(|fd| File::from(fd).metadata().is_ok_and(|data| data.is_file()))
}

fn from_stream(
    mut lines: Lines<impl BufRead>,
    session: &mut Session<'_>,
    options: &SymbolizeOptions,
    console: &mut Console<'_>,
) -> Result<()> {
    loop {
        let batch = lines.next_batch().context("cannot read standard input")?;
        if batch.is_empty() {
            return Ok(());
        }
        let questions: Vec<_> = batch.iter().map(|line| Question::parse(line)).collect();
        answer_all(&questions, session, options, console)?;
    }
}

/// Prints the answers to a batch of questions.
fn answer_all(
    questions: &[Question],
    session: &mut Session<'_>,
    options: &SymbolizeOptions,
    console: &mut Console<'_>,
) -> Result<()> {
    let answers = session.answers(questions, console)?;
    if options.json {
        for answer in answers {
            json::print(&answer, console.out).context(NO_OUTPUT)?;
        }
    } else {
        // Programs that read the answers get names as they are, as from addr2line.
        let is_shown = console.height.is_some();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for part in answers.chunks(cores.min(MAX_THREADS) * PRINTED_TOGETHER) {
            for text in texts(part, options) {
                let written = match is_shown {
                    true => console
                        .out
                        .write_all(harmless(&String::from_utf8_lossy(&text)).as_bytes()),
                    false => console.out.write_all(&text),
                };
                written.context(NO_OUTPUT)?;
            }
        }
    }
    console.out.flush().context(NO_OUTPUT)
}

/// The answers as text, in their order; from some thousands on, several threads spell them out.
fn texts(answers: &[Answer<'_>], options: &SymbolizeOptions) -> Vec<Vec<u8>> {
    let text = |answers: &[Answer<'_>]| {
        let mut text = Vec::with_capacity(answers.len() * 64);
        for answer in answers {
            text::print(answer, options, &mut text);
        }
        text
    };
    let mut parts = answers.chunks(PRINTED_TOGETHER);
    let Some(first) = parts.next() else {
        return Vec::new();
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = parts
            .map(|part| (part, scope.spawn(move || text(part))))
            .collect();
        let mut texts = vec![text(first)];
        for (part, thread) in others {
            texts.push(thread.join().unwrap_or_else(|_| text(part)));
        }
        texts
    })
}

#[cfg(test)]
mod tests {
    use crate::console::Status;
    use crate::console::tests::instr;

    #[test]
    fn files_that_are_no_program_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in ["/nonexistent/a.out", "/", file.path().to_str().unwrap()] {
            let (status, out, err) = instr(&["symbolize", "-e", path, "0"]);
            assert_eq!((status, out.as_str()), (Status::Refused, ""), "{path}");
            assert!(
                err.starts_with(&format!("instr: error: cannot read {path}: ")),
                "{err}"
            );
        }
    }

    #[test]
    fn every_word_is_a_question() {
        let exe = std::env::current_exe().unwrap().into_os_string();
        let (status, out, _) = instr(&[
            "symbolize".into(),
            "-ae".into(),
            exe,
            "zz".into(),
            "-".into(),
        ]);
        let zero = "0x0000000000000000\n??:0\n";
        assert_eq!((status, out), (Status::Done, zero.repeat(2)));
    }

    #[test]
    fn styles_and_options_that_nobody_knows_are_wrong_usage() {
        for word in ["--demangle=cobol", "-q", "--path-map=x", "--adjust-vma=x"] {
            let (status, out, err) = instr(&["symbolize", word, "0"]);
            assert_eq!((status, out.as_str()), (Status::Usage, ""), "{word}");
            assert!(err.starts_with("instr: error: "), "{err}");
        }
    }

    #[test]
    fn help_and_version_have_addr2lines_letters() {
        for letter in ["-h", "-H", "--help"] {
            let (status, out, _) = instr(&["symbolize", letter]);
            assert!(
                status == Status::Done && out.contains("--pretty-print"),
                "{out}"
            );
        }
        for letter in ["-v", "-V", "--version"] {
            let (status, out, _) = instr(&["symbolize", letter]);
            assert!(
                status == Status::Done && out.contains("addr2line 2.40"),
                "{out}"
            );
        }
    }

    #[test]
    fn unknown_addresses_are_answered_as_addr2line_does() {
        let exe = std::env::current_exe().unwrap().into_os_string();
        let answer = |flags: &str| {
            let (status, out, _) = instr(&[
                "symbolize".into(),
                "-e".into(),
                exe.clone(),
                flags.into(),
                "fffffffffffffff0".into(),
            ]);
            assert_eq!(status, Status::Done);
            out
        };
        assert_eq!(answer("-s"), "??:0\n");
        assert_eq!(answer("-f"), "??\n??:0\n");
        assert_eq!(answer("-fp"), "?? ??:0\n");
        assert_eq!(answer("-a"), "0xfffffffffffffff0\n??:0\n");
        assert_eq!(answer("-afp"), "0xfffffffffffffff0: ?? ??:0\n");
    }
}
