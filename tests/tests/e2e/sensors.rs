//! Sensors on fixture trees whose series are known, the runtime's own thread, counters of threads, and `instr doctor`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use instr_trace::sensors::Definitions;
use instr_trace::{Payload, Trace};
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("sensors::missing-ones-say-why", missing),
        trial("sensors::permission-errors-say-what-to-do", permissions),
        trial("sensors::a-period-has-a-thread-of-its-own", period),
        trial("sensors::counters-of-threads", counters),
        trial("sensors::settings-from-a-file", settings_file),
    ];
    for target in [Target::X86_64, Target::Sparc32, Target::Sparc64] {
        trials.push(trial(
            format!("sensors::series::{}", target.name()),
            move || series(target),
        ));
    }
    for how in ["plain", "last-thread", "fork", "closes", "signals"] {
        trials.push(trial(format!("sensors::programs-end::{how}"), move || {
            ends(how)
        }));
    }
    trials
}

/// A machine with two packages' worth of meters and some sensors.
const TREE: &[(&str, &str)] = &[
    ("sys/class/powercap/intel-rapl:0/name", "package-0"),
    ("sys/class/powercap/intel-rapl:0/energy_uj", "262143000000"),
    (
        "sys/class/powercap/intel-rapl:0/max_energy_range_uj",
        "262143328850",
    ),
    ("sys/class/powercap/intel-rapl:0:0/name", "core"),
    ("sys/class/powercap/intel-rapl:0:0/energy_uj", "5000000"),
    (
        "sys/class/powercap/intel-rapl:0:0/max_energy_range_uj",
        "262143328850",
    ),
    ("sys/class/powercap/intel-rapl:0:1/name", "dram"),
    ("sys/class/powercap/intel-rapl:0:1/energy_uj", "1000000"),
    (
        "sys/class/powercap/intel-rapl:0:1/max_energy_range_uj",
        "65712999613",
    ),
    ("sys/class/powercap/intel-rapl:1/name", "package-1"),
    ("sys/class/powercap/intel-rapl:1/energy_uj", "100"),
    (
        "sys/class/powercap/intel-rapl:1/max_energy_range_uj",
        "262143328850",
    ),
    ("sys/class/hwmon/hwmon0/name", "coretemp"),
    ("sys/class/hwmon/hwmon0/temp1_input", "41000"),
    ("sys/class/hwmon/hwmon0/temp1_label", "Package id 0"),
    ("sys/class/hwmon/hwmon0/temp2_input", "39000"),
    ("sys/class/hwmon/hwmon0/temp3_input", "45000"),
    ("sys/class/hwmon/hwmon0/temp3_fault", "0"),
    ("sys/class/hwmon/hwmon1/name", "coretemp"),
    ("sys/class/hwmon/hwmon1/temp1_input", "-5000"),
    ("sys/class/hwmon/hwmon10/name", "power_meter"),
    ("sys/class/hwmon/hwmon10/power1_average", "52000000"),
    ("sys/class/hwmon/hwmon10/in0_input", "12100"),
    ("sys/class/hwmon/hwmon10/curr1_input", "4300"),
    ("sys/class/thermal/thermal_zone0/type", "x86_pkg_temp"),
    ("sys/class/thermal/thermal_zone0/temp", "42500"),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
        "2400000",
    ),
    (
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq",
        "800000",
    ),
    (
        "proc/pressure/cpu",
        "some avg10=0.00 avg60=0.10 avg300=0.20 total=7000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=50",
    ),
];

pub(crate) fn plant(root: &Path) -> Check {
    for (path, text) in TREE {
        let path = root.join(path);
        if let Some(dir) = path.parent() {
            fs::create_dir_all(dir)?;
        }
        fs::write(path, format!("{text}\n"))?;
    }
    Ok(())
}

/// A built program of `tests/sensors/`.
pub(crate) fn program(dir: &Path, name: &str, target: Target) -> Check<PathBuf> {
    let program = dir.join(name);
    let source = workspace::root()?
        .join("tests/sensors")
        .join(format!("{name}.c"));
    Build::openmp(target).traced(&[&source], &program)?;
    Ok(program)
}

