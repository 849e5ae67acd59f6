//! `instr attach`: records who runs on which processor of a process that runs already. The process is neither stopped nor changed.

use std::io;
use std::os::fd::{AsFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use instr_trace::Metadata;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};

use crate::cli::AttachOptions;
use crate::console::{Console, Refusal};
use crate::kernel::{Finished, Obstacle, Owner, Program, Recorder};
use crate::quote::shown;
use crate::run::report::{described, say_series};
use crate::run::{KEPT, check_output, read, say_refused};
use crate::series::Roots;
use crate::why::recorded_name;

/// The flag of threads of the kernel, in the ninth field of `/proc/PID/stat` (`PF_KTHREAD`).
const OF_KERNEL: u64 = 0x0020_0000;

/// Records the process until it ends, the time is over, or a signal comes; then says where the trace is.
///
/// # Errors
///
/// A process that is not there, is the kernel's or may not be observed; a trace that cannot be written.
pub fn run(options: &AttachOptions, console: &mut Console<'_>) -> Result<()> {
    let config = options.config.as_deref().map(read).transpose()?;
    let target = Target::find(options.pid)?;
    let place = target.place(options)?;
    let signals = signals().context("cannot wait for signals")?;
    let around = place.parent().filter(|path| !path.as_os_str().is_empty());
    let around = around.unwrap_or(Path::new("."));
    let made = |error: io::Error| {
        let why = instr_trace::new_file::plain(error);
        anyhow!("the trace {} cannot be made: {why}", shown(&place))
    };
    std::fs::create_dir_all(around).map_err(made)?;
    let modules = config.as_ref().map(|file| &file.series);
    let modules = modules.filter(|config| !config.modules.is_empty());
    let root = std::env::var_os("INSTR_SENSORS_ROOT").unwrap_or_default();
    let roots = Roots::running(root.as_ref(), options.pid);
    let series = modules.map(|config| (config, roots));
    let recorder = match Recorder::attach(around, &target.program, options.pid, series) {
        Ok(recorder) => recorder,
        Err(Obstacle::Files(error)) => return Err(made(error)),
        Err(obstacle) => return Err(target.refusal(&obstacle)),
    };
    if !options.quiet {
        if let Some((name, _)) = config.as_ref().and_then(|file| file.settings.first()) {
            console.note(&format!(
                "{name} and other settings in the configuration are for programs that begin: this one runs already"
            ));
        }
        say_refused(recorder.refused(), console);
        let until = match options.duration {
            Some(time) => format!("for {} s", time.as_secs_f64()),
            None => "until it ends".to_owned(),
        };
        console.note(&format!(
            "records {} ({}) {until}, or up to Ctrl-C",
            options.pid,
            shown(&target.program.name)
        ));
    }
    target.wait(&signals, options.duration)?;
    let finished = recorder.finish(options.pid).map_err(made)?;
    if !options.quiet {
        say_series(finished.series(), console);
    }
    report(&target, finished, &place, options.quiet, console).map_err(made)
}

/// Puts the recording in its place, and says where that is.
fn report(
    target: &Target,
    finished: Finished,
    place: &Path,
    quiet: bool,
    console: &mut Console<'_>,
) -> io::Result<()> {
    let (lost, trouble) = (finished.lost(), finished.trouble().map(str::to_owned));
    let owner = Owner {
        executable: &target.executable,
        keep: KEPT,
        empty: None,
    };
    let dir = finished.put_new(place, &owner)?;
    if quiet {
        return Ok(());
    }
    if lost > 0 {
        console.warn(&format!(
            "{lost} events of context switches were lost: they came faster than they could be read"
        ));
    }
    if let Some(trouble) = trouble {
        console.warn(&format!("context switches: {trouble}"));
    }
    if let Ok(metadata) = Metadata::read(&dir.join("metadata")) {
        console.note(&described(&dir, &metadata, 0));
    }
    Ok(())
}

/// A process that is there.
struct Target {
    pid: u32,
    /// Readable when it ends.
    process: OwnedFd,
    executable: PathBuf,
    program: Program,
}

