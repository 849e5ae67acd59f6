//! The task graph as one JSON object (`docs/graph-json.md`).
//!
//! Nodes go out as they come; edges, which come in between, wait in a temporary file.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use instr_trace::TaskId;
use serde::Serialize;

use super::GraphSink;
use super::model::{Analysis, FORMAT, Node, name};

#[derive(Serialize)]
struct JsonEdge {
    from: String,
    to: String,
    kind: &'static str,
}

/// Writes nodes to `out`, edges to a temporary file that [`GraphSink::finish`] appends.
pub struct JsonSink<'a> {
    out: &'a mut dyn Write,
    edges: BufWriter<File>,
    nodes_written: u64,
    edges_written: u64,
}

impl<'a> JsonSink<'a> {
    /// Begins the object.
    ///
    /// # Errors
    ///
    /// Those of `out` and of making the temporary file.
    pub fn new(program: &str, out: &'a mut dyn Write) -> io::Result<Self> {
        let program = serde_json::to_string(program)?;
        write!(
            out,
            "{{\"format\":{FORMAT},\"program\":{program},\"nodes\":["
        )?;
        Ok(Self {
            out,
            edges: BufWriter::new(tempfile::tempfile()?),
            nodes_written: 0,
            edges_written: 0,
        })
    }
}

fn separator(written: &mut u64) -> &'static str {
    *written += 1;
    if *written == 1 { "\n" } else { ",\n" }
}

impl GraphSink for JsonSink<'_> {
    fn node(&mut self, node: &Node) -> io::Result<()> {
        self.out
            .write_all(separator(&mut self.nodes_written).as_bytes())?;
        Ok(serde_json::to_writer(&mut *self.out, node)?)
    }

    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()> {
        self.edges
            .write_all(separator(&mut self.edges_written).as_bytes())?;
        let edge = JsonEdge {
            from: name(from),
            to: name(to),
            kind: "depend",
        };
        Ok(serde_json::to_writer(&mut self.edges, &edge)?)
    }

    fn finish(mut self: Box<Self>, analysis: &Analysis) -> io::Result<Option<String>> {
        self.out.write_all(b"\n],\"edges\":[")?;
        let mut spool = self
            .edges
            .into_inner()
            .map_err(|error| error.into_error())?;
        spool.seek(SeekFrom::Start(0))?;
        io::copy(&mut spool, &mut self.out)?;
        self.out.write_all(b"\n],\n")?;
        // The numbers are fields of the same object.
        let numbers = serde_json::to_string(analysis)?;
        self.out
            .write_all(numbers.strip_prefix('{').unwrap_or(&numbers).as_bytes())?;
        self.out.write_all(b"\n")?;
        Ok(None)
    }
}
