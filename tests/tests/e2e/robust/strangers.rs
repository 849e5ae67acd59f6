//! What others put in the way of a trace: it is not followed, not waited for and not trusted (docs/security.md).

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::Target;
use libtest_mimic::Trial;

use super::places::{content, modes, utf8};
use super::{Guest, contiguous, sound, values};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial(
            "robust::stranger::link-to-a-trace-is-not-followed",
            link_is_not_followed,
        ),
        trial(
            "robust::stranger::folder-that-others-may-write",
            folder_of_many,
        ),
        trial(
            "robust::stranger::folder-of-another-user",
            folder_of_another,
        ),
        trial("robust::stranger::pipe-as-metadata", pipe_as_metadata),
        trial(
            "robust::stranger::no-name-left-is-said-when-asked",
            no_name_left,
        ),
        trial(
            "robust::stranger::program-with-rights-its-user-has-not",
            privileged,
        ),
        trial(
            "robust::stranger::nobody-else-may-read-unless-the-folder-says-so",
            readers,
        ),
    ];
    for kind in [
        "symbolic-link",
        "hard-link",
        "pipe",
        "folder",
        "pipe-as-stream",
    ] {
        trials.push(trial(
            format!("robust::stranger::plants-while-the-program-runs-{kind}"),
            move || plants(kind),
        ));
    }
    for policy in ["stream", "ring", "end"] {
        for (part, target) in [
            ("header", Target::X86_64),
            ("all", Target::X86_64),
            ("header", Target::Sparc32),
            ("all", Target::Sparc64),
        ] {
            if cases::wanted(target) && (target == Target::X86_64 || policy == "stream") {
                trials.push(trial(
                    format!(
                        "robust::stranger::writes-into-a-window-{part}-{policy}-{}",
                        target.name()
                    ),
                    move || writes_into_a_window(target, part, policy),
                ));
            }
        }
    }
    trials
}

/// The trace lies in `events.instr-2`, whole, and its metadata says why it has this name.
fn has_another_name(guest: &Guest) -> Check {
    let trace = guest.path("events.instr-2");
    contiguous(&sound(&trace, false)?, 500, 1, 50)?;
    let summary = cases::summary(&trace)?;
    let trouble = summary["setting_trouble"].as_str().unwrap_or("");
    ensure(trouble.starts_with("the trace has another name: "), || {
        format!("setting_trouble: {trouble:?}")
    })
}

fn link_is_not_followed() -> Check {
    let guest = Guest::build("events")?;
    let kept = guest.path("kept");
    guest.compare(&["70"], &[("INSTR_TRACE", utf8(&kept))])?;
    let before = content(&kept)?;
    symlink(&kept, guest.path("events.instr"))?;
    guest.compare(&["50"], &[])?;
    ensure(content(&kept)? == before, || {
        "the trace behind the link was changed".into()
    })?;
    has_another_name(&guest)
}

fn folder_of_many() -> Check {
    for mode in [0o777, 0o775, 0o1777] {
        let guest = Guest::build("events")?;
        let folder = guest.path("events.instr");
        std::fs::create_dir(&folder)?;
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode))?;
        guest.compare(&["50"], &[])?;
        ensure(content(&folder)?.is_empty(), || {
            format!("a folder with mode {mode:o} was used")
        })?;
        has_another_name(&guest)?;
    }
    Ok(())
}

fn folder_of_another() -> Check {
    let guest = Guest::build("events")?;
    let folder = guest.path("events.instr");
    std::fs::create_dir(&folder)?;
    if chown(&folder, Some(65534), None).is_err() {
        return Err(Stop::NotAllowed(
            "no right to give a folder to another user".into(),
        ));
    }
    guest.compare(&["50"], &[])?;
    ensure(content(&folder)?.is_empty(), || {
        "another user's folder was used".into()
    })?;
    has_another_name(&guest)
}

fn pipe(path: &Path) -> Check {
    Run::words(["mkfifo"]).arg(path).succeed().map(|_| ())
}

/// Before `main`, the runtime asks the metadata whose trace it finds.
fn pipe_as_metadata() -> Check {
    let guest = Guest::build("events")?;
    let folder = guest.path("events.instr");
    std::fs::create_dir(&folder)?;
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700))?;
    pipe(&folder.join("metadata"))?;
    guest.compare(&["50"], &[])?;
    contiguous(&sound(&guest.path("events.instr-2"), false)?, 500, 1, 50)
}

fn no_name_left() -> Check {
    let guest = Guest::build("events")?;
    symlink("nowhere", guest.path("events.instr"))?;
    for number in 2..1000 {
        symlink("nowhere", guest.path(&format!("events.instr-{number}")))?;
    }
    guest.compare(&["50"], &[])?;
    let told = guest
        .traced()
        .arg("50")
        .env("INSTR_VERBOSE", "1")
        .output()?;
    let lines: Vec<String> = told.errors().lines().map(str::to_owned).collect();
    ensure(
        matches!(&lines[..], [note, done] if done == "done"
            && note.starts_with("instr: note: not traced: its place is not a directory that this user owns")),
        || format!("said: {lines:?}"),
    )?;
    ensure(!guest.path("nowhere").exists(), || {
        "a link was followed".into()
    })
}

