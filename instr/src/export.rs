//! `instr export`: traces as a file or folder of another tool.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use instr_export::{Error, Format, Input, Shape, Stats, Target};
use instr_trace::Session;

use crate::cli::ExportOptions;
use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::output::{is_folder, is_standard_output, write_folder, write_to};
use crate::progress::Progress;
use crate::summary::units::{count, counted};
use crate::symbols::{
    as_names, damaged_kernel_streams, of_session, open_session, program_name, warn_of_losses,
    warn_of_unreadable,
};

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &ExportOptions, console: &mut Console<'_>) -> Result<()> {
    let session = open_session(&options.traces, console)?;
    let traces = session.traces().iter();
    traces.for_each(|trace| warn_of_losses(trace, console));
    let format = options.format;
    let path = match &options.output {
        Some(path) if format.shape() == Shape::File && is_folder(path) => {
            path.join(default_name(&session, format))
        }
        Some(path) => path.clone(),
        None => default_name(&session, format),
    };
    let symbols = of_session(&session, &options.symbols);
    let names = as_names(&symbols);
    let mut bar = Progress::new("exporting", console);
    let input = Input::new(&session, &names);
    let mut stats = Stats::default();
    let mut write = |target: Target<'_>| {
        let mut progress = |done, total| bar.at(done, total);
        stats = match format.write(&input, target, &mut progress) {
            Ok(stats) => stats,
            // As itself, so that a reader that has gone is seen.
            Err(Error::Output(error)) => return Err(error.into()),
            Err(Error::Library { what, help }) => {
                return Err(Refusal {
                    message: what,
                    notes: Vec::new(),
                    help: Some(help),
                }
                .into());
            }
            Err(error) => return Err(error.into()),
        };
        Ok(())
    };
    match format.shape() {
        Shape::File => write_to(&path, console, |out| write(Target::File(out))),
        Shape::Folder => write_folder(&path, format.name, |folder| write(Target::Folder(folder))),
    }?;
    drop(bar);
    if stats.shortened > 0 {
        let many = count(stats.shortened);
        console.warn(&format!(
            "{many} of them have other stacks than {} tells: there are too many different ones",
            path.display()
        ));
    }
    if stats.no_period {
        console.warn("a process has lost the events with the length of its samples' periods: their times are numbers of periods");
    }
    if stats.damaged_streams > 0 {
        console.warn(&damaged_kernel_streams(stats.damaged_streams));
    }
    let traces = session.traces().iter();
    traces.for_each(|trace| warn_of_unreadable(trace, console));
    symbols.iter().for_each(|symbols| symbols.report(console));
    if is_standard_output(&path) {
        return Ok(());
    }
    writeln!(
        console.out,
        "{}: {} {}, {}",
        path.display(),
        count(stats.events),
        format.entries(),
        counted(stats.flows, format.links())
    )
    .context(NO_OUTPUT)
}

/// The first program's name with the ending of the format, in the current directory.
fn default_name(session: &Session, format: &Format) -> PathBuf {
    let mut name = program_name(session).to_owned();
    name.push(".");
    name.push(format.ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use instr_trace::synth;

    use crate::console::Status;
    use crate::console::tests::instr;
    use crate::fixture::Fixture;

    #[test]
    fn the_file_is_named_on_standard_output() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let file = fixture.out.path().join("x.perfetto-trace");
        let file = file.to_str().unwrap();
        let (status, out, err) = instr(&["export", fixture.path(), "-o", file]);
        assert_eq!(status, Status::Done, "{err}");
        // Four creations and a dependence.
        assert!(
            out.starts_with(file) && out.ends_with(" 5 flows\n"),
            "{out}"
        );
        let bytes = std::fs::read(file).unwrap();
        assert_eq!(bytes[0], 0x0a, "the first packet");
    }

    #[test]
    fn tables_are_a_folder_that_the_next_export_replaces() {
        let fixture = Fixture::new(synth::layouts()[3]);
        let folder = fixture.out.path().join("x");
        let folder = folder.to_str().unwrap();
        for format in ["parquet", "arrow", "arrow-mapped", "csv", "json", "parquet"] {
            let words = ["export", fixture.path(), "-f", format, "-o", folder];
            let (status, out, err) = instr(&words);
            assert_eq!(status, Status::Done, "{err}");
            assert!(out.ends_with(" rows, 1 dependence\n"), "{out}");
        }
        let part = std::path::Path::new(folder).join("tasks/process=0/part-0000.parquet");
        assert_eq!(std::fs::read(part).unwrap()[..4], *b"PAR1");
        let (status, _, err) = instr(&["export", fixture.path(), "-f", "csv", "-o", "-"]);
        assert_eq!(status, Status::Refused, "{err}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let (status, _, err) = instr(&["export", fixture.path(), "-o", "/nonexistent/out"]);
        assert_eq!(status, Status::Refused);
        assert!(err.contains("/nonexistent"), "{err}");
    }

    #[test]
    fn unknown_formats_are_wrong_usage() {
        let (status, _, err) = instr(&["export", "a.instr", "--format", "gif"]);
        assert_eq!(status, Status::Usage);
        assert!(err.contains("perfetto"), "{err}");
    }
}
