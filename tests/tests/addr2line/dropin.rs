//! The same arguments to both tools.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

use crate::accepted::{Frames, answers, demangling_reason, reason};
use crate::programs::{PROGRAMS, Program, addresses};

/// Addresses of a program whose answers are compared one by one.
const LOOKED_AT: u64 = 400;

/// Addresses that go through all combinations of options.
const COMBINED: usize = 24;

/// Programs that see all combinations; the others see every fourth.
const IN_FULL: [&str; 4] = ["gcc-pie", "g++-optimized", "gfortran-plain", "sparc-v8"];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = PROGRAMS
        .iter()
        .enumerate()
        .map(|(number, program)| {
            trial(
                format!("addr2line::same-bytes::{}", program.name),
                move || same_bytes(program, number),
            )
        })
        .collect();
    trials.push(trial("addr2line::same-status-for-what-is-wrong", wrong));
    trials
}

/// Both tools, in the folder of the program.
pub(crate) struct Pair {
    pub(crate) dir: PathBuf,
    instr: PathBuf,
}

impl Pair {
    pub(crate) fn new(dir: &Path) -> Check<Self> {
        need("addr2line")?;
        Ok(Pair {
            dir: dir.to_owned(),
            instr: tools()?.instr.clone(),
        })
    }

    pub(crate) fn ours(&self, arguments: &[String], input: &str) -> Check<Output> {
        let mut command = Command::new(&self.instr);
        self.run(command.arg("symbolize"), arguments, input)
    }

    pub(crate) fn theirs(&self, arguments: &[String], input: &str) -> Check<Output> {
        self.run(&mut Command::new("addr2line"), arguments, input)
    }

    fn run(&self, command: &mut Command, arguments: &[String], input: &str) -> Check<Output> {
        let mut child = command
            .args(arguments)
            .current_dir(&self.dir)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let text = input.to_owned();
        let stdin = child.stdin.take();
        let writer = std::thread::spawn(move || {
            // A tool that refuses its arguments does not read.
            stdin.map(|mut pipe| pipe.write_all(text.as_bytes()))
        });
        let output = child.wait_with_output()?;
        let _ = writer.join();
        Ok(output)
    }

    fn must_agree(&self, arguments: &[String], input: &str) -> Check {
        let (ours, theirs) = (self.ours(arguments, input)?, self.theirs(arguments, input)?);
        ensure(
            ours.stdout == theirs.stdout && ours.status.code() == theirs.status.code(),
            || {
                format!(
                    "{arguments:?} on {input:?} in {}:\nours ({:?}):\n{}{}\naddr2line ({:?}):\n{}",
                    self.dir.display(),
                    ours.status.code(),
                    String::from_utf8_lossy(&ours.stdout),
                    String::from_utf8_lossy(&ours.stderr),
                    theirs.status.code(),
                    String::from_utf8_lossy(&theirs.stdout)
                )
            },
        )
    }

