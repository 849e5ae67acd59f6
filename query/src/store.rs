//! Columns in memory: those that statements used so far, and no others.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use arrow_array::{Array, BooleanArray};
use hashbrown::HashMap;
use instr_tables::{Batch, Data, Kind, Output, TABLES, Table, Texts};

use crate::index::{Index, Key};

/// The values of a column; 0 where one is missing.
#[derive(Debug)]
pub(crate) enum Values {
    Int(Vec<i64>),
    Small(Vec<i32>),
    Real(Vec<f64>),
    Flag(Vec<bool>),
    /// Numbers of texts.
    Text(Vec<i32>),
}

/// A column.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) values: Values,
    /// A bit for each row that has a value; empty where all have.
    present: Vec<u64>,
    rows: usize,
}

impl Column {
    fn new(kind: Kind) -> Self {
        let values = match kind {
            Kind::Int => Values::Int(Vec::new()),
            Kind::Small => Values::Small(Vec::new()),
            Kind::Real => Values::Real(Vec::new()),
            Kind::Flag => Values::Flag(Vec::new()),
            Kind::Text => Values::Text(Vec::new()),
        };
        Self {
            values,
            present: Vec::new(),
            rows: 0,
        }
    }

    /// Whether the row has a value.
    #[inline]
    pub(crate) fn has(&self, row: usize) -> bool {
        self.present.is_empty() || self.present[row >> 6] >> (row & 63) & 1 != 0
    }

    /// The value as a whole number; of a text its number. Not of reals.
    #[inline]
    pub(crate) fn int(&self, row: usize) -> Option<i64> {
        if !self.has(row) {
            return None;
        }
        match &self.values {
            Values::Int(values) => Some(values[row]),
            Values::Small(values) | Values::Text(values) => Some(values[row].into()),
            Values::Flag(values) => Some(values[row].into()),
            Values::Real(_) => None,
        }
    }

    fn add(&mut self, data: &Data) {
        let rows = self.rows;
        match (&mut self.values, data) {
            (Values::Int(to), Data::Int(from)) => to.extend_from_slice(from.values()),
            (Values::Small(to), Data::Small(from)) | (Values::Text(to), Data::Text(from)) => {
                to.extend_from_slice(from.values());
            }
            (Values::Real(to), Data::Real(from)) => to.extend_from_slice(from.values()),
            (Values::Flag(to), Data::Flag(from)) => to.extend(bits(from)),
            // A column has one kind.
            _ => return,
        }
        let nulls = match data {
            Data::Int(values) => values.nulls(),
            Data::Small(values) | Data::Text(values) => values.nulls(),
            Data::Real(values) => values.nulls(),
            Data::Flag(values) => values.nulls(),
        };
        let count = match data {
            Data::Int(values) => values.len(),
            Data::Small(values) | Data::Text(values) => values.len(),
            Data::Real(values) => values.len(),
            Data::Flag(values) => values.len(),
        };
        self.rows = rows + count;
        if nulls.is_none() && self.present.is_empty() {
            return;
        }
        if self.present.is_empty() {
            self.present = vec![u64::MAX; rows / 64];
            if !rows.is_multiple_of(64) {
                self.present.push((1 << (rows % 64)) - 1);
            }
        }
        self.present.resize(self.rows.div_ceil(64), 0);
        for at in 0..count {
            if nulls.is_none_or(|nulls| nulls.is_valid(at)) {
                let row = rows + at;
                self.present[row >> 6] |= 1 << (row & 63);
            }
        }
    }

    fn bytes(&self) -> usize {
        let values = match &self.values {
            Values::Int(values) => values.capacity() * 8,
            Values::Small(values) | Values::Text(values) => values.capacity() * 4,
            Values::Real(values) => values.capacity() * 8,
            Values::Flag(values) => values.capacity(),
        };
        values + self.present.capacity() * 8
    }
}

fn bits(from: &BooleanArray) -> impl Iterator<Item = bool> {
    from.values().iter()
}

