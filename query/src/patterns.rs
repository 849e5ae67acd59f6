//! `LIKE` and `GLOB` in place of SQLite's own. SQLite's try every place for every wildcard, and are not interrupted: ten wildcards in a text of eighty characters take
//! minutes. Here only the last wildcard moves, which is enough, and a look at the time comes now and then.
//!
//! What they match is what SQLite's match (<https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators>): `LIKE` takes the letters A to Z as a to z.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Error, Result, ffi};

use crate::guard::Watch;

/// Bytes of a pattern, at most: SQLite has such a limit, too.
const MOST_BYTES: usize = 1000;
/// Steps between two looks at the time.
const STEPS: u64 = 1 << 20;

/// A part of a pattern.
#[derive(Debug, PartialEq)]
enum Part {
    /// Any number of characters.
    Many,
    /// One, whatever it is.
    One,
    /// This one.
    This(char),
    /// One of these ranges, or none of them.
    Of(Vec<(char, char)>, bool),
    /// What nothing matches.
    Nothing,
}

/// Puts the functions in place of SQLite's.
pub(crate) fn register(connection: &Connection, watch: &Arc<Watch>) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    // Only SQLite makes the texts of numbers that SQLite makes.
    let texts = Arc::new(Mutex::new(Connection::open_in_memory()?));
    for (name, arguments) in [("like", 2), ("like", 3), ("glob", 2)] {
        let (watch, texts) = (Arc::clone(watch), Arc::clone(&texts));
        connection.create_scalar_function(name, arguments, flags, move |context| {
            answer(context, name == "like", &texts, &watch)
        })?;
    }
    Ok(())
}

fn answer(
    context: &Context<'_>,
    is_like: bool,
    numbers: &Mutex<Connection>,
    watch: &Watch,
) -> Result<ToSqlOutput<'static>> {
    let mut texts = Vec::new();
    for at in 0..context.len() {
        match text(context.get_raw(at), numbers)? {
            Some(text) => texts.push(text),
            None => return Ok(ToSqlOutput::Owned(Value::Null)),
        }
    }
    let wrong = |why: &str| Err(Error::UserFunctionError(why.into()));
    let (pattern, text) = (&texts[0], &texts[1]);
    if pattern.len() > MOST_BYTES {
        return wrong("LIKE or GLOB pattern too complex");
    }
    let parts = match (is_like, texts.get(2)) {
        (false, _) => glob(pattern),
        (true, None) => like(pattern, None),
        (true, Some(escape)) => {
            let mut escape = escape.chars();
            let (Some(escape), None) = (escape.next(), escape.next()) else {
                return wrong("ESCAPE expression must be a single character");
            };
            like(pattern, Some(escape))
        }
    };
    let code = ffi::Error::new(ffi::SQLITE_INTERRUPT);
    let found = matches(&parts, text, is_like, || watch.is_over())
        .ok_or(Error::SqliteFailure(code, None))?;
    Ok(ToSqlOutput::Owned(Value::Integer(found.into())))
}

/// A value as SQLite makes a text of it.
fn text<'v>(value: ValueRef<'v>, numbers: &Mutex<Connection>) -> Result<Option<Cow<'v, str>>> {
    Ok(Some(match value {
        ValueRef::Null => return Ok(None),
        ValueRef::Integer(number) => Cow::Owned(number.to_string()),
        ValueRef::Real(number) => {
            let numbers = numbers.lock().unwrap_or_else(PoisonError::into_inner);
            let mut statement = numbers.prepare_cached("SELECT CAST(?1 AS TEXT)")?;
            Cow::Owned(statement.query_row([number], |row| row.get(0))?)
        }
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            let end = bytes.iter().position(|byte| *byte == 0);
            String::from_utf8_lossy(&bytes[..end.unwrap_or(bytes.len())])
        }
    }))
}

fn like(pattern: &str, escape: Option<char>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        parts.push(match c {
            c if Some(c) == escape => chars.next().map_or(Part::Nothing, Part::This),
            '%' => Part::Many,
            '_' => Part::One,
            c => Part::This(c),
        });
    }
    parts
}

fn glob(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        parts.push(match c {
            '*' => Part::Many,
            '?' => Part::One,
            '[' => match set(rest) {
                Some((part, behind)) => {
                    rest = behind;
                    part
                }
                None => Part::Nothing,
            },
            c => Part::This(c),
        });
    }
    parts
}

/// What stands in brackets, and what is behind them; a bracket at the begin stands for itself. `None`: they have no end.
fn set(inside: &str) -> Option<(Part, &str)> {
    let is_none = inside.starts_with('^');
    let mut rest = &inside[usize::from(is_none)..];
    let mut ranges = Vec::new();
    let mut before = None; // a character that a range may begin with
    let mut is_first = true;
    loop {
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        let next = rest.chars().next();
        match (c, before) {
            (']', _) if !is_first => break,
            ('-', Some(from)) if next.is_some_and(|next| next != ']') => {
                let to = next?;
                rest = &rest[to.len_utf8()..];
                ranges.push((from, to));
                before = None;
            }
            (c, _) => {
                ranges.push((c, c));
                // One at the begin begins no range.
                before = (c != ']').then_some(c);
            }
        }
        is_first = false;
    }
    Some((Part::Of(ranges, is_none), rest))
}

