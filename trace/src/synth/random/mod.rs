//! Random traces: all that an OpenMP program may record, in order or damaged. The same recipe gives the same trace.

mod construct;
mod leaf;
mod program;

use std::io::Result;
use std::path::Path;

use fastrand::Rng;

use super::{StreamWriter, metadata, stream_path};
use crate::layout::Layout;

use program::Program;

/// What is done to the events of a trace before they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Nothing.
    None,
    /// Some are missing, and nothing in the trace says so.
    Dropped,
    /// Some are missing; the packets behind them count them.
    Counted,
    /// Whole packets are missing.
    Packets,
    /// Some stand there twice.
    Doubled,
    /// Some have changed places.
    Swapped,
    /// Some are others, with numbers that nobody has chosen.
    Invented,
    /// Streams end anywhere.
    Truncated,
    /// All of these.
    All,
}

impl Damage {
    /// All kinds.
    pub const EACH: [Damage; 9] = [
        Damage::None,
        Damage::Dropped,
        Damage::Counted,
        Damage::Packets,
        Damage::Doubled,
        Damage::Swapped,
        Damage::Invented,
        Damage::Truncated,
        Damage::All,
    ];

    fn has(self, kind: Damage) -> bool {
        self == kind || self == Damage::All
    }
}

/// What a random trace is made from.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    pub seed: u64,
    /// Threads of the program, at least 1.
    pub threads: u32,
    /// Constructs that the initial thread meets. About 100 events come of each.
    pub constructs: u32,
    pub damage: Damage,
    pub layout: Layout,
}

/// An event before it is written.
#[derive(Clone, Debug)]
struct Recorded {
    at: u64,
    id: u8,
    fields: Vec<u8>,
    /// Task and region that the thread is in before it.
    task: (u32, u32),
    region: (u32, u32),
}

/// Sensors and counters of the metadata: a meter of energy, a temperature with two values, and two counters.
const DEFINITIONS: &str = "env {\n  sensor_0 = \"rapl/package-0 J 1e-6 1 total 1000000 900 - /p\"; \
    sensor_1 = \"thermal/zone0 C 1e-3 2 level 0 0 - /t\";\n  counter_0 = \"cycles -\"; counter_1 = \"task-clock ns\";\n";

/// Writes the trace into `dir`; gives the number of events that were made, before any damage.
pub fn write(dir: &Path, recipe: &Recipe) -> Result<u64> {
    std::fs::create_dir_all(dir)?;
    let text = metadata(recipe.layout, 1_000_000_000, true).replacen("env {\n", DEFINITIONS, 1);
    std::fs::write(dir.join("metadata"), text)?;
    let streams = Program::run(recipe);
    let events = streams.iter().map(|stream| stream.1.len() as u64).sum();
    for (thread, events) in streams {
        if events.is_empty() {
            continue;
        }
        let mut random = Rng::with_seed(recipe.seed ^ (0x5EED + u64::from(thread)));
        let events = damaged(events, recipe.damage, &mut random);
        let mut bytes = stream(thread, &events, recipe, &mut random)?;
        if recipe.damage.has(Damage::Truncated) && random.u8(..3) == 0 {
            bytes.truncate(random.usize(..bytes.len().max(1)));
        }
        std::fs::write(stream_path(dir, thread), bytes)?;
    }
    Ok(events)
}

/// Damages events one by one. The first, which says what kind of thread this is, stays.
fn damaged(mut events: Vec<Recorded>, damage: Damage, random: &mut Rng) -> Vec<Recorded> {
    if damage.has(Damage::Swapped) {
        for at in 1..events.len().saturating_sub(1) {
            if random.u8(..20) == 0 {
                let other = (at + 1 + random.usize(..5)).min(events.len() - 1);
                let (head, tail) = events.split_at_mut(other);
                std::mem::swap(&mut head[at].id, &mut tail[0].id);
                std::mem::swap(&mut head[at].fields, &mut tail[0].fields);
            }
        }
    }
    let mut out = Vec::with_capacity(events.len());
    for (number, event) in events.into_iter().enumerate() {
        if number > 0 && damage.has(Damage::Dropped) && random.u8(..25) == 0 {
            continue;
        }
        if damage.has(Damage::Doubled) && random.u8(..25) == 0 {
            out.push(event.clone());
        }
        out.push(event);
    }
    out
}

/// The bytes of a stream.
fn stream(thread: u32, events: &[Recorded], recipe: &Recipe, random: &mut Rng) -> Result<Vec<u8>> {
    let (damage, mut skip, mut fresh) = (recipe.damage, 0, true);
    let mut stream = StreamWriter::new(Vec::new(), recipe.layout, thread, usize::MAX);
    for (number, event) in events.iter().enumerate() {
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if fresh {
            (stream.context.task, stream.context.region) = (event.task, event.region);
            fresh = false;
        }
        if number > 0 && damage.has(Damage::Invented) && random.u8(..20) == 0 {
            let id = random.u8(1..90);
            stream.any(event.at, id, &mut || invented(random))?;
        } else {
            let fields = |body: &mut super::Body| body.bytes.extend_from_slice(&event.fields);
            stream.event(event.at, event.id, fields)?;
        }
        if random.u8(..60) == 0 {
            if number > 60 && damage.has(Damage::Packets) && random.u8(..3) == 0 {
                stream.lose_packet();
            } else {
                stream.close_packet()?;
            }
            fresh = true;
            if damage.has(Damage::Counted) && random.u8(..3) == 0 {
                skip = random.usize(1..40).min(events.len() - 1 - number);
                stream.context.discarded += skip as u64;
            }
        }
    }
    stream.finish()
}

/// A number for a field of an invented event: often one that other events have.
fn invented(random: &mut Rng) -> u64 {
    match random.u8(..12) {
        0..=5 => random.u64(..8),
        6 => program::name(random.u64(..8)),
        7 => program::function(random.u64(..8)),
        8 => program::object(random.u64(..4)),
        9 => random.u64(..1000),
        10 => u64::MAX >> random.u32(..64),
        _ => random.u64(..),
    }
}
