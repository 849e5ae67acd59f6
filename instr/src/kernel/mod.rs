//! Who runs on which processor while `instr run` runs a program: context switches of the whole tree of processes, by perf, without any right.
//! The launcher records them, so that nothing is added to the program (docs/decisions/0025).

mod attach;
mod drain;
pub(crate) mod ebpf;
mod folder;
pub(crate) mod perf;
mod place;
mod records;
mod source;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use instr_trace::kernel::series::Module;
use instr_trace::kernel::{
    self, FOLDER, Info, Record, Recorded, ThreadId, Usage, What, write_info,
};
use rustix::time::{ClockId, clock_gettime};

pub(crate) use self::attach::Obstacle;
use self::drain::Drain;
use self::ebpf::Tracer;
pub(crate) use self::folder::{Folder, abandoned};
use self::perf::{Followed, Ring, Whose};
pub(crate) use self::place::Owner;
use self::source::{Rings, Source};
use crate::series::config::Config;
use crate::series::{Roots, Sampler, Told};

/// Threads that are named when the whole system is recorded.
const MOST_THREADS: usize = 100_000;

/// What the program is, for the trace's metadata.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Name of its file.
    pub(crate) name: String,
    /// Its arguments, a blank between them.
    pub(crate) arguments: String,
}

/// Which context switches are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Switches {
    /// Whose.
    pub(crate) whose: Range,
    /// By what; `None`: by what tells most and is permitted.
    pub(crate) recorder: Option<kernel::Recorder>,
    /// The kernel is asked even where a filter of system calls is in place.
    pub(crate) asked: bool,
}

/// Whose context switches are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Range {
    /// Nobody's: there are only sums of the run.
    Nobody,
    /// Those of what is started.
    Tree,
    /// Those of all threads of the machine.
    System,
}

/// A recording.
#[derive(Debug)]
pub(crate) struct Recorder {
    folder: Folder,
    uuid: [u8; 16],
    info: Info,
    drain: Option<Drain>,
    /// Switches or series were asked for.
    wanted: bool,
    /// Threads that ran before.
    followed: Vec<Followed>,
    /// What children had used before; `None`: those that are recorded are none of this process.
    before: Option<Usage>,
    series: Option<Sampler>,
}

impl Recorder {
    /// Begins to record what this thread starts from now on, or all threads of the machine, into a temporary folder in `folder`. Where perf is refused
    /// only sums are kept.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written.
    pub(crate) fn start(
        folder: &Path,
        program: &Program,
        switches: Switches,
        series: Option<(&Config, Roots)>,
    ) -> io::Result<Self> {
        let folder = temporary(folder)?;
        let uuid = fastrand::u128(..).to_ne_bytes();
        let mut info = info_of(program);
        let drain = match switches.whose {
            Range::Nobody => None,
            _ => match record(folder.path(), uuid, switches, &mut info) {
                Ok(drain) => Some(drain),
                Err(why) => {
                    info.trouble = Some(why);
                    None
                }
            },
        };
        if drain.is_none() {
            info.recorded = Recorded::Sums;
        }
        // The first readings of series are of the run already: they lie between its begin and that of the program.
        info.start_monotonic_ns = now(ClockId::Monotonic);
        info.start_realtime_ns = now(ClockId::Realtime);
        let series = sampler(series, folder.path(), uuid)?;
        Ok(Self {
            folder,
            uuid,
            info,
            drain,
            wanted: switches.whose != Range::Nobody || series.is_some(),
            followed: Vec::new(),
            before: Some(usage()),
            series,
        })
    }

    /// Begins to record a process that runs already: its threads, and what they start from now on. The process itself is not touched.
    ///
    /// # Errors
    ///
    /// A folder that cannot be written, a process that has ended or that this user may not observe.
    pub(crate) fn attach(
        folder: &Path,
        program: &Program,
        pid: u32,
        series: Option<(&Config, Roots)>,
    ) -> Result<Self, Obstacle> {
        let folder = temporary(folder)?;
        let uuid = fastrand::u128(..).to_ne_bytes();
        let mut info = info_of(program);
        info.start_monotonic_ns = now(ClockId::Monotonic);
        info.start_realtime_ns = now(ClockId::Realtime);
        let attached = attach::follow(pid)?;
        info.processors = u32::try_from(attached.rings.len()).unwrap_or(u32::MAX);
        info.recorder_why = ATTACHED.to_owned();
        let rings = Box::new(Rings::new(attached.rings));
        let drain = Drain::start(rings, folder.path(), uuid, attached.first)?;
        let series = sampler(series, folder.path(), uuid)?;
        Ok(Self {
            folder,
            uuid,
            info,
            drain: Some(drain),
            wanted: true,
            followed: attached.followed,
            before: None,
            series,
        })
    }

