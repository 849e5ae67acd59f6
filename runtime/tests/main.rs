//! Unit tests of the C runtime: each file in `units/` is a program linked with the runtime's sources, run natively and, where the
//! compilers and emulators are installed, on both SPARC targets, each without recording and with it. With `INSTR_TEST_STRICT=1` a missing one is a failure.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Target {
    triple: &'static str,
    compiler: Option<&'static str>,
    flags: &'static [&'static str],
    emulator: Option<&'static str>,
}

const TARGETS: [Target; 3] = [
    Target {
        triple: "x86_64-unknown-linux-gnu",
        compiler: None,
        flags: &[],
        emulator: None,
    },
    Target {
        triple: "sparc-unknown-linux-gnu",
        compiler: Some("sparc64-linux-gnu-gcc"),
        flags: &["-m32", "-mcpu=v8", "-static"],
        emulator: Some("qemu-sparc32plus"),
    },
    Target {
        triple: "sparc64-unknown-linux-gnu",
        compiler: Some("sparc64-linux-gnu-gcc"),
        flags: &["-static"],
        emulator: Some("qemu-sparc64"),
    },
];

fn missing(target: &Target) -> Option<&'static str> {
    [target.compiler, target.emulator]
        .into_iter()
        .flatten()
        .find(|tool| !instr_test_needs::installed(tool))
}

/// The compiler as the `cc` crate finds it for a target.
fn compiler(target: &Target, out: &Path) -> Command {
    let mut build = cc::Build::new();
    build
        .target(target.triple)
        .host("x86_64-unknown-linux-gnu")
        .opt_level(2)
        .out_dir(out)
        .cargo_metadata(false);
    build.no_default_flags(true);
    if let Some(compiler) = target.compiler {
        build.compiler(compiler);
    }
    build.get_compiler().to_command()
}

/// A call of the target's compiler with the options that every file gets.
fn compile(target: &Target, root: &Path, out: &Path) -> Command {
    let mut command = compiler(target, out);
    command
        .args([
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-O2",
            "-fopenmp",
        ])
        .args(target.flags)
        .arg("-I")
        .arg(root)
        .arg("-I")
        .arg(root.join("include"));
    command
}

fn succeed(command: &mut Command, what: &str) {
    let output = command.output().expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {said}");
}

/// The runtime's objects for a target.
fn objects(target: &Target, root: &Path, out: &Path) -> Vec<PathBuf> {
    let object = |source: &&str| {
        let object = out.join(source.replace('/', "-")).with_extension("o");
        let mut command = compile(target, root, out);
        command.arg("-c").arg(root.join(source));
        succeed(command.arg("-o").arg(&object), source);
        object
    };
    instr_runtime::sources("linux").iter().map(object).collect()
}

fn run_unit(target: &Target, root: &Path, unit: &Path, objects: &[PathBuf], out: &Path) {
    let program = out.join(unit.file_stem().expect("a unit has a name"));
    let mut command = compile(target, root, out);
    command.arg(unit).args(objects).arg("-o").arg(&program);
    succeed(&mut command, &unit.display().to_string());
    for recording in ["0", "1"] {
        let mut run = match target.emulator {
            Some(emulator) => {
                let mut command = Command::new(emulator);
                command.arg(&program);
                command
            }
            None => Command::new(&program),
        };
        run.env("INSTR_ENABLED", recording)
            .env("INSTR_TRACE", program.with_extension("trace"))
            .current_dir(out);
        let what = format!(
            "{} on {}, INSTR_ENABLED={recording}",
            unit.display(),
            target.triple
        );
        succeed(&mut run, &what);
    }
}

#[test]
fn units_pass_on_every_target() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut units: Vec<PathBuf> = fs::read_dir(root.join("tests/units"))
        .expect("the folder of unit tests")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "c"))
        .collect();
    units.sort();
    assert!(units.len() >= 3);
    for target in &TARGETS {
        if let Some(tool) = missing(target) {
            instr_test_needs::skipped(&format!("{}: {tool} is not installed", target.triple));
            continue;
        }
        let out = tempfile::tempdir().expect("a temporary directory");
        let objects = objects(target, &root, out.path());
        for unit in &units {
            run_unit(target, &root, unit, &objects, out.path());
        }
    }
}

/// docs/environment.md names every setting the runtime reads, and no other.
#[test]
fn every_setting_is_documented() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let page =
        fs::read_to_string(root.join("../docs/environment.md")).expect("docs/environment.md");
    let table = page
        .split("The host tools")
        .next()
        .expect("the first table");
    let read = instr_runtime::settings();
    let mut documented: Vec<&str> = table
        .lines()
        .filter_map(|l| l.strip_prefix("| `INSTR_"))
        .filter_map(|l| l.split('`').next())
        .collect();
    documented.sort_unstable();
    assert_eq!(read.iter().map(|s| &s[6..]).collect::<Vec<_>>(), documented);
}

/// The thread that closes the trace reads cursors of others: behind a fence of its own where stores of a processor may be seen in another
/// order, since the guard that it has seen to be free says nothing of the cursor then.
#[test]
fn a_free_guard_is_followed_by_a_fence_where_stores_have_no_order() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    for (compiler, fences) in [
        ("gcc", 1),
        ("aarch64-linux-gnu-gcc", 2),
        ("riscv64-linux-gnu-gcc", 2),
    ] {
        if !instr_test_needs::has(compiler) {
            continue;
        }
        let out = Command::new(compiler)
            .args(["-std=c11", "-O2", "-S", "-o", "-", "-I"])
            .arg(&root)
            .arg("-I")
            .arg(root.join("include"))
            .arg(root.join("core/process.c"))
            .output()
            .expect("the compiler starts");
        assert!(out.status.success(), "{compiler}");
        let text = String::from_utf8_lossy(&out.stdout);
        let calls = text.lines().filter(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            matches!(words[..], ["call" | "bl" | "jmp" | "b" | "tail", to] if to.starts_with("instr_platform_fence_all"))
        });
        assert_eq!(calls.count(), fences, "{compiler}");
    }
}
