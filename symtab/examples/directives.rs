//! Lists the OpenMP directives of a program: `cargo run -p instr-symtab --example directives -- PROGRAM`.

use std::process::ExitCode;

use instr_symtab::{Image, parse_outlined};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("directives: error: no program given\n  help: directives PROGRAM");
        return ExitCode::from(2);
    };
    let image = std::fs::read(&path).map_err(|why| why.to_string());
    let image = image.and_then(|bytes| Image::parse(&bytes).map_err(|why| why.to_string()));
    let image = match image {
        Ok(image) => image,
        Err(why) => {
            eprintln!("directives: error: cannot read {}: {why}", path.display());
            return ExitCode::from(1);
        }
    };
    let is_outlined = |name: &[u8]| parse_outlined(&String::from_utf8_lossy(name)).is_some();
    for symbol in image.symbols_where(is_outlined) {
        if let Some(directive) = image.directive(symbol.address) {
            let label = directive.label(None);
            println!(
                "{:#x} {} {label} nesting {}",
                symbol.address, symbol.raw, directive.nesting
            );
        }
    }
    ExitCode::SUCCESS
}
