//! Where the trace goes: named, never over somebody else's files; full, read-only and impossible places.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use libtest_mimic::Trial;
use serde_json::Value;

use crate::small_disk::SmallDisk;

use super::{Guest, contiguous, discarded, only_entry, repair_to, sound, source, values};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("robust::place::default-is-name-dot-instr", default_place),
        trial("robust::place::relative-and-absolute-names", named_places),
        trial(
            "robust::place::other-programs-trace-stays",
            other_trace_stays,
        ),
        trial(
            "robust::place::run-killed-before-its-metadata",
            killed_before_metadata,
        ),
        trial("robust::place::users-files-stay", users_files_stay),
        trial("robust::place::impossible-places", impossible_places),
        trial(
            "robust::place::program-closes-descriptors-and-changes-directory",
            closes,
        ),
        trial(
            "robust::place::program-closes-descriptors-beside-threads",
            closes_beside,
        ),
        trial("robust::place::masks-leave-the-owner-his-trace", masks),
        trial(
            "robust::place::standard-input-and-output-are-closed",
            standard_closed,
        ),
        trial("robust::full::file-size-limit", || file_size_limit(true)),
        trial("robust::full::file-size-limit-with-deadly-signal", || {
            file_size_limit(false)
        }),
        trial("robust::full::no-descriptors-left", no_descriptors),
        trial("robust::full::no-memory-for-threads", no_memory),
        trial("robust::full::renames-fail", failing_renames),
        trial("robust::full::killed-at-the-first-rename", killed_at_rename),
        trial("robust::full::small-disk", small_disk),
        trial("robust::full::disk-without-a-byte", disk_without_a_byte),
        trial("robust::full::read-only-disk", read_only_disk),
        trial("robust::full::every-size-and-policy", disk_sizes),
        trial("robust::full::children-without-room", children_without_room),
    ]
}

pub(super) fn utf8(path: &Path) -> &str {
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
    guest.compare(&["70"], &[("INSTR_TRACE", "made//on the/way/")])?;
    contiguous(&sound(&guest.path("made/on the/way"), false)?, 500, 1, 70)?;
    contiguous(&sound(&guest.path("relative name"), false)?, 500, 1, 50)?;
    contiguous(&sound(&absolute, false)?, 500, 1, 60)?;
    ensure(!guest.path("events.instr").exists(), || {
        "the default place was used too".into()
    })
}

/// What is left of a run that was killed while it wrote its first metadata keeps nobody from the folder.
fn killed_before_metadata() -> Check {
    let guest = Guest::build("events")?;
    let trace = guest.path("events.instr");
    // Where the mask is 002, others might write to it.
    std::fs::DirBuilder::new().mode(0o700).create(&trace)?;
    std::fs::write(trace.join(".metadata.new"), "/* CTF 1.8 */\n\ntra")?;
    std::fs::write(trace.join(".lock"), "")?;
    guest.compare(&["40"], &[])?;
    contiguous(&sound(&trace, false)?, 500, 1, 40)?;
    ensure(!trace.join(".metadata.new").exists(), || {
        "the draft is still there".into()
    })?;
    only_entry(guest.dir.path(), "events.instr").map(|_| ())
}

/// The content of every file below `dir`.
pub(super) fn content(dir: &Path) -> Check<BTreeMap<PathBuf, Vec<u8>>> {
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
    let beside_root = Path::new("/-2");
    let was_there = beside_root.exists();
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
    ensure(beside_root.exists() == was_there, || {
        "a trace that was to be / is in /-2".into()
    })
}

