//! The few of the kernel's types (`linux/btf.h`) that the program needs. A kernel has some 130,000; to read them all takes longer than everything else
//! that `instr run` does before the program begins.

use std::collections::BTreeMap;

/// Structures whose fields the program reads, and these fields: the other side is in `switches.bpf.c`.
const STRUCTURES: [&[u8]; 4] = [b"task_struct", b"sched_entity", b"thread_info", b"pt_regs"];
const FIELDS: [&[u8]; 13] = [
    b"thread_info",
    b"preempt_count",
    b"stack",
    b"flags",
    b"prio",
    b"pid",
    b"tgid",
    b"comm",
    b"orig_ax",
    b"se",
    b"exec_start",
    b"sum_exec_runtime",
    b"prev_sum_exec_runtime",
];
/// Begin of the names of types that stand for tracepoints.
const TRACEPOINT: &[u8] = b"btf_trace_";

const MAGIC: u16 = 0xeb9f;
const VERSION: u8 = 1;
const HEADER: usize = 24;
/// Bytes of a type, without what follows some kinds.
const TYPE: usize = 12;
/// Bytes of a member of a structure.
const MEMBER: usize = 12;

// Kinds of types.
const INT: u32 = 1;
const POINTER: u32 = 2;
const ARRAY: u32 = 3;
const STRUCTURE: u32 = 4;
const UNION: u32 = 5;
const ENUM: u32 = 6;
const FORWARD: u32 = 7;
const TYPEDEF: u32 = 8;
const VOLATILE: u32 = 9;
const CONST: u32 = 10;
const RESTRICT: u32 = 11;
const FUNCTION: u32 = 12;
const PROTOTYPE: u32 = 13;
const VARIABLE: u32 = 14;
const SECTION: u32 = 15;
const FLOAT: u32 = 16;
const DECLARATION_TAG: u32 = 17;
const TYPE_TAG: u32 = 18;
const ENUM64: u32 = 19;

/// A type as it is in the file; `detail` is its size or the number of another type.
#[derive(Clone, Copy)]
struct Type {
    name: u32,
    info: u32,
    detail: u32,
}

impl Type {
    fn kind(self) -> u32 {
        self.info >> 24 & 0x1f
    }

    /// Members, values or parameters that follow.
    fn count(self) -> usize {
        (self.info & 0xffff) as usize
    }

    fn with_count(self, count: usize) -> Self {
        let info = self.info & !0xffff | count as u32;
        Self { info, ..self }
    }

    /// Bytes that follow; `None`: the kind is not known.
    fn more(self) -> Option<usize> {
        Some(match self.kind() {
            INT | VARIABLE | DECLARATION_TAG => 4,
            ARRAY => 12,
            STRUCTURE | UNION | SECTION | ENUM64 => self.count() * 12,
            ENUM | PROTOTYPE => self.count() * 8,
            POINTER | FORWARD | TYPEDEF | VOLATILE | CONST | RESTRICT | FUNCTION | FLOAT
            | TYPE_TAG => 0,
            _ => return None,
        })
    }

    fn write(self, out: &mut Vec<u8>) {
        for number in [self.name, self.info, self.detail] {
            out.extend(number.to_ne_bytes());
        }
    }
}

/// All types.
struct Types<'a> {
    bytes: &'a [u8],
    strings: &'a [u8],
    /// Where each begins, by its number.
    begins: Vec<u32>,
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_ne_bytes(*bytes))
}

impl<'a> Types<'a> {
    /// `None`: it is in no form that is known.
    fn read(file: &'a [u8]) -> Option<Self> {
        let magic = u16::from_ne_bytes(*file.first_chunk()?);
        if magic != MAGIC || *file.get(2)? != VERSION {
            return None;
        }
        let field = |at: usize| Some(number(file, at)? as usize);
        let header = field(4)?;
        let part = |at: usize| {
            let begin = header.checked_add(field(at)?)?;
            file.get(begin..begin.checked_add(field(at + 4)?)?)
        };
        let (bytes, strings) = (part(8)?, part(16)?);
        let mut begins = vec![0];
        let mut at = 0;
        while at < bytes.len() {
            begins.push(u32::try_from(at).ok()?);
            at += TYPE + read_type(bytes, at)?.more()?;
        }
        Some(Self {
            bytes,
            strings,
            begins,
        })
    }

    fn get(&self, id: u32) -> Option<(Type, &'a [u8])> {
        let at = *self.begins.get(id as usize).filter(|_| id != 0)? as usize;
        let found = read_type(self.bytes, at)?;
        let more = self.bytes.get(at + TYPE..)?.get(..found.more()?)?;
        Some((found, more))
    }

