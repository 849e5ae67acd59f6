//! `instr sweep`: laws that are known, regions of known length, sweeps that are killed, and what is refused.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

/// Moments at which a sweep is killed: all of them where there is time.
fn kills() -> u64 {
    match std::env::var_os("INSTR_TEST_ALL") {
        Some(_) => 50,
        None => 8,
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("sweep::amdahls-fraction-is-found", amdahl),
        trial("sweep::terms-of-threads-and-size-are-found", terms),
        trial("sweep::regions-of-known-length", regions),
        trial("sweep::energy-of-regions-and-of-the-run", energy),
        trial("sweep::energy-by-a-power-model", modelled),
        trial("sweep::energy-by-a-management-controller", controller),
        trial("sweep::counters-of-runs-and-regions", counters),
        trial("sweep::pascals-form-for-a-script-of-its-own", pascal),
        trial("sweep::killed-sweeps-restore-the-machine-and-go-on", killed),
        trial("sweep::mistakes-are-refused", refused),
        trial("sweep::failing-runs-are-named", failing),
    ]
}

struct Place {
    dir: TempDir,
}

impl Place {
    fn new(source: &str, traced: bool) -> Check<Self> {
        let dir = workspace::work_dir("sweep")?;
        let source = workspace::root()?.join("tests/sweep").join(source);
        let program = dir.path().join("program");
        let build = Build::openmp(Target::X86_64).flag("-O1");
        match traced {
            true => build.traced(&[&source], &program)?,
            false => build.flag("-lm").plain(&[&source], &program)?,
        };
        Ok(Self { dir })
    }

