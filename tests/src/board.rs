//! Programs for the board of `tests/board`: RTEMS' services on another system.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::callgrind;
use crate::outcome::{Check, ensure};
use crate::process::{Outcome, Run, Status};
use crate::toolchain;
use crate::workspace;

/// Where a board's programs really run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// x86-64: little-endian, 64 bits.
    X86_64,
    /// SPARC V8 under an emulator: big-endian, 32 bits.
    Sparc32,
}

impl Host {
    /// Both.
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Sparc32];

    /// Its name in a test's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Sparc32 => "sparc",
        }
    }

    /// The compiler, and its options.
    #[must_use]
    pub fn compiler(self) -> &'static [&'static str] {
        match self {
            Self::X86_64 => &["gcc"],
            Self::Sparc32 => &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=v8", "-static"],
        }
    }

    /// Runs a program there.
    #[must_use]
    pub fn run(self, program: &Path) -> Run {
        match self {
            Self::X86_64 => Run::new(program),
            Self::Sparc32 => Run::new("qemu-sparc32plus").arg(program),
        }
    }
}

/// A folder with a compiler for the board.
pub struct Board {
    /// The folder.
    pub dir: TempDir,
    host: Host,
    compiler: PathBuf,
    /// The folder with the board's headers.
    kernel: PathBuf,
    objects: String,
    /// The board's own heap, linked only where asked for.
    heap: PathBuf,
}

/// The compiler for the board on `host`. It has one place for all tests: a compiler is known by its path, and the runtime is built once for each.
fn compiler_of(host: Host) -> Check<PathBuf> {
    let original = workspace::root()?.join("tests/board/board-gcc");
    let folder = workspace::scratch()?.join("board");
    let compiler = folder.join(format!("board-gcc-{}", host.name()));
    let wanted = std::fs::read(&original)?;
    if std::fs::read(&compiler).ok() != Some(wanted) {
        std::fs::create_dir_all(&folder)?;
        let new = tempfile::NamedTempFile::new_in(&folder)?.into_temp_path();
        std::fs::copy(&original, &new)?; // with its mode
        new.persist(&compiler).map_err(|error| error.error)?;
    }
    Ok(compiler)
}

/// A program of a few C files, for [`Board::build_sources`].
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// What is compiled in.
    pub config: &'a str,
    /// Below `tests/`.
    pub files: &'a [&'a str],
    /// Options of `instr-cc` and of the compiler.
    pub flags: &'a [&'a str],
    /// Whether the board's own heap takes the place of the C library's.
    pub heap: bool,
}

impl Board {
    /// Compiles the board for `host`.
    ///
    /// # Errors
    ///
    /// When its compiler is missing or refuses the board.
    pub fn new(host: Host, name: &str) -> Check<Self> {
        let root = workspace::root()?;
        let dir = workspace::work_dir(name)?;
        let sources = root.join("tests/board");
        let compiler = compiler_of(host)?;
        let mut objects = Vec::new();
        let sources_of_host: &[&str] = match host {
            Host::X86_64 => &["heap", "board", "devices", "interrupts", "tee"],
            Host::Sparc32 => &["heap", "board", "devices", "interrupts", "tee", "copies"],
        };
        for source in sources_of_host {
            let object = dir.path().join(source).with_extension("o");
            Run::words(host.compiler())
                .args(["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror"])
                .arg("-I")
                .arg(root.join("runtime"))
                .arg("-I")
                .arg(sources.join("include"))
                .arg("-c")
                .arg(sources.join(source).with_extension("c"))
                .arg("-o")
                .arg(&object)
                .succeed()?;
            objects.push(object.display().to_string());
        }
        let heap = PathBuf::from(objects.remove(0));
        Ok(Self {
            dir,
            host,
            compiler,
            kernel: sources,
            objects: objects.join(" "),
            heap,
        })
    }

    /// A path in the board's folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The board's compiler, to compile or to ask.
    #[must_use]
    pub fn compiler(&self) -> Run {
        self.call(&self.objects)
    }

    /// The board's compiler, to link a program that has no sink of its own.
    #[must_use]
    pub fn linker(&self) -> Run {
        self.call(&self.without_tee())
    }

    fn call(&self, objects: &str) -> Run {
        Run::new(&self.compiler)
            .arg(format!("-B{}", self.kernel.display()))
            .arg("-qrtems")
            .env("BOARD_CC", self.host.compiler().join(" "))
            .env("BOARD_OBJECTS", objects)
            .env("BOARD_LIBS", "-latomic")
    }

    fn without_tee(&self) -> String {
        let objects = self.objects.split(' ').filter(|o| !o.ends_with("tee.o"));
        objects.collect::<Vec<&str>>().join(" ")
    }

    /// Builds a program of `examples/sparselu` with a configuration compiled in.
    ///
    /// # Errors
    ///
    /// When it does not build, or was linked plainly.
    pub fn build(&self, config: &str, program: &str) -> Check<PathBuf> {
        self.build_with(config, program, &self.objects, "")
    }

    /// The same without a sink of the program's own, and with options for the linker.
    ///
    /// # Errors
    ///
    /// As [`Board::build`].
    pub fn build_plain_sinks(&self, config: &str, program: &str, flags: &str) -> Check<PathBuf> {
        self.build_with(config, program, &self.without_tee(), flags)
    }

