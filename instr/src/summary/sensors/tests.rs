//! On traces whose numbers can be worked out by hand. One tick is one nanosecond.

use std::path::Path;

use instr_trace::names::NoNames;
use instr_trace::synth::{self, Body, START_TICKS, StreamWriter};
use instr_trace::{ByteOrder, Format, Layout, Trace, WordSize};

use super::super::model::Summary;
use super::super::{Chip, summarize};
use instr_trace::energy::PowerModel;

const MS: u64 = 1_000_000;
const LITTLE_64: Layout = Layout {
    order: ByteOrder::Little,
    word: WordSize::Eight,
    format: Format::Two,
    code_base: 0,
};
const BIG_32: Layout = Layout {
    order: ByteOrder::Big,
    word: WordSize::Four,
    format: Format::Two,
    code_base: 0,
};

fn with_lines(dir: &Path, layout: Layout, lines: &[&str]) {
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let path = dir.join("metadata");
    let text = std::fs::read_to_string(&path).unwrap();
    let added = format!(
        "env {{\n{}",
        lines
            .iter()
            .map(|l| format!("    {l};\n"))
            .collect::<String>()
    );
    assert!(text.contains("env {\n"));
    std::fs::write(&path, text.replacen("env {\n", &added, 1)).unwrap();
}

fn summary(dir: &Path) -> Summary {
    summarize(&Trace::open(dir).unwrap(), &NoNames, None, |_| {}).unwrap()
}

fn close(found: f64, exact: f64) {
    assert!(
        (found - exact).abs() <= 1e-9 * exact.abs().max(1e-3),
        "{found}, exactly {exact}"
    );
}

/// A RAPL package that wraps at 1 J, its memory, its cores, and a temperature, read every 100 ms by the runtime's own thread 1. The
/// program's thread 0 is in a parallel region from 150 to 350 ms and in a user region from 200 to 400 ms.
fn measured_trace(dir: &Path, layout: Layout) {
    with_lines(
        dir,
        layout,
        &[
            "sensors_period_ns = 100000000",
            "sensor_0 = \"rapl/package-0 J 1e-6 1 total 1000000 900 - /p\"",
            "sensor_1 = \"rapl/package-0/dram J 1e-6 1 total 0 900 - /d\"",
            "sensor_2 = \"rapl/package-0/core J 1e-6 1 total 0 900 - /c\"",
            "sensor_3 = \"hwmon/coretemp/temp1 degC 0.001 1 level 0 900 Core_0 /t\"",
            "sensor_4 = \"psi/cpu s 1e-6 2 total 0 900 some,full /q\"",
            "counter_0 = \"task-clock ns\"",
            "counter_1 = \"cycles -\"",
            "sensor_trouble_0 = \"thermal no zone\"",
        ],
    );
    let mut program = StreamWriter::create(dir, layout, 0, 1 << 16).unwrap();
    let mut event = |ms: u64, id: u8, fields: &dyn Fn(&mut Body)| {
        program
            .event(START_TICKS + ms * MS, id, |body| fields(body))
            .unwrap();
    };
    event(0, 1, &|body| _ = body.u32(40).u32(1));
    event(0, 7, &|body| _ = body.text("phase").addr(0x7000));
    event(150, 16, &|body| _ = body.u32(1).addr(0x1000).u32(0).u32(0));
    event(200, 9, &|body| _ = body.addr(0x7000));
    event(350, 17, &|body| _ = body.u32(1));
    event(400, 10, &|_| {});
    event(500, 66, &|body| {
        _ = body.u32(3).u32(2).i64(300_000_000).i64(i64::MIN)
    });
    // The program has closed the counters: what was read before is known.
    event(500, 66, &|body| {
        _ = body.u32(2).u32(2).i64(i64::MIN).i64(i64::MIN)
    });
    event(500, 2, &|_| {});
    program.finish().unwrap();
    let mut own = StreamWriter::create(dir, layout, 1, 1 << 16).unwrap();
    own.event(START_TICKS, 1, |body| _ = body.u32(41).u32(2))
        .unwrap();
    // 2, 4, 6, 8, 2 W in the segments: it passes 1 J in the last but one.
    let package = [200_000i64, 400_000, 800_000, 400_000, 200_000, 400_000];
    for (reading, raw) in (0u64..).zip(package) {
        let at = START_TICKS + reading * 100 * MS;
        let mut sensor = |number: u32, values: &[i64]| {
            own.event(at, 64, |body| {
                body.u32(number).u32(values.len() as u32);
                values.iter().for_each(|value| _ = body.i64(*value));
            })
            .unwrap();
        };
        sensor(0, &[raw]);
        sensor(1, &[reading as i64 * 50_000]);
        sensor(2, &[reading as i64 * 10_000]);
        sensor(3, &[50_000 + reading as i64 * 1000]);
        sensor(4, &[reading as i64 * 1000, 0]);
    }
    own.event(START_TICKS + 500 * MS, 65, |body| _ = body.u32(3).u32(19))
        .unwrap();
    own.event(START_TICKS + 500 * MS, 2, |_| {}).unwrap();
    own.finish().unwrap();
}