    fn sweep(&self, words: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).arg("sweep").args(words);
        Ok(run.dir(self.dir.path()))
    }

    fn figures(&self, words: &[&str]) -> Check<Value> {
        let outcome = self.sweep(words)?.succeed()?;
        let found = serde_json::from_str(&outcome.text()).map_err(|error| error.to_string())?;
        Ok(found)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

fn number(value: &Value) -> Check<f64> {
    Ok(value
        .as_f64()
        .ok_or_else(|| format!("no number: {value}"))?)
}

/// 0.3 s on one thread, a tenth of it serial: 300, 165, 98, 64, 47 ms. What a start takes, and a nap that ends late, is some milliseconds.
fn amdahl() -> Check {
    let place = Place::new("law.c", false)?;
    let found = place.figures(&[
        "--threads",
        "1,2,4,8,16",
        "--repeat",
        "5",
        "--model",
        "64,1000",
        "--json",
        "--",
        "./program",
        "amdahl",
        "0.3",
        "0.1",
    ])?;
    let series = &found["subjects"][0]["series"][0];
    let law = &series["law"];
    ensure(law["law"] == "amdahl", || law.to_string())?;
    let fraction = &law["parameters"][1];
    let value = number(&fraction["value"])?;
    ensure((0.09..0.14).contains(&value), || fraction.to_string())?;
    ensure(
        number(&fraction["low"])? <= value && value <= number(&fraction["high"])?,
        || fraction.to_string(),
    )?;
    let [near, far] = [0, 1].map(|at| &law["predictions"][at]);
    let at_64 = number(&near["seconds"]["value"])?;
    ensure((0.033..0.050).contains(&at_64), || {
        format!("0.3 (0.1 + 0.9 / 64) is 0.0342: {near}")
    })?;
    ensure(
        far["refused"].is_string() && far["seconds"].is_null(),
        || far.to_string(),
    )?;
    let four = &series["points"][2];
    ensure(four["threads"] == 4 && four["runs"] == 5, || {
        four.to_string()
    })?;
    let speedup = number(&four["speedup"])?;
    ensure((2.6..3.2).contains(&speedup), || {
        format!("1 / (0.1 + 0.9 / 4) is 3.08: {speedup}")
    })?;
    // The same again, for people, from what was recorded: nothing is run, and nothing is left out.
    let text = place.sweep(&["program.sweep"])?.succeed()?.text();
    ensure(
        text.contains("serial fraction") && text.contains("speedup") && !text.contains("--top"),
        || text.clone(),
    )?;
    let page = place.at("page.html");
    let report = Run::new(&tools()?.instr)
        .arg("report")
        .arg(place.at("program.sweep"))
        .arg("-o")
        .arg(&page);
    report.succeed()?;
    let page = std::fs::read_to_string(&page)?;
    ensure(
        page.contains("id=\"sweep\"") && page.contains("./program amdahl 0.3 0.1"),
        || "no page of the sweep".to_owned(),
    )
}

fn terms() -> Check {
    let place = Place::new("law.c", false)?;
    let words = [
        "--threads",
        "1,2,4,8",
        "--inputs",
        "2048;4096;8192;16384",
        "--repeat",
        "2",
        "--json",
        "--",
        "./program",
        "terms",
        "6e-6",
        "12e-3",
        "{input}",
    ];
    let found = place.figures(&words)?;
    let program = &found["subjects"][0];
    let text = program["model"]["text"].as_str().ok_or("no model")?;
    // n log2 n / p is nearly n / p over a factor of 8: either names the part that shrinks with threads.
    ensure(text.contains("p^-1") || text.contains("p^(-"), || {
        text.to_owned()
    })?;
    ensure(number(&program["model"]["error"])? < 0.1, || {
        program["model"].to_string()
    })?;
    let weak = program["weak"].as_array().map_or(0, Vec::len);
    ensure(weak >= 3, || format!("{}", program["weak"]))
}

fn regions() -> Check {
    let place = Place::new("regions.c", true)?;
    let found = place.figures(&[
        "--measure",
        "regions",
        "--repeat",
        "1",
        "--json",
        "--",
        "./program",
    ])?;
    let seconds =
        |path: &[&str]| -> Check<f64> { number(&point(&found, path)?["seconds"]["value"]) };
    let text = std::fs::read_to_string(place.at("times"))?;
    let times: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let [first, second, parallel, outside] = times[..] else {
        return Err(format!("the program wrote {text}").into());
    };
    ensure(first >= 0.030 && second >= 0.020, || text.clone())?;
    // The trace begins before `main` and ends behind it: that is outside too.
    for (path, known, more) in [
        (&["phase"][..], first + second, 0.001),
        (&["phase", "main"][..], parallel, 0.001),
        (&["outside"][..], outside, 0.050),
    ] {
        let value = seconds(path)?;
        ensure(value > 0.98 * known - 0.001 && value < known + more, || {
            format!("{path:?}: {value}, by the program {text}")
        })?;
    }
    let executions = &point(&found, &["phase"])?["executions"];
    let of = |name: &str| number(&executions["seconds"][name]);
    ensure(number(&executions["count"])? == 2.0, || {
        executions.to_string()
    })?;
    for (name, known) in [
        ("sum", first + second),
        ("min", first.min(second)),
        ("median", first.min(second)),
        ("max", first.max(second)),
        ("p95", first.max(second)),
        ("mean", (first + second) / 2.0),
        ("deviation", (first - second).abs() / 2.0),
    ] {
        let value = of(name)?;
        ensure((value - known).abs() < 0.001 + 0.002 * known, || {
            format!("{name}: {executions}, by the program {text}")
        })?;
    }
    // At level 1 the parallel region is a part of `phase`.
    let folded = place.figures(&["program.sweep", "--level", "1", "--json"])?;
    ensure(
        point(&folded, &["phase", "main"]).is_err()
            && number(&point(&folded, &["phase"])?["seconds"]["value"])? == seconds(&["phase"])?,
        || folded.to_string(),
    )?;
    let kept = std::fs::read_dir(place.at("program.sweep/traces"))?.count();
    ensure(kept == 0, || format!("{kept} traces stayed"))
}

/// The first point of a region, by parts of the names of those around it and its own; of the program: no names.
fn point<'v>(found: &'v Value, path: &[&str]) -> Check<&'v Value> {
    let subjects = found["subjects"].as_array().ok_or("no subjects")?;
    let is = |subject: &&Value| {
        subject["path"].as_array().is_some_and(|names| {
            names.len() == path.len()
                && names
                    .iter()
                    .zip(path)
                    .all(|(name, part)| name.as_str().is_some_and(|name| name.contains(part)))
        })
    };
    let subject = subjects
        .iter()
        .find(is)
        .ok_or_else(|| format!("no region {path:?}: {found}"))?;
    Ok(&subject["series"][0]["points"][0])
}

