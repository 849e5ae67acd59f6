//! The columns of numbers in the page: what they are, and how they are stored.
//!
//! A table is a list of columns with as many rows each. All tables lie in one block of bytes, little-endian, each column at a multiple of
//! eight; a directory says where. `report/src/schema.ts`, which reads them, is generated from the tables.

use serde::Serialize;

/// How the values of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "lowercase"))]
pub(super) enum Kind {
    /// One byte.
    U8,
    /// Two bytes.
    U16,
    /// Four bytes.
    U32,
    /// Eight bytes: IEEE 754.
    F64,
    /// Seven bits a byte, the lowest first, the eighth bit set in all bytes but the last (LEB128).
    Varint,
}

/// A column.
#[derive(Debug)]
#[cfg_attr(not(test), allow(dead_code, reason = "comments of the generated file"))]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What its values are, for the generated file.
    pub(super) what: &'static str,
}

/// A table.
#[derive(Debug)]
#[cfg_attr(not(test), allow(dead_code, reason = "comments of the generated file"))]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) columns: &'static [Column],
}

const fn column(name: &'static str, kind: Kind, what: &'static str) -> Column {
    Column { name, kind, what }
}

/// One level of the time line.
pub(super) const BINS: Table = Table {
    name: "bins",
    what: "A level of the time line: the bins of the first track, then those of the second, and so on.",
    columns: &[
        column("useful", Kind::U32, "User code, in units of the level."),
        column("sync", Kind::U32, "Synchronization, in units of the level."),
        column("sched", Kind::U32, "Scheduling, in units of the level."),
        column("idle", Kind::U32, "Idle, in units of the level."),
        column("flush", Kind::U32, "Flush, in units of the level."),
        column(
            "code",
            Kind::U16,
            "The code that ran for most of the bin: a number of `codes`; 0: none.",
        ),
    ],
};

/// Times in one state.
pub(super) const SPANS: Table = Table {
    name: "spans",
    what: "Times in which a thread was in one state and in one body: those of the first track in order, then those of the second, and so on.",
    columns: &[
        column(
            "gap",
            Kind::Varint,
            "From the end of the span before on the same track, or from 0, to the begin, ns.",
        ),
        column("length", Kind::Varint, "From the begin to the end, ns."),
        column("state", Kind::U8, "A number of `states`."),
        column("wait", Kind::U8, "A number of `waits`; 0: none."),
        column("code", Kind::U16, "A number of `codes`; 0: none."),
    ],
};

/// A lane below the time line.
pub(super) const LANE: Table = Table {
    name: "lane",
    what: "The values of one lane in intervals of equal length.",
    columns: &[
        column(
            "least",
            Kind::F64,
            "The smallest value; NaN: none is known yet.",
        ),
        column(
            "most",
            Kind::F64,
            "The largest value; NaN: none is known yet.",
        ),
    ],
};

/// Every value of a lane.
pub(super) const POINTS: Table = Table {
    name: "points",
    what: "Every value of one lane, in order of time.",
    columns: &[
        column("gap", Kind::Varint, "From the value before, or from 0, ns."),
        column("value", Kind::F64, "The value."),
    ],
};

/// Tasks of one region.
pub(super) const TASKS: Table = Table {
    name: "tasks",
    what: "The explicit tasks of a region, in the order of their creation. Where 0 says that the trace does not have it, other numbers are one too high.",
    columns: &[
        column(
            "thread",
            Kind::Varint,
            "The creating thread's number: the task is `thread.seq`.",
        ),
        column("seq", Kind::Varint, "Number of the task there."),
        column("code", Kind::U16, "A number of `codes`; 0: none."),
        column(
            "kind",
            Kind::U8,
            "0: task, 1: of a taskloop, 2: taskwait with dependences, 3: target.",
        ),
        column(
            "flags",
            Kind::U8,
            "1: on the critical path, 2: undeferred, 4: cancelled; sums of these.",
        ),
        column(
            "track",
            Kind::Varint,
            "Track of the thread that began it; 0: none.",
        ),
        column(
            "creator",
            Kind::Varint,
            "Track of the thread that created it; 0: none.",
        ),
        column(
            "parent",
            Kind::Varint,
            "Row of the task that created it; 0: none.",
        ),
        column(
            "created",
            Kind::Varint,
            "Entry of the construct, ns; 0: unknown.",
        ),
        column(
            "ready",
            Kind::Varint,
            "When its last predecessor was complete, or it was created, ns; 0: unknown.",
        ),
        column("begin", Kind::Varint, "Begin of the body, ns; 0: unknown."),
        column("end", Kind::Varint, "End of the body, ns; 0: unknown."),
        column(
            "complete",
            Kind::Varint,
            "When its successors might begin, ns; 0: unknown.",
        ),
        column("work", Kind::Varint, "User code, ns."),
        column(
            "level",
            Kind::Varint,
            "Tasks on the longest path that ends just before it; 0: it never began.",
        ),
        column(
            "slack",
            Kind::Varint,
            "How much longer it could take without making the span longer, ns; 0: unknown.",
        ),
    ],
};

