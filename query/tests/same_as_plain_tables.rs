//! Thousands of random statements give the same rows over the virtual tables and over plain tables of SQLite with the same content: whatever order of rows a plan takes.

use std::io;

use fastrand::Rng;
use instr_query::{Engine, Limits, Receive, Value};
use instr_tables::{Kind, TABLES, Table};
use instr_trace::Session;
use instr_trace::synth;
use instr_trace::synth::random::{self, Damage, Recipe};
use rusqlite::Connection;
use rusqlite::types::Value as Plain;

/// Statements of each trace.
const STATEMENTS: usize = 400;

/// Keeps all rows.
#[derive(Default)]
struct Rows(Vec<Vec<Plain>>);

impl Receive for Rows {
    fn header(&mut self, _columns: &[&str]) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        let value = |value: &Value<'_>| match *value {
            Value::Null => Plain::Null,
            Value::Int(number) => Plain::Integer(number),
            Value::Real(number) => Plain::Real(number),
            Value::Text(text) => Plain::Text(text.to_owned()),
            Value::Bytes(bytes) => Plain::Blob(bytes.to_owned()),
        };
        self.0.push(values.iter().map(value).collect());
        Ok(())
    }
}

fn ask(engine: &Engine<'_>, sql: &str) -> Vec<Vec<Plain>> {
    let mut rows = Rows::default();
    let run = engine.run(sql, &mut |_, _| {}, &mut rows);
    run.unwrap_or_else(|error| panic!("{sql}: {error}"));
    rows.0
}

fn ask_plain(plain: &Connection, sql: &str) -> Vec<Vec<Plain>> {
    let mut statement = plain.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| (0..columns).map(|at| row.get(at)).collect());
    rows.unwrap().map(Result::unwrap).collect()
}

/// The same tables, filled by SQLite itself.
fn plain(engine: &Engine<'_>) -> Connection {
    let plain = Connection::open_in_memory().unwrap();
    for table in TABLES {
        let columns = table.columns.iter().map(|column| {
            let kind = match column.kind {
                Kind::Int | Kind::Small => "INTEGER",
                Kind::Real => "REAL",
                Kind::Flag => "BOOLEAN",
                Kind::Text => "TEXT",
            };
            format!("{} {kind}", column.name)
        });
        let columns: Vec<_> = columns.collect();
        plain
            .execute(
                &format!("CREATE TABLE {}({})", table.name, columns.join(", ")),
                [],
            )
            .unwrap();
        let marks = vec!["?"; table.columns.len()].join(", ");
        let mut insert = plain
            .prepare(&format!("INSERT INTO {} VALUES({marks})", table.name))
            .unwrap();
        for row in ask(engine, &format!("SELECT * FROM {}", table.name)) {
            insert.execute(rusqlite::params_from_iter(row)).unwrap();
        }
    }
    plain
}

/// A value to compare with: one of the column, one near it, or one of another kind.
fn constant(rng: &mut Rng, plain: &Connection, table: &Table, column: &str) -> String {
    let values = ask_plain(
        plain,
        &format!("SELECT {column} FROM {} LIMIT 200", table.name),
    );
    let value = rng
        .choice(&values)
        .map_or(Plain::Null, |row| row[0].clone());
    match (rng.u8(..10), value) {
        (0, _) => "NULL".into(),
        (1, _) => "'5'".into(),
        (2, _) => "1.5".into(),
        (3, Plain::Integer(number)) => format!("{number}.0"),
        (4, Plain::Integer(number)) => format!("{number}.5"),
        (5, Plain::Integer(number)) => format!("'{number}'"),
        (6, Plain::Integer(number)) => number.saturating_add(1).to_string(),
        (_, Plain::Integer(number)) => number.to_string(),
        (_, Plain::Real(number)) => format!("{number:?}"),
        (3, Plain::Text(text)) => format!("'{}x'", text.replace('\'', "''")),
        (_, Plain::Text(text)) => format!("'{}'", text.replace('\'', "''")),
        _ => "3".into(),
    }
}

fn condition(rng: &mut Rng, plain: &Connection, table: &Table, of: &str) -> String {
    let column = rng.choice(table.columns).unwrap().name;
    let sign = ["=", "=", "=", "<", "<=", ">", ">=", "<>", "IS"];
    let sign = rng.choice(sign).unwrap();
    let value = constant(rng, plain, table, column);
    match rng.u8(..8) {
        0 => format!("{of}{column} IS NULL"),
        1 => format!(
            "{of}{column} IN ({value}, {})",
            constant(rng, plain, table, column)
        ),
        2 => format!(
            "{of}{column} BETWEEN {value} AND {}",
            constant(rng, plain, table, column)
        ),
        _ => format!("{of}{column} {sign} {value}"),
    }
}

