//! Series beside the time line: what a thread of `instr run` reads of the machine and of processes while the program runs, each module at its own rate
//! (docs/decisions/0029). The program itself does nothing for it.

pub(crate) mod config;
pub(crate) mod counters;
pub(crate) mod csv;
pub(crate) mod events;
mod machine;
mod out;
mod processes;
pub(crate) mod rapl;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use instr_trace::kernel::series::{Module, What, Writer};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::time::ClockId;

use self::config::Config;
use self::out::{Out, Source};
use crate::kernel::{block_signals, now};

/// A configuration with all modules.
pub(crate) const EXAMPLE: &str = include_str!("example.toml");
/// The thread needs little of its stack.
const STACK: usize = 256 << 10;

/// Where modules look.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    /// In front of `/sys` and `/proc`: empty, or a copy of another machine's.
    pub(crate) root: PathBuf,
    /// Which processes are the program's.
    pub(crate) whose: Whose,
}

/// Which processes are the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Those that this one starts, directly or not.
    Descendants(u32),
    /// This one, which runs already, and those that it starts from now on.
    Running(u32),
}

impl Whose {
    /// The process that has the others below it.
    fn first(self) -> u32 {
        match self {
            Self::Descendants(pid) | Self::Running(pid) => pid,
        }
    }
}

impl Roots {
    /// Those of this process, with `root` in front.
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            whose: Whose::Descendants(std::process::id()),
        }
    }

    /// Those of a process that runs already, with `root` in front.
    pub(crate) fn running(root: &Path, pid: u32) -> Self {
        Self {
            root: root.to_owned(),
            whose: Whose::Running(pid),
        }
    }

    fn below(&self, name: &str) -> PathBuf {
        match self.root.as_os_str().is_empty() {
            true => Path::new("/").join(name),
            false => self.root.join(name),
        }
    }

    pub(crate) fn proc(&self) -> PathBuf {
        self.below("proc")
    }

    pub(crate) fn sys(&self) -> PathBuf {
        self.below("sys")
    }
}

/// A module that is read.
struct Reader {
    module: Module,
    period: Duration,
    next: Instant,
    sources: Vec<Box<dyn Source>>,
    readings: u64,
    late: u32,
    spent: Duration,
}

/// The thread, while it runs.
pub(crate) struct Sampler {
    stop: Arc<OwnedFd>,
    thread: JoinHandle<Told>,
    /// What modules do not have here.
    pub(crate) refused: Vec<(Module, String)>,
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").finish_non_exhaustive()
    }
}

/// What is told when it has ended.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// What modules do not have here, found while the program ran.
    pub(crate) refused: Vec<(Module, String)>,
    /// Why values could not be written.
    pub(crate) trouble: Option<String>,
}

/// Opens a module; nothing where it has nothing here.
fn open(module: Module, config: &Config, roots: &Roots, out: &mut Out) -> Vec<Box<dyn Source>> {
    fn boxed(source: Option<impl Source + 'static>) -> Vec<Box<dyn Source>> {
        source
            .into_iter()
            .map(|source| Box::new(source) as Box<dyn Source>)
            .collect()
    }
    match module {
        Module::Counters => boxed(Some(counters::Counters::open(config, roots, out))),
        Module::MemoryTraffic => boxed(machine::Devices::memory(roots, out)),
        Module::Numa => boxed(processes::Numa::open(roots, out)),
        Module::Energy => {
            let zones = machine::Energy::open(roots, out);
            let power = match zones.is_none() {
                true => machine::Devices::power(roots, out),
                false => None,
            };
            if zones.is_none()
                && power.is_none()
                && !out
                    .refused
                    .iter()
                    .any(|(module, _)| *module == Module::Energy)
            {
                out.refuse(
                    Module::Energy,
                    "there is neither /sys/class/powercap/intel-rapl:* nor perf's device power",
                );
            }
            let mut sources = boxed(zones);
            sources.extend(boxed(power));
            sources
        }
        Module::Frequency => boxed(machine::Frequency::open(roots, out)),
        Module::Pressure => boxed(machine::Pressure::open(roots, out)),
        Module::Process => boxed(processes::Process::open(roots, out)),
        Module::Processors => boxed(machine::Processors::open(roots, out)),
    }
}

/// Of each module, why it has less than it might have here; empty: it works.
pub(crate) fn probe(roots: &Roots) -> io::Result<Vec<(Module, bool, Vec<String>)>> {
    let folder = tempfile::tempdir()?;
    let mut out = Out::new(Writer::new(folder.path(), [0; 16])?);
    let mut config = config::parse(EXAMPLE)
        .map(|file| file.series)
        .unwrap_or_default();
    config.threads = true;
    let one = |module: &Module| {
        out.refused.clear();
        let mut sources = open(*module, &config, roots, &mut out);
        let before = out.series();
        sources.iter_mut().for_each(|source| source.read(&mut out));
        let per_process = matches!(module, Module::Process | Module::Numa);
        let works = !sources.is_empty() && (per_process || out.series() > before);
        let refused = out.refused.iter().map(|(_, why)| why.clone()).collect();
        (*module, works, refused)
    };
    Ok(Module::ALL.iter().map(one).collect())
}

