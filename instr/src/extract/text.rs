//! The metadata of a board: what is the same in every trace is put in here, and what was lost on the way.

use instr_schema::declarations;

use super::Losses;

/// The end of `text` behind the first place of `what`, and where that begins.
fn behind(text: &[u8], what: &[u8]) -> Option<(usize, usize)> {
    let at = text.windows(what.len()).position(|part| part == what)?;
    Some((at, at + what.len()))
}

/// The number in the line `KEY = NUMBER;` of the text, and where the line is.
fn entry(text: &[u8], key: &str) -> Option<(u64, std::ops::Range<usize>)> {
    let (at, value) = behind(text, format!("\n    {key} = ").as_bytes())?;
    let digits = text[value..].iter().take_while(|b| b.is_ascii_digit());
    let end = value + digits.count();
    let number = std::str::from_utf8(&text[value..end]).ok()?.parse().ok()?;
    text[end..]
        .starts_with(b";\n")
        .then_some((number, at + 1..end + 2))
}

/// The whole text of a short one. Others stay as they are.
pub fn complete(text: &[u8], losses: &mut Losses) -> Vec<u8> {
    let first = declarations::FIRST.as_bytes();
    let declares = behind(text, b"\ntypealias ").is_some();
    let (false, Some((bits @ (32 | 64), _)), true) =
        (declares, entry(text, "word_bits"), text.starts_with(first))
    else {
        return text.to_vec();
    };
    let bits = bits as u32;
    let (types, events, known) = match entry(text, "format") {
        Some((1, _)) => {
            use declarations::version_1::{events, number, types};
            (types(bits), events(), number())
        }
        _ => (
            declarations::types(bits),
            declarations::events(),
            declarations::number(),
        ),
    };
    // A sink that writes both kinds has no number in the short one.
    let (number, line) =
        entry(text, "declarations").unwrap_or((known.into(), first.len()..first.len()));
    if number != u64::from(known) {
        losses.add(|| {
            "the program was built by another version of instr: kinds of events that this one does not have are not declared"
                .to_owned()
        });
    }
    [
        first,
        types.as_bytes(),
        &text[first.len()..line.start],
        &text[line.end..],
        events.as_bytes(),
    ]
    .concat()
}

/// What did not come through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Lines of the console.
    pub lines: u64,
    /// Events; `None`: nobody knows how many.
    pub events: Option<u64>,
    /// The end of the trace.
    pub end: bool,
}

/// The text with a note of what is missing, for everyone who reads the trace.
#[must_use]
pub fn mark(text: &[u8], missing: Missing) -> Vec<u8> {
    let mut text = text.to_vec();
    if missing.end
        && let Some((1, line)) = entry(&text, "closed")
    {
        text.splice(line, *b"    closed = 0;\n");
    }
    let mut notes = String::new();
    if missing.lines > 0 {
        notes += &format!("    lost_lines = {};\n", missing.lines);
        if let Some(events) = missing.events {
            notes += &format!("    lost_events = {events};\n");
        }
    }
    if let Some((_, at)) = behind(&text, b"\nenv {\n") {
        text.splice(at..at, notes.into_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(number: u32) -> String {
        format!(
            "{}trace {{\n}};\n\nenv {{\n    word_bits = 32;\n    closed = 1;\n    declarations = {number};\n}};\n\nclock {{\n}};\n\n",
            declarations::FIRST
        )
    }

    #[test]
    fn a_short_text_gets_its_declarations() {
        let mut losses = Losses::default();
        let whole = complete(short(declarations::number()).as_bytes(), &mut losses);
        let whole = String::from_utf8(whole).unwrap();
        assert_eq!(losses, Losses::default());
        assert!(whole.starts_with("/* CTF 1.8 */\n\ntypealias integer { size = 8;"));
        assert!(
            whole.contains(
                "size = 32; align = 32; base = 16; } := addr_t;\nstruct depend { addr_t address; u32 kind; };\n\ntrace {"
            )
        );
        assert!(whole.contains("closed = 1;\n};\n\nclock {"));
        assert!(whole.contains("event { id = 1; name = \"thread_begin\"; stream_id = 0; fields := struct { u32 os_tid; u32 flags; }; };"));
        // Once is enough.
        assert_eq!(complete(whole.as_bytes(), &mut losses), whole.into_bytes());
    }

    #[test]
    fn a_board_of_version_1_gets_the_declarations_of_that() {
        let mut losses = Losses::default();
        let short = short(declarations::version_1::number());
        let short = short.replace("env {\n", "env {\n    format = 1;\n");
        let whole = String::from_utf8(complete(short.as_bytes(), &mut losses)).unwrap();
        assert_eq!(losses, Losses::default());
        assert!(whole.contains("struct event_header {\n  u8 id;\n  ticks56_t timestamp;\n}"));
    }

    #[test]
    fn another_version_is_told() {
        let mut losses = Losses::default();
        complete(short(declarations::number() ^ 1).as_bytes(), &mut losses);
        assert_eq!(losses.count, 1);
    }

    #[test]
    fn what_is_missing_stands_in_the_text() {
        let missing = Missing {
            lines: 3,
            events: Some(7),
            end: true,
        };
        let marked = String::from_utf8(mark(short(0).as_bytes(), missing)).unwrap();
        assert!(marked.contains(
            "env {\n    lost_lines = 3;\n    lost_events = 7;\n    word_bits = 32;\n    closed = 0;\n"
        ));
    }
}
