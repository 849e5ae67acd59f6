//! The tools under test and the compilers, emulators and viewers around them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::outcome::{Check, Stop};
use crate::process::{Outcome, Run, Status};
use crate::workspace;

/// The programs under test.
#[derive(Debug, Clone)]
pub struct Tools {
    /// `instr`
    pub instr: PathBuf,
    /// `instr-cc`
    pub instr_cc: PathBuf,
    /// `instr-rewrite`
    pub instr_rewrite: PathBuf,
}

/// Finds the tools, building them once with cargo unless `INSTR_TEST_BIN` names a folder that holds them.
///
/// # Errors
///
/// When cargo fails, or a tool is not there.
pub fn tools() -> Check<&'static Tools> {
    static TOOLS: OnceLock<Result<Tools, String>> = OnceLock::new();
    let found = TOOLS.get_or_init(|| find_tools().map_err(|stop| stop.to_string()));
    found
        .as_ref()
        .map_err(|message| Stop::Fail(message.clone()))
}

fn find_tools() -> Check<Tools> {
    let dir = match std::env::var_os("INSTR_TEST_BIN") {
        Some(dir) => PathBuf::from(dir),
        None => build_tools()?,
    };
    let tool = |name: &str| {
        let path = dir.join(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(Stop::Fail(format!("no tool {}", path.display())))
        }
    };
    Ok(Tools {
        instr: tool("instr")?,
        instr_cc: tool("instr-cc")?,
        instr_rewrite: tool("instr-rewrite")?,
    })
}

/// Builds the tools into the target folder and profile of this test binary.
fn build_tools() -> Check<PathBuf> {
    let profile = workspace::profile_dir()?;
    let target = profile
        .parent()
        .ok_or("the test binary is not in a target folder")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace::root()?).args([
        "build",
        "--quiet",
        "-p",
        "instr",
        "-p",
        "instr-cc",
        "-p",
        "instr-rewrite",
    ]);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let output = cargo.arg("--target-dir").arg(target).output()?;
    if !output.status.success() {
        return Err(format!(
            "the tools do not build:\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    Ok(profile)
}

/// Of the runtime, static programs get what their configuration asks for. The tests ask in the environment, for anything.
const EVERYTHING: &str = "-Wl,-u,instr_sensors_begin,-u,instr_sink_console,-u,instr_sink_ram,-u,instr_stack_begin,-u,instr_sampling_begin,-u,instr_sampling_settings";

/// Where a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// x86-64 Linux, shared libraries.
    X86_64,
    /// x86-64 Linux, `-static`.
    X86_64Static,
    /// SPARC V8, 32 bits, static, under qemu.
    Sparc32,
    /// SPARC V9, 64 bits, static, under qemu.
    Sparc64,
    /// 64-bit Arm Linux, static, under qemu.
    Aarch64,
    /// 64-bit RISC-V Linux, static, under qemu.
    RiscV64,
}

impl Target {
    /// Those that every program runs on.
    pub const ALL: [Self; 4] = [
        Self::X86_64,
        Self::X86_64Static,
        Self::Sparc32,
        Self::Sparc64,
    ];
    /// Those that some programs run on.
    pub const FURTHER: [Self; 2] = [Self::Aarch64, Self::RiscV64];

    /// Its name in directives.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-linux",
            Self::X86_64Static => "x86_64-linux-static",
            Self::Sparc32 => "sparc-linux",
            Self::Sparc64 => "sparc64-linux",
            Self::Aarch64 => "aarch64-linux",
            Self::RiscV64 => "riscv64-linux",
        }
    }

    /// The target of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter().chain(Self::FURTHER);
        all.find(|target| target.name() == name)
    }

    /// What a trace's `target` says.
    #[must_use]
    pub fn in_trace(self) -> &'static str {
        self.name().trim_end_matches("-static")
    }

    /// Compiler arguments that select it.
    #[must_use]
    pub fn flags(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &[],
            Self::X86_64Static | Self::Aarch64 | Self::RiscV64 => &["-static", EVERYTHING],
            Self::Sparc32 => &["-m32", "-mcpu=v8", "-static", EVERYTHING],
            Self::Sparc64 => &["-m64", "-static", EVERYTHING],
        }
    }

    /// The emulator that runs its programs.
    #[must_use]
    pub fn emulator(self) -> Option<&'static str> {
        match self {
            Self::X86_64 | Self::X86_64Static => None,
            Self::Sparc32 => Some("qemu-sparc32plus"),
            Self::Sparc64 => Some("qemu-sparc64"),
            Self::Aarch64 => Some("qemu-aarch64"),
            Self::RiscV64 => Some("qemu-riscv64"),
        }
    }

    /// Whether the emulator is known to be wrong about `sdiv` of SPARC V8, as QEMU 8.2 is: loops that count down then do not end.
    ///
    /// # Errors
    ///
    /// When the probe cannot be built or run.
    pub fn divides_wrongly(self) -> Check<bool> {
        static WRONG: Mutex<Option<bool>> = Mutex::new(None);
        if self != Self::Sparc32 {
            return Ok(false);
        }
        let mut wrong = WRONG.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(wrong) = *wrong {
            return Ok(wrong);
        }
        let dir = workspace::work_dir("sdiv")?;
        let (source, probe) = (dir.path().join("sdiv.c"), dir.path().join("sdiv"));
        std::fs::write(
            &source,
            "volatile int a = -2000000000, b = 7;\nint main(void) { return a / b != -285714285; }\n",
        )?;
        Build::openmp(self).plain(&[&source], &probe)?;
        let divided = self.run(&probe).output()?.status;
        *wrong = Some(divided != Status::Code(0));
        Ok(divided != Status::Code(0))
    }

    /// A run of `program`, through the emulator when there is one.
    #[must_use]
    pub fn run(self, program: &Path) -> Run {
        match self.emulator() {
            Some(emulator) => Run::new(emulator).arg(program),
            None => Run::new(program),
        }
    }

    /// What stands in front of the names of its compilers.
    fn prefix(self) -> &'static str {
        match self {
            Self::X86_64 | Self::X86_64Static => "",
            Self::Sparc32 | Self::Sparc64 => "sparc64-linux-gnu-",
            Self::Aarch64 => "aarch64-linux-gnu-",
            Self::RiscV64 => "riscv64-linux-gnu-",
        }
    }
}

