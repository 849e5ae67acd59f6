//! Command line: reads files, prints flags, stubs, tables, writes redirected objects.

mod list;
mod output;

use anyhow::{Context, Result};
use clap::{CommandFactory as _, Parser as _, error::ErrorKind};
use instr_rewrite::Api;
use instr_rewrite::arguments::{Arguments, LinkageName, Style};
use instr_rewrite::redirect::redirect;
use instr_rewrite::scan::{Inputs, Source};
use instr_rewrite::select::{Selection, select};
use instr_rewrite::stubs::{self, Linkage};
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// Files were refused; each was reported already.
#[derive(Debug, thiserror::Error)]
#[error("{0} of the files given cannot be used")]
struct Reported(usize);

/// Runs the command; the exit status follows the contract: 0 done, 1 input refused, 2 wrong usage.
pub(crate) fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return usage(&error),
    };
    if arguments.action.redirect && (arguments.files.len() != 1 || arguments.output.is_none()) {
        return usage(&usage_error(
            "--redirect takes one FILE and -o OUT\n  help: instr-rewrite --redirect app.o -o app.redirected.o",
        ));
    }
    if arguments.json && !arguments.action.list {
        return usage(&usage_error(
            "--json belongs to --list\n  help: instr-rewrite --list --json app.o",
        ));
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is::<Reported>() {
                report("error", &format!("{error:#}"));
            }
            ExitCode::from(1)
        }
    }
}

/// Says that the panic just printed is not the user's fault.
pub(crate) fn report_bug() -> ExitCode {
    let version = env!("CARGO_PKG_VERSION");
    report(
        "error",
        &format!(
            "this is a bug in instr-rewrite {version}; please report it with the arguments and the files"
        ),
    );
    ExitCode::from(3)
}

fn usage_error(message: &str) -> clap::Error {
    Arguments::command().error(ErrorKind::ArgumentConflict, message)
}

fn usage(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        // Nothing sensible is left to do when the help cannot be printed.
        _ = error.print();
        return ExitCode::SUCCESS;
    }
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    // Advice looks as in all messages.
    report(
        "error",
        text.replace("\n\n  tip: ", "\n  help: ").trim_end(),
    );
    ExitCode::from(2)
}

#[expect(clippy::print_stderr, reason = "the one place that talks to the user")]
fn report(severity: &str, message: &str) {
    eprintln!("instr-rewrite: {severity}: {message}");
}

fn run(arguments: &Arguments) -> Result<()> {
    let mut api = Api::builtin();
    if arguments.memory {
        api.add_memory();
    }
    if arguments.threads {
        api.add_threads();
    }
    for file in &arguments.api {
        api.add_file(file)?;
    }
    if arguments.action.redirect {
        return redirect_file(arguments, &api);
    }
    let (sources, refused) = open_all(&arguments.files);
    let inputs = scan_all(&sources, refused)?;
    let (strong, weak) = undefined(&inputs);
    let selection = select(&strong, &weak, &api);
    for symbol in &selection.unknown {
        report(
            "warning",
            &format!(
                "{symbol}: an entry point of libgomp that no description knows; it is not wrapped"
            ),
        );
    }
    let text = match &arguments.action {
        action if action.emit_stubs => match arguments.linkage {
            LinkageName::Wrap => stubs::emit_each(selection.stubs(), &api),
            LinkageName::Rename => {
                let symbols = selection.stubs().map(|(symbol, _)| symbol);
                stubs::emit(symbols, &api, Linkage::Rename)
            }
        },
        action if action.list && arguments.json => list::json(&selection)?,
        action if action.list => list::table(&selection),
        _ => wrap_flags(&selection, arguments.style),
    };
    output::write(
        arguments.output.as_deref(),
        text.as_bytes(),
        output::DEFAULT_MODE,
    )
}

/// Writes the redirected copy of the one file given, with the permissions of the original.
fn redirect_file(arguments: &Arguments, api: &Api) -> Result<()> {
    let [file] = arguments.files.as_slice() else {
        anyhow::bail!("--redirect takes one FILE");
    };
    let what = || format!("{}: cannot read", file.display());
    let metadata = std::fs::metadata(file).with_context(what)?;
    anyhow::ensure!(metadata.is_file(), "{}: not a regular file", what());
    let bytes = std::fs::read(file).with_context(what)?;
    let redirected = redirect(file, &bytes, api)?;
    let mode = metadata.permissions().mode() & 0o7777;
    output::write(
        arguments.output.as_deref(),
        &redirected.bytes,
        output::Mode::Exactly(mode),
    )
}

/// Opens all files; every one that cannot be is reported, and counted.
fn open_all(files: &[PathBuf]) -> (Vec<Source<'static>>, usize) {
    let (mut sources, mut refused) = (Vec::with_capacity(files.len()), 0);
    for file in files {
        match Source::open(file) {
            Ok(source) => sources.push(source),
            Err(error) => {
                report("error", &error.to_string());
                refused += 1;
            }
        }
    }
    (sources, refused)
}

/// Reads all files; every one that cannot be used is reported. `refused` of them were before.
fn scan_all<'s>(sources: &'s [Source<'_>], mut refused: usize) -> Result<Vec<Inputs<'s>>> {
    let mut inputs = Vec::with_capacity(sources.len());
    for source in sources {
        match source.scan() {
            Ok(input) => {
                for error in &input.refused {
                    report("error", &error.to_string());
                }
                refused += usize::from(!input.refused.is_empty());
                inputs.push(input);
            }
            Err(error) => {
                report("error", &error.to_string());
                refused += 1;
            }
        }
    }
    if refused > 0 {
        return Err(Reported(refused).into());
    }
    Ok(inputs)
}

type Symbols<'s> = BTreeSet<&'s [u8]>;

fn undefined<'s>(inputs: &[Inputs<'s>]) -> (Symbols<'s>, Symbols<'s>) {
    let (mut strong, mut weak) = (Symbols::new(), Symbols::new());
    for input in inputs {
        let (input_strong, input_weak) = input.undefined();
        strong.extend(input_strong);
        weak.extend(input_weak);
    }
    weak.retain(|symbol| !strong.contains(symbol));
    (strong, weak)
}

fn wrap_flags(selection: &Selection<'_>, style: Style) -> String {
    let line = |symbol: &str| match style {
        Style::Gcc => format!("-Wl,--wrap={symbol}\n"),
        Style::Ld => format!("--wrap={symbol}\n"),
        Style::Response => format!(
            "\"--wrap={}\"\n",
            symbol.replace('\\', "\\\\").replace('"', "\\\"")
        ),
    };
    selection.symbols().map(line).collect()
}
