//! Earlier runs are kept under their numbers, as many as INSTR_KEEP says, whatever happens to the runs that follow.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, tools};
use libtest_mimic::Trial;
use serde_json::Value;

use super::places::{compare_on_disk, content, utf8};
use super::{Guest, contiguous, only_entry, sound, source, values};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("robust::runs::the-run-before-is-kept", before_is_kept),
        trial(
            "robust::runs::each-command-line-keeps-its-own",
            command_lines,
        ),
        trial("robust::runs::no-more-than-64-numbers-back", numbers_back),
        trial("robust::runs::keep-0-replaces", keep_none),
        trial("robust::runs::arguments-of-any-kind", odd_arguments),
        trial(
            "robust::runs::a-run-without-an-event-gives-way",
            without_events,
        ),
        trial(
            "robust::runs::a-child-outlives-an-empty-parent",
            child_outlives,
        ),
        trial("robust::runs::fifty-at-once", fifty_at_once),
        trial("robust::runs::others-move-the-folder", others_move),
        trial("robust::runs::an-empty-run-gives-way-meanwhile", gone),
        trial("robust::runs::file-systems-without-locks", without_locks),
        trial("robust::runs::a-new-folder-is-not-ones-own", shared_folders),
        trial(
            "robust::runs::a-daemon-that-closes-its-descriptors",
            daemon_closes,
        ),
        trial("robust::runs::begun-on-a-full-disk", begun_on_full_disk),
        trial("robust::runs::rebuilt-during-an-empty-run", rebuilt),
        trial("robust::runs::slashes-behind-the-name", slashes),
        trial("robust::runs::killed-at-any-moment", killed_at_any_moment),
        trial("robust::runs::what-lies-in-the-way-stays", in_the_way),
        trial("robust::runs::names-of-any-kind", odd_names),
        trial("robust::runs::programs-of-any-name", odd_programs),
        trial(
            "robust::runs::readers-of-a-folder-stay-readers",
            readers_stay,
        ),
        trial(
            "robust::runs::the-working-folder-is-not-renamed",
            working_folder,
        ),
        trial("robust::runs::full-and-read-only-disks", disks),
        trial("robust::runs::boards-processors-replace", small_processors),
    ]
}

/// Runs the traced program with `count` events in the working folder, or as `env` says.
fn record(guest: &Guest, count: &str, env: &[(&str, &str)]) -> Check {
    guest.compare(&[count], env).map(|_| ())
}

/// The entries of a folder that begin with `prefix`, sorted.
fn entries(dir: &Path, prefix: &str) -> Check<Vec<String>> {
    let names = std::fs::read_dir(dir)?.flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
    names.sort();
    Ok(names)
}

fn are(guest: &Guest, expected: &[&str]) -> Check {
    let found = entries(guest.dir.path(), "events.instr")?;
    ensure(found == expected, || {
        format!("{found:?}, expected {expected:?}")
    })
}

/// The trace has the events 1 to `last`.
fn has(trace: &Path, last: i128) -> Check {
    contiguous(&ctf::read(trace)?, 500, 1, last)
}

/// `instr list --json`.
fn listed(dir: &Path) -> Check<Vec<Value>> {
    let outcome = Run::new(&tools()?.instr)
        .args(["list", "--json"])
        .arg(dir)
        .succeed()?;
    serde_json::from_slice(&outcome.stdout).map_err(|error| error.to_string().into())
}

fn before_is_kept() -> Check {
    let guest = Guest::build("events")?;
    for count in ["3000", "40", "50"] {
        record(&guest, count, &[("INSTR_BUFFER", "4096")])?;
    }
    are(
        &guest,
        &["events.instr", "events.instr.1", "events.instr.2"],
    )?;
    for (name, last) in [
        ("events.instr.1", 3000),
        ("events.instr.2", 40),
        ("events.instr", 50),
    ] {
        contiguous(&sound(&guest.path(name), false)?, 500, 1, last)?;
    }
    // Commands take the newest one, and another one by its number.
    for (name, last) in [
        ("events", 50),
        ("events.3", 50),
        ("events.2", 40),
        (".", 50),
    ] {
        let summary = cases::summary(&guest.path(name))?;
        let count = summary["user_events"][0]["count"].as_i64();
        ensure(count == Some(last), || {
            format!("{name}: {count:?} events, expected {last}")
        })?;
    }
    let runs = listed(guest.dir.path())?;
    let column =
        |name: &str| -> Vec<String> { runs.iter().map(|run| run[name].to_string()).collect() };
    ensure(
        column("run") == ["3", "2", "1"] && column("arguments") == ["\"50\"", "\"40\"", "\"3000\""],
        || format!("{runs:?}"),
    )?;
    ensure(
        column("state").iter().all(|state| state == "\"complete\""),
        || format!("{runs:?}"),
    )
}

