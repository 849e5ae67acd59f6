//! Writes synthetic traces of any byte order and word size: for tests, fuzzing and benchmarks. Shares the tables of `instr-schema`
//! with the reader, and no code. Not part of the stable interface.
#![allow(missing_docs, reason = "a test helper")]

#[rustfmt::skip]
mod events;
pub mod random;

use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::path::{Path, PathBuf};

use crate::layout::{ByteOrder, Format, Layout, WordSize};

use events::PACKED;
pub use events::{EVENTS, Row};

/// Identity of every synthetic trace.
pub const UUID: [u8; 16] = *b"\x2a\x64\x22\xd0\x6c\xee\x11\xe0\x8c\x08\xcb\x07\xd7\xb3\xa5\x64";
/// Ticks at the start of every synthetic trace.
pub const START_TICKS: u64 = 1_000_000;
/// `CLOCK_MONOTONIC` and `CLOCK_REALTIME` at the start, ns.
pub const START_MONOTONIC: u64 = 77_000_000_000;
pub const START_REALTIME: u64 = 1_795_251_600_000_000_000;
/// Bytes of packet header and context.
pub const HEADER: usize = 104;

/// An address of the program's code, of which others are near.
pub const CODE_BASE: u64 = 0x5555_5555_4000;
/// Low bits of the clock in the header of an event of version 2, and what stands there in place of the id of an extended one.
const TIME_BITS: u32 = 25;
const EXTENDED: u32 = 127;

/// The four layouts.
pub fn layouts() -> [Layout; 4] {
    let layout = |order, word| Layout {
        order,
        word,
        format: Format::Two,
        code_base: CODE_BASE,
    };
    [
        layout(ByteOrder::Little, WordSize::Eight),
        layout(ByteOrder::Little, WordSize::Four),
        layout(ByteOrder::Big, WordSize::Eight),
        layout(ByteOrder::Big, WordSize::Four),
    ]
}

/// Bytes of a user event that is near to the one before.
pub fn user_event_bytes(layout: Layout) -> usize {
    match layout.format {
        Format::One => 20,
        Format::Two => 16,
    }
}

/// All layouts, in both versions of the format.
pub fn all_layouts() -> Vec<Layout> {
    let old = |layout| Layout {
        format: Format::One,
        ..layout
    };
    layouts()
        .into_iter()
        .flat_map(|layout| [layout, old(layout)])
        .collect()
}

/// Fields of one event or header.
#[derive(Debug)]
pub struct Body {
    layout: Layout,
    pub bytes: Vec<u8>,
}

impl Body {
    pub fn new(layout: Layout) -> Self {
        Self {
            layout,
            bytes: Vec::new(),
        }
    }

    pub fn u32(&mut self, value: u32) -> &mut Self {
        match self.layout.order {
            ByteOrder::Little => self.bytes.extend_from_slice(&value.to_le_bytes()),
            ByteOrder::Big => self.bytes.extend_from_slice(&value.to_be_bytes()),
        }
        self
    }

    pub fn u64(&mut self, value: u64) -> &mut Self {
        match self.layout.order {
            ByteOrder::Little => self.bytes.extend_from_slice(&value.to_le_bytes()),
            ByteOrder::Big => self.bytes.extend_from_slice(&value.to_be_bytes()),
        }
        self
    }

    pub fn i64(&mut self, value: i64) -> &mut Self {
        self.u64(value as u64)
    }

    pub fn addr(&mut self, value: u64) -> &mut Self {
        match self.layout.word {
            WordSize::Four => self.u32(value as u32),
            WordSize::Eight => self.u64(value),
        }
    }

    pub fn text(&mut self, text: &str) -> &mut Self {
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        while !self.bytes.len().is_multiple_of(4) {
            self.bytes.push(0);
        }
        self
    }

    pub fn deps(&mut self, deps: &[(u64, u32)]) -> &mut Self {
        self.u32(deps.len() as u32);
        for (address, kind) in deps {
            self.depend(*address, *kind);
        }
        self
    }

    /// One entry of a list of dependences.
    pub fn depend(&mut self, address: u64, kind: u32) -> &mut Self {
        let Layout { order, word, .. } = self.layout;
        match (self.layout.format, word, order) {
            (Format::Two, WordSize::Eight, ByteOrder::Little) => {
                self.u64(u64::from(kind & 0xff) << 56 | address & (u64::MAX >> 8))
            }
            (Format::Two, WordSize::Eight, ByteOrder::Big) => {
                self.u64(address << 8 | u64::from(kind & 0xff))
            }
            _ => self.addr(address).u32(kind),
        }
    }

