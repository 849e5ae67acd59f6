//! An OTF2 archive that is written: its files, and events of locations. Definitions are in `definitions`.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::ptr::null_mut;

use super::library::{self, Code, DefWriter, EvtWriter, FlushCallbacks, Library, MemoryCallbacks};
use crate::error::Error;

/// `OTF2_FILEMODE_WRITE`, `OTF2_SUBSTRATE_POSIX`, `OTF2_COMPRESSION_NONE`, `OTF2_FLUSH`.
const WRITE: u8 = 0;
const POSIX: u8 = 1;
const UNCOMPRESSED: u8 = 1;
const FLUSH: u8 = 1;
/// Bytes of a location's buffer: the smallest that the library takes, since there are as many as threads.
const EVENTS: u64 = 256 << 10;
const DEFINITIONS: u64 = 4 << 20;
/// What a call that gives no writer counts as: `OTF2_ERROR_INVALID`.
const NO_WRITER: Code = 1;
/// Name of the archive in its folder.
const NAME: &CStr = c"traces";

/// What a buffer of the library has. One piece is all it gets: with the next one it writes what it has.
struct Buffer(Vec<u64>);

extern "C" fn flush(_: *mut c_void, _: u8, _: u64, _: *mut c_void, _: bool) -> u8 {
    FLUSH
}

extern "C" fn allocate(
    _: *mut c_void,
    _: u8,
    _: u64,
    data: *mut *mut c_void,
    bytes: u64,
) -> *mut c_void {
    // SAFETY: the library gives a place that it keeps for this buffer, first with a null pointer, later with what was put there.
    let place = unsafe { &mut *data };
    let words = usize::try_from(bytes / 8).unwrap_or(0);
    if place.is_null() {
        *place = Box::into_raw(Box::new(Buffer(Vec::new()))).cast();
    }
    // SAFETY: it points to the buffer that was made above, by this call or an earlier one.
    let buffer = unsafe { &mut *place.cast::<Buffer>() };
    if !buffer.0.is_empty() || words == 0 {
        return null_mut();
    }
    buffer.0 = vec![0; words];
    buffer.0.as_mut_ptr().cast()
}

extern "C" fn free_all(_: *mut c_void, _: u8, _: u64, data: *mut *mut c_void, is_final: bool) {
    // SAFETY: as above.
    let place = unsafe { &mut *data };
    if place.is_null() {
        return;
    }
    // SAFETY: as above.
    unsafe { &mut *place.cast::<Buffer>() }.0 = Vec::new();
    if is_final {
        // SAFETY: it comes from `Box::into_raw`, and is forgotten here.
        drop(unsafe { Box::from_raw(place.cast::<Buffer>()) });
        *place = null_mut();
    }
}

thread_local! {
    /// What the library said first: what it returns later is often less exact.
    static FIRST: Cell<Code> = const { Cell::new(0) };
}

/// The library prints what goes wrong; who calls it says so.
extern "C" fn silent(
    _: *mut c_void,
    _: *const i8,
    _: u64,
    _: *const i8,
    code: Code,
    _: *const i8,
    _: *mut c_void,
) -> Code {
    if FIRST.get() == 0 {
        FIRST.set(code);
    }
    code
}

static FLUSHES: FlushCallbacks = FlushCallbacks {
    pre: flush,
    post: None,
};
static MEMORY: MemoryCallbacks = MemoryCallbacks { allocate, free_all };

/// An archive. Without [`Archive::close`] nothing in it can be read.
pub(super) struct Archive {
    library: Library,
    handle: library::Archive,
    /// Writers of the locations, by number.
    events: Vec<EvtWriter>,
    global: DefWriter,
    /// The first call that failed.
    failed: Option<Code>,
    /// Records so far.
    pub(super) records: u64,
}

impl Archive {
    /// A new one in an empty folder, for this many locations. The first ones are there in any case, the others with their first record.
    pub(super) fn create(folder: &Path, certain: usize, locations: usize) -> Result<Self, Error> {
        let library = Library::load()?;
        let path = CString::new(folder.as_os_str().as_bytes())
            .map_err(|_| Error::Otf2("a path with a zero byte".into()))?;
        FIRST.set(0);
        // SAFETY: pointers to texts and functions that live as long as the archive.
        let handle = unsafe {
            (library.silence)(silent as *const c_void, null_mut());
            (library.open)(
                path.as_ptr(),
                NAME.as_ptr(),
                WRITE,
                EVENTS,
                DEFINITIONS,
                POSIX,
                UNCOMPRESSED,
            )
        };
        let mut archive = Self {
            library,
            handle,
            events: Vec::new(),
            global: null_mut(),
            failed: None,
            records: 0,
        };
        if handle.is_null() {
            return Err(Self::error("the library cannot begin an archive"));
        }
        // SAFETY: the archive is open, and what is pointed to lives as long as the program.
        let codes = unsafe {
            [
                (archive.library.set_flush)(handle, &FLUSHES, null_mut()),
                (archive.library.set_memory)(handle, &MEMORY, null_mut()),
                (archive.library.set_serial)(handle),
                (archive.library.set_creator)(handle, c"instr".as_ptr()),
                (archive.library.open_events)(handle),
            ]
        };
        codes.into_iter().for_each(|code| archive.check(code));
        archive.events = vec![null_mut(); locations];
        (0..certain).for_each(|location| archive.begin(location));
        archive.result()?;
        Ok(archive)
    }

