//! Runs one command in a process group of its own: clean environment, time limit, everything it printed.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use instr_tests::process::Status;

/// What is read of a program's output, at most.
const OUTPUT_LIMIT: u64 = 4 << 20;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself or by a signal.
    Status(Status),
    /// Killed, because it took longer.
    TimedOut(Duration),
}

impl End {
    /// Exit status 0.
    pub const SUCCESS: Self = Self::Status(Status::Code(0));
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(Status::Code(code)) => write!(f, "exit status {code}"),
            Self::Status(Status::Signal(signal)) => write!(f, "killed by signal {signal}"),
            Self::TimedOut(limit) => write!(f, "did not end within {} s", limit.as_secs()),
        }
    }
}

/// What a command left behind.
#[derive(Debug, Clone)]
pub struct Ended {
    /// How it ended.
    pub end: End,
    /// Standard output and standard error in the order in which they were written.
    pub output: Vec<u8>,
    /// How long it took.
    pub time: Duration,
}

impl Ended {
    /// Its output as text, the first part only.
    #[must_use]
    pub fn text(&self) -> String {
        const SHOWN: usize = 1500;
        let text = String::from_utf8_lossy(&self.output);
        match text.char_indices().nth(SHOWN) {
            Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
            None => text.into_owned(),
        }
    }
}

/// A command line being put together.
#[derive(Debug, Clone)]
pub struct Call {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: PathBuf,
    limit: Duration,
}

impl Call {
    /// A call of `program` in `dir`.
    pub fn new(program: impl AsRef<OsStr>, dir: &Path, limit: Duration) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            dir: dir.to_owned(),
            limit,
        }
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I: IntoIterator<Item: AsRef<OsStr>>>(mut self, args: I) -> Self {
        let args = args.into_iter().map(|arg| arg.as_ref().to_owned());
        self.args.extend(args);
        self
    }

    /// Sets an environment variable; there are no others but `PATH`, `HOME`, `LC_ALL` and `INSTR_CACHE`.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        let pair = (key.as_ref().to_owned(), value.as_ref().to_owned());
        self.env.push(pair);
        self
    }

    /// The command line as one would type it.
    #[must_use]
    pub fn shown(&self) -> String {
        let pairs = self
            .env
            .iter()
            .map(|(key, value)| format!("{}={}", key.to_string_lossy(), value.to_string_lossy()));
        let words = std::iter::once(&self.program).chain(&self.args);
        let words = words.map(|word| word.to_string_lossy().into_owned());
        pairs.chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Runs it to its end or to its time limit. What it printed goes through the file `dir/NAME.log`.
    ///
    /// # Errors
    ///
    /// When it cannot be started or `dir` cannot be written.
    pub fn run(&self, name: &str) -> std::io::Result<Ended> {
        let log = self.dir.join(name).with_extension("log");
        // Appended: both descriptors write behind each other, as on a terminal.
        let open = || OpenOptions::new().append(true).create(true).open(&log);
        let _ = std::fs::remove_file(&log);
        let (stdout, stderr) = (open()?, open()?);
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.dir)
            .env_clear()
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0);
        for key in ["PATH", "HOME", "INSTR_CACHE"] {
            command.envs(std::env::var_os(key).map(|value| (key, value)));
        }
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        let begin = Instant::now();
        let mut child = command.spawn()?;
        let end = wait(&mut child, begin, self.limit)?;
        let time = begin.elapsed();
        let mut output = Vec::new();
        std::fs::File::open(&log)?
            .take(OUTPUT_LIMIT)
            .read_to_end(&mut output)?;
        Ok(Ended { end, output, time })
    }
}

/// Waits for `child`; kills its group at the end, for its children too.
fn wait(child: &mut Child, begin: Instant, limit: Duration) -> std::io::Result<End> {
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = child.try_wait()? {
            kill_group(child);
            return Ok(End::Status(status.into()));
        }
        if begin.elapsed() >= limit {
            kill_group(child);
            child.wait()?;
            return Ok(End::TimedOut(limit));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

fn kill_group(child: &Child) {
    if let Ok(id) = libc::pid_t::try_from(child.id()) {
        // SAFETY: kill() touches no memory of ours. The group is the child's own (process_group(0)); no member left is no error here.
        unsafe { libc::kill(-id, libc::SIGKILL) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Ended {
        let dir = tempfile::tempdir().expect("a folder");
        let call = Call::new("sh", dir.path(), limit).args(["-c", script]);
        call.run("test").expect("sh runs")
    }

    #[test]
    fn output_is_kept_in_order_and_the_end_is_told() {
        let ended = shell(
            "echo a; echo b >&2; echo c; exit 3",
            Duration::from_secs(20),
        );
        assert_eq!(ended.end, End::Status(Status::Code(3)));
        assert_eq!(ended.output, b"a\nb\nc\n");
        let killed = shell("kill -SEGV $$", Duration::from_secs(20));
        assert_eq!(killed.end, End::Status(Status::Signal(libc::SIGSEGV)));
    }

    #[test]
    fn what_takes_too_long_is_killed_with_its_children() {
        let limit = Duration::from_millis(300);
        let begin = Instant::now();
        let ended = shell("sleep 50 & sleep 50", limit);
        assert_eq!(ended.end, End::TimedOut(limit));
        assert!(begin.elapsed() < Duration::from_secs(20));
    }
}
