//! Where the trace goes: named, replaced, never over somebody else's files; full, read-only and impossible places.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run};
use libtest_mimic::Trial;

use super::{Guest, contiguous, discarded, only_entry, repair_to, sound, values};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("robust::place::default-is-name-dot-instr", default_place),
        trial("robust::place::relative-and-absolute-names", named_places),
        trial("robust::place::rerun-replaces-own-trace", rerun_replaces),
        trial(
            "robust::place::other-programs-trace-stays",
            other_trace_stays,
        ),
        trial("robust::place::users-files-stay", users_files_stay),
        trial("robust::place::impossible-places", impossible_places),
        trial(
            "robust::place::program-closes-descriptors-and-changes-directory",
            closes,
        ),
        trial("robust::full::file-size-limit", || file_size_limit(true)),
        trial("robust::full::file-size-limit-with-deadly-signal", || {
            file_size_limit(false)
        }),
        trial("robust::full::no-descriptors-left", no_descriptors),
        trial("robust::full::small-disk", small_disk),
        trial("robust::full::disk-without-a-byte", disk_without_a_byte),
        trial("robust::full::read-only-disk", read_only_disk),
    ]
}

fn utf8(path: &Path) -> &str {
    path.to_str().unwrap_or("")
}

fn default_place() -> Check {
    let guest = Guest::build("events")?;
    guest.compare(&["50"], &[])?;
    let events = sound(&guest.path("events.instr"), false)?;
    contiguous(&events, 500, 1, 50)
}

fn named_places() -> Check {
    let guest = Guest::build("events")?;
    guest.compare(&["50"], &[("INSTR_TRACE", "relative name/")])?;
    let absolute = guest.path("absolute");
    guest.compare(&["60"], &[("INSTR_TRACE", utf8(&absolute))])?;
    contiguous(&sound(&guest.path("relative name"), false)?, 500, 1, 50)?;
    contiguous(&sound(&absolute, false)?, 500, 1, 60)?;
    ensure(!guest.path("events.instr").exists(), || {
        "the default place was used too".into()
    })
}

fn rerun_replaces() -> Check {
    let guest = Guest::build("events")?;
    for count in ["3000", "40"] {
        guest.compare(&[count], &[("INSTR_BUFFER", "4096")])?;
    }
    let events = sound(&guest.path("events.instr"), false)?;
    contiguous(&events, 500, 1, 40)?;
    only_entry(guest.dir.path(), "events.instr").map(|_| ())
}

/// The content of every file below `dir`.
fn content(dir: &Path) -> Check<BTreeMap<PathBuf, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(dir)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(content(&path)?);
        } else {
            files.insert(path.clone(), std::fs::read(&path)?);
        }
    }
    Ok(files)
}

fn other_trace_stays() -> Check {
    let guest = Guest::build("events")?;
    let trace = guest.path("shared-name");
    guest.compare(&["50"], &[("INSTR_TRACE", utf8(&trace))])?;
    let before = content(&trace)?;
    let other = Guest::build("mixed")?;
    other.compare(&[], &[("INSTR_TRACE", utf8(&trace))])?;
    ensure(content(&trace)? == before, || {
        "another program's trace was changed".into()
    })?;
    contiguous(&sound(&trace, false)?, 500, 1, 50)
}

fn users_files_stay() -> Check {
    let guest = Guest::build("events")?;
    let trace = guest.path("papers");
    std::fs::create_dir(&trace)?;
    std::fs::write(trace.join("thesis.tex"), "years of work")?;
    std::fs::write(trace.join("metadata"), "of the thesis")?;
    let before = content(&trace)?;
    guest.compare(&["50"], &[("INSTR_TRACE", utf8(&trace))])?;
    ensure(content(&trace)? == before, || {
        "files in the way were changed".into()
    })?;
    let file = guest.path("letter");
    std::fs::write(&file, "dear reader")?;
    guest.compare(&["50"], &[("INSTR_TRACE", utf8(&file))])?;
    ensure(std::fs::read(&file)? == b"dear reader", || {
        "a file in the way was changed".into()
    })
}

fn impossible_places() -> Check {
    let guest = Guest::build("mixed")?;
    let long = format!("/tmp/{}", "x/".repeat(4000));
    let wide = "y".repeat(300);
    let below_a_file = format!("{}/trace", guest.plain.display());
    for place in [
        "",
        "/",
        "/dev/null",
        "/dev/full",
        "/dev/full/trace",
        "/proc/trace",
        &below_a_file,
        &long,
        &wide,
    ] {
        guest.compare(&[], &[("INSTR_TRACE", place)])?;
    }
    Ok(())
}

