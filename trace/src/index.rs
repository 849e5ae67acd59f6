//! The files of a trace directory and the packets in them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::metadata::Metadata;
use crate::packet::{self, Expect, Source, Stream, Warnings};
use crate::window;

/// In the number of a stream with a thread's context switches, and in that of its thread.
pub(crate) const SWITCHES: u32 = 1 << 31;
/// Begin of the names of folders in a trace with those of the processes that its own one forked.
pub(crate) const FORKED: &str = "fork-";
/// The same of programs that were started below it while `instr run` ran it.
pub(crate) const STARTED: &str = "exec-";

/// The files of a trace directory.
#[derive(Default)]
pub(crate) struct Files {
    streams: Vec<(u32, PathBuf)>,
    windows: Vec<PathBuf>,
    pub(crate) children: Vec<PathBuf>,
    /// Links to other traces: nothing that was recorded holds one, and they may lead in a circle.
    pub(crate) links: Vec<PathBuf>,
    /// Folders of processes of which nothing can be read: there was no room for their metadata.
    pub(crate) unreadable: Vec<PathBuf>,
    /// Events that were lost, by the name of a file: a full disk has no room for other words. Those of `unreadable` are among them.
    pub(crate) discarded: u64,
}

impl Files {
    pub(crate) fn list(dir: &Path) -> Result<Self, Error> {
        let mut files = Self::default();
        let mut children = Vec::new();
        for entry in std::fs::read_dir(dir).map_err(Error::io("read", dir))? {
            let entry = entry.map_err(Error::io("read", dir))?;
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            if let Some(thread) = numbered(name, "thread_") {
                files.streams.push((thread, entry.path()));
            } else if let Some(number) = numbered(name, "switches_") {
                files.streams.push((number | SWITCHES, entry.path()));
            } else if numbered(name, ".window_").is_some() {
                files.windows.push(entry.path());
            } else if let Some(events) = numbered(name, ".discarded_") {
                files.discarded = files.discarded.saturating_add(events.into());
            } else if let Some(child) = child(name) {
                let path = entry.path();
                let is_trace = Metadata::file_in(&path).is_some();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && is_trace => {
                        // A forked process starts its program later.
                        children.push((child, name.starts_with(STARTED), path));
                    }
                    Ok(kind) if kind.is_dir() => files.add_unreadable(path),
                    _ if is_trace => files.links.push(path),
                    _ => {}
                }
            }
        }
        files.streams.sort();
        files.windows.sort();
        files.unreadable.sort();
        children.sort();
        files.children = children.into_iter().map(|(.., path)| path).collect();
        Ok(files)
    }

    /// A process's folder without metadata. One that holds nothing else is that of a process which was killed as it began, or has only just begun.
    fn add_unreadable(&mut self, path: PathBuf) {
        let names = std::fs::read_dir(&path).into_iter().flatten().flatten();
        let mut recorded = false;
        for name in names.map(|entry| entry.file_name()) {
            let name = name.to_string_lossy();
            if let Some(events) = numbered(&name, ".discarded_") {
                self.discarded = self.discarded.saturating_add(events.into());
                recorded = true;
            }
            recorded |= name.starts_with("thread_") || name.starts_with("switches_");
        }
        if recorded {
            self.unreadable.push(path);
        }
    }
}

/// The file of a stream.
pub(crate) fn stream_name(number: u32) -> String {
    match number & SWITCHES {
        0 => format!("thread_{number:04}"),
        _ => format!("switches_{:04}", number & !SWITCHES),
    }
}

/// Process id and count of `fork-4711` or `exec-4711`, or `fork-4711-2` where the id was used again.
pub(crate) fn child(name: &str) -> Option<(u32, u32)> {
    let pid = name
        .strip_prefix(FORKED)
        .or_else(|| name.strip_prefix(STARTED))?;
    let (pid, again) = pid.split_once('-').unwrap_or((pid, "1"));
    Some((numbered(pid, "")?, numbered(again, "")?))
}

