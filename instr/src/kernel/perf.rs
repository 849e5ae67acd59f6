//! perf's events of context switches, one for each processor, and the rings they write into.

use std::fs::File;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr::{NonNull, addr_of, addr_of_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys as sys;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use sys::bindings::{
    PERF_COUNT_SW_DUMMY, PERF_COUNT_SW_TASK_CLOCK, PERF_FLAG_FD_CLOEXEC, PERF_SAMPLE_TID,
    PERF_SAMPLE_TIME, PERF_TYPE_SOFTWARE, perf_event_attr, perf_event_mmap_page,
};

/// Pages of a ring, the first that the system allows: half a ring lasts for 2,000 switches in and out at 64 pages. Other rings of the
/// user, those of traced threads among them, share what may be locked.
const PAGES: [usize; 5] = [64, 32, 16, 8, 4];
/// The same for an administrator.
const MORE_PAGES: [usize; 2] = [256, 128];

/// Whose switches are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// Those of what this thread starts from now on, each from its first `exec` on.
    Children,
    /// Those of all threads.
    All,
    /// Nobody's, but what [`Ring::follow`] adds.
    Followed,
}

/// An event of one processor with its ring.
#[derive(Debug)]
pub(crate) struct Ring {
    pub(super) processor: u32,
    event: OwnedFd,
    map: Mapping,
}

/// A thread that is followed on one processor, as long as this is there.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) tid: u32,
    pub(super) processor: u32,
    event: OwnedFd,
}

impl Followed {
    /// Whether the thread has been on the processor since it is followed.
    pub(super) fn has_run(&self) -> bool {
        let mut ns = [0u8; 8];
        let read = rustix::io::read(&self.event, &mut ns);
        read == Ok(8) && u64::from_ne_bytes(ns) > 0
    }
}

#[derive(Debug)]
struct Mapping {
    address: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is this process's own, and only the ring that owns it reads it.
unsafe impl Send for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and size, and nothing refers to it any more.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), self.bytes) };
    }
}

/// The event of a processor. It counts nothing: what matters are its records.
fn event(ring_bytes: usize) -> perf_event_attr {
    let mut attr = perf_event_attr {
        type_: PERF_TYPE_SOFTWARE,
        size: size_of::<perf_event_attr>() as u32,
        config: u64::from(PERF_COUNT_SW_DUMMY),
        sample_type: u64::from(PERF_SAMPLE_TID | PERF_SAMPLE_TIME),
        clockid: libc::CLOCK_MONOTONIC,
        ..Default::default()
    };
    attr.set_context_switch(1);
    attr.set_comm(1);
    attr.set_comm_exec(1);
    attr.set_task(1);
    attr.set_sample_id_all(1);
    attr.set_use_clockid(1);
    attr.set_exclude_kernel(1);
    attr.set_exclude_hv(1);
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = u32::try_from(ring_bytes / 2).unwrap_or(u32::MAX);
    attr.set_disabled(1);
    attr
}

/// Opens the event of a processor.
fn open(processor: u32, whose: Whose, ring_bytes: usize) -> io::Result<OwnedFd> {
    let mut attr = event(ring_bytes);
    let pid = match whose {
        Whose::Children => {
            attr.set_inherit(1);
            attr.set_enable_on_exec(1);
            0
        }
        Whose::All => -1,
        Whose::Followed => 0,
    };
    open_for(&mut attr, pid, processor)
}