/// Columns that the answer consists of, so that rows which are alike cannot change places unseen.
fn some_columns(rng: &mut Rng, table: &Table, of: &str) -> Vec<String> {
    let count = rng.usize(1..4);
    let mut chosen = rng.choose_multiple(table.columns.iter(), count);
    rng.shuffle(&mut chosen);
    chosen
        .iter()
        .map(|column| format!("{of}{}", column.name))
        .collect()
}

fn statement(rng: &mut Rng, plain: &Connection) -> String {
    let table = rng.choice(TABLES).unwrap();
    let columns = some_columns(rng, table, "a.");
    let conditions: Vec<_> = (0..rng.usize(..4))
        .map(|_| condition(rng, plain, table, "a."))
        .collect();
    let filter = if conditions.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", conditions.join(" AND "))
    };
    let direction = |rng: &mut Rng| *rng.choice(&["", " DESC"]).unwrap();
    let order = |rng: &mut Rng, columns: &[String]| {
        let terms: Vec<_> = columns
            .iter()
            .map(|column| format!("{column}{}", direction(rng)))
            .collect();
        terms.join(", ")
    };
    let list = columns.join(", ");
    let from = format!("FROM {} a{filter}", table.name);
    match rng.u8(..5) {
        0 => format!(
            "SELECT {list}, count(*) {from} GROUP BY {list} ORDER BY {}",
            order(rng, &columns)
        ),
        1 => format!(
            "SELECT DISTINCT {list} {from} ORDER BY {}",
            order(rng, &columns)
        ),
        2 => {
            let (one, other) = (
                rng.choice(TABLES).unwrap(),
                rng.choice(table.columns).unwrap().name,
            );
            let same = one
                .columns
                .iter()
                .find(|column| column.name == other)
                .map_or("process", |column| column.name);
            let same = if table.position(same).is_some() {
                same
            } else {
                "process"
            };
            format!(
                "SELECT count(*), count(DISTINCT b.process) FROM {} a JOIN {} b ON a.{same} = b.{same}{filter}",
                table.name, one.name
            )
        }
        3 => format!(
            "SELECT {list} {from} ORDER BY {} LIMIT 7",
            order(rng, &columns)
        ),
        _ => format!("SELECT {list} {from} ORDER BY {}", order(rng, &columns)),
    }
}

#[test]
fn random_statements_have_the_answers_of_plain_tables() {
    let seed = std::env::var("INSTR_TEST_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or(16);
    for (number, damage) in (0..).zip([Damage::None, Damage::All]) {
        let mut rng = Rng::with_seed(seed + number);
        let folder = tempfile::tempdir().unwrap();
        let recipe = Recipe {
            seed: seed + number,
            threads: 3,
            constructs: 12,
            damage,
            layout: synth::layouts()[number as usize],
        };
        random::write(folder.path(), &recipe).unwrap();
        let session = Session::open(&[folder.path()]).unwrap();
        let limits = Limits {
            memory: 1 << 30,
            time: None,
            interrupted: std::sync::Arc::default(),
        };
        let engine = Engine::new(&session, &[], limits).unwrap();
        let plain = plain(&engine);
        let full = ask(&engine, "SELECT count(*) FROM spans");
        assert!(
            matches!(full[0][0], Plain::Integer(count) if count > 100),
            "{full:?}"
        );
        for _ in 0..STATEMENTS {
            let sql = statement(&mut rng, &plain);
            assert_eq!(ask(&engine, &sql), ask_plain(&plain, &sql), "{sql}");
        }
    }
}

#[test]
fn columns_that_do_not_fit_are_refused_with_the_number_that_they_need() {
    let folder = tempfile::tempdir().unwrap();
    synth::user_events(folder.path(), synth::layouts()[0], 2, 200_000, 10).unwrap();
    let session = Session::open(&[folder.path()]).unwrap();
    let limits = Limits {
        memory: 1 << 20,
        time: None,
        interrupted: std::sync::Arc::default(),
    };
    let engine = Engine::new(&session, &[], limits).unwrap();
    let error = engine.run(
        "SELECT sum(value) FROM events",
        &mut |_, _| {},
        &mut Rows::default(),
    );
    // 200 000 rows of 8 bytes.
    match error {
        Err(instr_query::QueryError::Memory { needed, limit }) => {
            assert!((1_600_000..1_700_000).contains(&needed), "{needed}");
            assert_eq!(limit, 1 << 20);
        }
        other => panic!("{other:?}"),
    }
    let small = ask(&engine, "SELECT count(*) FROM threads");
    assert_eq!(small, [[Plain::Integer(2)]]);
}