fn close(what: &str, found: f64, expected: f64, share: f64) -> Check {
    ensure((found / expected - 1.0).abs() < share, || {
        format!("{what}: {found}, not {expected}")
    })
}

/// 30 W in the region, 10 W outside: by meters that begin again while the program runs. Two threads in a region are one interval.
fn energy() -> Check {
    let place = Place::new("energy.c", true)?;
    let root = place.at("machine");
    let figures = |words: &[&str]| -> Check<Value> {
        super::sensors::plant(&root)?;
        let all = [words, &["--repeat", "1", "--json", "--", "./program"]].concat();
        let run = place.sweep(&all)?.env("INSTR_SENSORS_ROOT", &root);
        let text = run.succeed()?.text();
        Ok(serde_json::from_str(&text).map_err(|error| error.to_string())?)
    };
    let total = || -> Check<f64> {
        let text = std::fs::read_to_string(place.at("joules"))?;
        Ok(text
            .trim()
            .parse::<f64>()
            .map_err(|error| error.to_string())?)
    };
    let found = figures(&[
        "--measure",
        "regions",
        "--sensors",
        "rapl",
        "--sensors-period",
        "1ms",
    ])?;
    let watts = |path: &[&str]| number(&point(&found, path)?["energy"]["watts"]);
    let joules = |path: &[&str]| number(&point(&found, path)?["energy"]["joules"]["value"]);
    close("hot", watts(&["hot"])?, 30.0, 0.01)?;
    close(
        "the parallel region in it",
        watts(&["hot", "main"])?,
        30.0,
        0.01,
    )?;
    close("outside", watts(&["outside"])?, 10.0, 0.01)?;
    close(
        "all",
        joules(&["hot"])? + joules(&["outside"])?,
        joules(&[])?,
        1e-6,
    )?;
    close("the run", joules(&[])?, total()?, 0.01)?;
    let run = point(&found, &[])?;
    let product = joules(&[])? * number(&run["seconds"]["value"])?;
    close(
        "EDP",
        number(&run["energy"]["energy_delay"])?,
        product,
        1e-9,
    )?;
    ensure(found["energy_is_modelled"] == false, || found.to_string())?;
    // Without a trace: the machine's meters before and after.
    let found = figures(&["-o", "plain"])?;
    let plain = number(&point(&found, &[])?["energy"]["joules"]["value"])?;
    close("a plain run", plain, total()?, 0.01)
}

/// A model of 1 W, and 0.5 W for each busy core: a program that sleeps has none of them.
fn modelled() -> Check {
    let place = Place::new("regions.c", true)?;
    let machine = workspace::root()?.join("cross-targets/x86_64-linux.toml");
    let chip =
        std::fs::read_to_string(machine)? + "\n[power]\nidle-mw = 1000\nbusy-mw = [1500, 2000]\n";
    std::fs::write(place.at("chip.toml"), chip)?;
    let words = [
        "--measure",
        "regions",
        "--target",
        "chip.toml",
        "--repeat",
        "1",
        "--json",
        "--",
        "./program",
    ];
    let found = place.figures(&words)?;
    let watts = |path: &[&str]| number(&point(&found, path)?["energy"]["watts"]);
    ensure(found["energy_is_modelled"] == true, || found.to_string())?;
    // User code counts as busy whether it sleeps or not: one core outside of the parallel region, two in it.
    close("outside", watts(&["outside"])?, 1.5, 0.02)?;
    // Unless the second thread began late, so that they were not both in it all the time.
    let both = watts(&["phase", "main"])?;
    ensure((1.48..2.01).contains(&both), || {
        format!("the parallel region: {both} W")
    })
}

