//! What the tests with real compilers share: a folder, a cache, and two ways to run a compiler.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An OpenMP program with its own exit status.
pub(crate) const PROGRAM: &str = r#"
#include <stdio.h>
int main(void)
{
    int sum = 0;
    #pragma omp parallel for schedule(dynamic) reduction(+:sum) num_threads(2)
    for (int i = 0; i < 10; i++)
        sum += i;
    #pragma omp parallel num_threads(2)
    #pragma omp single
    for (int i = 0; i < 3; i++) {
        #pragma omp task
        {
            #pragma omp critical
            sum++;
        }
    }
    printf("sum %d\n", sum);
    return 7;
}
"#;

/// A folder to work in.
pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// A folder of this user alone with the program in it.
    pub(crate) fn new() -> Self {
        // Whatever the umask is: what a group may write into is no place for a cache.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let mut folder = tempfile::Builder::new();
        let place = Self {
            dir: folder.permissions(mode).tempdir().unwrap(),
        };
        place.write("p.c", PROGRAM);
        place
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), text).unwrap();
    }

    /// A command in this folder, without any setting of the user's.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.path())
            .env("INSTR_CACHE", shared_cache())
            .env("OMP_NUM_THREADS", "2")
            .env("LC_ALL", "C");
        for name in ["INSTR_CC", "INSTR_TRACE", "INSTR_CC_LINK", "INSTR_CC_DEPTH"] {
            command.env_remove(name);
        }
        command
    }

    /// Runs the wrapper with a line of words.
    pub(crate) fn wrapped(&self, line: &str) -> Output {
        self.command(INSTR_CC)
            .args(line.split_whitespace())
            .output()
            .unwrap()
    }

    /// Runs a line of words as it stands.
    pub(crate) fn run(&self, line: &str) -> Output {
        let mut words = line.split_whitespace();
        let program = words.next().unwrap();
        let program = if program.starts_with("./") {
            self.path().join(program).into_os_string()
        } else {
            program.into()
        };
        self.command(program).args(words).output().unwrap()
    }

    /// Whether a run left a trace beside the program.
    pub(crate) fn has_trace(&self, program: &str) -> bool {
        self.path().join(format!("{program}.instr")).is_dir()
    }
}

/// The wrapper.
pub(crate) const INSTR_CC: &str = env!("CARGO_BIN_EXE_instr-cc");

/// One cache for all tests of a test run: that of `make test`, or one below the target folder, so that it is fresh after `cargo clean`.
fn shared_cache() -> PathBuf {
    std::env::var_os("INSTR_CACHE").map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"),
        PathBuf::from,
    )
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
