//! Where there is no trace, the next command says why; mistyped commands and settings get help.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("no-trace::twenty-ways-to-end-without-one", ways),
        trial("no-trace::twenty-mistyped-commands-and-settings", mistakes),
        trial("no-trace::run-ends-as-the-program-does", run_is_transparent),
        trial("no-trace::one-bad-directory-of-three", one_bad_of_three),
        trial(
            "no-trace::files-in-the-way-of-outputs-have-their-own-names",
            outputs,
        ),
    ]
}

const PARALLEL: &str = "#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    int n = 0;\n#pragma omp parallel num_threads(2)\n#pragma omp atomic\n    n++;\n\
                        (void)argv;\n    return argc > 1 ? atoi(argv[1]) : 0;\n}\n";
const SERIAL: &str = "int main(void)\n{\n    return 0;\n}\n";
/// Ends in a constructor that runs before the runtime's.
const BEFORE_MAIN: &str = "#include <unistd.h>\n__attribute__((constructor(101))) static void first(void) { _exit(0); }\n\
                           int main(void)\n{\n    int n = 0;\n#pragma omp parallel\n    n = 1;\n    return n;\n}\n";

/// A folder with programs: `app` records, `plain` has OpenMP and was not linked by instr-cc, `serial` has none.
struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Check<Self> {
        let place = Self {
            dir: workspace::work_dir("no-trace")?,
        };
        let build = Build::openmp(Target::X86_64).flag("-w");
        for (name, text) in [
            ("app", PARALLEL),
            ("serial", SERIAL),
            ("early", BEFORE_MAIN),
        ] {
            std::fs::write(place.at(&format!("{name}.c")), text)?;
            build.traced(&[&place.at(&format!("{name}.c"))], &place.at(name))?;
        }
        build.plain(&[&place.at("app.c")], &place.at("plain"))?;
        build
            .clone()
            .flag("-static")
            .traced(&[&place.at("app.c")], &place.at("static"))?;
        build
            .flag("-static")
            .plain(&[&place.at("serial.c")], &place.at("serial-static"))?;
        Ok(place)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn instr(&self, words: &[&str]) -> Check<Run> {
        Ok(Run::new(&tools()?.instr).args(words).dir(self.dir.path()))
    }

    /// Removes all traces.
    fn clear(&self) -> Check {
        let script =
            "for t in *.instr*; do chmod -R u+rwx \"$t\"; rm -rf \"$t\"; done; rm -rf t out";
        Run::words(["sh", "-c", script])
            .dir(self.dir.path())
            .output()?;
        Ok(())
    }
}

fn says(outcome: &Outcome, part: &str) -> Check {
    ensure(outcome.errors().contains(part), || {
        format!("expected `{part}` in\n{outcome}")
    })
}

/// A way to run a program without a trace: words behind `instr`, the environment, and what is said.
type Way = (
    &'static [&'static str],
    &'static [(&'static str, &'static str)],
    &'static [&'static str],
);