    /// Numbers of so many bits each in one word.
    fn numbers(&mut self, numbers: &[(u32, u32)]) -> &mut Self {
        let (mut word, mut first) = (0, 0);
        for (number, size) in numbers {
            let place = match self.layout.order {
                ByteOrder::Little => first,
                ByteOrder::Big => 32 - first - size,
            };
            word |= number << place;
            first += size;
        }
        self.u32(word)
    }

    fn list<T>(&mut self, entries: &[T], mut entry: impl FnMut(&mut Self, &T)) -> &mut Self {
        self.u32(entries.len() as u32);
        for of in entries {
            entry(self, of);
        }
        self
    }

    /// The header of an event at `ticks`, behind one at `last`.
    fn event_header(&mut self, id: u8, ticks: u64, last: u64) {
        let low = ticks & ((1 << 56) - 1);
        match (self.layout.format, self.layout.order) {
            (Format::One, ByteOrder::Little) => _ = self.u64(u64::from(id) | low << 8),
            (Format::One, ByteOrder::Big) => _ = self.u64(u64::from(id) << 56 | low),
            (Format::Two, _) => {
                let bits = 32 - TIME_BITS;
                if ticks.wrapping_sub(last) < 1 << TIME_BITS {
                    let low = ticks as u32 & ((1 << TIME_BITS) - 1);
                    self.numbers(&[(id.into(), bits), (low, TIME_BITS)]);
                } else {
                    self.numbers(&[(EXTENDED, bits), (id.into(), TIME_BITS)])
                        .u64(ticks);
                }
            }
        }
    }
}

/// The fields of an event of version 2 from those of version 1, where they differ but in a list of dependences. `None`: they do not, or are
/// not whole.
fn packed(id: u8, fields: &Body) -> Option<Body> {
    let layout = fields.layout;
    let (word, mut out) = (layout.word_bytes(), Body::new(layout));
    let u32 = |at: usize| Some(layout.u32(fields.bytes.get(at..at + 4)?, 0));
    // A function that is too far from the others stands with its high bits.
    let far = |function: u64| {
        let distance = function.wrapping_sub(layout.code_base).cast_signed();
        word == 8 && i32::try_from(distance).is_err()
    };
    match id {
        16 => {
            let (seq, function) = (u32(0)?, layout.addr(&fields.bytes, 4));
            let (requested, kind) = (u32(4 + word)?.min(0x1f_ffff), u32(8 + word)? & 0x1ff);
            let far = far(function);
            out.u32(seq).u32(function as u32);
            out.numbers(&[(requested, 21), (kind, 9), (far.into(), 2)]);
            if far {
                out.u32((function >> 32) as u32);
            }
        }
        18 => {
            let [thread, seq, number, size] = [u32(0)?, u32(4)?, u32(8)?, u32(12)?];
            out.u32(thread).u32(seq);
            if number.max(size) < 1 << 15 {
                out.numbers(&[(number, 15), (size, 15), (0, 2)]);
            } else {
                out.numbers(&[(0, 15), (0, 15), (2, 2)])
                    .u32(number)
                    .u32(size);
            }
        }
        40 => {
            let (seq, function) = (u32(0)?, layout.addr(&fields.bytes, 4));
            let (flags, count) = (u32(4 + word)? & 0x1f_ffff, u32(8 + word)?);
            let far = far(function);
            out.u32(seq).u32(function as u32);
            out.numbers(&[(flags, 21), (count & 0x1ff, 9), (far.into(), 2)]);
            if far {
                out.u32((function >> 32) as u32);
            }
            out.bytes.extend_from_slice(fields.bytes.get(12 + word..)?);
        }
        _ => return None,
    }
    Some(out)
}

/// State at a packet's begin that its context carries.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    pub task: (u32, u32),
    pub region: (u32, u32),
    pub flags: u32,
    pub discarded: u64,
    pub tasks_created: u32,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            task: (u32::MAX, 0),
            region: (u32::MAX, 0),
            flags: 0,
            discarded: 0,
            tasks_created: 0,
        }
    }
}

/// Writes the stream of one thread.
#[derive(Debug)]
pub struct StreamWriter<W: Write> {
    layout: Layout,
    pub thread: u32,
    limit: usize,
    pub seq: u64,
    begin: Option<u64>,
    last: u64,
    events: Body,
    pub context: Context,
    out: W,
}

