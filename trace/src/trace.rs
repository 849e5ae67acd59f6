//! A trace directory, opened.

use std::path::{Path, PathBuf};

use crate::clock::{Clock, SyncPairs};
use crate::error::{Error, Warning};
use crate::event::{Event, Payload, thread_flags};
use crate::index::{FORKED, Files, STARTED, SWITCHES, child, index};
use crate::kernel::{FOLDER, Part};
use crate::merge::Merge;
use crate::metadata::{DRAFT, Metadata};
use crate::packet::{self, PacketInfo, Stream, Warnings};
use crate::stream::StreamReader;

/// Bytes of buffers for all streams of a merge together, as long as each gets [`MIN_BUFFER`].
const MERGE_BUFFERS: usize = 32 << 20;
const MIN_BUFFER: usize = 16 << 10;
const MAX_BUFFER: usize = 256 << 10;
/// Events at the begin of each packet that are searched for clock pairs; first and last packet are read whole.
const SYNC_SEARCH: usize = 8;
/// Characters of a thread's name that are kept.
const MOST_NAME: usize = 64;
/// Packets at the begin of a stream that are read whole as long as it is not known whether the thread is a worker.
const WORKER_SEARCH: usize = 4;

/// The kernel's part of a trace. What cannot be read is a warning: the trace is whole without it.
fn kernel_part(dir: &Path, warnings: &mut Warnings) -> Option<Part> {
    let is_child = |dir: &Path| {
        let name = dir.file_name().unwrap_or_default().as_encoded_bytes();
        [FORKED, STARTED]
            .iter()
            .any(|prefix| name.starts_with(prefix.as_bytes()))
    };
    let mut outermost = dir;
    while let Some(parent) = outermost.parent().filter(|_| is_child(outermost)) {
        outermost = parent;
    }
    Part::of_trace(outermost).unwrap_or_else(|error| {
        warnings.add(&outermost.join(FOLDER), 0, error.to_string());
        None
    })
}

/// One thread of the traced process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadInfo {
    /// Index of the thread, as in [`crate::Event::thread`].
    pub index: u32,
    /// The kernel's thread id; 0 when unknown.
    pub os_tid: u32,
    /// A name to show.
    pub name: String,
    /// Whether it is the thread that runs `main`.
    pub initial: bool,
    /// It is in another thread's region before it leads one of its own: it waits for that from its begin on.
    pub worker: bool,
    /// First event, ns since the trace's start.
    pub first_time: u64,
    /// Last event, ns since the trace's start.
    pub last_time: u64,
    /// Events that the runtime lost.
    pub discarded: u64,
    /// Whether part of the stream is damaged or missing at its end.
    pub truncated: bool,
    /// Packets of the stream.
    pub packets: usize,
    /// Bytes of the stream's packets.
    pub bytes: u64,
}

/// A trace: one directory, one process.
#[derive(Debug)]
pub struct Trace {
    dir: PathBuf,
    metadata: Metadata,
    clock: Clock,
    streams: Vec<Stream>,
    threads: Vec<ThreadInfo>,
    /// Threads of the runtime's own: their streams come last.
    own: Vec<ThreadInfo>,
    processors: Vec<Stream>,
    /// Of `processors`: `os_tid` is the processor's number.
    processor_infos: Vec<ThreadInfo>,
    /// Of threads' context switches.
    switches: Vec<Stream>,
    switch_infos: Vec<ThreadInfo>,
    children: Vec<PathBuf>,
    /// Who ran on which processor, as the launcher recorded it.
    kernel: Option<Part>,
    warnings: Warnings,
    has_tasks: bool,
    repairable: bool,
}

