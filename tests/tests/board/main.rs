//! The RTEMS platform, its sinks and its sensors, on a board that is not there (`tests/board`), little- and big-endian.

mod costs;
mod kernel;
mod measures;
mod size;
mod switches;

use std::path::{Path, PathBuf};

use instr_tests::board::{Board, Host, files};
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::tools;
use instr_tests::workspace;
use instr_trace::{Payload, Trace};
use libtest_mimic::Arguments;

use costs::instructions;
use kernel::{
    all_events, attaching, dump_by_gdb, interrupts, late_metadata, leaf_functions, no_switches,
    no_windows, times_after_fatal, told_events,
};
use measures::{heap, samples, sensors, sensors_at_samples, stacks};
use size::{footprint, no_heap};
use switches::{switches, told_switches};

const SENSORS: &str = "sensors = [\"l4stat\", \"gr740\"]\nsensors_period = \"2ms\"\n";

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);
    let mut trials = Vec::new();
    for host in Host::ALL {
        let name = |test: &str| format!("board::{}::{test}", host.name());
        trials.push(trial(
            name("console_image_and_files_are_one_trace"),
            move || one_trace(host),
        ));
        trials.push(trial(
            name("the_platform_of_the_porting_guide_records"),
            move || porting_guide(host),
        ));
        trials.push(trial(
            name("sensors_tell_what_the_devices_gave"),
            move || sensors(host),
        ));
        trials.push(trial(
            name("samples_are_what_the_clock_interrupted"),
            move || samples(host),
        ));
        trials.push(trial(
            name("sensors_read_at_samples_are_what_the_devices_gave"),
            move || sensors_at_samples(host),
        ));
        trials.push(trial(
            name("the_heap_is_what_the_program_says"),
            move || heap(host),
        ));
        trials.push(trial(name("stacks_are_as_deep_as_paint_says"), move || {
            stacks(host)
        }));
        trials.push(trial(
            name("threads_that_attach_at_once_do_not_sleep"),
            move || attaching(host),
        ));
        trials.push(trial(
            name("events_of_interrupts_are_recorded_or_counted"),
            move || interrupts(host),
        ));
        trials.push(trial(
            name("times_are_right_after_a_fatal_error"),
            move || times_after_fatal(host),
        ));
        trials.push(trial(
            name("consoles_print_their_metadata_late"),
            move || late_metadata(host),
        ));
        trials.push(trial(
            name("consoles_say_how_many_events_there_are"),
            move || told_events(host),
        ));
        trials.push(trial(
            name("switches_without_memory_are_counted"),
            move || no_switches(host),
        ));
        trials.push(trial(
            name("events_without_memory_are_counted"),
            move || no_windows(host),
        ));
        trials.push(trial(
            name("a_fatal_error_leaves_what_was_recorded"),
            move || fatal(host),
        ));
    }
    trials.push(trial(
        "board::damaged_lines_are_told_and_the_rest_is_kept",
        damage,
    ));
    trials.push(trial(
        "board::a_stopped_program_leaves_its_windows",
        stopped,
    ));
    trials.push(trial(
        "board::a_program_linked_by_hand_without_a_configuration_records",
        by_hand,
    ));
    trials.push(trial(
        "board::functions_without_a_frame_have_callers_where_memory_begins_at_0",
        leaf_functions,
    ));
    trials.push(trial(
        "board::the_guides_gdb_command_dumps_the_image",
        dump_by_gdb,
    ));
    trials.push(trial("board::the_runtime_is_small", footprint));
    trials.push(trial(
        "board::recording_takes_few_instructions",
        instructions,
    ));
    trials.push(trial(
        "board::the_runtime_has_no_heap_and_small_frames",
        no_heap,
    ));
    instr_tests::outcome::run(&arguments, trials);
}

fn config(policy: &str, more: &str) -> String {
    format!(
        "policy = \"{policy}\"\nbuffer = \"32K\"\nsink = \"own\"\n{more}[image]\npool = \"1M\"\n"
    )
}

