//! Packed symbols of a stripped program: `.gnu_debugdata`, an ELF file in an xz stream.
//!
//! Fedora and others keep the names of functions this way (GDB manual, "Debugging information in a special section").

use std::io::Read;

use crate::bytes::Bytes;
use crate::elf::Elf;

/// Memory the decoder may take for its dictionary, KiB: `xz -9` needs 65 MiB.
const MAX_DICTIONARY: u32 = 100 << 10;

/// The file packed into `section`, unless it is damaged or has more than `limit` bytes.
pub(crate) fn unpack(section: &[u8], limit: u64) -> Option<Elf> {
    let mut bytes = Vec::new();
    let reader = lzma_rust2::XzReader::new_mem_limit(section, false, MAX_DICTIONARY);
    let read = reader.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    if read.ok()? as u64 > limit {
        return None;
    }
    Elf::parse(Bytes::from(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_packed_file_is_refused() {
        for section in [&b""[..], b"\xfd7zXZ\0", b"not xz", &[0; 100]] {
            assert!(unpack(section, 1 << 20).is_none());
        }
    }
}