impl Trace {
    /// Opens the trace in `dir`: reads its metadata and indexes its packets. Forked children are only listed, see
    /// [`Trace::children`]. Damage is no error: what can be read is read, the rest is reported by [`Trace::warnings`].
    pub fn open(dir: impl AsRef<Path>) -> Result<Self, Error> {
        let dir = dir.as_ref();
        if dir.is_file() {
            return Err(Error::NotATrace {
                path: dir.to_owned(),
                why: "it is a file, and a trace is a folder".into(),
            });
        }
        let files = Files::list(dir)?;
        let Some(path) = Metadata::file_in(dir) else {
            return Err(Error::NotATrace {
                path: dir.to_owned(),
                why: "it holds no metadata file".into(),
            });
        };
        let mut metadata = Metadata::read(&path)?;
        let mut warnings = Warnings::default();
        if path.file_name().is_some_and(|name| name == DRAFT) {
            let what = "the metadata have not got their name: the run ended at once, or the system refused it";
            warnings.add(&path, 0, what);
        }
        if let Some(at) = metadata.cut {
            let what = "the text ends in the middle of a block: what follows is missing";
            warnings.add(&path, at, what);
        }
        for link in &files.links {
            warnings.add(link, 0, "a link to another trace is not followed");
        }
        if let Some(first) = files.unreadable.first() {
            let what = match files.unreadable.len() {
                1 => "the process has no metadata: there was no room for its trace".to_owned(),
                many => format!(
                    "{many} processes, this one and others, have no metadata: there was no room for their traces"
                ),
            };
            warnings.add(first, 0, what);
        }
        let indexed = index(dir, files, &metadata, &mut warnings)?;
        let files = indexed.files;
        let beside = [indexed.unattached, files.discarded];
        metadata.discarded_unattached = beside
            .into_iter()
            .fold(metadata.discarded_unattached, u64::saturating_add);
        let mut trace = Self {
            dir: dir.to_owned(),
            clock: Clock::new(&metadata, SyncPairs::default()),
            metadata,
            streams: indexed.streams,
            threads: Vec::new(),
            own: Vec::new(),
            processors: Vec::new(),
            processor_infos: Vec::new(),
            switches: Vec::new(),
            switch_infos: Vec::new(),
            children: files.children,
            kernel: kernel_part(dir, &mut warnings),
            warnings,
            has_tasks: false,
            repairable: indexed.repairable,
        };
        #[cfg(test)]
        tests::meanwhile();
        trace.scan()?;
        Ok(trace)
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the trace says about itself.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Ticks to nanoseconds.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The program's threads in order of their index; those of the runtime's own are not among them.
    pub fn threads(&self) -> &[ThreadInfo] {
        &self.threads
    }

    /// Threads of the runtime's own, which read sensors: the program does not know of them, and their events are in the merge only.
    pub fn own_threads(&self) -> &[ThreadInfo] {
        &self.own
    }

    fn all_threads(&self) -> impl Iterator<Item = &ThreadInfo> {
        self.threads.iter().chain(&self.own)
    }

    /// With the streams of processors and of context switches.
    fn all_streams(&self) -> impl Iterator<Item = &ThreadInfo> {
        let others = self.processor_infos.iter().chain(&self.switch_infos);
        self.all_threads().chain(others)
    }

    /// Whether this is the trace of a program that another one started, in whose trace it lies (`exec-PID`).
    pub fn is_started(&self) -> bool {
        let name = self.dir.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(STARTED) && child(name).is_some())
    }

    /// Directories of the traces of forked children and of programs that were started, by process id.
    pub fn children(&self) -> &[PathBuf] {
        &self.children
    }

    /// Last event of all threads, ns since the start.
    pub fn end_time(&self) -> u64 {
        self.threads
            .iter()
            .map(|thread| thread.last_time)
            .max()
            .unwrap_or(0)
    }

    /// Bytes of all packets.
    pub fn bytes(&self) -> u64 {
        self.all_threads().map(|thread| thread.bytes).sum()
    }

    /// Events that the runtime lost, of all threads and processors, and of threads that have no stream; and those that were lost with
    /// lines of a console.
    pub fn discarded(&self) -> u64 {
        let counts = self.all_streams().map(|thread| thread.discarded);
        let others = [
            self.metadata.discarded_unattached,
            self.metadata.lost_events.unwrap_or(0),
        ];
        counts.chain(others).fold(0, u64::saturating_add)
    }

    /// Streams that are damaged or cut short.
    pub fn truncated_streams(&self) -> usize {
        self.all_streams().filter(|thread| thread.truncated).count()
    }

