//! The thread that empties the rings into the streams.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use instr_trace::kernel::{Record, ThreadId, What, Writer};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::perf::Ring;
use super::records;

/// The rings are looked at as often as this, however little is in them: a process that has just begun can still be asked for its arguments.
const PERIOD_NS: i64 = 20_000_000;
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
}

impl Drain {
    /// Begins to empty these rings into streams in `folder`. `first` are the first events, in order of time.
    pub(super) fn start(
        rings: Vec<Ring>,
        folder: &Path,
        uuid: [u8; 16],
        first: Vec<Record>,
    ) -> io::Result<Self> {
        let streams: io::Result<Vec<_>> = rings
            .into_iter()
            .map(|ring| {
                let writer = Writer::new(folder, uuid, ring.processor)?;
                Ok((ring, writer))
            })
            .collect();
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        let mut work = Work {
            streams: streams?,
            stop: stop.clone(),
            told: Drained::default(),
            buffer: Vec::new(),
        };
        for record in &first {
            let streams = &mut work.streams;
            let own = streams
                .iter()
                .position(|(ring, _)| ring.processor == record.processor);
            if let Some((_, writer)) = streams.get_mut(own.unwrap_or(0)) {
                writer.add(record)?;
            }
        }
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
    streams: Vec<(Ring, Writer)>,
    stop: Arc<OwnedFd>,
    told: Drained,
    buffer: Vec<u8>,
}

impl Work {
    fn run(mut self) -> Drained {
        super::block_signals();
        let period = Timespec {
            tv_sec: 0,
            tv_nsec: PERIOD_NS,
        };
        loop {
            let descriptors = self.streams.iter().map(|(ring, _)| ring.descriptor());
            let all = [self.stop.as_fd()].into_iter().chain(descriptors);
            let mut polled: Vec<_> = all
                .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
                .collect();
            let _ = poll(&mut polled, Some(&period));
            let is_over = !polled[0].revents().is_empty();
            if is_over {
                // What is refused here has ended by itself.
                let mut rings = self.streams.iter().map(|(ring, _)| ring);
                let _ = rings.try_for_each(Ring::disable);
            }
            self.drain();
            if is_over {
                break;
            }
        }
        for (_, writer) in &mut self.streams {
            if let Err(error) = writer.flush() {
                self.told.trouble.get_or_insert_with(|| unwritten(&error));
            }
        }
        self.told
    }

    fn drain(&mut self) {
        let told = &mut self.told;
        for (ring, writer) in &mut self.streams {
            let processor = ring.processor;
            let mut add = |record: &Record| {
                if let What::Lost(count) = record.what {
                    told.lost = told.lost.saturating_add(count);
                }
                if told.trouble.is_some() {
                    return;
                }
                if let Err(error) = writer.add(record) {
                    told.trouble = Some(unwritten(&error));
                }
            };
            ring.drain(&mut self.buffer, |bytes| {
                let Some(record) = records::event(bytes, processor) else {
                    return;
                };
                add(&record);
                let is_exec = matches!(record.what, What::Exec(_));
                if let Some(text) = is_exec.then(|| arguments(record.thread)).flatten() {
                    let what = What::Arguments(text);
                    add(&Record { what, ..record });
                }
            });
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
