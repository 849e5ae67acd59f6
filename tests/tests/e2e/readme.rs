//! The commands that the README and the tutorial show can be typed as they stand.

use std::fmt::Write as _;
use std::os::unix::fs::symlink;

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("readme::first-commands", first_commands),
        trial("readme::tutorial", tutorial),
    ]
}

/// All blocks marked `sh`, in one shell, in a folder that looks like a clone after `make`. Each command must succeed.
fn typed(document: &str) -> Check<(tempfile::TempDir, Outcome)> {
    need("make")?;
    need("bash")?;
    let root = workspace::root()?;
    let blocks = blocks(&std::fs::read_to_string(root.join(document))?);
    ensure(
        blocks.contains("instr-cc") && blocks.contains("instr summary"),
        || format!("{document} shows no commands:\n{blocks}"),
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
        format!("{document} shows commands that fail\n{outcome}")
    })?;
    Ok((dir, outcome))
}

/// What the text promises is there.
fn first_commands() -> Check {
    let (dir, outcome) = typed("README.md")?;
    for file in [
        "primes.prv",
        "primes.pcf",
        "primes.row",
        "primes.instr/metadata",
    ] {
        ensure(dir.path().join(file).is_file(), || {
            format!("no {file}\n{outcome}")
        })?;
    }
    Ok(())
}

/// Each part finds what its program was made to show, and the change that it proposes helps.
fn tutorial() -> Check {
    let (dir, outcome) = typed("docs/tutorial.md")?;
    let text = outcome.text();
    let mut rest = text.as_str();
    for finding in [
        "is imbalance",
        "Tasks are too small",
        "words: 200 blocks never given back",
        "got by",
        "words.c:10",
        "is serial code",
    ] {
        // On a busy machine a verdict may be about that; what is exact may not.
        let certain = finding.starts_with("words") || finding == "got by";
        match rest.find(finding) {
            Some(at) => rest = &rest[at..],
            None => ensure(!certain && text.contains("waited for a processor"), || {
                format!("not found: {finding}\n{outcome}")
            })?,
        }
    }
    // The calls of fib that are not below the cut-off, by counting them.
    let executed = format!("\n{} tasks created", tasks_of_fib(27, 20));
    ensure(text.contains(&executed), || {
        format!("not found: {executed}\n{outcome}")
    })?;
    for file in ["triangle.prv", "triangle.perfetto-trace"] {
        ensure(dir.path().join("try").join(file).is_file(), || {
            format!("no {file}\n{outcome}")
        })?;
    }
    Ok(())
}

/// Tasks that `examples/tutorial/fib.c` makes.
fn tasks_of_fib(n: u32, cutoff: u32) -> u64 {
    match n < cutoff.max(2) {
        true => 0,
        false => 1 + tasks_of_fib(n - 1, cutoff) + tasks_of_fib(n - 2, cutoff),
    }
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
