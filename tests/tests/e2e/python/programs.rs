//! Programs that are recorded, and are what they were; calls of the package; mistakes.

use std::collections::BTreeMap;

use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::tools;

use super::place::{DEBIAN, Place, text};

pub(super) const INTERFACE: &str = "\
import instr

def listed(n): return n
def other(n): return listed(n)

@instr.region('whole')
def whole(n):
    with instr.region('part'):
        return other(n)

other(1)
with instr.trace(functions=['listed'], config='INSTR_TRACE=own.instr'):
    for n in range(4): whole(n)
    with instr.trace(functions=[other]):
        other(2)
        with instr.trace(functions='other'):
            other(3)
        other(4)
    other(5)
other(6)
for n in range(3): instr.event(77, n)
instr.counter('done', 9)
print(instr.stop(), instr.stop())
instr.event(77, 4)
print(instr.start(), instr.start())
with instr.trace():
    other(7)
@instr.trace(['listed'])
def traced(): other(8)
traced()
instr.event(77, 5)
print(instr.is_recorded(), instr.flush())
";

/// The main interpreter alone is recorded, and others are not disturbed.
pub(super) fn subinterpreters() -> Check {
    let text_of = |said: &str| format!("{said}1\n");
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import _xxsubinterpreters as other\n\ndef work(): return 1\n\nmade = other.create()\nother.run_string(made, 'try:\\n import instr\\nexcept ImportError as error: print(str(error)[:42], flush=True)\\ndef work(): pass\\nwork()')\nprint(work())\n")?;
    let run = place.recorded(&["app.py"]).succeed()?;
    text(
        &run,
        &text_of("instr records the main interpreter of a pr\n"),
    )?;
    ensure(run.errors().is_empty(), || format!("{run}"))?;
    let calls = place.calls("out.instr")?;
    ensure(calls.get("work") == Some(&1), || format!("{calls:?}"))
}

/// From the program itself: blocks that nest, events, regions, start and stop, in a process that nobody started to be recorded.
pub(super) fn interface() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", INTERFACE)?;
    text(&place.run(&["app.py"]).succeed()?, "0 0\n0 0\nTrue 0\n")?;
    let calls = place.calls("own.instr")?;
    let expected = [("listed", 10), ("other", 4)].map(|(name, n)| (name.to_owned(), n));
    ensure(calls == BTreeMap::from(expected), || format!("{calls:?}"))?;
    let summary = place.summary("own.instr")?;
    ensure(summary["user_events"][0]["count"] == 4, || {
        summary["user_events"].to_string()
    })?;
    ensure(summary["counters"][0]["last"] == 9, || {
        summary["counters"].to_string()
    })?;
    let regions = summary["regions"].to_string();
    ensure(regions.matches("\"count\":4").count() == 2, || {
        regions.clone()
    })?;
    // What it starts meanwhile records the same.
    place.write("start.py", "import instr, subprocess, sys\n\ndef listed(): pass\n\ndef other(): listed()\n\ndef again(): subprocess.run([sys.executable, __file__, 'again'], check=True)\n\nif len(sys.argv) > 1:\n    other()\nelse:\n    with instr.trace(['listed'], config='INSTR_TRACE=start.instr'): again()\n    again()\n")?;
    place.run(&["start.py"]).succeed()?;
    let calls = place.calls("start.instr")?;
    ensure(calls == BTreeMap::from([("listed".to_owned(), 1)]), || {
        format!("{calls:?}")
    })?;
    // Without a recording nothing happens, also where the compiled part is missing.
    place.write("plain.py", "import instr\n\n@instr.region('a')\ndef f(): return 3\n\ninstr.event(1, 2)\nprint(f(), instr.is_recorded())\n")?;
    text(&place.run(&["plain.py"]).succeed()?, "3 False\n")?;
    let left: Vec<_> = place
        .dir
        .path()
        .read_dir()?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    ensure(left.len() == 5, || format!("{left:?}"))?;
    // A trace that nobody names has the name of the program, or of the module that is run as one.
    place.write(
        "named.py",
        "import instr\n\ndef work(): pass\n\nwith instr.trace(config='INSTR_BUFFER=1M'): work()\n",
    )?;
    place.run(&["named.py"]).succeed()?;
    std::fs::create_dir(place.at("package"))?;
    std::fs::copy(place.at("named.py"), place.at("package/__main__.py"))?;
    place.run(&["-m", "package"]).succeed()?;
    for trace in ["named.instr", "package.instr"] {
        let calls = place.calls(trace)?;
        ensure(calls == BTreeMap::from([("work".to_owned(), 1)]), || {
            format!("{trace}: {calls:?}")
        })?;
    }
    Ok(())
}

