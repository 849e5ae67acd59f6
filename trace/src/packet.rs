//! Packets: header, context, and the index of those in a stream file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::ops::Bound;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Warning};
use crate::event::{RegionId, TaskId};
use crate::input;
use crate::layout::{ByteOrder, Layout};
use crate::metadata::Metadata;

/// Bytes of header and context.
pub(crate) const HEADER_BYTES: u64 = 104;
/// First number of each packet.
pub(crate) const MAGIC: u32 = 0xC1FC_1FC1;
/// Flag: the ring overwrote older packets before this one.
pub(crate) const FLAG_OVERWROTE: u32 = 1;
/// Flag: events are missing at its end, which were lost on the way from a board.
const FLAG_CUT: u32 = 2;
/// Offset of the flags in a packet's header.
const FLAGS_AT: usize = 96;
/// Bytes that are copied of one packet in a window.
const MOST_COPY: u64 = 1 << 30;
/// Warnings kept word for word; the rest are only counted.
pub(crate) const MAX_WARNINGS: usize = 100;

/// One packet as its context describes it, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// Offset of the packet in its file, bytes.
    pub offset: u64,
    /// Bytes of header and events.
    pub bytes: u64,
    /// Index of the thread whose events it holds.
    pub thread: u32,
    /// Whether it lies in the window file and not in the stream file.
    pub in_window: bool,
    /// Whether its end is missing or could not be trusted: events are read up to the last complete one.
    pub torn: bool,
    /// Ticks at its begin.
    pub begin: u64,
    /// Ticks no event of it lies behind; 0 when unknown.
    pub end: u64,
    /// Number in its stream.
    pub seq: u64,
    /// Events lost so far: of the stream in its header, of the thread where a trace gives it.
    pub discarded: u64,
    /// The kernel's thread id.
    pub os_tid: u32,
    /// Explicit task running at its begin.
    pub task: Option<TaskId>,
    /// Innermost region whose implicit task runs at its begin.
    pub region: Option<RegionId>,
    /// Raw flags.
    pub flags: u32,
    /// Explicit tasks created by the thread so far.
    pub tasks_created: u32,
    /// Whether events are missing between the packet before and this one.
    pub after_loss: bool,
}

impl PacketInfo {
    /// Whether events are missing at its end.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.flags & FLAG_CUT != 0
    }

    /// Whether the ring had been written over when this packet was opened, and the one before it is there: what the counter has more than that
    /// one's was overwritten, and was before the first packet that is there.
    fn follows_in_ring(&self, before: &Self) -> bool {
        self.flags & FLAG_OVERWROTE != 0 && self.seq == before.seq.wrapping_add(1)
    }

    /// Takes an end before the begin for damage.
    pub(crate) fn distrust_end(&mut self) {
        if self.end < self.begin {
            self.torn = true;
            self.end = 0;
        }
    }
}

/// Says in a packet's header that events are missing at its end.
pub fn flag_as_cut(header: &mut [u8], layout: Layout) {
    let flags = layout.u32(header, FLAGS_AT) | FLAG_CUT;
    let bytes = match layout.order {
        ByteOrder::Little => flags.to_le_bytes(),
        ByteOrder::Big => flags.to_be_bytes(),
    };
    if let Some(field) = header.get_mut(FLAGS_AT..FLAGS_AT + bytes.len()) {
        field.copy_from_slice(&bytes);
    }
}

/// The fields of a header before any of them is believed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawHeader {
    pub(crate) uuid: [u8; 16],
    pub(crate) content_bits: u64,
    pub(crate) packet_bits: u64,
    pub(crate) info: PacketInfo,
}