/// Dependences of one region.
pub(super) const EDGES: Table = Table {
    name: "edges",
    what: "Dependences between rows of a region's tasks, by the later one.",
    columns: &[
        column("from", Kind::U32, "The earlier task."),
        column("to", Kind::U32, "The task that waits for it."),
    ],
};

/// Tasks of one region by function and level.
pub(super) const CELLS: Table = Table {
    name: "cells",
    what: "Tasks of a region by function and band of levels.",
    columns: &[
        column("code", Kind::U16, "A number of `codes`."),
        column(
            "band",
            Kind::U8,
            "The band: levels from `band · band_levels` on.",
        ),
        column("tasks", Kind::Varint, "How many."),
    ],
};

/// All tables.
#[cfg(test)]
pub(super) const TABLES: [&Table; 7] = [&BINS, &SPANS, &LANE, &POINTS, &TASKS, &EDGES, &CELLS];

/// Where a column is.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct StoredColumn {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// First byte.
    pub(super) at: usize,
    /// Bytes.
    pub(super) bytes: usize,
}

/// Where a table is.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct Stored {
    /// Which table it is.
    pub(super) table: &'static str,
    pub(super) rows: usize,
    pub(super) columns: Vec<StoredColumn>,
}

/// Tables one after the other.
#[derive(Debug, Default)]
pub(super) struct Block {
    bytes: Vec<u8>,
}

/// Columns of one table that are being written.
pub(super) struct Rows<'b> {
    block: &'b mut Block,
    table: &'static Table,
    stored: Stored,
}

impl Block {
    /// Begins a table of so many rows. Its columns follow in their order.
    pub(super) fn table(&mut self, table: &'static Table, rows: usize) -> Rows<'_> {
        let stored = Stored {
            table: table.name,
            rows,
            columns: Vec::new(),
        };
        Rows {
            block: self,
            table,
            stored,
        }
    }

    /// All bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Rows<'_> {
    /// Writes the next column, which must be of this kind, by `write`.
    fn next(mut self, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let column = &self.table.columns[self.stored.columns.len()];
        assert_eq!(column.kind, kind, "{}.{}", self.table.name, column.name);
        let bytes = &mut self.block.bytes;
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        let at = bytes.len();
        write(bytes);
        self.stored.columns.push(StoredColumn {
            name: column.name,
            kind,
            at,
            bytes: bytes.len() - at,
        });
        self
    }

    pub(super) fn u8(self, values: impl Iterator<Item = u8>) -> Self {
        self.next(Kind::U8, |bytes| bytes.extend(values))
    }

    pub(super) fn u16(self, values: impl Iterator<Item = u16>) -> Self {
        self.next(Kind::U16, |bytes| {
            bytes.extend(values.flat_map(u16::to_le_bytes));
        })
    }

    pub(super) fn u32(self, values: impl Iterator<Item = u32>) -> Self {
        self.next(Kind::U32, |bytes| {
            bytes.extend(values.flat_map(u32::to_le_bytes));
        })
    }

    pub(super) fn f64(self, values: impl Iterator<Item = f64>) -> Self {
        self.next(Kind::F64, |bytes| {
            bytes.extend(values.flat_map(f64::to_le_bytes));
        })
    }

    pub(super) fn varint(self, values: impl Iterator<Item = u64>) -> Self {
        self.next(Kind::Varint, |bytes| {
            values.for_each(|value| varint(value, bytes));
        })
    }

    /// Where the table is.
    pub(super) fn finish(self) -> Stored {
        assert_eq!(self.stored.columns.len(), self.table.columns.len());
        self.stored
    }
}

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_lie_one_behind_the_other_at_multiples_of_eight() {
        let mut block = Block::default();
        let _ = block
            .table(&LANE, 1)
            .f64([1.0].into_iter())
            .f64([2.0].into_iter());
        let spans = block
            .table(&SPANS, 3)
            .varint([0, 127, 128].into_iter())
            .varint([u64::MAX, 300, 1].into_iter())
            .u8([1, 2, 3].into_iter())
            .u8([0, 0, 9].into_iter())
            .u16([1, 0x203, 3].into_iter())
            .finish();
        let bytes = |at: usize| {
            let column = &spans.columns[at];
            &block.bytes()[column.at..column.at + column.bytes]
        };
        assert_eq!(bytes(0), [0, 127, 0x80, 1]);
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(bytes(1), [&most[..], &[0xac, 2, 1]].concat());
        assert_eq!(bytes(2), [1, 2, 3]);
        assert_eq!(bytes(4), [1, 0, 3, 2, 3, 0]);
        assert!(spans.columns.iter().all(|column| column.at % 8 == 0));
    }

    #[test]
    #[should_panic(expected = "spans.gap")]
    fn a_column_of_another_kind_is_a_mistake() {
        let _ = Block::default().table(&SPANS, 0).u8([].into_iter());
    }
}