    /// Makes a location's writer.
    fn begin(&mut self, location: usize) {
        // SAFETY: the archive is open.
        let writer = unsafe { (self.library.events_of)(self.handle, location as u64) };
        if writer.is_null() {
            self.check(NO_WRITER);
        }
        self.events[location] = writer;
    }

    fn error(why: &str) -> Error {
        Error::Otf2(why.to_owned())
    }

    pub(super) fn check(&mut self, code: Code) {
        if code != 0 && self.failed.is_none() {
            self.failed = Some(code);
        }
    }

    /// The error of the first call that failed.
    pub(super) fn result(&self) -> Result<(), Error> {
        let Some(code) = self.failed else {
            return Ok(());
        };
        let code = match FIRST.get() {
            0 => code,
            first => first,
        };
        // SAFETY: the library has a text that stays for every code.
        let text = unsafe {
            let text = (self.library.description)(code);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        Err(Self::error(
            &text.unwrap_or_else(|| format!("error {code} of the library")),
        ))
    }

    /// Writes a record of a location: `write` is called with the library and the location's writer.
    #[inline]
    pub(super) fn record(
        &mut self,
        location: usize,
        write: impl FnOnce(&Library, EvtWriter) -> Code,
    ) {
        if self.failed.is_some() || location >= self.events.len() {
            return;
        }
        if self.events[location].is_null() {
            self.begin(location);
        }
        let writer = self.events[location];
        if writer.is_null() {
            return;
        }
        self.records += 1;
        let code = write(&self.library, writer);
        self.check(code);
    }

    /// Ends the events: how many records each location has that is there. Definitions may be written then.
    pub(super) fn end_events(&mut self) -> Result<Vec<Option<u64>>, Error> {
        let mut counts = Vec::new();
        for writer in std::mem::take(&mut self.events) {
            // Behind a write that failed the library must not be asked to write again: it dies of it.
            self.result()?;
            if writer.is_null() {
                counts.push(None);
                continue;
            }
            let mut count = 0;
            // SAFETY: the archive and the writer are open; the writer is not used again.
            let codes = unsafe {
                [
                    (self.library.number_of_events)(writer, &raw mut count),
                    (self.library.close_events_of)(self.handle, writer),
                ]
            };
            codes.into_iter().for_each(|code| self.check(code));
            counts.push(Some(count));
        }
        self.result()?;
        // SAFETY: the archive is open. Readers look for a file of definitions for each location.
        let code = unsafe { (self.library.close_events)(self.handle) };
        self.check(code);
        // SAFETY: as above.
        let code = unsafe { (self.library.open_definitions)(self.handle) };
        self.check(code);
        let there = (0u64..).zip(&counts).filter(|(_, count)| count.is_some());
        for (location, _) in there {
            // SAFETY: as above; the writer is closed at once.
            let code = unsafe {
                let writer = (self.library.definitions_of)(self.handle, location);
                match writer.is_null() {
                    true => NO_WRITER,
                    false => (self.library.close_definitions_of)(self.handle, writer),
                }
            };
            self.check(code);
        }
        // SAFETY: as above.
        let code = unsafe { (self.library.close_definitions)(self.handle) };
        self.check(code);
        // SAFETY: as above.
        self.global = unsafe { (self.library.definitions)(self.handle) };
        if self.global.is_null() {
            return Err(Self::error("the library has no writer for definitions"));
        }
        self.result()?;
        Ok(counts)
    }

    /// Writes a definition: `write` is called with the library and the writer of definitions.
    pub(super) fn define(&mut self, write: impl FnOnce(&Library, DefWriter) -> Code) {
        let code = write(&self.library, self.global);
        self.check(code);
    }

    /// Ends the archive.
    pub(super) fn close(mut self) -> Result<(), Error> {
        if !self.global.is_null() {
            // SAFETY: both are open, and the writer is not used again.
            let code = unsafe { (self.library.close_global)(self.handle, self.global) };
            self.check(code);
        }
        self.result()?;
        let handle = std::mem::replace(&mut self.handle, null_mut());
        // SAFETY: the archive is open, and is not used again.
        let code = unsafe { (self.library.close)(handle) };
        self.check(code);
        self.result()
    }
}

impl Drop for Archive {
    /// Where a write has failed the archive stays open: to close it is to write what is left, of which the library dies.
    fn drop(&mut self) {
        if !self.handle.is_null() && self.failed.is_none() {
            // SAFETY: the archive is open, and is not used again. What it says does not matter any more.
            unsafe { (self.library.close)(self.handle) };
        }
    }
}
