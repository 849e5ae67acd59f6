//! Sampling: shares beside those the program measures itself, chains of calls beside those written by hand, no program that waits
//! for itself, samples in Paraver's files, sensors and counters read at samples.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::prv;
use instr_tests::toolchain::{Build, Family, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

/// A sleep of 100 ms, as `sleep_for` of C++ does it: what is left of one that a signal ends is slept behind it.
const SLEEPS: &str = "#include <errno.h>\n#include <time.h>\nint main(void)\n{\n    struct timespec left = {0, 100000000};\n#pragma omp parallel num_threads(1)\n    while (nanosleep(&left, &left) != 0 && errno == EINTR)\n        ;\n    return 0;\n}\n";

/// Runs of the program that has every chance to wait for itself; more when `INSTR_TEST_RUNS` says so.
const RUNS: u32 = 100;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("sampling::never-waits-for-itself", never_waits),
        trial("sampling::paraver", paraver),
        trial("sampling::guest", guest),
        trial("sampling::sleeps-come-to-their-end", sleeps_end),
        trial("sampling::hole-in-front-of-the-code", hole),
        trial("sampling::secrets-stay-in-the-stack", secret),
        trial("sampling::sanitizer", sanitizer),
        trial("sampling::sensors-and-counters-at-samples", at_samples),
    ];
    for family in [Family::Gcc, Family::Clang] {
        trials.push(trial(
            format!("sampling::shares::x86_64-linux::{}", family.name()),
            move || shares(Target::X86_64, family),
        ));
        trials.push(trial(
            format!("sampling::chains::x86_64-linux::{}", family.name()),
            move || chains(Target::X86_64, family, WITH_FRAMES, 0),
        ));
        for flag in [WITH_FRAMES, "-fomit-frame-pointer"] {
            let name = family.name();
            trials.push(trial(
                format!("sampling::small-functions::{name}::{flag}"),
                move || small(family, flag),
            ));
        }
        trials.push(trial(
            format!("sampling::chains-of-copied-stacks::{}", family.name()),
            move || chains(Target::X86_64, family, "-fomit-frame-pointer", 16384),
        ));
        trials.push(trial(
            format!(
                "sampling::chains-without-debug-information::{}",
                family.name()
            ),
            move || chains(Target::X86_64, family, "-g0", 16384),
        ));
    }
    trials.push(trial("sampling::chains-without-frames", || {
        chains(Target::X86_64, Family::Gcc, "-fomit-frame-pointer", 0)
    }));
    for target in [Target::Sparc32, Target::Sparc64]
        .into_iter()
        .filter(|target| cases::wanted(*target))
    {
        let name = target.name();
        trials.push(trial(format!("sampling::shares::{name}"), move || {
            shares(target, Family::Gcc)
        }));
        trials.push(trial(format!("sampling::chains::{name}"), move || {
            chains(target, Family::Gcc, "-O2", 0)
        }));
    }
    trials
}

const WITH_FRAMES: &str = "-fno-omit-frame-pointer";

/// A built program of `tests/sampling/`.
fn program(
    dir: &Path,
    name: &str,
    target: Target,
    family: Family,
    flags: &[&str],
) -> Check<PathBuf> {
    let output = dir.join(name);
    let source = workspace::root()?
        .join("tests/sampling")
        .join(format!("{name}.c"));
    let mut build = Build::openmp(target);
    build.family = family;
    build
        .flags
        .extend(flags.iter().map(|&flag| flag.to_owned()));
    build.traced(&[&source], &output)?;
    Ok(output)
}

fn summary(trace: &Path) -> Check<Value> {
    let outcome = Run::new(&tools()?.instr)
        .args(["summary", "--json"])
        .arg(trace)
        .succeed()?;
    serde_json::from_slice(&outcome.stdout).map_err(|error| Stop::Fail(error.to_string()))
}

