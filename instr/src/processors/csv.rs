//! Every time in which a processor ran a thread, as comma-separated values: what the figures "core and time" of other tools are drawn from.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use instr_analysis::processors::Slice;
use instr_trace::kernel::Part;

use super::groups::Groups;

const HEADER: &str = "processor,begin_ns,end_ns,application,pid,tid,name,then";

/// Writes a line for each. Where groups are given, slices are divided among them, and the last column has the group.
pub(super) fn write(
    parts: &[&Part],
    groups: Option<&mut Groups>,
    out: &mut dyn Write,
) -> Result<()> {
    let Some(groups) = groups else {
        writeln!(out, "{HEADER}")?;
        super::slices(parts, &mut |slice| {
            line(
                parts,
                slice,
                (slice.begin_ns, slice.end_ns, slice.then),
                out,
            )?;
            Ok(writeln!(out)?)
        })?;
        return Ok(());
    };
    writeln!(out, "{HEADER},section")?;
    let mut names: Vec<String> = Vec::new();
    super::slices(parts, &mut |slice| {
        if !groups.is_chosen(slice) {
            return Ok(());
        }
        let mut lines: Vec<(u64, u64, usize)> = Vec::new();
        groups.divide(slice, &mut |piece| {
            lines.push((piece.begin, piece.end, piece.group));
            Ok(())
        })?;
        for name in &groups.names[names.len()..] {
            names.push(quoted(name).into_owned());
        }
        let last = lines.len().saturating_sub(1);
        for (at, (begin, end, group)) in lines.into_iter().enumerate() {
            let then = if at == last { slice.then } else { "runs" };
            line(parts, slice, (begin, end, then), out)?;
            writeln!(out, ",{}", names[group])?;
        }
        Ok(())
    })?;
    Ok(())
}

fn line(
    parts: &[&Part],
    slice: &Slice<'_>,
    (begin, end, then): (u64, u64, &str),
    out: &mut dyn Write,
) -> Result<()> {
    let application = slice
        .application
        .map(|at| parts[at].info().program.as_str());
    write!(
        out,
        "{},{begin},{end},{},{},{},{},{then}",
        slice.processor,
        quoted(application.unwrap_or("")),
        slice.pid,
        slice.tid,
        quoted(slice.name),
    )?;
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
