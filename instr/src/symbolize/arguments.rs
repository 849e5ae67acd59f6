//! Words of the command line before they are parsed: response files, the command's other name.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// How many response files one command line may name, nested ones included (libiberty's limit).
const MAX_FILES: usize = 2000;

/// What all of them together may hold, bytes; those that do not fit stay words.
const MAX_BYTES: u64 = 64 << 20;

/// The command line as `instr` takes it. Called by the name `addr2line` or `*-addr2line`, the command is
/// `instr symbolize`; the words of `instr symbolize` may stand in response files.
#[must_use]
pub fn prepare(mut arguments: Vec<OsString>) -> Vec<OsString> {
    if arguments.first().is_some_and(|name| is_addr2line(name)) {
        arguments.splice(..1, ["instr".into(), "symbolize".into()]);
    }
    if arguments.get(1).is_none_or(|word| word != "symbolize") {
        return arguments;
    }
    let words = arguments.split_off(2);
    arguments.extend(expand(words, MAX_BYTES));
    arguments
}

/// Whether a program of this name or path speaks addr2line: `addr2line`, `sparc64-linux-gnu-addr2line`.
fn is_addr2line(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    let name = name.as_encoded_bytes();
    name == b"addr2line" || name.ends_with(b"-addr2line")
}

/// Replaces `@FILE` by the words in the file, again and again, up to `room` bytes; a file that cannot be read stays a word.
fn expand(words: Vec<OsString>, mut room: u64) -> Vec<OsString> {
    let mut left: Vec<OsString> = words.into_iter().rev().collect();
    let mut expanded = Vec::with_capacity(left.len());
    let mut files = 0;
    while let Some(word) = left.pop() {
        match contents(&word, room).filter(|_| files < MAX_FILES) {
            Some(text) => {
                files += 1;
                room = room.saturating_sub(text.len() as u64);
                left.extend(split(&text).into_iter().rev());
            }
            None => expanded.push(word),
        }
    }
    expanded
}

/// What the file of an `@FILE` holds, if that is at most `room` bytes.
fn contents(word: &OsStr, room: u64) -> Option<Vec<u8>> {
    let name = word.as_encoded_bytes().strip_prefix(b"@")?;
    let path = os_string(name.to_vec());
    let kind = std::fs::metadata(&path).ok()?;
    if !kind.is_file() || kind.len() > room {
        return None;
    }
    std::fs::read(&path).ok()
}

/// Splits text into words as libiberty's `buildargv`: quotes group, a backslash takes the next byte as it is.
fn split(text: &[u8]) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Vec<u8>>, None);
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(end)) if byte == end => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (b' ' | b'\t'..=b'\r', None) => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(os_string).collect()
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(words: &[&str]) -> Vec<OsString> {
        prepare(words.iter().map(OsString::from).collect())
    }

    #[test]
    fn the_other_name_stands_for_the_command() {
        for name in ["addr2line", "/usr/bin/sparc64-linux-gnu-addr2line"] {
            assert_eq!(prepared(&[name, "-f"]), ["instr", "symbolize", "-f"]);
        }
        assert_eq!(prepared(&["/bin/instr", "-f"]), ["/bin/instr", "-f"]);
        assert_eq!(prepared(&["myaddr2line", "-f"]), ["myaddr2line", "-f"]);
    }

    #[test]
    fn response_files_may_name_each_other() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(file("inner"), "'a b' 0x10\n").unwrap();
        std::fs::write(file("outer"), format!("-e @{}\n-f \\@x", file("inner"))).unwrap();
        assert_eq!(
            prepared(&["instr", "symbolize", &format!("@{}", file("outer")), "1"]),
            ["instr", "symbolize", "-e", "a b", "0x10", "-f", "@x", "1"]
        );
        assert_eq!(
            prepared(&["instr", "summary", &format!("@{}", file("inner"))])[2],
            *format!("@{}", file("inner"))
        );
    }

    #[test]
    fn files_that_cannot_be_read_or_name_themselves_end() {
        let folder = tempfile::tempdir().unwrap();
        let own = format!("@{}", folder.path().join("own").display());
        std::fs::write(&own[1..], format!("{own} 1")).unwrap();
        assert_eq!(
            prepared(&["instr", "symbolize", &own]).len(),
            2 + 1 + MAX_FILES
        );
        // Each copy of it leaves less room for further ones.
        let large = format!("{own} {own} {}", "1 ".repeat(100));
        std::fs::write(&own[1..], &large).unwrap();
        let read = expand(vec![own.into()], 3 * large.len() as u64);
        assert_eq!(read.len(), 3 * 100 + 4);
        assert_eq!(
            prepared(&["instr", "symbolize", "@/nowhere"])[2],
            "@/nowhere"
        );
        assert_eq!(prepared(&["instr", "symbolize", "@"])[2], "@");
    }
}
