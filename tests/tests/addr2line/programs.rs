//! The programs that both tools are asked about.

use std::path::{Path, PathBuf};
use std::process::Command;

use instr_tests::outcome::{Check, ensure};
use instr_tests::toolchain::need;
use instr_tests::workspace;

/// How a program is built.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program {
    /// Name of its tests.
    pub(crate) name: &'static str,
    compiler: &'static str,
    /// Source below `tests/addr2line`.
    source: &'static str,
    flags: &'static [&'static str],
    /// What `strip` takes away afterwards.
    strip: Option<&'static str>,
}

const fn program(
    name: &'static str,
    compiler: &'static str,
    source: &'static str,
    flags: &'static [&'static str],
) -> Program {
    Program {
        name,
        compiler,
        source,
        flags,
        strip: None,
    }
}

/// Compilers, languages, DWARF versions, kinds of files, machines.
pub(crate) const PROGRAMS: [Program; 18] = [
    program("gcc-pie", "gcc", "sample.c", &["-O2", "-g"]),
    program("gcc-fixed", "gcc", "sample.c", &["-O0", "-g", "-no-pie"]),
    program("gcc-dwarf4", "gcc", "sample.c", &["-O2", "-gdwarf-4"]),
    program(
        "gcc-dwarf2",
        "gcc",
        "sample.c",
        &["-O1", "-gdwarf-2", "-gstrict-dwarf"],
    ),
    program(
        "gcc-compressed",
        "gcc",
        "sample.c",
        &["-O2", "-g", "-gz=zlib"],
    ),
    program(
        "gcc-library",
        "gcc",
        "sample.c",
        &["-O2", "-g", "-fPIC", "-shared", "-DLIBRARY"],
    ),
    program("gcc-object", "gcc", "sample.c", &["-O2", "-g", "-c"]),
    program("gcc-symbols-only", "gcc", "sample.c", &["-O2"]),
    Program {
        strip: Some("--strip-all"),
        ..program("gcc-stripped", "gcc", "sample.c", &["-O2", "-rdynamic"])
    },
    program("g++-optimized", "g++", "sample.cc", &["-O2", "-g"]),
    program("g++-plain", "g++", "sample.cc", &["-O0", "-g"]),
    program(
        "gfortran-optimized",
        "gfortran",
        "sample.f90",
        &["-O2", "-g"],
    ),
    program("gfortran-plain", "gfortran", "sample.f90", &["-O0", "-g"]),
    program("clang-dwarf4", "clang", "sample.c", &["-O2", "-gdwarf-4"]),
    program("clang-dwarf5", "clang", "sample.c", &["-O2", "-gdwarf-5"]),
    program(
        "clang++-dwarf4",
        "clang++",
        "sample.cc",
        &["-O1", "-gdwarf-4"],
    ),
    program(
        "sparc-v8",
        "sparc64-linux-gnu-gcc",
        "sample.c",
        &["-m32", "-mcpu=v8", "-O2", "-g"],
    ),
    program(
        "sparc64-g++",
        "sparc64-linux-gnu-g++",
        "sample.cc",
        &["-O2", "-g"],
    ),
];

impl Program {
    /// Whether clang made DWARF 5 of it, whose inlined functions binutils 2.40 does not find.
    pub(crate) fn is_clang_dwarf5(&self) -> bool {
        self.compiler.starts_with("clang") && self.flags.contains(&"-gdwarf-5")
    }

    /// Whether its functions have linker's names of their own beside those of the source.
    pub(crate) fn is_mangled(&self) -> bool {
        !self.source.ends_with(".c")
    }

    /// Compiles it as `a.out` in `dir`.
    pub(crate) fn build(&self, dir: &Path) -> Check<PathBuf> {
        need(self.compiler)?;
        let source = dir.join(self.source);
        std::fs::copy(
            workspace::root()?.join("tests/addr2line").join(self.source),
            &source,
        )?;
        let output = dir.join("a.out");
        let mut command = Command::new(self.compiler);
        command
            .args(self.flags)
            .arg("-fopenmp")
            .arg(&source)
            .arg("-o")
            .arg(&output);
        run(command.current_dir(dir))?;
        if let Some(how) = self.strip {
            run(Command::new("strip").arg(how).arg(&output))?;
        }
        Ok(output)
    }
}

/// Runs a command that has to succeed and gives its output.
pub(crate) fn run(command: &mut Command) -> Check<String> {
    let output = command.output()?;
    ensure(output.status.success(), || {
        format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr))
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// About `count` addresses of the program's code, stubs included, and some outside, as `readelf` tells its sections.
pub(crate) fn addresses(program: &Path, count: u64) -> Check<Vec<String>> {
    let table = run(Command::new("readelf").arg("-SW").arg(program))?;
    let mut found: Vec<u64> = vec![0, 1, 0xfff_ffff];
    for line in table.lines() {
        let Some((_, row)) = line.split_once(']') else {
            continue;
        };
        let words: Vec<&str> = row.split_whitespace().collect();
        let (Some(&name), Some(&start), Some(&size)) = (words.first(), words.get(2), words.get(4))
        else {
            continue;
        };
        let number = |text| u64::from_str_radix(text, 16).unwrap_or(0);
        let (start, size) = (number(start), number(size));
        let share = match name {
            ".text" => count,
            ".init" | ".fini" | ".plt" | ".plt.sec" | ".text.startup" | ".data" => 6,
            _ => continue,
        };
        let step = (size / share).max(1);
        // One more than there are: the first one behind the section's end.
        found.extend(
            (0..=size)
                .step_by(step as usize)
                .map(|offset| start + offset),
        );
    }
    found.sort_unstable();
    found.dedup();
    Ok(found.iter().map(|address| format!("{address:x}")).collect())
}
