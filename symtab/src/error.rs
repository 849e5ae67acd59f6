//! What can go wrong when a file is read.

/// Why a file was refused.
///
/// Damaged debug information is not an error: an [`Image`](crate::Image) then answers with fewer names, and
/// [`Image::debug_error`](crate::Image::debug_error) tells why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not begin as an ELF file does.
    #[error("not an ELF file")]
    NotElf,
    /// The ELF headers, sections or symbols lead outside of the file or contradict each other.
    #[error("damaged ELF file: {0}")]
    BadElf(#[from] object::Error),
    /// A compressed section claims more bytes than its contents can give, or than an honest file of this size has.
    #[error(
        "section {name}: claims {claimed} bytes when decompressed, at most {limit} are believed"
    )]
    ImplausibleSize {
        /// Name of the section.
        name: String,
        /// Size the section's header claims, in bytes.
        claimed: u64,
        /// Largest size that would have been accepted, in bytes.
        limit: u64,
    },
    /// A further file was handed in that belongs to another program.
    #[error("the file does not belong to this program: build id {found}, expected {expected}")]
    OtherProgram {
        /// Build id of the file handed in, in hexadecimal, or `none`.
        found: String,
        /// Build id that was expected, in hexadecimal, or `none`.
        expected: String,
    },
    /// A debug file was handed in whose checksum is not the one that the program records.
    #[error(
        "the file does not belong to this program: CRC-32 {found:08x}, expected {expected:08x}"
    )]
    OtherChecksum {
        /// CRC-32 of the file handed in.
        found: u32,
        /// CRC-32 that the program's `.gnu_debuglink` names.
        expected: u32,
    },
    /// A further file was handed in that holds nothing the image could use.
    #[error("the file holds no debug information this program asks for")]
    NotWanted,
}

/// Result of reading a file.
pub type Result<T> = std::result::Result<T, Error>;