/// Of `10` two earlier runs stay; of `20` the only one, though the others came later.
fn command_lines() -> Check {
    let guest = Guest::build("events")?;
    for count in ["10", "20", "10", "10", "10", "10"] {
        record(&guest, count, &[("INSTR_KEEP", "2")])?;
    }
    are(
        &guest,
        &[
            "events.instr",
            "events.instr.2",
            "events.instr.4",
            "events.instr.5",
        ],
    )?;
    has(&guest.path("events.instr.2"), 20)?;
    let told = guest
        .traced()
        .arg("10")
        .env("INSTR_KEEP", "2")
        .env("INSTR_VERBOSE", "1")
        .output()?;
    ensure(
        told.errors()
            .contains("instr: note: removed: events.instr.4\n"),
        || format!("{told}"),
    )?;
    // A setting that is nonsense is told, and the default holds.
    record(&guest, "10", &[("INSTR_KEEP", "garbage")])?;
    let summary = cases::summary(&guest.path("events.instr"))?;
    let trouble = summary["setting_trouble"].as_str().unwrap_or("");
    ensure(
        trouble == "INSTR_KEEP=garbage is not a number from 0 to 1000; the default is used",
        || trouble.to_owned(),
    )?;
    are(
        &guest,
        &[
            "events.instr",
            "events.instr.2",
            "events.instr.5",
            "events.instr.6",
            "events.instr.7",
        ],
    )
}

/// Seventy command lines: those of the last 64 numbers before the newest stay.
fn numbers_back() -> Check {
    let guest = Guest::build("events")?;
    for count in 1..=70 {
        guest.traced().arg(count.to_string()).succeed()?;
    }
    let found = entries(guest.dir.path(), "events.instr.")?;
    let expected: std::collections::BTreeSet<String> =
        (6..=69).map(|run| format!("events.instr.{run}")).collect();
    ensure(
        found
            .iter()
            .cloned()
            .collect::<std::collections::BTreeSet<_>>()
            == expected,
        || format!("{found:?}"),
    )
}

/// Arguments that look like entries of the metadata are none.
fn odd_arguments() -> Check {
    let guest = Guest::build("events")?;
    for arguments in [
        "    empty = 1;",
        "\n    empty = 1;\n    run = 77;",
        "\" \\ \u{1}",
        "",
    ] {
        for count in ["10", "20"] {
            guest.traced().args([count, arguments]).succeed()?;
        }
    }
    let found = entries(guest.dir.path(), "events.instr.")?;
    let expected: Vec<String> = (1..=7).map(|run| format!("events.instr.{run}")).collect();
    ensure(found == expected, || format!("{found:?}"))?;
    // And a command line is the same again, whatever is in it.
    for _ in 0..3 {
        let run = guest.traced().args(["20", "\" \\ \u{1}"]);
        run.env("INSTR_KEEP", "1").succeed()?;
    }
    let runs = listed(guest.dir.path())?;
    let alike = runs.iter().filter(|run| run["arguments"] == "20 \" \\ ?");
    ensure(alike.clone().count() == 2, || format!("{runs:?}"))
}

fn keep_none() -> Check {
    let guest = Guest::build("events")?;
    for count in ["3000", "40"] {
        record(&guest, count, &[("INSTR_KEEP", "0")])?;
    }
    has(&guest.path("events.instr"), 40)?;
    only_entry(guest.dir.path(), "events.instr").map(|_| ())
}

fn without_events() -> Check {
    let guest = Guest::build("events")?;
    // Nothing was there: the empty one is the trace, until another run has something to tell.
    record(&guest, "0", &[])?;
    are(&guest, &["events.instr"])?;
    record(&guest, "0", &[])?;
    are(&guest, &["events.instr"])?;
    record(&guest, "30", &[])?;
    are(&guest, &["events.instr"])?;
    has(&guest.path("events.instr"), 30)?;
    for _ in 0..3 {
        record(&guest, "0", &[])?;
        are(&guest, &["events.instr", "events.instr.empty"])?;
        has(&guest.path("events.instr"), 30)?;
    }
    let shown = Run::new(&tools()?.instr)
        .args(["summary", "events"])
        .dir(guest.dir.path())
        .succeed()?;
    ensure(
        shown.errors().contains("a later run (0) recorded nothing"),
        || format!("{shown}"),
    )?;
    // What sensors read is worth a trace.
    record(&guest, "0", &[("INSTR_SENSORS", "schedstat")])?;
    are(
        &guest,
        &["events.instr", "events.instr.1", "events.instr.empty"],
    )?;
    has(&guest.path("events.instr.1"), 30)
}