/// Programs that become others, wait for any signal, have small alternate stacks or many files do what they do without samples.
/// What looks like a return address and is in a hole of the program is not looked at.
fn hole() -> Check {
    let dir = workspace::work_dir("hole")?;
    let source = workspace::root()?.join("tests/robust/hole.c");
    let (plain, traced) = (dir.path().join("plain"), dir.path().join("hole"));
    let build = Build::openmp(Target::X86_64).flag("-Wl,-z,max-page-size=0x200000");
    build.plain(&[&source], &plain)?;
    build.traced(&[&source], &traced)?;
    let run = |program: &Path| {
        let run = Run::new(program).dir(dir.path());
        run.env("INSTR_SAMPLING_PERIOD", "1ms").output()
    };
    let outcome = run(&traced)?;
    run(&plain)?.same_as(&outcome)?;
    ensure(outcome.text().starts_with("a hole: 1,"), || outcome.text())?;
    let summary = cases::summary(&dir.path().join("hole.instr"))?;
    let samples = summary["samples"].to_string();
    ensure(samples.contains("spin"), || {
        format!("no sample of the loop: {samples}")
    })
}

/// No part of a text on the top of the stack is in the trace, whatever the compiler does with frames.
fn secret() -> Check {
    let secret = "correct-horse.battery_staple";
    for frame in ["-fomit-frame-pointer", "-fno-omit-frame-pointer"] {
        let dir = workspace::work_dir("sampling-secret")?;
        let program = program(
            dir.path(),
            "secret",
            Target::X86_64,
            Family::Gcc,
            &["-O2", frame],
        )?;
        let run = Run::new(&program).arg(secret).dir(dir.path());
        let run = run.env("INSTR_SAMPLING_PERIOD", "1ms");
        run.succeed()?;
        let trace = dir.path().join("secret.instr");
        let samples = cases::summary(&trace)?["samples"]["taken"].as_u64();
        ensure(samples.is_some_and(|taken| taken > 20), || {
            format!("{samples:?} samples")
        })?;
        for name in ["thread_0000", "switches_0000"] {
            let Ok(bytes) = std::fs::read(trace.join(name)) else {
                continue;
            };
            let piece = |at: usize| &secret.as_bytes()[at..at + 5];
            for at in 0..secret.len() - 5 {
                ensure(!bytes.windows(5).any(|window| window == piece(at)), || {
                    format!(
                        "{frame}: {} is in {name}",
                        String::from_utf8_lossy(piece(at))
                    )
                })?;
            }
        }
    }
    Ok(())
}

fn guest() -> Check {
    let dir = workspace::work_dir("sampling-guest")?;
    let program = program(dir.path(), "guest", Target::X86_64, Family::Gcc, &["-O1"])?;
    // The numbers of SIGURG, the signal that is taken by default, and of the other.
    for (signal, number) in [("", "23"), ("SIGPROF", "27")] {
        for arguments in [
            ["exec", "40"],
            ["waits", ""],
            ["late", number],
            ["stack", ""],
            ["files", "700"],
        ] {
            let outcome = Run::new(&program)
                .args(arguments)
                .env("INSTR_TRACE", dir.path().join("t"))
                .env("INSTR_SAMPLING_PERIOD", "200us")
                .env("INSTR_SAMPLING_SIGNAL", signal)
                .env("INSTR_BUFFER", "16K")
                .env("INSTR_COUNTERS", "schedstat-run")
                .succeed()?;
            ensure(outcome.text() == "ok\n", || {
                format!("{arguments:?} with signal `{signal}`: {}", outcome.text())
            })?;
        }
    }
    closes(&program, &dir.path().join("closes"))
}

/// Of a program that closes all descriptors what was counted before is told, and that there is no more.
fn closes(program: &Path, trace: &Path) -> Check {
    let outcome = Run::new(program)
        .arg("closes")
        .env("INSTR_TRACE", trace)
        .env("INSTR_SAMPLING_PERIOD", "1ms")
        .env("INSTR_COUNTERS", "schedstat-run")
        .succeed()?;
    ensure(outcome.text() == "ok\n", || outcome.text())?;
    let summary = summary(trace)?;
    let trouble = summary["setting_trouble"].as_str().unwrap_or("");
    ensure(trouble.contains("closed"), || {
        format!("trouble `{trouble}`")
    })
}