#[rustfmt::skip]
const WAYS: &[Way] = &[
    (&["summary", "plain"], &[], &["calls OpenMP, but was not linked by instr-cc", "`instr run` records it as it is", "remove the program first if make finds it up to date"]),
    (&["run", "./serial"], &[("INSTR_SWITCHES", "0")], &["no trace was made", "serial and what it started called no OpenMP and made no thread", "INSTR_VERBOSE=1", "INSTR_SWITCHES=0 leaves out who ran"]),
    (&["run", "./serial-static"], &[("INSTR_SWITCHES", "0")], &["no trace was made", "serial-static is linked statically", "CC=instr-cc"]),
    (&["run", "./script"], &[("INSTR_SWITCHES", "0")], &["no trace was made", "is no ELF file"]),
    (&["run", "./early"], &[("INSTR_SWITCHES", "0")], &["no trace was made", "ended before main"]),
    (&["run", "./app"], &[("INSTR_ENABLED", "0")], &["INSTR_ENABLED=0 switches recording off"]),
    (&["run", "./app"], &[("INSTR_SINK", "ram")], &["INSTR_SINK=ram makes no folder", "instr extract"]),
    (&["run", "./app"], &[("INSTR_TRACE", "app.c/t")], &["app.c/t cannot be made: ", "it is no directory"]),
    (&["run", "./app"], &[("INSTR_TRACE", "/proc/t")], &["the trace /proc/t cannot be made: /proc: "]),
    (&["run", "-o", "app.c", "./app"], &[], &["error: the trace app.c cannot be written: app.c: it is no directory"]),
    (&["run", "-o", "app.c/x", "./app"], &[], &["error: the trace app.c/x cannot be made: app.c: it is no directory"]),
    (&["run", "-o", "mine", "./app"], &[], &["cannot use mine for the trace: it holds thesis", "name a folder that is not there"]),
    (&["run", "-o", "link", "./app"], &[], &["cannot use link for the trace: it is a symbolic link"]),
    (&["run", "-o", "/proc/t", "./app"], &[], &["error: the trace /proc/t cannot be made"]),
    (&["run", "./missing"], &[], &["cannot run ./missing: there is no such program"]),
    (&["run", "plain"], &[], &["cannot run plain: there is no such program in PATH", "help: did you mean ./plain?"]),
    (&["run", "./mine"], &[], &["cannot run ./mine: it is a folder"]),
    (&["run", "./thesis"], &[], &["cannot run ./thesis: it is not executable", "chmod +x ./thesis"]),
    (&["run", "./windows"], &[], &["cannot run ./windows: its first line ends with a carriage return"]),
    (&["run", "./plain"], &[("INSTR_ENABLED", "0")], &["no trace was made at plain.instr\n  note: INSTR_ENABLED=0 switches recording off\n"]),
    (&["run", "./plain"], &[("INSTR_SINK", "console")], &["no trace was made at plain.instr\n  note: INSTR_SINK=console makes no folder\n  help: instr extract"]),
    (&["summary", "plain"], &[], &["plain is a program, and there is no trace of it here", "was not linked by instr-cc"]),
    (&["summary", "serial"], &[], &["serial is a program", "calls no OpenMP"]),
    (&["summary", "app"], &[], &["app is a program, and there is no trace of it here", "INSTR_VERBOSE=1 or instr run says where"]),
    (&["summary", "app"], &[("INSTR_TRCE", "x")], &["INSTR_TRCE is no setting; did you mean INSTR_TRACE?"]),
    (&["summary", "mine"], &[], &["mine holds no trace"]),
    (&["summary", "privileged"], &[], &["rights that its user has not"]),
    (&["summary", "."], &[], &["holds no trace"]),
];

fn ways() -> Check {
    let place = Place::new()?;
    std::fs::write(place.at("script"), "#!/bin/sh\nexit 0\n")?;
    std::fs::set_permissions(place.at("script"), PermissionsExt::from_mode(0o755))?;
    std::fs::write(place.at("thesis"), "years of work")?;
    std::fs::write(place.at("windows"), "#!/bin/sh\r\nexit 0\r\n")?;
    std::fs::set_permissions(place.at("windows"), PermissionsExt::from_mode(0o755))?;
    std::fs::create_dir(place.at("mine"))?;
    std::fs::write(place.at("mine/thesis"), "years of work")?;
    symlink("mine", place.at("link"))?;
    std::fs::copy(place.at("app"), place.at("privileged"))?;
    std::fs::set_permissions(place.at("privileged"), PermissionsExt::from_mode(0o6755))?;
    for (words, env, parts) in WAYS {
        place.clear()?;
        let run = env.iter().fold(place.instr(words)?, |run, (name, value)| {
            run.env(name, value)
        });
        let outcome = run.output()?;
        parts.iter().try_for_each(|part| says(&outcome, part))?;
        let traces = std::fs::read_dir(place.dir.path())?.flatten();
        let mut traces = traces
            .map(|entry| entry.path())
            .filter(|path| path.join("metadata").exists());
        ensure(traces.next().is_none(), || {
            format!("there is a trace:\n{outcome}")
        })?;
    }
    place.clear()?;
    // A static program has one, and a misspelt setting is told beside it.
    let outcome = place
        .instr(&["run", "./static"])?
        .env("INSTR_TRCE", "x")
        .succeed()?;
    says(
        &outcome,
        "trace: static.instr (run 1); instr summary static.instr shows it",
    )?;
    says(
        &outcome,
        "INSTR_TRCE is no setting; did you mean INSTR_TRACE?",
    )?;
    long_names(&place)?;
    odd_names(&place)?;
    verbose(&place)
}