fn child_outlives() -> Check {
    let guest = Guest::build("daemon")?;
    let trace = guest.path("daemon.instr");
    guest.compare(&["20"], &[])?;
    guest.compare(&["30"], &[])?;
    let found = entries(guest.dir.path(), "daemon.instr")?;
    ensure(found == ["daemon.instr", "daemon.instr.1"], || {
        format!("{found:?}")
    })?;
    for (trace, last) in [(guest.path("daemon.instr.1"), 20), (trace, 30)] {
        let child = only_entry(&trace, "fork-")?;
        has(&child, last)?;
    }
    Ok(())
}

/// All fifty have a trace of their own, and the earlier run is still there. Which one finds what is chance: so it is tried some times.
fn fifty_at_once() -> Check {
    let guest = Guest::build("events")?;
    for _ in 0..6 {
        for name in entries(guest.dir.path(), "events.instr")? {
            std::fs::remove_dir_all(guest.path(&name))?;
        }
        one_and_fifty(&guest)?;
    }
    Ok(())
}

fn one_and_fifty(guest: &Guest) -> Check {
    record(guest, "7", &[])?;
    let run = guest.traced().arg("100");
    let env = [("INSTR_KEEP", "60"), ("INSTR_BUFFER", "8192")];
    let run = env
        .iter()
        .fold(run, |run, (name, value)| run.env(name, value));
    let mut children = Vec::new();
    for _ in 0..50 {
        children.push(run.spawn()?);
    }
    for mut child in children {
        let status = child.wait()?;
        ensure(status.success(), || format!("{status}"))?;
    }
    let mut counts = std::collections::BTreeMap::<i128, usize>::new();
    for name in entries(guest.dir.path(), "events.instr")? {
        let events = ctf::read(&guest.path(&name))?;
        let last = values(&events, 500).last().copied().unwrap_or(0);
        contiguous(&events, 500, 1, last)?;
        *counts.entry(last).or_default() += 1;
    }
    let expected = [(7, 1), (100, 50)].into();
    ensure(counts == expected, || {
        format!("events and traces: {counts:?}")
    })
}

/// The library of `tests/robust/others.c`.
fn others(guest: &Guest) -> Check<PathBuf> {
    let library = guest.path("others.so");
    let build = Build::openmp(Target::X86_64).flag("-shared").flag("-fPIC");
    build.plain(&[&source("others")?], &library)?;
    Ok(library)
}

/// What is chance among fifty, one by one: the folder goes away between two calls of the run that wants it.
fn others_move() -> Check {
    for (call, name) in [
        ("mkdirat", "trace"),
        ("flock", "trace-2"),
        ("access", "trace-2"),
    ] {
        let guest = Guest::build("events")?;
        let others = others(&guest)?;
        let place = guest.path("trace");
        let env = [
            ("INSTR_TRACE", "trace"),
            ("LD_PRELOAD", utf8(&others)),
            ("OTHERS_DO", call),
            ("OTHERS_PLACE", utf8(&place)),
        ];
        guest.compare(&["50"], &env)?;
        has(&guest.path(name), 50).map_err(|_| format!("moved at {call}: no whole {name}"))?;
    }
    Ok(())
}

/// An empty run had the name, and gives it back while another one waits for its lock: the folder is not the name's any more.
fn gone() -> Check {
    let guest = Guest::build("events")?;
    let others = others(&guest)?;
    let place = guest.path("trace");
    record(&guest, "0", &[("INSTR_TRACE", "trace")])?;
    let env = [
        ("INSTR_TRACE", "trace"),
        ("LD_PRELOAD", utf8(&others)),
        ("OTHERS_DO", "gone"),
        ("OTHERS_PLACE", utf8(&place)),
    ];
    // By name in the folder.
    let held = |dir: &Path| -> Check<Vec<_>> {
        let files = content(dir)?.into_iter();
        Ok(files
            .map(|(path, bytes)| (path.file_name().map(ToOwned::to_owned), bytes))
            .collect())
    };
    let before = held(&place)?;
    guest.compare(&["50"], &env)?;
    ensure(held(&guest.path("trace.away"))? == before, || {
        "the folder that was moved away was taken".into()
    })?;
    has(&guest.path("trace-2"), 50)
}