#[test]
fn readings_become_sensors_energy_and_power() {
    for layout in [LITTLE_64, BIG_32] {
        let dir = tempfile::tempdir().unwrap();
        measured_trace(dir.path(), layout);
        let found = summary(dir.path());
        assert_eq!(
            found.threads.len(),
            1,
            "the runtime's own thread is not the program's"
        );
        // 0.2 + 0.4 + 0.6 (800 to 400 of 1000 ms is 600) + 0.8 (400 to 200) + 0.2
        let package = &found.sensors[0];
        assert_eq!((package.samples, package.unit.as_str()), (6, "W"));
        close(package.total.unwrap(), 2.2);
        close(package.min.unwrap(), 2.0);
        close(package.max.unwrap(), 8.0);
        close(package.mean.unwrap(), 4.4);
        let temperature = &found.sensors[3];
        close(temperature.min.unwrap(), 50.0);
        close(temperature.mean.unwrap(), 52.5);
        close(temperature.max.unwrap(), 55.0);
        assert_eq!(temperature.lost_ns, Some(500 * MS));
        assert_eq!(found.sensors[5].name, "psi/cpu:full");
        let energy = |at: usize| (found.energy[at].zone.as_str(), found.energy[at].in_total);
        assert_eq!(energy(0), ("rapl/package-0", true));
        assert_eq!(energy(1), ("rapl/package-0/dram", true));
        assert_eq!(energy(2), ("rapl/package-0/core", false));
        close(found.energy[0].joules, 2.2);
        let power = found.power.as_ref().unwrap();
        assert_eq!((power.source, power.shared_by), ("measured", "task-clock"));
        close(power.joules, 2.2 + 0.25);
        close(power.average_mw, 4900.0);
        close(power.threads[0].joules, 2.45);
        assert_eq!(found.sensor_troubles[0].name, "thermal");
    }
}

#[test]
fn regions_get_their_share_of_each_segment() {
    let dir = tempfile::tempdir().unwrap();
    measured_trace(dir.path(), LITTLE_64);
    let found = summary(dir.path());
    let region = |kind: &str| {
        found
            .energy_regions
            .iter()
            .find(|r| r.kind == kind)
            .unwrap()
    };
    // 150–350 ms: half of 4 W · 0.1 s, all of 6 W · 0.1 s, half of 8 W · 0.1 s, and 0.5 W of memory.
    close(region("parallel region").joules, 0.2 + 0.6 + 0.4 + 0.1);
    // 200–400 ms, on segment borders: exact.
    close(region("user region").joules, 0.6 + 0.8 + 0.1);
    assert_eq!(region("user region").error_joules, Some(0.0));
    assert_eq!(region("user region").source, "measured");
    assert_eq!(region("user region").open_ns, 200 * MS);
    assert_eq!(region("user region").name, "phase");
}

#[test]
fn counters_are_summed_over_threads_and_missing_ones_said() {
    let dir = tempfile::tempdir().unwrap();
    measured_trace(dir.path(), BIG_32);
    let found = summary(dir.path());
    let [clock, cycles] = &found.counters[..] else {
        panic!("two counters")
    };
    assert_eq!(
        (clock.total, clock.unit.as_deref(), clock.scaled),
        (Some(300_000_000), Some("ns"), true)
    );
    assert_eq!((cycles.total, cycles.per_thread.len()), (None, 0));
}