fn closes() -> Check {
    let guest = Guest::build("closes")?;
    let trace = guest.path("trace");
    guest.compare(
        &[],
        &[("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "8192")],
    )?;
    owner_may_use(&trace)?;
    let events = sound(&trace, false)?;
    contiguous(&events, 650, 1, 10_000)
}

/// Descriptors are closed and replaced while buffers are written: each event is in the trace once, or counted as lost.
fn closes_beside() -> Check {
    let guest = Guest::build("closes_beside")?;
    for (buffer, most) in [("4096", "32"), ("4096", "64"), ("32768", "32")] {
        let trace = guest.path(&format!("trace-{buffer}-{most}"));
        let env = [("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", buffer)];
        guest.compare(&[most], &env)?;
        let outcome = Run::new(&tools()?.instr)
            .args(["summary", "--json"])
            .arg(&trace)
            .succeed()?;
        let summary: Value = serde_json::from_str(&outcome.text()).map_err(|e| e.to_string())?;
        let events = summary["user_events"].as_array().cloned();
        let events = events.iter().flatten();
        let kept: i128 = events
            .filter_map(|event| event["count"].as_i64())
            .map(i128::from)
            .sum();
        let lost = discarded(&summary)?;
        // Events of the runtime's own, a few of each thread, are lost too.
        ensure(
            (0..=1000).contains(&(kept + lost - 900_000))
                && !outcome.errors().contains("comes after"),
            || {
                format!(
                    "{buffer}, {most}: {kept} kept, {lost} lost of 900,000\n{}",
                    outcome.errors()
                )
            },
        )?;
    }
    Ok(())
}

/// Where a program has closed its standard input, output and errors, whatever it reads and writes there gets nowhere, and no file of the trace.
fn standard_closed() -> Check {
    const EACH: i128 = 20_000;
    let guest = Guest::build("standard")?;
    const ALL: &str = "<&- >&- 2>&-";
    let others = [
        "</dev/null >&- 2>/dev/null",
        "<&- >/dev/null 2>&-",
        "</dev/null >/dev/null 2>/dev/null",
    ];
    for (at, closed) in std::iter::once(ALL).chain(others).enumerate() {
        let trace = guest.path(&format!("trace{at}"));
        let script = format!("exec \"$@\" {closed}");
        let env = [("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "4096")];
        let told = |program: &Path| -> Check<String> {
            let run = Run::words(["sh", "-c", &script, "sh"]).arg(program);
            let run = run.args(["told", &EACH.to_string()]);
            env.iter()
                .fold(run, |run, (name, value)| run.env(name, value))
                .dir(guest.dir.path())
                .succeed()?;
            Ok(std::fs::read_to_string(guest.path("told"))?)
        };
        let (plain, traced) = (told(&guest.plain)?, told(&guest.traced)?);
        // What is open works, more or less often.
        let same = if closed == ALL {
            traced == plain && plain.starts_with("0 ")
        } else {
            traced.split_once(' ').map(|told| told.1) == plain.split_once(' ').map(|told| told.1)
        };
        ensure(same, || {
            format!("{closed}: {plain} plainly, {traced} traced")
        })?;
        let events = sound(&trace, false)?;
        contiguous(&events, 660, 1, EACH)?;
        contiguous(&events, 661, 1, EACH)?;
    }
    Ok(())
}

/// A mask that takes all rights away takes none from the owner of a trace, and none gives rights to others.
fn masks() -> Check {
    let guest = Guest::build("events")?;
    for mask in ["0777", "0377", "0077", "0027", "0"] {
        let trace = guest.path(&format!("trace{mask}"));
        let script = format!("umask {mask}; exec \"$@\"");
        let env = [("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "4096")];
        compare_in_shell(&guest, &script, &["5000"], &env)?;
        owner_may_use(&trace)?;
        for (path, mode) in modes(&trace)? {
            ensure(mode & 0o077 == 0, || {
                format!("umask {mask}: {} has mode {mode:o}", path.display())
            })?;
        }
        contiguous(&sound(&trace, false)?, 500, 1, 5000)?;
    }
    Ok(())
}

/// The owner may read and write every file of a trace, and look into its folder. Checked by the modes: root may do it anyway.
fn owner_may_use(trace: &Path) -> Check {
    for (path, mode) in modes(trace)? {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        ensure(mode & 0o700 == wanted, || {
            format!("{} has mode {mode:o}", path.display())
        })?;
    }
    Ok(())
}

/// A trace's folder and its files with their modes, but for the program's own file.
pub(super) fn modes(trace: &Path) -> Check<Vec<(PathBuf, u32)>> {
    let mut found = vec![(trace.to_owned(), std::fs::metadata(trace)?.mode())];
    for entry in std::fs::read_dir(trace)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name == ".binary_0") {
            continue;
        }
        let mode = std::fs::symlink_metadata(&path)?.mode();
        found.push((path, mode));
    }
    ensure(found.len() > 2, || format!("too few files: {found:?}"))?;
    Ok(found)
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

/// Threads without memory for their windows do not ask for it at each event (0.4 ms each), all of them are counted, and there is memory again for later threads.
fn no_memory() -> Check {
    const EACH: i128 = 50_000;
    let guest = Guest::build("short_memory")?;
    let trace = guest.path("trace");
    let env = [("INSTR_TRACE", utf8(&trace)), ("INSTR_BUFFER", "1M")];
    let begin = std::time::Instant::now();
    guest.compare(&[&EACH.to_string()], &env)?;
    let taken = begin.elapsed();
    ensure(taken.as_secs() < 15, || {
        format!("{taken:?} for {EACH} events of two threads")
    })?;
    let summary = cases::summary(&trace)?;
    let kept = values(&ctf::read_lossy(&trace)?, 7);
    ensure(
        kept.iter().filter(|value| **value == 2).count() == 1,
        || format!("recorded: {kept:?}"),
    )?;
    let total = kept.len() as i128 + discarded(&summary)?;
    let emitted = 1 + 2 * EACH + 3;
    // The begins of these threads may be counted as well.
    ensure((emitted..emitted + 10).contains(&total), || {
        format!("recorded and discarded: {total} of {emitted}")
    })
}

/// A library that makes renames fail.
fn renames(guest: &Guest) -> Check<PathBuf> {
    let library = guest.path("renames.so");
    let build = Build::openmp(Target::X86_64).flag("-shared").flag("-fPIC");
    build.plain(&[&source("renames")?], &library)?;
    Ok(library)
}

/// The metadata are written again at the end; where they get no name even then, their draft says what the trace is.
fn failing_renames() -> Check {
    let guest = Guest::build("events")?;
    let library = renames(&guest)?;
    let env = |fail| {
        [
            ("INSTR_TRACE", "trace"),
            ("LD_PRELOAD", utf8(&library)),
            ("RENAMES_FAIL", fail),
        ]
    };
    let trace = guest.path("trace");
    guest.compare(&["50"], &env("1"))?;
    contiguous(&sound(&trace, false)?, 500, 1, 50)?;
    std::fs::remove_dir_all(&trace)?;
    guest.compare(&["5000"], &env("1000"))?;
    ensure(!trace.join("metadata").exists(), || {
        "the rename did not fail".into()
    })?;
    let told = Run::new(&tools()?.instr)
        .arg("summary")
        .arg(&trace)
        .output()?;
    ensure(told.errors().contains("have not got their name"), || {
        format!("no word of it: {told}")
    })?;
    let events = sound(&repair_to(&trace, guest.path("repaired"))?, false)?;
    contiguous(&events, 500, 1, 5000)?;
    // The next run neither loses its own events nor takes these away.
    let before = content(&trace)?;
    guest.compare(&["60"], &[("INSTR_TRACE", "trace")])?;
    ensure(content(&trace)? == before, || {
        "the trace without a name was changed".into()
    })?;
    contiguous(&sound(&guest.path("trace-2"), false)?, 500, 1, 60)
}

/// Nothing was recorded then: the program had not begun.
fn killed_at_rename() -> Check {
    let guest = Guest::build("events")?;
    let library = renames(&guest)?;
    let run = guest.traced().arg("50").env("INSTR_TRACE", "trace");
    let run = run.env("LD_PRELOAD", &library).env("RENAMES_KILL", "1");
    let killed = run.output()?;
    ensure(killed.status == Status::Signal(9), || format!("{killed}"))?;
    guest.compare(&["60"], &[("INSTR_TRACE", "trace")])?;
    contiguous(&sound(&guest.path("trace"), false)?, 500, 1, 60)
}

/// Runs a shell script as [`compare_in_shell`] does, where `disk` in the working folder is a [`SmallDisk`] of `size`.
pub(super) fn compare_on_disk(
    guest: &Guest,
    size: &str,
    script: &str,
    args: &[&str],
    env: &[(&str, &str)],
) -> Check {
    let disk = SmallDisk::new(guest.dir.path(), size)?;
    let run = |program: &Path| {
        env.iter()
            .fold(
                disk.run(script).arg(program).args(args),
                |run, (name, value)| run.env(name, value),
            )
            .output()
    };
    let (plain, traced) = (run(&guest.plain)?, run(&guest.traced)?);
    // Codes that no program of ours uses: what the script itself finds.
    let of_script = |run: &Outcome| matches!(run.status, Status::Code(90..=99));
    ensure(!of_script(&plain) && !of_script(&traced), || {
        format!("{plain}\n{traced}")
    })?;
    plain.same_as(&traced)
}

fn small_disk() -> Check {
    let guest = Guest::build("events")?;
    // The disk is filled by somebody else, too, while the default window (larger than the disk) is asked for.
    let script = "\"$@\" || exit; test ! -d disk/trace || cp -r disk/trace kept || exit 98
        INSTR_TRACE=disk/second INSTR_BUFFER= exec \"$1\" 5000";
    let env = [("INSTR_TRACE", "disk/trace"), ("INSTR_BUFFER", "65536")];
    compare_on_disk(&guest, "400k", script, &[&COUNT.to_string()], &env)?;
    lossy(&guest, &guest.path("kept"))
}

/// Sizes of disks in KiB: from a page to more than the events, the metadata and a window take.
const DISKS: [u32; 18] = [
    4, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512, 1024,
];
const ON_DISK: i128 = 20_000;
/// Events of the runtime's own that a process may lose.
const OWN: i128 = 8;

/// On disks of all sizes a trace has a part of the events in their order (by `end` the first ones, of a ring without a gap), the others are counted, or
/// there is no trace, which is said in one line.
fn disk_sizes() -> Check {
    let guest = Guest::build("events")?;
    let mut whole = 0;
    for (policy, size) in ["stream", "end", "ring"]
        .iter()
        .flat_map(|policy| DISKS.map(|size| (*policy, size)))
    {
        let kept = guest.path(&format!("kept-{policy}-{size}"));
        let script = format!(
            "\"$@\" || exit; test ! -d disk/trace || cp -r disk/trace {} || exit 98",
            utf8(&kept)
        );
        let env = [
            ("INSTR_TRACE", "disk/trace"),
            ("INSTR_BUFFER", "64K"),
            ("INSTR_POLICY", policy),
        ];
        let count = ON_DISK.to_string();
        compare_on_disk(&guest, &format!("{size}k"), &script, &[&count], &env)?;
        whole += account(&guest, &kept, policy)
            .map_err(|stop| format!("{policy}, {size} KiB: {stop:?}"))?;
    }
    // The largest disks hold everything that `stream` writes.
    ensure(whole > 0, || "no trace was whole".into())
}

/// Whether a trace has every event: 1, else 0.
fn account(guest: &Guest, trace: &Path, policy: &str) -> Check<u32> {
    if !trace.join("metadata").exists() {
        let told = Run::new(&tools()?.instr)
            .arg("summary")
            .arg(trace)
            .output()?;
        let lines = told.errors().lines().count();
        return ensure(
            told.status == Status::Code(1) && (1..=2).contains(&lines),
            || format!("{told}"),
        )
        .map(|()| 0);
    }
    let lost = discarded(&cases::summary(trace)?)?;
    let repaired = guest.path("repaired");
    let events = ctf::read_lossy(&repair_to(trace, repaired.clone())?)?;
    std::fs::remove_dir_all(repaired)?;
    let kept = values(&events, 500);
    // What `stream` had no room for is missing in the middle: what the window held in the end is there.
    let step = |most: i128| {
        kept.windows(2)
            .all(|pair| (1..=most).contains(&(pair[1] - pair[0])))
    };
    let in_order = match policy {
        "stream" => step(ON_DISK),
        "end" => step(1) && kept.first().is_none_or(|first| *first == 1),
        _ => step(1), // the last ones, if the disk has room for all the packets
    };
    let total = kept.len() as i128 + lost;
    // The runtime's own events may be lost as well.
    ensure(
        in_order && (ON_DISK..ON_DISK + 1000).contains(&total),
        || {
            format!(
                "recorded {:?} to {:?}, {}, and discarded {lost} of {ON_DISK}",
                kept.first(),
                kept.last(),
                kept.len()
            )
        },
    )?;
    Ok(u32::from(lost == 0))
}

fn disk_without_a_byte() -> Check {
    let guest = Guest::build("mixed")?;
    let script = "dd if=/dev/zero of=disk/filler bs=4096 2>/dev/null && exit 97
        before=$(cksum disk/filler); \"$@\"; status=$?
        test -s disk/filler && test \"$before\" = \"$(cksum disk/filler)\" || exit 96; exit $status";
    compare_on_disk(&guest, "64k", script, &[], &[("INSTR_TRACE", "disk/trace")])
}

fn read_only_disk() -> Check {
    let guest = Guest::build("mixed")?;
    let script = "touch disk/file 2>/dev/null && exit 97; \"$@\"";
    for trace in ["disk", "disk/trace"] {
        compare_on_disk(&guest, "1m,ro", script, &[], &[("INSTR_TRACE", trace)])?;
    }
    Ok(())
}

/// Of children that a full disk has no room for, what they lost is counted in the names of files, and said with how many they are.
fn children_without_room() -> Check {
    const CHILDREN: i128 = 60;
    const EACH: i128 = 50;
    let guest = Guest::build("children")?;
    for policy in ["stream", "ring"] {
        let kept = guest.path(&format!("kept-{policy}"));
        let script = format!(
            "\"$@\" || exit; test ! -d disk/trace || cp -r disk/trace {} || exit 98",
            utf8(&kept)
        );
        let env = [
            ("INSTR_TRACE", "disk/trace"),
            ("INSTR_BUFFER", "16K"),
            ("INSTR_POLICY", policy),
            ("INSTR_SWITCHES", "0"),
        ];
        let [count, each] = [CHILDREN, EACH].map(|number| number.to_string());
        // Room for the parent and some children; names take none.
        compare_on_disk(
            &guest,
            "400k,nr_inodes=2000",
            &script,
            &[&count, &each],
            &env,
        )?;
        let outcome = Run::new(&tools()?.instr)
            .args(["summary", "--json"])
            .arg(&kept)
            .succeed()?;
        let summary: serde_json::Value =
            serde_json::from_str(&outcome.text()).map_err(|error| error.to_string())?;
        let children = summary["children"].as_array().cloned().unwrap_or_default();
        let all = || std::iter::once(&summary).chain(&children);
        let recorded: i64 = all()
            .flat_map(|process| process["user_events"].as_array().into_iter().flatten())
            .filter_map(|events| events["count"].as_i64())
            .sum();
        let lost = all().map(discarded).sum::<Check<i128>>()?;
        let total = i128::from(recorded) + lost;
        // The runtime's own events of each process may be lost as well.
        let expected = CHILDREN * EACH..=CHILDREN * (EACH + OWN);
        let told = format!("{} processes", CHILDREN - children.len() as i128);
        ensure(
            recorded > 0
                && lost > 0
                && expected.contains(&total)
                && outcome.errors().contains(&told),
            || format!("{policy}: {recorded} recorded and {lost} lost, {outcome}"),
        )?;
    }
    Ok(())
}
