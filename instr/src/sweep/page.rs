//! The page of a sweep: maps and curves of the program and its regions, and the tables of the terminal.

use std::io::Write;

use anyhow::{Context as _, Result};
use askama::Template;

use super::figures::Figures;
use super::table;
use crate::page::{Page, Part};
use crate::report::page::{STYLE, SWEEP, data, policy};
use crate::summary::units::counted;

/// Rows of each table.
const ROWS: usize = 200;

/// The document up to its data.
#[derive(Template)]
#[template(path = "sweep.html")]
struct Document<'d> {
    title: &'d str,
    command: String,
    runs: String,
    version: &'static str,
    policy: String,
    style: &'static str,
    text: Vec<Part>,
}

/// Writes the document. `title`: the name of the sweep.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn write(title: &str, figures: &Figures, out: &mut dyn Write) -> Result<()> {
    let mut text = Vec::new();
    table::write(figures, true, &mut Page::in_parts(&mut text, ROWS))?;
    let document = Document {
        title,
        command: figures.command.join(" "),
        runs: counted(figures.runs as u64, "run"),
        version: env!("CARGO_PKG_VERSION"),
        policy: policy(SWEEP),
        style: STYLE,
        text,
    };
    let document = document.render().context("cannot lay out the page")?;
    out.write_all(document.as_bytes())?;
    data(out, "sweep", &serde_json::to_vec(figures)?)?;
    Ok(write!(out, "<script>{SWEEP}</script>\n</body>\n</html>\n")?)
}
