//! Context switches: what processors and threads tell of them, in the trace, in `instr summary` and in Paraver files.

use std::collections::BTreeMap;
use std::path::Path;

use instr_tests::board::Board;
use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::prv;
use instr_tests::toolchain::tools;
use instr_trace::{Payload, Trace};

use super::summary;

/// Every processor's switches follow each other, each thread's records tell where they were made.
pub(crate) fn switches(trace: &Path, report: &Path, policy: &str) -> Check {
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
                Payload::ThreadBegin { .. }
                | Payload::ThreadName { .. }
                | Payload::ClockSync { .. }
                | Payload::ThreadEnd => {}
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
pub(crate) fn told_switches(board: &Board, policy: &str) -> Check {
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