    /// The first hundred troubles met while indexing.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings.list
    }

    /// All troubles met while indexing, also those not kept in [`Trace::warnings`].
    pub fn warning_count(&self) -> u64 {
        self.warnings.count
    }

    /// What was met while events were read, which is more than [`Trace::warnings`] has: packets whose rest holds no events. The first hundred, and
    /// how many there are.
    pub fn unreadable(&self) -> (Vec<Warning>, u64) {
        let mut found = Warnings::default();
        for stream in self.streams.iter().chain(self.other_streams()) {
            stream.unreadable(&mut found);
        }
        (found.list, found.count)
    }

    /// Whether any explicit task was created (never `false` for a trace with tasks).
    pub fn has_tasks(&self) -> bool {
        self.has_tasks
    }

    /// Whether the directory is no plain CTF trace as it is: it has windows, or packets that other readers refuse.
    pub fn needs_repair(&self) -> bool {
        self.repairable
    }

    /// The packets of the thread at `position` in [`Trace::threads`].
    pub fn packets(&self, position: usize) -> &[PacketInfo] {
        self.streams
            .get(position)
            .map_or(&[], |stream| &stream.packets)
    }

    /// Position in [`Trace::threads`] of the thread with this index.
    #[inline]
    pub fn position(&self, index: u32) -> Option<usize> {
        // Without gaps in the numbers, which is the rule, there is nothing to search.
        let direct = self.threads.get(index as usize);
        if direct.is_some_and(|thread| thread.index == index) {
            return Some(index as usize);
        }
        self.threads
            .binary_search_by_key(&index, |thread| thread.index)
            .ok()
    }

    /// The events of the thread at `position` in [`Trace::threads`].
    pub fn stream(&self, position: usize) -> Option<StreamReader<'_>> {
        let stream = self.streams.get(position)?;
        Some(StreamReader::new(
            stream,
            &self.clock,
            self.metadata.layout,
            MAX_BUFFER,
        ))
    }

    /// How many processors told which thread they ran (on systems whose context switches are recorded).
    pub fn processors(&self) -> usize {
        self.processors.len()
    }

    /// What the processor at `position` told: [`Payload::ThreadSwitch`] events, between those of any stream.
    pub fn processor(&self, position: usize) -> Option<StreamReader<'_>> {
        let stream = self.processors.get(position)?;
        Some(StreamReader::new(
            stream,
            &self.clock,
            self.metadata.layout,
            MAX_BUFFER,
        ))
    }

    /// The processors that told which thread they ran, in order of [`Trace::processor`]; `os_tid` is the processor's number.
    pub fn processor_infos(&self) -> &[ThreadInfo] {
        &self.processor_infos
    }

    /// What all processors told, in time order; [`Merge::position`] is that of [`Trace::processor_infos`].
    pub fn switches(&self) -> Merge<'_> {
        let buffer = (MERGE_BUFFERS / self.processors.len().max(1)).clamp(MIN_BUFFER, MAX_BUFFER);
        let reader = |stream| StreamReader::new(stream, &self.clock, self.metadata.layout, buffer);
        Merge::new(self.processors.iter().map(reader).collect())
    }

    /// The streams of threads' own context switches, in order of [`Trace::thread_switches`]; `index` is that of the thread.
    pub fn switch_infos(&self) -> &[ThreadInfo] {
        &self.switch_infos
    }

    /// The context switches that threads have streams of, in time order; [`Merge::position`] is that of [`Trace::switch_infos`].
    pub fn thread_switches(&self) -> Merge<'_> {
        let buffer = (MERGE_BUFFERS / self.switches.len().max(1)).clamp(MIN_BUFFER, MAX_BUFFER);
        let reader = |stream| StreamReader::new(stream, &self.clock, self.metadata.layout, buffer);
        Merge::new(self.switches.iter().map(reader).collect())
    }

    /// Who ran on which processor while the process lived, as the launcher recorded it for the process and others; of a forked child, what is in its parent's trace.
    pub fn kernel_part(&self) -> Option<&Part> {
        self.kernel.as_ref()
    }

    /// Positions of the threads whose context switches are known: by their own records, or else the launcher's.
    pub fn scheduled_threads(&self) -> Vec<usize> {
        match self.switch_infos.is_empty() {
            true => crate::model::launched_threads(self),
            false => {
                let infos = self.switch_infos.iter();
                infos.filter_map(|info| self.position(info.index)).collect()
            }
        }
    }

    /// All events of threads in time order.
    pub fn merge(&self) -> Merge<'_> {
        let buffer = (MERGE_BUFFERS / self.streams.len().max(1)).clamp(MIN_BUFFER, MAX_BUFFER);
        let reader = |stream| StreamReader::new(stream, &self.clock, self.metadata.layout, buffer);
        Merge::new(self.streams.iter().map(reader).collect())
    }

    pub(crate) fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Those of processors and of context switches.
    pub(crate) fn other_streams(&self) -> impl Iterator<Item = &Stream> {
        self.processors.iter().chain(&self.switches)
    }

    /// Reads first and last packets, and the first events of the others: clock pairs, ends of torn packets, thread names.
    fn scan(&mut self) -> Result<(), Error> {
        let mut pairs = SyncPairs::of(&self.metadata);
        let mut found = Vec::with_capacity(self.streams.len());
        for stream in &self.streams {
            found.push(scan_stream(
                stream,
                &self.metadata,
                &self.clock,
                &mut pairs,
            )?);
        }
        self.clock = Clock::new(&self.metadata, pairs);
        if self.clock.refused() > 0 {
            let what = match self.clock.refused() {
                1 => "a reading of the clock cannot be, and is left out: times may be wrong".into(),
                many => format!(
                    "{many} readings of the clock cannot be, and are left out: times may be wrong"
                ),
            };
            self.warnings.add(&self.dir, 0, what);
        }
        let mut with_events = Vec::new();
        for (stream, scan) in self.streams.iter_mut().zip(&found) {
            self.has_tasks |= scan.tasks
                || stream
                    .packets
                    .iter()
                    .any(|packet| packet.tasks_created != 0);
            if let Some(last) = stream.packets.last_mut() {
                self.repairable |= scan.damaged && !last.torn;
                last.bytes = if last.torn {
                    scan.end
                        .saturating_sub(last.offset)
                        .max(packet::HEADER_BYTES)
                } else {
                    last.bytes
                };
            }
            let mut info = thread_info(stream, scan, &self.clock);
            match scan.kind {
                Kind::Switches => {
                    info.index &= !SWITCHES;
                    self.switch_infos.push(info);
                }
                Kind::Processor => self.processor_infos.push(info),
                Kind::Own => self.own.push(info),
                Kind::Thread => {
                    with_events.push(scan.has_events());
                    self.threads.push(info);
                }
            }
        }
        self.place_empty(&with_events);
        let (mut program, mut runtime) = (Vec::new(), Vec::new());
        for (mut stream, scan) in std::mem::take(&mut self.streams).into_iter().zip(&found) {
            stream.empty = !scan.has_events();
            match scan.kind {
                Kind::Switches => self.switches.push(stream),
                Kind::Processor => self.processors.push(stream),
                Kind::Own => runtime.push(stream),
                Kind::Thread => program.push(stream),
            }
        }
        program.append(&mut runtime);
        self.streams = program;
        Ok(())
    }

    /// A thread of which no event can be read adds nothing to the time that the others take: it is there when the first of them begins.
    fn place_empty(&mut self, with_events: &[bool]) {
        let begins = |wanted: bool| {
            let threads = self.threads.iter().zip(with_events);
            let wanted = threads.filter(move |(_, has)| **has || !wanted);
            wanted.map(|(info, _)| info.first_time).min()
        };
        let Some(begin) = begins(true).or(begins(false)) else {
            return;
        };
        for (info, has_events) in self.threads.iter_mut().zip(with_events) {
            if !has_events {
                (info.first_time, info.last_time) = (begin, begin);
            }
        }
    }
}