impl RawHeader {
    /// Parses 104 bytes; `None` when they do not begin with the magic number or are fewer.
    pub(crate) fn parse(bytes: &[u8], layout: Layout) -> Option<Self> {
        if (bytes.len() as u64) < HEADER_BYTES || layout.u32(bytes, 0) != MAGIC {
            return None;
        }
        let pair = |at| (layout.u32(bytes, at), layout.u32(bytes, at + 4));
        let (task, region) = (pair(80), pair(88));
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&bytes[4..20]);
        let info = PacketInfo {
            offset: 0,
            bytes: 0,
            thread: layout.u32(bytes, 72),
            in_window: false,
            torn: false,
            begin: layout.u64(bytes, 24),
            end: layout.u64(bytes, 32),
            seq: layout.u64(bytes, 56),
            discarded: layout.u64(bytes, 64),
            os_tid: layout.u32(bytes, 76),
            task: (task.0 != u32::MAX).then_some(TaskId {
                thread: task.0,
                seq: task.1,
            }),
            region: (region.0 != u32::MAX).then_some(RegionId {
                thread: region.0,
                seq: region.1,
            }),
            flags: layout.u32(bytes, FLAGS_AT),
            tasks_created: layout.u32(bytes, 100),
            after_loss: false,
        };
        let (content_bits, packet_bits) = (layout.u64(bytes, 40), layout.u64(bytes, 48));
        Some(Self {
            uuid,
            content_bits,
            packet_bits,
            info,
        })
    }

    /// Bytes of the packet, if content and packet size are as the format wants them.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let whole = self.content_bits == self.packet_bits && self.content_bits.is_multiple_of(32);
        (whole && self.content_bits >= HEADER_BYTES * 8).then_some(self.content_bits / 8)
    }

    pub(crate) fn belongs(&self, uuid: Option<[u8; 16]>) -> bool {
        uuid.is_none_or(|uuid| uuid == self.uuid)
    }
}

/// The packets of one stream, in order, from its file and its window: those of the threads that wrote it one after the other.
#[derive(Debug, Default)]
pub(crate) struct Source {
    pub(crate) file: Option<PathBuf>,
    pub(crate) window: Option<PathBuf>,
    pub(crate) packets: Vec<PacketInfo>,
    /// Events lost as the window counts them; the last packet's count may be older.
    pub(crate) discarded: u64,
}

impl Source {
    /// Gives what a ring overwrote to the first of the packets that are there one behind the other: it was before that one.
    fn place_overwritten(&mut self) {
        let mut overwritten = false;
        for at in (1..self.packets.len()).rev() {
            let (packet, before) = (self.packets[at], &mut self.packets[at - 1]);
            let follows = packet.seq == before.seq.wrapping_add(1);
            overwritten = follows && (overwritten || packet.follows_in_ring(before));
            if overwritten {
                before.discarded = before.discarded.max(packet.discarded);
            }
        }
    }

    /// Tells its threads apart. `number` is that of the stream.
    pub(crate) fn split(mut self, number: u32) -> Vec<Stream> {
        self.place_overwritten();
        let mut streams: Vec<Stream> = Vec::new();
        let mut places = HashMap::new();
        let (mut discarded, mut before, mut last) = (0, None, 0);
        for mut packet in self.packets {
            last = *places.entry(packet.thread).or_insert_with(|| {
                streams.push(Stream {
                    number,
                    thread: packet.thread,
                    file: self.file.clone(),
                    window: self.window.clone(),
                    packets: Vec::new(),
                    discarded: 0,
                    empty: false,
                    unreadable: Mutex::default(),
                });
                streams.len() - 1
            });
            let stream = &mut streams[last];
            // What a ring overwrote was not its thread's when that had just begun.
            if stream.packets.is_empty()
                && before.is_some_and(|seq: u64| seq.wrapping_add(1) == packet.seq)
                && packet.flags & FLAG_OVERWROTE != 0
            {
                packet.after_loss = false;
            }
            before = (!packet.torn && !packet.is_cut()).then_some(packet.seq);
            stream.discarded += packet.discarded.saturating_sub(discarded);
            discarded = discarded.max(packet.discarded);
            packet.discarded = stream.discarded;
            stream.packets.push(packet);
        }
        if let Some(stream) = streams.get_mut(last) {
            stream.discarded += self.discarded.saturating_sub(discarded);
        }
        streams
    }
}

/// The packets of one thread, in order.
#[derive(Debug)]
pub(crate) struct Stream {
    /// That of the stream file: threads that ended leave theirs to others.
    pub(crate) number: u32,
    pub(crate) thread: u32,
    pub(crate) file: Option<PathBuf>,
    pub(crate) window: Option<PathBuf>,
    pub(crate) packets: Vec<PacketInfo>,
    /// Events lost, also behind its last packet.
    pub(crate) discarded: u64,
    /// No event can be read of it, so that what is told of gaps in it belongs to no thread that does anything.
    pub(crate) empty: bool,
    /// Packets whose rest readers could not read, by place: whether in the window, and offset; and how many bytes.
    unreadable: Mutex<BTreeMap<(bool, u64), u64>>,
}

