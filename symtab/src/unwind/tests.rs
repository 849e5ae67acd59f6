//! Call frame information written by hand, and that of damaged sections.

use super::rows::{Cfa, Rows, Rule};
use super::*;

/// `.eh_frame` of one function at 0x1000, 0x40 bytes: `push %rbp` at 0, `mov %rsp,%rbp` at 1, both as compilers tell them.
fn eh_frame(base: u64) -> Vec<u8> {
    let mut bytes = vec![
        // CIE: length, id, version 1, "zR", code factor 1, data factor -8, return address in 16, augmentation: pcrel sdata4
        0x14, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'R', 0, 1, 0x78, 16, 1, 0x1b, //
        0x0c, 7, 8, // def_cfa rsp + 8
        0x90, 1, // the return address at cfa - 8
        0, 0,
    ];
    let begin = bytes.len() as u64;
    let distance = (0x1000_i64 - (base + begin + 8) as i64) as i32;
    bytes.extend([0x18, 0, 0, 0, 0x1c, 0, 0, 0]);
    bytes.extend(distance.to_le_bytes());
    bytes.extend(0x40_u32.to_le_bytes());
    bytes.extend([
        0, // no augmentation data
        0x41, 0x0e, 16, 0x86, 2, // behind 1 byte: cfa at 16, rbp at cfa - 16
        0x43, 0x0d, 6, // behind 3 more: cfa by rbp
        0, 0, 0,
    ]);
    bytes.extend([0; 4]);
    bytes
}

fn frames(bytes: &[u8]) -> CallFrames {
    CallFrames {
        rows: Rows::new(Some((0x2000, bytes)), &[]),
        latest: Mutex::default(),
    }
}

#[test]
fn rows_are_those_the_section_describes() {
    let rows = Rows::new(Some((0x2000, &eh_frame(0x2000))), &[]);
    assert_eq!(rows.functions(), 1);
    let at = |address| rows.at(address).map(|row| (row.cfa, row.rules));
    let saved = (16, Rule::At(-8));
    assert_eq!(at(0x1000), Some((Cfa::Register(7, 8), vec![saved.clone()])));
    let (cfa, rules) = at(0x1001).unwrap();
    assert_eq!(cfa, Cfa::Register(7, 16));
    assert!(rules.contains(&saved) && rules.contains(&(6, Rule::At(-16))));
    assert_eq!(at(0x1004).unwrap().0, Cfa::Register(6, 16));
    assert_eq!((at(0xfff), at(0x1040)), (None, None));
}

/// Two frames of the function, called from outside of everything that is described.
#[test]
fn callers_are_found_on_the_stack() {
    let frames = frames(&eh_frame(0x2000));
    // Words from 0x7000 on: locals, then (saved rbp, return address) twice.
    let stack = [1, 2, 0x7030, 0x1011, 3, 4, 0x9999, 0x5005, 5];
    let mut start = Registers::new(0x1020, 0x7000);
    start.set(6, 0x7010);
    let word = |address: u64| {
        let at = usize::try_from(address.checked_sub(0x7000)? / 8).ok()?;
        stack.get(at).copied()
    };
    let module = |address| (address < 0x5000).then_some((&frames, address));
    assert_eq!(return_addresses(&start, module, word, 64), [0x1011, 0x5005]);
    assert_eq!(return_addresses(&start, module, word, 1), [0x1011]);
    // Of a shorter copy: what is certain.
    let short = |address: u64| word(address).filter(|_| address < 0x7020);
    assert_eq!(return_addresses(&start, module, short, 64), [0x1011]);
    assert!(return_addresses(&start, module, |_| None, 64).is_empty());
    // Before anything is pushed, and with nothing known of rbp.
    let entry = Registers::new(0x1000, 0x7018);
    assert_eq!(return_addresses(&entry, module, word, 64), [0x1011]);
}

/// The same function with an epilogue as GCC tells it: `pop %rbp` before 0x3f, of which nothing but the stack pointer is told.
fn with_epilogue() -> Vec<u8> {
    let mut bytes = eh_frame(0x2000);
    let end = bytes.len() - 4;
    bytes.truncate(end - 3);
    bytes.extend([0x7b, 0x0c, 7, 8, 0, 0, 0]); // behind 0x3b more: cfa at rsp + 8
    bytes[0x18] = 0x1c;
    bytes.extend([0; 4]);
    bytes
}