/// Bytes of a row in these columns.
fn row_bytes(table: &Table, wanted: u64) -> u64 {
    let columns = table.columns.iter().enumerate();
    let wanted = columns.filter(|(at, _)| wanted >> at & 1 != 0);
    let bytes = wanted.map(|(_, column)| match column.kind {
        Kind::Int | Kind::Real => 8,
        Kind::Small | Kind::Text => 4,
        Kind::Flag => 1,
    });
    bytes.sum()
}

/// What is known of a table.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Rows, once any column is there.
    pub(crate) rows: Option<usize>,
    pub(crate) columns: Vec<Option<Column>>,
    pub(crate) indexes: HashMap<Vec<Key>, Rc<Index>>,
    /// By column: about how many different values it has.
    distinct: HashMap<usize, f64>,
}

/// Rows that are looked at to guess how many different values a column has.
const LOOKED_AT: usize = 2048;

impl Loaded {
    fn new(table: &Table) -> Self {
        Self {
            rows: None,
            columns: table.columns.iter().map(|_| None).collect(),
            indexes: HashMap::new(),
            distinct: HashMap::new(),
        }
    }

    /// Bytes of its columns and indexes.
    pub(crate) fn bytes(&self) -> usize {
        let columns = self.columns.iter().flatten().map(Column::bytes);
        let indexes = self.indexes.values().map(|index| index.bytes());
        columns.sum::<usize>() + indexes.sum::<usize>()
    }

    /// About how many different values the column has.
    pub(crate) fn distinct(&mut self, at: usize) -> f64 {
        let rows = self.rows.unwrap_or(0);
        let Some(column) = self.columns.get(at).and_then(Option::as_ref) else {
            return 10.0;
        };
        *self.distinct.entry(at).or_insert_with(|| {
            let step = (rows / LOOKED_AT).max(1);
            let mut seen: Vec<_> = (0..rows).step_by(step).map(|row| column.int(row)).collect();
            let looked = seen.len().max(1);
            seen.sort_unstable();
            seen.dedup();
            match seen.len() * 2 > looked {
                true => seen.len() as f64 / looked as f64 * rows as f64,
                false => seen.len() as f64,
            }
            .max(1.0)
        })
    }
}

/// All that was read so far.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) tables: Vec<RefCell<Loaded>>,
    /// Columns that the statement which is being prepared may use, by table.
    pub(crate) used: Vec<Cell<u64>>,
    pub(crate) texts: RefCell<Texts>,
    /// The place of each text among all in their order; of all or fewer.
    ranks: RefCell<Rc<Vec<u32>>>,
    /// Bytes that columns and indexes may take together.
    pub(crate) limit: u64,
    /// Why an index was not made: bytes that would be needed.
    pub(crate) too_much: Cell<Option<u64>>,
}

impl Store {
    pub(crate) fn new(limit: u64) -> Self {
        let tables = TABLES.iter().copied();
        Self {
            tables: tables
                .map(|table| RefCell::new(Loaded::new(table)))
                .collect(),
            used: TABLES.iter().map(|_| Cell::new(0)).collect(),
            texts: RefCell::default(),
            ranks: RefCell::default(),
            limit,
            too_much: Cell::new(None),
        }
    }

    /// Bytes of all columns and indexes.
    pub(crate) fn bytes(&self) -> u64 {
        let tables: usize = self
            .tables
            .iter()
            .map(|loaded| loaded.borrow().bytes())
            .sum();
        (tables + self.texts.borrow().bytes()) as u64
    }

    /// The order of texts by number.
    pub(crate) fn ranks(&self) -> Rc<Vec<u32>> {
        let texts = self.texts.borrow();
        let mut ranks = self.ranks.borrow_mut();
        if ranks.len() != texts.len() {
            let mut order: Vec<i32> = (0..texts.len() as i32).collect();
            order.sort_unstable_by(|a, b| texts.get(*a).cmp(texts.get(*b)));
            let mut found = vec![0; order.len()];
            for (rank, number) in (0..).zip(&order) {
                found[*number as usize] = rank;
            }
            *ranks = Rc::new(found);
        }
        ranks.clone()
    }

