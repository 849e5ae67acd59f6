//! The program that is asked about: C++ with templates and inlining, as many units as one wants, in little time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::run::{Bench, output};

/// Units of the program: about 300 MB of debug sections, 127 MB of them `.debug_info`.
pub(crate) const UNITS: usize = 60;

/// Units of the program with more than 1 GB.
pub(crate) const HUGE_UNITS: usize = 210;

/// What stands for the unit's number in names; the digits are replaced.
const MARK: &[u8] = b"u0000";

/// Builds a program of so many units, unless an earlier run has left it.
///
/// One source is compiled (15 s); the units are copies of its object file in which the number in all names is replaced by
/// one of the same length. So types and functions differ from unit to unit, as the debug information of a program does.
pub(crate) fn build(bench: &Bench, units: usize) -> Result<PathBuf> {
    let folder = bench.path("symbolize");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make {}", folder.display()))?;
    let source = bench.source("symbolize/unit.cc");
    let (program, stamp) = (
        folder.join(format!("program{units}")),
        folder.join(format!("program{units}.source")),
    );
    let text =
        std::fs::read(&source).with_context(|| format!("cannot read {}", source.display()))?;
    if program.is_file() && std::fs::read(&stamp).is_ok_and(|built| built == text) {
        return Ok(program);
    }
    eprintln!("bench: symbolize: building a program of {units} units");
    let base = folder.join("unit.o");
    output(
        Command::new("g++")
            .args(["-std=c++17", "-O2", "-g", "-c", "-o"])
            .args([&base, &source]),
    )?;
    let base = std::fs::read(&base).with_context(|| format!("cannot read {}", base.display()))?;
    let objects = folder.join("objects");
    std::fs::create_dir_all(&objects)?;
    let result = link(&base, &objects, units, &program);
    std::fs::remove_dir_all(&objects)?;
    result?;
    std::fs::write(&stamp, text)?;
    Ok(program)
}

/// Writes the copies and links them.
fn link(base: &[u8], objects: &Path, units: usize, program: &Path) -> Result<()> {
    let mut main = String::new();
    let mut calls = String::new();
    let mut list = String::new();
    for unit in 0..units {
        let object = objects.join(format!("{unit}.o"));
        std::fs::write(&object, numbered(base, unit))
            .with_context(|| format!("cannot write {}", object.display()))?;
        let _ = writeln!(main, "namespace u{unit:04} {{ unsigned run(unsigned); }}");
        let _ = writeln!(calls, "  sum += u{unit:04}::run(count);");
        let _ = writeln!(list, "{}", object.display());
    }
    let _ = writeln!(
        main,
        "int main(int count, char **) {{\n  unsigned sum = 0;\n{calls}  return sum & 1;\n}}"
    );
    let (source, names) = (objects.join("main.cc"), objects.join("names"));
    std::fs::write(&source, main)?;
    std::fs::write(&names, list)?;
    let mut file = std::ffi::OsString::from("@");
    file.push(&names);
    output(
        Command::new("g++")
            .args(["-O2", "-g", "-o"])
            .args([program, &source])
            .arg(file),
    )?;
    Ok(())
}

/// The object file with the number of a unit in all names.
fn numbered(base: &[u8], unit: usize) -> Vec<u8> {
    let mut copy = base.to_vec();
    let number = format!("u{:04}", unit % 10_000);
    let mut at = 0;
    while at + MARK.len() <= copy.len() {
        if copy[at..].starts_with(MARK) {
            copy[at..at + MARK.len()].copy_from_slice(number.as_bytes());
            at += MARK.len();
        } else {
            at += 1;
        }
    }
    copy
}

/// Addresses inside of functions, every byte of code equally likely, the same in every run.
pub(crate) fn addresses(program: &Path, count: usize) -> Result<Vec<u64>> {
    let listed = output(
        Command::new("nm")
            .args(["-S", "--defined-only"])
            .arg(program),
    )?;
    let functions: Vec<(u64, u64)> = listed
        .stdout
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let hexadecimal = |word: &str| u64::from_str_radix(word, 16).ok();
            let (address, size) = (hexadecimal(words.next()?)?, hexadecimal(words.next()?)?);
            matches!(words.next()?, "t" | "T" | "w" | "W").then_some((address, size))
        })
        .collect();
    let total: u64 = functions.iter().map(|(_, size)| size).sum();
    ensure!(total > 0, "{} has no functions", program.display());
    let mut ends = Vec::with_capacity(functions.len());
    let mut end = 0;
    for (_, size) in &functions {
        end += size;
        ends.push(end);
    }
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let random = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % total
    });
    let address = |place: u64| {
        let at = ends.partition_point(|&end| end <= place);
        let (begin, size) = functions[at];
        begin + size - (ends[at] - place)
    };
    Ok(random.take(count).map(address).collect())
}

/// Bytes of the debug sections.
pub(crate) fn debug_bytes(program: &Path) -> Result<u64> {
    let listed = output(Command::new("size").arg("-A").arg(program))?;
    let sizes = listed.stdout.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix(".debug_")?.split_once(' ')?;
        let _ = name;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    });
    Ok(sizes.sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_differ_in_their_number_only() {
        let base = b"_ZN5u00003runEj u000 u0000".to_vec();
        assert_eq!(numbered(&base, 42), b"_ZN5u00423runEj u000 u0042");
        assert_eq!(numbered(&base, 0), base);
    }
}