impl StreamWriter<BufWriter<File>> {
    pub fn create(dir: &Path, layout: Layout, thread: u32, limit: usize) -> Result<Self> {
        let file = File::create(stream_path(dir, thread))?;
        Ok(Self::new(
            BufWriter::with_capacity(1 << 20, file),
            layout,
            thread,
            limit,
        ))
    }
}

pub fn stream_path(dir: &Path, thread: u32) -> PathBuf {
    dir.join(crate::index::stream_name(thread))
}

impl<W: Write> StreamWriter<W> {
    /// Packets are closed when they reach `limit` bytes of events.
    pub fn new(out: W, layout: Layout, thread: u32, limit: usize) -> Self {
        let context = Context::default();
        Self {
            layout,
            thread,
            limit,
            seq: 0,
            begin: None,
            last: 0,
            events: Body::new(layout),
            context,
            out,
        }
    }

    /// Writes an event; `fields` fills in its payload as it is in version 1, but for dependences ([`Body::deps`]).
    pub fn event(&mut self, ticks: u64, id: u8, fields: impl FnOnce(&mut Body)) -> Result<()> {
        let last = match self.begin {
            Some(_) => self.last,
            None => *self.begin.insert(ticks),
        };
        self.last = ticks;
        if id == 40 {
            self.context.tasks_created += 1;
        }
        self.events.event_header(id, ticks, last);
        let mut body = Body::new(self.layout);
        fields(&mut body);
        if self.layout.format == Format::Two {
            body = packed(id, &body).unwrap_or(body);
        }
        self.events.bytes.append(&mut body.bytes);
        if self.events.bytes.len() >= self.limit {
            self.close_packet()
        } else {
            Ok(())
        }
    }

    /// Writes an event of this id; `number` gives its fields, and for a list first how many entries it has, modulo 4.
    pub fn any(&mut self, ticks: u64, id: u8, number: &mut impl FnMut() -> u64) -> Result<()> {
        let row = EVENTS.iter().find(|row| row.0 == id);
        self.event(ticks, id, |body| {
            let mut count = 0;
            for (kind, name) in row.map_or(&[][..], |row| row.2) {
                let entries = if name.ends_with(']') { count } else { 1 };
                for _ in 0..entries {
                    match *kind {
                        "u32" if *name == "count" => {
                            count = number() % 4;
                            body.u32(count as u32)
                        }
                        "u32" => body.u32(number() as u32),
                        "addr" => body.addr(number()),
                        "string" => body.text(["", "a", "text"][number() as usize % 3]),
                        "depend" => body.depend(number(), number() as u32),
                        _ => body.u64(number()),
                    };
                }
            }
        })
    }

    /// Header and events of the packet being filled; `complete` or as it stands in a window.
    pub fn packet(&self, complete: bool) -> Vec<u8> {
        let mut header = Body::new(self.layout);
        let bits = if complete {
            ((HEADER + self.events.bytes.len()) * 8) as u64
        } else {
            0
        };
        header.u32(0xC1FC_1FC1).bytes.extend_from_slice(&UUID);
        header
            .u32(0)
            .u64(self.begin.unwrap_or(0))
            .u64(if complete { self.last } else { 0 })
            .u64(bits)
            .u64(bits);
        header
            .u64(self.seq)
            .u64(self.context.discarded)
            .u32(self.thread)
            .u32(4000 + self.thread);
        header.u32(self.context.task.0).u32(self.context.task.1);
        header.u32(self.context.region.0).u32(self.context.region.1);
        header
            .u32(self.context.flags)
            .u32(self.context.tasks_created);
        header.bytes.extend_from_slice(&self.events.bytes);
        header.bytes
    }

    /// Drops the packet being filled (its number with it), as a loss would.
    pub fn lose_packet(&mut self) {
        self.seq += 1;
        self.begin = None;
        self.events.bytes.clear();
    }

    pub fn close_packet(&mut self) -> Result<()> {
        if self.begin.is_some() {
            let packet = self.packet(true);
            self.out.write_all(&packet)?;
            self.lose_packet();
        }
        Ok(())
    }