/// Names that the system does not take: with -o the program does not run, else it runs and the reason is told.
fn long_names(place: &Place) -> Check {
    std::fs::write(place.at("mark"), "#!/bin/sh\ntouch ran\n")?;
    std::fs::set_permissions(place.at("mark"), PermissionsExt::from_mode(0o755))?;
    for (name, why) in [
        ("x".repeat(300), "a name has at most 255 bytes"),
        ("abc/".repeat(1250), "the path of a trace has at most"),
    ] {
        let outcome = place.instr(&["run", "-o", &name, "./mark"])?.output()?;
        says(&outcome, "error: the trace ")?;
        says(&outcome, why)?;
        let refused = outcome.status == Status::Code(1) && !place.at("ran").exists();
        ensure(refused, || format!("it ran:\n{outcome}"))?;
    }
    for from in ["app", "plain"] {
        let program = "n".repeat(252);
        std::fs::copy(place.at(from), place.at(&program))?;
        let outcome = place.instr(&["run", &format!("./{program}")])?.succeed()?;
        says(&outcome, "note: the trace nnn")?;
        says(&outcome, "a name has at most 255 bytes")?;
        let clean =
            !outcome.errors().contains("OpenMP") && !outcome.errors().contains("before main");
        ensure(clean, || format!("{outcome}"))?;
        std::fs::remove_file(place.at(&program))?;
    }
    Ok(())
}

/// The command that is told can be typed, and nothing in a name reaches the terminal as it is.
fn odd_names(place: &Place) -> Check {
    for name in ["sp ace", "e\u{1b}[31mx", "n\nl", "it's", "-x"] {
        std::fs::copy(place.at("app"), place.at(name))?;
        let outcome = place
            .instr(&["run", "--", &format!("./{name}")])?
            .succeed()?;
        let said = outcome.errors();
        ensure(!said.trim_end().contains(char::is_control), || {
            format!("{said:?}")
        })?;
        let command = said.split("; ").nth(1).unwrap_or_default();
        let command = command.trim_end().trim_end_matches(" shows it");
        let shown = |command: &str, dir: &Path| -> Check<String> {
            let path = tools()?
                .instr
                .parent()
                .ok_or("no folder")?
                .display()
                .to_string();
            let run = Run::words(["bash", "-c", &format!("PATH={path}:$PATH; {command}")]);
            Ok(run.dir(dir).succeed()?.text())
        };
        let screen = shown(command, place.dir.path())?;
        let next = screen.lines().find_map(|line| line.strip_prefix("next  "));
        let next = next.ok_or_else(|| format!("no next command in\n{screen}"))?;
        shown(next, place.dir.path())?;
    }
    Ok(())
}

/// What the runtime itself says when it is asked to.
fn verbose(place: &Place) -> Check {
    let run = |trace: &str| -> Check<Outcome> {
        let run = Run::new(place.at("app")).dir(place.dir.path());
        run.env("INSTR_VERBOSE", "1")
            .env("INSTR_TRACE", trace)
            .succeed()
    };
    let there = place.at("t");
    says(
        &run("t")?,
        &format!("instr: note: traced: {}", there.display()),
    )?;
    let none = run("app.c/t")?;
    says(
        &none,
        "not traced: the trace directory cannot be made: what it is to be in is no directory",
    )?;
    says(&none, "its place: app.c/t")
}