/// The same run, by all three ways.
fn one_trace(host: Host) -> Check {
    let board = Board::new(host, "board-one")?;
    for (policy, program) in [("end", "sparselu_task"), ("ring", "sparselu_for")] {
        let built = board.build(&config(policy, ""), program)?;
        board.run(&built, &[])?;
        board.extract("console", "console.instr")?;
        board.extract("image", "image.instr")?;
        let written = files(&board.path("files.instr"))?;
        ensure(written.len() >= 9, || {
            format!("a metadata file and 8 streams, not {}", written.len())
        })?;
        for way in ["console.instr", "image.instr"] {
            let extracted = files(&board.path(way))?;
            ensure(extracted == written, || {
                let other = difference(&extracted, &written);
                format!("{way} is another trace than the files, {policy}: {other}")
            })?;
        }
        switches(&board.path("files.instr"), &board.path("report"), policy)?;
        told_switches(&board, policy)?;
    }
    let report = std::fs::read_to_string(board.path("report"))?;
    ensure(report.contains("refused-writes 0\n"), || {
        "a write was larger than 8192 bytes".to_owned()
    })
}

/// The first file that differs, with the first line that does, as the two have it.
fn difference(some: &[(String, Vec<u8>)], others: &[(String, Vec<u8>)]) -> String {
    let Some(((name, a), (_, b))) = some.iter().zip(others).find(|(a, b)| a != b) else {
        return format!("{} files and {}", some.len(), others.len());
    };
    let [a, b] = [a, b].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    match a.lines().zip(b.lines()).find(|(a, b)| a != b) {
        Some((a, b)) if name == "metadata" => format!("{name}: {a} and {b}"),
        _ => format!("{name}: {} and {} characters", a.len(), b.len()),
    }
}