fn numbered(name: &str, prefix: &str) -> Option<u32> {
    let digits = name.strip_prefix(prefix)?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// The streams of a trace.
pub(crate) struct Indexed {
    pub(crate) streams: Vec<Stream>,
    /// Whether other readers would stumble.
    pub(crate) repairable: bool,
    /// Events lost in streams of which nothing is left.
    pub(crate) unattached: u64,
    /// The directory as it was when streams were read.
    pub(crate) files: Files,
}

/// Indexes all streams and joins their windows.
///
/// Of a program that runs, packets move from a window to the stream at any moment: appended there, then gone from the window. So windows are read before
/// streams are looked for: what is no longer in a window is in its stream by then, and what is in both is known by its number.
pub(crate) fn index(
    dir: &Path,
    listed: Files,
    metadata: &Metadata,
    warnings: &mut Warnings,
) -> Result<Indexed, Error> {
    let mut repairable = !listed.windows.is_empty();
    let mut of_windows = Warnings::default();
    let mut windows = Vec::with_capacity(listed.windows.len());
    for path in listed.windows {
        let window = window::read(&path, metadata.layout, metadata.uuid, &mut of_windows)?;
        windows.extend(window.map(|window| (path, window)));
    }
    #[cfg(test)]
    tests::meanwhile();
    let mut files = Files::list(dir)?;
    let mut sources = BTreeMap::<u32, Source>::new();
    let mut unattached = 0_u64;
    let expect = Expect {
        layout: metadata.layout,
        uuid: metadata.uuid,
    };
    for (number, path) in std::mem::take(&mut files.streams) {
        let before = warnings.count;
        let packets = packet::index_file(&path, expect, warnings)?;
        repairable |= warnings.count != before;
        sources.entry(number).or_insert(Source {
            file: Some(path),
            packets,
            ..Source::default()
        });
    }
    warnings.append(of_windows);
    for (path, window) in windows {
        if window.packets.is_empty() {
            // What the stream lost behind its last packet.
            match sources.get_mut(&window.stream) {
                Some(source) if !source.packets.is_empty() => {
                    source.discarded = source.discarded.max(window.discarded);
                }
                _ => unattached = unattached.saturating_add(window.discarded),
            }
            continue;
        }
        join(
            sources.entry(window.stream).or_default(),
            path,
            window,
            warnings,
        );
    }
    missing(dir, metadata, &sources, warnings);
    let mut streams = BTreeMap::<u32, Stream>::new();
    // Threads that have a stream for themselves.
    let mut alone = HashSet::new();
    for (number, mut source) in sources {
        let path = source.file.clone().or_else(|| source.window.clone());
        let path = path.unwrap_or_default();
        let before = warnings.count;
        packet::reconcile(&mut source.packets, &path, warnings);
        repairable |= warnings.count != before;
        let parts = source.split(number);
        let is_alone = parts.len() == 1;
        for stream in parts {
            match streams.entry(stream.thread) {
                Entry::Vacant(place) => {
                    if is_alone {
                        alone.insert(stream.thread);
                    }
                    place.insert(stream);
                }
                // A packet that went astray is not to hide the thread's own.
                Entry::Occupied(mut place) => {
                    let (here, there) = (stream.packets.len(), place.get().packets.len());
                    let was_alone = alone.contains(&stream.thread);
                    let less = if here > there || (here == there && is_alone && !was_alone) {
                        place.insert(stream)
                    } else {
                        stream
                    };
                    let what = format!(
                        "thread {} is in another stream too, ignored here",
                        less.thread
                    );
                    let first = less.packets.first();
                    let path = first.and_then(|packet| less.path(packet));
                    let offset = first.map_or(0, |packet| packet.offset);
                    warnings.add(path.unwrap_or(Path::new("")), offset, what);
                    repairable = true;
                }
            }
        }
    }
    Ok(Indexed {
        streams: streams.into_values().collect(),
        repairable,
        unattached,
        files,
    })
}

/// Reports streams, and begins and ends of streams, that a closed trace had and that are not there.
fn missing(
    dir: &Path,
    metadata: &Metadata,
    sources: &BTreeMap<u32, Source>,
    warnings: &mut Warnings,
) {
    for &(number, count) in metadata.streams.iter().filter(|_| metadata.closed) {
        let path = dir.join(stream_name(number));
        let last = sources
            .get(&number)
            .and_then(|source| source.packets.last());
        let Some(last) = last else {
            let what = format!("the stream is missing, of {count} packets");
            warnings.add(&path, 0, what);
            continue;
        };
        // What a ring overwrote is no damage, and damage in front of the first packet has been reported.
        let first = sources
            .get(&number)
            .and_then(|source| source.packets.first());
        if let Some(first) = first.filter(|first| first.offset == 0)
            && metadata.policy != "ring"
            && let Some(what) = packets_missing(0, first.seq.min(count), "before this one")
        {
            warnings.add(&path, 0, what);
        }
        let next = last.seq.saturating_add(1);
        if let Some(what) = packets_missing(next, count, "at the stream's end") {
            warnings.add(&path, last.offset.saturating_add(last.bytes), what);
        }
    }
}

/// What is said of the packets from `first` up to `end`, which is not one of them; [`None`]: there are none.
fn packets_missing(first: u64, end: u64, place: &str) -> Option<String> {
    match end.checked_sub(first)? {
        0 => None,
        1 => Some(format!("packet {first} is missing {place}")),
        _ => Some(format!(
            "packets {first} to {} are missing {place}",
            end - 1
        )),
    }
}

/// Appends a window's packets that the stream file does not hold already.
fn join(source: &mut Source, path: PathBuf, window: window::Window, warnings: &mut Warnings) {
    if source.window.is_some() {
        warnings.add(
            &path,
            0,
            format!("a second window of stream {}, ignored", window.stream),
        );
        return;
    }
    source.discarded = window.discarded;
    for packet in window.packets {
        let last = source.packets.last();
        if last.is_some_and(|last| last.torn && last.seq == packet.seq) {
            source.packets.pop();
        }
        // Behind the last packet of the stream there may be another stream's.
        if let [.., before, last] = source.packets.as_slice()
            && last.thread != before.thread
            && last.thread != packet.thread
            && before.seq.wrapping_add(1) == packet.seq
            && packet.seq <= last.seq
        {
            let stream = source.file.as_deref().unwrap_or(&path);
            warnings.add(stream, last.offset, packet::stray(last));
            source.packets.pop();
        }
        if source
            .packets
            .last()
            .is_some_and(|last| packet.seq <= last.seq)
        {
            continue;
        }
        packet::push(&mut source.packets, packet, false, &path, warnings);
    }
    source.window = Some(path);
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;

    use super::*;
    use crate::event::{Event, Payload};
    use crate::follow::{Follow, Follower};
    use crate::layout::Layout;
    use crate::synth::{self, START_TICKS, StreamWriter};
    use crate::trace::Trace;

    thread_local! {
        /// What the program does between the look at its windows and that at its streams.
        static PROGRAM: RefCell<Option<Program>> = const { RefCell::new(None) };
    }

    /// Events of a packet.
    const EVENTS: u64 = 20;
    const THREADS: u32 = 3;
    const PACKETS: u64 = 40;

    pub(super) fn meanwhile() {
        PROGRAM.with_borrow_mut(|program| {
            if let Some(program) = program {
                program.goes_on();
            }
        });
    }

    /// A program that runs: each of its threads has written so many packets, and so many events of the next one.
    struct Program {
        dir: PathBuf,
        layout: Layout,
        at: [(u64, u64); THREADS as usize],
        random: fastrand::Rng,
    }

    /// The time of an event, ns; that of a thread's is no other thread's.
    fn time(thread: u32, number: u64) -> u64 {
        number * 10 + u64::from(thread)
    }

    /// The first events of a packet.
    fn packet(layout: Layout, thread: u32, seq: u64, events: u64) -> Vec<u8> {
        let mut stream = StreamWriter::new(Vec::new(), layout, thread, usize::MAX);
        stream.seq = seq;
        for number in seq * EVENTS..seq * EVENTS + events {
            let ticks = START_TICKS + time(thread, number);
            let written = stream.event(ticks, 8, |body| _ = body.u32(1).u64(number));
            written.expect("memory takes it");
        }
        stream.packet(events == EVENTS)
    }

    impl Program {
        /// Each thread writes on: up to three packets go to its stream, and its window has what follows.
        fn goes_on(&mut self) {
            for thread in 0..THREADS {
                let at = &mut self.at[thread as usize];
                let (done, _) = *at;
                at.0 = (done + self.random.u64(0..4)).min(PACKETS - 1);
                let least = if at.0 == done { at.1 } else { 1 };
                at.1 = self.random.u64(least..EVENTS);
                self.write(thread);
            }
        }

        fn write(&self, thread: u32) {
            let (packets, events) = self.at[thread as usize];
            let file: Vec<u8> = (0..packets)
                .flat_map(|seq| packet(self.layout, thread, seq, EVENTS))
                .collect();
            let slots = [packet(self.layout, thread, packets, events)];
            let window = synth::window(self.layout, thread, &slots, 0, packets);
            if packets > 0 {
                fs::write(self.dir.join(stream_name(thread)), file).unwrap();
            }
            fs::write(self.dir.join(format!(".window_{thread:04}")), window).unwrap();
        }

        /// The time up to which all threads have written, ns.
        fn known(&self) -> u64 {
            let last = |(packets, events): &(u64, u64)| packets * EVENTS + events - 1;
            self.at
                .iter()
                .map(last)
                .min()
                .map_or(0, |last| time(0, last))
        }
    }

    /// Numbers of the events of each thread, which come in order of their times.
    #[derive(Default)]
    struct Seen(Vec<(u64, u32, u64)>);

    impl Follower for Seen {
        fn opened(&mut self, _: &Trace) {}

        fn event(&mut self, event: &Event<'_>) {
            match event.payload {
                Payload::UserEvent { value, .. } => self.0.push((event.time, event.thread, value)),
                _ => panic!("{event:?}"),
            }
        }
    }

    /// Packets move from windows to streams between the looks at both: each event comes once, at its time.
    #[test]
    fn packets_that_move_to_the_stream_meanwhile_are_not_missed() {
        for (seed, layout) in (1..).zip(synth::layouts()) {
            let dir = tempfile::tempdir().unwrap();
            let metadata = synth::metadata(layout, 1_000_000_000, false);
            fs::write(dir.path().join("metadata"), metadata).unwrap();
            let program = Program {
                dir: dir.path().to_owned(),
                layout,
                at: [(0, 1); THREADS as usize],
                random: fastrand::Rng::with_seed(seed),
            };
            (0..THREADS).for_each(|thread| program.write(thread));
            PROGRAM.set(Some(program));
            let mut seen = Seen::default();
            let mut follow = Follow::new(dir.path());
            let known =
                || PROGRAM.with_borrow(|program| program.as_ref().map_or(0, Program::known));
            for look in 0..60 {
                let known = known();
                follow.look(|_| Some(known), &mut seen).unwrap();
                let given = seen.0.last().map(|event| event.0);
                assert_eq!(given, Some(known), "{layout:?}, look {look}");
            }
            PROGRAM.set(None);
            follow.look(|_| None, &mut seen).unwrap();
            let mut wanted = Seen::default();
            let trace = Trace::open(dir.path()).unwrap();
            let mut merge = trace.merge();
            while let Some(event) = merge.next().unwrap() {
                wanted.event(&event);
            }
            let least = (PACKETS - 1) * EVENTS;
            for thread in 0..THREADS {
                let numbers: Vec<u64> = seen
                    .0
                    .iter()
                    .filter(|event| event.1 == thread)
                    .map(|event| event.2)
                    .collect();
                assert!(numbers.len() as u64 > least);
                assert!(
                    numbers.iter().copied().eq(0..numbers.len() as u64),
                    "{layout:?}, thread {thread}"
                );
            }
            assert_eq!(seen.0, wanted.0, "{layout:?}");
        }
    }
}
