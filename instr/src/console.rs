//! Standard streams, messages and exit statuses: the only place that writes to the error stream.

use std::io::{self, IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Context, Result};

use crate::locale;
use crate::page::{self, Page};
use crate::quote::harmless;

/// Context of failures to write to standard output.
pub const NO_OUTPUT: &str = "cannot write to standard output";

/// Exit status of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The work is done.
    Done = 0,
    /// The input was refused.
    Refused = 1,
    /// The command line was wrong.
    Usage = 2,
    /// A bug of ours.
    Bug = 3,
}

/// The streams a command talks to.
pub struct Console<'a> {
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
    /// Whether tables may be coloured (standard output is a terminal and `NO_COLOR` is not set).
    pub colour: bool,
    /// Whether progress may be shown (standard error is a terminal).
    pub progress: bool,
    /// Characters of a line of standard output: those of the terminal, else `COLUMNS`, else 80.
    pub width: usize,
    /// Lines of the terminal that standard output is; nothing elsewhere.
    pub height: Option<usize>,
}

/// A refusal with facts and advice, printed below the message.
#[derive(Debug)]
pub struct Refusal {
    /// What failed, where and why.
    pub message: String,
    /// Facts.
    pub notes: Vec<String>,
    /// Something the user can do.
    pub help: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

/// A command line that parses but makes no sense: exit status 2.
#[derive(Debug)]
pub struct WrongUsage(pub String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

impl Console<'_> {
    /// Prints `instr: warning: MESSAGE`.
    pub fn warn(&mut self, message: &str) {
        // A closed error stream is no reason to stop working.
        let _ = writeln!(self.err, "instr: warning: {}", harmless(message));
    }

    /// Lets `write` fill a page of text for people, `rows` rows of each table, and shows it: by a pager where it is longer than the
    /// terminal is high.
    ///
    /// # Errors
    ///
    /// Those of standard output.
    pub fn page(
        &mut self,
        rows: usize,
        write: impl FnOnce(&mut Page<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut text = Vec::new();
        let mut page = Page::new(&mut text, self.width, rows, self.colour);
        page.ascii = self.is_ascii();
        write(&mut page)?;
        crate::pager::write(&text, self.height, self.out)
    }

    /// Whether standard output is a terminal that shows no UTF-8. Files and pipes get UTF-8 in every locale.
    pub fn is_ascii(&self) -> bool {
        self.height.is_some() && !locale::is_utf8(|name| std::env::var_os(name))
    }

    /// Prints `instr: MESSAGE`.
    pub fn note(&mut self, message: &str) {
        let _ = writeln!(self.err, "instr: {}", harmless(message));
    }

    /// Turns a command's result into a status and prints what went wrong.
    pub fn finish(&mut self, result: Result<()>) -> Status {
        let result = result.and_then(|()| self.out.flush().context(NO_OUTPUT));
        let Err(error) = result else {
            return Status::Done;
        };
        if is_broken_pipe(&error) {
            return Status::Done;
        }
        let _ = writeln!(self.err, "instr: error: {}", harmless(&chain(&error)));
        for refusal in error
            .chain()
            .filter_map(|cause| cause.downcast_ref::<Refusal>())
        {
            for note in &refusal.notes {
                let _ = writeln!(self.err, "  note: {}", harmless(note));
            }
            if let Some(help) = &refusal.help {
                let _ = writeln!(self.err, "  help: {}", harmless(help));
            }
        }
        match error.chain().any(|cause| cause.is::<WrongUsage>()) {
            true => Status::Usage,
            false => Status::Refused,
        }
    }

    /// Prints what the command line parser says: help and version to standard output, the rest as an error.
    pub fn usage(&mut self, error: &clap::Error) -> Status {
        let text = error.render();
        if error.use_stderr() {
            let _ = match error.kind() {
                clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                    write!(self.err, "{text}")
                }
                _ => {
                    // Advice looks as in all messages.
                    let text = text.to_string().replace("\n\n  tip: ", "\n  help: ");
                    let text = text.replace("\n  tip: ", "\n  help: ");
                    write!(self.err, "instr: {}", harmless(&text))
                }
            };
            return Status::Usage;
        }
        let printed = match self.colour {
            true => write!(self.out, "{}", text.ansi()),
            false => write!(self.out, "{text}"),
        };
        self.finish(printed.context(NO_OUTPUT))
    }
}

/// Runs `body` with the process's streams; a panic becomes a message and [`Status::Bug`].
pub fn with_process_streams(body: impl FnOnce(&mut Console<'_>) -> Status) -> Status {
    let colour = io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let progress = io::stderr().is_terminal();
    let size = terminal_size::terminal_size_of(io::stdout());
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = match size {
        Some((terminal_size::Width(width), _)) => usize::from(width),
        None => columns().unwrap_or(page::WIDTH),
    };
    let height = size.map(|(_, terminal_size::Height(height))| usize::from(height));
    std::panic::set_hook(Box::new(report_bug));
    catch_unwind(AssertUnwindSafe(|| {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let mut err = io::stderr();
        body(&mut Console {
            out: &mut out,
            err: &mut err,
            colour,
            progress,
            width,
            height,
        })
    }))
    .unwrap_or(Status::Bug)
}

fn report_bug(info: &std::panic::PanicHookInfo<'_>) {
    let arguments: Vec<_> = std::env::args_os().collect();
    let _ = writeln!(
        io::stderr(),
        "instr: error: internal error, {info}\n  note: instr {} on {}, arguments {arguments:?}\n  help: this is a bug in \
         instr; please report it with these lines and, if you can, the trace",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH,
    );
}

/// The messages of an error and its causes, outermost first, without the ones that only repeat the one before.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let message = cause.to_string();
        if text.is_empty() {
            text = message;
        } else if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::ffi::OsString;

    /// Runs the command in this process: status, standard output, standard error.
    pub(crate) fn instr<A: Into<OsString> + Clone>(arguments: &[A]) -> (Status, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let all = std::iter::once("instr".into())
            .chain(arguments.iter().cloned().map(Into::into))
            .collect();
        let status = crate::run(
            all,
            &mut Console {
                out: &mut out,
                err: &mut err,
                colour: false,
                progress: false,
                width: page::WIDTH,
                height: None,
            },
        );
        (
            status,
            String::from_utf8(out).unwrap(),
            String::from_utf8(err).unwrap(),
        )
    }

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    #[test]
    fn wrong_usage_is_status_2_with_our_name_first() {
        for arguments in [
            &["--nonsense"][..],
            &["repair"],
            &["graph", "d", "--format", "text"],
            &["summary", "d", "--comms", "all"],
            &["nonsense"],
        ] {
            let (status, out, err) = instr(arguments);
            assert_eq!(status, Status::Usage, "{arguments:?}");
            assert_eq!(out, "");
            assert!(err.starts_with("instr: error: "), "{err}");
        }
    }

    #[test]
    fn no_arguments_show_the_help_with_status_2() {
        let (status, _, err) = instr::<&str>(&[]);
        assert_eq!(status, Status::Usage);
        assert!(err.contains("Usage: instr"), "{err}");
    }

    #[test]
    fn help_and_version_are_output() {
        let (status, out, err) = instr(&["--version"]);
        assert_eq!((status, err.as_str()), (Status::Done, ""));
        assert!(out.starts_with("instr "));
        let (status, out, _) = instr(&["merge", "--help"]);
        assert_eq!(status, Status::Done);
        assert!(out.contains("--comms"));
    }

    #[test]
    fn missing_directory_is_status_1_and_named() {
        for arguments in [
            &["summary", "/nonexistent/x.instr"][..],
            &["merge", "/nonexistent/x.instr"],
            &["graph", "/nonexistent/x.instr", "--format", "dot"],
            &["repair", "/nonexistent/x.instr", "-o", "/nonexistent/y"],
        ] {
            let (status, out, err) = instr(arguments);
            assert_eq!(status, Status::Refused, "{arguments:?}");
            assert_eq!(out, "");
            assert!(
                err.starts_with("instr: error: ") && err.contains("/nonexistent/x.instr"),
                "{err}"
            );
        }
    }

    #[test]
    fn closed_pipe_is_quiet_success() {
        let mut err = Vec::new();
        let mut console = Console {
            out: &mut Closed,
            err: &mut err,
            colour: false,
            progress: false,
            width: page::WIDTH,
            height: None,
        };
        let result =
            Err(io::Error::from(io::ErrorKind::BrokenPipe)).context("cannot write the graph");
        assert_eq!(console.finish(result), Status::Done);
        assert_eq!(
            console.finish(Ok(())),
            Status::Done,
            "found out only while flushing"
        );
        assert!(err.is_empty());
    }

    #[test]
    fn names_of_any_kind_do_not_reach_the_terminal() {
        let odd = "/nonexistent/\u{1b}[31m\u{7}x";
        for arguments in [
            &["summary", odd][..],
            &["run", odd],
            &["run", "--config", odd, "sh"],
            &["run", "-o", "/dev/null/\u{1b}[31m", "sh"],
            &["list", odd],
            &["extract", odd],
            &[odd],
            &["summary", "--top", odd],
        ] {
            let (status, _, err) = instr(arguments);
            assert_ne!(status, Status::Done, "{arguments:?}");
            let is_raw = |c: char| c.is_control() && c != '\n';
            assert!(!err.contains(is_raw), "{err:?}");
        }
    }

    #[test]
    fn causes_are_printed_outermost_first_with_notes_and_help() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut console = Console {
            out: &mut out,
            err: &mut err,
            colour: false,
            progress: false,
            width: page::WIDTH,
            height: None,
        };
        let refusal = Refusal {
            message: "it is odd".into(),
            notes: vec!["a fact".into()],
            help: Some("do this".into()),
        };
        assert_eq!(
            console.finish(Err(anyhow::Error::new(refusal).context("cannot read x"))),
            Status::Refused
        );
        let expected = "instr: error: cannot read x: it is odd\n  note: a fact\n  help: do this\n";
        assert_eq!(String::from_utf8(err).unwrap(), expected);
    }
}