/// Pages that are touched and time that is worked, by region; the whole run beside what the system accounts.
fn counters() -> Check {
    let place = Place::new("counters.c", true)?;
    let words = |more: &[&'static str]| {
        let mut all = vec!["--counters", "task-clock,page-faults", "--repeat", "1"];
        all.extend(more);
        all.extend(["--json", "--", "./program"]);
        all
    };
    let count = |found: &Value, path: &[&str], name: &str| -> Check<f64> {
        number(&point(found, path)?["counters"][name]["value"])
    };
    let found = place.figures(&words(&["--measure", "regions"]))?;
    if found["not_counted"]["page-faults"].is_string() {
        return Err(Stop::NotAllowed(format!(
            "nothing is counted here: {}",
            found["not_counted"]
        )));
    }
    // A fault more for what the runtime or OpenMP touches now and then.
    for (path, least, more) in [
        (&["touch"][..], 2000.0, 60.0),
        (&["touch", "main"][..], 1000.0, 60.0),
        (&["spin"][..], 0.0, 10.0),
        (&["outside"][..], 700.0, 700.0),
    ] {
        let faults = count(&found, path, "page-faults")?;
        ensure((least..=least + more).contains(&faults), || {
            format!("{path:?}: {faults} page faults, touched {least}")
        })?;
    }
    let parts = ["touch", "spin", "outside"].map(|name| count(&found, &[name], "page-faults"));
    let sum = parts.into_iter().sum::<Check<f64>>()?;
    let whole = count(&found, &[], "page-faults")?;
    ensure(sum == whole, || format!("{sum} in all, {whole} in the run"))?;
    let spun = count(&found, &["spin"], "task-clock")? * 1e-6;
    ensure((49.9..60.0).contains(&spun), || {
        format!("50 ms of work: {spun}")
    })?;
    // Without a trace of the sweep's own: what the kernel says of the program before it ends.
    let found = place.figures(&words(&["-o", "plain"]))?;
    let text = std::fs::read_to_string(place.at("counts"))?;
    let told: Vec<f64> = text
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let faults = count(&found, &[], "page-faults")?;
    ensure((faults - told[0]).abs() < 150.0, || {
        format!("{faults} page faults; the program: {text}")
    })?;
    let seconds = count(&found, &[], "task-clock")? * 1e-9;
    ensure(
        (0.9 * told[1]..1.3 * told[1] + 0.005).contains(&seconds),
        || format!("{seconds} s; the program: {text}"),
    )?;
    let csv = place.sweep(&["plain", "--csv", "-"])?.succeed()?.text();
    ensure(
        csv.lines()
            .next()
            .is_some_and(|head| head.ends_with(",page-faults,task-clock")),
        || csv.clone(),
    )?;
    // Nothing but lines of as many values is on the output.
    let width = |line: &str| line.split(',').count();
    let even = csv
        .lines()
        .all(|line| Some(width(line)) == csv.lines().next().map(width));
    ensure(even && csv.lines().count() == 2, || csv.clone())?;
    // DuckDB finds the same rows in both files; the table in Parquet has its types.
    std::fs::write(
        place.at("regions.csv"),
        place
            .sweep(&["program.sweep", "--csv", "-"])?
            .succeed()?
            .stdout,
    )?;
    place
        .sweep(&["program.sweep", "--parquet", "regions.parquet"])?
        .succeed()?;
    let script = "import duckdb, sys\n\
        text, table = (duckdb.sql(f\"from '{name}' order by all\") for name in ('regions.csv', 'regions.parquet'))\n\
        assert text.columns == table.columns, (text.columns, table.columns)\n\
        a, b = ([[None if x is None else str(x) if isinstance(x, str) else float(x) for x in row] for row in it.fetchall()] for it in (text, table))\n\
        assert a == b, (a, b)\n\
        types = dict(zip(table.columns, map(str, table.types)))\n\
        assert (types['seconds'], types['region'], types['page-faults']) == ('DOUBLE', 'VARCHAR', 'UBIGINT'), types\n\
        print(len(b), sum(row[table.columns.index('region')] is None for row in b))\n";
    let read = Run::new(crate::python::needs("duckdb")?).args(["-c", script]);
    let rows = read.dir(place.dir.path()).succeed()?.text();
    let numbers: Vec<usize> = rows
        .split_whitespace()
        .filter_map(|it| it.parse().ok())
        .collect();
    ensure(
        matches!(numbers[..], [rows, runs] if runs >= 1 && rows > runs),
        || rows.clone(),
    )
}

