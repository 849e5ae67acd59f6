//! A small trace whose numbers can be worked out by hand, for the tests. One tick is one nanosecond.
//!
//! ```text
//! thread 0  0 begin                          2000 end
//!           100–1500 region 0x1000 (closing barrier from 1400), implicit task from 110
//!           120–335 dynamic loop, chunks 125–225 and 230–330; barrier 335–400
//!           410 asks for the critical section at 0x9000, has it 430–480; single at 500
//!           creates 1 (0x2000, out 0x8000) 510–520, 2 (0x2000, in 0x8000) 530–540,
//!           3 (0x3000, undeferred) 550–670, body 560–660; taskwait 680–1100
//!           runs 1 700–900, which creates 4 (0x3000) 710–720 and waits 730–810 while 4 runs 740–800
//!           user event 7 at 1200, user region "phase" 1210–1310
//! thread 1  105 begin                        1900 end
//!           implicit task 115–600, chunk 125–300 of the loop 120–305, barrier 305–400; single at 500
//!           runs 2 950–1050 in the closing barrier
//! ```

use std::path::Path;

use instr_trace::synth::{self, Body, START_TICKS, StreamWriter};
use instr_trace::{Layout, Trace};
use tempfile::TempDir;

/// A trace in a temporary directory that goes with it.
pub(crate) struct Fixture {
    /// Holds the directory.
    pub(crate) dir: TempDir,
    /// A place for what commands write: none of it comes into a trace.
    pub(crate) out: TempDir,
}

type Script<'s> = &'s [(u64, u8, &'s dyn Fn(&mut Body))];

fn write(dir: &Path, layout: Layout, thread: u32, script: Script<'_>) {
    let mut stream = StreamWriter::create(dir, layout, thread, 1 << 16).unwrap();
    for (time, id, fields) in script {
        stream
            .event(START_TICKS + time, *id, |body| fields(body))
            .unwrap();
    }
    stream.finish().unwrap();
}

fn none(_: &mut Body) {}

fn first_thread(dir: &Path, layout: Layout) {
    let dynamic = |body: &mut Body| _ = body.u32(2).i64(0).i64(100).i64(1).i64(10);
    let chunk = |body: &mut Body| _ = body.i64(0).i64(10);
    let named = |body: &mut Body| _ = body.u32(2).addr(0x9000);
    write(
        dir,
        layout,
        0,
        &[
            (0, 1, &|body| _ = body.u32(4000).u32(1)),
            (100, 16, &|body| _ = body.u32(1).addr(0x1000).u32(0).u32(0)),
            (110, 18, &|body| _ = body.u32(0).u32(1).u32(0).u32(2)),
            (120, 20, &dynamic),
            (125, 23, &chunk),
            (225, 25, &none),
            (230, 23, &chunk),
            (330, 25, &none),
            (335, 26, &|body| _ = body.u32(0)),
            (335, 32, &|body| _ = body.u32(2)),
            (400, 33, &|body| _ = body.u32(2)),
            (410, 34, &named),
            (430, 35, &named),
            (480, 36, &named),
            (500, 22, &|body| _ = body.u32(1)),
            (510, 40, &|body| {
                _ = body.u32(1).addr(0x2000).u32(8).deps(&[(0x8000, 2)])
            }),
            (520, 41, &none),
            (530, 40, &|body| {
                _ = body.u32(2).addr(0x2000).u32(8).deps(&[(0x8000, 1)])
            }),
            (540, 41, &none),
            (550, 40, &|body| {
                _ = body.u32(3).addr(0x3000).u32(0x8000).deps(&[])
            }),
            (560, 42, &|body| _ = body.u32(0).u32(3)),
            (660, 43, &none),
            (670, 41, &none),
            (680, 32, &|body| _ = body.u32(3)),
            (700, 42, &|body| _ = body.u32(0).u32(1)),
            (710, 40, &|body| {
                _ = body.u32(4).addr(0x3000).u32(0).deps(&[])
            }),
            (720, 41, &none),
            (730, 32, &|body| _ = body.u32(3)),
            (740, 42, &|body| _ = body.u32(0).u32(4)),
            (800, 43, &none),
            (810, 33, &|body| _ = body.u32(3)),
            (900, 43, &none),
            (1100, 33, &|body| _ = body.u32(3)),
            (1200, 8, &|body| _ = body.u32(7).u64(1)),
            (1205, 7, &|body| _ = body.text("phase").addr(0x7000)),
            (1210, 9, &|body| _ = body.addr(0x7000)),
            (1310, 10, &none),
            (1400, 19, &none),
            (1500, 17, &|body| _ = body.u32(1)),
            (2000, 2, &none),
        ],
    );
}

fn second_thread(dir: &Path, layout: Layout) {
    write(
        dir,
        layout,
        1,
        &[
            (105, 1, &|body| _ = body.u32(4001).u32(0)),
            (115, 18, &|body| _ = body.u32(0).u32(1).u32(1).u32(2)),
            (120, 20, &|body| {
                _ = body.u32(2).i64(0).i64(100).i64(1).i64(10)
            }),
            (125, 23, &|body| _ = body.i64(10).i64(20)),
            (300, 25, &none),
            (305, 26, &|body| _ = body.u32(0)),
            (305, 32, &|body| _ = body.u32(2)),
            (400, 33, &|body| _ = body.u32(2)),
            (500, 22, &|body| _ = body.u32(0)),
            (600, 19, &none),
            (950, 42, &|body| _ = body.u32(0).u32(2)),
            (1050, 43, &none),
            (1900, 2, &none),
        ],
    );
}

impl Fixture {
    /// The trace above as a machine of `layout` writes it.
    pub(crate) fn new(layout: Layout) -> Self {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        first_thread(dir.path(), layout);
        second_thread(dir.path(), layout);
        Self {
            dir,
            out: tempfile::tempdir().unwrap(),
        }
    }

    /// Opened.
    pub(crate) fn open(&self) -> Trace {
        Trace::open(self.dir.path()).unwrap()
    }

    /// Its directory as an argument.
    pub(crate) fn path(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }
}