impl Stream {
    /// No event begins at this offset of the packet, and `left` bytes of it follow.
    pub(crate) fn cannot_read(&self, packet: &PacketInfo, offset: u64, left: u64) {
        let mut places = self
            .unreadable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        places.insert((packet.in_window, offset), left);
    }

    /// What readers could not read so far.
    pub(crate) fn unreadable(&self, warnings: &mut Warnings) {
        let places = self
            .unreadable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for ((in_window, offset), left) in &*places {
            let file = if *in_window { &self.window } else { &self.file };
            if let Some(path) = file {
                let what =
                    format!("no event begins here: {left} bytes of the packet cannot be read");
                warnings.add(path, *offset, what);
            }
        }
    }

    /// The events of a packet in a window; `None`: the program has written another one over it. Events behind a header are written over after the
    /// header itself, so it is looked at again when they were read.
    pub(crate) fn copy_of(
        &self,
        packet: &PacketInfo,
        metadata: &Metadata,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some((path, file)) = self.open_window()? else {
            return Ok(None);
        };
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        let wanted = packet
            .bytes
            .min(MOST_COPY)
            .min(length.saturating_sub(packet.offset));
        let mut bytes = vec![0; wanted.saturating_sub(HEADER_BYTES) as usize];
        let got = read_at(&file, &mut bytes, packet.offset + HEADER_BYTES)
            .map_err(Error::io("read", path))?;
        bytes.truncate(got);
        let same = is_still(&file, path, packet, metadata)?;
        Ok(same.then_some(bytes))
    }

    /// Whether a packet is where it was found: what was read of it before is its own.
    pub(crate) fn has_still(
        &self,
        packet: &PacketInfo,
        metadata: &Metadata,
    ) -> Result<bool, Error> {
        if !packet.in_window {
            return Ok(true);
        }
        match self.open_window()? {
            Some((path, file)) => is_still(&file, path, packet, metadata),
            None => Ok(false),
        }
    }

    /// The window's file; `None`: there is none, or none any more.
    fn open_window(&self) -> Result<Option<(&Path, File)>, Error> {
        let Some(path) = self.window.as_deref() else {
            return Ok(None);
        };
        match input::open(path) {
            Ok(file) => Ok(Some((path, file))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::io("read", path)(error)),
        }
    }

    pub(crate) fn path(&self, packet: &PacketInfo) -> Option<&Path> {
        if packet.in_window {
            self.window.as_deref()
        } else {
            self.file.as_deref()
        }
    }
}

/// Collects warnings up to a limit.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    pub(crate) list: Vec<Warning>,
    pub(crate) count: u64,
}

impl Warnings {
    pub(crate) fn add(&mut self, path: &Path, offset: u64, what: impl Into<String>) {
        self.count += 1;
        if self.list.len() < MAX_WARNINGS {
            self.list.push(Warning {
                path: path.to_owned(),
                offset,
                what: what.into(),
            });
        }
    }

    /// Adds those of `others` behind its own.
    pub(crate) fn append(&mut self, others: Self) {
        self.count += others.count;
        let room = MAX_WARNINGS.saturating_sub(self.list.len());
        self.list.extend(others.list.into_iter().take(room));
    }
}

/// Reads up to `into.len()` bytes at `offset`; fewer at the end of the file.
pub(crate) fn read_at(file: &File, into: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(n) => done += n,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}

/// What the index needs to know of the trace.
#[derive(Clone, Copy)]
pub(crate) struct Expect {
    pub(crate) layout: Layout,
    pub(crate) uuid: Option<[u8; 16]>,
}