/// Where no file can be locked, of many that begin at once each has a folder of its own.
fn without_locks() -> Check {
    let guest = Guest::build("events")?;
    let others = others(&guest)?;
    let run = guest.traced().arg("100").env("INSTR_BUFFER", "8192");
    let run = run
        .env("LD_PRELOAD", &others)
        .env("OTHERS_DO", "unlocked")
        .env("INSTR_KEEP", "60");
    let mut children = Vec::new();
    for _ in 0..20 {
        children.push(run.spawn()?);
    }
    for mut child in children {
        let status = child.wait()?;
        ensure(status.success(), || format!("{status}"))?;
    }
    let traces = entries(guest.dir.path(), "events.instr")?;
    for name in &traces {
        has(&guest.path(name), 100)?;
    }
    ensure(traces.len() == 20, || format!("{traces:?}"))
}

/// A folder that was just made, and which others may write to all the same: the reason is said, and no thousand names are tried.
fn shared_folders() -> Check {
    let guest = Guest::build("events")?;
    let others = others(&guest)?;
    let run = guest.traced().arg("50").env("INSTR_VERBOSE", "1");
    let run = run.env("LD_PRELOAD", &others).env("OTHERS_DO", "shared");
    let outcome = run.succeed()?;
    let reason =
        "not traced: its place is not a directory that this user owns and nobody else may write to";
    ensure(outcome.errors().contains(reason), || format!("{outcome}"))?;
    are(&guest, &[])
}

/// A child that closed every descriptor, the lock's among them, still writes into the folder of its parent, which is over.
fn daemon_closes() -> Check {
    let guest = Guest::build("daemon")?;
    let script = r#"
        INSTR_BUFFER=4096 "$1" 4000 closes
        wait_for() { for i in $(seq 400); do test ! -e "$1" || return 0; sleep 0.05; done; echo "no $1"; exit 1; }
        wait_for half
        "$1" 30 | cat
        touch go
        wait_for done
        for i in $(seq 400); do grep -q "closed = 0;" daemon.instr/fork-*/metadata || break; sleep 0.05; done"#;
    for keep in ["8", "0"] {
        let trace = guest.path("daemon.instr");
        let run = Run::words(["sh", "-c", script, "sh"]).arg(&guest.traced);
        run.dir(guest.dir.path())
            .env("INSTR_KEEP", keep)
            .succeed()?;
        has(&only_entry(&trace, "fork-")?, 4000)?;
        has(&only_entry(&guest.path("daemon.instr-2"), "fork-")?, 30)?;
        for name in ["half", "go", "done"] {
            std::fs::remove_file(guest.path(name))?;
        }
        for name in entries(guest.dir.path(), "daemon.instr")? {
            std::fs::remove_dir_all(guest.path(&name))?;
        }
    }
    Ok(())
}

/// What a run leaves that found no room for anything does not keep the next one from the name.
fn begun_on_full_disk() -> Check {
    let guest = Guest::build("events")?;
    let script = r#"head -c 10m /dev/zero >disk/fills 2>/dev/null; "$@" || exit
        rm disk/fills; "$@" || exit 94
        case "$1" in *traced*) test -s disk/trace/metadata || exit 95; test ! -e disk/trace-2 || exit 96;; esac"#;
    let env = [("INSTR_TRACE", "disk/trace"), ("INSTR_BUFFER", "4096")];
    compare_on_disk(&guest, "2m", script, &["2000"], &env)
}

/// A run that records nothing gives way also where its program was built again meanwhile.
fn rebuilt() -> Check {
    let guest = Guest::build("events")?;
    record(&guest, "40", &[])?;
    record(&guest, "0", &[])?;
    are(&guest, &["events.instr", "events.instr.empty"])?;
    let again = r#"cp "$1" new; mkfifo input; "$1" 0 waits <input & exec 3>input
        for i in $(seq 400); do test ! -e events.instr.1 || break; sleep 0.05; done; mv new "$1"; exec 3>&-; wait"#;
    let run = Run::words(["sh", "-c", again, "sh"]).arg(&guest.traced);
    run.dir(guest.dir.path()).succeed()?;
    are(&guest, &["events.instr", "events.instr.empty"])?;
    has(&guest.path("events.instr"), 40)
}

