//! The library that the kernel puts into every process, which has no file.

use std::io::{Read, Seek, SeekFrom};

use crate::bytes::Bytes;

/// Larger ones are not believed; it is a few pages.
const MAX_VDSO: u64 = 1 << 20;

/// The vDSO of this process: an ELF file in memory, with symbols and a build id.
///
/// It is that of another process, too, if that one ran under the same kernel with the same word size; the build id
/// tells. `None` where there is none (not Linux) or it cannot be read.
#[must_use]
pub fn own_vdso() -> Option<Bytes> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let (start, end) = maps.lines().find_map(vdso_range)?;
    let size = end.checked_sub(start).filter(|&size| size <= MAX_VDSO)?;
    let mut memory = std::fs::File::open("/proc/self/mem").ok()?;
    memory.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    memory.read_exact(&mut bytes).ok()?;
    Some(Bytes::from(bytes))
}

/// Whether a loaded module of this path is the vDSO, in the spellings of loaders and kernels.
#[must_use]
pub fn is_vdso(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "[vdso]" || name.starts_with("linux-vdso") || name.starts_with("linux-gate")
}

/// The range of a line of `/proc/PID/maps` that is the vDSO's.
fn vdso_range(line: &str) -> Option<(u64, u64)> {
    let range = line
        .ends_with("[vdso]")
        .then(|| line.split_whitespace().next())??;
    let (start, end) = range.split_once('-')?;
    let number = |text| u64::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Image;

    #[test]
    fn the_vdso_line_is_found() {
        let line =
            "7ffd5a5f2000-7ffd5a5f4000 r-xp 00000000 00:00 0                          [vdso]";
        assert_eq!(vdso_range(line), Some((0x7ffd_5a5f_2000, 0x7ffd_5a5f_4000)));
        assert_eq!(vdso_range("7ffd-7ffe r--p 0 00:00 0 [vvar]"), None);
        assert_eq!(vdso_range("[vdso]"), None);
        assert!(is_vdso("linux-vdso.so.1") && is_vdso("[vdso]") && !is_vdso("/bin/vdso-tool"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_vdso_of_this_process_names_its_functions() {
        let Some(bytes) = own_vdso() else {
            return; // a kernel without one
        };
        let image = Image::from_bytes(bytes).unwrap();
        let named =
            image.symbols_where(|name| String::from_utf8_lossy(name).contains("clock_gettime"));
        assert!(!named.is_empty());
    }
}
