//! What a table is, and the macro that makes one definition into everything else: the list of columns that schemas, headers and the document come
//! from, a row as code fills it in, and the vectors that rows are gathered in.

use arrow_array::builder::BooleanBuilder;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};

use crate::batch::Data;
use crate::column::Numbers;
use crate::texts::Text;

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of 64 bits.
    Int,
    /// A whole number of 32 bits.
    Small,
    /// A number of double precision.
    Real,
    /// True or false.
    Flag,
    /// A text, of which there are few different ones.
    Text,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Their unit; empty for what has none.
    pub unit: &'static str,
    /// Whether a row may have no value.
    pub nullable: bool,
    /// What a value means, in a sentence.
    pub about: &'static str,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What a row is.
    pub about: &'static str,
    /// Its columns, at most 63. The first of every table is `process`.
    pub columns: &'static [Column],
}

impl Table {
    /// The place of a column.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// All columns, as [`Output::wants`](crate::Output::wants) gives them.
    #[must_use]
    pub fn all(&self) -> u64 {
        (1 << self.columns.len()) - 1
    }
}

/// A Rust type of which a column can be.
pub(crate) trait Cell {
    /// What gathers the values.
    type Builder;
    /// The kind of the column.
    const KIND: Kind;
    /// Whether a value can be missing.
    const NULLABLE: bool;
    /// An empty builder.
    fn builder() -> Self::Builder;
    /// Appends a value.
    fn push(self, to: &mut Self::Builder);
    /// Takes the values out.
    fn take(from: &mut Self::Builder) -> Data;
}

macro_rules! numbers {
    ($($type:ty, $kind:ident, $primitive:ident, $value:expr;)+) => {$(
        impl Cell for $type {
            type Builder = Numbers<$primitive>;
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = false;

            fn builder() -> Self::Builder {
                Numbers::new()
            }

            #[inline]
            fn push(self, to: &mut Self::Builder) {
                let value: fn($type) -> _ = $value;
                to.append(value(self));
            }

            fn take(from: &mut Self::Builder) -> Data {
                Data::$kind(from.take())
            }
        }

        impl Cell for Option<$type> {
            type Builder = Numbers<$primitive>;
            const KIND: Kind = Kind::$kind;
            const NULLABLE: bool = true;

            fn builder() -> Self::Builder {
                Numbers::new()
            }

            #[inline]
            fn push(self, to: &mut Self::Builder) {
                let value: fn($type) -> _ = $value;
                to.append_option(self.map(value));
            }

            fn take(from: &mut Self::Builder) -> Data {
                Data::$kind(from.take())
            }
        }
    )+};
}

numbers! {
    i64, Int, Int64Type, |value| value;
    i32, Small, Int32Type, |value| value;
    f64, Real, Float64Type, |value| value;
    Text, Text, Int32Type, |value| value.0;
}

impl Cell for bool {
    type Builder = BooleanBuilder;
    const KIND: Kind = Kind::Flag;
    const NULLABLE: bool = false;

    fn builder() -> BooleanBuilder {
        BooleanBuilder::with_capacity(0)
    }

    #[inline]
    fn push(self, to: &mut BooleanBuilder) {
        to.append_value(self);
    }

    fn take(from: &mut BooleanBuilder) -> Data {
        Data::Flag(from.finish())
    }
}

/// Rows of one table, gathered by column.
pub(crate) trait Gather {
    /// The table.
    const TABLE: &'static Table;
    /// A row of it.
    type Row;
    /// For these columns: a bit for each, the first column's is the lowest.
    fn new(wanted: u64) -> Self;
    /// Which columns are gathered.
    fn wanted(&self) -> u64;
    /// Rows so far.
    fn rows(&self) -> usize;
    /// Appends a row.
    fn push(&mut self, row: Self::Row);
    /// Takes all rows out: of each column its values, if they are wanted.
    fn take(&mut self) -> Vec<Option<Data>>;
}

macro_rules! tables {
    ($(
        $(#[doc = $about:literal])+
        $table:ident {
            $( $(#[doc = $text:literal])+ $column:ident: $type:ty $(, $unit:literal)?; )+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            pub(crate) mod $table {
                #[allow(unused_imports, reason = "not every table has texts")]
                use crate::texts::Text;
                use crate::batch::Data;
                use crate::define::{Cell, Column, Gather, Table};

                $(#[doc = $about])+
                pub(crate) struct Row {
                    $( $(#[doc = $text])+ pub(crate) $column: $type, )+
                }

                /// Rows of it.
                pub(crate) struct Rows {
                    wanted: u64,
                    rows: usize,
                    $( $column: <$type as Cell>::Builder, )+
                }

                /// Its definition.
                pub(crate) static TABLE: Table = Table {
                    name: stringify!($table),
                    about: concat!($($about),+).trim_ascii(),
                    columns: &[$(
                        Column {
                            name: stringify!($column),
                            kind: <$type as Cell>::KIND,
                            unit: concat!($($unit)?),
                            nullable: <$type as Cell>::NULLABLE,
                            about: concat!($($text),+).trim_ascii(),
                        },
                    )+],
                };

                impl Gather for Rows {
                    const TABLE: &'static Table = &TABLE;
                    type Row = Row;

                    fn new(wanted: u64) -> Self {
                        Self {
                            wanted,
                            rows: 0,
                            $( $column: <$type as Cell>::builder(), )+
                        }
                    }

                    fn wanted(&self) -> u64 {
                        self.wanted
                    }

                    fn rows(&self) -> usize {
                        self.rows
                    }

                    #[inline]
                    fn push(&mut self, row: Row) {
                        let mut left = self.wanted;
                        $(
                            if left & 1 != 0 {
                                row.$column.push(&mut self.$column);
                            }
                            left >>= 1;
                        )+
                        let _ = left;
                        self.rows += 1;
                    }

                    fn take(&mut self) -> Vec<Option<Data>> {
                        let mut left = self.wanted;
                        let mut taken = Vec::with_capacity(TABLE.columns.len());
                        $(
                            taken.push((left & 1 != 0).then(|| <$type as Cell>::take(&mut self.$column)));
                            left >>= 1;
                        )+
                        let _ = left;
                        self.rows = 0;
                        taken
                    }
                }
            }
        )+

        /// All tables.
        pub static TABLES: &[&crate::define::Table] = &[$(&$table::TABLE),+];

        /// The rows of all tables that are not handed over yet.
        pub(crate) struct All {
            $( pub(crate) $table: $table::Rows, )+
        }

        impl All {
            /// For the columns that `wants` asks for.
            pub(crate) fn new(wants: impl Fn(&'static crate::define::Table) -> u64) -> Self {
                Self { $( $table: crate::define::Gather::new(wants(&$table::TABLE)), )+ }
            }

            /// Gives `each` the rows of every table, in the order of the tables.
            pub(crate) fn take_all(&mut self, mut each: impl FnMut(&'static crate::define::Table, usize, Vec<Option<crate::batch::Data>>)) {
                use crate::define::Gather as _;
                $(
                    let rows = self.$table.rows();
                    if rows > 0 {
                        each(&$table::TABLE, rows, self.$table.take());
                    }
                )+
            }
        }

        $(
            impl crate::batch::Of for $table::Row {
                type Rows = $table::Rows;

                #[inline]
                fn of(all: &mut All) -> &mut $table::Rows {
                    &mut all.$table
                }
            }
        )+
    };
}

pub(crate) use tables;