/// What a stream is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Thread,
    /// Of the runtime's own.
    Own,
    Processor,
    Switches,
}

/// What [`Trace::scan`] learns of a stream.
#[derive(Clone)]
struct Scan {
    os_tid: u32,
    initial: bool,
    /// What the system calls it.
    name: Option<String>,
    /// Whether it waits for work when it begins; `None`: it was in no region as far as the stream was read.
    worker: Option<bool>,
    kind: Kind,
    tasks: bool,
    damaged: bool,
    /// Raw times of the first and the last event.
    first_ticks: Option<u64>,
    end_ticks: u64,
    /// File offset behind the last complete event of the last packet.
    end: u64,
    /// The program wrote over a packet while it was read.
    is_written_over: bool,
    /// Readings of the clock in the packet that is read: when the event was, ticks, and ns.
    readings: Vec<(u64, u64, u64)>,
}

fn scan_stream(
    stream: &Stream,
    metadata: &Metadata,
    clock: &Clock,
    pairs: &mut SyncPairs,
) -> Result<Scan, Error> {
    let count = stream.packets.len();
    let mut scan = Scan {
        os_tid: stream.packets.first().map_or(0, |packet| packet.os_tid),
        initial: false,
        name: None,
        worker: None,
        kind: match stream.thread & SWITCHES {
            0 => Kind::Thread,
            _ => Kind::Switches,
        },
        tasks: false,
        damaged: false,
        first_ticks: None,
        end_ticks: 0,
        end: 0,
        is_written_over: false,
        readings: Vec::new(),
    };
    let read = |packets, buffer| {
        StreamReader::new(stream, clock, metadata.layout, buffer).packets(packets)
    };
    let mut last_with_events = 0;
    for (number, packet) in stream.packets.iter().enumerate() {
        let is_edge = number == 0 || number + 1 == count;
        let whole = is_edge || (number < WORKER_SEARCH && scan.may_be_worker());
        let mut reader = read(number..number + 1, if whole { MAX_BUFFER } else { 4096 });
        let mut left = if whole { usize::MAX } else { SYNC_SEARCH };
        let mut end = packet.offset + packet::HEADER_BYTES;
        let before = packet.in_window.then(|| scan.clone());
        let events = last_with_events;
        while left > 0 && reader.advance()? {
            if let Some(event) = reader.current() {
                scan.event(stream.thread, &event);
            }
            end = reader.position();
            scan.first_ticks.get_or_insert(reader.ticks());
            scan.end_ticks = reader.ticks();
            last_with_events = number;
            left -= 1;
            if !is_edge && !scan.may_be_worker() {
                left = left.min(SYNC_SEARCH);
            }
        }
        scan.damaged |= reader.damaged() > 0;
        scan.end = end;
        if let Some(before) = before
            && !stream.has_still(packet, metadata)?
        {
            // The program runs: where this packet was there is another one.
            scan = before;
            scan.is_written_over = true;
            scan.end = packet.offset + packet::HEADER_BYTES;
            last_with_events = events;
        }
        for (event, ticks, monotonic_ns) in scan.readings.drain(..) {
            pairs.push_of_event(event, ticks, monotonic_ns);
        }
    }
    if last_with_events + 1 < count && !scan.is_written_over {
        // Nothing can be read of the last packets, which may have been cut off.
        let mut reader = read(last_with_events..count, MAX_BUFFER);
        let mut end_ticks = scan.end_ticks;
        while reader.advance()? {
            end_ticks = reader.ticks();
        }
        let mut are_there = true;
        for packet in &stream.packets[last_with_events..] {
            are_there &= stream.has_still(packet, metadata)?;
        }
        if are_there {
            scan.end_ticks = end_ticks;
        }
    }
    Ok(scan)
}

