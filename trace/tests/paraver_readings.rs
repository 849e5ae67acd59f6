//! Sensors in Paraver: temperatures as they were read, energies as what they grew by, and the mean power that makes.

use std::fs;

use instr_trace::Session;
use instr_trace::paraver::{self, Options};
use instr_trace::synth::{self, START_TICKS, StreamWriter};

const MS: u64 = 1_000_000;

/// The type with this label, and its (time, value) pairs, ms.
fn view(pcf: &str, prv: &str, label: &str) -> Vec<(u64, i64)> {
    let line = pcf.lines().find(|line| line.ends_with(label));
    let line = line.unwrap_or_else(|| panic!("no type {label}: {pcf}"));
    let kind = line.split_whitespace().nth(1).unwrap();
    let mut found = Vec::new();
    for record in prv.lines().filter(|line| line.starts_with("2:")) {
        let fields: Vec<&str> = record.split(':').collect();
        for pair in fields[6..].chunks(2).filter(|pair| pair[0] == kind) {
            found.push((fields[5].parse().unwrap(), pair[1].parse().unwrap()));
        }
    }
    let first = found.first().map_or(0, |(time, _)| *time);
    let relative = found
        .iter()
        .map(|(time, value)| ((time - first) / MS, *value));
    relative.collect()
}

#[test]
fn power_and_temperature_have_views_of_their_own() {
    for layout in synth::layouts() {
        let (dir, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let metadata = dir.path().join("metadata");
        let text = fs::read_to_string(&metadata).unwrap();
        let lines = "env {\n    sensor_0 = \"rapl/package-0 J 1e-6 1 total 1000000 900 - /p\";\n    \
                     sensor_1 = \"hwmon/coretemp/temp1 degC 0.001 1 level 0 900 - /t\";\n";
        fs::write(&metadata, text.replacen("env {\n", lines, 1)).unwrap();
        let mut stream = StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
        stream
            .event(START_TICKS, 1, |body| _ = body.u32(40).u32(1))
            .unwrap();
        // 0.2 J in 100 ms, 0.4 J in 50 ms, nothing for 10 ms, 0.3 J over the top in 100 ms; a number beyond the range is left out.
        for (ms, energy, temperature) in [
            (10u64, 200_000i64, 41_000i64),
            (110, 400_000, 41_500),
            (160, 800_000, 43_000),
            (165, 9_000_000, -5_000),
            (170, 800_000, 42_000),
            (270, 100_000, 42_000),
        ] {
            for (sensor, value) in [(0u32, energy), (1, temperature)] {
                let read = |body: &mut synth::Body| _ = body.u32(sensor).u32(1).i64(value);
                stream.event(START_TICKS + ms * MS, 64, read).unwrap();
            }
        }
        stream.event(START_TICKS + 300 * MS, 2, |_| {}).unwrap();
        stream.finish().unwrap();
        let session = Session::open(&[dir.path()]).unwrap();
        let name = out.path().join("o");
        paraver::write(&session, &[], &Options::default(), &name, &mut |_, _| {}).unwrap();
        let read = |extension: &str| fs::read_to_string(name.with_extension(extension)).unwrap();
        let (pcf, prv) = (read("pcf"), read("prv"));
        let view = |label: &str| view(&pcf, &prv, label);
        assert_eq!(
            view("rapl/package-0 (1e-6 J), since the reading before"),
            [
                (0, 0),
                (100, 200_000),
                (150, 400_000),
                (160, 0),
                (260, 300_000)
            ]
        );
        assert_eq!(
            view("rapl/package-0: mean power since the reading before (mW)"),
            [(0, 2000), (50, 8000), (60, 0), (160, 3000)]
        );
        assert_eq!(
            view("hwmon/coretemp/temp1 (1e-3 degC)"),
            [
                (0, 41_000),
                (100, 41_500),
                (150, 43_000),
                (155, -5_000),
                (160, 42_000),
                (260, 42_000)
            ]
        );
    }
}
