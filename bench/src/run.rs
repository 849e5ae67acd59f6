//! Running programs and reading what they print.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Where things are and how long to measure.
#[derive(Debug)]
pub(crate) struct Bench {
    /// Folder of the tools.
    pub(crate) bin: PathBuf,
    /// The project's folder.
    pub(crate) root: PathBuf,
    /// Scratch folder.
    pub(crate) work: PathBuf,
    /// Folder of older tools.
    pub(crate) before: Option<PathBuf>,
    /// Short and imprecise.
    pub(crate) quick: bool,
}

impl Bench {
    /// One of our tools.
    pub(crate) fn tool(&self, name: &str) -> Command {
        Command::new(self.bin.join(name))
    }

    /// A path in the scratch folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.work.join(name)
    }

    /// A file of this folder (C sources of the benchmarks).
    pub(crate) fn source(&self, name: &str) -> PathBuf {
        self.root.join("bench").join(name)
    }

    /// `long`, or `short` with `--quick`.
    pub(crate) fn choose<T>(&self, long: T, short: T) -> T {
        if self.quick { short } else { long }
    }

    /// `make` in one of the examples.
    pub(crate) fn make_example(&self, name: &str, variables: &[(&str, &OsStr)]) -> Result<()> {
        let mut make = Command::new("make");
        make.arg("-s")
            .arg("-C")
            .arg(self.root.join("examples").join(name));
        for (variable, value) in variables {
            let mut word = std::ffi::OsString::from(variable);
            word.push("=");
            word.push(value);
            make.arg(word);
        }
        output(&mut make).map(drop)
    }

    /// The name of a scratch folder that is not there (any more).
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name);
        if path.exists() {
            std::fs::remove_dir_all(&path)
                .with_context(|| format!("cannot remove {}", path.display()))?;
        }
        Ok(path)
    }
}

/// Fails unless a program that should have been traced left a trace: otherwise it would look as if tracing cost nothing.
pub(crate) fn ensure_traced(trace: &Path) -> Result<()> {
    if !trace.join("metadata").is_file() {
        bail!(
            "the program left no trace in {}: it was linked without the runtime",
            trace.display()
        );
    }
    Ok(())
}

/// What a program printed.
#[derive(Debug)]
pub(crate) struct Output {
    /// On standard output.
    pub(crate) stdout: String,
    /// On standard error.
    pub(crate) stderr: String,
}

/// Runs a program to its end.
///
/// # Errors
/// When it cannot be started or does not end with status 0; what it printed is in the message.
pub(crate) fn output(command: &mut Command) -> Result<Output> {
    let shown = format!("{command:?}");
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {shown}"))?;
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        bail!("{shown}: {}\n{stdout}{stderr}", output.status);
    }
    Ok(Output { stdout, stderr })
}

/// The lines `NAME MEDIAN MINIMUM` that the C programs print: both times in ns.
pub(crate) fn timings(text: &str) -> BTreeMap<String, (f64, f64)> {
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((
                words.next()?.to_owned(),
                (words.next()?.parse().ok()?, words.next()?.parse().ok()?),
            ))
        })
        .collect()
}

/// Time and memory of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Wall-clock time.
    pub(crate) time: Duration,
    /// Processor time, of the program and the system on its behalf.
    pub(crate) cpu: Duration,
    /// Largest resident set, in bytes.
    pub(crate) peak: u64,
}

/// Runs a program to its end and says what it took. Its standard error is shown when it fails.
///
/// # Errors
/// As [`output`].
pub(crate) fn cost(command: &mut Command) -> Result<Cost> {
    cost_of(command.stdin(Stdio::null()).stdout(Stdio::null()))
}

/// The same with standard input from a file and standard output to one.
///
/// # Errors
/// As [`cost`], and when one of the files cannot be opened.
pub(crate) fn cost_between(command: &mut Command, input: &Path, out: &Path) -> Result<Cost> {
    let input = File::open(input).with_context(|| format!("cannot read {}", input.display()))?;
    let out = File::create(out).with_context(|| format!("cannot write {}", out.display()))?;
    cost_of(command.stdin(input).stdout(out))
}

/// The same with standard output to a file, of a program that ends with this status.
///
/// # Errors
/// As [`cost`], and when the file cannot be opened.
pub(crate) fn cost_into(command: &mut Command, out: &Path, status: i32) -> Result<Cost> {
    let out = File::create(out).with_context(|| format!("cannot write {}", out.display()))?;
    cost_of_status(command.stdin(Stdio::null()).stdout(out), status)
}

fn cost_of(command: &mut Command) -> Result<Cost> {
    cost_of_status(command, 0)
}

fn cost_of_status(command: &mut Command, wanted: i32) -> Result<Cost> {
    let shown = format!("{command:?}");
    let begin = Instant::now();
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {shown}"))?;
    let mut stderr = String::new();
    if let Some(mut pipe) = child.stderr.take() {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes)
            .with_context(|| format!("cannot read from {shown}"))?;
        stderr = String::from_utf8_lossy(&bytes).into_owned();
    }
    let (status, usage) =
        wait_with_usage(child.id()).with_context(|| format!("cannot wait for {shown}"))?;
    let time = begin.elapsed();
    if status.code() != Some(wanted) {
        bail!("{shown}: {status}\n{stderr}");
    }
    let seconds = |time: libc::timeval| {
        Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
            + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    let peak = u64::try_from(usage.ru_maxrss)? * 1024; // the kernel counts in KiB
    Ok(Cost { time, cpu, peak })
}

/// Waits for a child of ours; its status and what it used.
fn wait_with_usage(pid: u32) -> Result<(ExitStatus, libc::rusage)> {
    let pid = libc::pid_t::try_from(pid)?;
    let mut status = 0;
    // SAFETY: `rusage` is a plain struct of integers, for which all zeroes is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: both pointers are to live variables of the right type; `pid` is a child that nobody else waits for.
        let waited = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        if waited == pid {
            return Ok((ExitStatus::from_raw(status), usage));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error.into());
        }
    }
}

/// Sizes of all files below a folder, in bytes.
pub(crate) fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in
        std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?
    {
        let entry = entry?;
        let data = entry.metadata()?;
        total += if data.is_dir() {
            folder_bytes(&entry.path())?
        } else {
            data.len()
        };
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_timings_and_skips_other_lines() {
        let timings = timings("floor 12.5 11.0\nnoise\nevent 14.0 13.5\n");
        assert_eq!(timings.len(), 2);
        assert_eq!(timings["event"], (14.0, 13.5));
    }

    #[test]
    fn failing_program_is_an_error_with_its_words() {
        let error = output(Command::new("sh").args(["-c", "echo reason >&2; exit 3"])).unwrap_err();
        assert!(error.to_string().contains("reason"));
        assert!(
            cost(Command::new("sh").args(["-c", "echo reason >&2; exit 3"]))
                .unwrap_err()
                .to_string()
                .contains("reason")
        );
    }

    #[test]
    fn peak_memory_is_in_bytes() {
        let cost = cost(&mut Command::new("true")).unwrap();
        assert!(cost.peak > 100_000 && cost.peak < 1 << 30, "{cost:?}");
    }
}