/// A stand-in for ipmitool: 100 W at first, 300 W from the third reading on.
fn controller() -> Check {
    let place = Place::new("law.c", false)?;
    let script = "#!/bin/sh\necho \"$@\" >> asked\nif [ $(wc -l < asked) -lt $FROM ]; then w=100; else w=300; fi\n\
                  printf '\\n    Instantaneous power reading:   %8d Watts\\n' $w\n";
    std::fs::create_dir(place.at("bin"))?;
    let tool = place.at("bin/ipmitool");
    let plant = |text: &str| -> Check {
        std::fs::write(&tool, text)?;
        Ok(std::fs::set_permissions(
            &tool,
            std::os::unix::fs::PermissionsExt::from_mode(0o755),
        )?)
    };
    plant(script)?;
    let path = format!("{}:/usr/bin:/bin", place.at("bin").display());
    let words = |target: &'static str, seconds: &'static str, dir: &'static str| {
        let mut words = vec!["--ipmi", target, "--repeat", "1", "--json", "-o", dir];
        words.extend(["--", "./program", "amdahl", seconds, "1"]);
        words
    };
    let sweep = |words: &[&str], from: &str| -> Check<Run> {
        let run = place.sweep(words)?.env("PATH", &path).env("FROM", from);
        Ok(run.env("IPMI_PASSWORD", "secret"))
    };
    let watts = |words: &[&str], from: &str| -> Check<f64> {
        let text = sweep(words, from)?.succeed()?.text();
        let found: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        number(&point(&found, &[])?["energy"]["watts"])
    };
    // Two that look whether it answers, one before the run and one behind it.
    close(
        "short",
        watts(&words("local", "0.1", "short"), "99")?,
        100.0,
        0.01,
    )?;
    let asked = std::fs::read_to_string(place.at("asked"))?;
    ensure(asked == "dcmi power reading\n".repeat(4), || asked.clone())?;
    // In 2.5 s there are two more. The first ones say 100 W, the last two 300 W: from 1 s to 2 s it goes up.
    std::fs::remove_file(place.at("asked"))?;
    let mean = watts(&words("root@bmc", "2.5", "long"), "5")?;
    ensure((155.0..205.0).contains(&mean), || {
        format!("(100 + 200 + 0.5 * 300) / 2.5 is 180 W: {mean}")
    })?;
    let asked = std::fs::read_to_string(place.at("asked"))?;
    ensure(
        asked.starts_with("-I lanplus -H bmc -U root -E dcmi") && !asked.contains("secret"),
        || asked.clone(),
    )?;
    plant("#!/bin/sh\necho 'Could not open device at /dev/ipmi0' >&2\nexit 1\n")?;
    for (path, told) in [
        (path.as_str(), "Could not open device"),
        ("/bin", "ipmitool"),
    ] {
        let run = sweep(&words("local", "0.1", "no"), "9")?.env("PATH", path);
        let outcome = run.output()?;
        ensure(
            outcome.status == Status::Code(1)
                && outcome.errors().contains(told)
                && !place.at("no").exists(),
            || outcome.errors(),
        )?;
    }
    Ok(())
}

