//! Archives of objects: GNU, BSD and thin.

use goblin::archive::{MAGIC, MemberHeader, SIZEOF_HEADER};
use scroll::Pread;

use super::{ObjectError, malformed};

/// First bytes of an ordinary archive.
pub const ARCHIVE_MAGIC: [u8; 8] = *MAGIC;
/// First bytes of a thin archive, which goblin does not read.
const THIN_MAGIC: [u8; 8] = *b"!<thin>\n";
/// Longest name of a member that is looked for in the table of names: that of a path on Linux (`PATH_MAX`). Names may overlap.
const MAX_NAME: usize = 4096;
/// Last bytes of a member's header.
const TERMINATOR: [u8; 2] = *b"`\n";

/// Whether the bytes begin as an archive does, thin or not.
#[must_use]
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&ARCHIVE_MAGIC) || bytes.starts_with(&THIN_MAGIC)
}

/// An archive. Its index of symbols is not used: members are asked for their symbols themselves.
#[derive(Debug, Clone)]
pub struct Archive<'d> {
    bytes: &'d [u8],
    thin: bool,
}

/// A member that is no table of the archive itself.
#[derive(Debug)]
pub struct Member<'d> {
    /// Its name; in a thin archive the path of its file.
    pub name: &'d [u8],
    /// Its mode bits, where the header has them.
    pub mode: Option<u64>,
    /// Where its contents are.
    pub contents: Contents<'d>,
}

/// Where the contents of a member are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents<'d> {
    /// In the archive.
    Inside(&'d [u8]),
    /// In a file of this name, relative to the archive's folder: the archive is thin.
    File(&'d [u8]),
}

/// Goes through the members; ends with the first error.
struct Members<'d> {
    archive: Archive<'d>,
    /// Offset of the next header.
    at: usize,
    /// The table of long names (`//`), if it came already.
    names: &'d [u8],
}

impl<'d> Archive<'d> {
    /// An archive by its first bytes.
    ///
    /// # Errors
    ///
    /// The bytes are no archive.
    pub fn parse(bytes: &'d [u8]) -> Result<Self, ObjectError> {
        if !is_archive(bytes) {
            return Err(malformed("this is no archive"));
        }
        let thin = bytes.starts_with(&THIN_MAGIC);
        Ok(Self { bytes, thin })
    }

    /// Whether the members are files of their own.
    #[must_use]
    pub fn is_thin(&self) -> bool {
        self.thin
    }

    /// The members in order; tables of symbols and names are members too, and left out.
    ///
    /// # Errors
    ///
    /// The last item fails where a member's header is damaged, or a member ends beyond the archive.
    pub fn members(&self) -> impl Iterator<Item = Result<Member<'d>, ObjectError>> + use<'d> {
        Members {
            archive: self.clone(),
            at: ARCHIVE_MAGIC.len(),
            names: &[],
        }
    }
}

impl<'d> Iterator for Members<'d> {
    type Item = Result<Member<'d>, ObjectError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.archive.bytes.len() {
            let at = self.at;
            match self.read() {
                Ok(Some(member)) => return Some(Ok(member)),
                Ok(None) => {}
                Err(what) => {
                    self.at = self.archive.bytes.len();
                    let message = format!("{what} of the archive member at {at:#x}");
                    return Some(Err(malformed(message)));
                }
            }
        }
        None
    }
}

impl<'d> Members<'d> {
    /// Reads a member; nothing for a table. An error says what of it is damaged.
    fn read(&mut self) -> Result<Option<Member<'d>>, &'static str> {
        let bytes = self.archive.bytes;
        let header: MemberHeader = bytes.pread(self.at).map_err(|_| "truncated header")?;
        if header.terminator != TERMINATOR {
            return Err("wrong end of the header");
        }
        // goblin takes a sign for a number.
        let size = header.size().ok().filter(|_| header.file_size[0] != b'+');
        let size = size.ok_or("wrong size")?;
        // The header was read here, so its end is in the archive.
        let start = self.at + SIZEOF_HEADER;
        let field = &bytes[self.at..][..header.identifier.len()];
        if self.archive.thin && !is_gnu_table(name_in(field)) {
            self.at = start;
            let name = self.long_name(field)?.unwrap_or_else(|| name_in(field));
            return Ok(Some(Member {
                name,
                mode: mode(&header),
                contents: Contents::File(name),
            }));
        }
        let end = start.checked_add(size).ok_or("wrong size")?;
        let data = bytes.get(start..end).ok_or("truncated contents")?;
        // Members begin at even offsets.
        self.at = end + (end & 1);
        if name_in(field) == b"//" {
            self.names = data;
        }
        let (name, data) = match bsd_name_length(field) {
            Some(length) => {
                let split = data.split_at_checked(length?);
                let (name, data) = split.ok_or("wrong length of the name")?;
                (name.split(|&b| b == 0).next().unwrap_or(name), data)
            }
            None => (
                self.long_name(field)?.unwrap_or_else(|| name_in(field)),
                data,
            ),
        };
        let is_table = is_gnu_table(name) || name.starts_with(b"__.SYMDEF");
        Ok((!is_table).then_some(Member {
            name,
            mode: mode(&header),
            contents: Contents::Inside(data),
        }))
    }

    /// The name that a header's field `/OFFSET` stands for; nothing for another field.
    fn long_name(&self, field: &[u8]) -> Result<Option<&'d [u8]>, &'static str> {
        let Some(digits) = field.strip_prefix(b"/").filter(|d| d[0].is_ascii_digit()) else {
            return Ok(None);
        };
        let wrong = "wrong place of the name";
        let place = number(digits).ok_or(wrong)?;
        let names = self.names.get(place..).ok_or(wrong)?;
        let mut longest = names.iter().take(MAX_NAME);
        let end = longest.position(|&b| b == b'\n' || b == 0);
        let end = end.ok_or(wrong)?;
        // Names of GNU end with a slash and a line feed, those of others with a zero byte.
        let name = match names[end] {
            0 => &names[..end],
            _ => names[..end].strip_suffix(b"/").ok_or(wrong)?,
        };
        Ok(Some(name))
    }
}

/// A name in a header's field: ended by a slash or, without one, by a blank. Names of tables begin with a slash.
fn name_in(field: &[u8]) -> &[u8] {
    let end = |byte: u8| field.iter().position(|&b| b == byte);
    let end = match field.first() {
        Some(b'/') => end(b' '),
        _ => end(b'/').or_else(|| end(b' ')),
    };
    &field[..end.unwrap_or(field.len())]
}

fn is_gnu_table(name: &[u8]) -> bool {
    matches!(name, b"/" | b"//" | b"/SYM64/")
}

/// The length of a name that stands in front of the contents (`#1/LENGTH`); nothing for another field.
fn bsd_name_length(field: &[u8]) -> Option<Result<usize, &'static str>> {
    let digits = field.strip_prefix(b"#1/")?;
    digits.first().filter(|d| d.is_ascii_digit())?;
    Some(number(digits).ok_or("wrong length of the name"))
}

/// A decimal number padded with blanks.
fn number(digits: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(digits.trim_ascii_end()).ok()?;
    text.parse().ok()
}

fn mode(header: &MemberHeader) -> Option<u64> {
    let text = std::str::from_utf8(header.mode.trim_ascii_end()).ok()?;
    u64::from_str_radix(text, 8).ok()
}
