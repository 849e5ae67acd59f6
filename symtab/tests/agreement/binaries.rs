//! What is compared: programs of every kind, built on the spot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::peers::Peer;
use crate::sources;

/// Who made the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    Gcc,
    Clang,
    Rustc,
}

/// A program to compare the tools on.
#[derive(Debug, Clone)]
pub(crate) struct Binary {
    /// Row of the table.
    pub(crate) name: String,
    /// The file that is opened.
    pub(crate) file: PathBuf,
    /// The same program in a container that every tool reads …
    pub(crate) twin: Option<PathBuf>,
    /// … and the tools of which some versions cannot read the container itself, and so are asked about the twin.
    pub(crate) may_not_read: &'static [Peer],
    /// What the names of the target's binutils begin with.
    pub(crate) prefix: &'static str,
    pub(crate) maker: Maker,
    /// How many addresses are drawn; every one where the code has fewer.
    pub(crate) count: usize,
}

/// A compiler with the options that choose its target.
#[derive(Debug, Clone, Copy)]
struct Tool {
    name: &'static str,
    command: &'static [&'static str],
    prefix: &'static str,
    maker: Maker,
}

const fn tool(
    name: &'static str,
    command: &'static [&'static str],
    prefix: &'static str,
    maker: Maker,
) -> Tool {
    Tool {
        name,
        command,
        prefix,
        maker,
    }
}

const SPARC: &str = "sparc64-linux-gnu-";
const GCC: Tool = tool("gcc", &["gcc"], "", Maker::Gcc);
const CLANG: Tool = tool("clang", &["clang"], "", Maker::Clang);
const GCC_SPARC32: Tool = tool(
    "gcc SPARC32",
    &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=v8", "-static"],
    SPARC,
    Maker::Gcc,
);
const GCC_SPARC64: Tool = tool(
    "gcc SPARC64",
    &["sparc64-linux-gnu-gcc", "-static"],
    SPARC,
    Maker::Gcc,
);
const GXX: Tool = tool("g++", &["g++"], "", Maker::Gcc);
const CLANGXX: Tool = tool("clang++", &["clang++"], "", Maker::Clang);
const GXX_SPARC32: Tool = tool(
    "g++ SPARC32",
    &["sparc64-linux-gnu-g++", "-m32", "-mcpu=v8", "-static"],
    SPARC,
    Maker::Gcc,
);
const GXX_SPARC64: Tool = tool(
    "g++ SPARC64",
    &["sparc64-linux-gnu-g++", "-static"],
    SPARC,
    Maker::Gcc,
);
const GFORTRAN: Tool = tool("gfortran", &["gfortran"], "", Maker::Gcc);
const GFORTRAN_SPARC32: Tool = tool(
    "gfortran SPARC32",
    &["sparc64-linux-gnu-gfortran", "-m32", "-mcpu=v8", "-static"],
    SPARC,
    Maker::Gcc,
);
const GFORTRAN_SPARC64: Tool = tool(
    "gfortran SPARC64",
    &["sparc64-linux-gnu-gfortran", "-static"],
    SPARC,
    Maker::Gcc,
);

/// Builds programs in a folder, and remembers them.
pub(crate) struct Builder<'f> {
    folder: &'f Path,
    cpp: Vec<String>,
    full: bool,
    pub(crate) binaries: Vec<Binary>,
    /// Kinds left out, and why.
    pub(crate) skipped: Vec<String>,
}

/// All programs of the matrix, or those of `make test`.
pub(crate) fn build(folder: &Path, full: bool) -> Builder<'_> {
    let cpp = sources::write(folder, if full { 3 } else { 2 });
    let mut builder = Builder {
        folder,
        cpp,
        full,
        binaries: Vec::new(),
        skipped: Vec::new(),
    };
    builder.rust();
    builder.cpp();
    builder.openmp();
    builder.containers();
    builder
}

