//! Sensors, heap, stacks and samples: what the trace has beside what the board and the program say.

use std::collections::BTreeMap;
use std::path::Path;

use instr_tests::board::{Board, Host, Sources};
use instr_tests::heap::{ACCOUNT, with_libgcc};
use instr_tests::outcome::{Check, ensure};
use instr_trace::{Payload, Trace};

use super::{SENSORS, config, summary};

/// Values in a trace, and those that the board's devices gave, one for one.
pub(crate) fn sensors(host: Host) -> Check {
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
pub(crate) fn sensors_at_samples(host: Host) -> Check {
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
pub(crate) fn heap(host: Host) -> Check {
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
    let own = with_libgcc(&own, told);
    let found: Vec<Option<u64>> = ACCOUNT.iter().map(|name| told[*name].as_u64()).collect();
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
pub(crate) fn stacks(host: Host) -> Check {
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

/// Samples in a trace, and what the board's clock interrupted, one for one.
pub(crate) fn samples(host: Host) -> Check {
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