/// Opens an event for a thread of this number, this one (0) or all (-1), while it is on a processor.
fn open_for(attr: &mut perf_event_attr, pid: i32, processor: u32) -> io::Result<OwnedFd> {
    let cpu = i32::try_from(processor).unwrap_or(-1);
    // SAFETY: `attr` is a whole structure with its size in it, which outlives the call.
    let fd = unsafe { sys::perf_event_open(attr, pid, cpu, -1, u64::from(PERF_FLAG_FD_CLOEXEC)) };
    match fd < 0 {
        true => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new, and nobody else has it.
        false => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}

impl Ring {
    /// The event and ring of a processor, as large as the system allows.
    pub(super) fn open(processor: u32, whose: Whose) -> io::Result<Self> {
        let page = rustix::param::page_size();
        let more = rustix::process::geteuid().is_root();
        let sizes = MORE_PAGES.iter().filter(|_| more).chain(&PAGES);
        let mut last = io::Error::from(io::ErrorKind::OutOfMemory);
        for pages in sizes {
            let bytes = pages * page;
            match Self::map(processor, open(processor, whose, bytes)?, bytes) {
                Ok(ring) => return Ok(ring),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Records from now on what a thread that runs already, and all that it starts, does on this processor.
    ///
    /// # Errors
    ///
    /// Those of perf: no such thread, no right to observe it, too many descriptors.
    pub(super) fn follow(&self, tid: u32) -> io::Result<Followed> {
        let mut attr = event(self.data_bytes());
        // Beside the records, it counts the time on the processor: a thread that is there all the time makes no record.
        attr.config = u64::from(PERF_COUNT_SW_TASK_CLOCK);
        attr.set_inherit(1);
        let pid = i32::try_from(tid).map_err(|_| io::Error::from_raw_os_error(libc::ESRCH))?;
        let followed = Followed {
            tid,
            processor: self.processor,
            event: open_for(&mut attr, pid, self.processor)?,
        };
        let ring = u64::try_from(self.event.as_raw_fd()).unwrap_or(u64::MAX);
        // SAFETY: both descriptors are events'.
        let refused = unsafe { sys::ioctls::SET_OUTPUT(followed.event.as_raw_fd(), ring as _) };
        if refused != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is an event's.
        match unsafe { sys::ioctls::ENABLE(followed.event.as_raw_fd(), 0) } {
            0 => Ok(followed),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// The ring of an event, with so many bytes of data: a power of two of pages.
    pub(crate) fn map(processor: u32, event: OwnedFd, bytes: usize) -> io::Result<Self> {
        let size = bytes + rustix::param::page_size();
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping where the system likes it, of a descriptor that allows this.
        let address = unsafe {
            mmap(
                std::ptr::null_mut(),
                size,
                protection,
                MapFlags::SHARED,
                &event,
                0,
            )
        }?;
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let map = Mapping {
            address,
            bytes: size,
        };
        Ok(Self {
            processor,
            event,
            map,
        })
    }

    /// Begins to record, where no `exec` does.
    pub(super) fn enable(&self) -> io::Result<()> {
        self.switch(sys::ioctls::ENABLE)
    }

    /// Ends to record, everywhere.
    pub(super) fn disable(&self) -> io::Result<()> {
        self.switch(sys::ioctls::DISABLE)
    }

    fn switch(
        &self,
        how: unsafe fn(std::os::raw::c_int, std::os::raw::c_uint) -> std::os::raw::c_int,
    ) -> io::Result<()> {
        // SAFETY: the descriptor is an event's.
        match unsafe { how(self.event.as_raw_fd(), 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// What to wait for: the ring is half full.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }

    /// Gives all records that are there to `each`, in their order. `buffer` is for those that go round the ring's end.
    pub(crate) fn drain(&mut self, buffer: &mut Vec<u8>, mut each: impl FnMut(&[u8])) {
        let page = self.map.address.as_ptr().cast::<perf_event_mmap_page>();
        let data_at = self.map.bytes - self.data_bytes();
        // SAFETY: the mapping is as large as the page and the data; the kernel writes `data_head`, and this process alone writes `data_tail`.
        let (head, tail, data) = unsafe {
            let head = AtomicU64::from_ptr(addr_of_mut!((*page).data_head));
            let tail = addr_of!((*page).data_tail).read();
            (
                head.load(Ordering::Acquire),
                tail,
                self.map.address.as_ptr().add(data_at),
            )
        };
        let size = self.data_bytes();
        let mut at = tail;
        while at < head {
            let offset = (at % size as u64) as usize;
            buffer.clear();
            // Records are aligned to 8 bytes, and so is the ring's end: a header is never cut.
            // SAFETY: 8 bytes from an aligned offset lie in the data; the kernel does not write what is not yet read.
            let header = unsafe { data.add(offset).cast::<u64>().read() };
            let length = (header >> 48) as usize;
            if length < 8 || length as u64 > head - at {
                break; // none of the kernel's; nothing behind it can be found
            }
            let first = length.min(size - offset);
            // SAFETY: both pieces lie in the data, and the kernel does not write them before `data_tail` is past them.
            unsafe {
                buffer.extend_from_slice(std::slice::from_raw_parts(data.add(offset), first));
                buffer.extend_from_slice(std::slice::from_raw_parts(data, length - first));
            }
            each(buffer);
            at += length as u64;
        }
        // SAFETY: as above.
        unsafe {
            AtomicU64::from_ptr(addr_of_mut!((*page).data_tail)).store(head, Ordering::Release);
        }
    }

    fn data_bytes(&self) -> usize {
        self.map.bytes - rustix::param::page_size()
    }
}

/// Why the system refuses events, for people.
pub(crate) fn refusal(error: &io::Error) -> String {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let level = level.map_or(String::new(), |text| text.trim().to_owned());
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) if !level.is_empty() => {
            format!("perf is not permitted (kernel.perf_event_paranoid is {level})")
        }
        Some(libc::ENOSYS) => "the kernel has no perf".to_owned(),
        Some(libc::EMFILE | libc::ENFILE) => "too few descriptors are allowed".to_owned(),
        _ => format!("perf: {error}"),
    }
}

/// Processors by the list in a file of sysfs: `0-3,8`.
pub(crate) fn online() -> Vec<u32> {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: u32 = first.trim().parse().ok()?;
        Some(first..=last.trim().parse().ok()?)
    };
    let ranges = text.trim().split(',').filter_map(range);
    let found: Vec<u32> = ranges.flatten().take(8192).collect();
    match found.is_empty() {
        // Without /sys: those that may be used, at least.
        true => affine().unwrap_or_else(|| vec![0]),
        false => found,
    }
}

fn affine() -> Option<Vec<u32>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    let most = rustix::thread::CpuSet::MAX_CPU;
    let numbers = (0..most).filter(|at| set.is_set(*at));
    let found: Vec<u32> = numbers.filter_map(|at| u32::try_from(at).ok()).collect();
    Some(found).filter(|found| !found.is_empty())
}

/// Processors that this thread may use.
pub(crate) fn allowed() -> Vec<u32> {
    affine().unwrap_or_else(online)
}

/// Whether a filter of system calls is in place, which may end the process for one that it does not expect.
pub(crate) fn is_filtered() -> bool {
    use std::io::Read as _;
    let mut text = String::new();
    let read = File::open("/proc/self/status")
        .and_then(|file| file.take(1 << 16).read_to_string(&mut text));
    read.is_ok()
        && text
            .lines()
            .any(|line| line.starts_with("Seccomp:") && line.trim_end().ends_with('2'))
}
