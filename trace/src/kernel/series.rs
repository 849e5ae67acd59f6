//! Series: what a thread of `instr run` read of the machine and of processes while the program ran. Their file, written and read.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use instr_schema::series::{HEADER_BYTES, MODULE, STREAM};

use super::FOLDER;
use crate::error::Error;
use crate::packet::MAGIC;

/// Name of the file in the kernel's part.
pub const FILE: &str = "series_0000";
/// Bytes at which a packet is written.
const PACKET: usize = 32 << 10;
/// Packets are no larger.
const MAX_PACKET: usize = 1 << 20;
/// Bytes of a text that are kept.
const MOST_TEXT: usize = 1024;
/// Series of one recording.
pub const MOST_SERIES: u32 = 1 << 20;

macro_rules! numbered {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $number:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$of])* $variant = $number),+ }

        impl $name {
            /// All of them, by number.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            fn of(number: u32) -> Option<Self> {
                Self::ALL.get(usize::try_from(number).ok()?).copied()
            }
        }
    };
}

numbered! {
    /// What reads a series: the tables of a configuration.
    Module {
        /// Events of perf, of threads.
        Counters = 0,
        /// Memory controllers.
        MemoryTraffic = 1,
        /// Where the memory of processes is.
        Numa = 2,
        /// Energy by RAPL.
        Energy = 3,
        /// Clocks of processors.
        Frequency = 4,
        /// Pressure stall information.
        Pressure = 5,
        /// Memory, faults, input and output of processes.
        Process = 6,
        /// How busy processors are.
        Processors = 7,
    }
}

numbered! {
    /// What a series is of.
    Scope {
        /// The machine.
        Machine = 0,
        /// A node of memory.
        Node = 1,
        /// A processor.
        Processor = 2,
        /// The program and all that it started.
        Tree = 3,
        /// A process.
        Process = 4,
        /// A thread.
        Thread = 5,
    }
}

numbered! {
    /// What the values of a series mean.
    Nature {
        /// How much there is at this time.
        Level = 0,
        /// How much there was since the begin of the series.
        Total = 1,
    }
}

numbered! {
    /// The unit of a series.
    Unit {
        /// A number of things.
        Count = 0,
        /// Nanoseconds.
        Ns = 1,
        /// Bytes.
        Bytes = 2,
        /// Microjoules.
        Microjoules = 3,
        /// Hertz.
        Hertz = 4,
        /// Parts of a million.
        Ppm = 5,
    }
}

impl Module {
    /// The name of its table in a configuration.
    #[must_use]
    pub fn word(self) -> &'static str {
        MODULE.values[self as usize].c
    }
}

impl Scope {
    /// The word in JSON and in tables.
    #[must_use]
    pub fn word(self) -> &'static str {
        instr_schema::series::SCOPE.values[self as usize].c
    }
}

impl Unit {
    /// The unit's sign; `-`: a number.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Count => "-",
            other => instr_schema::series::UNIT.values[other as usize].c,
        }
    }
}

/// What a series is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Definition {
    /// What reads it.
    pub module: Module,
    /// What it is of.
    pub scope: Scope,
    /// The process; 0: of none.
    pub pid: u32,
    /// Of the node, processor or thread; else 0.
    pub number: u32,
    /// What its values mean.
    pub nature: Nature,
    /// Their unit.
    pub unit: Unit,
    /// What is measured.
    pub name: String,
}

impl Definition {
    /// What is measured, and of what: `busy, processor 1`. Where it is shown with its own process or thread (`own`), that needs no number.
    #[must_use]
    pub fn described(&self, own: bool) -> String {
        let (name, scope) = (&self.name, self.scope.word());
        match self.scope {
            Scope::Machine | Scope::Tree => format!("{name}, {scope}"),
            Scope::Process | Scope::Thread if own => format!("{name}, {scope}"),
            Scope::Process => format!("{name}, {scope} {}", self.pid),
            Scope::Node | Scope::Processor | Scope::Thread => {
                format!("{name}, {scope} {}", self.number)
            }
        }
    }
}

