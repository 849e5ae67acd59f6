//! Counters: the heap, pages, sensors, counters of threads and of the program.

use instr_trace::model::{At, Memory, Reading};

use super::Slices;
use super::writer::{Number, SliceWriter};

/// What has a counter track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Counter {
    HeapInUse,
    Mapped,
    /// A value of a sensor.
    Sensor(usize, usize),
    /// A counter of a thread.
    Thread(usize, usize),
    /// Of the program's own, by thread and address of its name.
    User(usize, u64),
}

impl<W: SliceWriter> Slices<'_, W> {
    /// A value of a counter: a whole number, or one with its scale.
    pub(super) fn count(
        &mut self,
        at: At,
        counter: Counter,
        value: i64,
        scale: f64,
        name: impl FnOnce(&mut Self) -> (u64, String, String),
    ) {
        let track = match self.counters.get(&counter) {
            Some(track) => *track,
            None => {
                let (parent, name, unit) = name(self);
                let track = self.writer.counter(parent, &name, &unit);
                self.counters.insert(counter, track);
                track
            }
        };
        let number = match scale == 1.0 {
            true => Number::Whole(value),
            false => Number::Real(value as f64 * scale),
        };
        self.writer.value((self.place)(at.time), track, number);
    }

    pub(super) fn count_memory(&mut self, at: At, memory: &Memory) {
        let (counter, value, name) = match memory {
            Memory::Heap(call) => (Counter::HeapInUse, call.bytes_in_use, "heap in use"),
            Memory::Pages(call) => (Counter::Mapped, call.mapped, "mapped pages"),
            _ => return,
        };
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.count(at, counter, value, 1.0, |own| {
            (own.track, name.into(), "bytes".into())
        });
    }

    pub(super) fn count_reading(&mut self, at: At, reading: &Reading<'_>) {
        match *reading {
            Reading::Sensor {
                sensor,
                def,
                values,
            } => {
                for (index, value) in values.iter().enumerate() {
                    let Some(raw) = value.raw else { continue };
                    self.count(at, Counter::Sensor(sensor, index), raw, def.scale, |own| {
                        (own.track, def.value_name(index), def.unit.clone())
                    });
                }
            }
            Reading::Counters { values, .. } => {
                for (index, count) in values.iter().enumerate() {
                    let Some(value) = count.value else { continue };
                    let counter = Counter::Thread(at.position, index);
                    self.count(at, counter, value, 1.0, |own| {
                        let (name, unit) = own.definitions[index].clone();
                        (own.threads[at.position].track, name, unit)
                    });
                }
            }
            _ => {}
        }
    }
}
