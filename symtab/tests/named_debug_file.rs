//! A debug file that the user names must be that of the program.

mod common;

use std::path::Path;

use common::*;
use instr_symtab::{Bytes, Error, Image};

/// Compiles, and moves the debug information into a file of its own.
fn split(folder: &Path, name: &str, source: &str, link: bool, build_id: &str) -> (Image, Bytes) {
    std::fs::write(folder.join("source.c"), source).expect("the source is written");
    X86_64.compile(folder, "source.c", &["-g", "-O2", build_id], name);
    let debug = format!("{name}.debug");
    run(folder, "objcopy", &["--only-keep-debug", name, &debug]);
    run(folder, "strip", &["--strip-all", name]);
    if link {
        run(
            folder,
            "objcopy",
            &[&format!("--add-gnu-debuglink={debug}"), name],
        );
    }
    let bytes = std::fs::read(folder.join(debug)).expect("the debug file");
    (image(&folder.join(name)), Bytes::from(bytes))
}

fn has_names(image: &Image) -> bool {
    image
        .symbols_named("outer")
        .first()
        .is_some_and(|outer| image.lookup(outer.address).line.is_some())
}

const OTHER: &str = "int main(void) { return 3; }\n";

#[test]
fn a_build_id_must_be_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut image, own) = split(folder.path(), "own", INLINES, false, "-Wl,--build-id");
    let (other_image, other) = split(folder.path(), "other", OTHER, false, "-Wl,--build-id");
    let hex = |id: Option<&[u8]>| {
        id.unwrap_or_default()
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect::<String>()
    };
    match image.add_debug_file(other) {
        Err(Error::OtherProgram { found, expected }) => {
            assert_eq!(found, hex(other_image.build_id()));
            assert_eq!(expected, hex(image.build_id()));
        }
        result => panic!("{result:?}"),
    }
    assert!(!has_names(&image));
    image.add_debug_file(own).expect("its own debug file");
    assert!(has_names(&image));
}

#[test]
fn a_checksum_must_be_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut image, own) = split(folder.path(), "own", INLINES, true, "-Wl,--build-id=none");
    let (_, other) = split(folder.path(), "other", OTHER, true, "-Wl,--build-id=none");
    let wanted = image.debug_link().expect("a link").1;
    match image.add_debug_file(other) {
        Err(Error::OtherChecksum { found, expected }) => {
            assert!(found != wanted && expected == wanted)
        }
        result => panic!("{result:?}"),
    }
    image.add_debug_file(own).expect("its own debug file");
    assert!(has_names(&image));
}

#[test]
fn without_anything_recorded_the_user_is_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut image, own) = split(folder.path(), "own", INLINES, false, "-Wl,--build-id=none");
    let refused = image.add_debug_file(Bytes::from(&b"no ELF"[..]));
    assert!(matches!(refused, Err(Error::NotElf)), "{refused:?}");
    image.add_debug_file(own).expect("the file the user names");
    assert!(has_names(&image));
}
