//! The commands that the README shows can be typed as they stand.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("readme::first-commands", first_commands)]
}

/// All blocks marked `sh`, in one shell, in a folder that looks like a clone after `make`. Each command must succeed, and what the text
/// promises must be there.
fn first_commands() -> Check {
    need("make")?;
    need("bash")?;
    let root = workspace::root()?;
    let blocks = blocks(&std::fs::read_to_string(root.join("README.md"))?);
    ensure(
        blocks.contains("instr-cc") && blocks.contains("instr summary"),
        || format!("README.md shows no first commands:\n{blocks}"),
    )?;
    let dir = workspace::work_dir("readme")?;
    let clone = dir.path();
    Run::words(["cp", "-R"])
        .arg(root.join("examples"))
        .arg(clone)
        .succeed()?;
    std::fs::create_dir(clone.join("target"))?;
    let built = tools()?.instr.parent().ok_or("tools without a folder")?;
    symlink(built, clone.join("target/release"))?;
    let outcome = Run::words(["bash", "-e", "-u", "-c", &blocks])
        .dir(clone)
        .output()?;
    ensure(outcome.status == Status::Code(0), || {
        format!("README.md shows commands that fail\n{outcome}")
    })?;
    for file in [
        "primes.prv",
        "primes.pcf",
        "primes.row",
        "primes.instr/metadata",
    ] {
        ensure(clone.join(file).is_file(), || {
            format!("no {file}\n{outcome}")
        })?;
    }
    Ok(())
}

/// The lines between "```sh" and "```".
fn blocks(document: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for line in document.lines() {
        match line {
            "```sh" => inside = true,
            "```" => inside = false,
            _ if inside => {
                let _ = writeln!(text, "{line}"); // a String takes everything
            }
            _ => {}
        }
    }
    text
}