/// Where a function has no frame, its caller is on the stack alone; where it has one, the frame pointer knows all.
#[test]
fn functions_that_begin_or_end_have_the_caller_that_frame_pointers_leave_out() {
    let bytes = with_epilogue();
    let frames = frames(&bytes);
    let module = |address| (address < 0x5000).then_some((&frames, address));
    let ask = |pc: u64, words: &[u64]| {
        let mut start = Registers::new(pc, 0x7000);
        start.set(6, 0x7080); // the caller's, or this function's
        let word = |at: u64| words.get(usize::try_from(at.checked_sub(0x7000)? / 8).ok()?);
        let by_frames = [0x1022, 0x5005];
        return_addresses_with_frames(&start, &by_frames, module, |at| word(at).copied(), 64)
    };
    // Not pushed yet; pushed; a frame of its own; popped.
    assert_eq!(ask(0x1000, &[0x1011, 9]).unwrap(), [0x1011, 0x1022, 0x5005]);
    assert_eq!(
        ask(0x1001, &[0x7080, 0x1011]).unwrap(),
        [0x1011, 0x1022, 0x5005]
    );
    assert_eq!(ask(0x1004, &[1, 2]).unwrap(), [0x1022, 0x5005]);
    assert_eq!(ask(0x103f, &[0x1011, 9]).unwrap(), [0x1011, 0x1022, 0x5005]);
    // What was pushed is another frame's: the frame pointer is none of the caller's. Nothing is known at all.
    assert_eq!(ask(0x1001, &[0x7090, 0x1011]).unwrap(), [0x1011]);
    assert_eq!(ask(0x1001, &[]).unwrap(), [0_u64; 0]);
    assert_eq!(ask(0x6000, &[1, 2]), None);
}

/// A frame that is its own caller ends.
#[test]
fn stacks_that_go_round_end() {
    let frames = frames(&eh_frame(0x2000));
    let mut start = Registers::new(0x1020, 0x7000);
    start.set(6, 0x7010);
    let module = |address| Some((&frames, address));
    let found = return_addresses(
        &start,
        module,
        |address| Some(if address % 16 == 0 { 0x7010 } else { 0x1011 }),
        1 << 20,
    );
    assert_eq!(found.len(), 1);
}

#[test]
fn damaged_sections_give_fewer_frames_and_no_panic() {
    let whole = eh_frame(0x2000);
    let ask = |bytes: &[u8]| {
        for (eh, debug) in [(bytes, &[][..]), (&[][..], bytes)] {
            let rows = Rows::new(Some((0x2000, eh)), debug);
            let frames = CallFrames {
                rows,
                latest: Mutex::default(),
            };
            for address in 0x0ff8..0x1048 {
                let mut start = Registers::new(address, 0x7000);
                start.set(6, 0x7010);
                let module = |address| Some((&frames, address));
                let found = return_addresses(&start, module, |at| Some(at ^ 0x6000), 100);
                assert!(found.len() <= 100);
            }
        }
    };
    for cut in 0..whole.len() {
        ask(&whole[..cut]);
    }
    for at in 0..whole.len() {
        for value in [0, 1, 0x0f, 0x10, 0x16, 0x7f, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            ask(&bytes);
        }
    }
}

/// PLT entries and signal frames: `DW_OP_breg7 8; DW_OP_deref; DW_OP_plus_uconst 16`.
#[test]
fn expressions_read_registers_and_memory() {
    let registers = Registers::new(0x1000, 0x7000);
    let mut read = |address: u64| (address == 0x7008).then_some(0x7100);
    let code = [0x77, 8, 0x06, 0x23, 16];
    assert_eq!(
        evaluate(&code, None, &mut Known(&registers, &mut read)),
        Some(0x7110)
    );
    // rax is not known; a jump to itself; nothing at all.
    for code in [&[0x70, 0][..], &[0x2f, 0xfd, 0xff], &[]] {
        assert_eq!(
            evaluate(code, None, &mut Known(&registers, &mut read)),
            None
        );
    }
}
