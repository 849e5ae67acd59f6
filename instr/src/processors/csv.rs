//! Every time in which a processor ran a thread, as comma-separated values: what the figures "core and time" of other tools are drawn from.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use instr_trace::kernel::Part;

const HEADER: &str = "processor,begin_ns,end_ns,application,pid,tid,name,then";

/// Writes a line for each.
pub(super) fn write(parts: &[&Part], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{HEADER}")?;
    super::slices(parts, &mut |slice| {
        let application = slice
            .application
            .map(|at| parts[at].info().program.as_str());
        writeln!(
            out,
            "{},{},{},{},{},{},{},{}",
            slice.processor,
            slice.begin_ns,
            slice.end_ns,
            quoted(application.unwrap_or("")),
            slice.pid,
            slice.tid,
            quoted(slice.name),
            slice.then
        )?;
        Ok(())
    })?;
    Ok(())
}

/// As RFC 4180 wants a text with commas, quotes or line ends.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn texts_are_quoted_where_they_must_be() {
        assert_eq!(super::quoted("plain name"), "plain name");
        assert_eq!(super::quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