/// 30 W, and 15 W up and down 1.7 times a second, as a chip does between phases.
fn watts(s: f64) -> f64 {
    30.0 + 15.0 * (OMEGA * s).sin()
}

const OMEGA: f64 = 2.0 * std::f64::consts::PI * 1.7;

/// Their integral from `a` to `b`, s: J.
fn joules(a: f64, b: f64) -> f64 {
    30.0 * (b - a) + 15.0 / OMEGA * ((OMEGA * a).cos() - (OMEGA * b).cos())
}

/// One second of a meter of power, or of energy that wraps at 7 J, read about every 10 ms by the runtime's own thread 3. Threads 0 to 2
/// are in the user region "phase" from 100 to 301 ms, 250 to 423, 377 to 390 (twice at a time), and again from 600 to 806.
fn swinging_trace(dir: &Path, layout: Layout, meter: &str) {
    with_lines(dir, layout, &["sensors_period_ns = 10000000", meter]);
    for (index, intervals) in [
        (0u32, vec![(100u64, true), (301, false)]),
        (
            1,
            vec![(250, true), (423, false), (600, true), (806, false)],
        ),
        (
            2,
            vec![(377, true), (378, true), (380, false), (390, false)],
        ),
    ] {
        let mut stream = StreamWriter::create(dir, layout, index, 1 << 16).unwrap();
        let begin = |body: &mut Body| _ = body.u32(40 + index).u32(u32::from(index == 0));
        stream.event(START_TICKS, 1, begin).unwrap();
        let name = |body: &mut Body| _ = body.text("phase").addr(0x7000);
        stream.event(START_TICKS, 7, name).unwrap();
        for (ms, enters) in intervals {
            let at = START_TICKS + ms * MS;
            match enters {
                true => stream.event(at, 9, |body| _ = body.addr(0x7000)),
                false => stream.event(at, 10, |_| {}),
            }
            .unwrap();
        }
        stream.event(START_TICKS + 1000 * MS, 2, |_| {}).unwrap();
        stream.finish().unwrap();
    }
    let mut own = StreamWriter::create(dir, layout, 3, 1 << 16).unwrap();
    own.event(START_TICKS, 1, |body| _ = body.u32(50).u32(2))
        .unwrap();
    for reading in 0..=100u64 {
        // The thread that reads is late by up to 3 ms.
        let late = reading * 7919 % 3000 * 1000 * u64::from(reading % 100 != 0);
        let time = reading * 10 * MS + late;
        let s = time as f64 * 1e-9;
        let raw = match meter.contains(" W ") {
            true => (watts(s) * 1e6) as i64,
            false => (joules(0.0, s) * 1e6) as i64 % 7_000_000,
        };
        own.event(START_TICKS + time, 64, |body| {
            _ = body.u32(0).u32(1).i64(raw);
        })
        .unwrap();
    }
    own.event(START_TICKS + 1000 * MS, 2, |_| {}).unwrap();
    own.finish().unwrap();
}

