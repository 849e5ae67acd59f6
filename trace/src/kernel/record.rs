//! One event: to bytes, and from them.

/// Bytes of a name or of arguments that are kept.
const MOST_TEXT: usize = 4096;

/// A thread, by the numbers that the system has for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId {
    /// Its process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
}

/// Why a thread left its processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It waits for something.
    Blocked,
    /// It could go on.
    Ready,
    /// It could go on, and gave the processor away.
    Yielded,
}

impl Leave {
    fn number(self) -> u32 {
        match self {
            Self::Blocked => 0,
            Self::Ready => 1,
            Self::Yielded => 2,
        }
    }
}

/// Where a thread was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Context {
    /// By the thread itself that ran there.
    Thread,
    /// In an interrupt: of a timer, a device, the network.
    Interrupt,
    /// By the thread or an interrupt above it.
    Unknown,
}

impl Context {
    /// Those that have numbers, in their order.
    const ALL: [Self; 3] = [Self::Thread, Self::Interrupt, Self::Unknown];

    /// That of a number in a record; what is not known is [`Context::Unknown`].
    #[must_use]
    pub fn of(number: u32) -> Self {
        let found = Self::ALL.get(number as usize).copied();
        found.unwrap_or(Self::Unknown)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The processor begins to run the thread.
    In,
    /// It ends to run it.
    Out(Leave),
    /// The thread was made by this one; it begins a process where the process ids differ.
    Fork(ThreadId),
    /// The thread ends.
    Exit,
    /// The process became a program of this name.
    Exec(String),
    /// The thread has this name.
    Name(String),
    /// The program of the process with its arguments.
    Arguments(String),
    /// So many events were lost.
    Lost(u64),
    /// The thread waited, and can go on.
    Wake {
        /// Who ran where that happened.
        by: ThreadId,
        /// On which processor that was.
        processor: u32,
        /// Whether it was that thread's doing.
        context: Context,
    },
    /// The thread runs with this priority of the kernel's: 120 is nice 0, less than 100 is real time.
    Priority(u32),
}

/// An event of a processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// `CLOCK_MONOTONIC`, ns.
    pub time: u64,
    /// Number of the processor.
    pub processor: u32,
    /// Whose event it is; of a loss nobody's.
    pub thread: ThreadId,
    /// The event.
    pub what: What,
}

impl What {
    fn id(&self) -> u8 {
        match self {
            Self::In => 1,
            Self::Out(_) => 2,
            Self::Fork(_) => 3,
            Self::Exit => 4,
            Self::Exec(_) => 5,
            Self::Name(_) => 6,
            Self::Arguments(_) => 7,
            Self::Lost(_) => 8,
            Self::Wake { .. } => 9,
            Self::Priority(_) => 10,
        }
    }
}

impl Record {
    /// Appends the event, and before it what fills the last word of the one before. Its time has 56 bits.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.resize(out.len().next_multiple_of(4), 0);
        let header = u64::from(self.what.id()) | self.time << 8;
        out.extend(header.to_le_bytes());
        let mut put = |number: u32| out.extend(number.to_le_bytes());
        if let What::Lost(count) = self.what {
            put(count as u32);
            put((count >> 32) as u32);
            return;
        }
        put(self.thread.tid);
        put(self.thread.pid);
        match &self.what {
            What::Out(leave) => put(leave.number()),
            What::Priority(priority) => put(*priority),
            What::Wake {
                by,
                processor,
                context,
            } => {
                put(by.tid);
                put(by.pid);
                put(*processor);
                put(*context as u32);
            }
            What::Fork(parent) => {
                put(parent.tid);
                put(parent.pid);
            }
            What::Exec(text) | What::Name(text) | What::Arguments(text) => {
                let kept = text.bytes().take_while(|byte| *byte != 0).take(MOST_TEXT);
                out.extend(kept);
                out.push(0);
            }
            What::In | What::Exit | What::Lost(_) => {}
        }
    }

    /// Reads an event from the beginning of `bytes`, and how many it has; `None`: there is no whole one, or none of these kinds.
    pub(super) fn decode(bytes: &[u8], processor: u32) -> Option<(Self, usize)> {
        let header = u64::from_le_bytes(bytes.first_chunk().copied()?);
        let number = |at: usize| {
            let field = bytes.get(at..)?.first_chunk()?;
            Some(u32::from_le_bytes(*field))
        };
        let (first, second) = (number(8)?, number(12)?);
        let mut thread = ThreadId {
            tid: first,
            pid: second,
        };
        let (what, size) = match header as u8 {
            1 => (What::In, 16),
            2 => {
                let leave = match number(16)? {
                    0 => Leave::Blocked,
                    2 => Leave::Yielded,
                    _ => Leave::Ready,
                };
                (What::Out(leave), 20)
            }
            3 => {
                let parent = ThreadId {
                    tid: number(16)?,
                    pid: number(20)?,
                };
                (What::Fork(parent), 24)
            }
            4 => (What::Exit, 16),
            id @ 5..=7 => {
                let rest = bytes.get(16..)?;
                let end = rest.iter().position(|byte| *byte == 0)?;
                let text = String::from_utf8_lossy(&rest[..end]).into_owned();
                let what = match id {
                    5 => What::Exec(text),
                    6 => What::Name(text),
                    _ => What::Arguments(text),
                };
                (what, 16 + (end / 4 + 1) * 4)
            }
            8 => {
                thread = ThreadId::default();
                let count = u64::from(first) | u64::from(second) << 32;
                (What::Lost(count), 16)
            }
            9 => {
                let by = ThreadId {
                    tid: number(16)?,
                    pid: number(20)?,
                };
                let what = What::Wake {
                    by,
                    processor: number(24)?,
                    context: Context::of(number(28)?),
                };
                (what, 32)
            }
            10 => (What::Priority(number(16)?), 20),
            _ => return None,
        };
        let record = Self {
            time: header >> 8,
            processor,
            thread,
            what,
        };
        (size <= bytes.len()).then_some((record, size))
    }
}