impl Sampler {
    /// Begins to read what the configuration wants into a stream in `folder`. What this thread starts from now on is the program, unless `roots` names one
    /// that runs already.
    ///
    /// # Errors
    ///
    /// A stream or a thread that cannot be made.
    pub(crate) fn start(
        config: &Config,
        roots: &Roots,
        folder: &Path,
        uuid: [u8; 16],
    ) -> io::Result<Self> {
        let mut out = Out::new(Writer::new(folder, uuid)?);
        out.time = now(ClockId::Monotonic);
        let begin = Instant::now();
        let mut readers = Vec::new();
        for (module, period) in &config.modules {
            let sources = open(*module, config, roots, &mut out);
            if !sources.is_empty() {
                readers.push(Reader {
                    module: *module,
                    period: *period,
                    next: begin,
                    sources,
                    readings: 0,
                    late: 0,
                    spent: Duration::ZERO,
                });
            }
        }
        // The first readings are before the program begins: its totals grow from there.
        for reader in &mut readers {
            reader.read(&mut out);
        }
        let refused = std::mem::take(&mut out.refused);
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let work = Work {
            readers,
            out,
            stop: stop.clone(),
        };
        let thread = Builder::new()
            .name("series".to_owned())
            .stack_size(STACK)
            .spawn(move || work.run())?;
        Ok(Self {
            stop,
            thread,
            refused,
        })
    }

    /// Reads all a last time, and ends the thread.
    pub(crate) fn finish(self) -> Told {
        // It cannot fail: the counter is not near its limit.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        self.thread.join().unwrap_or_else(|_| Told {
            trouble: Some("the recording ended early".to_owned()),
            ..Told::default()
        })
    }
}

impl Reader {
    fn read(&mut self, out: &mut Out) {
        let begin = Instant::now();
        out.time = now(ClockId::Monotonic);
        for source in &mut self.sources {
            source.read(out);
        }
        self.readings += 1;
        let end = Instant::now();
        self.spent += end - begin;
        self.next += self.period;
        // What was missed is left out, not made up for.
        while self.next <= end {
            let missed = (end - self.next).as_nanos() / self.period.as_nanos().max(1) + 1;
            let missed = u32::try_from(missed).unwrap_or(u32::MAX);
            self.late = self.late.saturating_add(missed);
            self.next += self.period * missed;
        }
    }
}

struct Work {
    readers: Vec<Reader>,
    out: Out,
    stop: Arc<OwnedFd>,
}

impl Work {
    fn run(mut self) -> Told {
        block_signals();
        while !self.wait() {
            let at = Instant::now();
            for reader in self.readers.iter_mut().filter(|reader| reader.next <= at) {
                reader.read(&mut self.out);
            }
        }
        for reader in &mut self.readers {
            let begin = Instant::now();
            self.out.time = now(ClockId::Monotonic);
            for source in &mut reader.sources {
                source.finish(&mut self.out);
            }
            reader.readings += 1;
            reader.spent += begin.elapsed();
            let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.out.put(What::Readings {
                module: reader.module,
                late: reader.late,
                period_ns: ns(reader.period),
                readings: reader.readings,
                ns: ns(reader.spent),
            });
        }
        self.out.flush();
        Told {
            refused: self.out.refused,
            trouble: self.out.trouble,
        }
    }

    /// Waits for the next reading; true: the program has ended.
    fn wait(&mut self) -> bool {
        loop {
            let at = Instant::now();
            let next = self.readers.iter().map(|reader| reader.next).min();
            let left = next.map(|next| next.saturating_duration_since(at));
            if left == Some(Duration::ZERO) {
                return self.is_over();
            }
            let left = left.unwrap_or(Duration::from_secs(3600));
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(3600),
                tv_nsec: left.subsec_nanos().into(),
            };
            let sources = self.readers.iter().flat_map(|reader| &reader.sources);
            let wake_ups = sources.flat_map(|source| source.wake_ups());
            let mut polled: Vec<_> = [self.stop.as_fd()]
                .into_iter()
                .chain(wake_ups)
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            let _ = poll(&mut polled, Some(&timeout));
            let is_over = !polled[0].revents().is_empty();
            let woken = polled
                .iter()
                .skip(1)
                .any(|polled| !polled.revents().is_empty());
            if is_over {
                return true;
            }
            if woken {
                let sources = self
                    .readers
                    .iter_mut()
                    .flat_map(|reader| &mut reader.sources);
                sources.for_each(|source| source.woken());
            }
        }
    }

    fn is_over(&self) -> bool {
        let mut polled = [PollFd::from_borrowed_fd(self.stop.as_fd(), PollFlags::IN)];
        let _ = poll(
            &mut polled,
            Some(&Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            }),
        );
        !polled[0].revents().is_empty()
    }
}
