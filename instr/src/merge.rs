//! `instr merge`: traces as one set of Paraver files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use instr_trace::Session;
use instr_trace::paraver::{self, Options, Stats};

use crate::cli::{Comms, MergeOptions};
use crate::console::{Console, NO_OUTPUT, WrongUsage};
use crate::output::{check_outside, is_folder, is_special, is_standard_output};
use crate::progress::Progress;
use crate::summary::units::{count, counted};
use crate::symbols::{
    as_names, of_session, open_session, program_name, warn_of_losses, warn_of_unreadable,
};

impl From<Comms> for paraver::Comms {
    fn from(comms: Comms) -> Self {
        match comms {
            Comms::None => Self::None,
            Comms::Create => Self::Create,
            Comms::Depend => Self::Depend,
            Comms::All => Self::All,
        }
    }
}

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &MergeOptions, console: &mut Console<'_>) -> Result<()> {
    if options.output.as_deref().is_some_and(is_standard_output) {
        let why = "`-o -` is not possible here: merge writes three files; give a base name";
        return Err(WrongUsage(why.to_owned()).into());
    }
    let special = options.output.as_deref().filter(|path| is_special(path));
    if let Some(path) = special {
        let why = format!(
            "cannot write {}: it is not a file, and merge writes three; give a base name",
            path.display()
        );
        return Err(WrongUsage(why).into());
    }
    let session = open_session(&options.traces, console)?;
    let traces = session.traces().iter();
    traces.for_each(|trace| warn_of_losses(trace, console));
    let base = base_name(options.output.as_deref(), &session);
    for file in paraver::outputs(&base) {
        check_outside(&file)?;
    }
    crate::interrupted::removes_outputs();
    let symbols = of_session(&session, &options.symbols);
    let names = as_names(&symbols);
    let mut bar = Progress::new("merging", console);
    let written = Options {
        comms: options.comms.into(),
    };
    let stats = paraver::write(&session, &names, &written, &base, &mut |done, total| {
        bar.at(done, total)
    })?;
    drop(bar);
    let traces = session.traces().iter();
    traces.for_each(|trace| warn_of_unreadable(trace, console));
    symbols.iter().for_each(|symbols| symbols.report(console));
    report(&stats, console).context(NO_OUTPUT)
}

/// Where the files go: the given name without `.prv`, or the first program's name, in the given folder or the current one.
fn base_name(output: Option<&Path>, session: &Session) -> PathBuf {
    match output {
        Some(path) if path.extension().is_some_and(|extension| extension == "prv") => {
            path.with_extension("")
        }
        Some(path) if is_folder(path) => path.join(program_name(session)),
        Some(path) => path.to_owned(),
        None => program_name(session).into(),
    }
}

fn report(stats: &Stats, console: &mut Console<'_>) -> std::io::Result<()> {
    let Some(prv) = stats.files.first() else {
        return Ok(());
    };
    write!(
        console.out,
        "{}: {} states, {} events",
        prv.display(),
        count(stats.states),
        count(stats.events)
    )?;
    if stats.creations + stats.depends > 0 {
        let creations = counted(stats.creations, "task creation");
        write!(
            console.out,
            ", {creations}, {}",
            counted(stats.depends, "dependence")
        )?;
    }
    writeln!(console.out)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use instr_trace::synth;

    use crate::console::Status;
    use crate::console::tests::instr;
    use crate::fixture::Fixture;

    /// Merges the fixture with `options`: the .prv file's text, and what was printed.
    fn merged(options: &[&str]) -> (String, String) {
        let fixture = Fixture::new(synth::layouts()[0]);
        let base = fixture.out.path().join("out");
        let mut arguments: Vec<OsString> = vec![
            "merge".into(),
            fixture.path().into(),
            "-o".into(),
            base.clone().into(),
        ];
        arguments.extend(options.iter().map(Into::into));
        let (status, out, err) = instr(&arguments);
        assert_eq!(status, Status::Done, "{err}");
        assert!(base.with_extension("pcf").is_file() && base.with_extension("row").is_file());
        (
            std::fs::read_to_string(base.with_extension("prv")).unwrap(),
            out,
        )
    }

    #[test]
    fn arrows_are_those_asked_for() {
        // Four tasks of which three were deferred or not, one dependence.
        let arrows = |comms| {
            merged(&["--comms", comms])
                .0
                .lines()
                .filter(|line| line.starts_with("3:"))
                .count()
        };
        let (none, create, depend, all) = (
            arrows("none"),
            arrows("create"),
            arrows("depend"),
            arrows("all"),
        );
        assert_eq!((none, depend), (0, 1));
        assert!(create >= 3);
        assert_eq!(all, create + depend);
    }

    #[test]
    fn the_files_are_named_on_standard_output() {
        let (prv, out) = merged(&[]);
        assert!(prv.starts_with("#Paraver ("), "{prv}");
        assert!(
            out.contains("out.prv: ") && out.contains("1 dependence"),
            "{out}"
        );
    }

    #[test]
    fn the_name_may_be_given_with_its_ending() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let file = fixture.out.path().join("x.prv");
        let (status, ..) = instr(&["merge", fixture.path(), "-o", file.to_str().unwrap()]);
        assert_eq!(status, Status::Done);
        assert!(file.is_file() && !fixture.out.path().join("x.prv.prv").exists());
    }

    #[test]
    fn a_folder_gets_files_of_the_programs_name() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let folder = format!("{}/", fixture.out.path().display());
        let (status, out, err) = instr(&["merge", fixture.path(), "-o", &folder]);
        assert_eq!(status, Status::Done, "{err}");
        let file = out.split(": ").next().unwrap();
        assert!(
            std::path::Path::new(file).is_file() && !file.ends_with("/.prv"),
            "{out}"
        );
    }

    #[test]
    fn files_that_are_there_keep_their_mode() {
        use std::os::unix::fs::PermissionsExt as _;
        let fixture = Fixture::new(synth::layouts()[0]);
        let base = fixture.out.path().join("x");
        for ending in ["prv", "pcf", "row"] {
            let file = base.with_extension(ending);
            std::fs::write(&file, "").unwrap();
            let mode = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&file, mode).unwrap();
        }
        let (status, _, err) = instr(&["merge", fixture.path(), "-o", base.to_str().unwrap()]);
        assert_eq!(status, Status::Done, "{err}");
        for ending in ["prv", "pcf", "row"] {
            let status = base.with_extension(ending).metadata().unwrap();
            assert_eq!(status.permissions().mode() & 0o777, 0o600, "{ending}");
            assert!(status.len() > 0, "{ending}");
        }
    }

    #[test]
    fn three_files_do_not_fit_into_standard_output() {
        let (status, _, err) = instr(&["merge", "somewhere", "-o", "-"]);
        assert_eq!(status, Status::Usage);
        assert!(
            err.starts_with("instr: error: `-o -` is not possible"),
            "{err}"
        );
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let (status, _, err) = instr(&["merge", fixture.path(), "-o", "/nonexistent/out"]);
        assert_eq!(status, Status::Refused);
        assert!(
            err.contains("/nonexistent/out.prv") && !err.contains(".instr-"),
            "{err}"
        );
    }
}