    pub fn finish(mut self) -> Result<W> {
        self.close_packet()?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A window file: `slots` packets (complete or being filled), `slot` the one being filled.
pub fn window(
    layout: Layout,
    thread: u32,
    slots: &[Vec<u8>],
    slot: usize,
    next_seq: u64,
) -> Vec<u8> {
    let slot_bytes = slots
        .iter()
        .map(Vec::len)
        .max()
        .unwrap_or(0)
        .next_multiple_of(4096) as u64;
    let base: u64 = 0x40_0000;
    let word = match layout.word {
        WordSize::Four => 4,
        WordSize::Eight => 8,
    };
    let mut file = Body::new(layout);
    file.u32(0x1257_111D)
        .u32(1)
        .u32(4096)
        .u32(word)
        .u32(1)
        .u32(thread);
    file.u64(slot_bytes * slots.len() as u64)
        .u64(0)
        .u64(next_seq)
        .u32(slots.len() as u32)
        .u32(slot as u32);
    file.addr(base)
        .addr(base + slot as u64 * slot_bytes + slots[slot].len() as u64);
    file.bytes.resize(4096, 0);
    for bytes in slots {
        let end = file.bytes.len() + slot_bytes as usize;
        file.bytes.extend_from_slice(bytes);
        file.bytes.resize(end, 0);
    }
    file.bytes
}

/// The metadata text.
pub fn metadata(layout: Layout, freq: u64, closed: bool) -> String {
    let (bits, target) = match (layout.word, layout.order) {
        (WordSize::Four, ByteOrder::Big) => (32, "sparc-linux"),
        (WordSize::Four, ByteOrder::Little) => (32, "i686-linux"),
        (WordSize::Eight, ByteOrder::Big) => (64, "sparc64-linux"),
        (WordSize::Eight, ByteOrder::Little) => (64, "x86_64-linux"),
    };
    let order = if layout.order == ByteOrder::Big {
        "be"
    } else {
        "le"
    };
    let closed = u32::from(closed);
    let (format, header) = match layout.format {
        Format::One => (1, HEADER_1),
        Format::Two => (2, HEADER_2),
    };
    let depend = match (layout.format, layout.word) {
        (Format::Two, WordSize::Eight) => {
            "struct { integer { size = 56; align = 8; base = 16; } address; u8 kind; } align(32)"
        }
        _ => "struct { addr address; u32 kind; }",
    };
    let code_base = layout.code_base;
    let mut text = format!(
        r#"/* CTF 1.8 */
typealias integer {{ size = 8; align = 8; signed = false; }} := u8;
typealias integer {{ size = 32; align = 32; signed = false; }} := u32;
typealias integer {{ size = 64; align = 32; signed = false; }} := u64;
typealias integer {{ size = 64; align = 32; signed = true; }} := i64;
typealias integer {{ size = {bits}; align = 32; signed = false; base = 16; }} := addr;
typealias integer {{ size = 32; align = 32; signed = false; base = 16; }} := code;
trace {{
  major = 1; minor = 8; byte_order = {order}; uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";
  packet.header := struct {{ u32 magic; u8 uuid[16]; u32 stream_id; }};
}};
env {{
  tracer_name = "instr"; tracer_major = 0; tracer_minor = 1; format = {format}; hostname = "host"; pid = 4000;
  program = "synth"; executable = "/opt/synth"; target = "{target}"; word_bits = {bits}; policy = "stream";
  buffer_bytes = 262144; clock_source = "synthetic"; start_ticks = {START_TICKS}; code_base = {code_base};
  start_monotonic_ns = {START_MONOTONIC}; start_realtime_ns = {START_REALTIME}; openmp = "libgomp"; closed = {closed};
  module_0 = "0 1000000 abcdef01 /opt/synth";
}};
clock {{ name = instr; freq = {freq}; offset_s = 0; offset = 0; }};
typealias integer {{ size = 64; align = 32; signed = false; map = clock.instr.value; }} := clock_ticks;
stream {{
  id = 0;
  packet.context := struct {{
    clock_ticks timestamp_begin; clock_ticks timestamp_end; u64 content_size; u64 packet_size; u64 packet_seq_num; u64 events_discarded;
    u32 thread; u32 os_tid; u32 task_thread; u32 task_seq; u32 region_thread; u32 region_seq; u32 flags; u32 tasks_created;
  }};
  event.header := {header};
}};
"#
    );
    for (id, name, fields) in EVENTS {
        let packed = PACKED.iter().find(|row| row.0 == *id);
        let fields = match (layout.format, packed) {
            (Format::Two, Some(row)) => row.2,
            _ => fields,
        };
        let fields: String = fields
            .iter()
            .map(|(kind, name)| match *kind {
                "depend" => format!("{depend} {name};"),
                "u8" => format!("u8 {name};"),
                kind => match kind
                    .strip_prefix('u')
                    .filter(|bits| !["32", "64"].contains(bits))
                {
                    Some(bits) => format!("integer {{ size = {bits}; }} {name};"),
                    None => format!("{kind} {name};"),
                },
            })
            .collect();
        text.push_str(&format!("event {{ id = {id}; name = \"{name}\"; stream_id = 0; fields := struct {{ {fields} }}; }};\n"));
    }
    text
}

const HEADER_1: &str = "struct {
    integer { size = 8; align = 32; signed = false; } id;
    integer { size = 56; align = 1; signed = false; map = clock.instr.value; } timestamp;
  } align(32)";

const HEADER_2: &str = "struct {
    enum : integer { size = 7; } { compact = 0 ... 126, extended = 127 } id;
    variant <id> {
      struct { integer { size = 25; map = clock.instr.value; } timestamp; } compact;
      struct { integer { size = 25; } id; integer { size = 64; align = 1; map = clock.instr.value; } timestamp; } extended;
    } v;
  } align(32)";

