//! The symbolizer.

use anyhow::Result;
use instr_symtab::{Bytes, Image, critical_name, demangle, parse_outlined};

use super::Target;
use crate::input::Input;
use crate::seeds::Seeds;

/// How many symbols' addresses are looked up in each input.
const MAX_LOOKUPS: usize = 64;

/// Feeds `instr_symtab`.
pub(crate) struct Images;

impl Target for Images {
    fn seeds(&self, seeds: &Seeds) -> Result<Vec<Input>> {
        let all = seeds.objects.iter().chain(&seeds.linked);
        Ok(all
            .map(|(name, bytes)| Input::single(name, bytes.clone()))
            .collect())
    }

    fn run(&mut self, input: &Input) -> bool {
        let bytes = input.first();
        let head = &bytes[..bytes.len().min(300)];
        let _ = (
            demangle(head),
            demangle(head.strip_prefix(b"_Z").unwrap_or(head)),
        );
        let Ok(mut image) = Image::parse(bytes) else {
            return false;
        };
        let symbols = image.symbols_where(|_| true);
        for symbol in symbols.iter().take(MAX_LOOKUPS) {
            for address in [symbol.address, symbol.address.wrapping_add(symbol.size / 2)] {
                let answer = image.lookup(address);
                assert!(
                    answer.frames.len() < 10_000,
                    "{} frames",
                    answer.frames.len()
                );
            }
            let _ = (
                parse_outlined(&symbol.raw),
                critical_name(&symbol.raw),
                image.data_symbol(symbol.address),
            );
        }
        let _ = (
            image.lookup(0),
            image.lookup(u64::MAX),
            image.build_id(),
            image.debug_link(),
            image.debug_error(),
        );
        let _ = image.wants();
        // The file as its own debug file, supplementary file or split unit.
        let _ = image.add_debug([Bytes::from(bytes)]);
        let _ = (image.lookup(0), image.wants());
        !symbols.is_empty()
    }
}
