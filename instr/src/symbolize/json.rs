//! Answers as JSON, one object a line; docs/symbolize.md describes them.

use std::io::{self, Write};

use instr_symtab::{FunctionName, GnuView, Lookup, OutlinedKind as Kind, Symbol};
use serde::Serialize;

use super::answer::Answer;

/// One answer.
#[derive(Serialize)]
struct Line<'a> {
    address: String,
    module: Option<&'a str>,
    module_address: Option<String>,
    section: Option<&'a str>,
    function: Option<Name<'a>>,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    discriminator: Option<u32>,
    frames: Vec<Frame<'a>>,
    symbol: Option<SymbolPart>,
    openmp: Option<OpenMp>,
    error: Option<ErrorPart<'a>>,
}

#[derive(Serialize)]
struct Name<'a> {
    raw: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct Frame<'a> {
    function: Option<Name<'a>>,
    file: Option<&'a str>,
    line: Option<u32>,
    column: Option<u32>,
    inlined: bool,
}

#[derive(Serialize)]
struct SymbolPart {
    raw: String,
    name: String,
    kind: &'static str,
    address: String,
    size: u64,
    offset: u64,
}

#[derive(Serialize)]
struct OpenMp {
    function: Option<String>,
    construct: &'static str,
    index: u32,
    directive: Place,
    place: String,
}

#[derive(Serialize)]
struct Place {
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Serialize)]
struct ErrorPart<'a> {
    message: &'a str,
    build_id: Option<BuildIds<'a>>,
}

#[derive(Serialize)]
struct BuildIds<'a> {
    expected: &'a str,
    found: Option<&'a str>,
}

/// Prints one answer.
pub(super) fn print(answer: &Answer<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &line(answer))?;
    out.write_all(b"\n")
}

fn line<'a>(answer: &'a Answer<'_>) -> Line<'a> {
    let lookup = &*answer.lookup;
    let view = answer.binary.and_then(|binary| binary.view.as_ref());
    let place = answer.link.zip(view);
    let symbol = place.and_then(|(link, view)| symbol_at(view, link));
    let digits = if answer.wide { 16 } else { 8 };
    let hexadecimal = |address: u64| format!("0x{address:0digits$x}");
    Line {
        address: hexadecimal(answer.address),
        module: answer.binary.map(|binary| &*binary.path),
        module_address: answer.link.map(hexadecimal),
        section: place.and_then(|(link, view)| Some(&*view.section_at(link)?.name)),
        function: lookup.function.as_ref().map(name),
        file: lookup.file.as_deref(),
        line: lookup.line,
        column: lookup.column,
        discriminator: place
            .filter(|_| lookup.line.is_some())
            .map(|(link, view)| view.discriminator(link))
            .filter(|&piece| piece > 0),
        frames: frames(lookup),
        openmp: place.and_then(|(link, view)| openmp(view, link)),
        symbol: symbol.map(|(kind, symbol, offset)| SymbolPart {
            address: hexadecimal(symbol.address),
            size: symbol.size,
            raw: symbol.raw,
            name: symbol.name,
            kind,
            offset,
        }),
        error: answer.binary.and_then(|binary| {
            let problem = binary.problem.as_ref()?;
            Some(ErrorPart {
                message: &problem.message,
                build_id: problem
                    .build_ids
                    .as_ref()
                    .map(|(expected, found)| BuildIds {
                        expected,
                        found: found.as_deref(),
                    }),
            })
        }),
    }
}

fn name(name: &FunctionName) -> Name<'_> {
    Name {
        raw: &name.raw,
        name: &name.demangled,
    }
}

fn frames(lookup: &Lookup) -> Vec<Frame<'_>> {
    lookup
        .frames
        .iter()
        .map(|frame| Frame {
            function: frame.function.as_ref().map(name),
            file: frame.file.as_deref(),
            line: frame.line,
            column: frame.column,
            inlined: frame.inlined,
        })
        .collect()
}

/// The symbol around a link address, code before data.
fn symbol_at(view: &GnuView, link: u64) -> Option<(&'static str, Symbol, u64)> {
    let image = view.image();
    let function = image.symbol(link).map(|symbol| ("function", symbol));
    let found = function.or_else(|| Some(("data", image.data_symbol(link)?)));
    found.map(|(kind, symbol)| {
        let offset = link.wrapping_sub(symbol.address);
        (kind, symbol, offset)
    })
}

/// The directive that an outlined function was made of.
fn openmp(view: &GnuView, link: u64) -> Option<OpenMp> {
    let directive = view.image().directive(link)?;
    Some(OpenMp {
        function: directive
            .function
            .map(|function| function.demangled.to_string()),
        construct: construct(directive.kind),
        index: directive.index,
        directive: Place {
            file: directive.file,
            line: directive.line,
            column: directive.column,
        },
        place: directive.place,
    })
}

/// What the name alone tells of the construct.
fn construct(kind: Kind) -> &'static str {
    match kind {
        Kind::Body => "parallel or task",
        Kind::Copy => "task data",
        Kind::Region => "parallel",
        Kind::Task => "task",
        _ => "outlined",
    }
}