/// Indexes the packets of a stream file. Damage is reported and passed over.
pub(crate) fn index_file(
    path: &Path,
    expect: Expect,
    warnings: &mut Warnings,
) -> Result<Vec<PacketInfo>, Error> {
    let file = input::open(path).map_err(Error::io("read", path))?;
    let length = file.metadata().map_err(Error::io("read", path))?.len();
    // Each with whether something that is no packet was before it.
    let mut found: Vec<(PacketInfo, bool)> = Vec::new();
    let mut offset = 0;
    let mut lost = false;
    while offset < length {
        let header = header_at(&file, path, offset, expect)?;
        let Some((info, torn_header)) = header.and_then(|raw| place(&raw, offset, length)) else {
            let next = next_header(&file, path, offset + 4, expect)?;
            let what = if next.is_some() {
                "no packet here, skipped to the next"
            } else {
                "no packet here, the rest is ignored"
            };
            warnings.add(path, offset, what);
            lost = true;
            match next {
                Some(next) => offset = next,
                None => break,
            }
            continue;
        };
        let mut info = info;
        if torn_header {
            match next_header(&file, path, offset + HEADER_BYTES, expect)? {
                Some(next) => info.bytes = next - offset,
                None => info.bytes = length - offset,
            }
            warnings.add(
                path,
                offset,
                "the packet is cut short, read up to its last complete event",
            );
        }
        offset = offset.saturating_add(info.bytes);
        found.push((info, lost));
        lost = torn_header;
    }
    let mut packets = Vec::with_capacity(found.len());
    for (info, lost) in without_strays(found, path, warnings) {
        push(&mut packets, info, lost, path, warnings);
    }
    Ok(packets)
}

/// Leaves out packets of other streams. Where a program closes descriptors that it does not know beside its threads, and opens files meanwhile,
/// a packet may get into the file of another thread, whose descriptor has the same number by then. The runtime has counted it as lost.
///
/// The threads that wrote a stream did so one after the other, and numbers of its packets rise. Where this does not hold, the most packets with
/// which it does are kept, and those of the threads around them.
fn without_strays(
    found: Vec<(PacketInfo, bool)>,
    path: &Path,
    warnings: &mut Warnings,
) -> Vec<(PacketInfo, bool)> {
    if is_in_order(&found) {
        return found;
    }
    let mut keeps = rising(&found);
    keep_neighbours(&found, &mut keeps);
    leave_out_returning(&found, &mut keeps);
    let mut kept = Vec::with_capacity(found.len());
    for (entry, keep) in found.into_iter().zip(keeps) {
        if keep {
            kept.push(entry);
        } else {
            warnings.add(path, entry.0.offset, stray(&entry.0));
        }
    }
    kept
}

/// What is said of a packet that is left out.
pub(crate) fn stray(packet: &PacketInfo) -> String {
    let (seq, thread) = (packet.seq, packet.thread);
    format!("packet {seq} of thread {thread} is none of this stream, ignored")
}

/// Whether no thread comes again behind another one, and numbers rise where a thread begins.
fn is_in_order(found: &[(PacketInfo, bool)]) -> bool {
    let mut known = HashSet::new();
    let mut last: Option<&PacketInfo> = None;
    found.iter().all(|(packet, _)| {
        let before = last.replace(packet);
        match before {
            Some(before) if before.thread == packet.thread => true,
            Some(before) => known.insert(packet.thread) && packet.seq > before.seq,
            None => known.insert(packet.thread),
        }
    })
}

/// The chain of packets whose numbers do not fall that has the most packets, of threads that have many here.
fn rising(found: &[(PacketInfo, bool)]) -> Vec<bool> {
    let mut counts = HashMap::<u32, u64>::new();
    for (packet, _) in found {
        *counts.entry(packet.thread).or_default() += 1;
    }
    // By the last number: the weight of the best chain that ends with it, and its last packet. Later numbers have greater weights.
    let mut best = BTreeMap::<u64, (u64, usize)>::new();
    let mut before = vec![usize::MAX; found.len()];
    for (at, (packet, _)) in found.iter().enumerate() {
        let chain = best.range(..=packet.seq).next_back();
        let (weight, last) = chain.map_or((0, usize::MAX), |(_, chain)| *chain);
        before[at] = last;
        let weight = weight.saturating_add(counts.get(&packet.thread).copied().unwrap_or(1));
        best.insert(packet.seq, (weight, at));
        while let Some((&seq, _)) = best
            .range((Bound::Excluded(packet.seq), Bound::Unbounded))
            .next()
            .filter(|(_, (other, _))| *other <= weight)
        {
            best.remove(&seq);
        }
    }
    let mut keeps = vec![false; found.len()];
    let mut at = best.last_key_value().map_or(usize::MAX, |(_, (_, at))| *at);
    while let Some(keep) = keeps.get_mut(at) {
        *keep = true;
        at = before[at];
    }
    keeps
}