/// Unchanged, with what it starts.
pub(super) fn under_run() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import subprocess, sys\n\ndef work(): pass\n\nwork()\nif len(sys.argv) == 1:\n    subprocess.run([sys.executable, __file__, 'again'], check=True)\n")?;
    let run = Run::new(&tools()?.instr).args(["run", "-q", "-o", "out.instr", "--"]);
    run.arg(&place.python)
        .arg("app.py")
        .dir(place.dir.path())
        .succeed()?;
    let calls = place.calls("out.instr")?;
    let expected = [("<module>", 2), ("work", 2)].map(|(name, n)| (name.to_owned(), n));
    ensure(calls == BTreeMap::from(expected), || format!("{calls:?}"))?;
    let off = Run::new(&tools()?.instr).args(["run", "-q", "-o", "off.instr", "--"]);
    let off = off.arg(&place.python).arg("app.py").dir(place.dir.path());
    off.env("INSTR_PYTHON", "off").succeed()?;
    let calls = place.calls("off.instr")?;
    ensure(calls.is_empty(), || format!("INSTR_PYTHON=off: {calls:?}"))
}

/// What ran before the kill is there.
pub(super) fn killed() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import os, signal\n\ndef work(): pass\n\nfor _ in range(1000): work()\nos.kill(os.getpid(), signal.SIGKILL)\n")?;
    place.recorded(&["app.py"]).output()?;
    let calls = place.calls("out.instr")?;
    ensure(calls.get("work") == Some(&1000), || format!("{calls:?}"))
}

/// One message each, and nothing half-done.
pub(super) fn mistakes() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "print('ran')\n")?;
    for (words, message) in [
        (
            &["nothing.py"][..],
            "cannot run 'nothing.py': there is no such file",
        ),
        (
            &["-f", "app:", "app.py"],
            "has nothing on one side of its colon",
        ),
        (&["-f", "app:3-9", "app.py"], "'app' is no file"),
        (
            &["-f", "app.py:9-3", "app.py"],
            "has no lines: 9 is behind 3",
        ),
        (
            &["-f", "@missing.txt", "app.py"],
            "the list 'missing.txt' cannot be read",
        ),
        (
            &["--fnctions", "x", "app.py"],
            "unrecognized arguments: --fnctions",
        ),
        (
            &["-o", "app.py/x.instr", "app.py"],
            "'app.py/x.instr' cannot be made",
        ),
    ] {
        let outcome = place.recorded(words).output()?;
        let errors = outcome.errors();
        ensure(
            errors.contains(message)
                && !outcome.text().contains("ran")
                && !errors.contains("Traceback"),
            || format!("{words:?}: expected {message:?} of\n{outcome}"),
        )?;
        ensure(!place.at("out.instr").exists(), || {
            format!("{words:?} left a trace")
        })?;
    }
    // In the environment the program runs, and one line says what is wrong.
    let run = place
        .run(&["app.py"])
        .env("INSTR_PYTHON", "app:")
        .succeed()?;
    text(&run, "ran\n")?;
    let left = place.dir.path().read_dir()?.count();
    ensure(left == 1, || format!("{left} files are left"))?;
    ensure(
        run.errors().lines().count() == 1 && run.errors().contains("are not recorded"),
        || format!("{run}"),
    )
}

/// Output, status, arguments, name and traceback are those of the plain program.
pub(super) fn unchanged() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write(
        "app.py",
        "import sys\nprint(sys.argv, __name__, __file__, sys.flags.optimize, sys.path[0])\ndef f(): raise SystemExit(int(sys.argv[1])) if sys.argv[1] != 'x' else ValueError('no')\nf()\n",
    )?;
    for arguments in [
        &["app.py", "7", "-o", "--"][..],
        &["app.py", "0"],
        &["app.py", "x"],
    ] {
        let plain = place.run(arguments).output()?;
        plain.same_as(&place.recorded(arguments).output()?)?;
    }
    let plain = place.run(&["-O", "-m", "app", "3"]).output()?;
    let recorded = place
        .run(&["-O", "-m", "instr", "-o", "out.instr", "-m", "app", "3"])
        .output()?;
    plain.same_as(&recorded)
}