pub(crate) fn ran(run: Run, trace: &Path, settings: &[(&str, &str)]) -> Check {
    let run = run.env("INSTR_TRACE", trace);
    let run = settings
        .iter()
        .fold(run, |run, (name, value)| run.env(name, value));
    run.succeed().map(|_| ())
}

pub(crate) fn opened(trace: &Path) -> Check<Trace> {
    Trace::open(trace).map_err(|error| Stop::Fail(error.to_string()))
}

/// All readings of a value of the sensor called `name`, and how often it was lost.
pub(crate) fn readings(trace: &Trace, name: &str) -> Check<(Vec<i64>, usize)> {
    let definitions = Definitions::of(trace.metadata());
    let sensor = definitions
        .sensors
        .iter()
        .find(|sensor| sensor.name == name);
    let number = sensor
        .ok_or_else(|| format!("no sensor {name}: {definitions:?}"))?
        .number;
    let (mut found, mut lost) = (Vec::new(), 0);
    let mut merge = trace.merge();
    while let Some(event) = merge.next().map_err(|error| error.to_string())? {
        match event.payload {
            Payload::Sensor { sensor, mut values } if sensor == number => {
                found.extend(values.next().map(|value| value as i64));
            }
            Payload::SensorLost { sensor, .. } if sensor == number => lost += 1,
            _ => {}
        }
    }
    Ok((found, lost))
}

pub(crate) fn summary(trace: &Path) -> Check<Value> {
    let outcome = Run::new(&tools()?.instr)
        .args(["summary", "--json"])
        .arg(trace)
        .succeed()?;
    serde_json::from_slice(&outcome.stdout).map_err(|error| Stop::Fail(error.to_string()))
}