    /// Why there are only sums; `None`: switches are recorded.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.info.trouble.as_deref()
    }

    /// What records the switches, and why not what tells more; `None`: nothing does.
    pub(crate) fn recorder(&self) -> Option<(kernel::Recorder, &str)> {
        let info = &self.info;
        (info.recorded != Recorded::Sums).then_some((info.recorder, &info.recorder_why))
    }

    /// What modules of series do not have here.
    pub(crate) fn refused(&self) -> &[(Module, String)] {
        self.series.as_ref().map_or(&[], |series| &series.refused)
    }

    /// Ends the recording: the program, process `pid`, has ended. Returns what was recorded, which [`Finished::put`] puts in its place.
    pub(crate) fn finish(mut self, pid: u32) -> io::Result<Finished> {
        // The program's limits on files are this process's, too: a signal would end it before it has told the program's status.
        block_signals();
        self.info.pid = pid;
        self.info.end_monotonic_ns = now(ClockId::Monotonic);
        self.followed.clear();
        let told = self.series.take().map(Sampler::finish).unwrap_or_default();
        let drained = self.drain.take().map(Drain::finish).unwrap_or_default();
        // The last thread may leave its processor after the launcher has got its status.
        self.info.end_monotonic_ns = self.info.end_monotonic_ns.max(drained.last_exit);
        self.info.lost = drained.lost;
        self.info.trouble = self.info.trouble.take().or(drained.trouble);
        let after = usage();
        self.info.usage = self.before.map(|before| Usage {
            user_ns: after.user_ns - before.user_ns,
            system_ns: after.system_ns - before.system_ns,
            voluntary: after.voluntary - before.voluntary,
            involuntary: after.involuntary - before.involuntary,
        });
        write_info(self.folder.path(), self.uuid, &self.info)?;
        Ok(Finished {
            folder: self.folder,
            wanted: self.wanted,
            info: self.info,
            told,
        })
    }
}

/// A recording that has ended.
#[derive(Debug)]
pub(crate) struct Finished {
    folder: Folder,
    wanted: bool,
    info: Info,
    told: Told,
}

impl Finished {
    /// Whether it was asked for; else it is nothing but what makes a trace of processes that recorded something.
    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// The process of the program.
    pub(crate) fn pid(&self) -> u32 {
        self.info.pid
    }

    /// Events that were lost.
    pub(crate) fn lost(&self) -> u64 {
        self.info.lost
    }

    /// Whether there are no events.
    pub(crate) fn only_sums(&self) -> bool {
        self.info.recorded == Recorded::Sums
    }

    /// Why the recording is not what it might be.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.info.trouble.as_deref()
    }

    /// What was found of series while the program ran.
    pub(crate) fn series(&self) -> &Told {
        &self.told
    }

    /// Puts the recording into a trace that is there.
    ///
    /// # Errors
    ///
    /// A folder that is not this user's alone, or has such a part.
    pub(crate) fn put(self, trace: &Path) -> io::Result<()> {
        place::put(self.folder, trace, FOLDER)
    }

    /// Makes a trace at this place, or beside it, as the runtime does, and puts the recording into it.
    ///
    /// # Errors
    ///
    /// Places that cannot be made.
    pub(crate) fn put_new(self, first: &Path, owner: &Owner<'_>) -> io::Result<PathBuf> {
        let taken = place::take(first, owner, &self.info)?;
        place::put(self.folder, &taken.path, FOLDER)?;
        Ok(taken.path)
    }
}

/// Begins to read the series that are wanted.
fn sampler(
    series: Option<(&Config, Roots)>,
    folder: &Path,
    uuid: [u8; 16],
) -> io::Result<Option<Sampler>> {
    let start = |(config, roots): (&Config, Roots)| Sampler::start(config, &roots, folder, uuid);
    series.map(start).transpose()
}

/// Begin of the names of folders for recordings.
const PREFIX: &str = ".instr-kernel-";

/// A folder for a recording. What killed launchers have left beside it goes.
fn temporary(folder: &Path) -> io::Result<Folder> {
    abandoned(folder, PREFIX.as_ref(), |_| true);
    Folder::make(folder, PREFIX.as_ref())
}