impl Builder<'_> {
    /// Runs a tool in the folder; `false`: it is missing, or has not ended after a minute. llvm-dwp 18 does not end with some of gcc's
    /// DWARF 5, with which binutils' dwp crashes.
    fn ends(&mut self, tool: &str, arguments: &[&str]) -> bool {
        let mut run = Command::new("timeout");
        run.args(["60", tool])
            .args(arguments)
            .current_dir(self.folder);
        let out = run.output().expect("timeout runs");
        let text = String::from_utf8_lossy(&out.stderr);
        // Of timeout(1): the time is over; there is no such command.
        match out.status.code() {
            Some(0) => true,
            Some(124 | 127) => false,
            _ => panic!("{run:?}: {text}"),
        }
    }

    /// Runs a tool in the folder; a missing one is noted, a failing one fails the test.
    fn run(&mut self, command: &[&str], arguments: &[&str]) -> bool {
        let mut run = Command::new(command[0]);
        run.args(&command[1..])
            .args(arguments)
            .current_dir(self.folder);
        match run.output() {
            Ok(out) => {
                let text = String::from_utf8_lossy(&out.stderr);
                assert!(out.status.success(), "{run:?}: {text}");
                true
            }
            Err(_) => {
                let note = format!("{} is not installed", command[0]);
                if !self.skipped.contains(&note) {
                    self.skipped.push(note);
                }
                false
            }
        }
    }

    fn add(&mut self, tool: Tool, name: &str, file: &str, count: usize) {
        self.binaries.push(Binary {
            name: name.to_owned(),
            file: self.folder.join(file),
            twin: None,
            may_not_read: &[],
            prefix: tool.prefix,
            maker: tool.maker,
            count,
        });
    }

    /// A container that holds the same program as `twin`, which those of the tools `unable` that cannot read it are asked
    /// about instead.
    fn add_container(
        &mut self,
        tool: Tool,
        name: &str,
        file: &str,
        twin: &str,
        unable: &'static [Peer],
    ) {
        self.add(tool, name, file, self.count(10_000, 700));
        let twin = self.folder.join(twin);
        if let Some(last) = self.binaries.last_mut() {
            last.twin = Some(twin);
            last.may_not_read = unable;
        }
    }

    fn count(&self, full: usize, quick: usize) -> usize {
        if self.full { full } else { quick }
    }

    fn compile(&mut self, tool: Tool, sources: &[&str], flags: &str, output: &str) -> bool {
        if self.folder.join(output).exists() {
            return true; // of an earlier run
        }
        let mut arguments: Vec<&str> = flags.split_whitespace().collect();
        arguments.extend(sources);
        arguments.extend(["-o", output]);
        self.run(tool.command, &arguments)
    }

    /// Rust: a small program, optimized and not, and where one is named, our own tool. All hold most of the standard library's code.
    fn rust(&mut self) {
        let rustc = tool("rustc", &[], "", Maker::Rustc);
        if let Some(instr) = std::env::var_os("INSTR_AGREEMENT_RUST").filter(|_| self.full) {
            let instr = PathBuf::from(instr);
            assert!(instr.is_file(), "no program {}", instr.display());
            self.add(rustc, "rustc: debug build of `instr`", "", 10_000);
            self.binaries.last_mut().expect("just added").file = instr;
        }
        let compiler = rust_compiler();
        for level in ["-Copt-level=2", "-Copt-level=0"] {
            if self.full || level != "-Copt-level=0" {
                let output = format!("rust{level}");
                let source = "collections.rs";
                let arguments = ["--edition=2021", "-g", level, source, "-o", &output];
                if self.folder.join(&output).exists() || self.run(&[&compiler], &arguments) {
                    let count = self.count(10_000, 1500);
                    self.add(rustc, &format!("Rust, rustc: -g {level}"), &output, count);
                }
            }
        }
    }

    /// The large C++ program.
    fn cpp(&mut self) {
        let quick = [
            (GXX, "-O2 -gdwarf-5", 4500),
            (CLANGXX, "-O2 -gdwarf-5", 3000),
        ];
        let mut kinds = quick.to_vec();
        if self.full {
            kinds.clear();
            for level in ["-O0", "-O2", "-O3"] {
                for version in [4, 5] {
                    kinds.push((GXX, flags(level, version), 10_000));
                    kinds.push((CLANGXX, flags(level, version), 10_000));
                }
            }
            for kind in [
                "-O2 -gdwarf-2",
                "-O2 -gdwarf-3",
                "-O2 -gdwarf-5 -gstrict-dwarf",
                "-O2 -gdwarf-5 -flto",
            ] {
                kinds.push((GXX, kind, 10_000));
            }
            for sparc in [GXX_SPARC32, GXX_SPARC64] {
                kinds.push((sparc, "-O2 -gdwarf-4", 10_000));
                kinds.push((sparc, "-O2 -gdwarf-5", 10_000));
            }
        }
        let sources = self.cpp.clone();
        let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
        for (number, (tool, flags, count)) in kinds.into_iter().enumerate() {
            let output = format!("cpp{number}");
            if self.compile(tool, &sources, flags, &output) {
                self.add(
                    tool,
                    &format!("C++, {}: {flags}", tool.name),
                    &output,
                    count,
                );
            }
        }
    }

    /// OpenMP in C and Fortran, every version of DWARF.
    fn openmp(&mut self) {
        let mut kinds: Vec<(Tool, &str, &str)> = Vec::new();
        let c = "openmp.c";
        let f = "openmp.f90";
        if self.full {
            for tool in [GCC, CLANG, GCC_SPARC32, GCC_SPARC64] {
                for level in ["-O0", "-O2", "-O3"] {
                    kinds.extend([2, 3, 4, 5].map(|version| (tool, c, flags(level, version))));
                }
            }
            for tool in [GCC, GCC_SPARC32, GCC_SPARC64] {
                kinds.push((tool, c, "-O2 -gdwarf-5 -flto"));
                for kind in [
                    "-O2 -gdwarf-2 -gstrict-dwarf",
                    "-O2 -gdwarf-4 -gstrict-dwarf",
                    "-O2 -gdwarf-5 -gstrict-dwarf",
                ] {
                    kinds.push((tool, c, kind));
                }
            }
            for tool in [GFORTRAN, GFORTRAN_SPARC32, GFORTRAN_SPARC64] {
                for level in ["-O0", "-O2", "-O3"] {
                    kinds.extend([4, 5].map(|version| (tool, f, flags(level, version))));
                }
            }
        } else {
            kinds.extend([
                (GCC, c, "-O2 -gdwarf-2"),
                (GCC, c, "-O3 -gdwarf-4"),
                (GCC, c, "-O0 -gdwarf-5"),
                (CLANG, c, "-O2 -gdwarf-4"),
                (GCC_SPARC32, c, "-O2 -gdwarf-5"),
                (GCC_SPARC64, c, "-O2 -gdwarf-4"),
                (GFORTRAN, f, "-O2 -gdwarf-5"),
            ]);
        }
        for (number, (tool, source, flags)) in kinds.into_iter().enumerate() {
            let output = format!("openmp{number}");
            if self.compile(tool, &[source], &format!("{flags} -fopenmp"), &output) {
                let language = if source == c { "C" } else { "Fortran" };
                let count = self.count(10_000, 900);
                self.add(
                    tool,
                    &format!("{language}, {}: {flags}", tool.name),
                    &output,
                    count,
                );
            }
        }
    }

    /// The same program with its debug information kept in every way there is.
    fn containers(&mut self) {
        let units = self.cpp.clone();
        let units: Vec<&str> = if self.full {
            units.iter().map(String::as_str).collect()
        } else {
            vec!["openmp.c"]
        };
        let flags = "-O2 -g -fopenmp";
        for (tool, version) in [(GXX, 5), (GXX, 4), (CLANGXX, 5)] {
            if !self.full && (tool.maker, version) != (Maker::Gcc, 5) {
                continue;
            }
            // One translation of the sources, so that the code is the same.
            let tool = if self.full { tool } else { GCC };
            let tag = format!(
                "{}{version}",
                if tool.maker == Maker::Gcc { "g" } else { "c" }
            );
            let flags = format!("{flags} -gdwarf-{version}");
            let plain = format!("plain{tag}");
            if !self.compile(tool, &units, &format!("{flags} -Wl,--build-id"), &plain) {
                continue;
            }
            let title = format!("{}, DWARF {version}", tool.name);
            self.split(tool, &units, &flags, &tag, &title, &plain);
            if tag == "g5" {
                self.mini(tool, &title, &plain);
            }
            if tool.maker == Maker::Gcc {
                self.packed(tool, &tag, &title, &plain);
            }
        }
        self.links(GXX);
    }

    fn split(
        &mut self,
        tool: Tool,
        units: &[&str],
        flags: &str,
        tag: &str,
        title: &str,
        plain: &str,
    ) {
        let mut objects = Vec::new();
        for unit in units {
            let object = format!("{unit}.{tag}.o");
            if !self.compile(tool, &[unit], &format!("{flags} -gsplit-dwarf -c"), &object) {
                return;
            }
            objects.push(object);
        }
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        let output = format!("split{tag}");
        let link = "-fopenmp -Wl,--build-id";
        if !self.compile(tool, &objects, link, &output) {
            return;
        }
        self.add_container(
            tool,
            &format!("{title}: split, .dwo"),
            &output,
            plain,
            &[Peer::Binutils],
        );
        // Of g++'s DWARF 5, dwp 2.40 crashes and llvm-dwp 14 does not end.
        let packer = match tag {
            "g4" => "dwp",
            "g5" if tool.name == GXX.name => return,
            _ => "llvm-dwp",
        };
        let package = format!("packed{tag}.dwp");
        let packed = format!("packed{tag}");
        fs::copy(self.folder.join(&output), self.folder.join(&packed)).expect("a copy");
        if self.ends(packer, &["-e", &output, "-o", &package]) {
            let name = format!("{title}: split, .dwp by {packer}");
            self.add_container(tool, &name, &packed, plain, &[Peer::Binutils]);
        }
    }

    /// Compressed, deduplicated and stripped copies of `plain`.
    fn packed(&mut self, tool: Tool, tag: &str, title: &str, plain: &str) {
        for kind in ["zlib-gabi", "zlib-gnu", "zstd"] {
            let output = format!("{kind}{tag}");
            if self.run(
                &["objcopy"],
                &[&format!("--compress-debug-sections={kind}"), plain, &output],
            ) {
                let unable: &[Peer] = match kind {
                    // Older versions of LLVM.
                    "zstd" => &[Peer::Llvm],
                    // binutils 2.40 in DWARF 5, and newer versions of LLVM.
                    "zlib-gnu" => &[Peer::Binutils, Peer::Llvm],
                    _ => &[],
                };
                self.add_container(
                    tool,
                    &format!("{title}: compressed, {kind}"),
                    &output,
                    plain,
                    unable,
                );
            }
        }
        let single = format!("dwz{tag}");
        if self.run(&["dwz"], &[plain, "-o", &single]) {
            self.add_container(tool, &format!("{title}: dwz"), &single, plain, &[]);
        }
        let (first, second, common) = (
            format!("many{tag}"),
            format!("other{tag}"),
            format!("common{tag}"),
        );
        for copy in [&first, &second] {
            fs::copy(self.folder.join(plain), self.folder.join(copy)).expect("a copy");
        }
        if self.run(&["dwz"], &["-m", &common, &first, &second]) {
            self.add_container(
                tool,
                &format!("{title}: dwz, several files"),
                &first,
                plain,
                &[Peer::Llvm],
            );
        }
        let (debug, stripped) = (format!("{plain}.debug"), format!("stripped{tag}"));
        if self.run(&["objcopy"], &["--only-keep-debug", plain, &debug])
            && self.run(
                &["objcopy"],
                &[
                    "--strip-all",
                    &format!("--add-gnu-debuglink={debug}"),
                    plain,
                    &stripped,
                ],
            )
        {
            self.add_container(
                tool,
                &format!("{title}: stripped, debug link"),
                &stripped,
                plain,
                &[],
            );
        }
    }

    /// No debug information, no symbols but packed ones (`.gnu_debugdata`), as Fedora ships programs; the twin has the
    /// symbols in the open.
    fn mini(&mut self, tool: Tool, title: &str, plain: &str) {
        let (open, packed) = ("open", "mini");
        let made = self.run(&["objcopy"], &["--strip-debug", plain, open])
            && self.run(
                &["objcopy"],
                &["-S", "--remove-section=.comment", open, "bare"],
            )
            && self.run(&["objcopy"], &["--only-keep-debug", open, "symbols"])
            && self.run(&["xz"], &["-kf", "symbols"])
            && self.run(
                &["objcopy"],
                &["--add-section=.gnu_debugdata=symbols.xz", "bare", packed],
            );
        if made {
            let name = format!("{title}: stripped, packed symbols");
            self.add_container(tool, &name, packed, open, &[Peer::Binutils, Peer::Llvm]);
        }
    }

    /// Kinds of links.
    fn links(&mut self, tool: Tool) {
        if !self.full {
            return;
        }
        let mut objects = Vec::new();
        for unit in self.cpp.clone() {
            let object = format!("{unit}.o");
            if !self.compile(
                tool,
                &[&unit],
                "-O2 -g -fPIC -ffunction-sections -c",
                &object,
            ) {
                return;
            }
            objects.push(object);
        }
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        for (name, flags) in [
            ("no PIE", "-no-pie"),
            ("static", "-static"),
            ("static PIE", "-static-pie"),
            ("shared library", "-shared"),
            ("lld", "-fuse-ld=lld"),
            ("gold", "-fuse-ld=gold"),
            ("mold", "-fuse-ld=mold"),
            ("unused sections dropped", "-Wl,--gc-sections"),
        ] {
            let output = format!("link{}", name.replace(' ', "-"));
            if self.compile(tool, &objects, flags, &output) {
                self.add(
                    tool,
                    &format!("C++, {}: {name}", tool.name),
                    &output,
                    10_000,
                );
            }
        }
    }
}

fn flags(level: &str, version: u8) -> &'static str {
    match (level, version) {
        ("-O0", 2) => "-O0 -gdwarf-2",
        ("-O0", 3) => "-O0 -gdwarf-3",
        ("-O0", 4) => "-O0 -gdwarf-4",
        ("-O0", 5) => "-O0 -gdwarf-5",
        ("-O2", 2) => "-O2 -gdwarf-2",
        ("-O2", 3) => "-O2 -gdwarf-3",
        ("-O2", 4) => "-O2 -gdwarf-4",
        ("-O2", 5) => "-O2 -gdwarf-5",
        ("-O3", 2) => "-O3 -gdwarf-2",
        ("-O3", 3) => "-O3 -gdwarf-3",
        ("-O3", 4) => "-O3 -gdwarf-4",
        _ => "-O3 -gdwarf-5",
    }
}

/// The compiler beside the cargo that runs this test.
fn rust_compiler() -> String {
    let beside =
        std::env::var_os("CARGO").map(|cargo| PathBuf::from(cargo).with_file_name("rustc"));
    match beside {
        Some(rustc) if rustc.is_file() => rustc.display().to_string(),
        _ => String::from("rustc"),
    }
}
