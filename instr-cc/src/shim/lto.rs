//! Names of described functions in objects that hold only intermediate code of GCC's link-time optimizer.
//!
//! Calls of OpenMP's entry points are built-in functions there and appear in no symbol table before the link. But every
//! function that is called has its name in the section `.gnu.lto_.decls.*`, compressed with zstd or zlib (GCC's
//! `lto-compress.cc`). A name found there may be one that the optimizer drops; wrapping it does no harm.

use std::collections::BTreeSet;
use std::io::Read;

use instr_rewrite::object::{Archive, Contents, sections_with_prefix};

/// How much text is taken out of one section.
const MAX_TEXT: u64 = 256 << 20;

/// Names that matter to us in a file: an object or an archive. Parts that cannot be read hold no names.
#[must_use]
pub fn names(bytes: &[u8], wanted: &dyn Fn(&[u8]) -> bool) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    match Archive::parse(bytes) {
        Ok(archive) => {
            for member in archive.members().map_while(Result::ok) {
                if let Contents::Inside(data) = member.contents {
                    object_names(data, wanted, &mut found);
                }
            }
        }
        Err(_) => object_names(bytes, wanted, &mut found),
    }
    found
}

fn object_names(bytes: &[u8], wanted: &dyn Fn(&[u8]) -> bool, found: &mut BTreeSet<Vec<u8>>) {
    for data in sections_with_prefix(bytes, b".gnu.lto_.decls") {
        words(&decompress(data), wanted, found);
    }
}

fn decompress(data: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    // A stream cut short or damaged gives what came before the damage.
    if data.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        if let Ok(decoder) = ruzstd::decoding::StreamingDecoder::new(data) {
            _ = decoder.take(MAX_TEXT).read_to_end(&mut text);
        }
    } else if data.first() == Some(&0x78) {
        _ = flate2::read::ZlibDecoder::new(data)
            .take(MAX_TEXT)
            .read_to_end(&mut text);
    } else {
        text.extend_from_slice(data);
    }
    text
}

/// Looks for names behind their length. GCC writes strings as a ULEB128 length and the bytes, nothing in between.
fn words(text: &[u8], wanted: &dyn Fn(&[u8]) -> bool, found: &mut BTreeSet<Vec<u8>>) {
    for at in 0..text.len() {
        let length = usize::from(text[at]);
        let Some(name) = text
            .get(at + 1..at + 1 + length)
            .filter(|_| (4..128).contains(&length))
        else {
            continue;
        };
        if (name[0].is_ascii_alphabetic() || name[0] == b'_') && wanted(name) {
            found.insert(name.to_vec());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &[u8]) -> Vec<String> {
        let mut names = BTreeSet::new();
        words(text, &|n| n.starts_with(b"GOMP_"), &mut names);
        names
            .into_iter()
            .map(|n| String::from_utf8(n).unwrap())
            .collect()
    }

    #[test]
    fn names_are_found_behind_their_length() {
        let long = format!("GOMP_{}", "x".repeat(43));
        let text =
            format!("\x04char\x0dGOMP_parallel\x00\x09GOMP_task0{long}\x16__builtin_GOMP_barrier");
        assert_eq!(
            found(text.as_bytes()),
            ["GOMP_parallel", "GOMP_task", &long]
        );
    }

    #[test]
    fn damaged_data_holds_no_names() {
        for data in [
            b"".as_slice(),
            b"\x7fELF",
            &[0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3],
            b"!<arch>\nxx",
        ] {
            assert!(names(data, &|_| true).is_empty());
        }
        _ = decompress(&[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff]);
        _ = decompress(&[0x78, 0x9c, 0xff]);
    }
}