/// A sample that comes while ThreadSanitizer's library holds a lock of its own does not wait for it.
fn sanitizer() -> Check {
    let dir = workspace::work_dir("sampling-sanitizer")?;
    let flags = ["-O1", "-fsanitize=thread"];
    let program = program(dir.path(), "sanitized", Target::X86_64, Family::Gcc, &flags)?;
    let outcome = Run::new(&program)
        .env("INSTR_TRACE", dir.path().join("t"))
        .env("INSTR_SAMPLING_PERIOD", "500us")
        .env("INSTR_SENSORS", "schedstat")
        .env("INSTR_SENSORS_AT", "tasks,samples")
        // libgomp is not built for it: what it reports is not asked for.
        .env("TSAN_OPTIONS", "report_bugs=0:exitcode=0")
        .succeed()?;
    ensure(outcome.text() == "8192\n", || outcome.text())
}

/// Words and numbers, one pair a line, as the program measured them.
fn measured(text: &str) -> BTreeMap<&str, f64> {
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs
        .filter_map(|(name, number)| Some((name, number.trim().parse().ok()?)))
        .collect()
}

/// Shares are those of the processor time that the program measured. Perf's task clock is right within 2 %. Timers of processor time
/// end at the kernel's ticks alone, some milliseconds apart, and under an emulator they are all there is: within 8 %, as single parts
/// of the program are no longer than a few ticks.
fn shares(target: Target, family: Family) -> Check {
    let dir = workspace::work_dir("sampling-shares")?;
    let program = program(dir.path(), "shares", target, family, &[])?;
    let trace = dir.path().join("t");
    let outcome = target
        .run(&program)
        .arg("16")
        .env("INSTR_TRACE", &trace)
        .env("INSTR_SAMPLING_PERIOD", "1ms")
        .succeed()?;
    let text = outcome.text();
    let expected = measured(&text);
    let samples = &summary(&trace)?["samples"];
    let number = |field: &str| samples[field].as_f64().unwrap_or(f64::NAN);
    let (taken, periods) = (number("taken"), number("periods"));
    let exact = samples["exact"] == true;
    let bound = if exact { 0.02 } else { 0.08 };
    // Of the parts that the program measures: libomp's threads also spin at barriers, which is in the samples alone.
    let parts = ["heavy", "middle", "light"];
    let of_parts: f64 = parts.iter().map(|name| share(samples, name)).sum();
    ensure(of_parts > 0.8, || samples.to_string())?;
    for name in parts {
        let found = share(samples, name) / of_parts;
        let wanted = expected.get(name).copied().unwrap_or(f64::NAN);
        ensure((found - wanted).abs() <= bound, || {
            format!("{name}: {found}, the program measured {wanted}: {samples}")
        })?;
    }
    let total: f64 = samples["functions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|function| function["share"].as_f64())
        .sum();
    ensure((total - 1.0).abs() < 1e-9, || {
        format!("shares add up to {total}")
    })?;
    // A period is a millisecond; the program's own time is a part of it all.
    let seconds = expected.get("seconds").copied().unwrap_or(f64::NAN);
    ensure(
        periods + number("lost") >= 900.0 * seconds && periods <= 1300.0 * seconds + 300.0,
        || format!("{periods} periods of 1 ms in {seconds} s"),
    )?;
    ensure(!exact || taken >= 0.8 * 1000.0 * seconds, || {
        format!("{taken} samples in {seconds} s")
    })
}

fn share(samples: &Value, name: &str) -> f64 {
    let functions = samples["functions"].as_array().into_iter().flatten();
    let matching = functions.filter(|function| function["function"] == name);
    matching
        .filter_map(|function| function["share"].as_f64())
        .sum()
}

/// What stands in `chains.c`: the functions from the innermost on, then what the chain ends in, where all of it is certain. A name
/// ends at the compiler's mark (`.constprop.0`).
fn expected(which: usize, family: Family) -> (Vec<&'static str>, &'static str) {
    let body = |name: &'static str| match (family, name) {
        (Family::Gcc, "region") => "by_region._omp_fn.",
        (Family::Gcc, _) => "by_task._omp_fn.",
        (_, "region") => "by_region.omp_outlined",
        _ => "by_task.",
    };
    match which {
        0 => {
            let mut chain = vec!["spin"];
            chain.extend(["descend"; 6]);
            chain.push("by_recursion");
            (chain, "main")
        }
        1 => (vec!["spin", "work", body("region")], "by_region"),
        _ => (vec!["spin", "work", body("task")], "by_task"),
    }
}