impl Target {
    fn find(pid: u32) -> Result<Self> {
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let process = number
            .ok_or(Errno::SRCH)
            .and_then(|number| pidfd_open(number, PidfdFlags::empty()));
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| {
            let mut lines = status.lines();
            let rest = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            rest.map(str::trim)
        };
        let leader = field("Tgid").and_then(|text| text.parse::<u32>().ok());
        if let Some(leader) = leader.filter(|leader| *leader != pid) {
            let what = format!("it is a thread of process {leader}");
            return Err(refusal(pid, &what, Some(format!("instr attach {leader}"))));
        }
        let process = match process {
            Ok(process) => process,
            Err(Errno::SRCH | Errno::INVAL) => {
                return Err(refusal(pid, "there is no such process", None));
            }
            Err(error) => return Err(refusal(pid, &io::Error::from(error).to_string(), None)),
        };
        if field("State").is_none_or(|state| state.starts_with(['Z', 'X'])) {
            return Err(refusal(pid, "it has ended", None));
        }
        if is_of_kernel(pid) {
            return Err(refusal(pid, "it is a thread of the kernel", None));
        }
        let name = field("Name").unwrap_or("process").to_owned();
        let executable = std::fs::read_link(format!("/proc/{pid}/exe"));
        let executable = executable.unwrap_or_else(|_| PathBuf::from(&name));
        let file = executable.file_name().map(recorded_name);
        Ok(Self {
            pid,
            process,
            program: Program {
                name: file.unwrap_or(name),
                arguments: String::new(),
            },
            executable,
        })
    }

    /// Where the trace is to be.
    fn place(&self, options: &AttachOptions) -> Result<PathBuf> {
        let place = options
            .output
            .clone()
            .unwrap_or_else(|| PathBuf::from(format!("{}.instr", self.program.name)));
        if options.output.is_some() {
            check_output(&place, &self.executable)?;
        }
        crate::why::can_be_made(&place).map_err(|why| anyhow!("{why}"))?;
        Ok(place)
    }

    /// Waits until the process ends, a signal comes, or the time is over.
    fn wait(&self, signals: &OwnedFd, duration: Option<Duration>) -> Result<()> {
        let end = duration.and_then(|duration| Instant::now().checked_add(duration));
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let timeout = left.map(|left| Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            });
            let watched = [self.process.as_fd(), signals.as_fd()];
            let mut watched = watched.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
            match poll(&mut watched, timeout.as_ref()) {
                Err(Errno::INTR) => {}
                Err(error) => return Err(error).context("cannot wait for the process"),
                Ok(_) => return Ok(()),
            }
        }
    }

    fn refusal(&self, obstacle: &Obstacle) -> anyhow::Error {
        let pid = self.pid;
        match obstacle {
            Obstacle::Ended => refusal(pid, "it has ended", None),
            Obstacle::NoPerf(why) => refusal(pid, why, None),
            Obstacle::Files(error) => refusal(pid, &error.to_string(), None),
            Obstacle::NotAllowed => {
                let owner = std::fs::metadata(format!("/proc/{pid}")).map(|status| status.uid());
                match owner {
                    Err(_) => refusal(pid, "it has ended", None),
                    Ok(owner) if owner != geteuid().as_raw() => {
                        let what = format!("it belongs to another user (number {owner})");
                        refusal(
                            pid,
                            &what,
                            Some("its owner and root may record it".to_owned()),
                        )
                    }
                    Ok(_) => refusal(
                        pid,
                        "the system does not let it be observed: it runs with rights that its user has not, or perf is not permitted",
                        None,
                    ),
                }
            }
        }
    }
}

fn refusal(pid: u32, why: &str, help: Option<String>) -> anyhow::Error {
    Refusal {
        message: format!("cannot attach to {pid}: {why}"),
        notes: Vec::new(),
        help,
    }
    .into()
}

fn is_of_kernel(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name, in parentheses, may hold anything; the flags are the seventh field behind it.
    let behind = stat.rsplit_once(')').map_or("", |(_, behind)| behind);
    let flags = behind.split_whitespace().nth(6);
    flags
        .and_then(|text| text.parse::<u64>().ok())
        .is_some_and(|flags| flags & OF_KERNEL != 0)
}

/// Readable when the process is to end: Ctrl-C, a closed terminal, `kill`.
fn signals() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialized by `sigemptyset`, and outlives the calls.
    let fd = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaddset(&raw mut set, signal);
        }
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC)
    };
    match fd < 0 {
        true => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new, and nobody else has it.
        false => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}