/// A family of compilers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// GCC: gcc, g++, gfortran.
    Gcc,
    /// LLVM: clang, clang++.
    Clang,
    /// GCC's objects linked with LLVM's libomp.
    GccLibomp,
}

/// The language of a source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// C11
    C,
    /// C++
    Cxx,
    /// Fortran
    Fortran,
}

impl Language {
    /// By the file name's extension.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "c" => Some(Self::C),
            "cc" => Some(Self::Cxx),
            "f90" => Some(Self::Fortran),
            _ => None,
        }
    }
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gcc, Self::Clang, Self::GccLibomp];

    /// Its name in directives.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
            Self::GccLibomp => "gcc-libomp",
        }
    }

    /// The OpenMP run-time library its programs are linked with.
    #[must_use]
    pub fn openmp(self) -> &'static str {
        match self {
            Self::Gcc => "libgomp",
            Self::Clang | Self::GccLibomp => "libomp",
        }
    }

    /// Whether programs for `target` can be made: libomp is here as a shared library for the host alone.
    #[must_use]
    pub fn serves(self, target: Target) -> bool {
        self.openmp() == "libgomp" || target == Target::X86_64
    }

    /// The command that compiles `language` for `target`.
    ///
    /// # Errors
    ///
    /// A skip when there is no such compiler here.
    pub fn command(self, language: Language, target: Target) -> Check<String> {
        let base = match (self, language) {
            (Self::Gcc | Self::GccLibomp, Language::C) => "gcc",
            (Self::Gcc | Self::GccLibomp, Language::Cxx) => "g++",
            (Self::Gcc | Self::GccLibomp, Language::Fortran) => "gfortran",
            (Self::Clang, Language::C) => "clang",
            (Self::Clang, Language::Cxx) => "clang++",
            (Self::Clang, Language::Fortran) => {
                return Err(Stop::Skip("no Fortran compiler of LLVM".into()));
            }
        };
        let name = format!("{}{base}", target.prefix());
        need(&name)?;
        if let Some(emulator) = target.emulator() {
            need(emulator)?;
        }
        Ok(name)
    }
}