impl Scan {
    /// Nothing yet tells whether it is a worker.
    fn may_be_worker(&self) -> bool {
        self.worker.is_none() && !self.initial && self.kind == Kind::Thread
    }

    /// Whether there are events, which may have moved to the stream meanwhile.
    fn has_events(&self) -> bool {
        self.first_ticks.is_some() || self.is_written_over
    }

    /// What an event says of its thread.
    fn event(&mut self, thread: u32, event: &Event<'_>) {
        let payload = &event.payload;
        if self.worker.is_none() {
            self.worker = is_worker(thread, payload);
        }
        match *payload {
            Payload::ClockSync {
                ticks,
                monotonic_ns,
                ..
            } => self.readings.push((event.ticks, ticks, monotonic_ns)),
            Payload::ThreadBegin { os_tid, flags } => {
                self.os_tid = os_tid;
                self.initial = flags & thread_flags::INITIAL != 0;
                self.kind = match flags {
                    _ if self.kind == Kind::Switches => Kind::Switches,
                    _ if flags & thread_flags::PROCESSOR != 0 => Kind::Processor,
                    _ if flags & thread_flags::OWN != 0 => Kind::Own,
                    _ => Kind::Thread,
                };
            }
            Payload::ThreadName { name, os_tid } if os_tid == u64::from(self.os_tid) => {
                self.name = printable(name);
            }
            Payload::TaskCreate { .. }
            | Payload::TaskloopBegin { .. }
            | Payload::TaskloopTask { .. } => self.tasks = true,
            _ => {}
        }
    }
}

/// A name as it can be shown; `None`: there is nothing to show.
fn printable(name: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(name);
    let text: String = text
        .trim()
        .chars()
        .take(MOST_NAME)
        .map(|c| if c.is_control() { '?' } else { c })
        .collect();
    (!text.is_empty()).then_some(text)
}

