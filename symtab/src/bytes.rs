//! The bytes of a file, shared between the images that use them.

use std::fmt;
use std::sync::Arc;

/// The contents of a file: cheap to clone, freed with the last clone.
///
/// Anything that holds bytes will do, so a caller may map a file and hand in the mapping without a copy.
#[derive(Clone)]
pub struct Bytes(Arc<dyn Contents>);

/// What holds the bytes.
trait Contents: Send + Sync {
    fn bytes(&self) -> &[u8];

    /// Gives back memory that the bytes can be read into again.
    fn release(&self) {}
}

struct Held<T>(T);

impl<T: AsRef<[u8]> + Send + Sync> Contents for Held<T> {
    fn bytes(&self) -> &[u8] {
        self.0.as_ref()
    }
}

struct Mapped<T> {
    mapping: T,
    release: fn(&T),
}

impl<T: AsRef<[u8]> + Send + Sync> Contents for Mapped<T> {
    fn bytes(&self) -> &[u8] {
        self.mapping.as_ref()
    }

    fn release(&self) {
        (self.release)(&self.mapping);
    }
}

impl Bytes {
    /// Takes over a mapping of a file together with a way to give back the memory that its pages take, which is called
    /// from time to time while many units are read (`madvise` with `MADV_DONTNEED`). The bytes must stay what they are.
    pub fn from_mapping<T>(mapping: T, release: fn(&T)) -> Self
    where
        T: AsRef<[u8]> + Send + Sync + 'static,
    {
        Bytes(Arc::new(Mapped { mapping, release }))
    }

    /// Gives back memory, if there is a way to.
    pub(crate) fn release(&self) {
        self.0.release();
    }

    /// Takes over an owner of bytes, such as a memory mapping or a `Vec<u8>`. Its bytes must not change while it is
    /// held: a mapped file that is truncated by somebody else takes the process down, as any mapping does.
    pub fn from_owner(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        Bytes(Arc::new(Held(owner)))
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        self.0.bytes()
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
