//! Names of files in text for people: harmless to a terminal, and, where they are part of a command, as a shell takes them.

use std::path::Path;

/// A name for a message: control characters, which would reach the terminal, and line ends, which would look like lines of ours, are replaced by `?`.
pub(crate) fn shown(path: impl AsRef<Path>) -> String {
    let text = path.as_ref().to_string_lossy();
    text.chars().map(plain).collect()
}

fn plain(c: char) -> char {
    if c.is_control() { '?' } else { c }
}

/// A message without control characters but line ends: whatever a name in it holds does not reach the terminal.
pub(crate) fn harmless(text: &str) -> String {
    let plain = |c: char| if c == '\n' { c } else { plain(c) };
    text.chars().map(plain).collect()
}

/// A path as it is typed into a shell: as it is, in quotes, or as `$'…'` where it has control characters or is no UTF-8 (bash, zsh, ksh, and
/// POSIX since 2024). One that would be taken for an option begins with `./`.
pub(crate) fn typed(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    let path = match path.as_os_str().as_encoded_bytes() {
        [b'-', ..] => Path::new(".").join(path),
        _ => path.to_owned(),
    };
    in_quotes(&path)
}

/// An argument as it is typed into a shell; it may begin with `-`.
pub(crate) fn word(word: impl AsRef<Path>) -> String {
    in_quotes(word.as_ref())
}

fn in_quotes(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => quoted(text),
        _ => escaped(path),
    }
}

fn quoted(text: &str) -> String {
    // Only a NUL is refused, which no path has.
    shlex::try_quote(text).unwrap_or_default().into_owned()
}

fn escaped(path: &Path) -> String {
    let mut text = "$'".to_owned();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text += "\\n",
                '\t' => text += "\\t",
                '\r' => text += "\\r",
                '\\' | '\'' => text.extend(['\\', c]),
                _ if c.is_control() => bytes(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut text),
                _ => text.push(c),
            }
        }
        bytes(chunk.invalid(), &mut text);
    }
    text + "'"
}

/// Three octal digits end where they end in every shell.
fn bytes(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        text.push_str(&format!("\\{byte:03o}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt as _;
    use std::path::PathBuf;

    #[test]
    fn a_shell_reads_back_the_path_that_was_quoted() {
        let mut paths: Vec<Vec<u8>> = [
            "a.instr",
            "a b",
            "a  b",
            "it's",
            "\"",
            "$HOME",
            "`id`",
            "a\\b",
            "*",
            "~",
            "#x",
            "!x",
            "",
            "tab\tend\n",
            "e\u{1b}[31m7",
            "ü\u{1b}",
            "\u{85}",
            "'\n\\",
            "new\nline",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec();
        paths.push(b"\xff\xfe'1".to_vec());
        paths.extend((1..=255).map(|byte| vec![b'a', byte, b'7']));
        for path in paths {
            let quoted = typed(PathBuf::from(OsString::from_vec(path.clone())));
            assert!(!quoted.contains(|c: char| c.is_control()), "{quoted:?}");
            let script = format!("printf %s {quoted}");
            let call = instr_cc::exec::Call::new("bash").args(["-c", &script]);
            assert_eq!(call.run_privately().unwrap().stdout, path, "{quoted}");
        }
        assert_eq!(typed("heat.instr.3"), "heat.instr.3");
        assert_eq!(typed("-n"), "./-n");
        assert_eq!(word("-n 5"), "'-n 5'");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(shown("a\n\u{1b}[31m\u{9b}b ü"), "a??[31m?b ü");
        assert_eq!(harmless("a\n  note: \u{1b}[31m"), "a\n  note: ?[31m");
    }
}
