//! `instr sweep`: laws that are known, regions of known length, sweeps that are killed, and what is refused.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

/// Moments at which a sweep is killed.
const KILLS: u64 = 8;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("sweep::amdahls-fraction-is-found", amdahl),
        trial("sweep::terms-of-threads-and-size-are-found", terms),
        trial("sweep::regions-of-known-length", regions),
        trial("sweep::killed-sweeps-restore-clocks-and-go-on", killed),
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
    // The same again, for people, from what was recorded: nothing is run.
    let text = place.sweep(&["program.sweep"])?.succeed()?.text();
    ensure(
        text.contains("serial fraction") && text.contains("speedup"),
        || text.clone(),
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
        "1e-6",
        "2e-3",
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
        "3",
        "--json",
        "--",
        "./program",
    ])?;
    let subjects = found["subjects"].as_array().ok_or("no subjects")?;
    let seconds = |path: &[&str]| -> Check<f64> {
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
        number(&subject["series"][0]["points"][0]["seconds"]["value"])
    };
    for (path, least) in [
        (&["phase"][..], 0.050),
        (&["phase", "main"][..], 0.020),
        (&["outside"][..], 0.010),
    ] {
        let value = seconds(path)?;
        ensure(value >= least && value < least * 2.0, || {
            format!("{path:?}: {value}")
        })?;
    }
    let kept = std::fs::read_dir(place.at("program.sweep/traces"))?.count();
    ensure(kept == 0, || format!("{kept} traces stayed"))
}

/// A processor's clock as files.
fn clocks(root: &Path) -> Check<Vec<(PathBuf, &'static str)>> {
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
    for (name, text) in files {
        std::fs::write(folder.join(name), text)?;
        all.push((folder.join(name), text));
    }
    all.retain(|(path, _)| !path.ends_with("scaling_setspeed"));
    Ok(all)
}

fn killed() -> Check {
    let place = Place::new("law.c", false)?;
    let before = clocks(&place.at("machine"))?;
    let log = place.at("log");
    let words = [
        "--threads",
        "1,2",
        "--freq",
        "1000000,2000000",
        "--repeat",
        "6",
        "--json",
        "--",
        "./program",
        "amdahl",
        "0.03",
        "0.5",
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
    for moment in 0..KILLS {
        let mut child = run()?.spawn()?;
        std::thread::sleep(Duration::from_millis(40 + 53 * moment));
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
    ensure((24..=24 + KILLS).contains(&runs), || format!("{runs} runs"))?;
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
    let cases: [(&[&str], &str, i32); 7] = [
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