#[rustfmt::skip]
const MISTAKES: &[Way] = &[
    (&["sumary", "app"], &[], &["unrecognized subcommand 'sumary'", "'summary'"]),
    (&["list", "nowhere"], &[], &["cannot read nowhere: there is no such trace or program"]),
    (&["summary", "ap"], &[], &["did you mean app.instr?"]),
    (&["summary", "app.instrr"], &[], &["did you mean app.instr?"]),
    (&["summary", "app.7"], &[], &["runs that are there: app.1, app.2"]),
    (&["summary", "app.c"], &[], &["app.c"]),
    (&["graph", "xyz"], &[], &["traces that are there: app.instr"]),
    (&["merge", "app", "-o", "-"], &[], &["give a base name"]),
    (&["merge", "app", "-o", "nowhere/x"], &[], &["cannot create nowhere/x"]),
    (&["export", "app", "-o", "nowhere/x"], &[], &["cannot write nowhere/x: No such file or directory"]),
    (&["export", "app", "--format", "perfeto"], &[], &["perfetto"]),
    (&["summary", "app", "--jsn"], &[], &["'--json'"]),
    (&["run"], &[], &["PROGRAM"]),
    (&["run", "--config", "nowhere.toml", "./app"], &[], &["cannot use the configuration nowhere.toml"]),
    (&["run", "--config", "wrong.toml", "./app"], &[], &["there is no setting `polcy`; did you mean `policy`"]),
    (&["run", "./app"], &[("INSTR_POLICY", "rng")], &["INSTR_POLICY=rng is not stream, end or ring (did you mean ring?); the default is used"]),
    (&["run", "./app"], &[("INSTR_BUFFER", "1T"), ("INSTR_KEEP", "x"), ("INSTR_SINK", "fil")],
     &["INSTR_BUFFER=1T is not a size", "INSTR_KEEP=x is not a number from 0 to 1000", "INSTR_SINK=fil is not file, console, ram or own (did you mean file?)"]),
    (&["run", "./app"], &[("INSTR_BUFER", "1M")], &["INSTR_BUFER is no setting; did you mean INSTR_BUFFER?"]),
    (&["run", "./app"], &[("INSTR_SAMPLING_PERIOD", "5")], &["INSTR_SAMPLING_PERIOD=5 is not a time of at least 50us, such as 500us, 10ms or 2s, or 0"]),
    (&["run", "./app"], &[("INSTR_VERBOSE", "yes")], &["INSTR_VERBOSE=yes is not 0 or 1"]),
    (&["run", "./app"], &[("INSTR_SENSORS_AT", "regoins")], &["INSTR_SENSORS_AT=regoins is not a list of begin-end"]),
];

fn mistakes() -> Check {
    let place = Place::new()?;
    std::fs::write(place.at("wrong.toml"), "polcy = \"ring\"\n")?;
    for _ in 0..2 {
        Run::new(place.at("app")).dir(place.dir.path()).succeed()?;
    }
    for (words, env, parts) in MISTAKES {
        let run = env.iter().fold(place.instr(words)?, |run, (name, value)| {
            run.env(name, value)
        });
        let outcome = run.output()?;
        parts.iter().try_for_each(|part| says(&outcome, part))?;
        let refused = env.is_empty();
        ensure(refused != (outcome.status == Status::Code(0)), || {
            format!("{outcome}")
        })?;
    }
    // A pipe with a name may have no writer; what a shell makes for <(...) has one.
    Run::words(["mkfifo", "pipe.toml"])
        .dir(place.dir.path())
        .succeed()?;
    for pipe in ["pipe.toml", "./pipe.toml"] {
        let run = place.instr(&["run", "--config", pipe, "./app"])?;
        let outcome = run.output()?;
        says(
            &outcome,
            &format!("cannot use the configuration {pipe}: it is not a file"),
        )?;
    }
    let script = format!(
        "{} run -q --config <(echo 'trace = \"by-pipe\"') ./app",
        tools()?.instr.display()
    );
    let run = Run::words(["bash", "-c", &script]).dir(place.dir.path());
    run.succeed()?;
    ensure(place.at("by-pipe/metadata").exists(), || "no trace".into())?;
    // The trace knows them, too, and all of them.
    let run = Run::new(place.at("app")).dir(place.dir.path());
    let run = run
        .env("INSTR_POLICY", "rng")
        .env("INSTR_TRCE", "x")
        .env("INSTR_BUFFER", "9");
    run.succeed()?;
    let summary = instr_tests::cases::summary(&place.at("app.instr"))?;
    let trouble = summary["setting_trouble"].as_str().unwrap_or("").to_owned();
    for part in [
        "INSTR_POLICY=rng",
        "INSTR_TRCE is no setting",
        "INSTR_BUFFER is too small",
    ] {
        ensure(trouble.contains(part), || trouble.clone())?;
    }
    Ok(())
}

