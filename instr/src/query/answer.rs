//! Rows of an answer as a table for people, as comma-separated values, or as JSON.

use std::io::{self, Write};

use instr_query::{Receive, Value};

use super::options::AnswerFormat;
use crate::processors::csv::quoted;
use crate::quote::shown;

/// Rows of a table that its widths are made for. Later ones may be wider.
const LOOKED_AT: usize = 1000;
/// Characters of a cell that are shown.
const WIDEST: usize = 80;

/// Writes an answer.
pub(super) struct Answer<'o> {
    format: AnswerFormat,
    out: &'o mut dyn Write,
    columns: Vec<String>,
    rows: u64,
    /// Of a table: the first rows, as long as its widths are not known.
    first: Vec<Vec<Cell>>,
    widths: Vec<usize>,
}

/// A cell of a table.
struct Cell {
    text: String,
    is_number: bool,
}

impl<'o> Answer<'o> {
    pub(super) fn new(format: AnswerFormat, out: &'o mut dyn Write) -> Self {
        Self {
            format,
            out,
            columns: Vec::new(),
            rows: 0,
            first: Vec::new(),
            widths: Vec::new(),
        }
    }

    /// Writes what is left.
    pub(super) fn finish(mut self) -> io::Result<()> {
        match self.format {
            AnswerFormat::Table => {
                self.flush()?;
                if self.rows == 0 {
                    writeln!(self.out, "(no rows)")?;
                }
                Ok(())
            }
            AnswerFormat::Csv => Ok(()),
            AnswerFormat::Json if self.rows == 0 => writeln!(self.out, "[]"),
            AnswerFormat::Json => writeln!(self.out, "\n]"),
        }
    }

    fn csv(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.out.write_all(b",")?;
            }
            let text = plain(value);
            self.out.write_all(quoted(&text).as_bytes())?;
        }
        self.out.write_all(b"\n")
    }

    fn json(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        self.out
            .write_all(if self.rows == 1 { b"[\n  {" } else { b",\n  {" })?;
        for (at, (column, value)) in self.columns.iter().zip(values).enumerate() {
            let before = if at == 0 { "" } else { ", " };
            self.out.write_all(before.as_bytes())?;
            serde_json::to_writer(&mut *self.out, column)?;
            self.out.write_all(b": ")?;
            match value {
                Value::Null => self.out.write_all(b"null")?,
                Value::Int(number) => write!(self.out, "{number}")?,
                Value::Real(number) => serde_json::to_writer(&mut *self.out, number)?,
                Value::Text(text) => serde_json::to_writer(&mut *self.out, text)?,
                Value::Bytes(_) => serde_json::to_writer(&mut *self.out, &plain(value))?,
            }
        }
        self.out.write_all(b"}")
    }

    /// Writes the rows that were kept, below the header.
    fn flush(&mut self) -> io::Result<()> {
        if self.widths.is_empty() && !self.columns.is_empty() {
            let width = |at: usize| {
                let cells = self.first.iter().map(|row| row[at].text.chars().count());
                cells.fold(self.columns[at].chars().count(), usize::max)
            };
            self.widths = (0..self.columns.len()).map(width).collect();
            let number = |at: usize| self.first.first().is_some_and(|row| row[at].is_number);
            let header = self.columns.iter().enumerate().map(|(at, name)| Cell {
                text: name.clone(),
                is_number: number(at),
            });
            let header: Vec<Cell> = header.collect();
            let line = |width: &usize| Cell {
                text: "-".repeat(*width),
                is_number: false,
            };
            let line: Vec<Cell> = self.widths.iter().map(line).collect();
            self.line(&header)?;
            self.line(&line)?;
        }
        for row in std::mem::take(&mut self.first) {
            self.line(&row)?;
        }
        Ok(())
    }

    fn line(&mut self, cells: &[Cell]) -> io::Result<()> {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&self.widths) {
            let blanks = " ".repeat(width.saturating_sub(cell.text.chars().count()));
            match cell.is_number {
                true => line += &[blanks.as_str(), &cell.text].concat(),
                false => line += &[cell.text.as_str(), &blanks].concat(),
            }
            line += "  ";
        }
        writeln!(self.out, "{}", line.trim_end())
    }
}

/// Names of columns as keys of an object: another one of a name has a number behind it.
fn distinct(columns: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(columns.len());
    for column in columns {
        let numbered = |number: usize| match number {
            1 => (*column).to_owned(),
            _ => format!("{column}_{number}"),
        };
        let free = |name: &String| {
            !names.contains(name) && (name == column || !columns.contains(&name.as_str()))
        };
        let name = (1..).map(numbered).find(free).unwrap_or_default();
        names.push(name);
    }
    names
}

/// A value as text; a missing one is empty.
fn plain(value: &Value<'_>) -> String {
    match value {
        Value::Null => String::new(),
        Value::Int(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => (*text).to_owned(),
        Value::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// Six digits behind the point; of small numbers, such as the joules of a short region, six that count.
fn real(number: f64) -> String {
    match number.abs() {
        0.0 => "0.000000".to_owned(),
        small if small < 1e-3 => format!("{number:.5e}"),
        _ => format!("{number:.6}"),
    }
}

fn cell(value: &Value<'_>) -> Cell {
    let text = match value {
        Value::Real(number) => real(*number),
        other => shown(plain(other)),
    };
    let text = match text.chars().count() > WIDEST {
        true => text.chars().take(WIDEST - 1).chain(['…']).collect(),
        false => text,
    };
    Cell {
        text,
        is_number: matches!(value, Value::Int(_) | Value::Real(_)),
    }
}

impl Receive for Answer<'_> {
    fn header(&mut self, columns: &[&str]) -> io::Result<()> {
        self.columns = match self.format {
            AnswerFormat::Json => distinct(columns),
            _ => columns.iter().map(|name| (*name).to_owned()).collect(),
        };
        if self.format == AnswerFormat::Csv {
            let names: Vec<_> = columns.iter().map(|name| Value::Text(name)).collect();
            self.csv(&names)?;
        }
        Ok(())
    }

    fn row(&mut self, values: &[Value<'_>]) -> io::Result<()> {
        self.rows += 1;
        match self.format {
            AnswerFormat::Csv => self.csv(values),
            AnswerFormat::Json => self.json(values),
            AnswerFormat::Table => {
                self.first.push(values.iter().map(cell).collect());
                match self.first.len() >= LOOKED_AT || !self.widths.is_empty() {
                    true => self.flush(),
                    false => Ok(()),
                }
            }
        }
    }
}