    /// Columns that were asked for and are not there, by table.
    pub(crate) fn missing(&self) -> Vec<u64> {
        let missing = |(loaded, used): (&RefCell<Loaded>, &Cell<u64>)| {
            let loaded = loaded.borrow();
            let columns = loaded.columns.iter().enumerate();
            let there = columns.filter(|(_, column)| column.is_some());
            let there = there.fold(0, |all, (at, _)| all | 1 << at);
            // Whoever counts rows needs a column: the first one is in every table.
            let used = match (used.get(), loaded.rows) {
                (NOTHING, None) => 1,
                (NOTHING, Some(_)) => 0,
                (used, _) => used & !NOTHING,
            };
            used & !there
        };
        self.tables.iter().zip(&self.used).map(missing).collect()
    }
}

/// The bit that says that a table is used, though perhaps none of its columns.
pub(crate) const NOTHING: u64 = 1 << 63;

/// Takes the columns that are missing.
pub(crate) struct Loader {
    wanted: Vec<u64>,
    columns: Vec<Vec<Option<Column>>>,
    rows: Vec<usize>,
    /// Bytes that are left.
    left: u64,
    /// Rows are only counted: there are too many.
    pub(crate) needed: u64,
    too_many: bool,
    damaged: u64,
}

impl Loader {
    pub(crate) fn new(wanted: Vec<u64>, left: u64) -> Self {
        let columns = |(table, wanted): (&&Table, &u64)| {
            let columns = table.columns.iter().enumerate();
            let column = |(at, column): (usize, &instr_tables::Column)| {
                (wanted >> at & 1 != 0).then(|| Column::new(column.kind))
            };
            columns.map(column).collect()
        };
        Self {
            columns: TABLES.iter().zip(&wanted).map(columns).collect(),
            rows: vec![0; wanted.len()],
            wanted,
            left,
            needed: 0,
            too_many: false,
            damaged: 0,
        }
    }

    /// Streams of the kernel's part that are damaged.
    pub(crate) fn damaged(&self) -> u64 {
        self.damaged
    }

    /// Bytes that are needed, if they are too many.
    pub(crate) fn too_much(&self) -> Option<u64> {
        self.too_many.then_some(self.needed)
    }

    /// Puts all columns where statements find them.
    pub(crate) fn store(self, store: &Store) {
        let all = self.columns.into_iter().zip(self.rows).zip(self.wanted);
        for (((columns, rows), wanted), loaded) in all.zip(&store.tables) {
            if wanted == 0 {
                continue;
            }
            let mut loaded = loaded.borrow_mut();
            loaded.rows = Some(rows);
            for (to, from) in loaded.columns.iter_mut().zip(columns) {
                if from.is_some() {
                    *to = from;
                }
            }
        }
    }

    fn number(table: &Table) -> Option<usize> {
        TABLES.iter().position(|known| std::ptr::eq(*known, table))
    }
}

impl Output for Loader {
    fn damaged(&mut self, streams: u64) {
        self.damaged += streams;
    }

    fn wants(&self, table: &Table) -> u64 {
        Self::number(table).map_or(0, |at| self.wanted[at])
    }

    fn batch(&mut self, batch: Batch, _texts: &mut Texts) -> io::Result<()> {
        let Some(at) = Self::number(batch.table) else {
            return Ok(());
        };
        self.rows[at] += batch.rows;
        let bytes = row_bytes(batch.table, self.wanted[at]) * batch.rows as u64;
        self.needed = self.needed.saturating_add(bytes);
        if self.needed > self.left && !self.too_many {
            self.too_many = true;
            self.columns
                .iter_mut()
                .flatten()
                .for_each(|column| *column = None);
        }
        if !self.too_many {
            for (to, from) in self.columns[at].iter_mut().zip(&batch.columns) {
                if let (Some(to), Some(from)) = (to, from) {
                    to.add(from);
                }
            }
        }
        Ok(())
    }
}
