//! What of the runtime is in a static program for a small machine.

use std::path::{Path, PathBuf};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Target, need, tools};
use instr_tests::workspace;
use instr_trace::Trace;
use instr_trace::sensors::Definitions;
use libtest_mimic::Trial;

/// Code, constants and initialized data of the runtime in a static SPARC V8 program, bytes.
const LIMIT: u64 = 32 * 1024;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("footprint::traces-tell-the-named-target", named_target),
        trial("footprint::static-sparc-program", small),
        trial("footprint::sensors-by-configuration", configured),
    ]
}

/// The example with tasks for SPARC V8, linked with further options, and the linker's map.
fn example(dir: &Path, options: &[String]) -> Check<(PathBuf, String)> {
    let (program, map) = (dir.join("program"), dir.join("map"));
    let sources = [
        "sparselu_task",
        "kernels",
        "matrix",
        "program",
        "sparselu_count",
    ];
    let folder = workspace::root()?.join("examples/sparselu");
    let sources = sources.map(|name| folder.join(name).with_extension("c"));
    need("sparc64-linux-gnu-gcc")?;
    let link = Run::new(&tools()?.instr_cc)
        .arg("sparc64-linux-gnu-gcc")
        .args(options);
    let link = link
        .args(["-m32", "-mcpu=v8", "-static", "-O2", "-fopenmp"])
        .args(sources);
    let link = link
        .arg(format!("-Wl,-Map={}", map.display()))
        .args(["-lm", "-o"]);
    link.arg(&program).succeed()?;
    let text = std::fs::read(&map)?;
    Ok((program, String::from_utf8_lossy(&text).into_owned()))
}

/// Sizes of the loaded input sections of the runtime's archive: lines `NAME ADDRESS SIZE FILE`; a long name has a line of its own.
fn runtime_bytes(map: &str) -> u64 {
    const LOADED: [&str; 7] = [
        ".text",
        ".rodata",
        ".data",
        ".tdata",
        ".init",
        ".fini",
        ".eh_frame",
    ];
    let (mut total, mut name) = (0, "");
    let lines = map.lines();
    for line in lines.skip_while(|line| !line.starts_with("Linker script and memory map")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let rest = match words.as_slice() {
            [first, rest @ ..] if first.starts_with('.') => {
                name = first;
                rest
            }
            rest => rest,
        };
        let [_, size, file] = rest else { continue };
        if file.contains("/libinstr.a(") && LOADED.iter().any(|part| name.starts_with(part)) {
            let digits = size.trim_start_matches("0x");
            total += u64::from_str_radix(digits, 16).unwrap_or(0);
        }
    }
    total
}

fn small() -> Check {
    let dir = workspace::work_dir("footprint-small")?;
    let (program, map) = example(dir.path(), &[])?;
    let bytes = runtime_bytes(&map);
    ensure((1..=LIMIT).contains(&bytes), || {
        format!("the runtime takes {bytes} of {LIMIT} bytes")
    })?;
    // Sensors that are asked for all the same are told to be missing, and the trace is whole.
    let trace = dir.path().join("t");
    let run = Target::Sparc32.run(&program).args(["5", "4"]);
    let run = run
        .env("INSTR_TRACE", &trace)
        .env("INSTR_SENSORS", "schedstat");
    run.env("OMP_NUM_THREADS", "2").succeed()?;
    let opened = Trace::open(&trace).map_err(|error| error.to_string())?;
    let trouble = &opened.metadata().setting_trouble;
    let told = trouble
        .as_ref()
        .is_some_and(|why| why.contains("no sensors") && why.contains("--instr-config"));
    ensure(told && opened.threads().len() == 2, || {
        format!("{trouble:?}, {} threads", opened.threads().len())
    })
}

/// The power model and others go by the target's name, which the machine cannot know.
fn named_target() -> Check {
    let dir = workspace::work_dir("footprint-target")?;
    let (program, _) = example(dir.path(), &["--instr-target=sparc-leon3-linux".to_owned()])?;
    let trace = dir.path().join("t");
    let run = Target::Sparc32.run(&program).args(["5", "4"]);
    run.env("INSTR_TRACE", &trace).succeed()?;
    let opened = Trace::open(&trace).map_err(|error| error.to_string())?;
    let target = &opened.metadata().target;
    ensure(target == "sparc-leon3-linux", || format!("target {target}"))
}

/// A configuration with sensors takes their drivers into a static program; the environment may still choose others.
fn configured() -> Check {
    let dir = workspace::work_dir("footprint-configured")?;
    let config = dir.path().join("config.toml");
    std::fs::write(&config, "sensors = [\"schedstat\"]\n")?;
    let option = format!("--instr-config={}", config.display());
    let (program, _) = example(dir.path(), &[option])?;
    for (environment, expected) in [(None, 1), (Some("!schedstat,nothing"), 0)] {
        let trace = dir.path().join("t");
        let mut run: Run = Target::Sparc32.run(&program).args(["5", "4"]);
        run = run.env("INSTR_TRACE", &trace).env("OMP_NUM_THREADS", "2");
        if let Some(list) = environment {
            run = run.env("INSTR_SENSORS", list);
        }
        run.succeed()?;
        let opened = Trace::open(&trace).map_err(|error| error.to_string())?;
        let found = Definitions::of(opened.metadata()).sensors.len();
        ensure(found == expected, || {
            format!("{found} sensors with {environment:?}")
        })?;
    }
    Ok(())
}
