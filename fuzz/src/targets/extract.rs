//! What turns consoles, dumps and core files into traces.

use anyhow::Result;
use instr_trace::Trace;

use super::Target;
use crate::input::Input;
use crate::seeds::Seeds;

/// Feeds `instr extract`.
pub(crate) struct Extracts;

/// A console with one small trace: name, metadata, two lines of a packet. Checksums are right.
const CONSOLE: &str = include_str!("../../seeds/console.txt");

impl Target for Extracts {
    fn seeds(&self, _: &Seeds) -> Result<Vec<Input>> {
        let mut image = vec![0_u8; 1024];
        image[..8].copy_from_slice(b"INSTRRAM");
        let fields: [(usize, u32); 11] = [
            (8, 1),
            (12, 128),
            (24, 1024),
            (32, 128),
            (36, 192),
            (40, 13),
            (52, 64),
            (56, 256),
            (60, 384),
            (64, 2),
            (68, 0),
        ];
        for (at, value) in fields {
            image[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        image[128..141].copy_from_slice(b"/* CTF 1.8 */");
        let window: [(usize, u32); 9] = [
            (0, 0x1257_111d),
            (4, 1),
            (8, 128),
            (12, 8),
            (16, 1),
            (24, 256),
            (48, 2),
            (128 + 40, 104 * 8),
            (256 + 40, 104 * 8),
        ];
        for (at, value) in window {
            image[256 + at..260 + at].copy_from_slice(&value.to_le_bytes());
        }
        let listing = image.chunks(4).enumerate().map(|(at, word)| {
            let word = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
            format!("0x{:08x}  {word:08x}\n", 0x4000_0000 + 4 * at)
        });
        let listing: String = listing.collect();
        let mut core = vec![0; 120];
        core[..6].copy_from_slice(b"\x7fELF\x02\x01");
        core[32] = 64;
        core[54] = 56;
        core[56] = 1;
        core[64] = 1;
        core[72] = 120;
        core[96..104].copy_from_slice(&1024_u64.to_le_bytes());
        core.extend(&image);
        Ok([
            CONSOLE.as_bytes().to_vec(),
            image,
            listing.into_bytes(),
            core,
        ]
        .into_iter()
        .map(|bytes| Input::single("input", bytes))
        .collect())
    }

    fn run(&mut self, input: &Input) -> bool {
        let Ok(folder) = tempfile::tempdir() else {
            return false;
        };
        let (file, out) = (folder.path().join("input"), folder.path().join("out"));
        if std::fs::write(&file, input.first()).is_err() {
            return false;
        }
        let accepted = instr::extract::extract(&file, &out, None).is_ok();
        if accepted {
            let _ = Trace::open(&out);
        }
        accepted
    }
}
