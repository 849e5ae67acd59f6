//! The `metadata` file: as much of TSDL as our traces need (trace, env and clock blocks), read without trusting it.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::layout::{ByteOrder, Format, Layout, WordSize};

/// Larger metadata files are refused: ours have a few kilobytes.
const MAX_BYTES: u64 = 16 << 20;

/// One loaded object of the traced process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Load bias: run-time address minus link-time address.
    pub base: u64,
    /// First address behind the object.
    pub end: u64,
    /// Build id in hexadecimal, if it has one.
    pub build_id: Option<String>,
    /// Path of the file on the traced machine.
    pub path: String,
}

/// The clock block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockInfo {
    /// Name of the clock.
    pub name: String,
    /// Ticks a second; an estimate unless the trace was closed.
    pub freq: u64,
    /// Seconds from 1970 to tick 0.
    pub offset_s: i64,
    /// Ticks to add to that.
    pub offset: i64,
}

/// What the trace says about itself. Numbers that are missing are 0, texts empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Byte order, word size and version.
    pub layout: Layout,
    /// Identity of the trace, repeated in each packet.
    pub uuid: Option<[u8; 16]>,
    /// The clock.
    pub clock: ClockInfo,
    /// `instr`.
    pub tracer_name: String,
    /// Version of the tracer.
    pub tracer_major: u64,
    /// Version of the tracer.
    pub tracer_minor: u64,
    /// Version of the raw format.
    pub format: u64,
    /// Name of the machine.
    pub hostname: String,
    /// Process id.
    pub pid: u64,
    /// Base name of the program.
    pub program: String,
    /// Path of the program.
    pub executable: String,
    /// Such as `x86_64-linux`.
    pub target: String,
    /// Bits of a pointer.
    pub word_bits: u64,
    /// Buffer policy: `stream`, `end` or `ring`.
    pub policy: String,
    /// Bytes of a thread's buffer.
    pub buffer_bytes: u64,
    /// Where ticks come from.
    pub clock_source: String,
    /// Ticks at the trace's start: time 0.
    pub start_ticks: u64,
    /// `CLOCK_MONOTONIC` at the start, ns.
    pub start_monotonic_ns: u64,
    /// `CLOCK_REALTIME` at the start, ns since 1970.
    pub start_realtime_ns: u64,
    /// The run-time library: `libgomp`, `libomp` and its version, or `none`.
    pub openmp: String,
    /// Processors that the process might use; `None`: the trace does not have it.
    pub processors: Option<u64>,
    /// How much of their time, in thousandths of one processor (cgroups); `None`: all, or the trace does not have it.
    pub processor_quota: Option<u64>,
    /// Whether the program ended cleanly.
    pub closed: bool,
    /// Events that were lost before their thread had a stream, such as those of threads that found no memory for one.
    pub discarded_unattached: u64,
    /// Lines of a board's console that did not come through.
    pub lost_lines: u64,
    /// Events in them; `None`: nobody knows how many, since the end of the trace is missing too.
    pub lost_events: Option<u64>,
    /// Whether context switches of threads were recorded: `perf`, `off`, or `no: ` and why not; `None`: the trace does not tell.
    pub switches: Option<String>,
    /// A setting that was not understood, or could not be followed.
    pub setting_trouble: Option<String>,
    /// Number of this run among those of its place, from 1; `None`: the trace does not have it.
    pub run: Option<u64>,
    /// Whether the program ended without a single event of its own.
    pub empty: bool,
    /// The program's arguments, with a blank between them; `None`: the trace does not have them.
    pub arguments: Option<String>,
    /// The variables that began with `INSTR_` in the program's environment, as name and value.
    pub settings: Vec<(String, String)>,
    /// Loaded objects, by number.
    pub modules: Vec<Module>,
    /// Packets of each stream, by its number; of traces that were closed, and have them.
    pub streams: Vec<(u32, u64)>,
    /// Bytes of the text, where it ends in the middle of a block.
    pub cut: Option<u64>,
    /// Entries of `env` that have no field above, in file order, as text.
    pub other: Vec<(String, String)>,
}

/// The file that becomes `metadata` when it is complete.
pub(crate) const DRAFT: &str = ".metadata.new";

impl Metadata {
    /// The file that says what the trace in `dir` is: `metadata`, or a complete draft of it that never got the name. [`None`]: there is neither.
    #[must_use]
    pub fn file_in(dir: &Path) -> Option<PathBuf> {
        let (named, draft) = (dir.join("metadata"), dir.join(DRAFT));
        if named.is_file() {
            return Some(named);
        }
        let complete = || Self::read(&draft).is_ok_and(|draft| draft.cut.is_none());
        (!named.exists() && draft.is_file() && complete()).then_some(draft)
    }