/// Lines that are changed, cut or missing cost the packets they belong to, and are told by their number.
fn damage() -> Check {
    let board = Board::new(Host::X86_64, "board-damage")?;
    let built = board.build(&config("end", ""), "sparselu_task")?;
    board.run(&built, &[])?;
    board.extract("console", "whole.instr")?;
    let whole = files(&board.path("whole.instr"))?;
    let console = std::fs::read(board.path("console"))?;
    let mut lines: Vec<Vec<u8>> = console
        .split_inclusive(|b| *b == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let longest = whole
        .iter()
        .filter(|(name, _)| name != "metadata")
        .max_by_key(|(_, bytes)| bytes.len())
        .ok_or("no stream")?;
    let thread = longest.0["thread_".len()..].parse::<u32>()?;
    let of_thread: Vec<usize> = (0..lines.len())
        .filter(|at| {
            let text = String::from_utf8_lossy(&lines[*at]).into_owned();
            text.split_once("~instr1:")
                .is_some_and(|(_, t)| t.get(8..17) == Some(&format!("P{thread:08x}")))
        })
        .collect();
    let hit = of_thread[of_thread.len() / 2];
    let at = lines[hit].len() / 2;
    lines[hit][at] ^= 1;
    std::fs::write(board.path("console"), lines.concat())?;
    let told = board.extract("console", "damaged.instr")?.errors();
    ensure(
        told.contains(&format!(
            "line {}: a line of the trace is ignored: its checksum is wrong",
            hit + 1
        )),
        || told.clone(),
    )?;
    ensure(told.contains("1 packet lost, or cut"), || told.clone())?;
    let damaged = files(&board.path("damaged.instr"))?;
    for ((name, bytes), (_, before)) in damaged.iter().zip(&whole) {
        if name == "metadata" {
            let text = String::from_utf8_lossy(bytes);
            ensure(text.contains("\n    lost_lines = 1;\n"), || {
                text.to_string()
            })?;
            continue;
        }
        if *name != longest.0 {
            ensure(bytes == before, || format!("{name} changed too"))?;
            continue;
        }
        // What was before the damaged line is there, up to an event's end; only the header differs.
        let lost = (of_thread.len() - of_thread.len() / 2) * 120;
        ensure(
            bytes.len() + lost + 200 > before.len() && bytes.len() < before.len(),
            || format!("{} bytes of {} are left", bytes.len(), before.len()),
        )?;
        ensure(bytes[104..] == before[104..bytes.len()], || {
            "other events".to_owned()
        })?;
    }
    // Every event is there or counted as lost.
    let count = |dir: &str| -> Check<u64> {
        let there = all_events(&board.path(dir))?;
        Ok(there + Trace::open(board.path(dir))?.discarded())
    };
    ensure(count("damaged.instr")? == count("whole.instr")?, || {
        "some events are neither there nor counted".to_owned()
    })?;
    let told = Run::new(&tools()?.instr)
        .arg("summary")
        .arg(board.path("damaged.instr"))
        .succeed()?
        .text();
    ensure(
        told.contains("were lost with 1 line of the console") && !told.contains("(cancelled)"),
        || told.clone(),
    )?;
    // Nothing but noise.
    std::fs::write(board.path("console"), "hello\nworld\n")?;
    let refused = Run::new(&tools()?.instr)
        .arg("extract")
        .arg(board.path("console"))
        .output()?;
    ensure(
        refused.errors().contains("it does not hold a trace"),
        || refused.errors(),
    )
}

/// A dump that was made before the end: the windows are in the directory, and readers join them.
fn stopped() -> Check {
    let board = Board::new(Host::X86_64, "board-stopped")?;
    let built = board.build(&config("end", ""), "sparselu_task")?;
    board.run(&built, &[])?;
    let mut image = std::fs::read(board.path("image"))?;
    let mut opened = 0;
    // As if the program had been stopped: the packets being filled have no size yet.
    for at in (0..image.len() - 4096).step_by(8) {
        let is_window = image[at..].starts_with(&0x1257_111d_u32.to_le_bytes());
        if is_window && image[at + 8..].starts_with(&4096_u32.to_le_bytes()) {
            image[at + 4096 + 40..at + 4096 + 56].fill(0);
            // The number of the packet being filled, which counts on when that is complete.
            let number = u64::from_le_bytes(image[at + 40..at + 48].try_into().unwrap_or_default());
            image[at + 40..at + 48].copy_from_slice(&number.saturating_sub(1).to_le_bytes());
            opened += 1;
        }
    }
    std::fs::write(board.path("image"), &image)?;
    board.extract("image", "image.instr")?;
    let names: Vec<String> = files(&board.path("image.instr"))?
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let windows = names.iter().filter(|n| n.starts_with(".window_")).count();
    ensure(opened >= 8 && windows == opened, || format!("{names:?}"))?;
    let events = |dir: PathBuf| -> Check<usize> {
        let trace = Trace::open(dir)?;
        let mut merge = trace.merge();
        let mut count = 0;
        while let Some(event) = merge.next()? {
            count += usize::from(event.payload.id() != 0);
        }
        Ok(count)
    };
    let (left, all) = (
        events(board.path("image.instr"))?,
        events(board.path("files.instr"))?,
    );
    ensure(left == all, || format!("{left} events of {all}"))
}

/// `instr summary` of a trace.
fn summary(trace: &Path) -> Check<serde_json::Value> {
    let summary = Run::new(&tools()?.instr)
        .args(["summary", "--json"])
        .arg(trace)
        .succeed()?;
    Ok(serde_json::from_str(&summary.text()).map_err(|why| why.to_string())?)
}

/// A fatal error after all work, and one in its midst: what was recorded is on the console, or in the image.
fn fatal(host: Host) -> Check {
    let board = Board::new(host, "board-fatal")?;
    for (sink, from) in [("console", "console"), ("ram", "image")] {
        let config = format!(
            "policy = \"end\"\nbuffer = \"32K\"\nsink = \"{sink}\"\n[image]\npool = \"1M\"\n"
        );
        let built = board.build(&config, "sparselu_task")?;
        board.run(&built, &[])?;
        board.extract(from, "whole.instr")?;
        let whole = summary(&board.path("whole.instr"))?;
        ensure(whole["tasks"]["created"].as_u64() > Some(100), || {
            format!("{}", whole["tasks"])
        })?;
        board.run_fatal(&built, ["12", "10"], "exit")?;
        board.extract(from, "left.instr")?;
        let left = summary(&board.path("left.instr"))?;
        let facts = |of: &serde_json::Value| {
            let threads = of["threads"].as_array().map_or(0, Vec::len);
            let counts = ["created", "executed", "edges"].map(|name| of["tasks"][name].clone());
            (threads, counts)
        };
        ensure(facts(&left) == facts(&whole), || {
            format!("{sink}: {:?}, not {:?}", facts(&left), facts(&whole))
        })?;
        // While four threads work and the processors go on switching.
        board.run_fatal(&built, ["60", "10"], "12")?;
        board.extract(from, "left.instr")?;
        let left = summary(&board.path("left.instr"))?;
        ensure(left["events"].as_u64() > Some(20), || {
            format!("{sink}: {left}")
        })?;
    }
    Ok(())
}

/// The program of the porting guide's board: what the guide leaves to the reader, and events to find again.
const BARE_PROGRAM: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <instr/instr.h>
#include "core/process.h"

extern char instr_pool[];
uint64_t board_ns(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec; }
void board_putc(char c) { (void)putchar(c); }

int main(int argc, char **argv)
{
    for (uint64_t i = 0; i < 1000; i++)
        instr_event(77, i * i);
    instr_finish();
    FILE *dump = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (dump == NULL || fwrite(instr_pool, 1, POOL_BYTES, dump) != POOL_BYTES || fclose(dump) != 0)
        return 1;
    return 0;
}
"#;

/// The platform that `docs/porting.md` shows, as it stands there.
fn porting_guide(host: Host) -> Check {
    let root = workspace::root()?;
    let dir = workspace::work_dir("porting-guide")?;
    let guide = std::fs::read_to_string(root.join("docs/porting.md"))?;
    let code = guide
        .split_once("```c\n")
        .and_then(|(_, rest)| rest.split_once("\n```"));
    let (code, _) = code.ok_or("docs/porting.md shows no C")?;
    std::fs::write(dir.path().join("platform.c"), code)?;
    std::fs::write(dir.path().join("program.c"), BARE_PROGRAM)?;
    let compile = |folder: &Path, sources: &[PathBuf]| {
        std::fs::create_dir_all(folder)?;
        Run::words(host.compiler())
            .args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2"])
            .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c"])
            .args(["-DINSTR_PLATFORM_SMALL=1", "-DPOOL_BYTES=262144"])
            .args(["-D__INSTR__=1"])
            .args(["-I".into(), root.join("runtime")])
            .args(["-I".into(), root.join("runtime/include")])
            .args(sources)
            .dir(folder)
            .succeed()
    };
    compile(
        dir.path(),
        &["platform.c", "program.c"].map(|name| dir.path().join(name)),
    )?;
    let archive = dir.path().join("libinstr.a");
    for folder in ["core", "probes", "sensors", "sinks"] {
        let wanted = |name: &str| {
            let only = ["select.c", "console.c", "ram.c"];
            name.ends_with(".c") && (folder != "sinks" || only.contains(&name))
        };
        let from = root.join("runtime").join(folder);
        let names = files(&from)?.into_iter().map(|(name, _)| name);
        let sources: Vec<PathBuf> = names
            .filter(|name| wanted(name))
            .map(|name| from.join(name))
            .collect();
        let objects = dir.path().join(folder);
        compile(&objects, &sources)?;
        // Two folders have a file of the same name: added, not replaced.
        Run::new("ar")
            .arg("qc")
            .arg(&archive)
            .args(files(&objects)?.iter().map(|(name, _)| objects.join(name)))
            .succeed()?;
    }
    let ranlib = Run::words(host.compiler()).arg("-print-prog-name=ranlib");
    Run::new(ranlib.succeed()?.text().trim())
        .arg(&archive)
        .succeed()?;
    let program = dir.path().join("program");
    Run::words(host.compiler())
        .args(["-u", "instr_event", "-u", "instr_sink_ram"])
        .args(["program.o", "platform.o"].map(|name| dir.path().join(name)))
        .arg(&archive)
        .arg("-o")
        .arg(&program)
        .succeed()?;
    host.run(&program).arg(dir.path().join("image")).succeed()?;
    Run::new(&tools()?.instr)
        .arg("extract")
        .arg(dir.path().join("image"))
        .arg("-o")
        .arg(dir.path().join("image.instr"))
        .succeed()?;
    let trace = Trace::open(dir.path().join("image.instr"))?;
    let mut merge = trace.merge();
    let mut values = Vec::new();
    while let Some(event) = merge.next()? {
        if let Payload::UserEvent { kind: 77, value } = event.payload {
            values.push(value);
        }
    }
    let expected: Vec<u64> = (0..1000).map(|i| i * i).collect();
    ensure(values == expected, || {
        format!("{} user events: {:?} …", values.len(), values.first())
    })
}

/// Own build steps: flags and stubs of `instr-rewrite`, the runtime's files in an archive, and no configuration but the default one.
fn by_hand() -> Check {
    let root = workspace::root()?;
    let board = Board::new(Host::X86_64, "board-by-hand")?;
    let flags = |name: &str, program: &Path| -> Check<String> {
        let rewrite = Run::new(&tools()?.instr_rewrite).arg(name).arg(program);
        Ok(rewrite.succeed()?.text())
    };
    let objects = |name: &str, from: &[PathBuf], language: &str| -> Check<Vec<PathBuf>> {
        let folder = board.path(name);
        std::fs::create_dir_all(&folder)?;
        board
            .compiler()
            .args([language, "-O1", "-fopenmp", "-w", "-c"])
            .args(["-I".into(), root.join("runtime")])
            .args(["-I".into(), root.join("runtime/include")])
            .args(from)
            .dir(&folder)
            .succeed()?;
        let made = files(&folder)?.into_iter();
        Ok(made.map(|(name, _)| folder.join(name)).collect())
    };
    let example = [
        "sparselu_task",
        "kernels",
        "matrix",
        "program",
        "sparselu_count",
    ]
    .map(|name| root.join(format!("examples/sparselu/{name}.c")));
    let example = objects("example", &example, "-std=c11")?;
    let task = example
        .iter()
        .find(|object| object.ends_with("sparselu_task.o"));
    let task = task.ok_or("the example was not compiled")?;
    let stubs = board.path("stubs.c");
    std::fs::write(&stubs, flags("--emit-stubs", task)?)?;
    let stubs = objects("stubs", &[stubs], "-std=c11")?;
    let archive = board.path("libinstr.a");
    for folder in [
        "arch",
        "core",
        "probes",
        "sampling",
        "sensors",
        "sinks",
        "platform/rtems",
    ] {
        let wanted = |name: &str| {
            name.ends_with(".c")
                && match folder {
                    "sinks" => !name.starts_with("file"),
                    _ => true,
                }
        };
        let from = root.join("runtime").join(folder);
        let names = files(&from)?.into_iter().map(|(name, _)| name);
        let sources: Vec<PathBuf> = names
            .filter(|name| wanted(name))
            .map(|name| from.join(name))
            .collect();
        if !sources.is_empty() {
            // Two folders have a file of the same name: added, not replaced.
            Run::new("ar")
                .arg("qc")
                .arg(&archive)
                .args(objects(&folder.replace('/', "-"), &sources, "-std=gnu11")?)
                .succeed()?;
        }
    }
    let program = board.path("by-hand");
    board
        .linker()
        .args(example.iter().chain(&stubs))
        .args(flags("--emit-wrap-flags", task)?.lines())
        .arg(&archive)
        .args(["-fopenmp", "-lm", "-o"])
        .arg(&program)
        .succeed()?;
    board.run(&program, &[])?;
    board.extract("image", "image.instr")?;
    let trace = Trace::open(board.path("image.instr"))?;
    let (mut merge, mut tasks) = (trace.merge(), 0);
    while let Some(event) = merge.next()? {
        tasks += u32::from(matches!(event.payload, Payload::TaskCreate { .. }));
    }
    ensure(tasks > 100 && trace.threads().len() == 4, || {
        format!("{tasks} tasks on {} threads", trace.threads().len())
    })
}