/// What is known at the begin.
fn info_of(program: &Program) -> Info {
    Info {
        hostname: line("/proc/sys/kernel/hostname"),
        boot_id: line("/proc/sys/kernel/random/boot_id"),
        program: program.name.clone(),
        arguments: program.arguments.clone(),
        ..Info::default()
    }
}

/// Why a process that runs already is recorded by perf.
const ATTACHED: &str = "instr attach records by perf";

/// Begins to record, by what tells most and is permitted.
fn record(
    folder: &Path,
    uuid: [u8; 16],
    switches: Switches,
    info: &mut Info,
) -> Result<Drain, String> {
    let system = switches.whose == Range::System;
    if !switches.asked && perf::is_filtered() {
        return Err(
            "a seccomp filter is in place, which may end who asks perf (INSTR_SWITCHES=1 asks all the same)"
                .to_owned(),
        );
    }
    if system {
        info.recorded = Recorded::System;
    }
    let whose = match system {
        true => Whose::All,
        false => Whose::Children,
    };
    let by_perf = |info: &mut Info| {
        let rings = perf_rings(whose)?;
        info.processors = u32::try_from(rings.len()).unwrap_or(u32::MAX);
        Ok::<Box<dyn Source>, String>(Box::new(Rings::new(rings)))
    };
    let by_ebpf = |info: &mut Info| {
        let tracer = Tracer::start(whose)?;
        info.recorder = kernel::Recorder::Ebpf;
        info.processors = u32::try_from(tracer.processors().len()).unwrap_or(u32::MAX);
        Ok::<Box<dyn Source>, String>(Box::new(tracer))
    };
    let source = match switches.recorder {
        Some(kernel::Recorder::Perf) => by_perf(info),
        Some(kernel::Recorder::Ebpf) => by_ebpf(info),
        None => by_ebpf(info).or_else(|why| {
            info.recorder_why = why;
            by_perf(info)
        }),
    }?;
    let first = match system {
        true => threads(),
        false => Vec::new(),
    };
    Drain::start(source, folder, uuid, first).map_err(|error| error.to_string())
}

/// Opens perf's events of all processors.
fn perf_rings(whose: Whose) -> Result<Vec<Ring>, String> {
    let processors = match whose {
        Whose::All => perf::online(),
        _ => perf::allowed(),
    };
    let rings: io::Result<Vec<_>> = processors
        .iter()
        .map(|processor| Ring::open(*processor, whose))
        .collect();
    let rings = rings.map_err(|error| perf::refusal(&error))?;
    if whose == Whose::All {
        let enabled = rings.iter().try_for_each(Ring::enable);
        enabled.map_err(|error| perf::refusal(&error))?;
    }
    Ok(rings)
}

/// The names in a folder that are numbers.
fn numbers(path: String) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
}

/// The threads that there are, by name.
fn threads() -> Vec<Record> {
    let time = now(ClockId::Monotonic);
    let of_process = |pid: u32| {
        numbers(format!("/proc/{pid}/task")).map(move |tid| Record {
            time,
            processor: 0,
            thread: ThreadId { pid, tid },
            what: What::Name(line(&format!("/proc/{pid}/task/{tid}/comm"))),
        })
    };
    let all = numbers("/proc".to_owned()).flat_map(of_process);
    all.take(MOST_THREADS).collect()
}

/// The first line of a small file; empty if it cannot be read.
fn line(path: &str) -> String {
    let mut text = String::new();
    let file = std::fs::File::open(path);
    let _ = file.and_then(|file| file.take(4096).read_to_string(&mut text));
    text.lines().next().unwrap_or_default().to_owned()
}

/// The time by a clock, ns.
pub(crate) fn now(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// What the children used that this process has waited for.
fn usage() -> Usage {
    // SAFETY: zeros are valid in all fields of the structure, which outlives the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    let ns = |time: libc::timeval| {
        let ns = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_usec) * 1000;
        u64::try_from(ns).unwrap_or(0)
    };
    Usage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        voluntary: u64::try_from(usage.ru_nvcsw).unwrap_or(0),
        involuntary: u64::try_from(usage.ru_nivcsw).unwrap_or(0),
    }
}

/// Keeps signals from this thread that would end the process because a file is too large.
pub(crate) fn block_signals() {
    // SAFETY: the set is initialized by `sigemptyset`, and outlives the calls.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGXFSZ);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
    }
}