    /// Reads the file at `path`.
    pub fn read(path: &Path) -> Result<Self, Error> {
        use std::io::Read as _;
        let file = crate::input::open(path).map_err(Error::io("read", path))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(Error::io("read", path))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Error::Metadata {
                path: path.to_owned(),
                why: "more than 16 MiB of metadata".into(),
            });
        }
        let parsed = Self::parse(&bytes).map_err(|why| Error::Metadata {
            path: path.to_owned(),
            why,
        })?;
        match parsed.format {
            1 | 2 => Ok(parsed),
            found => Err(Error::Version {
                path: path.to_owned(),
                found,
            }),
        }
    }

    /// Parses TSDL text; the error says what is wrong.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        if !bytes.starts_with(b"/* CTF 1.8 */") {
            return Err("does not begin with /* CTF 1.8 */".into());
        }
        let text = String::from_utf8_lossy(bytes);
        let mut metadata = Self::default();
        let mut order = None;
        let tokens = tokens(&text);
        for (block, entries) in blocks_of(&tokens) {
            for (key, value) in entries {
                match block.as_str() {
                    "trace" if key == "byte_order" => order = byte_order(&value),
                    "trace" if key == "uuid" => metadata.uuid = uuid(&value),
                    "clock" => metadata.set_clock(&key, value),
                    "env" => metadata.set_env(key, value),
                    _ => {}
                }
            }
        }
        metadata.cut = is_cut(&tokens).then_some(bytes.len() as u64);
        metadata.layout.order = order.ok_or("the trace block names no byte_order (le or be)")?;
        metadata.layout.word = match metadata.word_bits {
            32 => WordSize::Four,
            64 => WordSize::Eight,
            other => return Err(format!("env.word_bits is {other}, expected 32 or 64")),
        };
        metadata.layout.format = match metadata.format {
            1 => Format::One,
            _ => Format::Two,
        };
        Ok(metadata)
    }

    fn set_clock(&mut self, key: &str, value: Value) {
        match key {
            "name" => self.clock.name = value.text(),
            "freq" => self.clock.freq = value.number(),
            "offset_s" => self.clock.offset_s = value.signed(),
            "offset" => self.clock.offset = value.signed(),
            _ => {}
        }
    }

    fn set_env(&mut self, key: String, value: Value) {
        match key.as_str() {
            "tracer_name" => self.tracer_name = value.text(),
            "tracer_major" => self.tracer_major = value.number(),
            "tracer_minor" => self.tracer_minor = value.number(),
            "format" => self.format = value.number(),
            "hostname" => self.hostname = value.text(),
            "pid" => self.pid = value.number(),
            "code_base" => self.layout.code_base = value.number(),
            "program" => self.program = value.text(),
            "executable" => self.executable = value.text(),
            "target" => self.target = value.text(),
            "word_bits" => self.word_bits = value.number(),
            "policy" => self.policy = value.text(),
            "buffer_bytes" => self.buffer_bytes = value.number(),
            "clock_source" => self.clock_source = value.text(),
            "start_ticks" => self.start_ticks = value.number(),
            "start_monotonic_ns" => self.start_monotonic_ns = value.number(),
            "start_realtime_ns" => self.start_realtime_ns = value.number(),
            "openmp" => self.openmp = value.text(),
            "processors" => self.processors = Some(value.number()).filter(|count| *count > 0),
            "processor_quota" => {
                self.processor_quota = Some(value.number()).filter(|quota| *quota > 0);
            }
            "closed" => self.closed = value.number() != 0,
            "discarded_unattached" => self.discarded_unattached = value.number(),
            "lost_lines" => self.lost_lines = value.number(),
            "lost_events" => self.lost_events = Some(value.number()),
            "switches" => self.switches = Some(value.text()),
            "setting_trouble" => self.setting_trouble = Some(value.text()),
            "run" => self.run = Some(value.number()).filter(|number| *number > 0),
            "empty" => self.empty = value.number() != 0,
            "arguments" => self.arguments = Some(value.text()),
            name if is_numbered(name, "setting_") => {
                let text = value.text();
                let (name, value) = text.split_once('=').unwrap_or((&text, ""));
                self.settings.push((name.to_owned(), value.to_owned()));
            }
            name if is_numbered(name, "module_") => match module(&value.text()) {
                Some(module) => self.modules.push(module),
                None => self.other.push((key, value.text())),
            },
            name => match (stream(name), &value) {
                (Some(number), Value::Number(_)) => self.streams.push((number, value.number())),
                _ => self.other.push((key, value.text())),
            },
        }
    }
}

/// The number of the stream whose packets an entry has.
fn stream(key: &str) -> Option<u32> {
    let number = key.strip_prefix("stream_")?;
    let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| number.parse().ok())?
}