    fn name(&self, at: u32) -> Option<&'a [u8]> {
        let text = self.strings.get(at as usize..)?;
        let end = text.iter().position(|byte| *byte == 0)?;
        Some(&text[..end])
    }

    /// Types by name: the structures, and those of these tracepoints.
    fn roots(&self, tracepoints: &[&str]) -> Option<Vec<u32>> {
        let mut found = Vec::new();
        for (id, begin) in (0..).zip(&self.begins).skip(1) {
            let one = read_type(self.bytes, *begin as usize)?;
            let is_root = match one.kind() {
                STRUCTURE => STRUCTURES.contains(&self.name(one.name)?),
                TYPEDEF => self.is_of(one, tracepoints)?,
                _ => false,
            };
            if is_root {
                found.push(id);
            }
        }
        Some(found)
    }

    fn is_of(&self, typedef: Type, tracepoints: &[&str]) -> Option<bool> {
        let name = self.name(typedef.name)?.strip_prefix(TRACEPOINT);
        Some(name.is_some_and(|name| tracepoints.iter().any(|own| own.as_bytes() == name)))
    }
}

fn read_type(bytes: &[u8], at: usize) -> Option<Type> {
    Some(Type {
        name: number(bytes, at)?,
        info: number(bytes, at + 4)?,
        detail: number(bytes, at + 8)?,
    })
}

/// What is kept.
#[derive(Default)]
struct Kept {
    types: BTreeMap<u32, Vec<u8>>,
    strings: Vec<u8>,
    /// Numbers of types that are needed as well.
    needed: Vec<u32>,
}

impl Kept {
    fn string(&mut self, text: &[u8]) -> u32 {
        if text.is_empty() {
            return 0;
        }
        let at = self.strings.len() as u32;
        self.strings.extend(text);
        self.strings.push(0);
        at
    }

    fn keep(&mut self, all: &Types<'_>, id: u32) -> Option<()> {
        let (found, more) = all.get(id)?;
        let name = all.name(found.name)?;
        let mut own = Type {
            name: self.string(name),
            ..found
        };
        let mut rest = more.to_vec();
        match found.kind() {
            // What a pointer leads to does not matter, nor does the function behind a tracepoint.
            POINTER => own.detail = 0,
            TYPEDEF if name.starts_with(TRACEPOINT) => own.detail = 0,
            TYPEDEF | VOLATILE | CONST | RESTRICT | TYPE_TAG => self.needed.push(own.detail),
            ARRAY => self.needed.extend([number(more, 0)?, number(more, 4)?]),
            STRUCTURE | UNION => {
                rest = self.members(all, more)?;
                own = own.with_count(rest.len() / MEMBER);
            }
            // Of an enumeration the name is compared, not its values.
            ENUM | ENUM64 => {
                rest.clear();
                own = own.with_count(0);
            }
            INT | FLOAT | FORWARD => {}
            _ => return None,
        }
        let mut bytes = Vec::with_capacity(TYPE + rest.len());
        own.write(&mut bytes);
        bytes.extend(rest);
        self.types.insert(id, bytes);
        Some(())
    }

    /// The members that are read, and those without a name, in which they may be.
    fn members(&mut self, all: &Types<'_>, members: &[u8]) -> Option<Vec<u8>> {
        let mut kept = Vec::new();
        for member in members.chunks_exact(MEMBER) {
            let name = all.name(number(member, 0)?)?;
            if !name.is_empty() && !FIELDS.contains(&name) {
                continue;
            }
            kept.extend(self.string(name).to_ne_bytes());
            kept.extend(&member[4..]);
            self.needed.push(number(member, 4)?);
        }
        Some(kept)
    }

    /// A file in which all numbers of types are as before. What is not kept is a declaration without a name.
    fn write(self) -> Option<Vec<u8>> {
        let mut types = Vec::new();
        let last = self.types.last_key_value().map_or(0, |(id, _)| *id);
        let nothing = Type {
            name: 0,
            info: FORWARD << 24,
            detail: 0,
        };
        let mut kept = self.types.into_iter().peekable();
        for id in 1..=last {
            match kept.next_if(|(next, _)| *next == id) {
                Some((_, bytes)) => types.extend(bytes),
                None => nothing.write(&mut types),
            }
        }
        let mut file = Vec::with_capacity(HEADER + types.len() + self.strings.len());
        file.extend(MAGIC.to_ne_bytes());
        file.extend([VERSION, 0]);
        let (types_length, strings_length) = (
            u32::try_from(types.len()).ok()?,
            u32::try_from(self.strings.len()).ok()?,
        );
        for field in [HEADER as u32, 0, types_length, types_length, strings_length] {
            file.extend(field.to_ne_bytes());
        }
        file.extend(types);
        file.extend(self.strings);
        Some(file)
    }
}

/// The types that the program needs for these tracepoints, under their own numbers, in the form of the whole file. `None`: that is in no form that is
/// known here, and has to be taken as a whole.
pub(super) fn reduced(file: &[u8], tracepoints: &[&str]) -> Option<Vec<u8>> {
    let all = Types::read(file)?;
    let mut kept = Kept {
        strings: vec![0],
        needed: all.roots(tracepoints)?,
        ..Kept::default()
    };
    while let Some(id) = kept.needed.pop() {
        if id != 0 && !kept.types.contains_key(&id) {
            kept.keep(&all, id)?;
        }
    }
    kept.write()
}

