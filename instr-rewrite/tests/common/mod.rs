//! What the tests of the command share: compilers, the tool itself, independent readers.
#![allow(dead_code, reason = "every test uses a part")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A compiler with its flags, and the tools beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Toolchain {
    /// Name in messages and file names.
    pub(crate) name: &'static str,
    /// Compiler and flags.
    pub(crate) cc: &'static [&'static str],
    /// `nm` that reads its objects.
    pub(crate) nm: &'static str,
    /// Emulator of its programs; empty: none is needed.
    pub(crate) emulator: &'static str,
}

const SPARC_NM: &str = "sparc64-linux-gnu-nm";

pub(crate) const GCC: Toolchain = Toolchain {
    name: "gcc",
    cc: &["gcc"],
    nm: "nm",
    emulator: "",
};
pub(crate) const GCC_SECTIONS: Toolchain = Toolchain {
    name: "gcc-sections",
    cc: &[
        "gcc",
        "-O2",
        "-g",
        "-ffunction-sections",
        "-fdata-sections",
        "-fno-plt",
    ],
    nm: "nm",
    emulator: "",
};
pub(crate) const CLANG: Toolchain = Toolchain {
    name: "clang",
    cc: &["clang", "-O2", "-g"],
    nm: "nm",
    emulator: "",
};
pub(crate) const V8: Toolchain = Toolchain {
    name: "sparc-v8",
    cc: &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=v8", "-O2"],
    nm: SPARC_NM,
    emulator: "qemu-sparc32plus",
};
pub(crate) const LEON: Toolchain = Toolchain {
    name: "sparc-leon3",
    cc: &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=leon3", "-O1"],
    nm: SPARC_NM,
    emulator: "qemu-sparc32plus",
};
pub(crate) const V8_PIC: Toolchain = Toolchain {
    name: "sparc-pic",
    cc: &[
        "sparc64-linux-gnu-gcc",
        "-m32",
        "-mcpu=v8",
        "-O2",
        "-g",
        "-fPIC",
    ],
    nm: SPARC_NM,
    emulator: "qemu-sparc32plus",
};
pub(crate) const V8PLUS: Toolchain = Toolchain {
    name: "sparc32plus",
    cc: &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=v9", "-O2"],
    nm: SPARC_NM,
    emulator: "qemu-sparc32plus",
};
pub(crate) const V9: Toolchain = Toolchain {
    name: "sparc64",
    cc: &["sparc64-linux-gnu-gcc", "-m64", "-O2", "-g"],
    nm: SPARC_NM,
    emulator: "qemu-sparc64",
};

/// All compilers of C.
pub(crate) const ALL: &[Toolchain] = &[GCC, GCC_SECTIONS, CLANG, V8, LEON, V8_PIC, V8PLUS, V9];

/// A folder of the test sources.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/sources")
        .join(name)
}

/// The folder of `instr/probes.h`.
pub(crate) fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/include")
}

/// A fresh folder for the files of one test.
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("instr-rewrite-test")
        .tempdir()
        .expect("temporary folder")
}

/// Runs a command that must succeed.
pub(crate) fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// The tool under test.
pub(crate) fn tool() -> Command {
    Command::new(env!("CARGO_BIN_EXE_instr-rewrite"))
}

/// What the tool prints.
pub(crate) fn tool_text(arguments: &[&str], file: &Path) -> String {
    String::from_utf8(run(tool().args(arguments).arg(file)).stdout).expect("text")
}

impl Toolchain {
    /// The compiler with its own flags; for C++ and Fortran `driver` replaces the last word of its name.
    pub(crate) fn command(&self, driver: &str) -> Command {
        let (first, flags) = self.cc.split_first().expect("a compiler");
        let name = match driver {
            "gcc" => (*first).to_owned(),
            "g++" if *first == "clang" => "clang++".to_owned(),
            _ => first.replace("gcc", driver),
        };
        let mut command = Command::new(name);
        command.args(flags);
        command
    }

    /// Compiles a source with OpenMP; returns the object.
    pub(crate) fn compile(&self, source: &Path, directory: &Path) -> PathBuf {
        let driver = match source.extension().and_then(|extension| extension.to_str()) {
            Some("cpp") => "g++",
            Some("f90") => "gfortran",
            _ => "gcc",
        };
        let stem = source.file_stem().expect("a name").to_string_lossy();
        let object = directory.join(format!("{stem}-{}.o", self.name));
        let mut command = self.command(driver);
        // Module files of Fortran land in the current folder.
        run(command
            .current_dir(directory)
            .args(["-fopenmp", "-I"])
            .arg(include())
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(&object));
        object
    }
}

/// Undefined symbols of an object according to binutils: strong, weak.
pub(crate) fn nm_undefined(nm: &str, object: &Path) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = String::from_utf8(run(Command::new(nm).arg("-u").arg(object)).stdout).expect("text");
    let (mut strong, mut weak) = (BTreeSet::new(), BTreeSet::new());
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["U", name] => _ = strong.insert(name.to_owned()),
            ["w" | "v", name] => _ = weak.insert(name.to_owned()),
            _ => {}
        }
    }
    (strong, weak)
}

/// Symbols that the tool would wrap.
pub(crate) fn wrapped(file: &Path) -> BTreeSet<String> {
    let text = tool_text(&["--emit-wrap-flags", "--style=ld"], file);
    text.lines()
        .map(|line| line.strip_prefix("--wrap=").expect("a flag").to_owned())
        .collect()
}
