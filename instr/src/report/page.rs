//! The file: one HTML document with its style, its script and its data, which asks no network for anything.
//!
//! A policy in the document lets it run the one script that it came with, by its hash, and load nothing. Names from a trace reach the document
//! through the template, which escapes them, or as data that the script shows as text.

use std::io::{self, Write};

use anyhow::{Context as _, Result};
use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::compare;
use super::timeline::Collected;
use super::view;
use crate::page::Part;
use crate::predict::model::Prediction;
use crate::summary;
use crate::summary::model::Summary;

/// The script of the page of a sweep.
pub(crate) const SWEEP: &str = include_str!("../../../report/dist/sweep.js");
const SCRIPT: &str = include_str!("../../../report/dist/report.js");
/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("../../../report/dist/report.css");

/// The document up to its data.
#[derive(Template)]
#[template(path = "report.html")]
struct Document<'d> {
    title: &'d str,
    version: &'static str,
    policy: String,
    style: &'static str,
    processes: Vec<view::Process<'d>>,
    comparison: Option<compare::Comparison>,
    graphs: Vec<view::GraphRow>,
    graphs_left_out: String,
    predictions: Vec<view::PredictionView>,
    durations: Vec<view::Durations<'d>>,
    has_events: bool,
    has_tasks: bool,
    has_bars: bool,
}

/// Writes the document, and gives its size in bytes.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn write(
    summaries: &[Summary],
    collected: &Collected,
    comparison: Option<compare::Comparison>,
    predicted: &[Option<Prediction>],
    out: &mut dyn Write,
) -> Result<u64> {
    let mut out = Counted { out, bytes: 0 };
    let timeline = &collected.timeline;
    let processes = view::processes(summaries, collected);
    let document = Document {
        title: processes.first().map_or("", |process| process.program),
        version: env!("CARGO_PKG_VERSION"),
        policy: policy(SCRIPT),
        style: STYLE,
        has_tasks: processes.iter().any(|process| process.tasks.is_some()),
        has_bars: processes.iter().any(|process| !process.bars.is_empty()),
        processes,
        comparison,
        graphs: view::graphs(collected),
        graphs_left_out: view::graphs_left_out(collected),
        predictions: view::predictions(predicted),
        durations: view::durations(collected),
        has_events: !timeline.tracks.is_empty(),
    };
    let text = document.render().context("cannot lay out the page")?;
    out.write_all(text.as_bytes())?;
    let mut json = Vec::new();
    summary::json(summaries, &mut json)?;
    data(&mut out, "summary", &json)?;
    data(&mut out, "timeline-data", &to_json(timeline)?)?;
    write!(
        out,
        "<script type=\"application/octet-stream\" id=\"columns\">"
    )?;
    compressed(&mut out, collected.block.bytes())?;
    write!(
        out,
        "</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )?;
    Ok(out.bytes)
}

/// Nothing is loaded; the style and the script are those that the document has.
pub(crate) fn policy(script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(script),
        hash(STYLE)
    )
}

fn to_json(value: &impl Serialize) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(value)?)
}

/// Writes JSON that no text in it can end: all `<` are escaped.
pub(crate) fn data(out: &mut dyn Write, id: &str, json: &[u8]) -> io::Result<()> {
    write!(out, "<script type=\"application/json\" id=\"{id}\">")?;
    let mut rest = json;
    while let Some(at) = rest.iter().position(|byte| *byte == b'<') {
        out.write_all(&rest[..at])?;
        out.write_all(b"\\u003c")?;
        rest = &rest[at + 1..];
    }
    out.write_all(rest)?;
    writeln!(out, "</script>")
}

fn compressed(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    let text = EncoderWriter::new(out, &STANDARD);
    let mut zlib = ZlibEncoder::new(text, Compression::default());
    zlib.write_all(bytes)?;
    zlib.finish()?.finish()?;
    Ok(())
}

/// Counts what is written.
struct Counted<'w> {
    out: &'w mut dyn Write,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use instr_trace::{CodeName, Names, Session, synth};

    use super::*;
    use crate::fixture::Fixture;
    use crate::report::timeline::collect;

    /// All code has a name that would end the script around it and begin an element.
    struct Hostile;

    const NAME: &str = "</script><img src=x onerror=\"hacked=1\"><!--'&\u{2028}";

    impl Names for Hostile {
        fn resolve(&self, _address: u64) -> Option<CodeName> {
            Some(CodeName {
                function: Some(NAME.to_owned()),
                file: Some(NAME.to_owned()),
                ..CodeName::default()
            })
        }
    }

    fn page(names: Box<dyn Names>) -> String {
        let fixture = Fixture::new(synth::layouts()[0]);
        let session = Session::of(vec![fixture.open()]);
        let summary =
            summary::summarize(&session.traces()[0], names.as_ref(), None, |_| {}).unwrap();
        let collected = collect(&session, &[names], false, &mut |_, _| {}).unwrap();
        let mut out = Vec::new();
        let bytes = write(&[summary], &collected, None, &[], &mut out).unwrap();
        assert_eq!(bytes, out.len() as u64);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_end_neither_elements_nor_scripts() {
        let page = page(Box::new(Hostile));
        assert!(!page.contains("<img") && !page.contains("<!--"));
        // Three of data, and the script.
        assert_eq!(page.matches("</script>").count(), 4);
        assert!(page.contains("&#60;img") || page.contains("&lt;img"));
        let json = page.split("id=\"summary\">").nth(1).unwrap();
        let json = json.split("</script>").next().unwrap();
        let read: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(read["parallel_regions"][0]["function"], NAME);
    }

    #[test]
    fn the_policy_names_the_script_and_the_style_that_the_page_has() {
        let page = page(Box::new(instr_trace::names::NoNames));
        let between = |text: &str, from: &str, to: &str| {
            let rest = text.rsplit_once(from).expect(from).1;
            rest.split_once(to).expect(to).0.to_owned()
        };
        let script = between(&page, "<script>", "</script>");
        let style = between(&page, "<style>", "</style>");
        for (what, text) in [("script-src", script), ("style-src", style)] {
            let hash = STANDARD.encode(Sha256::digest(text));
            assert!(
                page.contains(&format!("{what} &#39;sha256-{hash}&#39;")),
                "{what}"
            );
        }
    }
}