/// Whether this system's libomp looks for a tool behind itself only (Ubuntu's is linked with `-Bsymbolic-functions`): a program's own tool,
/// and one in a library in front of libomp, are then never started, with us as without.
///
/// # Errors
///
/// As [`libomp`].
pub fn libomp_binds_itself() -> Check<bool> {
    let bytes = std::fs::read(libomp()?.join("libomp.so"))?;
    let bound = instr_rewrite::object::binds_itself(&bytes, b"ompt_start_tool");
    Ok(bound.map_err(|error| error.to_string())?)
}

/// Skips the test unless `program` is in `PATH`.
///
/// # Errors
///
/// A skip when it is not.
pub fn need(program: &str) -> Check {
    if instr_test_needs::installed(program) {
        Ok(())
    } else {
        Err(Stop::Skip(format!("{program} is not installed")))
    }
}

/// The folder of LLVM's `libomp.so`, the newest one.
///
/// # Errors
///
/// A skip when it is not installed.
pub fn libomp() -> Check<PathBuf> {
    let holds = |dir: &PathBuf| dir.join("libomp.so").is_file();
    let mut folders: Vec<PathBuf> = std::fs::read_dir("/usr/lib")?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("llvm-"))
        .map(|entry| entry.path().join("lib"))
        .filter(holds)
        .collect();
    folders.sort();
    folders
        .pop()
        .ok_or_else(|| Stop::Skip("libomp is not installed".into()))
}

/// One way to build a program.
#[derive(Debug, Clone)]
pub struct Build {
    /// Where it will run.
    pub target: Target,
    /// Who compiles it.
    pub family: Family,
    /// In which language.
    pub language: Language,
    /// Further arguments.
    pub flags: Vec<String>,
}

impl Build {
    /// gcc, C, `-g -O1 -fopenmp`.
    #[must_use]
    pub fn openmp(target: Target) -> Self {
        let flags = ["-g", "-O1", "-fopenmp"].map(str::to_owned).to_vec();
        Self {
            target,
            family: Family::Gcc,
            language: Language::C,
            flags,
        }
    }

    /// The same with `flag` added.
    #[must_use]
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// The command line that compiles `sources` into `output`; through `wrapper` when it is given. The plain one finds
    /// `instr/instr.h` by `-I`, the wrapper by itself, and does without the wrapper's own options.
    ///
    /// # Errors
    ///
    /// A skip when the compiler is missing.
    pub fn command(&self, wrapper: Option<&Path>, sources: &[&Path], output: &Path) -> Check<Run> {
        let compiler = self.family.command(self.language, self.target)?;
        let run = match wrapper {
            Some(wrapper) => Run::new(wrapper).arg(compiler),
            None => Run::new(compiler)
                .arg("-I")
                .arg(workspace::root()?.join("runtime/include")),
        };
        let run = run
            .args(self.target.flags())
            .args(sources)
            .arg("-o")
            .arg(output);
        // Libraries named by the flags must come after the sources.
        let own = |flag: &&String| wrapper.is_none() && flag.starts_with("--instr-");
        Ok(run.args(self.flags.iter().filter(|flag| !own(flag))))
    }

    /// Compiles plainly.
    ///
    /// # Errors
    ///
    /// When the compiler fails or is missing.
    pub fn plain(&self, sources: &[&Path], output: &Path) -> Check<Outcome> {
        self.build(None, sources, output)
    }

    /// Compiles with `instr-cc`.
    ///
    /// # Errors
    ///
    /// When it fails or the compiler is missing.
    pub fn traced(&self, sources: &[&Path], output: &Path) -> Check<Outcome> {
        self.build(Some(&tools()?.instr_cc), sources, output)
    }

    /// Compiles and links in one command, but for [`Family::GccLibomp`], whose link must not see `-fopenmp` (it means libgomp).
    fn build(&self, wrapper: Option<&Path>, sources: &[&Path], output: &Path) -> Check<Outcome> {
        if self.family != Family::GccLibomp {
            return self.command(wrapper, sources, output)?.succeed();
        }
        let object = output.with_extension("o");
        let compiled = self.command(wrapper, sources, &object)?.arg("-c");
        let compiled = compiled.succeed()?;
        let mut link = self.clone();
        link.flags.retain(|flag| flag != "-fopenmp");
        let library = libomp()?;
        let libraries = [format!("-L{}", library.display()), "-lomp".to_owned()];
        link.flags.extend(libraries);
        let mut linked = link.command(wrapper, &[&object], output)?.succeed()?;
        linked.stderr.splice(0..0, compiled.stderr);
        Ok(linked)
    }
}