/// A folder that the runtime makes is its owner's alone. One that the user made says who may read what is in it.
fn readers() -> Check {
    let guest = Guest::build("events")?;
    let (own, shared) = (guest.path("own"), guest.path("shared"));
    std::fs::create_dir(&shared)?;
    std::fs::set_permissions(&shared, PermissionsExt::from_mode(0o750))?;
    for (trace, folder, file) in [(&own, 0o700, 0o600), (&shared, 0o750, 0o640)] {
        let script = "umask 022; exec \"$@\"";
        let run = Run::words(["sh", "-c", script, "sh"])
            .arg(&guest.traced)
            .arg("5000")
            .env("INSTR_TRACE", trace)
            .env("INSTR_BUFFER", "4096");
        run.succeed()?;
        for (path, mode) in modes(trace)? {
            let wanted = match path.file_name().and_then(|name| name.to_str()) {
                _ if path.is_dir() => folder,
                Some(".lock") => 0o600,
                _ => file,
            };
            ensure(mode & 0o777 == wanted, || {
                format!("{} has mode {mode:o}, not {wanted:o}", path.display())
            })?;
        }
    }
    Ok(())
}

/// A group that this account may give a file to, and that is not its own.
fn another_group() -> Check<u32> {
    if instr_test_needs::administrator() {
        return Ok(65534);
    }
    let groups = Run::words(["id", "-G"]).succeed()?.text();
    let own = Run::words(["id", "-g"]).succeed()?.text();
    let other = groups.split_whitespace().find(|group| *group != own.trim());
    let none = || Stop::NotAllowed("this account is in one group only".into());
    Ok(other.ok_or_else(none)?.parse()?)
}

/// A set-group-id program does what it does without us, and leaves nothing.
fn privileged() -> Check {
    let guest = Guest::build("privileged")?;
    let group = another_group()?;
    for program in [&guest.plain, &guest.traced] {
        chown(program, None, Some(group))?;
        std::fs::set_permissions(program, PermissionsExt::from_mode(0o2755))?;
    }
    let outcome = guest.compare(&[], &[("INSTR_VERBOSE", "1")])?;
    if outcome.text() != "secure 1\n" {
        return Err(Stop::NotAllowed(
            "set-group-id programs get no other group here".into(),
        ));
    }
    ensure(!guest.path("privileged.instr").exists(), || {
        "a set-group-id program left a trace".into()
    })
}

fn plants(kind: &str) -> Check {
    let guest = Guest::build("plants")?;
    let (trace, victim) = (guest.path("trace"), guest.path("victim"));
    std::fs::write(&victim, "years of work")?;
    let mode = std::fs::metadata(&victim)?.mode();
    let args = [utf8(&trace), kind, utf8(&victim)];
    let plain = guest.plain().args(args).output()?;
    let traced = guest
        .traced()
        .args(args)
        .env("INSTR_TRACE", &trace)
        .env("INSTR_BUFFER", "4096")
        .output()?;
    plain.same_as(&traced)?;
    ensure(std::fs::read(&victim)? == b"years of work", || {
        "a file outside the trace was written".into()
    })?;
    ensure(std::fs::metadata(&victim)?.mode() == mode, || {
        "the mode of a file outside the trace was changed".into()
    })?;
    match kind {
        "pipe-as-stream" => return Ok(()), // there is nowhere to write this stream to
        "folder" => std::fs::remove_dir(trace.join(".window_0001"))?, // no reader takes it for a window
        _ => {}
    }
    contiguous(&sound(&trace, false)?, 660, 1, 5000)
}

/// Who writes into a window changes the trace at most: never the program's memory, and no event when only the header is overwritten.
fn writes_into_a_window(target: Target, part: &str, policy: &str) -> Check {
    let guest = Guest::build_for("intruder", target)?;
    let trace = guest.path("trace");
    let buffer = if policy == "end" { "16M" } else { "16K" };
    let args = [utf8(&trace), part];
    let plain = guest.plain().args(args).output()?;
    let traced = guest
        .traced()
        .args(args)
        .env("INSTR_TRACE", &trace)
        .env("INSTR_POLICY", policy)
        .env("INSTR_BUFFER", buffer)
        .output()?;
    plain.same_as(&traced)?;
    ensure(traced.text() == "0 words changed\n", || traced.text())?;
    if part == "all" {
        return Ok(());
    }
    if policy == "ring" {
        let events = ctf::read_lossy(&trace)?;
        let kept = values(&events, 670); // the latest ones
        let first = kept.first().copied().ok_or("nothing was kept")?;
        return contiguous(&events, 670, first, 20_000);
    }
    let events = sound(&trace, false)?;
    contiguous(&events, 670, 1, 20_000)?;
    let threads = (0..3).flat_map(|_| 1..=1000);
    ensure(values(&events, 671).into_iter().eq(threads), || {
        "what the three threads recorded is not whole".into()
    })
}
