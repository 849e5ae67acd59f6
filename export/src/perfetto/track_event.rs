//! Events on tracks as bytes. There are millions of them, so that their fields go into one buffer directly, and not through a message of their own; those of
//! nearly all, which are short, through an array of a fixed size (`short`).
//!
//! Names and numbers of fields are those of `trace_packet.proto`, and of `track_event.proto` and `debug_annotation.proto` in `track_event/`, of
//! Perfetto's sources. Fields come in order of their numbers, as libraries write them.

mod short;

use crate::slices::{FlowsHere, Label, Note, Number};

pub(super) use short::Short;

/// How a field is encoded: the low bits of what stands before it.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH: u32 = 2;

/// `TrackEvent.Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// A `TrackEvent`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'f> {
    pub(super) kind: Kind,
    pub(super) track: u64,
    pub(super) label: Option<Label>,
    pub(super) value: Option<Number>,
    pub(super) flows: FlowsHere<'f>,
}

/// What a packet says of itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header<'n> {
    /// ns.
    pub(super) time: u64,
    /// `trusted_packet_sequence_id`.
    pub(super) sequence: u32,
    /// `SequenceFlags`.
    pub(super) flags: u32,
    /// An encoded `InternedData`; empty: none.
    pub(super) names: &'n [u8],
}

/// Appends a number in groups of seven bits.
#[inline]
fn varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Bytes of a number in groups of seven bits.
#[inline]
fn varint_bytes(number: u64) -> usize {
    let bits = u64::BITS - (number | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// What stands before a field. Numbers below 16 take a byte.
#[inline]
fn key(out: &mut Vec<u8>, field: u32, wire: u32) {
    varint(out, u64::from(field << 3 | wire));
}

#[inline]
fn number(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, VARINT);
    varint(out, value);
}

#[inline]
fn fixed(out: &mut Vec<u8>, field: u32, value: u64) {
    key(out, field, FIXED64);
    out.extend_from_slice(&value.to_le_bytes());
}

impl Event<'_> {
    /// Appends the fields.
    fn encode(&self, out: &mut Vec<u8>) {
        if let Some(label) = self.label {
            number(out, 3, label.category as u64 + 1);
            if let Some(note) = label.note {
                annotation(out, note);
            }
        }
        number(out, 9, self.kind as u64);
        if let Some(label) = self.label {
            number(out, 10, label.name);
        }
        number(out, 11, self.track);
        match self.value {
            Some(Number::Whole(value)) => number(out, 30, value.cast_unsigned()),
            Some(Number::Real(value)) => fixed(out, 44, value.to_bits()),
            None => {}
        }
        for flow in self.flows.begin {
            fixed(out, 47, *flow);
        }
        for flow in self.flows.end {
            fixed(out, 48, *flow);
        }
    }
}

/// A `DebugAnnotation`: the number of its name, see [`NOTES`](super::packets::NOTES), and a value.
fn annotation(out: &mut Vec<u8>, note: Note) {
    let (name, field, value) = match note {
        Note::Task(number) => (1, 3, number),
        Note::Object(address) => (2, 7, address),
        Note::Value(number) => (3, 3, number),
    };
    key(out, 4, LENGTH);
    varint(out, (3 + varint_bytes(value)) as u64);
    number(out, 1, name);
    number(out, field, value);
}

/// Appends a `Trace.packet` with a `TrackEvent`.
#[inline]
pub(super) fn packet(out: &mut Vec<u8>, short: &mut Short, header: Header<'_>, event: &Event<'_>) {
    match short.packet(&header, event) {
        Some(bytes) => out.extend_from_slice(bytes),
        None => long_packet(out, header, event),
    }
}

/// The same, however long it is.
#[cold]
fn long_packet(out: &mut Vec<u8>, header: Header<'_>, event: &Event<'_>) {
    let mut fields = Vec::new();
    event.encode(&mut fields);
    let part = |bytes: &[u8]| 1 + varint_bytes(bytes.len() as u64) + bytes.len();
    let sequence = u64::from(header.sequence);
    let flags = u64::from(header.flags);
    let names = match header.names {
        [] => 0,
        names => part(names),
    };
    let length = 3
        + varint_bytes(header.time)
        + varint_bytes(sequence)
        + varint_bytes(flags)
        + part(&fields)
        + names;
    key(out, 1, LENGTH);
    varint(out, length as u64);
    number(out, 8, header.time);
    number(out, 10, sequence);
    key(out, 11, LENGTH);
    varint(out, fields.len() as u64);
    out.extend_from_slice(&fields);
    if !header.names.is_empty() {
        key(out, 12, LENGTH);
        varint(out, header.names.len() as u64);
        out.extend_from_slice(header.names);
    }
    number(out, 13, flags);
}

#[cfg(test)]
mod tests {
    use prost::Message;

    use super::*;
    use crate::describe::Category;

    /// The same messages as prost writes and reads them.
    #[derive(Clone, PartialEq, Message)]
    struct Trace {
        #[prost(message, repeated, tag = "1")]
        packet: Vec<Packet>,
    }

    #[derive(Clone, PartialEq, Message)]
    struct Packet {
        #[prost(uint64, optional, tag = "8")]
        timestamp: Option<u64>,
        #[prost(uint32, optional, tag = "10")]
        trusted_packet_sequence_id: Option<u32>,
        #[prost(message, optional, tag = "11")]
        track_event: Option<TrackEvent>,
        #[prost(bytes = "vec", optional, tag = "12")]
        interned_data: Option<Vec<u8>>,
        #[prost(uint32, optional, tag = "13")]
        sequence_flags: Option<u32>,
    }