/// An event of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A series, by its number.
    Series(u32, Definition),
    /// A value of a series.
    Value(u32, u64),
    /// A value that was not counted all the time.
    Estimate {
        /// Number of the series.
        series: u32,
        /// What it would have been.
        value: u64,
        /// What was counted.
        counted: u64,
        /// In how much time it should have been counted, ns.
        enabled_ns: u64,
        /// In how much it was, ns.
        running_ns: u64,
    },
    /// What a module does not have here.
    Refused(Module, String),
    /// How a module was read.
    Readings {
        /// The module.
        module: Module,
        /// Readings that were left out.
        late: u32,
        /// What lies between two, ns.
        period_ns: u64,
        /// How many there were.
        readings: u64,
        /// How long they took together, ns.
        ns: u64,
    },
}

/// An event and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// `CLOCK_MONOTONIC`, ns.
    pub time: u64,
    /// What it says.
    pub what: What,
}

/// What a count would have been, had it been counted all the time: `counted · enabled / running`, rounded; `None`: it was never counted.
#[must_use]
pub fn scaled(counted: u64, enabled_ns: u64, running_ns: u64) -> Option<u64> {
    if running_ns == 0 {
        return None;
    }
    let (counted, enabled, running) = (
        u128::from(counted),
        u128::from(enabled_ns.max(running_ns)),
        u128::from(running_ns),
    );
    let value = counted.saturating_mul(enabled).saturating_add(running / 2) / running;
    Some(u64::try_from(value).unwrap_or(u64::MAX))
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    let mut end = text.len().min(MOST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    out.extend(text.bytes().take(end).take_while(|byte| *byte != 0));
    let ends = (out.len() / 4 + 1) * 4;
    out.resize(ends, 0);
}

impl Event {
    fn encode(&self, out: &mut Vec<u8>) {
        let id: u64 = match self.what {
            What::Series(..) => 1,
            What::Value(..) => 2,
            What::Estimate { .. } => 3,
            What::Refused(..) => 4,
            What::Readings { .. } => 5,
        };
        out.extend((id | self.time << 8).to_le_bytes());
        let small = |out: &mut Vec<u8>, number: u32| out.extend(number.to_le_bytes());
        let wide = |out: &mut Vec<u8>, number: u64| out.extend(number.to_le_bytes());
        match &self.what {
            What::Series(series, of) => {
                let (module, scope) = (of.module as u32, of.scope as u32);
                let (nature, unit) = (of.nature as u32, of.unit as u32);
                for field in [*series, module, scope, of.pid, of.number, nature] {
                    small(out, field);
                }
                put_text(out, &of.name);
                small(out, unit);
            }
            What::Value(series, value) => {
                small(out, *series);
                wide(out, *value);
            }
            What::Estimate {
                series,
                value,
                counted,
                enabled_ns,
                running_ns,
            } => {
                small(out, *series);
                for field in [value, counted, enabled_ns, running_ns] {
                    wide(out, *field);
                }
            }
            What::Refused(module, why) => {
                put_text(out, why);
                small(out, *module as u32);
            }
            What::Readings {
                module,
                late,
                period_ns,
                readings,
                ns,
            } => {
                small(out, *module as u32);
                small(out, *late);
                for field in [period_ns, readings, ns] {
                    wide(out, *field);
                }
            }
        }
    }

    /// Reads an event from the beginning of `bytes`, and how many it has; `None`: there is no whole one, or none of these kinds.
    fn decode(bytes: &[u8]) -> Option<(Self, usize)> {
        let header = u64::from_le_bytes(bytes.first_chunk().copied()?);
        let small = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let wide = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let text = |at: usize| {
            let rest = bytes.get(at..)?;
            let end = rest.iter().position(|byte| *byte == 0)?;
            let text = String::from_utf8_lossy(&rest[..end]).into_owned();
            Some((text, at + (end / 4 + 1) * 4))
        };
        let (what, size) = match header as u8 {
            1 => {
                let (name, end) = text(32)?;
                let definition = Definition {
                    module: Module::of(small(12)?)?,
                    scope: Scope::of(small(16)?)?,
                    pid: small(20)?,
                    number: small(24)?,
                    nature: Nature::of(small(28)?)?,
                    unit: Unit::of(small(end)?)?,
                    name,
                };
                (What::Series(small(8)?, definition), end + 4)
            }
            2 => (What::Value(small(8)?, wide(12)?), 20),
            3 => {
                let what = What::Estimate {
                    series: small(8)?,
                    value: wide(12)?,
                    counted: wide(20)?,
                    enabled_ns: wide(28)?,
                    running_ns: wide(36)?,
                };
                (what, 44)
            }
            4 => {
                let (why, end) = text(8)?;
                (What::Refused(Module::of(small(end)?)?, why), end + 4)
            }
            5 => {
                let what = What::Readings {
                    module: Module::of(small(8)?)?,
                    late: small(12)?,
                    period_ns: wide(16)?,
                    readings: wide(24)?,
                    ns: wide(32)?,
                };
                (what, 40)
            }
            _ => return None,
        };
        let time = header >> 8;
        (size <= bytes.len()).then_some((Self { time, what }, size))
    }
}

/// Writes the stream.
#[derive(Debug)]
pub struct Writer {
    file: File,
    uuid: [u8; 16],
    packet: Vec<u8>,
    begin: u64,
    last: u64,
    sequence: u64,
}

impl Writer {
    /// Makes the stream's file in the folder.
    ///
    /// # Errors
    ///
    /// When it cannot be made, or is there.
    pub fn new(folder: &Path, uuid: [u8; 16]) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(0o600);
        Ok(Self {
            file: options.open(folder.join(FILE))?,
            uuid,
            packet: vec![0; HEADER_BYTES],
            begin: 0,
            last: 0,
            sequence: 0,
        })
    }

    /// Adds an event. One that is earlier than the one before gets its time.
    ///
    /// # Errors
    ///
    /// When a packet that is full cannot be written; its events are lost then.
    pub fn add(&mut self, mut event: Event) -> io::Result<()> {
        event.time = event.time.max(self.last);
        if self.packet.len() == HEADER_BYTES {
            self.begin = event.time;
        }
        self.last = event.time;
        event.encode(&mut self.packet);
        match self.packet.len() < PACKET {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes what there is.
    ///
    /// # Errors
    ///
    /// Those of the file.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.packet.len() == HEADER_BYTES {
            return Ok(());
        }
        let bits = self.packet.len() as u64 * 8;
        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend(MAGIC.to_le_bytes());
        header.extend(self.uuid);
        header.extend(STREAM.to_le_bytes());
        let context = [self.begin, self.last, bits, bits, self.sequence, 0];
        header.extend(context.iter().flat_map(|number| number.to_le_bytes()));
        self.packet[..HEADER_BYTES].copy_from_slice(&header);
        self.sequence += 1;
        let written = self.file.write_all(&self.packet);
        self.packet.truncate(HEADER_BYTES);
        written
    }
}