/// What `--pascal` writes, read by a script that knows no more than the paper; and read again by the tool.
fn pascal() -> Check {
    let place = Place::new("law.c", false)?;
    let words = [
        "--threads",
        "1,2,4",
        "--inputs",
        "0.05;0.1",
        "--repeat",
        "3",
        "--json",
        "--pascal",
        "out.json",
        "--",
        "./program",
        "amdahl",
        "{input}",
        "0.2",
    ];
    let found = place.figures(&words)?;
    let script = "
import json, statistics, sys
document = json.load(open('out.json'))
keys = document['config']['data_descriptor']['keys']
times = {}
for key, run in document['data'].items():
    cores, argument, _ = (int(part) for part in key.split(';'))
    times.setdefault((argument, cores), []).append(run['stop_time'] - run['start_time'])
assert keys == ['cores', 'input', 'repetitions'], keys
assert document['config']['arguments'] == ['0.05', '0.1'], document['config']
assert all(len(runs) == 3 for runs in times.values()) and len(times) == 6, times
one = {a: statistics.median(times[a, 1]) for a in (0, 1)}
print(json.dumps([[one[a] / statistics.median(times[a, p]) / p for p in (1, 2, 4)] for a in (0, 1)]))
";
    let python = Run::new("python3")
        .args(["-c", script])
        .dir(place.dir.path());
    let text = python.succeed()?.text();
    let by_script: Vec<Vec<f64>> =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let again = place.figures(&["out.json", "--json"])?;
    for figures in [&found, &again] {
        for (at, of_input) in by_script.iter().enumerate() {
            for (threads, expected) in of_input.iter().enumerate() {
                let point = &figures["subjects"][0]["series"][at]["points"][threads];
                close("efficiency", number(&point["efficiency"])?, *expected, 1e-6)?;
            }
        }
    }
    std::fs::write(place.at("cut.json"), "{\"config\": ")?;
    let outcome = place.sweep(&["cut.json"])?.output()?;
    ensure(
        outcome.status == Status::Code(1) && outcome.errors().contains("cut.json"),
        || outcome.errors(),
    )
}

/// Two processors with two threads a core: clocks, and what takes processors away, as files.
fn machine(root: &Path) -> Check<Vec<(PathBuf, &'static str)>> {
    let folder = root.join("sys/devices/system/cpu/cpu0/cpufreq");
    std::fs::create_dir_all(&folder)?;
    let files = [
        ("scaling_governor", "schedutil"),
        (
            "scaling_available_governors",
            "schedutil userspace performance",
        ),
        ("scaling_setspeed", "<unsupported>"),
        ("scaling_min_freq", "800000"),
        ("scaling_max_freq", "3000000"),
        ("cpuinfo_min_freq", "800000"),
        ("cpuinfo_max_freq", "3000000"),
    ];
    let mut all = Vec::new();
    for (name, text) in [("smt/control", "on"), ("cpu1/online", "1")] {
        let path = root.join("sys/devices/system/cpu").join(name);
        std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        std::fs::write(&path, text)?;
        all.push((path, text));
    }
    for (name, text) in files {
        std::fs::write(folder.join(name), text)?;
        all.push((folder.join(name), text));
    }
    all.retain(|(path, _)| !path.ends_with("scaling_setspeed"));
    Ok(all)
}

