//! The compilers that are measured, plain and behind `instr-cc`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::run::{Bench, output};

/// Another alignment of a program's loops changes its run time by half, which looks like overhead; see `bench/README.md`. No
/// debugging information: valgrind gives up on what it does not know of clang's.
const FLAGS: [&str; 5] = [
    "-std=gnu11",
    "-O2",
    "-falign-functions=64",
    "-falign-loops=64",
    "-fopenmp",
];

/// A compiler and the OpenMP runtime that its programs use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Toolchain {
    /// Name of the compiler's command.
    pub(crate) compiler: &'static str,
    /// Name of the OpenMP runtime.
    pub(crate) runtime: &'static str,
}

/// GCC, which everything is measured with.
pub(crate) const GCC: Toolchain = Toolchain {
    compiler: "gcc",
    runtime: "libgomp",
};

/// What is measured, in the order of the tables.
pub(crate) const ALL: [Toolchain; 2] = [
    GCC,
    Toolchain {
        compiler: "clang",
        runtime: "libomp",
    },
];

/// The same program with and without the runtime of the tracer.
#[derive(Debug)]
pub(crate) struct Pair {
    /// Compiled as without us.
    pub(crate) plain: PathBuf,
    /// Compiled by `instr-cc`.
    pub(crate) traced: PathBuf,
}

impl Toolchain {
    /// First line of what the compiler says about its version; `None` when it is not installed.
    pub(crate) fn version(self) -> Option<String> {
        let text = output(Command::new(self.compiler).arg("--version")).ok()?;
        text.stdout.lines().next().map(str::to_owned)
    }

    /// Builds `NAME_COMPILER_plain` and `NAME_COMPILER_traced` in the scratch folder.
    ///
    /// # Errors
    /// When a compiler fails.
    pub(crate) fn build(self, bench: &Bench, name: &str, sources: &[PathBuf]) -> Result<Pair> {
        let pair = self.pair(bench, name);
        let build = |mut command: Command, program: &Path| {
            command
                .args(FLAGS)
                .arg("-I")
                .arg(bench.root.join("runtime/include"))
                .args(sources)
                .arg("-o")
                .arg(program);
            output(&mut command).map(drop)
        };
        build(Command::new(self.compiler), &pair.plain)?;
        let mut command = bench.tool("instr-cc");
        command.arg(self.compiler);
        build(command, &pair.traced)?;
        Ok(pair)
    }

    /// Builds one of the examples in the folders `NAME_COMPILER_plain` and `NAME_COMPILER_traced`.
    ///
    /// # Errors
    /// When `make` fails.
    pub(crate) fn build_example(self, bench: &Bench, name: &str) -> Result<Pair> {
        let pair = self.pair(bench, name);
        let mut traced = bench.bin.join("instr-cc").into_os_string();
        traced.push(" ");
        traced.push(self.compiler);
        for (folder, compiler) in [
            (&pair.plain, OsString::from(self.compiler)),
            (&pair.traced, traced),
        ] {
            if folder.exists() {
                std::fs::remove_dir_all(folder)?;
            }
            bench.make_example(
                name,
                &[
                    ("BUILD", folder.as_os_str()),
                    ("CFLAGS", OsStr::new(&FLAGS[1..4].join(" "))),
                    ("CC", &compiler),
                ],
            )?;
        }
        Ok(pair)
    }

    fn pair(self, bench: &Bench, name: &str) -> Pair {
        let path = |kind: &str| bench.path(&format!("{name}_{}_{kind}", self.compiler));
        Pair {
            plain: path("plain"),
            traced: path("traced"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_compiler_has_no_version() {
        let missing = Toolchain {
            compiler: "no-such-compiler",
            runtime: "",
        };
        assert_eq!(missing.version(), None);
        assert!(GCC.version().is_some_and(|version| !version.is_empty()));
    }
}