/// Statuses, signals in both directions, standard streams and ignored signals are the program's.
fn run_is_transparent() -> Check {
    let place = Place::new()?;
    let status = |outcome: &Outcome| outcome.status;
    for code in ["0", "1", "7", "255"] {
        let outcome = place.instr(&["run", "--", "./app", code])?.output()?;
        ensure(status(&outcome) == Status::Code(code.parse()?), || {
            format!("{outcome}")
        })?;
    }
    // Not SIGINT, which a shell ignores for what it runs in the background, and so do all its children.
    for (signal, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("ALRM", 14)] {
        let script = format!("kill -{signal} $$");
        let outcome = place
            .instr(&["run", "-q", "--", "sh", "-c", &script])?
            .output()?;
        ensure(status(&outcome) == Status::Signal(number), || {
            format!("{outcome}")
        })?;
    }
    // What is sent to instr reaches the program once; what is ignored stays ignored.
    for (signal, expected) in [
        ("TERM", "got TERM\n"),
        ("ALRM", "got ALRM\n"),
        ("USR1", "got USR1\n"),
        // Batch systems and service managers send these.
        ("XCPU", "got XCPU\n"),
        ("PWR", "got PWR\n"),
        ("RTMIN+3", "got RTMIN+3\n"),
    ] {
        let inner =
            format!("trap 'echo got {signal}' {signal}; kill -{signal} $PPID; sleep 0.3; true");
        let outcome = place
            .instr(&["run", "-q", "--", "bash", "-c", &inner])?
            .succeed()?;
        ensure(outcome.text() == expected, || format!("{outcome}"))?;
    }
    let ignored = "trap '' HUP; exec \"$@\"";
    let inner = "kill -HUP $$; kill -HUP $PPID; echo alive";
    let instr = tools()?.instr.display().to_string();
    let outcome = Run::words([
        "sh", "-c", ignored, "sh", &instr, "run", "-q", "--", "sh", "-c", inner,
    ]);
    let outcome = outcome.dir(place.dir.path()).succeed()?;
    ensure(outcome.text() == "alive\n", || format!("{outcome}"))?;
    // Quiet means quiet, and what is said goes to standard error.
    let outcome = place.instr(&["run", "-q", "./app"])?.succeed()?;
    ensure(
        outcome.text().is_empty() && outcome.errors().is_empty(),
        || format!("{outcome}"),
    )?;
    let outcome = place.instr(&["run", "./app"])?.succeed()?;
    ensure(outcome.text().is_empty(), || format!("{outcome}"))?;
    says(&outcome, "trace: app.instr (run ")
}

fn one_bad_of_three() -> Check {
    let place = Place::new()?;
    for trace in ["a", "b"] {
        let run = Run::new(place.at("app")).dir(place.dir.path());
        run.env("INSTR_TRACE", trace).succeed()?;
    }
    let outcome = place
        .instr(&["summary", "--json", "a", "nowhere", "b"])?
        .output()?;
    let shown: serde_json::Value =
        serde_json::from_slice(&outcome.stdout).map_err(|error| format!("{error}\n{outcome}"))?;
    let count = shown.as_array().map(Vec::len);
    ensure(
        outcome.status == Status::Code(1) && count == Some(2),
        || format!("{outcome}"),
    )?;
    says(
        &outcome,
        "cannot read nowhere: there is no such trace or program",
    )
}

fn outputs() -> Check {
    let place = Place::new()?;
    Run::new(place.at("app")).dir(place.dir.path()).succeed()?;
    std::fs::create_dir(place.at("out"))?;
    place.instr(&["merge", "app", "-o", "out/"])?.succeed()?;
    let named = |path: &Path| path.is_file();
    ensure(
        named(&place.at("out/app.prv")) && !named(&place.at("out/.prv")),
        || "no out/app.prv".into(),
    )?;
    place.instr(&["export", "app", "-o", "out"])?.succeed()?;
    ensure(named(&place.at("out/app.perfetto-trace")), || {
        "no out/app.perfetto-trace".into()
    })?;
    for words in [
        ["export", "app", "-o", "/proc/x"],
        ["export", "app", "-o", "nowhere/x"],
    ] {
        let outcome = place.instr(&words)?.output()?;
        let clean = !outcome.errors().contains(".instr-");
        ensure(clean && outcome.status == Status::Code(1), || {
            format!("{outcome}")
        })?;
        says(&outcome, &format!("cannot write {}", words[3]))?;
    }
    Ok(())
}
