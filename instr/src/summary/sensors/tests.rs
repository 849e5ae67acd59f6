//! On traces whose numbers can be worked out by hand. One tick is one nanosecond.

use std::path::Path;

use instr_trace::names::NoNames;
use instr_trace::synth::{self, Body, START_TICKS, StreamWriter};
use instr_trace::{ByteOrder, Layout, Trace, WordSize};

use super::super::model::Summary;
use super::super::summarize;

const MS: u64 = 1_000_000;
const LITTLE_64: Layout = Layout {
    order: ByteOrder::Little,
    word: WordSize::Eight,
};
const BIG_32: Layout = Layout {
    order: ByteOrder::Big,
    word: WordSize::Four,
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
