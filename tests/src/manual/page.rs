//! One manual page for each command and subcommand.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use instr_cc::help;

/// Commands that are other names of instr-cc, whose page is theirs too: `make install` links to it.
const OF_WRAPPER: [&str; 3] = ["cc", "c++", "fortran"];

/// Pages of a command and its subcommands: name and text.
pub(super) fn pages(command: Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    // The subcommand `help` needs no page.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let subcommands: Vec<Command> = command.get_subcommands().cloned().collect();
    let mut pages = vec![page(&command)?];
    let own = |command: &&Command| !OF_WRAPPER.contains(&command.get_name());
    for subcommand in subcommands.iter().filter(own) {
        pages.push(page(subcommand)?);
    }
    Ok(pages)
}

fn page(command: &Command) -> io::Result<(String, Vec<u8>)> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let package = concat!("instr ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone())
        .source(package)
        .manual("Tracing of parallel programs");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut text)?;
    }
    let mut rest = Roff::new();
    if name == "instr-cc" {
        environment(&mut rest);
    }
    exit_status(&mut rest, name);
    files(&mut rest);
    see_also(&mut rest, name);
    rest.to_writer(&mut text)?;
    Ok((name.to_owned(), whole(&text).into_bytes()))
}

/// One page of sections that were written as pages of their own: definitions once, and the empty date as an argument.
fn whole(sections: &[u8]) -> String {
    let text = String::from_utf8_lossy(sections);
    let is_definition = |line: &str| line.starts_with(".ie ") || line.starts_with(".el ");
    let (definitions, rest): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| is_definition(line));
    let mut lines = definitions;
    lines.truncate(2);
    // A line break beside the space between paragraphs says nothing.
    let spaced = |at: usize| {
        rest.get(at)
            .is_some_and(|line| *line == ".sp" || line.is_empty())
    };
    let says_nothing =
        |at: usize| rest[at] == ".br" && (spaced(at + 1) || (at > 0 && spaced(at - 1)));
    lines.extend(
        (0..rest.len())
            .filter(|at| !says_nothing(*at))
            .map(|at| rest[at]),
    );
    let blank = |line: &mut &str| {
        if line.is_empty() {
            *line = ".sp";
        }
    };
    lines.iter_mut().for_each(blank);
    let mut page = lines.join("\n").replacen(" 1  \"", " 1 \"\" \"", 1);
    page.push('\n');
    page
}

fn environment(page: &mut Roff) {
    page.control("SH", ["ENVIRONMENT"]);
    for (name, words) in help::ENVIRONMENT {
        page.control("TP", []);
        page.text([bold(name)]);
        page.text([roman(words.replace('\n', " "))]);
    }
}

fn exit_status(page: &mut Roff, name: &str) {
    page.control("SH", ["EXIT STATUS"]);
    let words = match name {
        "instr-cc" => {
            "The compiler's; 2 when an option of instr-cc is wrong or there is no such compiler."
        }
        "instr-run" => "The program's; 1 when it cannot be started, 2 for wrong usage.",
        _ => "0 done, 1 the input was refused, 2 wrong usage, 3 a bug.",
    };
    page.text([roman(words)]);
}

fn files(page: &mut Roff) {
    page.control("SH", ["FILES"]);
    page.control("TP", []);
    page.text([bold("docs/"), roman("...")]);
    page.text([roman(
        "Documents named so are below share/doc/instr of the installation.",
    )]);
}

fn see_also(page: &mut Roff, name: &str) {
    let all = ["instr", "instr-cc", "instr-rewrite"];
    let others: Vec<String> = all
        .iter()
        .filter(|other| **other != name)
        .map(|other| format!("{other}(1)"))
        .collect();
    page.control("SH", ["SEE ALSO"]);
    page.text([roman(others.join(", "))]);
}
