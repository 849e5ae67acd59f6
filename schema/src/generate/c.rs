//! The headers of the runtime.

use std::fmt::Write as _;

use super::MARK;
use super::pack::Packed;
use crate::declarations;
use crate::events::{EVENTS, Type};
use crate::kinds::KINDS;
use crate::settings::{CHANGEABLE, SETTINGS};
use crate::{Event, Kind, Part};

/// `include/instr/kinds.h`.
pub(super) fn kinds() -> String {
    let mut out = format!(
        "/* {MARK} */\n#ifndef INSTR_KINDS_H\n#define INSTR_KINDS_H\n\n/* Kinds and flags of events, as recorded. */\n"
    );
    for kind in KINDS {
        _ = write!(out, "\n/* {} */\n", kind.doc);
        if kind.bits {
            for value in kind.values {
                _ = writeln!(out, "#define {}{} {:#x}u", kind.c, value.c, value.number);
            }
        } else {
            enumeration(&mut out, kind);
        }
    }
    out.push_str("\n/* Bits that stand in one word with something else, or alone in theirs. */\n");
    for event in EVENTS {
        for field in event.fields {
            let (name, bit) = match &field.ty {
                Type::Bit(bit) => (format!("INSTR_{}_{}", event.name, field.rust), bit),
                Type::KindAndBit(kind, name, bit) => (format!("{}{name}", kind.c), bit),
                _ => continue,
            };
            _ = writeln!(out, "#define {} {bit:#x}u", name.to_ascii_uppercase());
        }
    }
    out.push_str("\n#endif\n");
    out
}

fn enumeration(out: &mut String, kind: &Kind) {
    out.push_str("enum {\n");
    for (at, value) in kind.values.iter().enumerate() {
        let comma = if at + 1 < kind.values.len() { "," } else { "" };
        _ = writeln!(out, "    {}{} = {}{comma}", kind.c, value.c, value.number);
    }
    out.push_str("};\n");
}

/// `core/setting_names.h`.
pub(super) fn settings() -> String {
    let texts = |names: &mut dyn Iterator<Item = &str>| {
        let texts: Vec<String> = names.map(|name| format!("    \"{name}\\0\"")).collect();
        texts.join(" \\\n")
    };
    let all = texts(&mut SETTINGS.iter().map(|setting| setting.name));
    let later = texts(&mut CHANGEABLE.iter().copied());
    format!(
        "/* {MARK} */\n#ifndef INSTR_SETTING_NAMES_H\n#define INSTR_SETTING_NAMES_H\n\n\
         /* All settings, each with a NUL behind it. */\n#define INSTR_SETTING_NAMES \\\n{all}\n\n\
         /* Those that instr_start() may change when the trace has begun. */\n#define INSTR_CHANGEABLE_NAMES \\\n{later}\n\n#endif\n"
    )
}

/// `core/events.h`.
pub(super) fn events() -> String {
    let id = |name: &str| format!("INSTR_EV_{}", name.to_ascii_uppercase());
    let mut out = format!(
        "/* {MARK} */\n#ifndef INSTR_EVENTS_H\n#define INSTR_EVENTS_H\n\n#include \"instr/kinds.h\"\n\nenum {{\n"
    );
    for (at, event) in EVENTS.iter().enumerate() {
        let comma = if at + 1 < EVENTS.len() { "," } else { "" };
        _ = writeln!(out, "    {} = {}{comma}", id(event.name), event.id);
    }
    out.push_str("};\n\n/* Numbers that share a word (INSTR_BITS: core/format.h), and the largest of each. */\n");
    for event in EVENTS {
        packed(&mut out, event);
    }
    out.push_str("\n#endif\n");
    out
}

fn packed(out: &mut String, event: &Event) {
    let event_name = event.name.to_ascii_uppercase();
    for part in event.packed {
        let Part::Bits(numbers) = part else { continue };
        let (mut first, mut terms, mut limits) = (0, Vec::new(), String::new());
        for (name, size) in *numbers {
            terms.push(format!("INSTR_BITS({name}, {first}, {size})"));
            let most = (1u64 << size) - 1;
            let upper = name.to_ascii_uppercase();
            _ = writeln!(limits, "#define INSTR_MOST_{event_name}_{upper} {most:#x}u");
            first += size;
        }
        let names: Vec<&str> = numbers.iter().map(|(name, _)| *name).collect();
        _ = writeln!(
            out,
            "\n#define INSTR_NUMBERS_{event_name}({}) ({})\n{}",
            names.join(", "),
            terms.join(" | "),
            limits.trim_end()
        );
    }
}

/// `core/declarations.h`.
pub(super) fn declarations() -> String {
    let mut out = format!(
        "/* {MARK} */\n#ifndef INSTR_DECLARATIONS_H\n#define INSTR_DECLARATIONS_H\n\n/* Of the declarations, and of no others. */\n\
         #define INSTR_DECLARATIONS {:#010x}u\n",
        declarations::number()
    );
    let packed = Packed::new(&[
        declarations::types(32),
        declarations::types(64),
        declarations::events(),
    ]);
    out.push_str(
        "\n/*\n * The declarations, packed (schema/src/generate/pack.rs): the first bytes stand for letters, a later one for a pair of bytes, each of\n \
         * which may stand for others.\n */\n",
    );
    let letters = packed.letters.as_slice();
    let pairs = packed.pairs.as_flattened();
    let texts = packed.texts.iter().map(Vec::as_slice);
    for (name, bytes) in ["LETTERS", "PAIRS", "TYPES_32", "TYPES_64", "STREAM"]
        .iter()
        .zip([letters, pairs].into_iter().chain(texts))
    {
        _ = write!(out, "\n#define INSTR_DECLARED_{name}");
        for line in bytes.chunks(30) {
            out.push_str(" \\\n   ");
            for byte in line {
                _ = write!(out, " {byte},");
            }
        }
        out.push('\n');
    }
    out.push_str("\n#endif\n");
    out
}