#[test]
fn energy_of_regions_from_two_hundred_ms_on_is_within_one_percent() {
    for (layout, meter) in [
        (
            LITTLE_64,
            "sensor_0 = \"hwmon/power_meter/power1 W 1e-6 1 level 0 900 - /p\"",
        ),
        (
            BIG_32,
            "sensor_0 = \"rapl/package-0 J 1e-6 1 total 7000000 900 - /p\"",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        swinging_trace(dir.path(), layout, meter);
        let found = summary(dir.path());
        let [phase] = &found.energy_regions[..] else {
            panic!("{:?}", found.energy_regions)
        };
        // The union of the intervals, not their sum.
        assert_eq!(phase.open_ns, (423 - 100 + 806 - 600) * MS);
        let exact = joules(0.1, 0.423) + joules(0.6, 0.806);
        let error = (phase.joules - exact).abs();
        assert!(error <= 0.01 * exact, "{} J of {exact}", phase.joules);
        assert!(error <= phase.error_joules.unwrap(), "{phase:?}");
        let run = found.power.unwrap();
        let exact = joules(0.0, 1.0);
        assert!((run.joules - exact).abs() <= 0.01 * exact, "{run:?}");
        assert_eq!(run.zones.len(), 1);
    }
}

/// A chip with 100 mW when idle, 200 and 400 with one and two cores busy.
fn chip() -> Chip {
    Chip {
        target: "a-chip".to_owned(),
        power: PowerModel::new(Some(100.0), &[200.0, 400.0]).unwrap(),
    }
}

fn modelled(dir: &Path) -> Summary {
    summarize(&Trace::open(dir).unwrap(), &NoNames, Some(&chip()), |_| {}).unwrap()
}

/// An RTEMS program whose two threads are in user code all the time, 0 to 1 s, in a user region from 200 to 700 ms. Processor 1 is
/// always busy, processor 0 idle from 300 to 600 ms; or that is not known from 300 ms on.
fn scheduled_trace(dir: &Path, layout: Layout, known: bool) {
    const MAIN: u32 = 0x0b01_0001;
    const WORKER: u32 = 0x0b01_0002;
    const IDLE: u32 = 0x0901_0001;
    with_lines(dir, layout, &[]);
    let path = dir.join("metadata");
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.find("target = \"").unwrap() + "target = \"".len();
    let end = at + text[at..].find('"').unwrap();
    std::fs::write(&path, format!("{}sparc-rtems{}", &text[..at], &text[end..])).unwrap();
    for (index, id) in [(0u32, MAIN), (1, WORKER)] {
        let mut stream = StreamWriter::create(dir, layout, index, 1 << 16).unwrap();
        let mut event = |ms: u64, id: u8, fields: &dyn Fn(&mut Body)| {
            stream
                .event(START_TICKS + ms * MS, id, |body| fields(body))
                .unwrap();
        };
        event(0, 1, &|body| _ = body.u32(id).u32(u32::from(index == 0)));
        if index == 0 {
            event(200, 9, &|body| _ = body.addr(0x7000));
            event(700, 10, &|_| {});
        }
        event(1000, 2, &|_| {});
        stream.finish().unwrap();
    }
    let second = if known {
        (600u64, IDLE, MAIN)
    } else {
        (600, WORKER, MAIN)
    };
    let all = [
        (0u32, vec![(300u64, MAIN, IDLE), second]),
        (1, vec![(350, WORKER, MAIN), (450, MAIN, WORKER)]),
    ];
    for (number, switches) in all {
        let mut stream = StreamWriter::create(dir, layout, 2 + number, 1 << 16).unwrap();
        stream
            .event(START_TICKS, 1, |body| _ = body.u32(number).u32(4))
            .unwrap();
        for (ms, from, to) in switches {
            let switch = |body: &mut Body| _ = body.u32(number).u32(from).u32(to);
            stream.event(START_TICKS + ms * MS, 88, switch).unwrap();
        }
        stream.event(START_TICKS + 1000 * MS, 2, |_| {}).unwrap();
        stream.finish().unwrap();
    }
}

#[test]
fn the_model_takes_busy_cores_from_context_switches() {
    for layout in [LITTLE_64, BIG_32] {
        let dir = tempfile::tempdir().unwrap();
        scheduled_trace(dir.path(), layout, true);
        let found = modelled(dir.path());
        let power = found.power.unwrap();
        assert_eq!(
            (power.source, power.busy_from),
            ("model", Some("context switches"))
        );
        // 700 ms with two busy, 300 with one; by the states of threads it would be 400 mW.
        close(power.average_mw, 0.7 * 400.0 + 0.3 * 200.0);
        close(power.joules, 0.34);
        // 200 to 300 and 600 to 700 ms with two, between with one.
        close(found.energy_regions[0].joules, 0.2 * 0.4 + 0.3 * 0.2);
    }
}

#[test]
fn switches_that_leave_gaps_are_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    scheduled_trace(dir.path(), LITTLE_64, false);
    let power = modelled(dir.path()).power.unwrap();
    assert_eq!(power.busy_from, Some("states of threads"));
    close(power.average_mw, 400.0);
}

