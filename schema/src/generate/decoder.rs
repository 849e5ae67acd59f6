//! The decoder: sizes of events, and their fields.

use std::fmt::Write as _;

use super::packed::Packed;
use super::{MARK, Offset, camel, offsets};
use crate::Event;
use crate::events::{EVENTS, Type};

/// `decode/payload.rs`.
pub(super) fn decoder() -> String {
    let mut out = format!(
        "// {MARK}\n\nuse crate::clock::Clock;\nuse crate::event::{{Addresses, Args, Deps, Payload, RegionId, Schedule, TaskId}};\n\
         use crate::layout::{{Format, Layout}};\n\nuse super::{{NONE, Packed, VARIABLE}};\n\n\
         /// Ids are smaller than this.\npub(super) const IDS: usize = 256;\n\n\
         /// Bytes of the fields of each id, for a target whose addresses have `word` bytes, in version 1.\n\
         pub(super) const fn sizes(word: usize) -> [u8; IDS] {{\n    let mut table = [NONE; IDS];\n"
    );
    for event in EVENTS {
        let (_, end) = offsets(event);
        let varies = event.fields.iter().any(|field| field.ty.varies());
        let size = match varies {
            true => "VARIABLE".to_owned(),
            false if end.words == 0 => end.rust(),
            false => format!("({}) as u8", end.rust()),
        };
        _ = writeln!(out, "    table[{}] = {size};", event.id);
    }
    out.push_str("    table\n}\n");
    lists(&mut out);
    out.push_str(
        "\n/// What `made` makes of the fields of the complete event of this id: in each branch, so that the fields are written where they\n\
         /// stay. Unknown ids, and texts that do not end, give `None`.\n\
         #[inline]\npub(super) fn payload<'a, T>(\n    id: u8,\n    fields: &'a [u8],\n    layout: Layout,\n    clock: &Clock,\n    \
         made: impl FnOnce(Payload<'a>) -> T,\n) -> Option<T> {\n\
         \x20   let word = layout.word_bytes();\n    let u32 = |at| layout.u32(fields, at);\n    let u64 = |at| layout.u64(fields, at);\n\
         \x20   let addr = |at| layout.addr(fields, at);\n    let tail = |at: usize| fields.get(at..).unwrap_or_default();\n\
         \x20   let packed = layout.format == Format::Two;\n    match id {\n",
    );
    for event in EVENTS {
        packed_arm(&mut out, event);
        arm(&mut out, event);
    }
    out.push_str("        _ => None,\n    }\n}\n");
    out
}

/// Where the number of entries of a list is, and how large an entry is.
fn lists(out: &mut String) {
    out.push_str(
        "\n/// Where the number of entries of an event's list is, behind the header, and the bytes of an entry; `None`: it has a text.\n\
         pub(super) fn list(id: u8, word: usize, depend: usize) -> Option<(usize, usize)> {\n    Some(match id {\n",
    );
    for event in EVENTS {
        let Some((at, field)) = offsets(event).0.pop() else {
            continue;
        };
        let entry = match field.ty {
            Type::Values | Type::Signed => "8",
            Type::Addresses => "word",
            Type::Deps => "depend",
            _ => continue,
        };
        _ = writeln!(out, "        {} => ({}, {entry}),", event.id, at.rust());
    }
    out.push_str("        _ => return None,\n    })\n}\n");
    out.push_str(
        "\n/// The events that stand in another way in version 2, and how long they are there.\n\
         pub(super) const fn packed(id: u8) -> Option<Packed> {\n    Some(match id {\n",
    );
    for event in EVENTS {
        let Some(packed) = Packed::of(event) else {
            continue;
        };
        let count = match packed.count {
            Some((first, size)) => format!("Some(({first}, {size}))"),
            None => "None".to_owned(),
        };
        _ = writeln!(
            out,
            "        {} => Packed {{ bytes: {}, numbers: {}, words: ({}, {}), count: {count} }},",
            event.id, packed.bytes, packed.numbers, packed.words.0, packed.words.1
        );
    }
    out.push_str("        _ => return None,\n    })\n}\n");
}

