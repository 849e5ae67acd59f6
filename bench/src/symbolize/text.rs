//! The part on symbolization of `docs/overhead.md`.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::Figures;
use crate::table::{Side, aligned};

/// The section; empty when nothing was measured.
pub(crate) fn section(figures: Option<&Figures>) -> String {
    let Some(figures) = figures else {
        return String::new();
    };
    let mut text = format!(
        "\n## Addresses to names\n\n\
         `instr symbolize -f -i` beside others on a C++ program of {} MB of debug information: {} random addresses with functions, files, lines \
         and all inlined frames, the tools in turn, medians. *First answer* is a process that answers one address, from its start to its end.\n\n",
        figures.debug_bytes / 1_000_000,
        figures.questions,
    );
    text.push_str(&table(figures));
    let _ = write!(
        text,
        "\n{:.2} % of the lines are the same as those of binutils, not counting suffixes of clones. \
         An address that was asked for before takes {:.0} ns.",
        figures.agreement * 100.0,
        figures.warm
    );
    if let Some(huge) = &figures.huge {
        let _ = write!(
            text,
            " Of {} MB of debug information, opening takes {:.2} ms, and the first answer of the command {:.1} ms and {} MiB.",
            huge.debug_bytes / 1_000_000,
            huge.open * 1e3,
            huge.first * 1e3,
            huge.peak >> 20
        );
    }
    text.push('\n');
    text
}

fn table(figures: &Figures) -> String {
    let ours = &figures.tools[0];
    let line = |measured: &super::Measured| {
        let fewer = measured.tool.limit < figures.questions;
        let ratio = |theirs: f64, ours: f64| match fewer {
            true => "–".to_owned(),
            false => format!("{:.1}", theirs / ours),
        };
        [
            match fewer {
                true => format!("{} ({} addresses)", measured.tool.name, measured.tool.limit),
                false => measured.tool.name.to_owned(),
            },
            format!("{:.2} s", measured.all.median()),
            ratio(measured.all.median(), ours.all.median()),
            format!("{:.2} s", measured.processor.median()),
            format!("{:.1} ms", measured.first.median() * 1e3),
            format!("{:.1}", measured.first.median() / ours.first.median()),
            format!("{} MiB", measured.peak >> 20),
            ratio(measured.peak as f64, ours.peak as f64),
        ]
    };
    let mut sides = [Side::Right; 8];
    sides[0] = Side::Left;
    aligned(
        [
            "tool",
            "time",
            "÷ ours",
            "processor time",
            "first answer",
            "÷ ours",
            "peak memory",
            "÷ ours",
        ],
        sides,
        &figures.tools.iter().map(line).collect::<Vec<_>>(),
    )
}

/// Share of equal lines of two answers. What the optimizer made of a function's name stands in ours alone.
pub(crate) fn agreement(ours: &Path, theirs: &Path) -> Result<f64> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
    };
    Ok(share(&read(ours)?, &read(theirs)?))
}

fn share(ours: &str, theirs: &str) -> f64 {
    let count = ours.lines().count().max(theirs.lines().count());
    let same = ours.lines().zip(theirs.lines()).filter(|(our, their)| {
        our == their
            || our
                .strip_prefix(their)
                .is_some_and(|rest| rest.starts_with('.'))
    });
    same.count() as f64 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_count_as_the_same() {
        assert_eq!(share("f.isra.0\na.c:1\n", "f\na.c:1\n"), 1.0);
        assert_eq!(share("f\na.c:1\n", "g\na.c:1\n"), 0.5);
        assert_eq!(share("f\na.c:1\n", "f\na.c:1\ng\na.c:2\n"), 0.5);
    }
}