/// Whether the thread is in another one's region (true) or leads one of its own; `None`: the event says neither.
fn is_worker(thread: u32, payload: &Payload<'_>) -> Option<bool> {
    match *payload {
        Payload::ParallelBegin { .. } => Some(false),
        Payload::ImplicitBegin { region, .. }
        | Payload::Lost {
            region: Some(region),
            ..
        } => Some(region.thread != thread),
        _ => None,
    }
}

fn thread_info(stream: &Stream, scan: &Scan, clock: &Clock) -> ThreadInfo {
    let first = stream.packets.first();
    let first_time = clock.to_ns(
        scan.first_ticks
            .or(first.map(|packet| packet.begin))
            .unwrap_or(0),
    );
    let torn = stream.packets.iter().any(|packet| packet.torn);
    ThreadInfo {
        index: stream.thread,
        os_tid: scan.os_tid,
        name: match &scan.name {
            _ if scan.initial => "main".to_owned(),
            Some(name) => name.clone(),
            None => format!("thread {}", stream.thread),
        },
        initial: scan.initial,
        worker: scan.worker == Some(true) && !scan.initial,
        first_time,
        last_time: clock.to_ns(scan.end_ticks).max(first_time),
        discarded: stream.discarded,
        truncated: torn || scan.damaged || stream.packets.iter().any(PacketInfo::is_cut),
        packets: stream.packets.len(),
        bytes: stream.packets.iter().map(|packet| packet.bytes).sum(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::follow::{Follow, Follower};
    use crate::layout::ByteOrder;
    use crate::synth::{self, START_TICKS, StreamWriter};

    thread_local! {
        /// What the program writes when the packets are known, and before they are read.
        static PROGRAM: RefCell<Option<(PathBuf, Vec<u8>)>> = const { RefCell::new(None) };
    }

    pub(super) fn meanwhile() {
        if let Some((path, bytes)) = PROGRAM.take() {
            fs::write(path, bytes).unwrap();
        }
    }

    #[derive(Default)]
    struct Seen {
        /// Index and name of each thread that was shown.
        threads: Vec<(u32, String)>,
        events: usize,
    }

    impl Follower for Seen {
        fn opened(&mut self, trace: &Trace) {
            let threads = trace.threads().iter();
            self.threads = threads
                .map(|info| (info.index, info.name.clone()))
                .collect();
        }

        fn event(&mut self, _: &Event<'_>) {
            self.events += 1;
        }
    }

    /// The program writes its next packet over the one in the window: where the new events end, words of the old ones are no events. Here they look
    /// like the begin of a thread of the runtime's own.
    #[test]
    fn what_is_written_over_meanwhile_says_nothing_of_its_thread() {
        for layout in synth::layouts() {
            let dir = tempfile::tempdir().unwrap();
            let metadata = synth::metadata(layout, 1_000_000_000, false);
            fs::write(dir.path().join("metadata"), metadata).unwrap();
            let ticks = START_TICKS + 1;
            let time = (ticks & 0x1ff_ffff) as u32;
            let (begin, value) = match layout.order {
                ByteOrder::Little => (1 | time << 7, u64::from(thread_flags::OWN) << 32),
                ByteOrder::Big => (1 << 25 | time, u64::from(thread_flags::OWN)),
            };
            let packet = |seq: u64, begins: bool, events: u32| {
                let mut stream = StreamWriter::new(Vec::new(), layout, 0, usize::MAX);
                stream.seq = seq;
                if begins {
                    let written = stream.event(ticks, 1, |body| _ = body.u32(4000).u32(0));
                    written.expect("memory takes it");
                }
                for _ in 0..events {
                    let written = stream.event(ticks, 8, |body| _ = body.u32(begin).u64(value));
                    written.expect("memory takes it");
                }
                stream.packet(false)
            };
            let path = dir.path().join(".window_0000");
            let before = synth::window(layout, 0, &[packet(0, true, 9)], 0, 0);
            let mut after = synth::window(layout, 0, &[packet(1, false, 1)], 0, 1);
            let end = 4096 + packet(1, false, 1).len();
            after.truncate(end);
            after.extend_from_slice(&before[end..]);
            fs::write(&path, before).unwrap();
            PROGRAM.set(Some((path, after)));
            let (mut seen, mut follow) = (Seen::default(), Follow::new(dir.path()));
            follow.look(|_| Some(u64::MAX), &mut seen).unwrap();
            assert_eq!(seen.threads, [(0, "thread 0".to_owned())], "{layout:?}");
            assert_eq!(seen.events, 0, "{layout:?}");
        }
    }
}
