//! The tables of the product: which [events] a trace can hold, with their [kinds], and which [settings] a traced program has.
//!
//! [`generate::files`] makes from them, and `cargo run -p instr-schema` writes:
//!
//! | file | what |
//! |---|---|
//! | `runtime/core/setting_names.h` | names of all settings |
//! | `runtime/core/events.h`, `runtime/core/declarations.h` | ids, and the part of the metadata that declares them to any reader of CTF, packed |
//! | `trace/src/event/kinds.rs`, `trace/src/event/payload.rs` | the Rust types |
//! | `trace/src/decode/payload.rs` | sizes and decoder |
//! | `trace/src/synth/events.rs` | encoder for synthetic traces |
//! | `docs/trace-format.md`, `docs/environment.md` | the tables, between two marks |
//!
//! The files are checked in; a test fails when they are not current. [settings] and [declarations] are also used as they are, by `instr-cc` and `instr`.

pub mod declarations;
pub mod events;
pub mod generate;
pub mod kernel;
pub mod kinds;
pub mod series;
pub mod settings;

use events::Type;

/// Something a thread can write.
#[derive(Debug)]
pub struct Event {
    /// Number in the event's header; never reused.
    pub id: u8,
    /// Name, in small letters with underscores.
    pub name: &'static str,
    /// Fields in their order.
    pub fields: &'static [Field],
    /// How its fields stand in version 2 of the format, where that is not as in version 1; else empty.
    pub packed: &'static [Part],
    /// When it is written and what its fields mean, for `docs/trace-format.md`.
    pub when: &'static str,
}

/// A part of an event in version 2 of the format.
#[derive(Debug)]
pub enum Part {
    /// The field of this name, as in version 1.
    Field(&'static str),
    /// The low 32 bits of a field that is an address of code. Its others are those of the address that is nearest to `code_base` (metadata),
    /// or in a [`Part::High`].
    Near(&'static str),
    /// Numbers of so many bits, 32 together, in one word: the first in its low bits where the byte order is little, else in its high ones.
    Bits(&'static [(&'static str, u32)]),
    /// The high 32 bits of an address of code, if the number of the second name is 1.
    High(&'static str, &'static str),
    /// As many words as the number of the second name says: the fields that stand with it, if they do not fit into their bits.
    Wide(&'static str, &'static str),
    /// A list of dependences, whose length is the number `count`.
    Deps(&'static str),
}

/// A field of an event.
#[derive(Debug)]
pub struct Field {
    /// Name in the raw format.
    pub name: &'static str,
    /// Name in Rust.
    pub rust: &'static str,
    /// Type in the raw format and in Rust.
    pub ty: Type,
}

/// Values of a field that have names.
#[derive(Debug)]
pub struct Kind {
    /// Name of the Rust type, or of the Rust module when it is a set of bits.
    pub rust: &'static str,
    /// Beginning of the names in C.
    pub c: &'static str,
    /// Whether each value is a bit, and several may be set.
    pub bits: bool,
    /// What it is a kind of; a sentence.
    pub doc: &'static str,
    /// The values.
    pub values: &'static [Value],
}

/// A named value.
#[derive(Debug)]
pub struct Value {
    /// Number in the raw format.
    pub number: u32,
    /// Name in C, behind [`Kind::c`].
    pub c: &'static str,
    /// Name in Rust.
    pub rust: &'static str,
    /// What it means; a sentence.
    pub doc: &'static str,
}
