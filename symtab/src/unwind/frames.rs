//! Callers where frame pointers are kept: the call frame information tells where a function has none yet, or no more.

use super::{CallFrames, FRAME_POINTER, Registers};

/// Return addresses of a function that was interrupted with `start` in its registers, innermost first, at most `most`, where
/// `by_frames` are those that its frame pointer led to.
///
/// A function that has not made its frame yet, or has left it, still has its caller's frame pointer: its return address is on
/// the stack alone, near the stack pointer, and missing in `by_frames`. Functions are unwound by their call frame
/// information, as [`super::return_addresses`] does, up to the first whose frame the frame pointer of `start` is; `by_frames` are
/// the callers of that one. Where the words that `read_word` knows end before, the list ends: what is in it is certain.
///
/// `None` when nothing is known of the code at the program counter.
pub fn return_addresses_with_frames<'t>(
    start: &Registers,
    by_frames: &[u64],
    mut module: impl FnMut(u64) -> Option<(&'t CallFrames, u64)>,
    mut read_word: impl FnMut(u64) -> Option<u64>,
    most: usize,
) -> Option<Vec<u64>> {
    let frame = start.0[FRAME_POINTER]?;
    let mut found = Vec::new();
    let mut registers = start.clone();
    let mut address = start.pc()?;
    while found.len() < most {
        let row = module(address).and_then(|(frames, linked)| {
            let row = frames.row(linked)?;
            Some((frames, linked, row))
        });
        if row.is_none() && found.is_empty() {
            return None;
        }
        let has_frame = row
            .as_ref()
            .is_none_or(|(.., row)| row.cfa.is_by_frame_pointer());
        if has_frame && registers.0[FRAME_POINTER] == Some(frame) {
            found.extend(by_frames.iter().take(most - found.len()));
            break;
        }
        let Some((caller, signal)) =
            row.and_then(|(frames, linked, _)| frames.step(linked, &registers, &mut read_word))
        else {
            break;
        };
        let Some(pc) = caller.pc().filter(|&pc| pc != 0) else {
            break;
        };
        if signal || caller.sp() <= registers.sp() {
            break;
        }
        found.push(pc);
        address = pc - 1;
        registers = caller;
    }
    Some(found)
}
