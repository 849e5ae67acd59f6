//! Archives of objects: GNU, BSD and thin.

use object::read::archive::{ArchiveFile, ArchiveMember};

use super::ObjectError;

/// First bytes of an ordinary archive.
pub const ARCHIVE_MAGIC: [u8; 8] = object::archive::MAGIC;

/// Whether the bytes begin as an archive does, thin or not.
#[must_use]
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(&object::archive::MAGIC) || bytes.starts_with(&object::archive::THIN_MAGIC)
}

/// An archive whose headers were read.
#[derive(Debug)]
pub struct Archive<'d> {
    file: ArchiveFile<'d>,
    bytes: &'d [u8],
}

/// A member that is no table of the archive itself.
#[derive(Debug)]
pub struct Member<'d> {
    member: ArchiveMember<'d>,
    bytes: &'d [u8],
}

/// Where the contents of a member are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents<'d> {
    /// In the archive.
    Inside(&'d [u8]),
    /// In a file of this name, relative to the archive's folder: the archive is thin.
    File(&'d [u8]),
}

impl<'d> Archive<'d> {
    /// Reads the archive's headers and its index of symbols.
    ///
    /// # Errors
    ///
    /// Headers or index are damaged, or the bytes are no archive.
    pub fn parse(bytes: &'d [u8]) -> Result<Self, ObjectError> {
        Ok(Self {
            file: ArchiveFile::parse(bytes)?,
            bytes,
        })
    }

    /// Whether the members are files of their own.
    #[must_use]
    pub fn is_thin(&self) -> bool {
        self.file.is_thin()
    }

    /// Reads the index of symbols, of which nothing else is used.
    ///
    /// # Errors
    ///
    /// The index is damaged.
    pub fn check_index(&self) -> Result<(), ObjectError> {
        self.file.symbols()?;
        Ok(())
    }

    /// The members in order; tables of symbols and names are members too, and left out.
    ///
    /// # Errors
    ///
    /// Each item fails where the member's header is damaged.
    pub fn members(&self) -> impl Iterator<Item = Result<Member<'d>, ObjectError>> + '_ {
        let bytes = self.bytes;
        self.file.members().filter_map(move |member| match member {
            Ok(member) if is_index(member.name()) => None,
            Ok(member) => Some(Ok(Member { member, bytes })),
            Err(error) => Some(Err(error.into())),
        })
    }
}

impl<'d> Member<'d> {
    /// Its name; in a thin archive the path of its file.
    #[must_use]
    pub fn name(&self) -> &'d [u8] {
        self.member.name()
    }

    /// Its mode bits, where the header tells them.
    #[must_use]
    pub fn mode(&self) -> Option<u64> {
        self.member.mode()
    }

    /// Its contents, or the name of the file that has them.
    ///
    /// # Errors
    ///
    /// The member reaches beyond the archive.
    pub fn contents(&self) -> Result<Contents<'d>, ObjectError> {
        if self.member.is_thin() {
            return Ok(Contents::File(self.member.name()));
        }
        Ok(Contents::Inside(self.member.data(self.bytes)?))
    }
}

fn is_index(name: &[u8]) -> bool {
    matches!(name, b"/" | b"//" | b"/SYM64/") || name.starts_with(b"__.SYMDEF")
}
