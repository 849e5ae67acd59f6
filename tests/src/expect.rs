//! Expectations on numbers: `path = value` over JSON, `name = value` over counts.
//!
//! A path walks the summary: `tasks.created`, `threads.len`, `parallel_regions[main].count`, `parallel_regions[@outer].count`.
//! `[X]` keeps the elements of an array whose `function` or `name` is X (decorations such as `._omp_fn.0` or ` [omp task f.c:3]`
//! do not matter), `[@mark]` those whose `line` is that of the comment `@mark` in the source, `[*]` all. `len` is the number of
//! elements, a number field is summed over them. Values are sums of products, so that closed forms can be written as such.

use std::collections::BTreeMap;

use serde_json::Value;

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// `=`
    Equal,
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
}

/// `subject op value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expect {
    /// What is looked at.
    pub subject: String,
    /// How it is compared.
    pub op: Op,
    /// With what.
    pub value: i128,
}

impl Expect {
    /// Parses `subject op value`.
    ///
    /// # Errors
    ///
    /// A message saying what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        // Filters `{field=3}` of the subject have signs of their own.
        let filter_end = text.rfind('}').map_or(0, |at| at + 1);
        let (filter, comparison) = text.split_at(filter_end);
        let ops = [(">=", Op::AtLeast), ("<=", Op::AtMost), ("=", Op::Equal)];
        let found = ops.into_iter().find_map(|(sign, op)| {
            comparison
                .split_once(sign)
                .map(|(left, right)| (left, op, right))
        });
        let (rest, op, value) = found.ok_or_else(|| format!("no `=`, `>=` or `<=` in `{text}`"))?;
        let subject = format!("{filter}{rest}");
        let value = evaluate(value)
            .ok_or_else(|| format!("`{}` is not a sum of products of integers", value.trim()))?;
        Ok(Self {
            subject: subject.trim().to_owned(),
            op,
            value,
        })
    }

    /// Whether `actual` is as expected; if not, why.
    ///
    /// # Errors
    ///
    /// A message with both numbers.
    pub fn check(&self, actual: i128) -> Result<(), String> {
        let (holds, sign) = match self.op {
            Op::Equal => (actual == self.value, "="),
            Op::AtLeast => (actual >= self.value, ">="),
            Op::AtMost => (actual <= self.value, "<="),
        };
        if holds {
            Ok(())
        } else {
            Err(format!(
                "{}: expected {sign} {}, got {actual}",
                self.subject, self.value
            ))
        }
    }
}

/// Sum of products of integers and parenthesised sums.
fn evaluate(text: &str) -> Option<i128> {
    let compact: String = text.split_whitespace().collect();
    let (value, rest) = sum(&compact)?;
    rest.is_empty().then_some(value)
}

fn sum(text: &str) -> Option<(i128, &str)> {
    let (mut value, mut rest) = product(text)?;
    while let Some(more) = rest.strip_prefix('+') {
        let (term, after) = product(more)?;
        (value, rest) = (value.checked_add(term)?, after);
    }
    Some((value, rest))
}

fn product(text: &str) -> Option<(i128, &str)> {
    let (mut value, mut rest) = factor(text)?;
    while let Some(more) = rest.strip_prefix('*') {
        let (term, after) = factor(more)?;
        (value, rest) = (value.checked_mul(term)?, after);
    }
    Some((value, rest))
}

fn factor(text: &str) -> Option<(i128, &str)> {
    if let Some(inside) = text.strip_prefix('(') {
        let (value, rest) = sum(inside)?;
        return Some((value, rest.strip_prefix(')')?));
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '-')
        .unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

/// The number `path` stands for in `root`; `marks` are the lines of the comments `@mark`.
///
/// # Errors
///
/// When the path leads nowhere.
pub fn lookup(root: &Value, path: &str, marks: &BTreeMap<String, u64>) -> Result<i128, String> {
    let mut nodes = vec![root];
    let mut rest = path;
    loop {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name == "len" && after.is_empty() {
            return Ok(length(&nodes));
        }
        if !name.is_empty() {
            nodes = nodes
                .into_iter()
                .map(|node| field(node, name))
                .collect::<Result<_, _>>()?;
        }
        rest = after;
        if let Some(selected) = rest.strip_prefix('[') {
            let (selector, after) = selected
                .split_once(']')
                .ok_or_else(|| format!("`{path}`: no `]`"))?;
            nodes = select(&nodes, selector, marks)?;
            rest = after;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if rest.is_empty() {
            return nodes.into_iter().map(|node| number(node, path)).sum();
        }
    }
}

fn length(nodes: &[&Value]) -> i128 {
    let count = match nodes {
        [Value::Array(items)] => items.len(),
        _ => nodes.len(),
    };
    count as i128
}

fn field<'a>(node: &'a Value, name: &str) -> Result<&'a Value, String> {
    node.get(name).ok_or_else(|| {
        let has: Vec<_> = node
            .as_object()
            .map(|map| map.keys().cloned().collect())
            .unwrap_or_default();
        format!("no field `{name}` (there are: {})", has.join(", "))
    })
}