/// Nearly all samples are in `spin`, called as `chains.c` says.
fn chains(target: Target, family: Family, flag: &str, copied: u32) -> Check {
    let dir = workspace::work_dir("sampling-chains")?;
    let program = program(dir.path(), "chains", target, family, &[flag])?;
    // Without a copied stack or frames only the innermost function, and the caller of a leaf, are certain.
    let bare = flag == "-fomit-frame-pointer" && copied == 0;
    // Frame pointers end where the run-time library has none.
    let whole = copied != 0 || target != Target::X86_64;
    for which in 0..3 {
        let trace = dir.path().join(format!("t{which}"));
        target
            .run(&program)
            .args([which.to_string().as_str(), "0.4"])
            .env("INSTR_TRACE", &trace)
            .env("INSTR_SAMPLING_PERIOD", "1ms")
            .env("INSTR_SAMPLING_STACK", copied.to_string())
            .succeed()?;
        let samples = &summary(&trace)?["samples"];
        let (inner, last) = expected(which, family);
        let (mut right, mut spinning) = (0.0, 0.0);
        for path in samples["paths"].as_array().into_iter().flatten() {
            let names: Vec<&str> = path["functions"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let part = path["share"].as_f64().unwrap_or(f64::NAN);
            if !names.first().is_some_and(|name| is(name, "spin")) {
                continue;
            }
            spinning += part;
            let prefix = names.len().min(inner.len());
            let begins = (0..prefix).all(|at| is(names[at], inner[at]));
            let ends = names[prefix..].iter().any(|name| is(name, last))
                && names.iter().any(|name| is(name, "main"));
            let complete = prefix == inner.len() && (ends || (!whole && which > 0));
            if if bare { begins } else { begins && complete } {
                right += part;
            }
        }
        ensure(spinning > 0.8 && right >= 0.97 * spinning, || {
            format!(
                "chain {which}: {right} of {spinning} are as expected: {}",
                samples["paths"]
            )
        })?;
    }
    Ok(())
}

/// Samples in functions that hardly do anything but begin and end: no caller is wrong, and with frame pointers none is missing.
fn small(family: Family, flag: &str) -> Check {
    const CHAIN: [&str; 5] = ["fourth", "third", "second", "first", "main"];
    let dir = workspace::work_dir("sampling-small")?;
    let flags = [flag, "-O2", "-fno-builtin", "-fno-optimize-sibling-calls"];
    let program = program(dir.path(), "small", Target::X86_64, family, &flags)?;
    let trace = dir.path().join("t");
    Run::new(&program)
        .arg("0.4")
        .env("INSTR_TRACE", &trace)
        .env("INSTR_SAMPLING_PERIOD", "200us")
        .succeed()?;
    let samples = &summary(&trace)?["samples"];
    let (mut inside, mut whole) = (0, 0);
    for path in samples["paths"].as_array().into_iter().flatten() {
        let functions = path["functions"].as_array().into_iter().flatten();
        let names: Vec<&str> = functions.filter_map(Value::as_str).collect();
        let periods = path["periods"].as_u64().unwrap_or(0);
        // What the C library calls itself is its own.
        let own = names.iter().position(|name| CHAIN.contains(name));
        let (Some(at), Some(first)) = (own, own.map(|at| names[at])) else {
            continue;
        };
        if first == "main" {
            continue;
        }
        let begin = CHAIN.iter().position(|name| *name == first).unwrap_or(0);
        // Only `fourth` calls the library.
        ensure(at == 0 || first == "fourth", || format!("{names:?}"))?;
        let expected = &CHAIN[begin..];
        let told = &names[at..];
        let common = told.len().min(expected.len());
        ensure(told[..common] == expected[..common], || {
            format!("{periods} samples in {names:?}: {}", samples["paths"])
        })?;
        inside += periods;
        whole += if common == expected.len() { periods } else { 0 };
    }
    let kept = flag == WITH_FRAMES;
    ensure(inside > 50 && (!kept || whole == inside), || {
        format!("{whole} of {inside} to main: {}", samples["paths"])
    })
}

fn is(name: &str, wanted: &str) -> bool {
    name == wanted
        || name.strip_prefix(wanted).is_some_and(|rest| {
            rest.starts_with('.') || wanted.ends_with('.') || wanted.contains("outlined")
        })
        // The body of a construct has the label that other tables give it.
        || name.split_once(" [omp ").is_some_and(|(function, _)| {
            wanted.strip_prefix(function).is_some_and(|mark| mark.starts_with('.'))
        })
}

/// 100 runs of `busy.c`, two at a time: each ends, and prints what it prints without us. Four of five at 1 kHz, the rest at 10 kHz;
/// by every clock.
fn never_waits() -> Check {
    let dir = workspace::work_dir("sampling-busy")?;
    let flags = ["-pthread", "-ldl", "--instr-memory"];
    let program = program(dir.path(), "busy", Target::X86_64, Family::Gcc, &flags)?;
    let runs: u32 = std::env::var("INSTR_TEST_RUNS")
        .ok()
        .map_or(Ok(RUNS), |runs| runs.parse())?;
    let plain = Run::new(&program)
        .arg("2")
        .env("INSTR_ENABLED", "0")
        .succeed()?;
    let some = |first: u32| -> Check {
        for number in (first..runs).step_by(2) {
            let trace = dir.path().join(format!("t{first}"));
            let clock = ["cpu", "cpu", "timer", "real"][number as usize / 2 % 4];
            let period = match number % 5 {
                4 if clock == "real" => "500us",
                4 => "100us",
                _ => "1ms",
            };
            let copied = if number % 3 == 0 { "4096" } else { "0" };
            let sampled = Run::new(&program)
                .arg("2")
                .env("INSTR_TRACE", &trace)
                .env("INSTR_SAMPLING_PERIOD", period)
                .env("INSTR_SAMPLING_CLOCK", clock)
                .env("INSTR_SAMPLING_STACK", copied)
                .succeed()
                .map_err(|why| Stop::Fail(format!("run {number}, {clock}, {period}: {why}")))?;
            ensure(
                sampled.stdout == plain.stdout && sampled.stderr == plain.stderr,
                || format!("run {number}, {clock}, {period}: {sampled}\nplain: {plain}"),
            )?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| some(1));
        let mine = some(0);
        let other = other.join().unwrap_or_else(|_| Err("a panic".into()));
        mine.and(other)
    })
}

