//! The task graph as one JSON object: `{"format":1,"program":…,"nodes":[…],"edges":[…]}`.
//!
//! Nodes go out as they come; edges, which come in between, wait in a temporary file.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};

use instr_trace::TaskId;
use serde::Serialize;

use super::dot::name;
use super::{GraphSink, Node};

/// A node as written: times in ns since the trace's start, null when the event is not in the trace.
#[derive(Serialize)]
struct JsonNode<'a> {
    id: String,
    function: Option<&'a str>,
    file: Option<&'a str>,
    line: Option<u32>,
    label: &'a str,
    parent: Option<String>,
    thread: Option<u32>,
    created_ns: Option<u64>,
    begin_ns: Option<u64>,
    end_ns: Option<u64>,
    duration_ns: Option<u64>,
    undeferred: bool,
}

#[derive(Serialize)]
struct JsonEdge {
    from: String,
    to: String,
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
        write!(out, "{{\"format\":1,\"program\":{program},\"nodes\":[")?;
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
        let node = JsonNode {
            id: name(node.id),
            function: node.place.function.as_deref(),
            file: node.place.file.as_deref(),
            line: node.place.line,
            label: &node.place.label,
            parent: node.parent.map(name),
            thread: node.thread,
            created_ns: node.created_ns,
            begin_ns: node.begin_ns,
            end_ns: node.end_ns,
            duration_ns: node.own_ns,
            undeferred: node.undeferred,
        };
        Ok(serde_json::to_writer(&mut *self.out, &node)?)
    }

    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()> {
        self.edges
            .write_all(separator(&mut self.edges_written).as_bytes())?;
        Ok(serde_json::to_writer(
            &mut self.edges,
            &JsonEdge {
                from: name(from),
                to: name(to),
            },
        )?)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.out.write_all(b"\n],\"edges\":[")?;
        let mut spool = self
            .edges
            .into_inner()
            .map_err(|error| error.into_error())?;
        spool.seek(SeekFrom::Start(0))?;
        io::copy(&mut spool, &mut self.out)?;
        self.out.write_all(b"\n]}\n")
    }
}
