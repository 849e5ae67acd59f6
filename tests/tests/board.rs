//! The RTEMS platform, its sinks and its sensors, on a board that is not there (`tests/board`), little- and big-endian.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use instr_tests::board::{Board, Host, Sources, files};
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::prv;
use instr_tests::toolchain::tools;
use instr_tests::workspace;
use instr_trace::{Payload, Trace};
use libtest_mimic::Arguments;

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
    trials.push(trial("board::the_runtime_is_small", footprint));
    trials.push(trial(
        "board::the_runtime_has_no_heap_and_small_frames",
        no_heap,
    ));
    libtest_mimic::run(&arguments, trials).exit();
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
            ensure(files(&board.path(way))? == written, || {
                format!("{way} is another trace than the files, {policy}")
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

/// Every processor's switches follow each other, each thread's records tell where they were made.
fn switches(trace: &Path, report: &Path, policy: &str) -> Check {
    let trace = Trace::open(trace)?;
    ensure(trace.threads().len() == 4, || {
        format!("{} threads, not 4", trace.threads().len())
    })?;
    ensure(trace.processors() == 4, || "not 4 processors".to_owned())?;
    let report = std::fs::read_to_string(report)?;
    for number in 0..4 {
        let mut stream = trace.processor(number).ok_or("no stream")?;
        let (mut count, mut last, mut breaks, mut before) = (0_u64, None, 0, None);
        let mut runs = 0;
        while let Some(event) = stream.next()? {
            if let Payload::ThreadSwitch {
                processor,
                from,
                to,
            } = event.payload
            {
                ensure(processor as usize == number, || {
                    "wrong processor".to_owned()
                })?;
                ensure(from >= 0x0b01_0001 && to >= 0x0b01_0001, || {
                    format!("{from:#x} and {to:#x} are no threads' ids")
                })?;
                ensure(last.is_none_or(|last| last <= event.ticks), || {
                    "time goes back".to_owned()
                })?;
                last = Some(event.ticks);
                runs += u64::from(from == to);
                breaks += u32::from(before.is_some_and(|before| before != from));
                before = Some(to);
                count += u64::from(from != to);
            }
        }
        let told = report
            .lines()
            .find_map(|l| l.strip_prefix(&format!("switches {number} ")))
            .and_then(|n| n.parse::<u64>().ok())
            .ok_or("no count in the report")?;
        // Some happened before recording began, and after it ended. In between each begins where the one before it led to, unless a
        // thread has come into the circle.
        let begun = runs == 1 || (runs == 0 && policy == "ring");
        ensure(begun && count >= 5 && count <= told && breaks <= 16, || {
            format!("{count} switches of {told} on processor {number}, {breaks} breaks, {policy}")
        })?;
    }
    for position in 0..trace.threads().len() {
        let mut stream = trace.stream(position).ok_or("no stream")?;
        let mut first = None;
        while let Some(event) = stream.next()? {
            match event.payload {
                Payload::Processor { processor } => {
                    ensure(processor < 4, || "no such processor".to_owned())?;
                    first.get_or_insert(true);
                }
                Payload::ThreadBegin { .. } | Payload::ClockSync { .. } | Payload::ThreadEnd => {}
                _ => {
                    first.get_or_insert(false);
                }
            }
        }
        ensure(first == Some(true), || {
            format!("thread {position} does not tell its processor before its first record")
        })?;
    }
    Ok(())
}

/// `instr summary` and the Paraver files, by what the streams of processors hold.
fn told_switches(board: &Board, policy: &str) -> Check {
    let trace = Trace::open(board.path("files.instr"))?;
    let (mut running, mut counts) = (BTreeMap::<u64, u64>::new(), Vec::new());
    for number in 0..4 {
        let mut stream = trace.processor(number).ok_or("no stream")?;
        let (mut at, mut times, mut count) = (None, Vec::new(), 0);
        while let Some(event) = stream.next()? {
            times.push((event.time, None));
            if let Payload::ThreadSwitch { from, to, .. } = event.payload {
                times.push((event.time, Some((from, to))));
                count += u64::from(from != to);
            }
        }
        counts.push(count);
        let last = times.last().ok_or("no events")?.0;
        let mut since = times[0].0;
        for (time, switch) in times {
            if let Some((from, to)) = switch {
                if from == to && at.is_none_or(|at| at == to) {
                    at = Some(to); // since the record begins
                    continue;
                }
                if from != to && at.is_none_or(|at| at == from) {
                    *running.entry(from.into()).or_default() += time - since;
                }
                (at, since) = (Some(to), time);
            }
        }
        *running.entry(at.ok_or("no switch")?.into()).or_default() += last - since;
    }
    let summary = summary(&board.path("files.instr"))?;
    let told = &summary["context_switches"];
    let list = |name: &str| told[name].as_array().cloned().unwrap_or_default();
    let found: Vec<u64> = list("processors")
        .iter()
        .filter_map(|at| at["switches"].as_u64())
        .collect();
    ensure(found == counts, || {
        format!("{found:?} switches, not {counts:?}, {policy}")
    })?;
    let mut times = BTreeMap::<u64, u64>::new();
    for thread in list("threads") {
        let id = thread["os_tid"].as_u64().ok_or("no id")?;
        *times.entry(id).or_default() += thread["running_ns"].as_u64().ok_or("no time")?;
        let parts = thread["by_processor"].as_array().ok_or("no list")?;
        ensure(
            thread["migrations"].as_u64() >= Some(parts.len() as u64 - 1),
            || format!("{thread}"),
        )?;
    }
    ensure(times == running, || {
        format!("{times:?}, not {running:?}, {policy}")
    })?;
    let base = board.path("paraver");
    Run::new(&tools()?.instr)
        .arg("merge")
        .arg(board.path("files.instr"))
        .arg("-o")
        .arg(&base)
        .succeed()?;
    let merged = prv::read(&base.with_extension("prv"))?;
    prv::check::check(&merged, prv::check::Options::default())?;
    ensure(merged.header.nodes == [4], || {
        format!("{:?}", merged.header)
    })?;
    // By thread: since when it is where, by the event that tells it; every record is there.
    let mut moves = BTreeMap::<_, Vec<(u64, u32)>>::new();
    for event in &merged.events {
        let known = moves.entry(event.object).or_default();
        if event.kind == 20_000_030 {
            known.push((event.time, event.value as u32));
        }
        let at = known.last().map_or(0, |(_, at)| *at);
        // 40000033 stands in front of it.
        ensure(event.cpu == at || event.kind == 40_000_033, || {
            format!("line {}: not on processor {at}, {policy}", event.line)
        })?;
    }
    for state in &merged.states {
        let known = moves.entry(state.object).or_default();
        let before = known.partition_point(|(time, _)| *time <= state.begin);
        let at = before.checked_sub(1).map_or(0, |last| known[last].1);
        ensure(state.cpu == at, || {
            format!("line {}: not on processor {at}, {policy}", state.line)
        })?;
    }
    ensure(moves.values().all(|known| known.len() >= 2), || {
        format!("a thread does not tell its processor, {policy}")
    })
}

/// Values in a trace, and those that the board's devices gave, one for one.
fn sensors(host: Host) -> Check {
    let board = Board::new(host, "board-sensors")?;
    let built = board.build(&config("end", SENSORS), "sparselu_task")?;
    board.run(&built, &[])?;
    let trace = Trace::open(board.path("files.instr"))?;
    let mut series = [Vec::new(), Vec::new()];
    let mut merge = trace.merge();
    while let Some(event) = merge.next()? {
        if let Payload::Sensor { sensor, values } = event.payload {
            series[sensor as usize].push(values.map(|v| v as i64).collect::<Vec<_>>());
        }
    }
    let report = std::fs::read_to_string(board.path("report"))?;
    let [counters, temperatures] = readings(&report, None)?;
    // The first two readings of each only measure what a reading costs; the sensor had no value yet then.
    let counters = counters.get(2..).unwrap_or_default();
    ensure(series[0].len() >= 2 && series[0] == counters, || {
        format!("counters: {:?}\n{counters:?}", series[0])
    })?;
    ensure(temperatures.ends_with(&series[1]), || {
        format!("temperature: {:?}\n{temperatures:?}", series[1])
    })?;
    ensure(temperatures.len() <= series[1].len() + 2, || {
        "readings of the temperature are missing".to_owned()
    })?;
    let text = std::fs::read_to_string(board.path("files.instr/metadata"))?;
    ensure(
        text.contains("sensor_0 = \"l4stat ") && text.contains("ahb-utilization@3"),
        || "the metadata does not describe the counters".to_owned(),
    )?;
    board.run(&built, &[("BOARD_GATED", "1")])?;
    let text = std::fs::read_to_string(board.path("files.instr/metadata"))?;
    ensure(text.contains("is its clock gated?"), || {
        "nothing is said about a unit without a clock".to_owned()
    })?;
    board.run(&built, &[("BOARD_BARE", "1")])?;
    let text = std::fs::read_to_string(board.path("files.instr/metadata"))?;
    ensure(
        text.contains("there is no GR740THS") && text.contains("there is no statistics unit"),
        || "nothing is said about missing devices".to_owned(),
    )
}

/// What the devices gave to a thread, or to all: values of the statistics unit, and of the temperature sensor where it had any. An
/// interrupt (`ID!`) may read while its thread does.
fn readings(report: &str, thread: Option<u32>) -> Check<[Vec<Vec<i64>>; 2]> {
    let [mut counters, mut temperatures] = [Vec::new(), Vec::new()];
    let mut last = BTreeMap::new();
    for line in report.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let Some(&by) = words.get(1) else { continue };
        if thread.is_some_and(|thread| by.trim_end_matches('!') != thread.to_string()) {
            continue;
        }
        match words[..] {
            ["l4stat", _, index, value] => {
                if index == "0" {
                    last.insert(by, counters.len());
                    counters.push(Vec::new());
                }
                let reading = last.get(by).ok_or("a counter before the first")?;
                counters[*reading].push(value.parse()?);
            }
            ["ths", _, status] => {
                let status: i64 = status.parse()?;
                let field = |shift: i64| status >> shift & 0x7f;
                if status & 0x27f != 0 {
                    temperatures.push(vec![field(0), field(16), field(24), status >> 8 & 1]);
                }
            }
            _ => {}
        }
    }
    Ok([counters, temperatures])
}

/// Each sample is followed by readings of both devices, on the thread and with the values that the board says.
fn sensors_at_samples(host: Host) -> Check {
    let board = Board::new(host, "board-samples-sensors")?;
    let size = match host {
        Host::X86_64 => ["16", "60"],
        Host::Sparc32 => ["10", "40"],
    };
    for (policy, sink, buffer) in [("end", "ram", "256K"), ("stream", "file", "16K")] {
        let config = format!(
            "policy = \"{policy}\"\nbuffer = \"{buffer}\"\nsink = \"{sink}\"\nsampling_period = \"2ms\"\n\
             sensors = [\"l4stat\", \"gr740\"]\nsensors_at = [\"samples\"]\n[image]\npool = \"3M\"\n"
        );
        let built = board.build_plain_sinks(&config, "sparselu_task", "")?;
        board.run_with(&built, size, &[])?;
        let mut trace = board.path("files.instr");
        if policy == "end" {
            board.extract("image", "image.instr")?;
            trace = board.path("image.instr");
        }
        let report = std::fs::read_to_string(board.path("report"))?;
        ensure(report.contains("writes-in-interrupts 0\n"), || {
            "a full window was written in an interrupt".to_owned()
        })?;
        let read = follow_samples(&Trace::open(&trace)?, &report)?;
        ensure(read >= 4, || format!("{read} readings, {policy}"))?;
        let told = summary(&trace)?;
        let values = told["sensors"].as_array().map_or(0, Vec::len);
        ensure(values == 16 + 4, || format!("{}", told["sensors"]))?;
    }
    Ok(())
}

/// Number of readings at samples.
fn follow_samples(trace: &Trace, report: &str) -> Check<usize> {
    let mut read = 0;
    for (position, info) in trace.threads().iter().enumerate() {
        let mut stream = trace.stream(position).ok_or("no stream")?;
        let (mut series, mut samples, mut alone) = ([Vec::new(), Vec::new()], 0, 0);
        let mut behind_sample = false;
        while let Some(event) = stream.next()? {
            match event.payload {
                Payload::Sample { .. } => {
                    samples += 1;
                    behind_sample = true;
                }
                Payload::Sensor { sensor, values } => {
                    series[sensor as usize].push(values.map(|v| v as i64).collect::<Vec<_>>());
                    alone += usize::from(sensor == 0 && !behind_sample);
                    read += usize::from(sensor == 0 && behind_sample);
                }
                Payload::Processor { .. } => {}
                _ => behind_sample = false,
            }
        }
        let [mut counters, mut temperatures] = readings(report, Some(info.os_tid))?;
        let ends = if info.index == 0 { 2 } else { 0 };
        // The first two only measure what a reading costs. The thread also reads at the trace's begin and end.
        counters.drain(..ends);
        let measured = temperatures.len().saturating_sub(series[1].len());
        temperatures.drain(..measured.min(ends));
        // One that met the thread while it read is recorded first.
        counters.sort();
        temperatures.sort();
        series.iter_mut().for_each(|list| list.sort());
        // A sample that met the thread inside an event is told later, and has no readings; the last may stand before the trace's end.
        ensure(alone <= ends && series[0] == counters, || {
            format!(
                "thread {position}, {alone} without a sample: {:?}\n{counters:?}",
                series[0]
            )
        })?;
        ensure(temperatures == series[1], || {
            format!("thread {position}: {:?}\n{temperatures:?}", series[1])
        })?;
        ensure(series[0].len() <= samples + ends, || {
            format!("{} readings at {samples} samples", series[0].len())
        })?;
    }
    Ok(read)
}

/// Counts, bytes and high-water mark of a program's own account, where the library's calloc and realloc call malloc and free; and what the
/// kernel says of its heap.
fn heap(host: Host) -> Check {
    let board = Board::new(host, "board-heap")?;
    let built = board.build_sources(Sources {
        config: "policy = \"end\"\nbuffer = \"512K\"\nsink = \"ram\"\n[image]\npool = \"2M\"\n",
        files: &["board/allocations.c"],
        flags: &["--instr-memory"],
        heap: true,
    })?;
    let own = board.run(&built, &[])?.text();
    let own: Vec<u64> = own
        .split_whitespace()
        .filter_map(|n| n.parse().ok())
        .collect();
    board.extract("image", "image.instr")?;
    let told = summary(&board.path("image.instr"))?;
    let told = &told["memory"];
    let counts = [
        "allocations",
        "frees",
        "allocated_bytes",
        "live_high_water_bytes",
        "live_bytes",
    ];
    let found: Vec<Option<u64>> = counts.iter().map(|name| told[*name].as_u64()).collect();
    let fits = own.len() == 5
        && own
            .iter()
            .zip(&found)
            .all(|(own, told)| Some(*own) == *told);
    ensure(fits && told["unknown_frees"] == 0, || {
        format!("the program says {own:?}, the trace {found:?}: {told}")
    })?;
    let report = std::fs::read_to_string(board.path("report"))?;
    let line = report.lines().find_map(|line| line.strip_prefix("heap "));
    let (size, free) = line.and_then(|l| l.split_once(' ')).ok_or("no heap")?;
    let (size, free): (u64, u64) = (size.parse()?, free.parse()?);
    let trace = Trace::open(board.path("image.instr"))?;
    let (mut merge, mut heaps) = (trace.merge(), Vec::new());
    while let Some(event) = merge.next()? {
        if let Payload::MemHeap {
            arena, used, free, ..
        } = event.payload
        {
            heaps.push((arena, used, free));
        }
    }
    // The report's own file is all that is allocated behind the trace's end.
    let whole = heaps
        .iter()
        .all(|heap| heap.0 == size && heap.1 + heap.2 == size);
    let last = heaps.last().map_or(0, |heap| heap.2);
    ensure(
        heaps.len() == 2 && whole && (0..8192).contains(&last.wrapping_sub(free)),
        || format!("{heaps:?}, the kernel says {size} {free}"),
    )
}

/// Stacks that the program painted, and others of the same depths: within 64 bytes of what paint says.
fn stacks(host: Host) -> Check {
    let board = Board::new(host, "board-stacks")?;
    let built = board.build_sources(Sources {
        config: "policy = \"end\"\nbuffer = \"32K\"\nsink = \"ram\"\nstack = true\n[image]\npool = \"1M\"\n",
        files: &["memory/stacks.c"],
        flags: &["-pthread"],
        heap: false,
    })?;
    let depths = |mode: &str| -> Check<(Vec<u64>, Vec<u64>)> {
        let text = board.run_words(&built, &[mode])?.text();
        let painted = text.lines().filter_map(|l| l.rsplit_once(' '));
        let painted = painted.filter_map(|(_, n)| n.parse().ok()).collect();
        board.extract("image", "image.instr")?;
        let told = summary(&board.path("image.instr"))?;
        let told = told["memory"]["stack_high_water"].as_array().cloned();
        let told = told.unwrap_or_default().into_iter().skip(1); // main's
        let exact = told.filter(|stack| stack["exact"] == true);
        Ok((exact.filter_map(|s| s["bytes"].as_u64()).collect(), painted))
    };
    let (told, paint) = depths("painted")?;
    for mode in ["painted", "fresh", "dirty"] {
        let mut told = if mode == "painted" {
            told.clone()
        } else {
            depths(mode)?.0
        };
        if mode == "dirty" {
            told = told.into_iter().skip(1).step_by(2).collect();
        }
        let near = told.iter().zip(&paint).all(|(t, p)| t.abs_diff(*p) <= 64);
        ensure(told.len() == 3 && paint.len() == 3 && near, || {
            format!("{mode}: {told:?}, paint says {paint:?}")
        })?;
    }
    Ok(())
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
        if *name != longest.0 {
            ensure(bytes == before, || format!("{name} changed too"))?;
            continue;
        }
        // What was before the damaged line is there, up to an event's end; only the sizes in the header differ.
        let lost = (of_thread.len() - of_thread.len() / 2) * 120;
        ensure(
            bytes.len() + lost + 200 > before.len() && bytes.len() < before.len(),
            || format!("{} bytes of {} are left", bytes.len(), before.len()),
        )?;
        ensure(bytes[104..] == before[104..bytes.len()], || {
            "other events".to_owned()
        })?;
    }
    Trace::open(board.path("damaged.instr"))?;
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

/// Samples in a trace, and what the board's clock interrupted, one for one.
fn samples(host: Host) -> Check {
    let board = Board::new(host, "board-samples")?;
    let size = match host {
        Host::X86_64 => ["16", "60"],
        Host::Sparc32 => ["10", "40"],
    };
    for (policy, sink, buffer) in [("end", "ram", "192K"), ("stream", "file", "16K")] {
        let config = format!(
            "policy = \"{policy}\"\nbuffer = \"{buffer}\"\nsink = \"{sink}\"\nsampling_period = \"2ms\"\n[image]\npool = \"2M\"\n"
        );
        let built = board.build_plain_sinks(&config, "sparselu_task", "")?;
        board.run_with(&built, size, &[])?;
        let trace = if policy == "end" {
            board.extract("image", "image.instr")?;
            board.path("image.instr")
        } else {
            board.path("files.instr")
        };
        let report = std::fs::read_to_string(board.path("report"))?;
        ensure(report.contains("writes-in-interrupts 0\n"), || {
            "a full window was written in an interrupt".to_owned()
        })?;
        same_samples(&trace, &report, host)?;
        let told = summary(&trace)?["samples"].clone();
        let functions = told["functions"].as_array().map_or(&[][..], Vec::as_slice);
        let named = |name: &str| functions.iter().any(|f| f["function"] == name);
        ensure(told["period_ns"] == 2_000_000 && named("bmod"), || {
            format!("{told}")
        })?;
    }
    Ok(())
}

/// What each thread's samples tell is a run of its interrupts, but for as many as are told as lost.
fn same_samples(trace: &Path, report: &str, host: Host) -> Check {
    let trace = Trace::open(trace)?;
    let (mut taken, mut with_callers) = (0, 0);
    for (position, info) in trace.threads().iter().enumerate() {
        let mut stream = trace.stream(position).ok_or("no stream")?;
        let (mut pcs, mut lost) = (Vec::new(), 0_usize);
        while let Some(event) = stream.next()? {
            match event.payload {
                Payload::Sample { pc, stack, .. } => {
                    pcs.push(pc);
                    with_callers += usize::from(stack.count() > 0);
                }
                Payload::SampleLost { count } => lost += count as usize,
                _ => {}
            }
        }
        let begin = format!("interrupted {} ", info.os_tid);
        let interrupts: Vec<u64> = report
            .lines()
            .filter_map(|line| line.strip_prefix(&begin)?.parse().ok())
            .collect();
        let fits = (0..interrupts.len()).any(|first| {
            let mut rest = pcs.iter().peekable();
            let left = interrupts[first..].iter();
            let passed = left
                .take_while(|pc| {
                    let more = rest.peek().is_some();
                    let _ = rest.next_if_eq(pc);
                    more
                })
                .count();
            rest.peek().is_none() && passed <= pcs.len() + lost
        });
        ensure(pcs.is_empty() || fits, || {
            format!("thread {position}, {lost} lost: {pcs:x?}\n{interrupts:x?}")
        })?;
        // Interrupts before it is attached, and after the end, are nobody's.
        ensure(interrupts.len() <= 4 * (pcs.len() + lost) + 20, || {
            format!("{} samples of {}", pcs.len(), interrupts.len())
        })?;
        taken += pcs.len();
    }
    // Register windows always tell their callers; frame pointers are not kept on x86-64.
    let told = host == Host::X86_64 || with_callers * 2 >= taken;
    ensure(taken >= 8 && told, || {
        format!("{taken} samples, {with_callers} with return addresses")
    })
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
        "arch", "core", "probes", "sampling", "sensors", "sinks", "platform",
    ] {
        let wanted = |name: &str| {
            name.ends_with(".c")
                && match folder {
                    "sinks" => name != "file.c",
                    "platform" => name.starts_with("rtems"),
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
                .args(objects(folder, &sources, "-std=gnu11")?)
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

/// What the runtime adds to the LU example with tasks, sensors on: text and data of the members of its archive that were linked, and of
/// the stubs; unused functions are left out, as RTEMS' own way of linking does (`--gc-sections`).
fn footprint() -> Check {
    let board = Board::new(Host::Sparc32, "board-size")?;
    let config = format!(
        "policy = \"end\"\nbuffer = \"32K\"\nsink = \"ram\"\n{SENSORS}[image]\npool = \"1M\"\n"
    );
    let map = board.path("map");
    let linker = format!("-Wl,--gc-sections,-Map={}", map.display());
    let built = board.build_plain_sinks(&config, "sparselu_task", &linker)?;
    board.run(&built, &[])?;
    board.extract("image", "image.instr")?;
    let map = std::fs::read_to_string(&map)?;
    let (mut bytes, mut members) = (0_u64, 0);
    // ` .text.F  0xADDRESS  0xBYTES  /path/libinstr.a(member.o)`, on one line or, after a long name, on two.
    let mut words: Vec<&str> = Vec::new();
    let mut in_memory_map = false;
    for line in map.lines() {
        in_memory_map |= line.starts_with("Linker script and memory map");
        if !in_memory_map {
            continue;
        }
        if line.starts_with(" .") {
            words.clear();
        }
        words.extend(line.split_whitespace());
        let [section, _, size, file] = words[..] else {
            continue;
        };
        words.clear();
        let ours = file.contains("libinstr.a(") || file.ends_with("/stubs.o");
        let loaded = [
            ".text",
            ".rodata",
            ".data",
            ".init_array",
            ".fini_array",
            ".eh_frame",
        ];
        if ours && loaded.iter().any(|name| section.starts_with(name)) {
            bytes += u64::from_str_radix(size.trim_start_matches("0x"), 16)?;
            members += 1;
        }
    }
    println!(
        "the runtime adds {bytes} bytes of text and data to sparselu_task, sensors on, in {members} sections"
    );
    ensure(members > 10 && bytes <= 32 * 1024, || {
        format!("{bytes} bytes of text and data")
    })
}

/// The objects of the runtime for RTEMS, compiled as `instr-cc` does, for SPARC V8.
fn no_heap() -> Check {
    let root = workspace::root()?;
    let dir = workspace::work_dir("board-size")?;
    let mut objects = Vec::new();
    for source in runtime_sources(root)? {
        let object = dir
            .path()
            .join(source.replace('/', "-"))
            .with_extension("o");
        Run::new("sparc64-linux-gnu-gcc")
            .args([
                "-m32",
                "-mcpu=v8",
                "-std=c11",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
            ])
            .args([
                "-U__linux__",
                "-D__rtems__",
                "-DINSTR_BOARD_IO",
                "-fvisibility=hidden",
                "-fno-pie",
                "-fstack-usage",
            ])
            .args(["-I".into(), root.join("runtime")])
            .args(["-I".into(), root.join("runtime/include")])
            .args(["-I".into(), root.join("tests/board/include")])
            .arg("-c")
            .arg(root.join("runtime").join(&source))
            .arg("-o")
            .arg(&object)
            .succeed()?;
        objects.push(object);
    }
    let symbols = Run::new("sparc64-linux-gnu-nm")
        .arg("-u")
        .args(&objects)
        .succeed()?
        .text();
    for heap in [
        "malloc",
        "calloc",
        "realloc",
        "free",
        "posix_memalign",
        "aligned_alloc",
    ] {
        ensure(!symbols.split_whitespace().any(|s| s == heap), || {
            format!("the runtime refers to {heap}")
        })?;
    }
    stack_usage(dir.path(), &objects)
}

/// At most 512 bytes in each function that a probe enters on its way to the real one.
fn stack_usage(dir: &Path, objects: &[PathBuf]) -> Check {
    let mut worst = (0_u64, String::new());
    for object in objects {
        let name = object
            .file_stem()
            .ok_or("no name")?
            .to_string_lossy()
            .into_owned();
        let usage = std::fs::read_to_string(dir.join(format!("{name}.su")))?;
        for line in usage.lines().filter(|_| name.starts_with("probes-")) {
            let fields: Vec<&str> = line.split('\t').collect();
            let bytes: u64 = fields.get(1).ok_or("a line of .su")?.parse()?;
            // A dynamic frame holds the program's own data, whose size the program chose.
            if bytes > worst.0 {
                worst = (bytes, fields[0].to_owned());
            }
        }
    }
    println!("largest frame of a probe: {} bytes, {}", worst.0, worst.1);
    ensure(worst.0 <= 512, || {
        format!("{} bytes of stack in {}", worst.0, worst.1)
    })
}

fn runtime_sources(root: &Path) -> Check<Vec<String>> {
    let mut sources = Vec::new();
    for folder in ["core", "platform", "probes", "sampling", "sensors", "sinks"] {
        for (name, _) in files(&root.join("runtime").join(folder))? {
            let other = name.starts_with("linux") || (folder == "sinks" && name == "file.c");
            if name.ends_with(".c") && !other && name != "rtems_config.c" {
                sources.push(format!("{folder}/{name}"));
            }
        }
    }
    Ok(sources)
}