    /// Both answers to each address.
    fn answers(&self, options: &str, asked: &[String]) -> Check<Vec<(Frames, Frames)>> {
        let arguments = strings(&[options, "-e", "a.out"]);
        let input = asked.join("\n") + "\n";
        let text = |output: Output| String::from_utf8_lossy(&output.stdout).into_owned();
        let ours = answers(&text(self.ours(&arguments, &input)?));
        let theirs = answers(&text(self.theirs(&arguments, &input)?));
        ensure(
            ours.len() == asked.len() && theirs.len() == asked.len(),
            || {
                format!(
                    "{} questions, {} answers of ours, {} of addr2line's",
                    asked.len(),
                    ours.len(),
                    theirs.len()
                )
            },
        )?;
        Ok(ours.into_iter().zip(theirs).collect())
    }
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn same_bytes(program: &Program, number: usize) -> Check {
    let dir = workspace::work_dir(program.name)?;
    let pair = Pair::new(dir.path())?;
    let asked = addresses(&program.build(dir.path())?, LOOKED_AT)?;
    let mut agreed = Vec::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let raw = pair.answers("-afi", &asked)?;
    let demangled = pair.answers("-afiC", &asked)?;
    for ((address, raw), demangled) in asked.iter().zip(&raw).zip(&demangled) {
        let why = match (raw.0 == raw.1, demangled.0 == demangled.1) {
            (true, true) => {
                if is_the_same_whatever_was_asked(program, &raw.0) {
                    agreed.push(address.clone());
                }
                continue;
            }
            (true, false) => demangling_reason(&demangled.0, &demangled.1),
            (false, _) => reason(program, &raw.0, &raw.1),
        };
        let why = why.ok_or_else(|| {
            format!(
                "{}: {address}:\nours      {:?}\naddr2line {:?}",
                program.name, raw.0, raw.1
            )
        })?;
        *reasons.entry(why).or_default() += 1;
    }
    println!(
        "{}: {} of {} agree, {reasons:?}",
        program.name,
        agreed.len(),
        asked.len()
    );
    ensure(agreed.len() >= COMBINED, || {
        format!(
            "{}: only {} of {} agree: {reasons:?}",
            program.name,
            agreed.len(),
            asked.len()
        )
    })?;
    let every = (agreed.len() / COMBINED).max(1);
    let chosen: Vec<String> = agreed.into_iter().step_by(every).collect();
    combinations(program, number, &pair, &chosen)
}

/// In one run of binutils a function without linkage name, be it inlined or a clone, has the symbol's name in the first
/// answer and its own in the next ones, so that its answers depend on the questions before.
fn is_the_same_whatever_was_asked(program: &Program, frames: &Frames) -> bool {
    let is_clone = |name: &str| name.starts_with("_Z") && name.contains('.');
    let linkage_names = || frames.iter().all(|frame| frame.0.starts_with("_Z"));
    !program.is_mangled()
        || (frames.len() == 1 || linkage_names()) && !frames.iter().any(|frame| is_clone(&frame.0))
}

/// All combinations of the six flags, and every spelling of the options.
fn combinations(program: &Program, number: usize, pair: &Pair, chosen: &[String]) -> Check {
    const FLAGS: [&str; 6] = ["-a", "-f", "-i", "-p", "-s", "-C"];
    let full = IN_FULL.contains(&program.name);
    let input: String = chosen
        .iter()
        .map(|address| format!("0x{address}\n"))
        .collect();
    for bits in 0..1usize << FLAGS.len() {
        if !full && bits % 4 != number % 4 {
            continue;
        }
        let set = (0..FLAGS.len()).filter(|flag| bits >> flag & 1 == 1);
        let mut arguments: Vec<String> = set.map(|flag| FLAGS[flag].to_owned()).collect();
        // Half of them on the command line, half on standard input.
        if bits & 1 == 0 {
            pair.must_agree(&arguments, &input)?;
        } else {
            arguments.extend(chosen.iter().cloned());
            pair.must_agree(&arguments, "")?;
        }
    }
    let address = chosen[chosen.len() / 2].as_str();
    std::fs::write(
        pair.dir.join("words"),
        format!("-f '-e' a.out\n\"{address}\""),
    )?;
    for arguments in SPELLINGS {
        let words: Vec<String> = arguments
            .iter()
            .map(|word| word.replace("ADDRESS", address))
            .collect();
        pair.must_agree(&words, &input)?;
    }
    if !program.is_mangled() {
        pair.must_agree(&strings(&["-f", "-j", ".text", "0", "4", "10"]), "")?;
    }
    for input in [
        "",
        "\n",
        "zz\n",
        "10 20\n",
        " 0x10 \r\n",
        "-1",
        "12zz\n\n0x\n",
        "ffffffffffffffffff\n",
    ] {
        pair.must_agree(&strings(&["-af"]), input)?;
    }
    Ok(())
}

/// Spellings, orders and kinds of options.
const SPELLINGS: [&[&str]; 30] = [
    &["-Cfpie", "a.out", "ADDRESS"],
    &["-Cfpiea.out"],
    &["-afipse", "a.out"],
    &["-e", "a.out", "-f", "ADDRESS", "-p"],
    &["ADDRESS", "-f"],
    &["--exe=a.out", "--functions"],
    &["--exe", "a.out", "--inlines", "--pretty-print"],
    &["--addresses", "--basenames", "--functions"],
    &["--func", "--pretty", "--addr", "--base", "--inl"],
    &["--demangle", "-f"],
    &["--demangle=auto", "-f"],
    &["--demangle=none", "-f"],
    &["--demangle=gnu-v3", "-f"],
    &["--dem", "--fun"],
    &["-f", "-f", "-a", "-a"],
    &["-f", "-r", "-C"],
    &["-f", "-R", "-C"],
    &["-f", "--no-recurse-limit"],
    &[
        "-f",
        "--recurse-limit",
        "--no-recursion-limit",
        "--recursion-limit",
    ],
    &["-e", "nowhere", "-e", "a.out", "-f"],
    &["-f", "-j", ".init", "-a", "0", "4", "10", "fffffff"],
    &["--section=.fini", "-f", "8"],
    &["-j.data", "-f", "0"],
    &["-j", ".comment", "-f", "0"],
    &["@words"],
    &["-a", "@words", "ADDRESS"],
    &["--", "ADDRESS"],
    &["-f", "--", "ADDRESS", "-f"],
    &["-fa", "main", "main+4", "nobody", "main+0x10"],
    &["-f", "@nowhere"],
];

/// What cannot be answered: nothing on standard output, and the status of addr2line, except that wrong usage is 2.
fn wrong() -> Check {
    let dir = workspace::work_dir("addr2line-wrong")?;
    let pair = Pair::new(dir.path())?;
    PROGRAMS[0].build(dir.path())?;
    std::fs::write(dir.path().join("text"), "no program")?;
    std::fs::write(dir.path().join("empty"), "")?;
    std::fs::write(dir.path().join("archive.a"), "!<arch>\n")?;
    for arguments in [
        &["-e", "nowhere", "1"][..],
        &["-e", "text", "1"],
        &["-e", "empty", "1"],
        &["-e", ".", "1"],
        &["-e", "archive.a", "1"],
        &["-j", ".nowhere", "1"],
    ] {
        pair.must_agree(&strings(arguments), "")?;
    }
    for arguments in [
        &["-q"][..],
        &["--nonsense"],
        &["--demangle=cobol", "1"],
        &["-e"],
    ] {
        let arguments = strings(arguments);
        let (ours, theirs) = (pair.ours(&arguments, "")?, pair.theirs(&arguments, "")?);
        ensure(
            ours.stdout == theirs.stdout
                && ours.status.code() == Some(2)
                && theirs.status.code() == Some(1),
            || format!("{arguments:?}: {ours:?} {theirs:?}"),
        )?;
    }
    Ok(())
}
