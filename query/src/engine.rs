//! A session that is asked: one statement after another.
//!
//! A statement is prepared, which tells the columns that it may use; those that are not in memory yet are read by one replay; then it is prepared once more, so that
//! SQLite's planner has the true sizes, and run.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use instr_tables::{TABLES, Texts};
use instr_trace::{Names, Session};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Statement};

use crate::error::QueryError;
use crate::guard::{self, Refused, Watch};
use crate::patterns;
use crate::store::{Loader, Store};
use crate::virtual_table;

/// Instructions of SQLite between two looks at the time.
const STEPS: i32 = 100_000;

/// What a statement may take.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of memory for columns and their orders; SQLite may take as much for what it sorts.
    pub memory: u64,
    /// Time, not counting that of reading the trace.
    pub time: Option<Duration>,
    /// Ends a statement that runs, once it is set.
    pub interrupted: Arc<AtomicBool>,
}

/// A value of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'v> {
    /// None.
    Null,
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(&'v str),
    /// Bytes.
    Bytes(&'v [u8]),
}

/// Takes the answer of a statement.
pub trait Receive {
    /// The names of the columns.
    ///
    /// # Errors
    ///
    /// What the output cannot do.
    fn header(&mut self, columns: &[&str]) -> io::Result<()>;
    /// A row.
    ///
    /// # Errors
    ///
    /// What the output cannot do.
    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()>;
}

/// A session that is asked.
pub struct Engine<'s> {
    connection: Connection,
    store: Rc<Store>,
    session: &'s Session,
    names: &'s [Box<dyn Names + 's>],
    limits: Limits,
    watch: Arc<Watch>,
    refused: Refused,
    damaged: Cell<u64>,
}

impl<'s> Engine<'s> {
    /// For the processes of `session`; `names` are the symbols of each.
    ///
    /// # Errors
    ///
    /// SQLite cannot be set up.
    pub fn new(
        session: &'s Session,
        names: &'s [Box<dyn Names + 's>],
        limits: Limits,
    ) -> Result<Self, QueryError> {
        let memory = limits.memory;
        let wrong = |error| QueryError::of(error, "", memory);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_in_memory_with_flags(flags).map_err(wrong)?;
        let store = Rc::new(Store::new(limits.memory));
        virtual_table::register(&connection, &store).map_err(wrong)?;
        let watch = Arc::new(Watch::of(limits.interrupted.clone()));
        patterns::register(&connection, &watch).map_err(wrong)?;
        let refused = guard::close(&connection, limits.memory).map_err(wrong)?;
        Ok(Self {
            connection,
            store,
            session,
            names,
            limits,
            watch,
            refused,
            damaged: Cell::new(0),
        })
    }

    /// Runs a statement. `progress` is called now and then with (done, total) while the trace is read.
    ///
    /// # Errors
    ///
    /// See [`QueryError`].
    pub fn run(
        &self,
        sql: &str,
        progress: &mut dyn FnMut(u64, u64),
        to: &mut dyn Receive,
    ) -> Result<(), QueryError> {
        self.store.used.iter().for_each(|used| used.set(0));
        drop(self.prepare(sql)?);
        self.load(progress)?;
        let mut statement = self.prepare(sql)?;
        self.load(progress)?;
        self.watch.begin(self.limits.time);
        let watch = self.watch.clone();
        self.connection
            .progress_handler(STEPS, Some(move || watch.is_over()));
        let given = self.give(&mut statement, sql, to);
        self.connection.progress_handler(0, None::<fn() -> bool>);
        match given {
            Err(QueryError::Interrupted) if self.watch.is_late() => Err(QueryError::TooLong(
                self.limits.time.unwrap_or_default().as_secs(),
            )),
            given => given,
        }
    }

    fn prepare(&self, sql: &str) -> Result<Statement<'_>, QueryError> {
        if let Some(at) = sql.find('\0') {
            // SQLite would take what is before it for all.
            return Err(QueryError::Statement {
                message: "a zero byte is no part of a statement".to_owned(),
                offset: Some(at),
                help: None,
            });
        }
        if let Ok(mut refused) = self.refused.lock() {
            *refused = None;
        }
        let prepared = self.connection.prepare(sql);
        let statement = prepared.map_err(|error| {
            let refused = self
                .refused
                .lock()
                .ok()
                .and_then(|mut refused| refused.take());
            match refused {
                Some(what) => QueryError::Refused { what },
                None => QueryError::of(error, sql, self.limits.memory),
            }
        })?;
        let wrong = |message: &str| {
            Err(QueryError::Statement {
                message: message.to_owned(),
                offset: None,
                help: None,
            })
        };
        if statement.column_count() == 0 {
            // SQLite asks the authorizer about VACUUM only when it runs it.
            return match statement.expanded_sql() {
                Some(text) if !text.is_empty() => Err(QueryError::Refused {
                    what: guard::NO_RESULT.to_owned(),
                }),
                _ => wrong("there is no statement"),
            };
        }
        if statement.parameter_count() > 0 {
            return wrong("a statement has no parameters here");
        }
        Ok(statement)
    }

    /// Reads the columns that statements use and that are not there.
    fn load(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<(), QueryError> {
        let missing = self.store.missing();
        if missing.iter().all(|wanted| *wanted == 0) {
            return Ok(());
        }
        let limit = self.limits.memory;
        let mut loader = Loader::new(missing, limit.saturating_sub(self.store.bytes()));
        let texts: Texts = self.store.texts.take();
        let texts = instr_tables::read(self.session, self.names, texts, &mut loader, progress)?;
        self.store.texts.replace(texts);
        self.damaged.set(self.damaged.get().max(loader.damaged()));
        if let Some(needed) = loader.too_much() {
            let needed = needed.saturating_add(self.store.bytes());
            return Err(QueryError::Memory { needed, limit });
        }
        loader.store(&self.store);
        Ok(())
    }

    fn give(
        &self,
        statement: &mut Statement<'_>,
        sql: &str,
        to: &mut dyn Receive,
    ) -> Result<(), QueryError> {
        let wrong = |error| match self.store.too_much.take() {
            Some(needed) => QueryError::Memory {
                needed,
                limit: self.limits.memory,
            },
            None => QueryError::of(error, sql, self.limits.memory),
        };
        let columns: Vec<String> = statement
            .column_names()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut rows = statement.raw_query();
        let mut is_first = true;
        loop {
            let row = rows.next().map_err(wrong)?;
            if std::mem::take(&mut is_first) {
                to.header(&columns.iter().map(String::as_str).collect::<Vec<_>>())?;
            }
            let Some(row) = row else { break };
            let value = |at| row.get_ref(at).map(value).map_err(wrong);
            let values = (0..columns.len())
                .map(value)
                .collect::<Result<Vec<_>, _>>()?;
            to.row(&values)?;
        }
        Ok(())
    }

    /// Streams of the kernel's part that are damaged or cut, as far as they were read.
    #[must_use]
    pub fn damaged_streams(&self) -> u64 {
        self.damaged.get()
    }

    /// Rows of each table that was read so far.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, Option<usize>)> {
        let tables = TABLES.iter().zip(&self.store.tables);
        tables
            .map(|(table, loaded)| (table.name, loaded.borrow().rows))
            .collect()
    }
}

fn value(value: ValueRef<'_>) -> Value<'_> {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(bytes) => {
            std::str::from_utf8(bytes).map_or(Value::Bytes(bytes), Value::Text)
        }
        ValueRef::Blob(bytes) => Value::Bytes(bytes),
    }
}
