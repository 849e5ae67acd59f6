//! The power model at the command line, on traces of known core states. One tick is one nanosecond.

use std::path::Path;
use std::process::{Command, Output};

use instr_trace::synth::{self, START_TICKS, StreamWriter};
use serde_json::Value;

const MS: u64 = 1_000_000;
/// Royuela et al. (ICPP 2020), §5.2.2: mW with one to four cores busy.
const LEVELS: [f64; 4] = [502.72, 683.57, 864.42, 1045.28];

/// What one thread does: user code, but for the times in a barrier (from, to), and user regions (name, from, to); all in µs.
struct Thread<'a> {
    barriers: &'a [(u64, u64)],
    regions: &'a [(&'a str, u64, u64)],
}

/// A trace of `end` µs from a target of this name.
fn trace(dir: &Path, target: &str, end: u64, threads: &[Thread<'_>]) {
    let layout = synth::layouts()[3];
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let path = dir.join("metadata");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("target = \"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    let text = format!("{before}target = \"{target}\"{after}");
    std::fs::write(&path, text).unwrap();
    for (index, thread) in (0..).zip(threads) {
        let mut stream = StreamWriter::create(dir, layout, index, 1 << 16).unwrap();
        let mut events: Vec<(u64, u8, Option<usize>)> = vec![(0, 1, None)];
        for (from, to) in thread.barriers {
            events.extend([(*from, 32, None), (*to, 33, None)]);
        }
        for (at, (_, from, to)) in thread.regions.iter().enumerate() {
            events.extend([(*from, 7, Some(at)), (*from, 9, Some(at)), (*to, 10, None)]);
        }
        events.push((end, 2, None));
        events.sort_by_key(|(time, id, _)| (*time, *id != 10 && *id != 33));
        for (time, id, region) in events {
            let region = region.map(|at| (thread.regions[at].0, 0x7000 + at as u64));
            let fields = |body: &mut synth::Body| match (id, region) {
                (1, _) => _ = body.u32(40 + index).u32(u32::from(index == 0)),
                (7, Some((name, at))) => _ = body.text(name).addr(at),
                (9, Some((_, at))) => _ = body.addr(at),
                (32 | 33, _) => _ = body.u32(1),
                _ => {}
            };
            let ticks = START_TICKS + time * 1000;
            stream.event(ticks, id, fields).unwrap();
        }
        stream.finish().unwrap();
    }
}

fn instr(arguments: &[&str], dir: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_instr"));
    command
        .arg("summary")
        .args(arguments)
        .arg(dir)
        .output()
        .unwrap()
}

fn json(arguments: &[&str], dir: &Path) -> Value {
    let output = instr(&[&["--json"], arguments].concat(), dir);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn close(found: &Value, exact: f64, within: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - exact).abs() <= within, "{found}, exactly {exact}");
}

/// One to four cores busy for 100 ms each; thread 0 is in a region of that name meanwhile, thread 3 in one all the time.
fn steps(dir: &Path, target: &str) {
    let step = 100_000;
    let names = ["one", "two", "three", "four"];
    let regions: Vec<(&str, u64, u64)> = (0..)
        .zip(names)
        .map(|(at, name)| (name, at * step, (at + 1) * step))
        .collect();
    let waits: Vec<[(u64, u64); 1]> = (0..4).map(|thread| [(0, thread * step)]).collect();
    let thread = |at: usize| Thread {
        barriers: if at == 0 { &[] } else { &waits[at] },
        regions: match at {
            0 => &regions,
            3 => &[("all", 0, 400_000)],
            _ => &[],
        },
    };
    trace(
        dir,
        target,
        4 * step,
        &[thread(0), thread(1), thread(2), thread(3)],
    );
}