/// Slashes and dots behind a name are no parents of it: its folder is the user's alone.
fn slashes() -> Check {
    let guest = Guest::build("events")?;
    for (wanted, name) in [
        ("one//", "one"),
        ("two/.", "two"),
        ("in/three/./", "in/three"),
    ] {
        record(&guest, "40", &[("INSTR_TRACE", wanted)])?;
        let mode = std::fs::metadata(guest.path(name))?.permissions().mode() & 0o777;
        ensure(mode == 0o700, || format!("{wanted}: {mode:o}"))?;
        has(&guest.path(name), 40)?;
    }
    Ok(())
}

/// Runs are killed after a longer and longer time: what was complete before is complete afterwards, and the next run has a trace.
fn killed_at_any_moment() -> Check {
    let guest = Guest::build("events")?;
    let keep = ("INSTR_KEEP", "200");
    for step in 0..25_u64 {
        record(&guest, "25", &[keep])?;
        let run = guest.traced().arg("1000000").env(keep.0, keep.1);
        let mut child = run.spawn()?;
        std::thread::sleep(Duration::from_micros(step * 250));
        child.kill()?;
        child.wait()?;
        let runs = listed(guest.dir.path())?;
        let whole = runs
            .iter()
            .filter(|run| run["arguments"] == "25" && run["state"] == "complete");
        let whole = whole.count() as u64;
        ensure(whole == step + 1, || {
            format!("{whole} complete runs after {}: {runs:?}", step + 1)
        })?;
    }
    record(&guest, "25", &[keep])?;
    has(&guest.path("events.instr"), 25)
}

fn in_the_way() -> Check {
    let guest = Guest::build("events")?;
    let precious = guest.path("precious");
    std::fs::create_dir(&precious)?;
    std::fs::write(precious.join("metadata"), "of somebody")?;
    symlink(&precious, guest.path("events.instr.1"))?;
    std::fs::write(guest.path("events.instr.2"), "a file")?;
    std::fs::create_dir(guest.path("events.instr.3"))?;
    symlink("/nonexistent", guest.path("events.instr.4"))?;
    let before = content(&precious)?;
    for count in ["10", "20", "30"] {
        record(&guest, count, &[])?;
    }
    ensure(content(&precious)? == before, || {
        "what lies behind a link was changed".into()
    })?;
    ensure(
        std::fs::read(guest.path("events.instr.2"))? == b"a file",
        || "the file is gone".into(),
    )?;
    ensure(
        std::fs::read_dir(guest.path("events.instr.3"))?
            .next()
            .is_none(),
        || "the folder was used".into(),
    )?;
    has(&guest.path("events.instr.5"), 10)?;
    has(&guest.path("events.instr.6"), 20)?;
    has(&guest.path("events.instr"), 30)?;
    // An older run that holds something of the user's is not removed.
    std::fs::write(guest.path("events.instr.5/.notes"), "mine")?;
    for _ in 0..3 {
        record(&guest, "10", &[("INSTR_KEEP", "1")])?;
    }
    has(&guest.path("events.instr.5"), 10)
}

fn odd_names() -> Check {
    let guest = Guest::build("events")?;
    for name in [
        "a b",
        "line\nbreak",
        "-n",
        "x.instr",
        "5",
        "ü\u{301}",
        "%s%n",
        "*",
    ] {
        let trace = guest.path(name);
        for count in ["10", "20"] {
            record(&guest, count, &[("INSTR_TRACE", utf8(&trace))])?;
        }
        has(&trace, 20)?;
        has(&guest.path(&format!("{name}.1")), 10)?;
        let runs = listed(&trace)?;
        ensure(runs.len() == 2, || format!("{name:?}: {runs:?}"))?;
    }
    Ok(())
}

