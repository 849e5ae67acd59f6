//! What is wrong with a statement, where, and what was meant.

use instr_tables::TABLES;
use rusqlite::{Error as Sqlite, ErrorCode, ffi};

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueryError {
    /// The statement is wrong.
    #[error("{message}")]
    Statement {
        /// What is wrong.
        message: String,
        /// Where, in bytes from the begin of the statement, if that is known.
        offset: Option<usize>,
        /// What may have been meant.
        help: Option<String>,
    },
    /// The statement would do more than read.
    #[error("a query only reads: {what} is not allowed")]
    Refused {
        /// What it would do.
        what: String,
    },
    /// Columns that a statement uses would take too much memory.
    #[error("the columns that this statement uses take {} MiB of memory, more than the {} MiB that a query may take", needed >> 20, limit >> 20)]
    Memory {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that may be used.
        limit: u64,
    },
    /// What the statement itself keeps, such as what is to be sorted, takes too much memory.
    #[error("sorting, or an intermediate result, takes more than the {} MiB of memory that a query may take", limit >> 20)]
    Intermediate {
        /// Bytes that may be used.
        limit: u64,
    },
    /// It was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// It took too long.
    #[error("the query took longer than {0} s")]
    TooLong(u64),
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] instr_trace::Error),
    /// The output refuses rows.
    #[error(transparent)]
    Output(#[from] std::io::Error),
}

impl QueryError {
    /// From SQLite's. `sql` is the statement.
    pub(crate) fn of(error: Sqlite, sql: &str, limit: u64) -> Self {
        let (code, message, offset) = match error {
            Sqlite::SqlInputError {
                error, msg, offset, ..
            } => (error, msg, usize::try_from(offset).ok()),
            Sqlite::SqliteFailure(error, message) => {
                let message = message.unwrap_or_else(|| error.to_string());
                (error, message, None)
            }
            Sqlite::MultipleStatement => {
                return Self::Statement {
                    message: "there is more than one statement: one at a time".to_owned(),
                    offset: None,
                    help: None,
                };
            }
            other => {
                return Self::Statement {
                    message: other.to_string(),
                    offset: None,
                    help: None,
                };
            }
        };
        match code.code {
            ErrorCode::OperationInterrupted => Self::Interrupted,
            ErrorCode::OutOfMemory => Self::Intermediate { limit },
            _ if code.extended_code == ffi::SQLITE_NOMEM => Self::Intermediate { limit },
            _ => Self::Statement {
                help: meant(&message, sql),
                message,
                offset,
            },
        }
    }
}

/// What a name that SQLite does not know may have meant.
fn meant(message: &str, sql: &str) -> Option<String> {
    let tables = || TABLES.iter().map(|table| table.name);
    if let Some(name) = message.strip_prefix("no such table: ") {
        return Some(match nearest(name, tables()) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("the tables are {}", tables().collect::<Vec<_>>().join(", ")),
        });
    }
    let name = message.strip_prefix("no such column: ")?;
    let name = name.rsplit('.').next().unwrap_or(name);
    let name = name.split(" - ").next().unwrap_or(name).trim_matches('"');
    let lower = sql.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let used = || TABLES.iter().filter(|table| words.contains(&table.name));
    let columns = used()
        .flat_map(|table| table.columns)
        .map(|column| column.name);
    if let Some(near) = nearest(name, columns) {
        return Some(format!("did you mean {near}?"));
    }
    if message.contains("should this be a string literal in single-quotes") {
        return Some(format!("texts stand in single quotes: '{name}'"));
    }
    let lists = used().map(|table| {
        let columns: Vec<_> = table.columns.iter().map(|column| column.name).collect();
        format!("{} has {}", table.name, columns.join(", "))
    });
    let lists: Vec<_> = lists.collect();
    (!lists.is_empty()).then(|| lists.join("; "))
}

/// The name that is most like this one, if any is.
fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_lowercase();
    let alike = |known: &'n str| (strsim::jaro_winkler(&name, known), known);
    let best = names.map(alike).max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.82).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_nearly_right_are_put_right() {
        assert_eq!(
            meant("no such table: span", "").as_deref(),
            Some("did you mean spans?")
        );
        let columns = |message| meant(message, "SELECT x FROM tasks");
        assert_eq!(
            columns("no such column: duration").as_deref(),
            Some("did you mean duration_ns?")
        );
        assert_eq!(
            columns("no such column: tasks.funtion").as_deref(),
            Some("did you mean function?")
        );
        assert!(
            columns("no such column: qqqq")
                .is_some_and(|help| help.starts_with("tasks has process, task, "))
        );
        assert!(meant("no such table: qqqq", "").is_some_and(|help| help.contains("threads, ")));
        assert_eq!(meant("near \"SELEC\": syntax error", "SELEC 1"), None);
    }
}