/// What was read is what the files held: a wrap-around, a file that vanishes and comes back (it is not read again), one that holds no
/// number, one that is replaced, a sensor that is broken for a while.
fn series(target: Target) -> Check {
    let dir = workspace::work_dir("sensors-series")?;
    let (root, steps) = (dir.path().join("root"), dir.path().join("script"));
    plant(&root)?;
    let package = "sys/class/powercap/intel-rapl:0/energy_uj";
    let script = format!(
        "{package} 262143300000\nsys/class/powercap/intel-rapl:0:1/energy_uj 1500000\nsys/class/hwmon/hwmon0/temp1_input 43000\n\
         sys/class/hwmon/hwmon0/temp3_input -127000\nsys/class/hwmon/hwmon0/temp3_fault 1\n!\n\
         {package} 171150\nsys/class/hwmon/hwmon0/temp2_input\nsys/class/hwmon/hwmon0/temp3_input 46000\nsys/class/hwmon/hwmon0/temp3_fault 0\n!\n\
         {package} 1171150\nsys/class/hwmon/hwmon0/temp2_input 39500\nsys/class/hwmon/hwmon1/temp1_input hot\nsys/class/thermal/thermal_zone0/temp\nsys/class/thermal/thermal_zone0/temp 47000\n!\n"
    );
    fs::write(&steps, script)?;
    let (program, trace) = (program(dir.path(), "steps", target)?, dir.path().join("t"));
    let settings = [
        ("INSTR_SENSORS", "all,!cpufreq/cpu1"),
        ("INSTR_SENSORS_AT", "regions"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(
        target.run(&program).arg(&steps).arg(&root),
        &trace,
        &settings,
    )?;
    let opened = opened(&trace)?;
    let expect = |name: &str, series: &[i64], lost: usize| {
        let found = readings(&opened, name)?;
        ensure(found == (series.to_vec(), lost), || {
            format!("{name}: {found:?}, expected {series:?} and {lost} lost")
        })
    };
    let (a, b, c, d) = (262_143_000_000, 262_143_300_000, 171_150, 1_171_150);
    expect("rapl/package-0", &[a, b, b, c, c, d, d, d], 0)?;
    let (a, b) = (1_000_000, 1_500_000);
    expect("rapl/package-0/dram", &[a, b, b, b, b, b, b, b], 0)?;
    expect("rapl/package-1", &[100; 8], 0)?;
    expect(
        "hwmon/coretemp/temp1",
        &[41000, 43000, 43000, 43000, 43000, 43000, 43000, 43000],
        0,
    )?;
    expect("hwmon/coretemp/temp2", &[39000, 39000, 39000], 1)?;
    expect(
        "hwmon/coretemp/temp3",
        &[45000, 46000, 46000, 46000, 46000, 46000],
        0,
    )?;
    expect("hwmon/coretemp-2/temp1", &[-5000; 5], 1)?;
    expect(
        "thermal/x86_pkg_temp",
        &[42500, 42500, 42500, 42500, 42500, 47000, 47000, 47000],
        0,
    )?;
    expect("hwmon/power_meter/power1-average", &[52_000_000; 8], 0)?;
    expect("hwmon/power_meter/curr1", &[4300; 8], 0)?;
    expect("cpufreq/cpu0", &[2_400_000; 8], 0)?;
    expect("psi/cpu", &[7000; 8], 0)?;
    ensure(readings(&opened, "cpufreq/cpu1").is_err(), || {
        "!cpufreq/cpu1 was read".into()
    })?;
    let seen: usize = ["sensor", "sensor_lost"].iter().try_fold(0, |sum, name| {
        Ok::<usize, Stop>(sum + ctf::count(&ctf::read(&trace)?, name)? as usize)
    })?;
    ensure(seen == 8 * 14 - 5 - 3 - 2 + 2, || {
        format!("babeltrace2 sees {seen} readings")
    })?;
    energies(&trace)
}

/// The run's energies: 262143.0 J to 262143.3 J, over the top at 262143.32885 J to 0.17115 J, to 1.17115 J is 1.5 J; 0.5 J of memory.
fn energies(trace: &Path) -> Check {
    let json = summary(trace)?;
    let joules = |zone: &str| {
        let entries = json["energy"].as_array().into_iter().flatten();
        let entry = entries.clone().find(|entry| entry["zone"] == zone);
        entry.map(|entry| {
            (
                entry["joules"].as_f64().unwrap_or(f64::NAN),
                entry["in_total"] == true,
            )
        })
    };
    for (zone, exact, added) in [
        ("rapl/package-0", 1.5, true),
        ("rapl/package-0/dram", 0.5, true),
        ("rapl/package-0/core", 0.0, false),
        ("rapl/package-1", 0.0, true),
    ] {
        let found = joules(zone);
        let right =
            found.is_some_and(|(joules, total)| (joules - exact).abs() < 1e-9 && total == added);
        ensure(right, || format!("{zone}: {found:?}, expected {exact} J"))?;
    }
    let power = &json["power"];
    let total = power["joules"].as_f64().unwrap_or(f64::NAN);
    ensure(
        power["source"] == "measured" && (total - 2.0).abs() < 1e-9,
        || format!("{power}"),
    )
}

fn missing() -> Check {
    let dir = workspace::work_dir("sensors-missing")?;
    let (root, trace) = (dir.path().join("root"), dir.path().join("t"));
    fs::create_dir_all(&root)?;
    let program = program(dir.path(), "ends", Target::X86_64)?;
    let settings = [
        ("INSTR_SENSORS", "all,unheard-of"),
        ("INSTR_COUNTERS", "task-clock,unheard-of"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(Run::new(&program), &trace, &settings)?;
    let definitions = Definitions::of(opened(&trace)?.metadata());
    let mut names: Vec<&str> = definitions
        .troubles
        .iter()
        .map(|trouble| trouble.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let expected = [
        "cpufreq",
        "hwmon",
        "ipmi",
        "perf-energy",
        "psi",
        "rapl",
        "schedstat/main",
        "thermal",
        "unheard-of",
    ];
    ensure(names == expected, || {
        format!("{names:?}, expected {expected:?}")
    })
}

fn permissions() -> Check {
    let dir = workspace::work_dir("sensors-permissions")?;
    let (root, mut trace) = (dir.path().join("root"), dir.path().join("t"));
    plant(&root)?;
    let program = program(dir.path(), "ends", Target::X86_64)?;
    let forbidden = root.join("sys/class/powercap/intel-rapl:0/energy_uj");
    fs::set_permissions(&forbidden, fs::Permissions::from_mode(0o000))?;
    let mut run = Run::new(&program);
    if fs::read(&forbidden).is_ok() {
        // The superuser may read anything: run as somebody else, who may get here and write.
        need("setpriv")?;
        workspace::open_to_others(dir.path())?;
        // A trace's folder is its owner's: that one makes it.
        let shared = dir.path().join("shared");
        fs::create_dir(&shared)?;
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777))?;
        trace = shared.join("t");
        run = Run::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&program);
    }
    let settings = [
        ("INSTR_SENSORS", "rapl"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(run, &trace, &settings)?;
    let definitions = Definitions::of(opened(&trace)?.metadata());
    let told = definitions.troubles.iter().any(|trouble| {
        trouble.name == "rapl/package-0"
            && trouble.why.contains("CVE-2020-8694")
            && trouble.why.contains("instr doctor")
    });
    ensure(told && definitions.sensors.len() == 3, || {
        format!("{definitions:?}")
    })
}

/// The thread that reads is no thread of the program's; readings come at about the period, and are all the file ever held.
fn period() -> Check {
    let dir = workspace::work_dir("sensors-period")?;
    let (root, trace) = (dir.path().join("root"), dir.path().join("t"));
    plant(&root)?;
    let program = program(dir.path(), "ends", Target::X86_64)?;
    let settings = [
        ("INSTR_SENSORS", "hwmon/power_meter/power1*,thermal"),
        ("INSTR_SENSORS_PERIOD", "5ms"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    ran(Run::new(&program), &trace, &settings)?;
    let opened = opened(&trace)?;
    ensure(
        opened.threads().len() == 1 && opened.own_threads().len() == 1,
        || format!("{:?} and {:?}", opened.threads(), opened.own_threads()),
    )?;
    let (values, lost) = readings(&opened, "thermal/x86_pkg_temp")?;
    // 120 ms of work: 24 readings on an idle machine.
    ensure(
        (5..=40).contains(&values.len()) && lost == 0 && values.iter().all(|v| *v == 42500),
        || format!("{} readings", values.len()),
    )?;
    let json = summary(&trace)?;
    let watts = json["power"]["average_mw"].as_f64().unwrap_or(0.0);
    ensure(
        (watts - 52_000.0).abs() < 1e-3 && json["threads"].as_array().is_some_and(|t| t.len() == 1),
        || format!("{watts} mW of 52000, threads {}", json["threads"]),
    )?;
    let name = dir.path().join("paraver");
    Run::new(&tools()?.instr)
        .arg("merge")
        .arg(&trace)
        .arg("-o")
        .arg(&name)
        .succeed()?;
    let labels = fs::read_to_string(name.with_extension("pcf"))?;
    ensure(labels.contains("thermal/x86_pkg_temp (1e-3 degC)"), || {
        labels.clone()
    })
}

/// `instr run` puts a file's settings into the environment, refuses mistakes, and ends as the program does.
fn settings_file() -> Check {
    let dir = workspace::work_dir("sensors-run")?;
    let program = program(dir.path(), "ends", Target::X86_64)?;
    let (file, trace) = (dir.path().join("a.toml"), dir.path().join("t"));
    fs::write(
        &file,
        "sensors = [\"schedstat\", \"psi\"]\nsensors_at = \"regions\"\n",
    )?;
    let run = || -> Check<Run> { Ok(Run::new(&tools()?.instr).dir(dir.path()).arg("run")) };
    let outcome = run()?
        .arg("--config")
        .arg(&file)
        .arg("-o")
        .arg(&trace)
        .arg("--")
        .arg(&program)
        .succeed()?;
    ensure(outcome.text() == "done\n", || format!("{outcome}"))?;
    let opened = opened(&trace)?;
    let (values, _) = readings(&opened, "schedstat/main")?;
    ensure(values.len() == 4, || {
        format!("{} readings: begin, region, end", values.len())
    })?;
    let status = run()?.args(["--", "sh", "-c", "exit 7"]).output()?;
    ensure(status.status == Status::Code(7), || format!("{status}"))?;
    fs::write(&file, "sensors_period = \"10\"\n")?;
    let refused = run()?
        .arg("--config")
        .arg(&file)
        .arg("--")
        .arg(&program)
        .output()?;
    let told = refused.errors().contains("is not a time of at least 100us");
    ensure(refused.status == Status::Code(1) && told, || {
        format!("{refused}")
    })
}

fn counters() -> Check {
    let dir = workspace::work_dir("sensors-counters")?;
    let source = workspace::root()?.join("tests/conformance/taskgroup.c");
    let (program, trace) = (dir.path().join("a"), dir.path().join("t"));
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    ran(
        Run::new(&program).env("OMP_NUM_THREADS", "2"),
        &trace,
        &[("INSTR_COUNTERS", "page-faults:u,schedstat-run,task-clock")],
    )?;
    let opened = opened(&trace)?;
    let definitions = Definitions::of(opened.metadata());
    if definitions.counters.is_empty() {
        return Err(Stop::NotAllowed(format!(
            "nothing is counted here: {:?}",
            definitions.troubles
        )));
    }
    let mut last: std::collections::BTreeMap<u32, Vec<i64>> = std::collections::BTreeMap::new();
    let mut merge = opened.merge();
    while let Some(event) = merge.next().map_err(|error| error.to_string())? {
        if let Payload::ThreadCounters { values, .. } = event.payload {
            let values: Vec<i64> = values.map(|value| value as i64).collect();
            let before = last
                .insert(event.thread, values.clone())
                .unwrap_or_default();
            ensure(
                before
                    .iter()
                    .zip(&values)
                    .all(|(before, after)| before <= after),
                || format!("thread {}: {before:?}, then {values:?}", event.thread),
            )?;
        }
    }
    ensure(last.len() == opened.threads().len(), || {
        format!("{last:?}: every thread counts")
    })?;
    let json = summary(&trace)?;
    for (at, counter) in definitions.counters.iter().enumerate() {
        let total: i64 = last.values().map(|values| values[at]).sum();
        let found = &json["counters"][at];
        ensure(
            found["name"] == counter.name.as_str() && found["total"] == total,
            || format!("{found}, expected {total}"),
        )?;
    }
    Ok(())
}

/// Whatever the program does to its threads, descriptors and signals, it ends as without us.
fn ends(how: &str) -> Check {
    let dir = workspace::work_dir("sensors-ends")?;
    let (plain, traced) = (
        dir.path().join("plain"),
        program(dir.path(), "ends", Target::X86_64)?,
    );
    let source = workspace::root()?.join("tests/sensors/ends.c");
    let header = workspace::root()?.join("runtime/include");
    let build = Build::openmp(Target::X86_64).flag(format!("-I{}", header.display()));
    build.plain(&[&source], &plain)?;
    let expected = Run::new(&plain).arg(how).output()?;
    let trace = dir.path().join("t");
    let run = Run::new(&traced).arg(how).env("INSTR_TRACE", &trace);
    let run = run
        .env("INSTR_SENSORS", "psi,schedstat")
        .env("INSTR_SENSORS_PERIOD", "2ms");
    let found = run
        .env("INSTR_COUNTERS", "task-clock,schedstat-run")
        .output()?;
    ensure(
        found.status == expected.status && found.stdout == expected.stdout,
        || format!("{found}\nexpected\n{expected}"),
    )?;
    let opened = opened(&trace)?;
    ensure(
        opened.metadata().closed && opened.own_threads().len() == 1,
        || {
            format!(
                "closed: {}, own threads {:?}",
                opened.metadata().closed,
                opened.own_threads()
            )
        },
    )?;
    if how == "fork" {
        let child = opened.children().first().ok_or("the child has no trace")?;
        let child = Trace::open(child).map_err(|error| error.to_string())?;
        ensure(child.own_threads().len() == 1, || {
            "nobody reads in the child".into()
        })?;
    }
    Ok(())
}
