//! A stripped program and the files it asks for: `cargo run -p instr-symtab --example further_files -- PROGRAM`.
//!
//! The library says what it wants; where to look, and whether to, is the caller's decision.

use std::path::Path;

use instr_symtab::{Bytes, Image};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = std::env::args_os()
        .nth(1)
        .ok_or("usage: further_files PROGRAM")?;
    let program = Path::new(&program);
    let mut image = Image::from_bytes(std::fs::read(program)?.into())?;
    // A debug file may ask for a supplementary one in turn.
    for _ in 0..2 {
        let mut found = Vec::new();
        for want in image.wants() {
            let paths = want.candidates(program);
            match paths.iter().find(|path| path.is_file()) {
                Some(path) => {
                    println!("reads {}", path.display());
                    found.push(Bytes::from(std::fs::read(path)?));
                }
                None => println!("not found: {want:?}"),
            }
        }
        for refused in image.add_debug(found).into_iter().filter_map(Result::err) {
            println!("refused: {refused}");
        }
    }
    match image.debug_error() {
        Some(why) => println!("damaged: {why}"),
        None => println!("{} wishes left", image.wants().len()),
    }
    Ok(())
}