/// A packet beside one of its own thread that is kept is damaged at most, and is kept as well.
fn keep_neighbours(found: &[(PacketInfo, bool)], keeps: &mut [bool]) {
    // The thread of the next packet that is kept, from each place on.
    let mut next = vec![None; found.len() + 1];
    for at in (0..found.len()).rev() {
        next[at] = if keeps[at] {
            Some(found[at].0.thread)
        } else {
            next[at + 1]
        };
    }
    let (mut end, mut last) = (0, None);
    for run in found.chunk_by(|(a, _), (b, _)| a.thread == b.thread) {
        let thread = run.first().map(|(packet, _)| packet.thread);
        let mine = end..end + run.len();
        end = mine.end;
        if keeps[mine.clone()].contains(&true) || last == thread || next[end] == thread {
            keeps[mine].fill(true);
            last = thread;
        }
    }
}

/// Where a thread comes again behind others, those are strays, or some of its own are: the fewer.
fn leave_out_returning(found: &[(PacketInfo, bool)], keeps: &mut [bool]) {
    let kept: Vec<usize> = (0..found.len()).filter(|&at| keeps[at]).collect();
    let mut left = HashMap::<u32, usize>::new();
    for &at in &kept {
        *left.entry(found[at].0.thread).or_default() += 1;
    }
    // Of each run that is kept so far: where it is in `kept`, and how many packets were kept with it.
    let mut runs: Vec<(Vec<usize>, usize)> = Vec::new();
    let mut places = HashMap::<u32, usize>::new();
    for run in kept.chunk_by(|&a, &b| found[a].0.thread == found[b].0.thread) {
        let Some(thread) = run.first().map(|&at| found[at].0.thread) else {
            continue;
        };
        let after = left.get(&thread).copied().unwrap_or(0);
        left.insert(thread, after - run.len());
        let sum = |runs: &[(Vec<usize>, usize)]| runs.last().map_or(0, |(_, sum)| *sum);
        if let Some(&place) = places.get(&thread) {
            let (before, between) = (runs[place].0.len(), sum(&runs) - runs[place].1);
            if between <= before.min(after) {
                for (packets, _) in runs.drain(place + 1..) {
                    for at in packets {
                        keeps[at] = false;
                        places.remove(&found[at].0.thread);
                    }
                }
                let (packets, sum) = &mut runs[place];
                packets.extend_from_slice(run);
                *sum += run.len();
                continue;
            }
            if after <= before {
                run.iter().for_each(|&at| keeps[at] = false);
                continue;
            }
            // What it has here is left out; the sums behind it may stay: they are compared alone.
            std::mem::take(&mut runs[place].0)
                .into_iter()
                .for_each(|at| keeps[at] = false);
        }
        places.insert(thread, runs.len());
        let sum = sum(&runs) + run.len();
        runs.push((run.to_vec(), sum));
    }
}

/// Adds a packet, and marks it when something is missing before it.
pub(crate) fn push(
    packets: &mut Vec<PacketInfo>,
    mut info: PacketInfo,
    lost: bool,
    path: &Path,
    warnings: &mut Warnings,
) {
    let (seq, discarded) = packets
        .last()
        .map_or((0, 0), |last| (last.seq.wrapping_add(1), last.discarded));
    if !packets.is_empty() && info.seq < seq {
        warnings.add(
            path,
            info.offset,
            format!(
                "packet {} comes after packet {}",
                info.seq,
                seq.wrapping_sub(1)
            ),
        );
    }
    let cut = packets.last().is_some_and(PacketInfo::is_cut);
    let overwrote = packets.is_empty() && info.flags & FLAG_OVERWROTE != 0;
    // Damage before this packet has been reported. What a ring overwrote is no damage: it is missing before the first one.
    if info.seq > seq && !lost && !packets.is_empty() {
        let missing = match info.seq - seq {
            1 => format!("packet {seq} is missing before this one"),
            _ => format!(
                "packets {seq} to {} are missing before this one",
                info.seq - 1
            ),
        };
        warnings.add(path, info.offset, missing);
    }
    let counted = info.discarded > discarded
        && !packets
            .last()
            .is_some_and(|last| info.follows_in_ring(last));
    info.after_loss = lost || info.seq != seq || counted || overwrote || cut;
    packets.push(info);
}