/// Whatever the program's name is, its runs are known again: they are kept, counted and shown under that name.
fn odd_programs() -> Check {
    let guest = Guest::build("events")?;
    for name in [
        "a b",
        "a\"b",
        "a\\b",
        "\\",
        "\"",
        "tab\tline\nesc\u{1b}",
        "a'b",
        "ü",
        "%s",
    ] {
        let program = guest.path(name);
        std::fs::copy(&guest.traced, &program)?;
        for count in ["10", "20", "30"] {
            let run = Run::new(&program).arg(count).dir(guest.dir.path());
            run.env("INSTR_KEEP", "8").succeed()?;
        }
        let trace = format!("{name}.instr");
        let found = entries(guest.dir.path(), &trace)?;
        let expected = [trace.clone(), format!("{trace}.1"), format!("{trace}.2")];
        ensure(found == expected, || format!("{name:?}: {found:?}"))?;
        has(&guest.path(&trace), 30)?;
        let summary = cases::summary(&program)?;
        let count = summary["user_events"][0]["count"].as_i64();
        ensure(count == Some(30), || format!("{name:?}: {count:?} events"))?;
        // A name of the user's choice is used again as well.
        let instr = || -> Check<Run> {
            let run = Run::new(&tools()?.instr).args(["run", "-q", "-o", "named"]);
            Ok(run.arg(&program).arg("10").dir(guest.dir.path()))
        };
        instr()?.succeed()?;
        instr()?.succeed()?;
        let found = entries(guest.dir.path(), "named")?;
        ensure(found == ["named", "named.1"], || {
            format!("{name:?}: {found:?}")
        })?;
        found
            .iter()
            .try_for_each(|trace| std::fs::remove_dir_all(guest.path(trace)))?;
    }
    Ok(())
}

fn readers_stay() -> Check {
    let guest = Guest::build("events")?;
    let trace = guest.path("shared");
    std::fs::create_dir(&trace)?;
    std::fs::set_permissions(&trace, PermissionsExt::from_mode(0o750))?;
    for count in ["10", "20"] {
        record(&guest, count, &[("INSTR_TRACE", utf8(&trace))])?;
    }
    for folder in [&trace, &guest.path("shared.1")] {
        let mode = std::fs::metadata(folder)?.mode() & 0o777;
        ensure(mode == 0o750, || {
            format!("{} has mode {mode:o}", folder.display())
        })?;
        let mode = std::fs::metadata(folder.join("metadata"))?.mode() & 0o777;
        ensure(mode == 0o640, || format!("its metadata has mode {mode:o}"))?;
    }
    Ok(())
}

fn working_folder() -> Check {
    let guest = Guest::build("events")?;
    let trace = guest.path("here");
    std::fs::create_dir(&trace)?;
    std::fs::set_permissions(&trace, PermissionsExt::from_mode(0o700))?;
    let inode = std::fs::metadata(&trace)?.ino();
    for count in ["10", "20"] {
        let run = guest.traced().arg(count).dir(&trace);
        run.env("INSTR_TRACE", &trace).succeed()?;
    }
    ensure(std::fs::metadata(&trace)?.ino() == inode, || {
        "it was renamed".into()
    })?;
    has(&trace, 10)?;
    let other = guest.path("here-2");
    has(&other, 20)?;
    let summary = cases::summary(&other)?;
    let trouble = summary["setting_trouble"].as_str().unwrap_or("").to_owned();
    ensure(
        trouble.contains("the earlier one cannot be renamed"),
        || trouble,
    )
}

fn disks() -> Check {
    let guest = Guest::build("events")?;
    let env = [("INSTR_TRACE", "disk/trace"), ("INSTR_BUFFER", "65536")];
    // The first run is whole; the second finds no room. The first one's packets are still there, under one of the two names.
    let script = "\"$@\" || exit; test ! -d disk/trace || before=$(cksum < disk/trace/thread_0000)
        dd if=/dev/zero of=disk/filler bs=1024 2>/dev/null; \"$@\" || exit; rm disk/filler; test -z \"$before\" && exit
        for t in disk/trace*; do test \"$(cksum < $t/thread_0000)\" = \"$before\" && found=1; done 2>/dev/null
        test \"$found\" = 1 || exit 95";
    compare_on_disk(&guest, "900k", script, &["1000"], &env)?;
    let script = "\"$@\" || exit; before=$(cat disk/trace/* 2>/dev/null | cksum); mount -o remount,bind,ro disk || exit 94
        \"$@\"; test \"$(cat disk/trace/* 2>/dev/null | cksum)\" = \"$before\" || exit 95";
    compare_on_disk(&guest, "2m", script, &["1000"], &env)
}

/// SPARC has no room for the code: a run replaces the one before, as the documents say.
fn small_processors() -> Check {
    if !cases::wanted(Target::Sparc32) {
        return Ok(());
    }
    let guest = Guest::build_for("events", Target::Sparc32)?;
    for count in ["30", "40"] {
        record(&guest, count, &[])?;
        // What the host keeps in a trace is no reason to leave its folder alone.
        let trace: PathBuf = guest.path("events.instr");
        std::fs::write(trace.join(".binary_0"), "program")?;
    }
    has(&guest.path("events.instr"), 40)?;
    only_entry(guest.dir.path(), "events.instr").map(|_| ())
}
