//! One line of the trace.

/// Characters of the numbers between head and payload.
const FIELDS: usize = 35;
/// Characters of a line of the trace that are looked at, control sequences in it included.
const MOST_CHARS: usize = 4096;
/// What is wrong with a line whose end is missing.
pub const CUT_SHORT: &str = "the line is cut short";

/// One line of ours, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number of the line in its trace.
    pub seq: u32,
    /// `O`, `M` or `P`.
    pub kind: u8,
    /// Thread.
    pub id: u32,
    /// Bytes of the record; 0 while they are not known (metadata).
    pub total: u32,
    /// Offset of the payload in the record.
    pub offset: u32,
    /// The bytes.
    pub payload: Vec<u8>,
    /// Checksum of the characters.
    pub sum: u32,
}

/// Reads the frame whose head stands before `text`.
///
/// # Errors
///
/// What is wrong with it, in a few words.
pub fn parse(text: &[u8]) -> Result<Frame, &'static str> {
    let fields = text.get(..FIELDS).ok_or(CUT_SHORT)?;
    let number = |from: usize, digits: usize| {
        let digits = &fields[from..from + digits];
        let is_hex = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b);
        digits.iter().all(is_hex).then(|| {
            digits.iter().fold(0_u32, |value, b| {
                value << 4
                    | u32::from(if b.is_ascii_digit() {
                        b - b'0'
                    } else {
                        b - b'a' + 10
                    })
            })
        })
    };
    const BAD: &str = "its numbers are damaged";
    let (seq, id) = (number(0, 8).ok_or(BAD)?, number(9, 8).ok_or(BAD)?);
    let (total, offset) = (number(17, 8).ok_or(BAD)?, number(25, 8).ok_or(BAD)?);
    let count = number(33, 2).ok_or(BAD)? as usize;
    let end = 35 + count.div_ceil(3) * 4;
    let checked = text.get(..end + 9).ok_or(CUT_SHORT)?;
    let sum = hex_word(&checked[end..end + 8]).ok_or("its checksum is damaged")?;
    if sum != crc32fast::hash(&checked[..end]) || checked[end + 8] != b';' {
        return Err("its checksum is wrong");
    }
    let payload = base64(&checked[35..end], count).ok_or("its payload is damaged")?;
    Ok(Frame {
        seq,
        kind: fields[8],
        id,
        total,
        offset,
        payload,
        sum,
    })
}

/// The same text without what terminals and serial lines put between characters: control sequences (ECMA-48, as colours are) and control
/// characters; `None` when there are none.
pub fn without_controls(text: &[u8]) -> Option<Vec<u8>> {
    if !text.iter().any(|b| b.is_ascii_control()) {
        return None;
    }
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((&first, behind)) = rest.split_first() {
        rest = behind;
        match (first, behind.first()) {
            (0x1b, Some(b'[')) => {
                let end = behind
                    .iter()
                    .skip(1)
                    .position(|b| (0x40..=0x7e).contains(b));
                rest = &behind[end.map_or(behind.len(), |end| end + 2)..];
            }
            (0x1b, Some(_)) => rest = &behind[1..],
            (b, _) if !b.is_ascii_control() => plain.push(b),
            _ => {}
        }
    }
    Some(plain)
}

/// Reads the frame whose head stands before `text`, with or without control characters in it.
///
/// # Errors
///
/// What is wrong with it, in a few words.
pub fn parse_any(text: &[u8]) -> Result<Frame, &'static str> {
    parse(text).or_else(|why| {
        let plain = without_controls(&text[..text.len().min(MOST_CHARS)]);
        plain.map_or(Err(why), |plain| parse(&plain))
    })
}

fn hex_word(text: &[u8]) -> Option<u32> {
    let text = std::str::from_utf8(text).ok()?;
    u32::from_str_radix(text, 16).ok()
}

/// RFC 4648, section 4, with padding; `count` bytes.
fn base64(text: &[u8], count: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(count + 2);
    for group in text.chunks_exact(4) {
        let mut word = 0_u32;
        for &c in group {
            let digit = match c {
                b'A'..=b'Z' => c - b'A',
                b'a'..=b'z' => c - b'a' + 26,
                b'0'..=b'9' => c - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                b'=' => 0,
                _ => return None,
            };
            word = word << 6 | u32::from(digit);
        }
        bytes.extend_from_slice(&word.to_be_bytes()[1..]);
    }
    (bytes.len() >= count).then(|| {
        bytes.truncate(count);
        bytes
    })
}
