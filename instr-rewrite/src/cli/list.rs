//! `--list`: what would be wrapped, by which description, and what would not and why.

use anyhow::Result;
use comfy_table::{Table, presets};
use instr_rewrite::Function;
use instr_rewrite::select::Selection;
use serde::Serialize;

/// One symbol; the order of fields is that of the table's columns.
#[derive(Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    symbol: String,
    /// File that describes it; none: unknown.
    description: Option<String>,
    wrapped: bool,
    /// How it is wrapped, or why not.
    why: String,
}

fn rows(selection: &Selection<'_>) -> Vec<Row> {
    let described = |function: &Function, wrapped, why| Row {
        symbol: function.symbol.clone(),
        description: Some(function.source.clone()),
        wrapped,
        why,
    };
    let how = |function: &Function| match selection.is_redirected(&function.symbol) {
        true => format!("redirected, {}", how(function)),
        false => how(function),
    };
    let wrapped = selection.wrapped.iter().copied();
    let wrapped = wrapped.chain(selection.only_redirected());
    let wrapped = wrapped.map(|function| described(function, true, how(function)));
    let refused = selection
        .refused
        .iter()
        .map(|(function, why)| described(function, false, why.clone()));
    let unknown = selection.unknown.iter().map(|symbol| Row {
        symbol: symbol.clone(),
        description: None,
        wrapped: false,
        why: "an entry point of libgomp that no description knows".to_owned(),
    });
    let mut rows: Vec<Row> = wrapped.chain(refused).chain(unknown).collect();
    rows.sort();
    rows
}

fn how(function: &Function) -> String {
    match &function.probe {
        Some(probe) => format!("probe {}", probe.name),
        None => "generic stub: enter, exit, arguments".to_owned(),
    }
}

/// A table for people.
pub(crate) fn table(selection: &Selection<'_>) -> String {
    let rows = rows(selection);
    if rows.is_empty() {
        return "no described function is called\n".to_owned();
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["symbol", "description", "wrapped", "why"]);
    for row in rows {
        let description = row.description.unwrap_or_else(|| "-".to_owned());
        table.add_row([
            row.symbol,
            description,
            if row.wrapped { "yes" } else { "no" }.to_owned(),
            row.why,
        ]);
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim().to_owned() + "\n")
        .collect();
    lines.concat()
}

/// `[{"symbol", "description", "wrapped", "why"}, …]`, sorted by symbol.
pub(crate) fn json(selection: &Selection<'_>) -> Result<String> {
    Ok(serde_json::to_string_pretty(&rows(selection))? + "\n")
}
