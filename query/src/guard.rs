//! What a statement may do: read the tables and calculate. It writes no file, opens none, loads no code and changes no setting; texts, expressions and memory
//! have limits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::{Connection, Result};

/// What was refused last.
pub(crate) type Refused = Arc<Mutex<Option<String>>>;

/// What a statement without columns is, if nothing else of it was refused.
pub(crate) const NO_RESULT: &str = "ATTACH or VACUUM";
/// Functions that reach beyond the statement.
const FORBIDDEN: &[&str] = &["load_extension", "fts3_tokenizer", "sqlite_log"];

/// Whether a statement has to end.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// It is to be ended.
    pub(crate) interrupted: Arc<AtomicBool>,
    /// When its time is over.
    end: Mutex<Option<Instant>>,
}

impl Watch {
    pub(crate) fn of(interrupted: Arc<AtomicBool>) -> Self {
        Self {
            interrupted,
            end: Mutex::default(),
        }
    }

    /// A statement begins, and may take so long.
    pub(crate) fn begin(&self, time: Option<Duration>) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) =
            time.map(|time| Instant::now() + time);
    }

    /// It took longer than it may.
    pub(crate) fn is_late(&self) -> bool {
        let end = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.is_some_and(|end| Instant::now() > end)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed) || self.is_late()
    }
}

/// Limits of SQLite: far above what questions need, far below what would hurt.
const LIMITS: &[(Limit, i32)] = &[
    (Limit::SQLITE_LIMIT_LENGTH, 64 << 20),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_COLUMN, 512),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 100),
    (Limit::SQLITE_LIMIT_VDBE_OP, 1 << 20),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
];

/// Closes the connection to everything but questions. SQLite itself may take `memory` bytes, for sorting and intermediate results.
pub(crate) fn close(connection: &Connection, memory: u64) -> Result<Refused> {
    // Intermediate results stay in memory: nothing is written, not even for a while.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let memory = i64::try_from(memory).unwrap_or(i64::MAX);
    connection.query_row(
        &format!("PRAGMA hard_heap_limit = {memory}"),
        [],
        |_| Ok(()),
    )?;
    for (config, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    ] {
        connection.set_db_config(config, on)?;
    }
    for (limit, most) in LIMITS {
        connection.set_limit(*limit, *most)?;
    }
    let refused = Refused::default();
    let tell = refused.clone();
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        let Some(what) = forbidden(&context.action) else {
            return Authorization::Allow;
        };
        if let Ok(mut refused) = tell.lock() {
            refused.get_or_insert(what);
        }
        Authorization::Deny
    }));
    Ok(refused)
}

/// What an action is called, if it is not allowed.
fn forbidden(action: &AuthAction<'_>) -> Option<String> {
    Some(match action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => return None,
        AuthAction::Function { function_name } => {
            let is_forbidden = FORBIDDEN
                .iter()
                .any(|name| function_name.eq_ignore_ascii_case(name));
            return is_forbidden.then(|| format!("the function {function_name}"));
        }
        AuthAction::Attach { .. } => NO_RESULT.to_owned(),
        AuthAction::Detach { .. } => "DETACH".to_owned(),
        AuthAction::Pragma { pragma_name, .. } => format!("PRAGMA {pragma_name}"),
        AuthAction::Transaction { .. } | AuthAction::Savepoint { .. } => "a transaction".to_owned(),
        AuthAction::Insert { table_name } => format!("a change of {table_name}"),
        AuthAction::Delete { table_name } | AuthAction::Update { table_name, .. } => {
            format!("a change of {table_name}")
        }
        AuthAction::Reindex { .. } | AuthAction::Analyze { .. } => "REINDEX or ANALYZE".to_owned(),
        _ => "CREATE, DROP or ALTER".to_owned(),
    })
}