#[test]
fn the_model_takes_busy_cores_from_processor_time_where_it_was_counted() {
    for (name, busy_from, average) in [
        // 1.5 s of processor time in one second: half way from one core to two.
        ("task-clock:u", "task-clock", 300.0),
        ("schedstat-run", "schedstat-run", 300.0),
        ("page-faults", "states of threads", 400.0),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let counter = format!("counter_0 = \"{name} ns\"");
        with_lines(dir.path(), LITTLE_64, &[&counter]);
        for (index, ns) in [(0u32, 900_000_000i64), (1, 600_000_000)] {
            let mut stream = StreamWriter::create(dir.path(), LITTLE_64, index, 1 << 16).unwrap();
            let begin = |body: &mut Body| _ = body.u32(40 + index).u32(u32::from(index == 0));
            stream.event(START_TICKS, 1, begin).unwrap();
            let read = |body: &mut Body| _ = body.u32(2).u32(1).i64(ns);
            stream.event(START_TICKS + 1000 * MS, 66, read).unwrap();
            stream.event(START_TICKS + 1000 * MS, 2, |_| {}).unwrap();
            stream.finish().unwrap();
        }
        let found = modelled(dir.path());
        let power = found.power.unwrap();
        assert_eq!(power.busy_from, Some(busy_from));
        close(power.average_mw, average);
    }
}

#[test]
fn readings_beyond_the_range_are_left_out_and_rare_ones_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let line = "sensor_0 = \"rapl/package-0 J 1e-6 1 total 1000000 900 - /p\"";
    with_lines(dir.path(), LITTLE_64, &[line]);
    let mut stream = StreamWriter::create(dir.path(), LITTLE_64, 0, 1 << 16).unwrap();
    stream
        .event(START_TICKS, 1, |body| _ = body.u32(40).u32(1))
        .unwrap();
    // 0.3 J, 2.9 J that cannot be (twice the range further), 0.4 J, a negative one, over the top to 0.1 J two seconds later.
    for (ms, raw) in [
        (0u64, 300_000i64),
        (100, 2_900_000),
        (200, 400_000),
        (300, -5),
        (2400, 100_000),
    ] {
        let read = |body: &mut Body| _ = body.u32(0).u32(1).i64(raw);
        stream.event(START_TICKS + ms * MS, 64, read).unwrap();
    }
    stream.event(START_TICKS + 2400 * MS, 2, |_| {}).unwrap();
    stream.finish().unwrap();
    let found = summary(dir.path());
    let sensor = &found.sensors[0];
    assert_eq!((sensor.samples, sensor.missed), (3, 2));
    close(sensor.total.unwrap(), 0.1 + 0.7);
    assert_eq!(sensor.longest_gap_ns, 2200 * MS);
    close(sensor.wraps_at.unwrap(), 1.0);
    let notes = super::super::notes::of(&found, &mut Default::default(), true).join("\n");
    assert!(
        notes.contains("rapl/package-0 begins again every 1 J"),
        "{notes}"
    );
}

/// Regions that are all different and never end, beside readings of a meter: each reading has a share of each open region.
#[test]
fn hostile_regions_take_no_more_time_than_others() {
    let dir = tempfile::tempdir().unwrap();
    with_lines(
        dir.path(),
        LITTLE_64,
        &["sensor_0 = \"rapl/package-0 J 1e-6 1 total 0 900 - /p\""],
    );
    let mut program = StreamWriter::create(dir.path(), LITTLE_64, 0, 1 << 16).unwrap();
    program.thread_begin(START_TICKS, 40, 1u32).unwrap();
    for n in 0..20_000 {
        let at = START_TICKS + u64::from(n) * 10;
        program
            .parallel_begin(at, n, u64::from(n) + 1, 1, 0u32)
            .unwrap();
        program.sensor(at + 1, 0, &[i64::from(n)]).unwrap();
    }
    program.finish().unwrap();
    let begin = std::time::Instant::now();
    let summary = summary(dir.path());
    let time = begin.elapsed();
    assert!(time < std::time::Duration::from_secs(10), "{time:?}");
    close(summary.energy[0].joules, 19_999.0 * 1e-6);
}
