//! Rows on their way from a trace to an output: gathered by column, handed over in batches of bounded size.

use arrow_array::{Array as _, BooleanArray, Float64Array, Int32Array, Int64Array};

use crate::define::{Gather, Table};
use crate::tables::All;
use crate::texts::Texts;

/// Rows of a batch.
pub const ROWS: usize = 1 << 16;

/// The values of a column.
#[derive(Clone, Debug)]
pub enum Data {
    /// Of [`Kind::Int`](crate::Kind::Int).
    Int(Int64Array),
    /// Of [`Kind::Small`](crate::Kind::Small).
    Small(Int32Array),
    /// Of [`Kind::Real`](crate::Kind::Real).
    Real(Float64Array),
    /// Of [`Kind::Flag`](crate::Kind::Flag).
    Flag(BooleanArray),
    /// Of [`Kind::Text`](crate::Kind::Text): numbers of [`Texts`].
    Text(Int32Array),
}

impl Data {
    /// Bytes of memory.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Int(values) => values.get_buffer_memory_size(),
            Self::Small(values) | Self::Text(values) => values.get_buffer_memory_size(),
            Self::Real(values) => values.get_buffer_memory_size(),
            Self::Flag(values) => values.get_buffer_memory_size(),
        }
    }
}

/// Rows of one table and process.
#[derive(Debug)]
pub struct Batch {
    /// The table.
    pub table: &'static Table,
    /// The process that the rows belong to, by its position in the session.
    pub process: usize,
    /// How many.
    pub rows: usize,
    /// The values of each column of the table, if they were asked for.
    pub columns: Vec<Option<Data>>,
}

/// Takes the rows of a session: processes one after the other, each table's rows in their order.
pub trait Output {
    /// Which columns of a table are wanted: a bit for each, the first column's is the lowest; 0: the table is not wanted.
    fn wants(&self, table: &Table) -> u64;

    /// Takes rows: [`ROWS`] of them or fewer; the last ones, which come late, may be more.
    ///
    /// # Errors
    ///
    /// What the output cannot do: nothing more is given then.
    fn batch(&mut self, batch: Batch, texts: &mut Texts) -> std::io::Result<()>;

    /// So many streams of what the kernel recorded are damaged or cut: rows of `switches` are missing.
    fn damaged(&mut self, streams: u64) {
        let _ = streams;
    }

    /// All rows of a process but those of `switches` were given; those come when the other rows of all processes were given.
    ///
    /// # Errors
    ///
    /// What the output cannot do.
    fn process_end(&mut self, process: usize) -> std::io::Result<()> {
        let _ = process;
        Ok(())
    }
}

/// A row of a table.
pub(crate) trait Of {
    /// What gathers them.
    type Rows: Gather<Row = Self>;
    /// That of this table.
    fn of(all: &mut All) -> &mut Self::Rows;
}

/// The rows of all tables that an output has not got yet.
pub(crate) struct Gathered<'o> {
    all: All,
    output: &'o mut dyn Output,
    pub(crate) texts: Texts,
    pub(crate) process: usize,
    /// What the output could not do.
    failed: Option<std::io::Error>,
}

impl<'o> Gathered<'o> {
    pub(crate) fn new(output: &'o mut dyn Output, texts: Texts) -> Self {
        Self {
            all: All::new(|table| output.wants(table)),
            output,
            texts,
            process: 0,
            failed: None,
        }
    }

    /// Whether any column of the table is wanted.
    pub(crate) fn wants<R: Of>(&mut self) -> bool {
        R::of(&mut self.all).wanted() != 0
    }

    /// Whether this column of the table is wanted.
    pub(crate) fn wants_column<R: Of>(&mut self, name: &str) -> bool {
        let wanted = R::of(&mut self.all).wanted();
        let at = <R::Rows as Gather>::TABLE.position(name);
        at.is_some_and(|at| wanted >> at & 1 != 0)
    }

    /// The columns of the table that are wanted.
    pub(crate) fn wanted<R: Of>(&mut self) -> u64 {
        R::of(&mut self.all).wanted()
    }

    /// Hands over rows of a process that come late.
    pub(crate) fn give<R: Gather>(&mut self, process: usize, rows: &mut R) {
        let batch = Batch {
            table: R::TABLE,
            process,
            rows: rows.rows(),
            columns: rows.take(),
        };
        self.hand_over(batch);
        if self.failed.is_none()
            && let Err(error) = self.output.process_end(process)
        {
            self.failed = Some(error);
        }
    }

    /// Appends a row.
    #[inline]
    pub(crate) fn add<R: Of>(&mut self, row: R) {
        let rows = R::of(&mut self.all);
        if rows.wanted() == 0 {
            return;
        }
        rows.push(row);
        if rows.rows() >= ROWS {
            let batch = Batch {
                table: <R::Rows as Gather>::TABLE,
                process: self.process,
                rows: rows.rows(),
                columns: rows.take(),
            };
            self.hand_over(batch);
        }
    }

    fn hand_over(&mut self, batch: Batch) {
        if self.failed.is_none()
            && let Err(error) = self.output.batch(batch, &mut self.texts)
        {
            self.failed = Some(error);
        }
    }

    /// All rows that are left are those of this process.
    fn hand_over_all(&mut self) {
        let process = self.process;
        let mut left = Vec::new();
        self.all.take_all(|table, rows, columns| {
            left.push(Batch {
                table,
                process,
                rows,
                columns,
            });
        });
        left.into_iter().for_each(|batch| self.hand_over(batch));
    }

    /// The process is over.
    pub(crate) fn end_process(&mut self) {
        self.hand_over_all();
        if self.failed.is_none()
            && let Err(error) = self.output.process_end(self.process)
        {
            self.failed = Some(error);
        }
    }

    /// Streams of the kernel's part are damaged.
    pub(crate) fn damaged(&mut self, streams: u64) {
        self.output.damaged(streams);
    }

    /// What the output could not do.
    pub(crate) fn check(&mut self) -> std::io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The texts.
    pub(crate) fn into_texts(self) -> Texts {
        self.texts
    }
}
