//! The thread that takes what a recorder has of each processor into the streams.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use instr_trace::kernel::{Record, ThreadId, What, Writer};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::source::Source;

/// Bytes of arguments that are kept.
const MOST_ARGUMENTS: u64 = 1024;
/// The thread needs little of its stack.
const STACK: usize = 256 << 10;

/// The thread, while it runs.
#[derive(Debug)]
pub(super) struct Drain {
    stop: Arc<OwnedFd>,
    thread: JoinHandle<Drained>,
}

/// What there was.
#[derive(Debug, Default)]
pub(super) struct Drained {
    /// Events that the kernel had no room for.
    pub(super) lost: u64,
    /// Why events could not be written.
    pub(super) trouble: Option<String>,
    /// When the last thread ended, `CLOCK_MONOTONIC`, ns.
    pub(super) last_exit: u64,
}

impl Drain {
    /// Begins to take what the source has into streams in `folder`. `first` are the first events, in order of time.
    pub(super) fn start(
        source: Box<dyn Source>,
        folder: &Path,
        uuid: [u8; 16],
        first: Vec<Record>,
    ) -> io::Result<Self> {
        let mut out = Streams {
            folder: folder.to_owned(),
            uuid,
            writers: BTreeMap::new(),
            told: Drained::default(),
        };
        for processor in source.processors() {
            out.add_stream(processor)?;
        }
        for record in &first {
            out.write(record)?;
        }
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let mut work = Work {
            source,
            out,
            stop: stop.clone(),
        };
        let thread = Builder::new()
            .name("switches".to_owned())
            .stack_size(STACK)
            .spawn(move || work.run())?;
        Ok(Self { stop, thread })
    }

    /// Ends the recording, takes what there is, and ends the thread.
    pub(super) fn finish(self) -> Drained {
        // It cannot fail: the counter is not near its limit. The thread looks without it, too.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Drained {
            trouble: Some("the recording ended early".to_owned()),
            ..Drained::default()
        })
    }
}

struct Work {
    source: Box<dyn Source>,
    out: Streams,
    stop: Arc<OwnedFd>,
}

impl Work {
    fn run(&mut self) -> Drained {
        super::block_signals();
        loop {
            let period = Timespec {
                tv_sec: 0,
                tv_nsec: self.source.period_ns(),
            };
            let descriptors = self.source.descriptors();
            let all = [self.stop.as_fd()].into_iter().chain(descriptors);
            let mut polled: Vec<_> = all
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            let _ = poll(&mut polled, Some(&period));
            let is_over = !polled[0].revents().is_empty();
            drop(polled);
            let out = &mut self.out;
            let mut each = |record: Record| out.add(&record);
            match is_over {
                true => self.source.finish(&mut each),
                false => self.source.drain(&mut each),
            }
            if is_over {
                break;
            }
        }
        self.out.flush();
        std::mem::take(&mut self.out.told)
    }
}

/// The streams of the processors.
struct Streams {
    folder: PathBuf,
    uuid: [u8; 16],
    writers: BTreeMap<u32, Writer>,
    told: Drained,
}

impl Streams {
    fn add_stream(&mut self, processor: u32) -> io::Result<()> {
        let writer = Writer::new(&self.folder, self.uuid, processor)?;
        self.writers.insert(processor, writer);
        Ok(())
    }

    /// Writes an event, and what else is known of it now.
    fn add(&mut self, record: &Record) {
        match record.what {
            What::Lost(count) => self.told.lost = self.told.lost.saturating_add(count),
            What::Exit => self.told.last_exit = self.told.last_exit.max(record.time),
            _ => {}
        }
        if self.told.trouble.is_some() {
            return;
        }
        let is_exec = matches!(record.what, What::Exec(_));
        let written = self.write(record).and_then(|()| {
            match is_exec.then(|| arguments(record.thread)).flatten() {
                Some(text) => self.write(&Record {
                    what: What::Arguments(text),
                    ..record.clone()
                }),
                None => Ok(()),
            }
        });
        if let Err(error) = written {
            self.told.trouble = Some(unwritten(&error));
        }
    }

    /// Events of processors without a stream: a thread of the recording that runs there gets one, all else goes into the first one.
    fn write(&mut self, record: &Record) -> io::Result<()> {
        let runs = matches!(record.what, What::In | What::Out(_) | What::Exec(_));
        if runs && !self.writers.contains_key(&record.processor) {
            self.add_stream(record.processor)?;
        }
        let own = match self.writers.contains_key(&record.processor) {
            true => Some(record.processor),
            false => self.writers.keys().next().copied(),
        };
        match own.and_then(|own| self.writers.get_mut(&own)) {
            Some(writer) => writer.add(record),
            None => Ok(()),
        }
    }

    fn flush(&mut self) {
        for writer in self.writers.values_mut() {
            if let Err(error) = writer.flush() {
                self.told.trouble.get_or_insert_with(|| unwritten(&error));
            }
        }
    }
}

fn unwritten(error: &io::Error) -> String {
    format!("events could not be written: {error}")
}

/// The command line of a process that is still there.
pub(super) fn arguments(thread: ThreadId) -> Option<String> {
    let file = File::open(format!("/proc/{}/cmdline", thread.pid)).ok()?;
    let mut bytes = Vec::new();
    file.take(MOST_ARGUMENTS).read_to_end(&mut bytes).ok()?;
    let text = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    let words: Vec<_> = text
        .split(|byte| *byte == 0)
        .map(String::from_utf8_lossy)
        .collect();
    Some(words.join(" ")).filter(|text| !text.is_empty())
}