/// A field at `at`, whose 32 bits, if it has no more, are `raw`.
fn value(ty: &Type, raw: &str, at: Offset) -> String {
    let here = at.rust();
    let next = at.plus(4).rust();
    let id = |name: &str| format!("{name} {{ thread: u32({here}), seq: u32({next}) }}");
    match ty {
        Type::U32 | Type::Flags(_) => raw.to_owned(),
        Type::I32 => format!("{raw} as i32"),
        Type::U64 => format!("u64({here})"),
        Type::I64 => format!("u64({here}) as i64"),
        Type::Addr => format!("addr({here})"),
        Type::Ticks => format!("clock.to_ns(u64({here}))"),
        Type::Truth => format!("{raw} != 0"),
        Type::Bit(bit) => format!("{raw} & {bit:#x} != 0"),
        Type::Kind(_) => format!("{raw}.into()"),
        Type::KindAndBit(..) => format!("({raw} & 0xff).into()"),
        Type::Schedule => format!("Schedule({raw})"),
        Type::Task(..) => id("TaskId"),
        Type::MaybeTask(..) => format!("(u32({here}) != u32::MAX).then(|| {})", id("TaskId")),
        Type::Region(..) => id("RegionId"),
        Type::Text => "&fields[..end]".to_owned(),
        Type::Values | Type::Signed => format!("Args::new(tail({next}), layout)"),
        Type::Addresses => format!("Addresses::new(tail({next}), layout)"),
        Type::Deps => format!("Deps::new(tail({next}), layout)"),
    }
}

/// An event as it stands in version 2, if that is another way.
fn packed_arm(out: &mut String, event: &Event) {
    let Some(packed) = Packed::of(event) else {
        return;
    };
    let (id, name) = (event.id, camel(event.name));
    let (first, size) = packed.words;
    _ = write!(
        out,
        "        {id} if packed => {{\n            let numbers = u32({});\n            \
         let words = layout.bits(numbers, {first}, {size}) as usize;\n            Some(made(Payload::{name} {{\n",
        packed.numbers
    );
    for field in event.fields {
        let place = packed.place(field.name);
        let at = Offset {
            bytes: place.bytes,
            words: 0,
        };
        let value = match field.ty {
            Type::Addr => place.raw.clone(),
            Type::Deps => format!("Deps::new(tail({} + 4 * words), layout)", packed.bytes),
            ref ty => value(ty, &place.raw, at),
        };
        _ = writeln!(out, "            {}: {value},", field.rust);
        if let Type::KindAndBit(_, name, bit) = field.ty {
            _ = writeln!(out, "            {name}: {} & {bit:#x} != 0,", place.raw);
        }
    }
    out.push_str("            }))\n        }\n");
}

fn arm(out: &mut String, event: &Event) {
    let name = camel(event.name);
    if event.fields.is_empty() {
        _ = writeln!(out, "        {} => Some(made(Payload::{name})),", event.id);
        return;
    }
    let (fields, _) = offsets(event);
    let text = matches!(fields[0].1.ty, Type::Text);
    let (begin, end) = if text {
        (TEXT_BEGIN, "}))\n        }")
    } else {
        ("", "})),")
    };
    _ = writeln!(
        out,
        "        {} => {begin}Some(made(Payload::{name} {{",
        event.id
    );
    for (at, field) in fields {
        let value = match field.ty {
            Type::Addr if text => "addr(behind)".to_owned(),
            ref ty => value(ty, &format!("u32({})", at.rust()), at),
        };
        _ = writeln!(out, "            {}: {value},", field.rust);
        if let Type::KindAndBit(_, name, bit) = field.ty {
            let here = at.rust();
            _ = writeln!(out, "            {name}: u32({here}) & {bit:#x} != 0,");
        }
    }
    _ = writeln!(out, "        {end}");
}

/// In front of an event that begins with a text.
const TEXT_BEGIN: &str = "{
            let end = fields.iter().position(|byte| *byte == 0)?;
            let behind = (end + 1).next_multiple_of(4);
            fields.get(behind..behind + word)?;
            ";
