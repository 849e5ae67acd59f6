//! Environments with the package, and a folder for each test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use instr_tests::outcome::{Check, Stop, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use serde_json::Value;
use tempfile::TempDir;

/// Debian's Python, which the set-up installs; others are releases that pyenv may have.
pub(super) const DEBIAN: &str = "debian";

pub(super) fn pyenv(release: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    let versions = Path::new(&home).join(".pyenv/versions").read_dir().ok()?;
    let is_of = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(release)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let mut found: Vec<_> = versions
        .flatten()
        .map(|entry| entry.path())
        .filter(is_of)
        .collect();
    found.sort();
    Some(found.pop()?.join("bin/python")).filter(|python| python.is_file())
}

/// Environments with the package, made once; they go with the test program.
static MADE: Mutex<BTreeMap<&str, Check<PathBuf>>> = Mutex::new(BTreeMap::new());

/// The interpreter of an environment with the package.
pub(super) fn python(release: &'static str) -> Check<PathBuf> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = made.entry(release).or_insert_with(|| make(release));
    entry.clone()
}

/// As a newcomer does it, but for what pip would download: setuptools, which is the system's.
pub(super) fn make(release: &'static str) -> Check<PathBuf> {
    need("gcc")?;
    let base = match release {
        DEBIAN => PathBuf::from("/usr/bin/python3"),
        _ => pyenv(release).ok_or("it was there")?,
    };
    let tools_of = "import setuptools, wheel, sysconfig, os; print(os.path.dirname(os.path.dirname(setuptools.__file__)), end='')";
    let probe = Run::new("/usr/bin/python3")
        .args(["-c", tools_of])
        .output()?;
    let header = Run::new(&base)
        .args(["-c", "import os, sysconfig; print(os.path.exists(sysconfig.get_path('include') + '/Python.h'), end='')"])
        .output()?;
    if probe.text().is_empty() || header.text() != "True" {
        let why = "Python's header files, setuptools or wheel are not installed (scripts/setup.sh)";
        return Err(Stop::Skip(why.into()));
    }
    let dir: &'static TempDir =
        Box::leak(Box::new(workspace::work_dir(&format!("python-{release}"))?));
    let root = workspace::root()?;
    // The build writes beside its sources.
    for folder in ["python", "runtime"] {
        Run::words(["cp", "-r"])
            .arg(root.join(folder))
            .arg(dir.path())
            .succeed()?;
    }
    let environment = dir.path().join("venv");
    Run::new(&base)
        .args(["-m", "venv"])
        .arg(&environment)
        .succeed()?;
    let python = environment.join("bin/python");
    let pip = [
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
    ];
    let mut install = Run::new(&python).args(pip).arg(dir.path().join("python"));
    if release == DEBIAN {
        install = install.env("PYTHONPATH", probe.text());
    } else {
        let packages = wheels()?;
        Run::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "-q",
                "-U",
                "--no-index",
                "--disable-pip-version-check",
                "--find-links",
            ])
            .arg(packages)
            .args(["setuptools", "wheel"])
            .succeed()?;
        // One runtime that is built is enough: it does not depend on the interpreter.
        let folder = dir.path().join("preload");
        let mut option = std::ffi::OsString::from("--instr-preload=");
        option.push(&folder);
        Run::new(&tools()?.instr_cc).arg(option).succeed()?;
        install = install.env("INSTR_PYTHON_RUNTIME", folder.join("libinstr.so.2"));
    }
    install.succeed()?;
    Ok(python)
}

/// Where the set-up puts setuptools and wheel for other Pythons than Debian's.
pub(super) fn wheels() -> Check<PathBuf> {
    let profile = workspace::profile_dir()?;
    let folder = profile.parent().unwrap_or(&profile).join("python-wheels");
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Stop::Skip(
            "setuptools for other Pythons is not there (scripts/setup.sh)".into(),
        )),
    }
}

pub(super) struct Place {
    pub(super) dir: TempDir,
    pub(super) python: PathBuf,
    pub(super) programs: PathBuf,
}

impl Place {
    pub(super) fn new(release: &'static str) -> Check<Self> {
        let python = python(release)?;
        Ok(Self {
            dir: workspace::work_dir("python")?,
            python,
            programs: workspace::root()?.join("tests/python"),
        })
    }

    pub(super) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(super) fn write(&self, name: &str, text: &str) -> Check<PathBuf> {
        let path = self.at(name);
        std::fs::write(&path, text)?;
        Ok(path)
    }

    pub(super) fn run(&self, words: &[&str]) -> Run {
        Run::new(&self.python).args(words).dir(self.dir.path())
    }

    /// `python -m instr -o out.instr WORDS`.
    pub(super) fn recorded(&self, words: &[&str]) -> Run {
        self.run(&[&["-m", "instr", "-o", "out.instr"], words].concat())
    }

    pub(super) fn program(&self, name: &str) -> String {
        self.programs.join(name).display().to_string()
    }

    pub(super) fn summary(&self, trace: &str) -> Check<Value> {
        let run = Run::new(&tools()?.instr).args(["summary", "--json"]);
        let json = run.arg(self.at(trace)).succeed()?;
        serde_json::from_str(&json.text()).map_err(|error| Stop::Fail(error.to_string()))
    }

    /// Calls of each of the program's functions, of all processes.
    pub(super) fn calls(&self, trace: &str) -> Check<BTreeMap<String, u64>> {
        let mut found = BTreeMap::new();
        count_calls(&self.summary(trace)?, &mut found);
        found.retain(|name, _| is_of_the_program(name));
        Ok(found)
    }
}

/// Whether it is none of what the interpreter and asyncio do beneath: how often garbage is collected, what is imported at the start and which tasks
/// asyncio makes at the end depends on the release.
pub(super) fn is_of_the_program(name: &str) -> bool {
    let beneath = ["import ", "garbage collection", "task ", "await "];
    !beneath.iter().any(|prefix| name.starts_with(prefix))
}

/// What a JSON document says of functions, wherever in it.
pub(super) fn count_calls(value: &Value, found: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(fields) => {
            if let (Some(name), Some(calls)) = (fields.get("name"), fields.get("calls"))
                && fields.contains_key("own_ns")
            {
                let name = name.as_str().unwrap_or_default().to_owned();
                *found.entry(name).or_default() += calls.as_u64().unwrap_or(0);
            }
            fields.values().for_each(|value| count_calls(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| count_calls(value, found)),
        _ => {}
    }
}

pub(super) fn text(outcome: &instr_tests::process::Outcome, expected: &str) -> Check {
    ensure(outcome.text() == expected, || {
        format!("expected {expected:?} of\n{outcome}")
    })
}

/// The Python of the tests' own packages, which has these.
pub(crate) fn needs(packages: &str) -> Check<PathBuf> {
    let python = crate::perfetto::python()?;
    let probe = Run::new(&python)
        .args(["-c", &format!("import {packages}")])
        .output()?;
    match probe.errors().is_empty() {
        true => Ok(python),
        false => Err(Stop::Skip(format!(
            "a Python package of {packages} is not installed (scripts/setup.sh)"
        ))),
    }
}

/// The folder of these packages; Debian's Python takes them too.
pub(super) fn packages() -> Check<String> {
    let folder = "import sysconfig; print(sysconfig.get_paths()['purelib'], end='')";
    let python = crate::perfetto::python()?;
    Ok(Run::new(python).args(["-c", folder]).succeed()?.text())
}