/// The functions of samples in the `.prv` are, by the labels of the `.pcf`, those of the summary, as often; lines are of the source.
fn paraver() -> Check {
    let dir = workspace::work_dir("sampling-paraver")?;
    let program = program(
        dir.path(),
        "chains",
        Target::X86_64,
        Family::Gcc,
        &[WITH_FRAMES],
    )?;
    let trace = dir.path().join("t");
    Run::new(&program)
        .args(["0", "0.3"])
        .env("INSTR_TRACE", &trace)
        .env("INSTR_SAMPLING_PERIOD", "1ms")
        .succeed()?;
    let written = cases::paraver(&trace, prv::check::Options::default())?;
    let labels = |kind: u64| {
        let mut found: BTreeMap<&str, u64> = BTreeMap::new();
        let events = written.events.iter().filter(|event| event.kind == kind);
        for event in events {
            let label = written
                .config
                .values
                .get(&kind)
                .and_then(|values| values.get(&event.value))
                .map_or("?", String::as_str);
            *found.entry(label).or_default() += 1;
        }
        found
    };
    let innermost = labels(30_000_000);
    let samples = &summary(&trace)?["samples"];
    ensure(
        innermost.values().sum::<u64>() == samples["taken"].as_u64().unwrap_or(0),
        || format!("{innermost:?}, {samples}"),
    )?;
    // Depth 1 to 6 of nearly all are `descend`, 7 `by_recursion`, 8 `main`.
    let most = innermost.get("spin").copied().unwrap_or(0);
    ensure(most >= 200, || format!("{innermost:?}"))?;
    let deep = [
        (1, "descend"),
        (6, "descend"),
        (7, "by_recursion"),
        (8, "main"),
    ];
    for (depth, name) in deep {
        let found = labels(30_000_000 + depth);
        let count = found.get(name).copied().unwrap_or(0);
        ensure(count * 100 >= most * 97, || {
            format!("depth {depth}: {found:?}, {most} samples in spin")
        })?;
    }
    let lines = labels(30_000_100);
    let right = lines
        .iter()
        .filter(|(label, _)| label.starts_with("chains.c:"))
        .map(|(_, count)| count);
    ensure(right.sum::<u64>() >= most, || format!("{lines:?}"))
}