    fn build_with(
        &self,
        config: &str,
        program: &str,
        objects: &str,
        flags: &str,
    ) -> Check<PathBuf> {
        let root = workspace::root()?;
        let tools = toolchain::tools()?;
        let settings = self.path("instr.toml");
        std::fs::write(&settings, config)?;
        let build = self.path("build");
        let cc = format!(
            "{} {} --instr-verbose --instr-config={}",
            tools.instr_cc.display(),
            self.compiler.display(),
            settings.display()
        );
        let made = Run::words(["make", "-s", "-B", "-C"])
            .arg(root.join("examples/sparselu"))
            .arg(format!("CC={cc}"))
            .arg(format!("BUILD={}", build.display()))
            .arg(format!(
                "LDFLAGS=-B{} -qrtems {flags}",
                self.kernel.display()
            ))
            .arg(build.join(program))
            .env("BOARD_CC", self.host.compiler().join(" "))
            .env("BOARD_OBJECTS", objects)
            .env("BOARD_LIBS", "-latomic")
            .succeed()?;
        ensure(made.errors().contains("instrumented: "), || {
            format!("it was linked plainly: {}", made.errors())
        })?;
        Ok(build.join(program))
    }

    /// Builds a program of C files with a configuration compiled in.
    ///
    /// # Errors
    ///
    /// When it does not build, or was linked plainly.
    pub fn build_sources(&self, program: Sources<'_>) -> Check<PathBuf> {
        let root = workspace::root()?;
        let (settings, built) = (self.path("instr.toml"), self.path("program"));
        std::fs::write(&settings, program.config)?;
        let heap = format!("{} {}", self.heap.display(), self.without_tee());
        let objects = if program.heap {
            heap
        } else {
            self.without_tee()
        };
        let made = Run::new(&toolchain::tools()?.instr_cc)
            .arg(&self.compiler)
            .arg("--instr-verbose")
            .arg(format!("--instr-config={}", settings.display()))
            .arg(format!("-B{}", self.kernel.display()))
            .args(["-qrtems", "-std=gnu11", "-O1", "-g", "-fno-builtin"])
            .args(program.flags)
            .args(program.files.iter().map(|f| root.join("tests").join(f)))
            .arg("-o")
            .arg(&built)
            .env("BOARD_CC", self.host.compiler().join(" "))
            .env("BOARD_OBJECTS", objects)
            .env("BOARD_LIBS", "-latomic")
            .succeed()?;
        ensure(made.errors().contains("instrumented: "), || {
            format!("it was linked plainly: {}", made.errors())
        })?;
        Ok(built)
    }

    /// Runs a program on four threads: its console, image, files and report are in the board's folder.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub fn run(&self, program: &Path, more: &[(&str, &str)]) -> Check<Outcome> {
        self.run_with(program, ["12", "10"], more)
    }

    /// The same with other arguments.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub fn run_with(
        &self,
        program: &Path,
        arguments: [&str; 2],
        more: &[(&str, &str)],
    ) -> Check<Outcome> {
        self.prepare(program, &arguments, more).succeed()
    }

    /// The same with any arguments.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub fn run_words(&self, program: &Path, arguments: &[&str]) -> Check<Outcome> {
        self.prepare(program, arguments, &[]).succeed()
    }

    /// The same with other arguments, up to a fatal error (`BOARD_FATAL`): `when` it happens.
    ///
    /// # Errors
    ///
    /// When it ends otherwise.
    pub fn run_fatal(&self, program: &Path, arguments: [&str; 2], when: &str) -> Check {
        let end = self.prepare(program, &arguments, &[("BOARD_FATAL", when)]);
        let end = end.output()?;
        ensure(end.status == Status::Code(3), || {
            format!("{:?}: {}", end.status, end.errors())
        })
    }

    /// The instructions of a program that was built for this machine.
    ///
    /// # Errors
    ///
    /// When it fails.
    pub fn instructions(&self, program: &Path, arguments: &[&str]) -> Check<u64> {
        let run = callgrind::valgrind(self.dir.path()).arg(program);
        callgrind::instructions(self.on_board(run.args(arguments)))
    }

    fn prepare(&self, program: &Path, arguments: &[&str], more: &[(&str, &str)]) -> Run {
        for old in ["console", "image", "report"] {
            let _ = std::fs::remove_file(self.path(old));
        }
        let _ = std::fs::remove_dir_all(self.path("files.instr"));
        let run = self.on_board(self.host.run(program).args(arguments));
        more.iter()
            .fold(run, |run, (name, value)| run.env(name, value))
    }

    fn on_board(&self, run: Run) -> Run {
        run.env("OMP_NUM_THREADS", "4")
            .env("INSTR_TRACE", self.path("files.instr"))
            .env("BOARD_CONSOLE", self.path("console"))
            .env("BOARD_IMAGE", self.path("image"))
            .env("BOARD_REPORT", self.path("report"))
            .env("BOARD_NOISE", "1")
    }

    /// Extracts a trace.
    ///
    /// # Errors
    ///
    /// When `instr extract` refuses.
    pub fn extract(&self, from: &str, to: &str) -> Check<Outcome> {
        let _ = std::fs::remove_dir_all(self.path(to));
        Run::new(&toolchain::tools()?.instr)
            .arg("extract")
            .arg(self.path(from))
            .arg("-o")
            .arg(self.path(to))
            .succeed()
    }
}

/// All files of a directory, by name.
///
/// # Errors
///
/// When it cannot be read.
pub fn files(dir: &Path) -> Check<Vec<(String, Vec<u8>)>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        files.push((
            entry.file_name().to_string_lossy().into_owned(),
            std::fs::read(entry.path())?,
        ));
    }
    files.sort();
    Ok(files)
}
