//! Begins to record a process that runs already. perf has events for each thread on each processor; what a thread starts later has the same ones by
//! itself. Threads that other threads make meanwhile are told apart from those that nobody has seen yet by the records of their begin.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use instr_trace::kernel::{Record, ThreadId, What};
use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::time::ClockId;

use super::perf::{self, Followed, Ring, Whose};
use super::{line, now, numbers, records};

/// The list of threads is read so often, at most, until it holds no new one.
const MOST_LOOKS: usize = 100;
/// A new thread's record is written after the thread is in the list, and threads that are on a processor all the time are known by the time they
/// were there.
const SETTLES: Duration = Duration::from_millis(2);

/// Why a process cannot be recorded.
#[derive(Debug)]
pub(crate) enum Obstacle {
    /// It is not there any more.
    Ended,
    /// Its first thread may not be observed.
    NotAllowed,
    /// perf is refused altogether, for this reason.
    NoPerf(String),
    /// The recording cannot be written.
    Files(io::Error),
}

impl From<io::Error> for Obstacle {
    fn from(error: io::Error) -> Self {
        Self::Files(error)
    }
}

/// What was found of a thread since it is followed.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// When it was followed, `CLOCK_MONOTONIC`, ns.
    since: u64,
    /// A record of its says where it is.
    told: bool,
}

struct Search {
    pid: u32,
    rings: Vec<Ring>,
    followed: Vec<Followed>,
    threads: BTreeMap<u32, Seen>,
    records: Vec<Record>,
}

/// A process whose threads are followed.
#[derive(Debug)]
pub(super) struct Attached {
    /// One for each processor.
    pub(super) rings: Vec<Ring>,
    /// The threads of the process in them.
    pub(super) followed: Vec<Followed>,
    /// What happened meanwhile, in order of time: the names of the threads and who of them is on a processor first.
    pub(super) first: Vec<Record>,
}

/// Follows all threads of a process.
pub(super) fn follow(pid: u32) -> Result<Attached, Obstacle> {
    let refused = |error: &io::Error| Obstacle::NoPerf(perf::refusal(error));
    allow_descriptors();
    let processors = perf::online();
    let rings: io::Result<Vec<_>> = processors
        .iter()
        .map(|processor| Ring::open(*processor, Whose::Followed))
        .collect();
    let mut search = Search {
        pid,
        rings: rings.map_err(|error| refused(&error))?,
        followed: Vec::new(),
        threads: BTreeMap::new(),
        records: Vec::new(),
    };
    search.begin()?;
    for _ in 0..MOST_LOOKS {
        if !search.look()? {
            break;
        }
    }
    std::thread::sleep(SETTLES);
    search.complete();
    Ok(Attached {
        rings: search.rings,
        followed: search.followed,
        first: search.records,
    })
}

/// Each thread takes a descriptor for each processor.
fn allow_descriptors() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // What is not allowed is told when descriptors run out.
    let _ = setrlimit(Resource::Nofile, limit);
}

impl Search {
    /// Follows the first thread, which says whether the process may be observed at all.
    fn begin(&mut self) -> Result<(), Obstacle> {
        let what = What::Arguments(super::drain::arguments(self.id(self.pid)).unwrap_or_default());
        self.put(
            self.pid,
            self.rings[0].processor,
            now(ClockId::Monotonic),
            what,
        );
        match self.follow(self.pid) {
            Ok(()) => Ok(()),
            Err(error) => Err(match error.raw_os_error() {
                Some(libc::ESRCH) => Obstacle::Ended,
                Some(libc::EACCES | libc::EPERM) => Obstacle::NotAllowed,
                _ => Obstacle::NoPerf(perf::refusal(&error)),
            }),
        }
    }

    /// Follows the threads that are not yet known. Whether there were some.
    fn look(&mut self) -> Result<bool, Obstacle> {
        let path = format!("/proc/{}/task", self.pid);
        let is_new = |tid: &u32| !self.threads.contains_key(tid);
        let new: Vec<_> = numbers(path).filter(is_new).collect();
        if new.is_empty() {
            return Ok(false);
        }
        std::thread::sleep(SETTLES);
        self.drain();
        for tid in new {
            if self.threads.contains_key(&tid) {
                continue;
            }
            match self.follow(tid) {
                Ok(()) => {}
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => return Err(Obstacle::NoPerf(perf::refusal(&error))),
            }
        }
        Ok(true)
    }

    fn id(&self, tid: u32) -> ThreadId {
        ThreadId { pid: self.pid, tid }
    }

    fn put(&mut self, tid: u32, processor: u32, time: u64, what: What) {
        let thread = self.id(tid);
        self.records.push(Record {
            time,
            processor,
            thread,
            what,
        });
    }

    fn follow(&mut self, tid: u32) -> io::Result<()> {
        let since = now(ClockId::Monotonic);
        for ring in &self.rings {
            self.followed.push(ring.follow(tid)?);
        }
        let name = line(&format!("/proc/{}/task/{tid}/comm", self.pid));
        self.put(tid, self.rings[0].processor, since, What::Name(name));
        let seen = Seen { since, told: false };
        self.threads.insert(tid, seen);
        Ok(())
    }

    /// Takes what is in the rings. A thread whose first record is that it leaves was there from the begin.
    fn drain(&mut self) {
        let mut found = Vec::new();
        let mut buffer = Vec::new();
        for ring in &mut self.rings {
            let processor = ring.processor;
            ring.drain(&mut buffer, |bytes| {
                found.extend(records::event(bytes, processor))
            });
        }
        found.sort_by_key(|record| record.time);
        for record in found {
            let tid = record.thread.tid;
            match record.what {
                What::Fork(_) => {
                    let seen = Seen {
                        since: record.time,
                        told: true,
                    };
                    self.threads.entry(tid).or_insert(seen);
                }
                What::In | What::Out(_) => self.places(tid, record.processor, &record.what),
                _ => {}
            }
            self.records.push(record);
        }
    }

    fn places(&mut self, tid: u32, processor: u32, what: &What) {
        let Some(seen) = self.threads.get_mut(&tid).filter(|seen| !seen.told) else {
            return;
        };
        seen.told = true;
        let since = seen.since;
        if matches!(what, What::Out(_)) {
            self.put(tid, processor, since, What::In);
        }
    }

    /// Those without a record are where their time passes, or nowhere.
    fn complete(&mut self) {
        let running: Vec<_> = self
            .followed
            .iter()
            .filter(|followed| followed.has_run())
            .map(|followed| (followed.tid, followed.processor))
            .collect();
        self.drain();
        for (tid, processor) in running {
            // As if it left: its first record is still to come.
            self.places(
                tid,
                processor,
                &What::Out(instr_trace::kernel::Leave::Ready),
            );
        }
        self.records.sort_by_key(|record| record.time);
    }
}
