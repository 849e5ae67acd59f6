//! Folded stacks: a line for each different stack, `outermost;…;innermost ns`, as flamegraph.pl, inferno, speedscope and others read them.

use std::collections::BTreeMap;
use std::io::Write;

use crate::error::Error;
use crate::format::{Input, Progress, Stats};
use crate::profile;

/// Writes the stacks of all processes, each below its program, in order of their texts. Threads are put together.
pub(crate) fn write(
    input: &Input<'_>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut stats = Stats::default();
    profile::of_processes(input, progress, |process, profile| {
        let root = frame(&input.title(process));
        let names: Vec<String> = profile.frames.iter().map(|of| frame(&of.name)).collect();
        for (place, node) in profile.nodes.iter().enumerate() {
            stats.events += node.count;
            if node.ns == 0 {
                continue;
            }
            let mut stack: Vec<&str> = profile
                .stack(place)
                .map(|of| &*names[of as usize])
                .collect();
            stack.push(&root);
            stack.reverse();
            let sum = lines.entry(stack.join(";")).or_default();
            *sum = sum.saturating_add(node.ns);
        }
        stats.shortened += profile.shortened;
        Ok(())
    })?;
    for (stack, ns) in lines {
        writeln!(out, "{stack} {ns}").map_err(Error::Output)?;
    }
    Ok(stats)
}

/// A name without what ends a frame or a line.
fn frame(name: &str) -> String {
    let plain = |c: char| match c {
        ';' => ':',
        c if c.is_control() => ' ',
        c => c,
    };
    match name.trim() {
        "" => "(no name)".to_owned(),
        name => name.chars().map(plain).collect(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_is_one_frame_of_one_line() {
        assert_eq!(super::frame("a;b\nc d "), "a:b c d");
        assert_eq!(super::frame(" "), "(no name)");
    }
}