    #[derive(Clone, PartialEq, Message)]
    struct TrackEvent {
        #[prost(uint64, optional, tag = "3")]
        category_iids: Option<u64>,
        #[prost(message, optional, tag = "4")]
        debug_annotations: Option<DebugAnnotation>,
        #[prost(int32, optional, tag = "9")]
        r#type: Option<i32>,
        #[prost(uint64, optional, tag = "10")]
        name_iid: Option<u64>,
        #[prost(uint64, optional, tag = "11")]
        track_uuid: Option<u64>,
        #[prost(int64, optional, tag = "30")]
        counter_value: Option<i64>,
        #[prost(double, optional, tag = "44")]
        double_counter_value: Option<f64>,
        #[prost(fixed64, repeated, packed = "false", tag = "47")]
        flow_ids: Vec<u64>,
        #[prost(fixed64, repeated, packed = "false", tag = "48")]
        terminating_flow_ids: Vec<u64>,
    }

    #[derive(Clone, Copy, PartialEq, Message)]
    struct DebugAnnotation {
        #[prost(uint64, optional, tag = "1")]
        name_iid: Option<u64>,
        #[prost(uint64, optional, tag = "3")]
        uint_value: Option<u64>,
        #[prost(uint64, optional, tag = "7")]
        pointer_value: Option<u64>,
    }

    /// What prost makes of an event.
    fn by_prost(header: Header<'_>, event: &Event<'_>) -> Trace {
        let annotation = event.label.and_then(|label| label.note).map(|note| {
            let (name, uint, pointer) = match note {
                Note::Task(number) => (1, Some(number), None),
                Note::Object(address) => (2, None, Some(address)),
                Note::Value(value) => (3, Some(value), None),
            };
            DebugAnnotation {
                name_iid: Some(name),
                uint_value: uint,
                pointer_value: pointer,
            }
        });
        let (whole, real) = match event.value {
            Some(Number::Whole(value)) => (Some(value), None),
            Some(Number::Real(value)) => (None, Some(value)),
            None => (None, None),
        };
        let packet = Packet {
            timestamp: Some(header.time),
            trusted_packet_sequence_id: Some(header.sequence),
            track_event: Some(TrackEvent {
                category_iids: event.label.map(|label| label.category as u64 + 1),
                debug_annotations: annotation,
                r#type: Some(event.kind as i32),
                name_iid: event.label.map(|label| label.name),
                track_uuid: Some(event.track),
                counter_value: whole,
                double_counter_value: real,
                flow_ids: event.flows.begin.to_vec(),
                terminating_flow_ids: event.flows.end.to_vec(),
            }),
            interned_data: (!header.names.is_empty()).then(|| header.names.to_vec()),
            sequence_flags: Some(header.flags),
        };
        Trace {
            packet: vec![packet],
        }
    }

    #[test]
    fn bytes_are_those_of_a_library() {
        let mut numbers = vec![
            0,
            1,
            127,
            128,
            16383,
            16384,
            1 << 35,
            i64::MAX as u64,
            u64::MAX,
        ];
        // Around each length that a number can have.
        numbers.extend((1..=9).flat_map(|groups| [(1 << (7 * groups)) - 1, 1 << (7 * groups)]));
        let names = vec![b'n'; 300];
        let flows: Vec<u64> = (0..40).collect();
        let (mut tried, mut shorts, mut short) = (0, 0, Short::new());
        for (at, number) in numbers.into_iter().enumerate() {
            let notes = [
                None,
                Some(Note::Task(number)),
                Some(Note::Object(number)),
                Some(Note::Value(number)),
            ];
            let values = [
                None,
                Some(Number::Whole(number.cast_signed())),
                Some(Number::Real(number as f64 * -0.25)),
            ];
            let kinds = [Kind::Begin, Kind::End, Kind::Instant, Kind::Counter];
            for kind in kinds {
                for (note, value) in notes.into_iter().zip(values.into_iter().cycle()) {
                    let label = Label {
                        category: Category::Dependence,
                        name: number,
                        note,
                    };
                    let event = Event {
                        kind,
                        track: number,
                        label: (kind != Kind::End).then_some(label),
                        value,
                        flows: FlowsHere {
                            begin: &flows[..at % 5],
                            end: &flows[..at * at % 7],
                        },
                    };
                    let header = Header {
                        time: number,
                        sequence: number as u32,
                        flags: 2,
                        names: &names[..at % 3 * 100],
                    };
                    let (mut bytes, mut long) = (Vec::new(), Vec::new());
                    packet(&mut bytes, &mut short, header, &event);
                    long_packet(&mut long, header, &event);
                    assert_eq!(bytes, long, "{event:?}");
                    shorts += u32::from(short.packet(&header, &event).is_some());
                    let expected = by_prost(header, &event);
                    assert_eq!(bytes, expected.encode_to_vec(), "{event:?}");
                    assert_eq!(Trace::decode(bytes.as_slice()), Ok(expected));
                    tried += 1;
                }
            }
        }
        assert_eq!(tried, 27 * 4 * 4);
        assert!(shorts > 40 && shorts < tried, "{shorts} of {tried}");
    }
}