/// Reads the stream, a packet at a time.
#[derive(Debug)]
pub struct Events {
    path: PathBuf,
    file: BufReader<File>,
    packet: Vec<u8>,
    at: usize,
    last: u64,
    series: u32,
    damaged: bool,
}

impl Events {
    /// Opens the stream of the trace in `dir`; `None`: it has none.
    ///
    /// # Errors
    ///
    /// A file that cannot be opened.
    pub fn of_trace(dir: &Path) -> Result<Option<Self>, Error> {
        let path = dir.join(FOLDER).join(FILE);
        let is_file = path.symlink_metadata().is_ok_and(|status| status.is_file());
        if !is_file {
            return Ok(None);
        }
        let file = crate::input::open(&path).map_err(Error::io("read", &path))?;
        Ok(Some(Self {
            path,
            file: BufReader::with_capacity(64 << 10, file),
            packet: Vec::new(),
            at: 0,
            last: 0,
            series: 0,
            damaged: false,
        }))
    }

    /// Whether the stream is damaged or cut, as far as it was read.
    #[must_use]
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// The next event. Series come with rising numbers from 0 on, and values only of series that were defined: anything else is damage.
    ///
    /// # Errors
    ///
    /// A stream that cannot be read any more. Damage is none: what is behind it is left out.
    #[allow(clippy::should_implement_trait, reason = "it can fail")]
    pub fn next(&mut self) -> Result<Option<Event>, Error> {
        if self.damaged {
            return Ok(None);
        }
        while self.at >= self.packet.len() {
            match self.packet() {
                Ok(Some(true)) => {}
                Ok(None) => return Ok(None),
                Ok(Some(false)) => return Ok(self.damage()),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(self.damage());
                }
                Err(error) => return Err(Error::io("read", &self.path)(error)),
            }
        }
        let Some((mut event, size)) = Event::decode(&self.packet[self.at..]) else {
            return Ok(self.damage());
        };
        let is_sound = match event.what {
            What::Series(number, _) => number == self.series && number < MOST_SERIES,
            What::Value(series, _) | What::Estimate { series, .. } => series < self.series,
            What::Refused(..) | What::Readings { .. } => true,
        };
        if !is_sound {
            return Ok(self.damage());
        }
        self.series += u32::from(matches!(event.what, What::Series(..)));
        self.at += size;
        event.time = event.time.max(self.last);
        self.last = event.time;
        Ok(Some(event))
    }

    fn damage(&mut self) -> Option<Event> {
        self.damaged = true;
        None
    }

    /// Reads the next packet; `None` at the end, `false` where something else stands there.
    fn packet(&mut self) -> io::Result<Option<bool>> {
        let mut header = [0; HEADER_BYTES];
        let mut first = [0];
        if self.file.read(&mut first)? == 0 {
            return Ok(None);
        }
        header[0] = first[0];
        self.file.read_exact(&mut header[1..])?;
        let number = |at: usize| {
            let field = header[at..].first_chunk().copied();
            u64::from_le_bytes(field.unwrap_or_default())
        };
        let (content, size) = (number(40), number(48));
        let bytes = usize::try_from(content / 8).unwrap_or(usize::MAX);
        let is_sound = header[..4] == MAGIC.to_le_bytes()
            && header[20..24] == STREAM.to_le_bytes()
            && content == size
            && content % 8 == 0
            && (HEADER_BYTES..=MAX_PACKET).contains(&bytes);
        if !is_sound {
            return Ok(Some(false));
        }
        self.packet.resize(bytes - HEADER_BYTES, 0);
        self.at = 0;
        self.file.read_exact(&mut self.packet)?;
        Ok(Some(true))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_kinds() -> Vec<Event> {
        let definition = Definition {
            module: Module::Energy,
            scope: Scope::Node,
            pid: 7,
            number: 3,
            nature: Nature::Total,
            unit: Unit::Microjoules,
            name: "package é".into(),
        };
        let whats = [
            What::Series(0, definition),
            What::Value(0, u64::MAX),
            What::Estimate {
                series: 0,
                value: 4,
                counted: 2,
                enabled_ns: 20,
                running_ns: 10,
            },
            What::Refused(Module::Numa, "no numa_maps".into()),
            What::Readings {
                module: Module::Processors,
                late: 1,
                period_ns: 5,
                readings: 6,
                ns: 7,
            },
        ];
        let at = |(at, what)| Event {
            time: 100 + at as u64,
            what,
        };
        whats.into_iter().enumerate().map(at).collect()
    }

    fn written(dir: &Path, events: &[Event]) {
        std::fs::create_dir_all(dir.join(FOLDER)).unwrap();
        let mut writer = Writer::new(&dir.join(FOLDER), [1; 16]).unwrap();
        for event in events {
            writer.add(event.clone()).unwrap();
        }
        writer.flush().unwrap();
    }

    fn read(dir: &Path) -> (Vec<Event>, bool) {
        let mut events = Events::of_trace(dir).unwrap().unwrap();
        let mut all = Vec::new();
        while let Some(event) = events.next().unwrap() {
            all.push(event);
        }
        (all, events.is_damaged())
    }

    #[test]
    fn what_is_written_is_read_over_many_packets() {
        let dir = tempfile::tempdir().unwrap();
        let mut events = all_kinds();
        events.extend((0..10_000).map(|at| Event {
            time: 1000 + at,
            what: What::Value(0, at),
        }));
        written(dir.path(), &events);
        assert_eq!(read(dir.path()), (events, false));
        assert!(
            Events::of_trace(&dir.path().join("none"))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn damage_ends_the_stream_and_is_told() {
        let dir = tempfile::tempdir().unwrap();
        written(dir.path(), &all_kinds());
        let path = dir.path().join(FOLDER).join(FILE);
        let whole = std::fs::read(&path).unwrap();
        for end in 1..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            assert_eq!(read(dir.path()), (Vec::new(), true), "cut at {end}");
        }
        for at in 0..whole.len() {
            for bit in [1, 0x80] {
                let mut bytes = whole.clone();
                bytes[at] ^= bit;
                std::fs::write(&path, &bytes).unwrap();
                assert!(read(dir.path()).0.len() <= all_kinds().len());
            }
        }
    }

    #[test]
    fn a_value_of_a_series_that_was_not_defined_is_damage() {
        let dir = tempfile::tempdir().unwrap();
        let value = |series| Event {
            time: 0,
            what: What::Value(series, 1),
        };
        written(dir.path(), &[all_kinds()[0].clone(), value(0), value(1)]);
        let (events, damaged) = read(dir.path());
        assert_eq!((events.len(), damaged), (2, true));
    }

    #[test]
    fn the_schema_has_the_words_and_sizes_that_are_written() {
        use instr_schema::series::{EVENTS, NATURE, SCOPE, UNIT};
        let same = |debug: Vec<String>, kind: &instr_schema::Kind| {
            let words: Vec<_> = kind
                .values
                .iter()
                .map(|value| value.rust.to_owned())
                .collect();
            assert_eq!(debug, words);
        };
        same(
            Module::ALL.iter().map(|it| format!("{it:?}")).collect(),
            &MODULE,
        );
        same(
            Scope::ALL.iter().map(|it| format!("{it:?}")).collect(),
            &SCOPE,
        );
        same(
            Nature::ALL.iter().map(|it| format!("{it:?}")).collect(),
            &NATURE,
        );
        same(
            Unit::ALL.iter().map(|it| format!("{it:?}")).collect(),
            &UNIT,
        );
        let sizes = all_kinds().into_iter().map(|event| {
            let mut bytes = Vec::new();
            event.encode(&mut bytes);
            assert!(EVENTS.iter().any(|known| known.id == bytes[0]));
            bytes.len()
        });
        assert_eq!(sizes.collect::<Vec<_>>(), [48, 20, 44, 28, 40]);
    }

    #[test]
    fn what_was_counted_a_part_of_the_time_is_scaled() {
        assert_eq!(scaled(1000, 100, 100), Some(1000));
        assert_eq!(scaled(1000, 400, 100), Some(4000));
        assert_eq!(scaled(10, 3, 2), Some(15));
        assert_eq!(scaled(1, 3, 2), Some(2), "rounded to the nearest, half up");
        assert_eq!(scaled(7, 50, 100), Some(7), "never made less");
        assert_eq!(scaled(7, 50, 0), None);
        assert_eq!(scaled(u64::MAX, u64::MAX, 1), Some(u64::MAX));
    }
}