fn closes() -> Check {
    let guest = Guest::build("closes")?;
    let trace = guest.path("trace");
    guest.compare(
        &[],
        &[("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "8192")],
    )?;
    let events = sound(&trace, false)?;
    contiguous(&events, 650, 1, 10_000)
}

/// Runs both programs through `sh -c SCRIPT`, where `"$@"` is the program, and compares.
fn compare_in_shell(
    guest: &Guest,
    script: &str,
    args: &[&str],
    env: &[(&str, &str)],
) -> Check<Outcome> {
    let run = |program: &Path| {
        let run = Run::words(["sh", "-c", script, "sh"])
            .arg(program)
            .args(args)
            .dir(guest.dir.path());
        env.iter()
            .fold(run, |run, (name, value)| run.env(name, value))
            .output()
    };
    let plain = run(&guest.plain)?;
    let traced = run(&guest.traced)?;
    plain.same_as(&traced)?;
    Ok(traced)
}

const COUNT: i128 = 100_000;

/// A trace that could not be written whole: it opens, what is there is the beginning, the rest is counted.
fn lossy(guest: &Guest, trace: &Path) -> Check {
    let summary = cases::summary(trace)?;
    // What the disk had no room for may still be in the window.
    let events = ctf::read_lossy(&repair_to(trace, guest.path("repaired"))?)?;
    let kept = values(&events, 500);
    let lost = discarded(&summary)?;
    let increasing = kept.windows(2).all(|pair| pair[0] < pair[1]);
    ensure(increasing, || "events out of order".into())?;
    let total = kept.len() as i128 + lost;
    // The runtime's own events (flushes, clock pairs) may be lost as well.
    ensure(lost > 0 && (COUNT..COUNT + 2000).contains(&total), || {
        format!("recorded {} + discarded {lost} of {COUNT}", kept.len())
    })
}

fn file_size_limit(ignored: bool) -> Check {
    let guest = Guest::build("events")?;
    let trace = guest.path("trace");
    let trap = if ignored { "trap '' XFSZ; " } else { "" };
    let script = format!("ulimit -f 600; {trap}exec \"$@\"");
    let env = [("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "65536")];
    compare_in_shell(&guest, &script, &[&COUNT.to_string()], &env)?;
    lossy(&guest, &trace)?;
    // Not even one window fits: nothing can be recorded to a file, and nothing must break.
    let none = guest.path("none");
    compare_in_shell(
        &guest,
        &format!("ulimit -f 1; {trap}exec \"$@\""),
        &["1000"],
        &[("INSTR_TRACE", utf8(&none))],
    )?;
    Ok(())
}

fn no_descriptors() -> Check {
    let guest = Guest::build("mixed")?;
    let trace = guest.path("trace");
    let env = [("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "4096")];
    // The loader needs descriptor 3 for the libraries, and gives it back.
    compare_in_shell(&guest, "ulimit -n 4; exec \"$@\"", &[], &env)?;
    Ok(())
}

/// A file system of `size` in a folder of the guest; unmounted when dropped.
struct Disk(PathBuf);

impl Disk {
    fn mount(guest: &Guest, size: &str) -> Check<Self> {
        let at = guest.path("disk");
        std::fs::create_dir(&at)?;
        let options = format!("size={size}");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "none"])
            .arg(&at)
            .output()?;
        if mounted.status.success() {
            Ok(Self(at))
        } else {
            Err(Stop::Skip("no right to mount a small disk".into()))
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A failure shows as a folder that cannot be removed.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

fn small_disk() -> Check {
    let guest = Guest::build("events")?;
    let disk = Disk::mount(&guest, "400k")?;
    let trace = disk.0.join("trace");
    let env = [("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "65536")];
    guest.compare(&[&COUNT.to_string()], &env)?;
    lossy(&guest, &trace)?;
    // The same disk, filled by somebody else while the default window (larger than the disk) is asked for.
    let second = disk.0.join("second");
    guest.compare(&["5000"], &[("INSTR_TRACE", utf8(&second))])?;
    Ok(())
}

fn disk_without_a_byte() -> Check {
    let guest = Guest::build("mixed")?;
    let disk = Disk::mount(&guest, "64k")?;
    let filler = disk.0.join("filler");
    let fill = Command::new("dd")
        .arg("if=/dev/zero")
        .arg(format!("of={}", filler.display()))
        .arg("bs=4096")
        .output()?;
    ensure(!fill.status.success(), || "the disk is not full".into())?;
    let trace = disk.0.join("trace");
    guest.compare(&[], &[("INSTR_TRACE", utf8(&trace))])?;
    ensure(std::fs::metadata(&filler)?.len() > 0, || {
        "the other file was changed".into()
    })
}

fn read_only_disk() -> Check {
    let guest = Guest::build("mixed")?;
    let disk = Disk::mount(&guest, "1m")?;
    let remounted = Command::new("mount")
        .args(["-o", "remount,ro"])
        .arg(&disk.0)
        .output()?;
    ensure(remounted.status.success(), || "cannot remount".into())?;
    for trace in [disk.0.clone(), disk.0.join("trace")] {
        guest.compare(&[], &[("INSTR_TRACE", utf8(&trace))])?;
    }
    Ok(())
}
