//! What `make install` needs of the sources, copied, so that tests may build nothing, something old, or something new in it.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use instr_tests::outcome::Check;
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::tools;
use instr_tests::workspace;

/// The programs that `make` builds.
pub(crate) const TOOLS: [&str; 3] = ["instr", "instr-cc", "instr-rewrite"];

const PARTS: [&str; 13] = [
    "bindings",
    "python",
    "Makefile",
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs",
    "packaging",
    "scripts",
    "runtime/include",
];

/// Sources of their own in a folder.
pub(crate) struct Clone {
    /// Their root.
    pub(crate) root: PathBuf,
}

impl Clone {
    /// Without anything built.
    pub(crate) fn new(dir: &Path) -> Check<Self> {
        let (from, root) = (workspace::root()?, dir.join("clone"));
        for part in PARTS {
            copy(&from.join(part), &root.join(part))?;
        }
        for example in ["README.md", "make", "cmake", "sparselu"] {
            let part = Path::new("examples").join(example);
            copy(&from.join(&part), &root.join(part))?;
        }
        Ok(Self { root })
    }

    /// With the tools under test as what `make` built.
    pub(crate) fn with_tools(dir: &Path) -> Check<Self> {
        let clone = Self::new(dir)?;
        let tools = tools()?;
        let mut files = Vec::new();
        for tool in [&tools.instr, &tools.instr_cc, &tools.instr_rewrite] {
            files.push(stripped(tool)?);
        }
        clone.built(&clone.root.join("target"), &files)?;
        Ok(clone)
    }

    /// With small programs in place of the tools: for tests of where files go.
    pub(crate) fn with_small_programs(dir: &Path) -> Check<Self> {
        let clone = Self::new(dir)?;
        clone.build_small(&clone.root.join("target"))?;
        Ok(clone)
    }

    /// As `make` with this target folder, but for the compiling.
    pub(crate) fn build_small(&self, target: &Path) -> Check {
        let program = Path::new("/bin/true");
        self.built(target, &[program; 3])
    }

    fn built(&self, target: &Path, files: &[impl AsRef<Path>]) -> Check {
        let bin = target.join("release");
        std::fs::create_dir_all(&bin)?;
        let source = self.root.join("Cargo.toml");
        for (name, file) in TOOLS.into_iter().zip(files) {
            std::fs::copy(file, bin.join(name))?;
            let list = |path: &Path| path.display().to_string().replace(' ', "\\ ");
            let text = format!("{}: {}\n", list(&bin.join(name)), list(&source));
            std::fs::write(bin.join(name).with_extension("d"), text)?;
        }
        let end = Run::new(self.root.join("scripts/links.sh"));
        end.env("CARGO_TARGET_DIR", target)
            // What instr run preloads takes some seconds to compile.
            .env("INSTR_CACHE", workspace::home()?.join(".cache/instr"))
            .succeed()?;
        Ok(())
    }

    /// `make WORDS…` in it, in an environment as bare as sudo's.
    pub(crate) fn make<I: IntoIterator<Item: AsRef<std::ffi::OsStr>>>(&self, words: I) -> Run {
        Run::words(["make", "--no-print-directory"])
            .args(words)
            .dir(&self.root)
    }

    /// `make install PREFIX=…`, done.
    pub(crate) fn install(&self, prefix: &Path) -> Check<Outcome> {
        let prefix = format!("PREFIX={}", prefix.display());
        self.make(["install", prefix.as_str()]).succeed()
    }
}

/// The tool as `make` has it, without names of its own and lines: what is tested has them, and they are two thirds of it.
fn stripped(tool: &Path) -> Check<PathBuf> {
    let file = tool.metadata()?;
    let name = tool.file_name().ok_or("a tool without a name")?;
    let folder = format!("{}-{}.{}", file.len(), file.mtime(), file.mtime_nsec());
    let folder = workspace::scratch()?.join("stripped").join(folder);
    let to = folder.join(name);
    if !to.exists() {
        std::fs::create_dir_all(&folder)?;
        let new = tempfile::NamedTempFile::new_in(&folder)?.into_temp_path();
        std::fs::copy(tool, &new)?; // with its mode
        Run::new("strip").arg(&new).succeed()?;
        new.persist(&to).map_err(|error| error.error)?;
    }
    Ok(to)
}

/// Copies a file or a folder.
pub(crate) fn copy(from: &Path, to: &Path) -> Check {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let built = ["--exclude=build*", "--exclude=*.instr"];
    if !from.is_dir() {
        std::fs::copy(from, to)?;
        return Ok(());
    }
    std::fs::create_dir_all(to)?;
    let script = "tar -C \"$1\" \"$3\" \"$4\" -cf - . | tar -C \"$2\" -xf -";
    let run = Run::words(["sh", "-c", script, "sh"]).arg(from).arg(to);
    run.args(built).succeed()?;
    Ok(())
}
