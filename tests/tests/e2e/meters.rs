//! Meters and counters against what the kernel itself says, hostile files in their place, and whether `instr doctor` tells the truth.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Instant;

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Target, need, tools};
use instr_tests::workspace;
use instr_trace::Payload;
use instr_trace::sensors::Definitions;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::sensors::{opened, program, ran, readings, summary};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("sensors::hostile-files-harm-nothing", hostile),
        trial("sensors::energy-by-perf", energy_by_perf),
        trial("sensors::sockets-of-amd-and-other-files", amd),
        trial("sensors::counters-are-the-kernels-own", counters),
        trial("sensors::events-of-units-as-perf-spells-them", units),
        trial("sensors::doctor-tells-the-truth", doctor),
    ];
    // Another form of the runtime has to be made for each: only where they are named.
    let named = std::env::var("INSTR_TEST_TARGETS").unwrap_or_default();
    for architecture in ["aarch64", "riscv64"] {
        let target = format!("{architecture}-linux");
        if named.split(',').any(|name| name == target) {
            let name = format!("program::shared-libraries::{target}");
            trials.push(trial(name, move || shared(architecture)));
        }
    }
    trials
}

/// What was asked for under this name is not there, and the reason has these words.
fn says_why(definitions: &Definitions, name: &str, why: &str) -> Check {
    let trouble = definitions
        .troubles
        .iter()
        .find(|trouble| trouble.name == name);
    ensure(
        trouble.is_some_and(|trouble| trouble.why.contains(why)),
        || format!("{name}: {trouble:?}, expected {why}"),
    )
}

fn put(root: &Path, path: &str, text: impl AsRef<[u8]>) -> Check {
    let path = root.join(path);
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    Ok(fs::write(path, text)?)
}

