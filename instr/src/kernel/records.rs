//! perf's records to events of a trace.

use instr_trace::kernel::{Leave, Record, ThreadId, What};
use perf_event_open_sys::bindings::{
    PERF_RECORD_COMM, PERF_RECORD_EXIT, PERF_RECORD_FORK, PERF_RECORD_LOST,
    PERF_RECORD_MISC_COMM_EXEC, PERF_RECORD_MISC_SWITCH_OUT, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
    PERF_RECORD_SWITCH, PERF_RECORD_SWITCH_CPU_WIDE,
};

/// Bytes behind every record: process, thread, time (`sample_id_all`).
const ID_BYTES: usize = 16;

/// What perf has as the number of a thread that its process has reaped. It still has to leave its processor then.
const REAPED: u32 = u32::MAX;

/// Who runs on a processor, by its records.
#[derive(Debug, Default)]
pub(super) struct Running(Option<ThreadId>);

impl Running {
    /// The record with the thread that it is about; [`None`] where that has no number any more.
    pub(super) fn complete(&mut self, mut record: Record) -> Option<Record> {
        match record.what {
            What::In | What::Out(_) if record.thread.tid == REAPED => {
                record.thread = self.0.take().filter(|_| record.what != What::In)?;
            }
            What::In => self.0 = Some(record.thread),
            What::Out(_) | What::Lost(_) => self.0 = None,
            _ => {}
        }
        Some(record)
    }
}

/// The event that a record holds; `None`: one that does not matter.
pub(super) fn event(bytes: &[u8], processor: u32) -> Option<Record> {
    let number = |at: usize| {
        let field = bytes.get(at..)?.first_chunk()?;
        Some(u32::from_ne_bytes(*field))
    };
    let wide = |at: usize| {
        let field = bytes.get(at..)?.first_chunk()?;
        Some(u64::from_ne_bytes(*field))
    };
    let misc = number(4)? & 0xffff;
    let id = bytes.len().checked_sub(ID_BYTES)?;
    let mut thread = ThreadId {
        pid: number(id)?,
        tid: number(id + 4)?,
    };
    let pair = |at: usize| {
        Some(ThreadId {
            pid: number(at)?,
            tid: number(at + 4)?,
        })
    };
    let what = match number(0)? {
        PERF_RECORD_SWITCH | PERF_RECORD_SWITCH_CPU_WIDE => {
            match (
                misc & PERF_RECORD_MISC_SWITCH_OUT != 0,
                misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT != 0,
            ) {
                (false, _) => What::In,
                (true, true) => What::Out(Leave::Ready),
                (true, false) => What::Out(Leave::Blocked),
            }
        }
        PERF_RECORD_FORK => {
            // pid, ppid, tid, ptid
            thread = ThreadId {
                pid: number(8)?,
                tid: number(16)?,
            };
            What::Fork(ThreadId {
                pid: number(12)?,
                tid: number(20)?,
            })
        }
        PERF_RECORD_EXIT => {
            thread = ThreadId {
                pid: number(8)?,
                tid: number(16)?,
            };
            What::Exit
        }
        PERF_RECORD_COMM => {
            thread = pair(8)?;
            let text = bytes.get(16..id)?;
            let end = text
                .iter()
                .position(|byte| *byte == 0)
                .unwrap_or(text.len());
            let name = String::from_utf8_lossy(&text[..end]).into_owned();
            match misc & PERF_RECORD_MISC_COMM_EXEC != 0 {
                true => What::Exec(name),
                false => What::Name(name),
            }
        }
        PERF_RECORD_LOST => What::Lost(wide(16)?),
        _ => return None,
    };
    Some(Record {
        time: wide(id + 8)?,
        processor,
        thread,
        what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record of these 32-bit fields, as the kernel writes it, of thread 22 in process 20 at 5.
    fn made(kind: u32, misc: u32, fields: &[u32]) -> Vec<u8> {
        let size = (8 + fields.len() * 4 + ID_BYTES) as u32;
        let head = [kind, misc | size << 16];
        let id = [20, 22, 5, 0];
        let words = head.iter().chain(fields).chain(&id);
        words.flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn read(kind: u32, misc: u32, fields: &[u32]) -> Option<(ThreadId, What)> {
        let record = event(&made(kind, misc, fields), 1)?;
        assert_eq!((record.time, record.processor), (5, 1));
        Some((record.thread, record.what))
    }

    #[test]
    fn records_are_read_as_perf_event_open_describes_them() {
        let thread = |pid, tid| ThreadId { pid, tid };
        let own = thread(20, 22);
        assert_eq!(read(14, 0, &[]), Some((own, What::In)));
        let out = |leave| Some((own, What::Out(leave)));
        assert_eq!(read(14, 1 << 13, &[]), out(Leave::Blocked));
        assert_eq!(read(14, 3 << 13, &[]), out(Leave::Ready));
        assert_eq!(read(15, 1 << 13, &[9, 9]), out(Leave::Blocked));
        let fork = What::Fork(thread(20, 22));
        assert_eq!(
            read(7, 0, &[30, 20, 31, 22, 5, 0]),
            Some((thread(30, 31), fork))
        );
        let exit = read(4, 0, &[30, 20, 31, 22, 5, 0]);
        assert_eq!(exit, Some((thread(30, 31), What::Exit)));
        let name = u32::from_ne_bytes(*b"sh\0\0");
        let exec = read(3, 1 << 13, &[20, 22, name, 0]);
        assert_eq!(exec, Some((own, What::Exec("sh".into()))));
        assert_eq!(
            read(3, 0, &[20, 22, name, 0]),
            Some((own, What::Name("sh".into())))
        );
        let lost = read(2, 0, &[1, 0, 77, 1]);
        assert_eq!(lost.map(|(_, what)| what), Some(What::Lost(77 + (1 << 32))));
        assert_eq!(read(9, 0, &[1, 2]), None);
    }

    #[test]
    fn who_was_reaped_leaves_under_its_own_number() {
        let mut running = Running::default();
        let thread = |tid| ThreadId { pid: 20, tid };
        let mut complete = |tid, what| {
            let record = Record {
                time: 5,
                processor: 1,
                thread: thread(tid),
                what,
            };
            running.complete(record).map(|record| record.thread.tid)
        };
        let out = || What::Out(Leave::Blocked);
        assert_eq!(complete(22, What::In), Some(22));
        assert_eq!(complete(21, What::Exit), Some(21));
        assert_eq!(complete(REAPED, out()), Some(22));
        // It came without a number: nobody can say who it is.
        assert_eq!(complete(REAPED, What::In), None);
        assert_eq!(complete(REAPED, out()), None);
        // Others may have come where records were lost.
        assert_eq!(complete(23, What::In), Some(23));
        assert_eq!(complete(0, What::Lost(1)), Some(0));
        assert_eq!(complete(REAPED, out()), None);
        assert_eq!(complete(24, out()), Some(24));
        assert_eq!(complete(REAPED, out()), None);
    }

    #[test]
    fn short_records_are_no_events() {
        let whole = made(7, 0, &[30, 20, 31, 22, 5, 0]);
        for end in 0..24 {
            assert_eq!(event(&whole[..end], 0), None);
        }
    }
}