fn number(node: &Value, path: &str) -> Result<i128, String> {
    let value = node
        .as_i64()
        .map(i128::from)
        .or_else(|| node.as_u64().map(i128::from));
    value
        .or_else(|| node.as_bool().map(i128::from))
        .ok_or_else(|| format!("`{path}` is not an integer: {node}"))
}

fn select<'a>(
    nodes: &[&'a Value],
    selector: &str,
    marks: &BTreeMap<String, u64>,
) -> Result<Vec<&'a Value>, String> {
    let line = match selector.strip_prefix('@') {
        Some(mark) => Some(
            *marks
                .get(mark)
                .ok_or_else(|| format!("no comment `@{mark}` in the source"))?,
        ),
        None => None,
    };
    let keep = |node: &&Value| match line {
        Some(line) => node.get("line").and_then(Value::as_u64) == Some(line),
        None => selector == "*" || named(node, selector),
    };
    let mut kept = Vec::new();
    for node in nodes {
        let items = node
            .as_array()
            .ok_or_else(|| format!("`[{selector}]` on something that is no array"))?;
        kept.extend(items.iter().filter(keep));
    }
    Ok(kept)
}

fn named(node: &Value, name: &str) -> bool {
    let text = node
        .get("function")
        .or_else(|| node.get("name"))
        .and_then(Value::as_str);
    text.is_some_and(|text| text == name || base_name(text) == name)
}

/// A function's name without what a compiler or our tools add: `main._omp_fn.0`, `f(int) [clone ._omp_fn.1]`,
/// `main [omp task f.c:3]` are `main`, `f` and `main`.
#[must_use]
pub fn base_name(text: &str) -> &str {
    let text = text.split(" [").next().unwrap_or(text);
    let text = text.split("._omp_fn").next().unwrap_or(text);
    text.split('(').next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expectations_parse_and_compare() {
        let expect = Expect::parse("tasks.created = 3*4+2").expect("well-formed");
        assert_eq!(
            (expect.subject.as_str(), expect.op, expect.value),
            ("tasks.created", Op::Equal, 14)
        );
        assert!(expect.check(14).is_ok());
        assert_eq!(
            expect.check(13),
            Err("tasks.created: expected = 14, got 13".into())
        );
        let filtered = Expect::parse("single{executor=1} = 3").expect("well-formed");
        assert_eq!(
            (filtered.subject.as_str(), filtered.value),
            ("single{executor=1}", 3)
        );
        let at_least = Expect::parse("a >= 2").expect("well-formed");
        assert!(at_least.check(2).is_ok() && at_least.check(1).is_err());
        let at_most = Expect::parse("a <= 2").expect("well-formed");
        assert!(at_most.check(2).is_ok() && at_most.check(3).is_err());
        assert_eq!(evaluate("3*(4 + 2) + -1"), Some(17));
        assert_eq!(evaluate("3*(4 + 2"), None);
        assert!(Expect::parse("tasks.created 3").is_err());
        assert!(Expect::parse("tasks.created = many").is_err());
    }

    #[test]
    fn paths_select_count_and_sum() {
        let root = json!({
            "tasks": {"created": 5},
            "regions": [
                {"function": "main [omp parallel a.c:7]", "line": 7, "count": 2},
                {"function": "main._omp_fn.1", "line": 9, "count": 3},
                {"function": "f(int) [clone ._omp_fn.0]", "line": 20, "count": 4},
            ],
        });
        let marks = BTreeMap::from([("outer".to_owned(), 7)]);
        let look = |path| lookup(&root, path, &marks);
        assert_eq!(look("tasks.created"), Ok(5));
        assert_eq!(look("regions.len"), Ok(3));
        assert_eq!(look("regions[main].count"), Ok(5));
        assert_eq!(look("regions[main].len"), Ok(2));
        assert_eq!(look("regions[f].count"), Ok(4));
        assert_eq!(look("regions[@outer].count"), Ok(2));
        assert_eq!(look("regions[*].count"), Ok(9));
        assert_eq!(look("regions[nobody].count"), Ok(0));
        assert!(look("tasks.lost").is_err());
        assert!(look("regions[@nowhere].count").is_err());
        assert!(look("tasks").is_err());
    }
}
