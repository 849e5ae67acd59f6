//! Running programs: clean environment, time limit, everything captured and shown on failure.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use instr_test_needs::in_path;

use crate::outcome::{Check, Stop, ensure};
use crate::workspace;

/// How often a busy file is tried again, and how long that waits.
const BUSY_TRIES: u32 = 20;
const BUSY_WAIT: Duration = Duration::from_millis(50);

/// Time given to one program; the machines of a busy farm are slow, an endless loop is endless.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this status.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

impl From<ExitStatus> for Status {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Signal(0),
        }
    }
}

/// A command line being put together.
#[derive(Debug, Clone)]
pub struct Run {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    dir: Option<PathBuf>,
}

impl Run {
    /// A run of `program`, looked up in `PATH` when it is a bare name.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            env: Vec::new(),
            dir: None,
        }
    }

    /// A run of `words[0]` with the rest as arguments.
    pub fn words<I: IntoIterator<Item: AsRef<OsStr>>>(words: I) -> Self {
        let mut words = words.into_iter();
        let program = words
            .next()
            .map(|word| word.as_ref().to_owned())
            .unwrap_or_default();
        Self::new(program).args(words)
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
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable (the environment is empty but for `PATH`, `HOME`, `LC_ALL`, `INSTR_CACHE`).
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env
            .push((key.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Runs in `dir`.
    #[must_use]
    pub fn dir(mut self, dir: &Path) -> Self {
        self.dir = Some(dir.to_owned());
        self
    }

    /// The command line as one would type it.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.env {
            text += &format!("{}={} ", key.to_string_lossy(), value.to_string_lossy());
        }
        text += &self.program.to_string_lossy();
        for arg in &self.args {
            text += &format!(" {}", arg.to_string_lossy());
        }
        text
    }

    /// Starts it in a process group of its own with its output captured through pipes.
    ///
    /// # Errors
    ///
    /// When the program cannot be started.
    pub fn spawn(&self) -> Check<Child> {
        let file = self.file();
        let mut command = Command::new(file.as_deref().unwrap_or(Path::new(&self.program)));
        command
            .arg0(&self.program)
            .args(&self.args)
            .env_clear()
            .env("LC_ALL", "C")
            .env("HOME", workspace::home()?);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        // One runtime for each compiler serves all tests but those that say where the cache is.
        let places = ["INSTR_CACHE", "XDG_CACHE_HOME", "HOME"];
        let chosen = |(key, _): &(OsString, OsString)| places.iter().any(|place| key == place);
        if let Some(cache) =
            std::env::var_os("INSTR_CACHE").filter(|_| !self.env.iter().any(chosen))
        {
            command.env("INSTR_CACHE", cache);
        }
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        // A file that a test has just written is busy while a child that another thread forked meanwhile has not begun its own program.
        let mut tries = 0;
        loop {
            match command.spawn() {
                Err(error)
                    if error.kind() == ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
                {
                    tries += 1;
                    std::thread::sleep(BUSY_WAIT);
                }
                outcome => {
                    let fail = |error| format!("cannot start `{}`: {error}", self.shown());
                    return outcome.map_err(|error| Stop::Fail(fail(error)));
                }
            }
        }
    }

    /// The file of a program that is a bare name. Where the environment is cleared, the standard library looks for it in a forked child, and to copy
    /// the page tables of a process with all tests took a fifth of the processor time of short ones. `None`: the system looks for it.
    fn file(&self) -> Option<PathBuf> {
        let is_name = !self.program.as_bytes().contains(&b'/');
        let own = self.env.iter().rfind(|(key, _)| key == "PATH");
        let path = match own {
            Some((_, path)) => path.clone(),
            None => std::env::var_os("PATH")?,
        };
        // A relative folder is one of where the program runs.
        let is_absolute = std::env::split_paths(&path).all(|folder| folder.is_absolute());
        (is_name && is_absolute).then(|| in_path(&self.program, &path))?
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be started or does not end within two minutes.
    pub fn output(&self) -> Check<Outcome> {
        let mut child = self.spawn()?;
        let stdout = drain(child.stdout.take());
        let stderr = drain(child.stderr.take());
        let status =
            wait(&mut child).map_err(|why| Stop::Fail(format!("`{}` {why}", self.shown())))?;
        Ok(Outcome {
            shown: self.shown(),
            dir: self.dir.clone(),
            status,
            stdout: collect(stdout),
            stderr: collect(stderr),
        })
    }

    /// Runs it and demands exit status 0.
    ///
    /// # Errors
    ///
    /// As [`Run::output`], and when the status is not 0.
    pub fn succeed(&self) -> Check<Outcome> {
        let outcome = self.output()?;
        ensure(outcome.status == Status::Code(0), || {
            format!("command failed\n{outcome}")
        })?;
        Ok(outcome)
    }
}

type Reader = Option<thread::JoinHandle<Vec<u8>>>;

fn drain(pipe: Option<impl Read + Send + 'static>) -> Reader {
    pipe.map(|mut pipe| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // A read error ends the capture; what came before it is still worth comparing.
            let _ = pipe.read_to_end(&mut bytes);
            bytes
        })
    })
}