/// `INSTR_SENSORS_AT=samples`: a reading of sensor and counters with each sample, the sensor's value as its file has it.
fn at_samples() -> Check {
    let dir = workspace::work_dir("sampling-sensors")?;
    let (root, trace) = (dir.path().join("root"), dir.path().join("t"));
    let hwmon = root.join("sys/class/hwmon/hwmon0");
    std::fs::create_dir_all(&hwmon)?;
    std::fs::write(hwmon.join("name"), "coretemp\n")?;
    std::fs::write(hwmon.join("temp1_input"), "41000\n")?;
    let program = program(dir.path(), "chains", Target::X86_64, Family::Gcc, &[])?;
    Run::new(&program)
        .args(["0", "0.3"])
        .env("INSTR_TRACE", &trace)
        .env("INSTR_SAMPLING_PERIOD", "1ms")
        .env("INSTR_SENSORS", "hwmon")
        .env("INSTR_SENSORS_AT", "samples")
        .env("INSTR_SENSORS_ROOT", &root)
        .env("INSTR_COUNTERS", "schedstat-run")
        .succeed()?;
    let summary = summary(&trace)?;
    let taken = summary["samples"]["taken"].as_u64().unwrap_or(0);
    let sensor = summary["sensors"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|sensor| sensor["name"] == "hwmon/coretemp/temp1");
    let readings = sensor
        .and_then(|sensor| sensor["samples"].as_u64())
        .unwrap_or(0);
    let mean = sensor
        .and_then(|sensor| sensor["mean"].as_f64())
        .unwrap_or(f64::NAN);
    // Two more at begin and end. A sample that waits for the end of an event is told with the next one, and read with it.
    ensure(
        taken > 50 && readings <= taken + 2 && readings * 10 >= taken * 8,
        || {
            format!(
                "{readings} readings, {taken} samples: {}",
                summary["sensors"]
            )
        },
    )?;
    ensure((mean - 41.0).abs() < 1e-6, || format!("mean {mean}"))
}

/// Each signal makes the rest of a sleep longer; with the shortest period it would never end.
fn sleeps_end() -> Check {
    let dir = workspace::work_dir("sampling-sleep")?;
    let (source, program, trace) = (
        dir.path().join("sleep.c"),
        dir.path().join("sleep"),
        dir.path().join("trace"),
    );
    std::fs::write(&source, SLEEPS)?;
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    let run = Run::words(["timeout", "-s", "KILL", "20"])
        .arg(&program)
        .env("INSTR_TRACE", &trace)
        .env("INSTR_SAMPLING_PERIOD", "50us")
        .env("INSTR_SAMPLING_CLOCK", "real");
    run.succeed()?;
    let summary = Run::new(&tools()?.instr).args(["summary", "--json"]);
    let text = summary.arg(&trace).succeed()?.text();
    ensure(text.contains("500us is used"), || text.clone())
}
