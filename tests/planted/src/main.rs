//! Proves that the tests catch what they should: plants one small fault after the other in a copy of the tree, runs the tests
//! that must notice it, and expects them to fail. A fault that no test notices is an error, as is one that no longer applies or
//! does not compile. Without any fault the same tests must pass.
//!
//! `scripts/planted-faults.sh [--list] [NAME…]`: all faults of `tests/planted/faults.toml`, or those with NAME in name, area or file.

mod cargo;
mod copy;
mod fault;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use cargo::{Cargo, Verdict};
use fault::{Fault, Selection};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("planted-faults: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every fault was caught.
fn run() -> Result<bool> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (options, wanted): (Vec<_>, Vec<_>) =
        words.into_iter().partition(|word| word.starts_with('-'));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let mut faults = fault::read(&root.join("tests/planted/faults.toml"))?;
    let stale = fault::stale(&faults, &root);
    ensure!(
        stale.is_empty(),
        "{} of the planted faults no longer apply:\n  {}",
        stale.len(),
        stale.join("\n  ")
    );
    faults.retain(|fault| {
        let texts = [&fault.name, &fault.area, &fault.file];
        let fits = |word: &String| texts.iter().any(|text| text.contains(word));
        wanted.is_empty() || wanted.iter().any(fits)
    });
    ensure!(!faults.is_empty(), "no fault is called so: {wanted:?}");
    match options.first().map(String::as_str) {
        None => {}
        Some("--list") => {
            for fault in &faults {
                println!("{:16} {} ({})", fault.area, fault.name, fault.file);
            }
            return Ok(true);
        }
        Some(option) => bail!("unknown option {option}; usage: planted-faults.sh [--list] [NAME…]"),
    }
    plant_all(&root, &faults)
}

fn plant_all(root: &Path, faults: &[Fault]) -> Result<bool> {
    let base =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |dir| dir.into());
    let base = std::path::absolute(base)?.join("planted-faults");
    let cargo = Cargo {
        tree: base.join("tree"),
        target: base.join("target"),
        log: base.join("log"),
    };
    std::fs::create_dir_all(&cargo.tree)?;
    copy::update(root, &cargo.tree)?;
    let begin = Instant::now();
    let useless = without_faults(&cargo, faults)?;
    println!("without a fault: {} s", begin.elapsed().as_secs());
    let mut escaped = Vec::new();
    for fault in faults {
        let start = Instant::now();
        let said = plant(&cargo, fault, &useless)?;
        let seconds = start.elapsed().as_secs();
        match said {
            Ok(tests) => println!("caught   {} ({seconds} s): {tests}", fault.name),
            Err(why) => {
                println!("ESCAPED  {} ({seconds} s): {why}", fault.name);
                escaped.push(fault.name.as_str());
            }
        }
    }
    let seconds = begin.elapsed().as_secs();
    println!(
        "{} of {} planted faults were caught, {seconds} s",
        faults.len() - escaped.len(),
        faults.len()
    );
    for name in &escaped {
        println!("not caught: {name}");
    }
    Ok(escaped.is_empty())
}

/// What is red without a fault proves nothing when it is red with one: the selections that are of no use, and why.
fn without_faults(cargo: &Cargo, faults: &[Fault]) -> Result<BTreeMap<Selection, String>> {
    let mut all = BTreeMap::new();
    for fault in faults {
        for selection in fault.selections()? {
            all.insert(selection, String::new());
        }
    }
    for (selection, problem) in &mut all {
        *problem = match cargo.test(selection)? {
            Verdict::Green(0) => "there is no such test, or it was skipped".to_owned(),
            Verdict::Green(_) => continue,
            Verdict::Red(failed) => {
                let log = std::fs::read_to_string(&cargo.log).unwrap_or_default();
                format!(
                    "fails without any fault: {}\n{}",
                    failed.join(", "),
                    last_lines(&log)
                )
            }
            Verdict::Broken(text) => {
                format!("does not compile without any fault:\n{}", last_lines(&text))
            }
        };
        println!("of no use: {}: {problem}", shown(selection));
    }
    all.retain(|_, problem| !problem.is_empty());
    Ok(all)
}

/// Plants a fault, runs its tests until one fails, and takes the fault out again. `Ok`: who caught it; `Err`: why nobody did.
fn plant(
    cargo: &Cargo,
    fault: &Fault,
    useless: &BTreeMap<Selection, String>,
) -> Result<Result<String, String>> {
    let mut selections = fault.selections()?;
    selections.retain(|selection| !useless.contains_key(selection));
    if selections.is_empty() {
        return Ok(Err("its tests are of no use without the fault".into()));
    }
    let path = cargo.tree.join(&fault.file);
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    std::fs::write(&path, fault.plant(&text)?)?;
    let caught = notice(cargo, &selections);
    std::fs::write(&path, text)?;
    caught
}

fn notice(cargo: &Cargo, selections: &[Selection]) -> Result<Result<String, String>> {
    let mut green = Vec::new();
    for selection in selections {
        match cargo.test(selection)? {
            Verdict::Red(failed) => {
                let more = failed.len().saturating_sub(1);
                let first = failed.into_iter().next().unwrap_or_default();
                let more = (more > 0).then(|| format!(" and {more} more"));
                return Ok(Ok(format!(
                    "{} {} {first}{}",
                    selection.package,
                    selection.target,
                    more.unwrap_or_default()
                )));
            }
            Verdict::Green(count) => green.push(format!("{} ({count} passed)", shown(selection))),
            Verdict::Broken(text) => {
                let errors: Vec<&str> = text
                    .lines()
                    .filter(|line| line.contains("error"))
                    .take(3)
                    .collect();
                return Ok(Err(format!("it does not compile: {}", errors.join("; "))));
            }
        }
    }
    Ok(Err(format!("no failure in {}", green.join(", "))))
}

/// The end of an output, where the reason is.
fn last_lines(text: &str) -> String {
    const LINES: usize = 20;
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

fn shown(selection: &Selection) -> String {
    let text = format!(
        "{} {} {}",
        selection.package, selection.target, selection.filter
    );
    text.trim_end().to_owned()
}