/// Makes the directory and its metadata file.
pub fn begin(dir: &Path, layout: Layout, freq: u64) -> Result<()> {
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join("metadata"), metadata(layout, freq, true))
}

/// `count` user events spread over `threads` threads, `step` ticks (of 1 ns) between two of them.
pub fn user_events(dir: &Path, layout: Layout, threads: u32, count: u64, step: u64) -> Result<()> {
    begin(dir, layout, 1_000_000_000)?;
    for thread in 0..threads {
        let mut stream = StreamWriter::create(dir, layout, thread, 256 << 10)?;
        let mut ticks = START_TICKS + u64::from(thread);
        stream.event(ticks, 1, |body| {
            _ = body.u32(4000 + thread).u32(u32::from(thread == 0))
        })?;
        for number in (u64::from(thread)..count).step_by(threads as usize) {
            ticks = START_TICKS + 10 + number * step;
            stream.event(ticks, 8, |body| {
                _ = body.u32(1000 + (number % 7) as u32).u64(number)
            })?;
        }
        stream.event(ticks + 10, 2, |_| {})?;
        stream.finish()?;
    }
    Ok(())
}

/// About `events` events of tasks: thread 0 creates them in a parallel region, all others run them; each has one `inout`
/// dependence on one of 64 addresses. Returns the number of tasks.
pub fn tasks(dir: &Path, layout: Layout, threads: u32, events: u64) -> Result<u64> {
    begin(dir, layout, 1_000_000_000)?;
    let (workers, count) = (threads.max(2) - 1, events / 4);
    let mut streams = Vec::new();
    for thread in 0..=workers {
        let mut stream = StreamWriter::create(dir, layout, thread, 256 << 10)?;
        let now = START_TICKS + u64::from(thread);
        stream.event(now, 1, |body| {
            _ = body.u32(4000 + thread).u32(u32::from(thread == 0))
        })?;
        if thread == 0 {
            stream.event(now + 20, 16, |body| {
                _ = body.u32(1).addr(0x1000).u32(0).u32(0)
            })?;
        }
        let team = workers + 1;
        stream.event(now + 40, 18, |body| {
            _ = body.u32(0).u32(1).u32(thread).u32(team)
        })?;
        streams.push(stream);
    }
    let mut now = START_TICKS + 1000;
    for number in 0..count {
        let seq = number as u32;
        streams[0].event(now, 40, |body| {
            body.u32(seq)
                .addr(0x2000 + number % 3 * 0x100)
                .u32(8)
                .deps(&[(0x9000 + number % 64 * 8, 2)]);
        })?;
        streams[0].event(now + 30, 41, |_| {})?;
        // A worker runs every `workers`-th task, four creations later.
        let worker = &mut streams[1 + (number % u64::from(workers)) as usize];
        worker.event(now + 400, 42, |body| _ = body.u32(0).u32(seq))?;
        worker.event(now + 400 + 80 * u64::from(workers), 43, |_| {})?;
        now += 100;
    }
    now += 10_000;
    for stream in &mut streams {
        stream.event(now, 19, |_| {})?;
    }
    streams[0].event(now + 100, 17, |body| _ = body.u32(1))?;
    for mut stream in streams {
        stream.event(now + 200, 2, |_| {})?;
        stream.finish()?;
    }
    Ok(count)
}