fn collect(reader: Reader) -> Vec<u8> {
    reader
        .and_then(|handle| handle.join().ok())
        .unwrap_or_default()
}

/// Waits for `child`; kills its process group when it takes too long.
fn wait(child: &mut Child) -> Result<Status, String> {
    let begin = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.into()),
            Ok(None) if begin.elapsed() < TIME_LIMIT => thread::sleep(pause),
            Ok(None) => {
                let group = format!("-{}", child.id());
                let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
                let _ = child.wait();
                return Err(format!("did not end within {} s", TIME_LIMIT.as_secs()));
            }
            Err(error) => return Err(format!("could not be waited for: {error}")),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// What a program left behind.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Its command line.
    pub shown: String,
    /// The folder it ran in.
    pub dir: Option<PathBuf>,
    /// How it ended.
    pub status: Status,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

impl Outcome {
    /// Standard output as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    #[must_use]
    pub fn errors(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Demands that `traced` ended, printed and complained just as this plain run did.
    ///
    /// # Errors
    ///
    /// When it did not, with both runs shown.
    pub fn same_as(&self, traced: &Self) -> Check {
        let same = self.status == traced.status
            && self.stdout == traced.stdout
            && self.stderr == traced.stderr;
        ensure(same, || {
            format!(
                "the traced run differs from the plain run\n--- plain\n{self}\n--- traced\n{traced}"
            )
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}\nstatus: {:?}", self.shown, self.status)?;
        writeln!(
            f,
            "stdout: {}\nstderr: {}",
            clip(&self.text()),
            clip(&self.errors())
        )?;
        if let Some(dir) = &self.dir {
            writeln!(f, "in {}: {}", dir.display(), listing(dir))?;
        }
        Ok(())
    }
}

/// The first part of a text, enough to see what is wrong.
fn clip(text: &str) -> String {
    const LIMIT: usize = 4000;
    match text.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
        None => text.to_owned(),
    }
}

fn listing(dir: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return "gone".into();
    };
    let mut names: Vec<_> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_status_output_and_signal_are_told_apart() {
        let run = |script: &str| Run::words(["sh", "-c", script]).output().expect("sh runs");
        let exited = run("echo out; echo err >&2; exit 7");
        assert_eq!(
            (exited.status, exited.text(), exited.errors()),
            (Status::Code(7), "out\n".into(), "err\n".into())
        );
        assert_eq!(run("kill -9 $$").status, Status::Signal(9));
        assert!(
            exited
                .same_as(&run("echo out; echo err >&2; exit 7"))
                .is_ok()
        );
        assert!(
            exited
                .same_as(&run("echo out; echo err >&2; exit 6"))
                .is_err()
        );
        assert!(exited.same_as(&run("echo out; exit 7")).is_err());
    }

    #[test]
    fn environment_is_clean() {
        let outcome = Run::words(["sh", "-c", "echo $LC_ALL-$USER-$X"])
            .env("X", "1")
            .output()
            .expect("sh runs");
        assert_eq!(outcome.text(), "C--1\n");
    }
}