fn killed() -> Check {
    let place = Place::new("law.c", false)?;
    let before = machine(&place.at("machine"))?;
    let log = place.at("log");
    let words = [
        "--threads",
        "1,2",
        "--freq",
        "1000000,2000000",
        "--smt",
        "on,off",
        "--hot-plug",
        "--repeat",
        "3",
        "--json",
        "--",
        "./program",
        "amdahl",
        "0.03",
        "0.5",
        "{smt}",
    ];
    let run = || -> Check<Run> {
        Ok(place
            .sweep(&words)?
            .env("INSTR_SENSORS_ROOT", place.at("machine"))
            .env("LOG", &log))
    };
    let restored = |when: &str| -> Check {
        let begin = Instant::now();
        loop {
            let wrong = before.iter().find(|(path, text)| {
                std::fs::read_to_string(path).is_ok_and(|now| now.trim() != *text)
            });
            match wrong {
                None => return Ok(()),
                Some((path, _)) if begin.elapsed() > Duration::from_secs(20) => {
                    return Err(format!("{when}: {} is not as it was", path.display()).into());
                }
                Some(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    };
    for moment in 0..kills() {
        let mut child = run()?.spawn()?;
        std::thread::sleep(Duration::from_millis(40 + 53 * (moment % 8) + moment / 8));
        child.kill()?;
        let status = child.wait()?;
        ensure(status.signal() == Some(9) || status.success(), || {
            format!("{status}")
        })?;
        restored("killed")?;
    }
    let found: Value =
        serde_json::from_str(&run()?.succeed()?.text()).map_err(|error| error.to_string())?;
    ensure(found["runs"] == 24 && found["damaged"] == 0, || {
        found.to_string()
    })?;
    restored("finished")?;
    // A killed sweep loses at most the run that it was in.
    let runs = std::fs::read_to_string(&log)?.lines().count() as u64;
    ensure((24..=24 + kills()).contains(&runs), || {
        format!("{runs} runs")
    })?;
    run()?.succeed()?;
    let again = std::fs::read_to_string(&log)?.lines().count() as u64;
    ensure(again == runs, || format!("{runs} runs, then {again}"))
}

fn refused() -> Check {
    let place = Place::new("law.c", false)?;
    std::fs::write(
        place.at("wrong.toml"),
        "command = ['./program']\ntreads = [1]\n",
    )?;
    std::fs::create_dir(place.at("other"))?;
    std::fs::write(place.at("other/file"), "x")?;
    std::fs::create_dir(place.at("empty"))?;
    let cases: [(&[&str], &str, i32); 13] = [
        (&[], "no program is named", 1),
        (&["wrong.toml"], "unknown field `treads`", 1),
        (
            &["--threads", "1-4", "--", "./program"],
            "no list of numbers of threads",
            2,
        ),
        (&["--", "./no-such-program"], "there is no such program", 1),
        (&["-o", "other", "--", "./program"], "not empty", 1),
        (&["other"], "no folder of a sweep", 1),
        (
            &["--freq", "1000000", "--", "./program"],
            "lets nobody set the clock",
            1,
        ),
        (
            &["--smt", "off", "--", "./program"],
            "lets nobody switch hardware threads",
            1,
        ),
        (
            &["--hot-plug", "--", "./program"],
            "lets nobody take its processors away",
            1,
        ),
        (
            &["--csv", "-", "--json", "--repeat", "1", "--", "./program"],
            "standard output can have one of",
            1,
        ),
        (
            &["--counters", "cycels", "--", "./program"],
            "no event is called `cycels`",
            1,
        ),
        (
            &["--counters", "cycles:u", "--", "./program"],
            "traced runs alone",
            1,
        ),
        (
            &["--ipmi", "local", "--measure", "regions", "--", "./program"],
            "--sensors ipmi",
            1,
        ),
    ];
    for (words, told, status) in cases {
        let run = place
            .sweep(words)?
            .env("INSTR_SENSORS_ROOT", place.at("empty"));
        let outcome = run.output()?;
        ensure(outcome.status == Status::Code(status), || {
            format!("{words:?}: {:?}", outcome.status)
        })?;
        ensure(outcome.errors().contains(told), || {
            format!("{words:?}: {}", outcome.errors())
        })?;
    }
    let left = ["program.sweep", "no-such-program.sweep"].map(|name| place.at(name).exists());
    ensure(left == [false, false], || {
        "a refused sweep left a folder".to_owned()
    })
}

fn failing() -> Check {
    let place = Place::new("law.c", false)?;
    let script = "test $OMP_NUM_THREADS != 2 || exit 5";
    let outcome = place
        .sweep(&[
            "--threads",
            "1,2,4",
            "--repeat",
            "2",
            "--timeout",
            "30",
            "--",
            "sh",
            "-c",
            script,
        ])?
        .succeed()?;
    let text = outcome.text();
    ensure(
        text.contains("2 runs did not count: it ended with status 5"),
        || text.clone(),
    )?;
    let all = place
        .sweep(&["-o", "all", "--threads", "1:30", "--", "false"])?
        .output()?;
    ensure(
        all.status == Status::Code(1) && all.errors().contains("20 runs in a row failed"),
        || all.errors(),
    )
}