fn is_numbered(key: &str, prefix: &str) -> bool {
    key.strip_prefix(prefix)
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

fn module(text: &str) -> Option<Module> {
    let mut parts = text.splitn(4, ' ');
    let base = hex(parts.next()?)?;
    let end = hex(parts.next()?)?;
    let build_id = Some(parts.next()?.to_owned()).filter(|id| id != "-");
    Some(Module {
        base,
        end,
        build_id,
        path: parts.next()?.to_owned(),
    })
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

fn byte_order(value: &Value) -> Option<ByteOrder> {
    match value.text().as_str() {
        "le" => Some(ByteOrder::Little),
        "be" | "network" => Some(ByteOrder::Big),
        _ => None,
    }
}

fn uuid(value: &Value) -> Option<[u8; 16]> {
    let digits: Vec<u8> = value.text().bytes().filter(|b| *b != b'-').collect();
    let mut uuid = [0; 16];
    if digits.len() != 32 {
        return None;
    }
    for (byte, pair) in uuid.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(uuid)
}

/// A value of a `key = value;` line.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Number(i128),
    Text(String),
}

impl Value {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    fn wide(&self) -> i128 {
        match self {
            Self::Number(number) => *number,
            Self::Text(text) => integer(text).unwrap_or(0),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        u64::try_from(self.wide()).unwrap_or(0)
    }

    fn signed(&self) -> i64 {
        i64::try_from(self.wide()).unwrap_or(0)
    }
}

fn integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let digits = digits.trim_end_matches(['u', 'U', 'l', 'L']);
    let value = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hexadecimal) => i128::from_str_radix(hexadecimal, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Text(String),
    Mark(char),
}

/// Whether the text does not end behind a block.
fn is_cut(tokens: &[Token<'_>]) -> bool {
    let depth = tokens.iter().fold(0_i64, |depth, token| match token {
        Token::Mark('{') => depth + 1,
        Token::Mark('}') => depth - 1,
        _ => depth,
    });
    depth != 0 || tokens.last() != Some(&Token::Mark(';'))
}

/// The top-level blocks `name { key = value; … }` with their direct entries; nested blocks are passed over.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    blocks_of(&tokens(text))
}

/// The name of a block, and its entries.
type Block = (String, Vec<(String, Value)>);

fn blocks_of(tokens: &[Token<'_>]) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('{') => {
                if depth == 0 {
                    let name = match at.checked_sub(1).and_then(|before| tokens.get(before)) {
                        Some(Token::Word(word)) => (*word).to_owned(),
                        _ => String::new(),
                    };
                    found.push((name, Vec::new()));
                }
                depth += 1;
            }
            Token::Mark('}') => depth = depth.saturating_sub(1),
            Token::Mark('=') if depth == 1 => {
                let (Some(Token::Word(key)), Some(value)) =
                    (tokens.get(at.wrapping_sub(1)), tokens.get(at + 1))
                else {
                    continue;
                };
                let value = match value {
                    Token::Text(text) => Value::Text(text.clone()),
                    Token::Word(word) => {
                        integer(word).map_or_else(|| Value::Text((*word).to_owned()), Value::Number)
                    }
                    Token::Mark(_) => continue,
                };
                if let Some((_, entries)) = found.last_mut() {
                    entries.push(((*key).to_owned(), value));
                }
            }
            _ => {}
        }
    }
    found
}

/// What is left of a text.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn next(&mut self) -> Option<char> {
        self.next_if(|_| true)
    }

    fn next_if(&mut self, is_it: impl Fn(char) -> bool) -> Option<char> {
        let c = self.0.chars().next().filter(|c| is_it(*c))?;
        self.0 = &self.0[c.len_utf8()..];
        Some(c)
    }

    /// Takes what is before the first character of another kind, and leaves that.
    fn take_while(&mut self, is_it: impl Fn(char) -> bool) -> &'t str {
        let end = self.0.find(|c| !is_it(c)).unwrap_or(self.0.len());
        let (taken, rest) = self.0.split_at(end);
        self.0 = rest;
        taken
    }

    /// Goes behind this, or to the end.
    fn skip_behind(&mut self, what: &str) {
        self.0 = self.0.split_once(what).map_or("", |(_, rest)| rest);
    }
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = Rest(text);
    loop {
        let word = rest.take_while(is_word);
        if !word.is_empty() {
            tokens.push(Token::Word(word));
        }
        match rest.next() {
            None => return tokens,
            Some('/') if rest.next_if(|c| c == '*').is_some() => rest.skip_behind("*/"),
            Some('/') if rest.next_if(|c| c == '/').is_some() => rest.skip_behind("\n"),
            Some('"') => tokens.push(Token::Text(quoted(&mut rest))),
            Some(c) if c.is_whitespace() => {}
            Some(c) => tokens.push(Token::Mark(c)),
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.')
}

/// A text as it stands in a string literal. What would end or break it is replaced, as the runtime does.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_ascii_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// The rest of a string literal, escapes resolved as in C.
fn quoted(chars: &mut Rest<'_>) -> String {
    let mut text = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('x') => text.push(numeric_escape(chars, 0, 16, 2)),
                Some(c) if c.is_digit(8) => {
                    text.push(numeric_escape(chars, c.to_digit(8).unwrap_or(0), 8, 2))
                }
                Some(c) => text.push(c),
                None => break,
            },
            c => text.push(c),
        }
    }
    text
}