impl Part {
    fn takes(&self, c: char, folds: bool) -> bool {
        match self {
            Self::One => true,
            Self::This(own) if folds => own.eq_ignore_ascii_case(&c),
            Self::This(own) => *own == c,
            Self::Of(ranges, is_none) => {
                let is_in = ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
                is_in != *is_none
            }
            Self::Many | Self::Nothing => false,
        }
    }
}

/// Whether the whole text matches. `None`: the time is over.
fn matches(parts: &[Part], text: &str, folds: bool, is_over: impl Fn() -> bool) -> Option<bool> {
    let (mut part, mut at) = (0, 0);
    let mut last: Option<(usize, usize)> = None; // behind the last wildcard: the part, and where it was tried
    let mut steps = 0_u64;
    loop {
        steps += 1;
        if steps.is_multiple_of(STEPS) && is_over() {
            return None;
        }
        let c = text[at..].chars().next();
        match (parts.get(part), c) {
            (Some(Part::Many), _) => {
                part += 1;
                last = Some((part, at));
                continue;
            }
            (Some(own), Some(c)) if own.takes(c, folds) => {
                part += 1;
                at += c.len_utf8();
                continue;
            }
            (None, None) => return Some(true),
            (_, None) => return Some(false), // what is left of the pattern needs more
            _ => {}
        }
        // One character more is the wildcard's.
        let Some((behind, tried)) = last else {
            return Some(false);
        };
        let skipped = text[tried..].chars().next().map_or(0, char::len_utf8);
        if skipped == 0 {
            return Some(false);
        }
        (part, at) = (behind, tried + skipped);
        last = Some((behind, at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn ask(connection: &Connection, sql: &str, pattern: &str, text: &str) -> Option<String> {
        let answer = connection.query_row(sql, [pattern, text], |row| row.get::<_, Option<i64>>(0));
        answer.ok().map(|answer| format!("{answer:?}"))
    }

    fn ours() -> (Connection, Arc<Watch>) {
        let (connection, watch) = (Connection::open_in_memory().unwrap(), Arc::default());
        register(&connection, &watch).unwrap();
        (connection, watch)
    }

    /// Random patterns and texts of few characters: the answers of SQLite's own functions.
    #[test]
    fn they_match_what_those_of_sqlite_match() {
        let (own, theirs) = (ours().0, Connection::open_in_memory().unwrap());
        let mut random = fastrand::Rng::with_seed(5);
        let mut draw = |from: &[char], most: usize| -> String {
            let length = random.usize(0..=most);
            (0..length)
                .map(|_| from[random.usize(0..from.len())])
                .collect()
        };
        let of_texts = ['a', 'b', 'A', 'ä', '%', ']', '-', '^', '\\'];
        let sets = [
            "[]-a]", "[^]-a]", "[a-]", "[a-c]", "[^a-c]", "[]]", "[^]]", "[]", "[^", "[a-c-e]",
            "[c-a]", "[a", "[-a]",
        ];
        for (pattern, text) in sets
            .iter()
            .flat_map(|set| ["", "]", "^", "-", "a", "b", "d", "_", "aa"].map(|text| (*set, text)))
        {
            let sql = "SELECT ?2 GLOB ?1";
            let expected = ask(&theirs, sql, pattern, text);
            assert_eq!(
                ask(&own, sql, pattern, text),
                expected,
                "{pattern:?} {text:?}"
            );
        }
        for (sql, of_patterns) in [
            ("SELECT ?2 LIKE ?1", "abAä%%_"),
            ("SELECT ?2 LIKE ?1 ESCAPE '\\'", "abA%%_\\"),
            ("SELECT ?2 LIKE ?1 ESCAPE '%'", "abA%%_"),
            ("SELECT ?2 GLOB ?1", "abAä**?[[]]^-"),
        ] {
            let of_patterns: Vec<char> = of_patterns.chars().collect();
            let mut found = 0;
            for _ in 0..30_000 {
                let (pattern, text) = (draw(&of_patterns, 7), draw(&of_texts, 6));
                let expected = ask(&theirs, sql, &pattern, &text);
                found += u32::from(expected.as_deref() == Some("Some(1)"));
                assert_eq!(
                    ask(&own, sql, &pattern, &text),
                    expected,
                    "{sql}: {pattern:?} {text:?}"
                );
            }
            assert!(found > 300, "{sql}: {found}");
        }
    }

    #[test]
    fn numbers_are_the_texts_that_sqlite_makes() {
        let (own, _) = ours();
        let sql = "SELECT (12 LIKE '1%') + (1e20 LIKE '1.0e+20') + (x'6161' LIKE 'AA') + (NULL LIKE 'a' IS NULL)";
        assert_eq!(own.query_row(sql, [], |row| row.get::<_, i64>(0)), Ok(4));
    }

    #[test]
    fn many_wildcards_take_no_time_and_long_texts_end_with_it() {
        let (own, watch) = ours();
        let text = "a".repeat(100);
        let pattern = "%a".repeat(40) + "%b";
        let begin = Instant::now();
        assert_eq!(
            ask(&own, "SELECT ?2 LIKE ?1", &pattern, &text).as_deref(),
            Some("Some(0)")
        );
        let text = "a".repeat(16 << 20);
        let pattern = ["%", &"a".repeat(900), "b"].concat();
        watch.begin(Some(Duration::from_millis(50)));
        assert_eq!(ask(&own, "SELECT ?2 LIKE ?1", &pattern, &text), None);
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "{:?}",
            begin.elapsed()
        );
    }
}