#[test]
fn the_papers_four_levels_are_the_power_of_regions_with_one_to_four_cores_busy() {
    let dir = tempfile::tempdir().unwrap();
    steps(dir.path(), "sparc-gr740-rtems");
    let found = json(&[], dir.path());
    let region = |name: &str| {
        let regions = found["energy_regions"].as_array().unwrap();
        regions
            .iter()
            .find(|region| region["name"] == name)
            .unwrap()
    };
    for (name, level) in ["one", "two", "three", "four"].into_iter().zip(LEVELS) {
        let region = region(name);
        assert_eq!(region["source"], "model");
        assert_eq!(region["error_joules"], Value::Null);
        assert_eq!(region["open_ns"], 100 * MS);
        // 100 ms at so many mW.
        close(&region["joules"], level * 1e-4, 1e-12);
    }
    let sum: f64 = LEVELS.iter().sum();
    close(&region("all")["joules"], sum * 1e-4, 1e-12);
    let power = &found["power"];
    assert_eq!(
        (&power["source"], &power["target"]),
        (&"model".into(), &"sparc-gr740-rtems".into())
    );
    close(&power["average_mw"], sum / 4.0, 1e-9);
    close(&power["joules"], sum * 1e-4, 1e-12);
    // By core time: 400, 300, 200 and 100 ms.
    assert_eq!(power["shared_by"], "useful time");
    for (thread, share) in [0.4, 0.3, 0.2, 0.1].into_iter().enumerate() {
        close(
            &power["threads"][thread]["joules"],
            sum * 1e-4 * share,
            1e-12,
        );
    }
}

#[test]
fn the_papers_average_follows_from_the_efficiency_profile_of_its_table_1() {
    // Busy for 88.47, 85.92, 88.56 and 81.33 % of the time; the paper's text says 944.5 mW.
    let dir = tempfile::tempdir().unwrap();
    let waits = [8847, 8592, 8856, 8133].map(|busy| [(busy * 100, 1_000_000)]);
    let threads: Vec<Thread<'_>> = waits
        .iter()
        .map(|barriers| Thread {
            barriers,
            regions: &[],
        })
        .collect();
    trace(dir.path(), "sparc-rtems", 1_000_000, &threads);
    assert_eq!(
        json(&[], dir.path())["power"],
        Value::Null,
        "this target's description has no model"
    );
    let found = json(&["--target", "sparc-gr740-rtems"], dir.path());
    close(&found["power"]["average_mw"], 944.5, 0.05);
    let output = instr(&["--sensors", "--target", "sparc-gr740-rtems"], dir.path());
    let text = String::from_utf8(output.stdout).unwrap();
    for part in [
        "power: 0.9445 W on average",
        "model of sparc-gr740-rtems",
        "estimate, by useful time",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
}

#[test]
fn a_description_of_the_users_own_is_read_and_its_mistakes_are_placed() {
    let dir = tempfile::tempdir().unwrap();
    let traced = dir.path().join("a.instr");
    std::fs::create_dir(&traced).unwrap();
    steps(&traced, "x86_64-linux");
    let own = include_str!("../../cross-targets/sparc-gr740-rtems.toml");
    let file = dir.path().join("board.toml");
    let name = file.to_str().unwrap();
    let with = |levels: &str| {
        let own = own.replace("[502.72, 683.57, 864.42, 1045.28]", levels);
        std::fs::write(&file, own.replace("sparc-gr740-rtems\"", "board\"")).unwrap();
    };
    with("[1000, 2000]\nidle-mw = 100");
    let power = &json(&["--target", name], &traced)["power"];
    assert_eq!(power["target"], "board");
    // Three and four busy cores count as the two that it has.
    close(&power["average_mw"], (1000.0 + 3.0 * 2000.0) / 4.0, 1e-9);

    let refused = |arguments: &[&str]| {
        let output = instr(arguments, &traced);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    with("[1000, -2]");
    let line = own
        .lines()
        .position(|line| line.starts_with("busy-mw"))
        .unwrap()
        + 1;
    let error = refused(&["--target", name]);
    let place = format!("{name}: line {line}, column 18: no chip takes -2 mW");
    assert!(error.contains(&place), "{error}");
    let error = refused(&["--target", "vax"]);
    assert!(
        error.contains("vax: there is no such target") && error.contains("sparc-gr740-rtems"),
        "{error}"
    );
    let error = refused(&["--target", "x86_64-linux"]);
    assert!(error.contains("has no [power] table"), "{error}");
    let error = refused(&["--target", "missing.toml"]);
    assert!(error.contains("missing.toml: No such file"), "{error}");
}
