//! Where the fields of an event stand in version 2 of the format, if that is not as in version 1.

use std::collections::BTreeMap;

use super::{field, size};
use crate::{Event, Part};

/// First bit and number of bits of a number in the word of numbers.
type Bits = (u32, u32);

/// Where a field is.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// Offset behind the event's header.
    pub(super) bytes: usize,
    /// Its 32 bits, or the whole address, as a Rust expression of `numbers` and `words`.
    pub(super) raw: String,
}

/// An event in version 2.
#[derive(Debug)]
pub(super) struct Packed {
    /// Bytes of what every such event has.
    pub(super) bytes: usize,
    /// Offset of the word with the numbers.
    pub(super) numbers: usize,
    /// The number that says how many words follow.
    pub(super) words: Bits,
    /// The number that says how many dependences follow those.
    pub(super) count: Option<Bits>,
    places: BTreeMap<&'static str, Place>,
}

impl Packed {
    /// The parts of an event; `None`: it stands as in version 1.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let mut packed = Self {
            bytes: 0,
            numbers: 0,
            words: (0, 0),
            count: None,
            places: BTreeMap::new(),
        };
        let mut bits: BTreeMap<&str, Bits> = BTreeMap::new();
        for part in event.packed {
            let at = packed.bytes;
            let mut put = |name, raw| {
                packed.places.insert(name, Place { bytes: at, raw });
            };
            match part {
                Part::Field(name) => {
                    put(name, format!("u32({at})"));
                    packed.bytes += size(&field(event, name).ty).bytes;
                }
                Part::Near(name) => {
                    put(name, format!("u32({at})"));
                    packed.bytes += 4;
                }
                Part::Bits(numbers) => {
                    let mut first = 0;
                    for (name, size) in *numbers {
                        put(name, format!("layout.bits(numbers, {first}, {size})"));
                        bits.insert(name, (first, *size));
                        first += size;
                    }
                    packed.numbers = at;
                    packed.bytes += 4;
                }
                Part::High(_, count) | Part::Wide(_, count) => {
                    packed.words = bits.get(count).copied().unwrap_or_default();
                }
                Part::Deps(_) => packed.count = bits.get("count").copied(),
            }
        }
        packed.complete(event);
        (!event.packed.is_empty()).then_some(packed)
    }

    /// What stands behind the numbers may say more of a field.
    fn complete(&mut self, event: &Event) {
        let behind = self.bytes;
        let wide = event
            .packed
            .iter()
            .any(|part| matches!(part, Part::Wide(..)));
        let mut number = 0;
        for part in event.packed {
            match part {
                Part::Near(name) => {
                    if let Some(place) = self.places.get_mut(name) {
                        place.raw = format!(
                            "layout.code({}, (words != 0).then(|| u32({behind})))",
                            place.raw
                        );
                    }
                }
                Part::Bits(numbers) if wide => {
                    for (name, _) in *numbers {
                        if let Some(place) = self.places.get_mut(name) {
                            let (at, raw) = (behind + 4 * number, &place.raw);
                            place.raw =
                                format!("if words > {number} {{ u32({at}) }} else {{ {raw} }}");
                            number += 1;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Where the field of this name is.
    pub(super) fn place(&self, name: &str) -> Place {
        self.places.get(name).cloned().unwrap_or_default()
    }
}