#[cfg(test)]
mod tests {
    use aya::{Btf, Endianness};
    use aya_obj::btf::BtfKind;

    use super::*;

    /// Types as a kernel has them: the structure is number 4, the tracepoints are 7 and 9.
    fn file() -> Vec<u8> {
        let strings =
            b"\0int\0task_struct\0pid\0other\0prio\0pid_t\0btf_trace_on\0btf_trace_off\0f\0";
        let at = |name: &str| {
            let text = [b"\0", name.as_bytes(), b"\0"].concat();
            let found = strings.windows(text.len()).position(|part| part == text);
            found.map_or(0, |at| at as u32 + 1)
        };
        let words: Vec<u32> = [
            &[at("int"), INT << 24, 4, 32][..],            // 1
            &[at("pid_t"), TYPEDEF << 24, 1],              // 2
            &[0, UNION << 24 | 1, 4, at("prio"), 1, 0],    // 3
            &[at("task_struct"), STRUCTURE << 24 | 3, 16], // 4
            &[at("other"), 1, 0, at("pid"), 2, 64, 0, 3, 96],
            &[0, PROTOTYPE << 24 | 1, 0, 0, 1],            // 5
            &[0, POINTER << 24, 5],                        // 6
            &[at("btf_trace_on"), TYPEDEF << 24, 6],       // 7
            &[at("f"), FUNCTION << 24, 5],                 // 8
            &[at("btf_trace_off"), TYPEDEF << 24, 6],      // 9
            &[at("other"), ENUM << 24 | 1, 4, at("f"), 0], // 10
        ]
        .concat();
        let length = words.len() as u32 * 4;
        let mut file = [MAGIC.to_ne_bytes(), [VERSION, 0]].concat();
        for field in [HEADER as u32, 0, length, length, strings.len() as u32] {
            file.extend(field.to_ne_bytes());
        }
        file.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        file.extend(strings);
        file
    }

    #[test]
    fn types_keep_their_numbers_and_structures_the_fields_that_are_read() {
        let few = reduced(&file(), &["on", "never"]).unwrap();
        let types = Types::read(&few).unwrap();
        assert_eq!(types.begins.len(), 8); // up to the last one that is needed
        let (task, members) = types.get(4).unwrap();
        assert_eq!(types.name(task.name).unwrap(), b"task_struct");
        assert_eq!((task.kind(), task.count(), task.detail), (STRUCTURE, 2, 16));
        let member = |at: usize| {
            let field = |more: usize| number(members, at * MEMBER + more).unwrap();
            (types.name(field(0)).unwrap(), field(4), field(8))
        };
        assert_eq!(member(0), (&b"pid"[..], 2, 64));
        assert_eq!(member(1), (&b""[..], 3, 96));
        let (union, members) = types.get(3).unwrap();
        assert_eq!(types.name(number(members, 0).unwrap()).unwrap(), b"prio");
        assert_eq!(union.count(), 1);
        assert_eq!(types.get(2).unwrap().0.detail, 1);
        assert_eq!(types.get(1).unwrap().0.kind(), INT);
        for left_out in [5, 6] {
            assert_eq!(types.get(left_out).unwrap().0.kind(), FORWARD);
        }
        let read = Btf::parse(&few, Endianness::default()).unwrap();
        let id = |name: &str| read.id_by_type_name_kind(name, BtfKind::Typedef).ok();
        assert_eq!((id("btf_trace_on"), id("btf_trace_off")), (Some(7), None));
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_not_reduced() {
        let whole = file();
        let strings = number(&whole, 20).unwrap() as usize;
        for end in 0..whole.len() {
            assert!(reduced(&whole[..end], &["on"]).is_none(), "{end}");
        }
        for at in (0..whole.len() - strings).step_by(4) {
            for value in [0, 0x7fff_ffff, u32::MAX] {
                let mut changed = whole.clone();
                changed[at..at + 4].copy_from_slice(&value.to_ne_bytes());
                let _ = reduced(&changed, &["on", "off"]); // it ends, without a panic
            }
        }
        let mut unknown = whole;
        unknown[HEADER + 7] = 31;
        assert!(reduced(&unknown, &["on"]).is_none());
    }

    /// The kernel's own, where there are any: the numbers of its tracepoints are those in the whole file.
    #[test]
    fn numbers_are_those_of_the_running_kernel() {
        let Ok(whole) = std::fs::read(super::super::TYPES) else {
            instr_test_needs::say("no types of the kernel here: a part of a test is left out");
            return;
        };
        let tracepoints = super::super::FUNCTIONS.map(|(_, tracepoint)| tracepoint);
        let few = reduced(&whole, &tracepoints).unwrap();
        let [few, whole] = [&few, &whole].map(|it| Btf::parse(it, Endianness::default()).unwrap());
        for tracepoint in tracepoints {
            let name = format!("btf_trace_{tracepoint}");
            let id = |of: &Btf| of.id_by_type_name_kind(&name, BtfKind::Typedef).unwrap();
            assert_eq!(id(&few), id(&whole), "{name}");
        }
    }
}