fn numeric_escape(chars: &mut Rest<'_>, start: u32, radix: u32, more: usize) -> char {
    let mut value = start;
    for _ in 0..more {
        match chars
            .next_if(|c| c.is_digit(radix))
            .and_then(|c| c.to_digit(radix))
        {
            Some(digit) => value = value * radix + digit,
            None => break,
        }
    }
    char::from_u32(value).unwrap_or('\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
trace {
    major = 1; minor = 8;
    uuid = "2a6422d0-6cee-11e0-8c08-cb07d7b3a564";
    byte_order = be; // network order
    packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };
};
env { word_bits = 32; format = 1; program = "a \"quoted\" \\name"; closed = 1; start_ticks = 18446744073709551615;
  module_0 = "10000 20000 abcdef /opt/my program"; module_1 = "0x7f00 0x8f00 - libm.so"; extra = -5;
  discarded_unattached = 66; setting_trouble = "INSTR_BUFFER is too small";
  run = 7; empty = 1; arguments = "-n \"3\""; setting_0 = "INSTR_SENSORS=a=b"; };
clock { name = instr; freq = 50000000; offset_s = 1700000000; offset = -3; };
"#;

    #[test]
    fn blocks_are_read_as_written() {
        let metadata = Metadata::parse(TEXT.as_bytes()).unwrap();
        assert_eq!(
            metadata.layout,
            Layout {
                order: ByteOrder::Big,
                word: WordSize::Four,
                format: Format::One,
                code_base: 0
            }
        );
        assert_eq!(metadata.uuid.unwrap()[..4], [0x2a, 0x64, 0x22, 0xd0]);
        assert_eq!(metadata.program, r#"a "quoted" \name"#);
        assert_eq!(metadata.start_ticks, u64::MAX);
        assert!(metadata.closed);
        assert_eq!(metadata.discarded_unattached, 66);
        assert_eq!(
            metadata.setting_trouble.as_deref(),
            Some("INSTR_BUFFER is too small")
        );
        assert_eq!((metadata.run, metadata.empty), (Some(7), true));
        assert_eq!(metadata.arguments.as_deref(), Some("-n \"3\""));
        let setting = ("INSTR_SENSORS".to_owned(), "a=b".to_owned());
        assert_eq!(metadata.settings, [setting]);
        assert_eq!(
            metadata.clock,
            ClockInfo {
                name: "instr".into(),
                freq: 50_000_000,
                offset_s: 1_700_000_000,
                offset: -3
            }
        );
        let expected = Module {
            base: 0x10000,
            end: 0x20000,
            build_id: Some("abcdef".into()),
            path: "/opt/my program".into(),
        };
        assert_eq!(metadata.modules[0], expected);
        assert_eq!(metadata.modules[1].build_id, None);
        assert_eq!(metadata.other, [("extra".to_owned(), "-5".to_owned())]);
    }

    #[test]
    fn any_prefix_of_the_text_is_read_or_refused_without_a_panic() {
        for end in 0..TEXT.len() {
            let _ = Metadata::parse(&TEXT.as_bytes()[..end]);
        }
    }

    /// Behind a block nobody knows that there were more.
    #[test]
    fn a_text_that_ends_in_a_block_is_cut() {
        let cut = |end: usize| Metadata::parse(&TEXT.as_bytes()[..end]).map(|read| read.cut);
        assert_eq!(cut(TEXT.len()), Ok(None));
        let clock = TEXT.find("clock {").unwrap();
        assert_eq!(cut(clock), Ok(None));
        // "clock" alone, an open block, one without its last mark; a quoted text, a comment.
        for end in clock + 5..TEXT.trim_end().len() {
            assert_eq!(cut(end), Ok(Some(end as u64)), "{}", &TEXT[clock..end]);
        }
        for end in [
            TEXT.find("libm").unwrap(),
            TEXT.find("start_ticks").unwrap(),
        ] {
            assert_eq!(cut(end), Ok(Some(end as u64)));
        }
    }
}
