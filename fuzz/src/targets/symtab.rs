//! The symbolizer.

use anyhow::Result;
use instr_symtab::{
    Bytes, CallFrames, Image, Registers, critical_name, demangle, parse_outlined, return_addresses,
    return_addresses_with_frames,
};

use super::Target;
use crate::input::Input;
use crate::programs::{self, Kind};
use crate::seeds::Seeds;

/// How many symbols' addresses are looked up in each input.
const MAX_LOOKUPS: usize = 64;

/// Feeds `instr_symtab` with programs and the further files they ask for.
pub(crate) struct Images(pub(crate) Kind);

impl Target for Images {
    fn seeds(&self, seeds: &Seeds) -> Result<Vec<Input>> {
        let folder = tempfile::tempdir()?;
        let mut inputs = programs::build(folder.path(), self.0)?;
        if self.0 == Kind::Plain {
            let larger = seeds.objects.iter().chain(&seeds.linked);
            inputs.extend(larger.map(|(name, bytes)| Input::single(name, bytes.clone())));
        }
        Ok(inputs)
    }

    fn run(&mut self, input: &Input) -> bool {
        let bytes = input.first();
        let Ok(mut image) = Image::parse(bytes) else {
            return false;
        };
        let known = exercise(&image);
        let _ = image.wants();
        match &input.0[1..] {
            // The file as its own debug file, supplementary file or split unit.
            [] => image.add_debug([Bytes::from(bytes)]),
            further => image.add_debug(further.iter().map(|part| Bytes::from(&part.bytes[..]))),
        };
        exercise(&image) | known
    }
}

/// Asks everything there is to ask; whether the image has symbols.
fn exercise(image: &Image) -> bool {
    let symbols = image.symbols_where(|_| true);
    let mut addresses = vec![0, u64::MAX];
    for symbol in symbols.iter().take(MAX_LOOKUPS) {
        let half = symbol.address.wrapping_add(symbol.size / 2);
        for address in [symbol.address, half] {
            let answer = image.lookup(address);
            assert!(
                answer.frames.len() < 10_000,
                "{} frames",
                answer.frames.len()
            );
            addresses.push(address);
        }
        let _ = (
            parse_outlined(&symbol.raw),
            critical_name(&symbol.raw),
            image.data_symbol(half),
        );
    }
    unwind(image, &addresses);
    assert_eq!(image.lookup_all(&addresses).len(), addresses.len());
    let _ = (
        image.build_id(),
        image.debug_link(),
        image.debug_error(),
        image.wants(),
    );
    !symbols.is_empty()
}

/// Unwinds a stack of nonsense, among it addresses of the program, from a few places.
fn unwind(image: &Image, addresses: &[u64]) {
    let frames = CallFrames::of(image);
    let word = |address: u64| {
        let at = usize::try_from(address >> 3).ok()?;
        Some(addresses[at % addresses.len()].wrapping_add(address & 0x18))
    };
    for &address in addresses.iter().take(MAX_LOOKUPS) {
        let mut start = Registers::new(address, address ^ 0x7fff_0000);
        (0..16).for_each(|number| start.set(number, address.rotate_left(number.into())));
        let found = return_addresses(&start, |address| Some((&frames, address)), word, 100);
        assert!(found.len() <= 100, "{} frames", found.len());
        let module = |address| Some((&frames, address));
        let found = return_addresses_with_frames(&start, addresses, module, word, 100);
        assert!(found.is_none_or(|found| found.len() <= 100));
        let _ = image.follows_call(address);
    }
}

/// Feeds the demanglers.
pub(crate) struct Names;

/// Mangled names of every kind.
const NAMES: &str = "_Z3foov.constprop.0 _ZNSt6vectorIiSaIiEE9push_backEOi _ZN4core3fmt9Formatter3pad17h0123456789abcdefE \
_RNvMs5_NtNtCsjrHSEGnQ3l9_3std2io5errorNtB5_5Error4kind.llvm.12699031002885496546 _RINvNtC3std3mem8align_ofdE \
_ZNSt8_Rb_treeINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESt4pairIKS5_lESt10_Select1stIS8_ESt4lessIS5_ESaIS8_EE8_M_eraseEPSt13_Rb_tree_nodeIS8_E \
_ZZN5unit05callsElENKUlT_DpT0_E1_clIlJicEEEDaS0_S2_ _ZN6shared6joinedIJPKcA8_cEEENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEDpRKT_ \
_ZThn8_N1A1fEv _ZTVN6shared5ErrorE __grid_MOD_fill._omp_fn.1 .omp_outlined..3 .gomp_critical_user_sum.var";

impl Target for Names {
    fn seeds(&self, _: &Seeds) -> Result<Vec<Input>> {
        Ok(NAMES
            .split(' ')
            .map(|name| Input::single("name", name.as_bytes().to_vec()))
            .collect())
    }

    fn run(&mut self, input: &Input) -> bool {
        let name = input.first();
        let shown = demangle(name);
        let text = String::from_utf8_lossy(name);
        let _ = (parse_outlined(&text), critical_name(&text));
        *shown != *text
    }
}