/// Whatever lies where a sensor's file should be: the run neither waits nor fails, what can be read is, the rest says why.
fn hostile() -> Check {
    let dir = workspace::work_dir("sensors-hostile")?;
    let (root, trace) = (dir.path().join("root"), dir.path().join("t"));
    let hwmon = "sys/class/hwmon/hwmon0";
    let pipe = |path: &str| {
        if let Some(dir) = root.join(path).parent() {
            fs::create_dir_all(dir)?;
        }
        Run::new("mkfifo").arg(root.join(path)).succeed().map(drop)
    };
    let large = |path: &str| -> Check { Ok(fs::File::create(root.join(path))?.set_len(1 << 32)?) };
    put(&root, &format!("{hwmon}/name"), "coretemp\n")?;
    pipe(&format!("{hwmon}/temp1_input"))?;
    fs::create_dir(root.join(hwmon).join("temp2_input"))?;
    put(&root, &format!("{hwmon}/temp3_input"), "hot\n")?;
    put(&root, &format!("{hwmon}/temp4_input"), "")?;
    large(&format!("{hwmon}/temp5_input"))?;
    symlink("temp6_input", root.join(hwmon).join("temp6_input"))?;
    symlink("/dev/zero", root.join(hwmon).join("temp7_input"))?;
    put(
        &root,
        &format!("{hwmon}/temp8_input"),
        "99999999999999999999\n",
    )?;
    for (number, fault) in [(9, "1"), (10, "0")] {
        put(
            &root,
            &format!("{hwmon}/temp{number}_input"),
            format!("{number}000\n"),
        )?;
        put(
            &root,
            &format!("{hwmon}/temp{number}_fault"),
            format!("{fault}\n"),
        )?;
    }
    put(&root, &format!("{hwmon}/temp11_input"), "-273150\n\n")?;
    large(&format!("{hwmon}/temp11_label"))?;
    pipe("sys/class/hwmon/hwmon1/name")?;
    put(&root, "sys/class/hwmon/hwmon1/power1_average", "5000000\n")?;
    put(&root, "sys/class/hwmon/hwmon2/name", b"bad\x01\xff\" /x\ny")?;
    put(&root, "sys/class/hwmon/hwmon2/energy1_input", "12\n")?;
    for (zone, name, joules) in [
        ("0", "package-0", 10),
        ("0:0", "dram", 1),
        ("1", "package-0", 20),
        ("1:0", "dram", 2),
    ] {
        let zone = format!("sys/class/powercap/intel-rapl:{zone}");
        put(&root, &format!("{zone}/name"), format!("{name}\n"))?;
        put(
            &root,
            &format!("{zone}/energy_uj"),
            format!("{joules}000000\n"),
        )?;
        put(&root, &format!("{zone}/max_energy_range_uj"), "many\n")?;
    }
    symlink("intel-rapl:2", root.join("sys/class/powercap/intel-rapl:2"))?;
    put(&root, "sys/class/thermal/thermal_zone0/type", "acpitz\n")?;
    pipe("sys/class/thermal/thermal_zone0/temp")?;
    put(
        &root,
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        "<unknown>\n",
    )?;
    pipe("proc/pressure/cpu")?;
    let program = program(dir.path(), "ends", Target::X86_64)?;
    let settings = [
        ("INSTR_SENSORS", "all"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(Run::new(&program), &trace, &settings)?;
    let trace = opened(&trace)?;
    let definitions = Definitions::of(trace.metadata());
    let names: Vec<&str> = definitions
        .sensors
        .iter()
        .map(|sensor| sensor.name.as_str())
        .collect();
    let expected = [
        "hwmon/coretemp/temp4",
        "hwmon/coretemp/temp10",
        "hwmon/coretemp/temp11",
        "hwmon/unnamed/power1-average",
        "rapl/package-0",
        "rapl/package-0/dram",
        "rapl/package-0-2",
        "rapl/package-0-2/dram",
    ];
    let known: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.starts_with("hwmon/bad"))
        .collect();
    ensure(
        known == expected && names.len() == expected.len() + 1,
        || format!("{names:?}, expected {expected:?} and hwmon/bad…"),
    )?;
    // An empty file may be filled at any time: it has no value now.
    let empty = &definitions.sensors[0];
    ensure(
        empty.missed == 2 && readings(&trace, &empty.name)? == (Vec::new(), 0),
        || format!("{empty:?}"),
    )?;
    for (name, value) in expected.into_iter().skip(1).zip([
        10_000, -273_150, 5_000_000, 10_000_000, 1_000_000, 20_000_000, 2_000_000,
    ]) {
        ensure(readings(&trace, name)? == (vec![value; 2], 0), || {
            format!("{name}: {:?}", readings(&trace, name))
        })?;
    }
    for (name, why) in [
        ("hwmon/coretemp/temp1", "not a regular file"),
        ("hwmon/coretemp/temp2", "not a regular file"),
        ("hwmon/coretemp/temp3", "not a number"),
        ("hwmon/coretemp/temp5", "not a number"),
        ("hwmon/coretemp/temp6", "symbolic links"),
        ("hwmon/coretemp/temp7", "not a regular file"),
        ("hwmon/coretemp/temp8", "not a number"),
        ("hwmon/coretemp/temp9", "reports a fault"),
        ("thermal/acpitz", "not a regular file"),
        ("cpufreq/cpu0", "not a number"),
        ("psi", "cannot be read"),
    ] {
        says_why(&definitions, name, why)?;
    }
    let long = root.join("x".repeat(150));
    let short_of_room = dir.path().join("long");
    ran(
        Run::new(&program),
        &short_of_room,
        &[
            ("INSTR_SENSORS", "all"),
            ("INSTR_SENSORS_ROOT", long.to_str().unwrap_or("")),
        ],
    )?;
    let told = opened(&short_of_room)?.metadata().setting_trouble.clone();
    ensure(
        told.as_deref()
            .is_some_and(|why| why.contains("INSTR_SENSORS_ROOT is too long")),
        || format!("{told:?}"),
    )
}

/// RAPL by perf, played by the kernel's clock of a processor: nanoseconds, described as nanojoules. So it has 1 W.
fn energy_by_perf() -> Check {
    let dir = workspace::work_dir("sensors-perf-energy")?;
    let (root, trace) = (dir.path().join("root"), dir.path().join("t"));
    let unit = "sys/bus/event_source/devices/power";
    for (path, text) in [
        ("type", "1"),
        ("cpumask", "0"),
        ("events/energy-pkg", "event=0x00"),
        ("events/energy-pkg.scale", "1e-9"),
        ("events/energy-pkg.unit", "Joules"),
        ("events/energy-cores", "event=0x00"),
        ("events/energy-cores.scale", "1e-9"),
    ] {
        put(&root, &format!("{unit}/{path}"), format!("{text}\n"))?;
    }
    let program = program(dir.path(), "ends", Target::X86_64)?;
    let begin = Instant::now();
    let settings = [
        ("INSTR_SENSORS", "perf-energy"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(Run::new(&program), &trace, &settings)?;
    let most = begin.elapsed().as_secs_f64();
    let definitions = Definitions::of(opened(&trace)?.metadata());
    if definitions.sensors.is_empty() {
        let told = definitions
            .troubles
            .iter()
            .all(|trouble| trouble.why.contains("not permitted"));
        return match told && !definitions.troubles.is_empty() {
            true => Err(Stop::NotAllowed(
                "whole processors may not be counted here".to_owned(),
            )),
            false => Err(Stop::Fail(format!("{definitions:?}"))),
        };
    }
    let json = summary(&trace)?;
    let joules = json["power"]["joules"].as_f64().unwrap_or(f64::NAN);
    // The program sleeps 120 ms between the two readings.
    ensure((0.119..=most * 1.01).contains(&joules), || {
        format!("{joules} J in at most {most} s: {}", json["power"])
    })?;
    ensure(
        json["power"]["zones"] == serde_json::json!(["perf-energy/pkg/cpu0"]),
        || format!("{}", json["power"]),
    )?;
    let zones = json["energy"].as_array().map_or(0, Vec::len);
    ensure(zones == 2, || format!("{}", json["energy"]))
}

/// First and last counters inside the user region of each thread, by the system's id of the thread.
fn regions(trace: &instr_trace::Trace) -> Check<BTreeMap<u32, [Vec<i64>; 2]>> {
    let ids: BTreeMap<u32, u32> = trace
        .threads()
        .iter()
        .map(|thread| (thread.index, thread.os_tid))
        .collect();
    let mut found = BTreeMap::new();
    let mut open: BTreeMap<u32, Vec<Vec<i64>>> = BTreeMap::new();
    let mut merge = trace.merge();
    while let Some(event) = merge.next().map_err(|error| error.to_string())? {
        match event.payload {
            Payload::RegionBegin { .. } => drop(open.insert(event.thread, Vec::new())),
            Payload::ThreadCounters { values, .. } => {
                if let Some(open) = open.get_mut(&event.thread) {
                    open.push(values.map(|value| value as i64).collect());
                }
            }
            Payload::RegionEnd => {
                let read = open.remove(&event.thread).unwrap_or_default();
                if let [first, .., last] = &read[..] {
                    found.insert(ids[&event.thread], [first.clone(), last.clone()]);
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

/// What a counter grew by in a region lies between what the thread itself asked the kernel inside and around it.
fn counters() -> Check {
    let dir = workspace::work_dir("sensors-kernel")?;
    let (program, trace) = (
        program(dir.path(), "work", Target::X86_64)?,
        dir.path().join("t"),
    );
    let names = "page-faults,context-switches,task-clock,schedstat-run";
    let run = Run::new(&program)
        .env("INSTR_TRACE", &trace)
        .env("INSTR_COUNTERS", names);
    let outcome = run.env("INSTR_SENSORS_AT", "regions").succeed()?;
    let trace = opened(&trace)?;
    let definitions = Definitions::of(trace.metadata());
    let at = |name: &str| {
        definitions
            .counters
            .iter()
            .position(|counter| counter.name == name)
    };
    if at("schedstat-run").is_none() && at("task-clock").is_none() {
        return Err(Stop::NotAllowed(format!(
            "nothing is counted here: {:?}",
            definitions.troubles
        )));
    }
    let found = regions(&trace)?;
    ensure(found.len() == 3, || format!("{found:?}"))?;
    for line in outcome.text().lines() {
        let n: Vec<i64> = line
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let [
            tid,
            faults,
            most_faults,
            switches,
            most_switches,
            cpu,
            _,
            run,
            most_run,
            clock,
        ] = n[..]
        else {
            return Err(Stop::Fail(line.to_owned()));
        };
        let [first, last] = found
            .get(&(tid as u32))
            .ok_or_else(|| format!("thread {tid}: {found:?}"))?;
        ensure(faults >= 300 && switches >= 1, || {
            format!("the program did not do its work: {line}")
        })?;
        for (name, least, most) in [
            ("page-faults", faults, most_faults),
            ("context-switches", switches, most_switches),
            ("schedstat-run", run, most_run),
            // One leaves out what a virtual machine's host takes away (a busy one more than a tenth), the other does not.
            ("task-clock", cpu - cpu / 4, clock),
        ] {
            let Some(at) = at(name) else { continue };
            let grown = last[at] - first[at];
            ensure((least..=most).contains(&grown), || {
                format!("thread {tid}: {name}: {grown}, expected {least} to {most}")
            })?;
        }
    }
    Ok(())
}

/// A unit described by its files, whose event 2 is the kernel's page faults, in perf's syntax; and tracepoints.
fn units() -> Check {
    let dir = workspace::work_dir("sensors-units")?;
    let (root, trace) = (dir.path().join("root"), dir.path().join("t"));
    let unit = "sys/bus/event_source/devices/soft";
    for (path, text) in [
        ("type", "1"),
        ("format/event", "config:0-7"),
        ("format/umask", "config:8-15"),
        ("format/odd", "config:0,2"),
        ("events/faults", "event=0x02"),
        ("../uncore/type", "1"),
        ("../uncore/cpumask", "0"),
    ] {
        put(&root, &format!("{unit}/{path}"), format!("{text}\n"))?;
    }
    put(
        &root,
        "sys/kernel/tracing/events/none/such/id",
        "4294967295\n",
    )?;
    let program = program(dir.path(), "work", Target::X86_64)?;
    let names = "page-faults:u,soft/event=0x2/u,soft/event=2,umask=0/u,soft/faults/u,soft/config=2/u,\
                 soft/nothing/,soft/event=0x1ff/,uncore/event=2/,nounit/event=2/,none:such,none:other,page-faults:pp,soft/umask";
    let settings = [
        ("INSTR_COUNTERS", names),
        ("INSTR_SENSORS_AT", "regions"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(Run::new(&program), &trace, &settings)?;
    let trace = opened(&trace)?;
    let definitions = Definitions::of(trace.metadata());
    if definitions.counters.is_empty() {
        return Err(Stop::NotAllowed(format!(
            "nothing is counted here: {:?}",
            definitions.troubles
        )));
    }
    ensure(definitions.counters.len() == 5, || {
        format!("{definitions:?}")
    })?;
    for (tid, [first, last]) in regions(&trace)? {
        let grown: Vec<i64> = first
            .iter()
            .zip(&last)
            .map(|(first, last)| last - first)
            .collect();
        ensure(
            grown[0] >= 300 && grown.iter().all(|count| *count == grown[0]),
            || format!("thread {tid}: {grown:?}"),
        )?;
    }
    for (name, why) in [
        ("soft/nothing/", "no such term or event"),
        ("soft/event=0x1ff/", "no such term or event"),
        ("soft/umask", "'/'"),
        ("uncore/event=2/", "whole processors"),
        ("nounit/event=2/", "no unit of this name"),
        ("none:such", ""),
        ("none:other", "tracing"),
        ("page-faults:pp", "modifier"),
    ] {
        says_why(&definitions, name, why)?;
    }
    Ok(())
}

/// Each statement about sensors and counters against the files and calls it is about.
fn doctor() -> Check {
    let outcome = Run::new(&tools()?.instr)
        .args(["doctor", "--json"])
        .succeed()?;
    let report: Value =
        serde_json::from_slice(&outcome.stdout).map_err(|error| error.to_string())?;
    let works = |section: &str, select: &dyn Fn(&str) -> bool| {
        let items = report[section].as_array().into_iter().flatten();
        let mut found = items
            .filter(|item| item["name"].as_str().is_some_and(select))
            .peekable();
        found
            .peek()
            .is_some()
            .then(|| found.any(|item| item["works"] == true))
    };
    let is_text = |path: &str| fs::read(path).is_ok_and(|text| !text.is_empty());
    let any = |folder: &str, file: &dyn Fn(&str) -> bool| {
        fs::read_dir(folder).is_ok_and(|entries| {
            entries
                .flatten()
                .any(|entry| entry.file_name().to_str().is_some_and(file))
        })
    };
    let powercap = |name: &str| {
        name.starts_with("intel-rapl") && is_text(&format!("/sys/class/powercap/{name}/energy_uj"))
    };
    let thermal = |name: &str| {
        name.starts_with("thermal_zone") && is_text(&format!("/sys/class/thermal/{name}/temp"))
    };
    // Fans and the like are not read; a temperature without a fault is.
    let input = |name: &str| {
        let folder = format!("/sys/class/hwmon/{name}");
        any(&folder, &|file| {
            let is_temperature = file.starts_with("temp") && file.ends_with("_input");
            let fault = format!("{folder}/{}", file.replace("_input", "_fault"));
            is_temperature
                && is_text(&format!("{folder}/{file}"))
                && !fs::read(fault).is_ok_and(|text| text.starts_with(b"1"))
        })
    };
    let hwmon = works("sensors", &|name| name.split('/').next() == Some("hwmon"));
    let is_there = any("/sys/class/hwmon", &|_| true);
    ensure(
        hwmon.is_some()
            && (is_there || hwmon == Some(false))
            && (!any("/sys/class/hwmon", &input) || hwmon == Some(true)),
        || format!("hwmon: said {hwmon:?}: {}", report["sensors"]),
    )?;
    for (family, fact) in [
        ("psi", is_text("/proc/pressure/cpu")),
        ("schedstat", is_text("/proc/self/schedstat")),
        (
            "cpufreq",
            is_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"),
        ),
        ("rapl", any("/sys/class/powercap", &powercap)),
        ("thermal", any("/sys/class/thermal", &thermal)),
    ] {
        let said = works("sensors", &|name| name.split('/').next() == Some(family));
        ensure(said == Some(fact), || {
            format!(
                "{family}: said {said:?}, it is {fact}: {}",
                report["sensors"]
            )
        })?;
    }
    let counted = |event: &str| works("counters", &|name| name.split(':').next() == Some(event));
    ensure(
        counted("schedstat-run") == Some(is_text("/proc/self/schedstat")),
        || format!("{}", report["counters"]),
    )?;
    if !any("/sys/bus/event_source/devices", &|unit| {
        unit.starts_with("cpu")
    }) {
        ensure(counted("cycles") == Some(false), || {
            format!("no unit counts cycles here: {}", report["counters"])
        })?;
    }
    let paranoid: Option<i32> = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid")
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let said = report["permissions"][0]["what"].as_str().unwrap_or("");
    ensure(
        paranoid.is_none_or(|level| said.starts_with(&format!("{level}:"))),
        || format!("{said}, it is {paranoid:?}"),
    )?;
    ensure(
        counted("page-faults").is_some() && counted("context-switches").is_some(),
        || format!("{}", report["counters"]),
    )
}

/// A machine of AMD's with two sockets, a management controller, an old kernel's pressure, and more processors than ten.
fn amd() -> Check {
    let dir = workspace::work_dir("sensors-amd")?;
    let (root, trace, steps) = (
        dir.path().join("root"),
        dir.path().join("t"),
        dir.path().join("script"),
    );
    let hwmon = "sys/class/hwmon/hwmon2";
    for (path, text) in [
        (format!("{hwmon}/name"), "amd_energy"),
        (format!("{hwmon}/energy1_input"), "1000000"),
        (format!("{hwmon}/energy1_label"), "Ecore000"),
        (format!("{hwmon}/energy2_input"), "50000000"),
        (format!("{hwmon}/energy2_label"), "Esocket0"),
        (format!("{hwmon}/energy3_input"), "70000000"),
        (format!("{hwmon}/energy3_label"), "Esocket1"),
        ("dev/ipmi0".to_owned(), ""),
        (
            "proc/pressure/cpu".to_owned(),
            "some avg10=0.00 avg60=0.00 avg300=0.00 total=12",
        ),
        (
            "proc/pressure/io".to_owned(),
            "some avg10=9.99 avg60=0.00 avg300=0.00 total=34\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=5",
        ),
        ("proc/self/schedstat".to_owned(), "250000000 50000000 7"),
        (
            "sys/devices/system/cpu/cpu10/cpufreq/scaling_cur_freq".to_owned(),
            "3500000",
        ),
        (
            "sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq".to_owned(),
            "1500000",
        ),
        (
            "sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq".to_owned(),
            "1",
        ),
    ] {
        put(&root, &path, format!("{text}\n"))?;
    }
    fs::write(
        &steps,
        format!(
            "{hwmon}/energy1_input 1500000\n{hwmon}/energy2_input 52000000\n{hwmon}/energy3_input 73000000\n\
             proc/self/schedstat 260000000 50000100 9\n!\n"
        ),
    )?;
    let program = program(dir.path(), "steps", Target::X86_64)?;
    let settings = [
        ("INSTR_SENSORS", "all"),
        ("INSTR_SENSORS_AT", "regions"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(Run::new(&program).arg(&steps).arg(&root), &trace, &settings)?;
    let json = summary(&trace)?;
    let zones: Vec<(&str, f64, bool)> = json["energy"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|zone| {
            let name = zone["zone"].as_str()?;
            Some((name, zone["joules"].as_f64()?, zone["in_total"] == true))
        })
        .collect();
    let expected = [
        ("hwmon/amd_energy/energy1", 0.5, false),
        ("hwmon/amd_energy/energy2", 2.0, true),
        ("hwmon/amd_energy/energy3", 3.0, true),
    ];
    let close = |found: f64, exact: f64| (found - exact).abs() <= 1e-9 * exact;
    let same = zones
        .iter()
        .zip(&expected)
        .all(|(found, exact)| (found.0, found.2) == (exact.0, exact.2) && close(found.1, exact.1));
    ensure(same && zones.len() == expected.len(), || {
        format!("{zones:?}")
    })?;
    let joules = json["power"]["joules"].as_f64().unwrap_or(f64::NAN);
    ensure(close(joules, 5.0), || format!("{}", json["power"]))?;
    let value = |name: &str, field: &str| {
        let sensors = json["sensors"].as_array().into_iter().flatten();
        let mut found = sensors.filter(|sensor| sensor["name"] == name);
        found.next().and_then(|sensor| sensor[field].as_f64())
    };
    for (name, field, exact) in [
        ("cpufreq/cpu2", "mean", 1.5e9),
        ("cpufreq/cpu10", "mean", 3.5e9),
        ("psi/cpu", "total", 0.0),
        ("psi/io:full", "total", 0.0),
        ("schedstat/main:run", "total", 0.01),
        ("schedstat/main:wait", "total", 1e-7),
    ] {
        let found = value(name, field);
        let right = found.is_some_and(|found| (found - exact).abs() <= 1e-9 * exact);
        ensure(right, || format!("{name}: {found:?}, expected {exact}"))?;
    }
    let trace = opened(&trace)?;
    let definitions = Definitions::of(trace.metadata());
    let names: Vec<&str> = definitions
        .sensors
        .iter()
        .map(|s| s.name.as_str())
        .collect();
    let frequencies: Vec<&str> = names
        .into_iter()
        .filter(|n| n.starts_with("cpufreq"))
        .collect();
    ensure(frequencies == ["cpufreq/cpu2", "cpufreq/cpu10"], || {
        format!("{frequencies:?}")
    })?;
    // It is there, and no management controller.
    let ipmi = definitions
        .troubles
        .iter()
        .find(|trouble| trouble.name == "ipmi/power");
    ensure(ipmi.is_some_and(|ipmi| ipmi.why.contains("DCMI")), || {
        format!("{:?}", definitions.troubles)
    })
}

/// A program of another architecture with its shared libraries: OpenMP, sensors and counters as on the tests' own.
fn shared(architecture: &str) -> Check {
    let (compiler, emulator) = (
        format!("{architecture}-linux-gnu-gcc"),
        format!("qemu-{architecture}"),
    );
    for tool in [&compiler, &emulator] {
        need(tool)?;
    }
    let dir = workspace::work_dir("shared-libraries")?;
    let (program, trace) = (dir.path().join("a"), dir.path().join("t"));
    let root = workspace::root()?;
    let build = Run::new(&tools()?.instr_cc).arg(&compiler);
    let build = build
        .args(["-O1", "-fopenmp", "-I"])
        .arg(root.join("runtime/include"));
    let build = build.arg(root.join("tests/sensors/work.c"));
    build.arg("-o").arg(&program).succeed()?;
    let library = Run::new(&compiler)
        .arg("-print-file-name=libc.so.6")
        .succeed()?;
    let library = Path::new(library.text().trim()).canonicalize()?;
    let prefix = library.parent().and_then(Path::parent).ok_or("no folder")?;
    let run = Run::new(&emulator).arg("-L").arg(prefix).arg(&program);
    let settings = [
        ("INSTR_SENSORS", "schedstat"),
        ("INSTR_COUNTERS", "schedstat-run"),
        ("INSTR_SENSORS_AT", "regions"),
    ];
    ran(run, &trace, &settings)?;
    let json = summary(&trace)?;
    let threads = json["threads"].as_array().map_or(0, Vec::len);
    ensure(
        threads == 3 && json["parallel_regions"][0]["count"] == 1,
        || format!("{json}"),
    )?;
    let trace = opened(&trace)?;
    // Begin and end of the trace, of the parallel region and of three user regions.
    let (values, lost) = readings(&trace, "schedstat/main")?;
    ensure((values.len(), lost) == (10, 0), || format!("{values:?}"))?;
    let grown = regions(&trace)?;
    let right = grown.len() == 3
        && grown
            .values()
            .all(|[first, last]| last[0] - first[0] > 10_000_000);
    ensure(right, || format!("{grown:?}: each computes for 20 ms"))
}
