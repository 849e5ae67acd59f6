//! The bytes of a file, shared between the images that use them.

use std::fmt;
use std::sync::Arc;

/// The contents of a file: cheap to clone, freed with the last clone.
///
/// Anything that holds bytes will do, so a caller may map a file and hand in the mapping without a copy.
#[derive(Clone)]
pub struct Bytes(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Bytes {
    /// Takes over an owner of bytes, such as a memory mapping or a `Vec<u8>`. Its bytes must not change while it is
    /// held: a mapped file that is truncated by somebody else takes the process down, as any mapping does.
    pub fn from_owner(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Bytes(Arc::new(owner))
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from_owner(bytes)
    }
}

impl From<&[u8]> for Bytes {
    /// Copies the bytes.
    fn from(bytes: &[u8]) -> Self {
        Bytes::from_owner(bytes.to_vec())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.as_slice().len())
    }
}