/// Drops packets whose begin contradicts their neighbours, and ends a packet where the next begins, so that one damaged
/// time does not disturb the packets behind it.
pub(crate) fn reconcile(packets: &mut Vec<PacketInfo>, path: &Path, warnings: &mut Warnings) {
    let mut kept: Vec<PacketInfo> = Vec::with_capacity(packets.len());
    for mut packet in packets.drain(..) {
        while let Some(last) = kept.last()
            && last.begin > packet.begin
        {
            let before = kept.len().checked_sub(2).map_or(0, |at| kept[at].begin);
            warnings.add(
                path,
                last.offset.max(packet.offset),
                "the packet's begin does not fit its neighbours, ignored",
            );
            packet.after_loss = true;
            if packet.begin < before {
                break;
            }
            kept.pop();
        }
        match kept.last_mut() {
            Some(last) if last.begin > packet.begin => continue,
            Some(last) if last.end == 0 => last.end = packet.begin,
            Some(last) if last.end > packet.begin => {
                warnings.add(
                    path,
                    last.offset,
                    "the packet's end is behind the next one's begin",
                );
                last.end = packet.begin;
            }
            _ => {}
        }
        kept.push(packet);
    }
    *packets = kept;
}

fn header_at(
    file: &File,
    path: &Path,
    offset: u64,
    expect: Expect,
) -> Result<Option<RawHeader>, Error> {
    let mut bytes = [0; HEADER_BYTES as usize];
    let got = read_at(file, &mut bytes, offset).map_err(Error::io("read", path))?;
    let header = RawHeader::parse(&bytes[..got], expect.layout);
    Ok(header.filter(|raw| raw.belongs(expect.uuid)))
}

/// Whether the header of a packet in this window file is the one that was found.
fn is_still(
    file: &File,
    path: &Path,
    packet: &PacketInfo,
    metadata: &Metadata,
) -> Result<bool, Error> {
    let expect = Expect {
        layout: metadata.layout,
        uuid: metadata.uuid,
    };
    let header = header_at(file, path, packet.offset, expect)?;
    Ok(header.is_some_and(|now| now.info.seq == packet.seq && now.info.thread == packet.thread))
}

/// The packet at `offset`, and whether its end is missing.
fn place(raw: &RawHeader, offset: u64, length: u64) -> Option<(PacketInfo, bool)> {
    let mut info = PacketInfo { offset, ..raw.info };
    match raw.bytes() {
        Some(bytes) if bytes <= length - offset => {
            info.bytes = bytes;
            // Times that run backwards: nothing after the begin can be checked.
            info.distrust_end();
            Some((info, false))
        }
        _ => {
            info.torn = true;
            info.end = 0;
            Some((info, true))
        }
    }
}

/// Offset of the next believable packet header at or behind `from`.
fn next_header(file: &File, path: &Path, from: u64, expect: Expect) -> Result<Option<u64>, Error> {
    const CHUNK: usize = 1 << 16;
    let mut buffer = vec![0; CHUNK + HEADER_BYTES as usize];
    let mut at = from;
    loop {
        let got = read_at(file, &mut buffer, at).map_err(Error::io("read", path))?;
        let bytes = &buffer[..got];
        for start in (0..got.min(CHUNK)).step_by(4) {
            let Some(raw) = bytes
                .get(start..)
                .and_then(|tail| RawHeader::parse(tail, expect.layout))
            else {
                continue;
            };
            if raw.belongs(expect.uuid) && raw.bytes().is_some() {
                return Ok(Some(at + start as u64));
            }
        }
        if got < buffer.len() {
            return Ok(None);
        }
        at += CHUNK as u64;
    }
}
