//! One image for many threads, for many units and for little memory: the answers are always the same.

mod common;

use std::path::PathBuf;

use common::*;
use instr_symtab::{Bytes, Image};

/// Sources with some functions each, inlined calls among them, in a program of as many units.
fn program_of_units(folder: &std::path::Path, units: usize, flags: &[&str]) -> PathBuf {
    let mut all = String::from("volatile int sink;\n");
    for unit in 0..units {
        let source = format!(
            "extern volatile int sink;\n\
             static inline __attribute__((always_inline)) int leaf_{unit}(int x) {{ sink = x; return x * {unit} + sink; }}\n\
             static inline __attribute__((always_inline)) int mid_{unit}(int x) {{\n  return leaf_{unit}(x) + 1;\n}}\n\
             __attribute__((noinline)) int outer_{unit}(int x) {{\n  for (int i = 0; i < x; i++) sink = mid_{unit}(i);\n  return sink;\n}}\n\
             __attribute__((noinline)) int other_{unit}(int x) {{\n  return outer_{unit}(x) + leaf_{unit}(x);\n}}\n"
        );
        std::fs::write(folder.join(format!("unit{unit}.c")), source).expect("written");
        all.push_str(&format!("int other_{unit}(int);\n"));
    }
    all.push_str("int main(int n, char **v) {\n  int sum = 0;\n");
    (0..units).for_each(|unit| all.push_str(&format!("  sum += other_{unit}(n);\n")));
    all.push_str("  return sum;\n}\n");
    std::fs::write(folder.join("main.c"), all).expect("written");
    let program = folder.join("program");
    let status = std::process::Command::new("gcc")
        .args(flags)
        .args((0..units).map(|unit| format!("unit{unit}.c")))
        .args(["main.c", "-o"])
        .arg(&program)
        .current_dir(folder)
        .status()
        .expect("gcc runs");
    assert!(status.success());
    program
}

/// Every address of the program's own functions.
fn addresses(image: &Image) -> Vec<u64> {
    let own = |name: &[u8]| {
        [&b"outer_"[..], b"other_", b"main"]
            .iter()
            .any(|p| name.starts_with(p))
    };
    let functions = image.symbols_where(own);
    let all = functions.iter().flat_map(|f| f.address..f.address + f.size);
    all.collect()
}

fn answer(image: &Image, address: u64) -> String {
    format!("{:?}", image.lookup(address))
}

#[test]
fn threads_that_ask_one_image_get_what_one_thread_gets() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = program_of_units(folder.path(), 12, &["-g", "-O2"]);
    let bytes = Bytes::from(std::fs::read(program).expect("the program"));
    let alone = Image::from_bytes(bytes.clone()).expect("the program");
    let addresses = addresses(&alone);
    assert!(addresses.len() > 500);
    let expected: Vec<_> = addresses.iter().map(|&a| answer(&alone, a)).collect();
    assert!(expected.iter().any(|answer| answer.contains("leaf_7")));

    let shared = Image::from_bytes(bytes).expect("the program");
    shared.set_unit_limit(1);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (shared, addresses, expected) = (&shared, &addresses, &expected);
            scope.spawn(move || {
                let mut random = Random(thread + 1);
                for _ in 0..2000 {
                    let at = random.below(addresses.len());
                    assert_eq!(answer(shared, addresses[at]), expected[at]);
                }
                for (answer, expected) in shared.lookup_all(addresses).iter().zip(expected) {
                    assert_eq!(format!("{answer:?}"), *expected);
                }
            });
        }
    });
}

#[test]
fn units_are_closed_when_they_take_too_much() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = program_of_units(folder.path(), 20, &["-g", "-O2"]);
    let bytes = Bytes::from(std::fs::read(program).expect("the program"));
    let wide = Image::from_bytes(bytes.clone()).expect("the program");
    let narrow = Image::from_bytes(bytes).expect("the program");
    let addresses = addresses(&wide);
    wide.lookup(addresses[0]);
    let one = wide.unit_bytes();
    narrow.set_unit_limit(3 * one);
    // Round and round: every unit is opened again and again.
    let mut largest = 0;
    for at in (0..addresses.len()).map(|at| at * 7919 % addresses.len()) {
        assert_eq!(answer(&narrow, addresses[at]), answer(&wide, addresses[at]));
        largest = largest.max(narrow.unit_bytes());
    }
    assert!(wide.unit_bytes() > 10 * one, "{} {one}", wide.unit_bytes());
    assert!(largest <= 5 * one, "{largest} of {one} each");
}

#[test]
fn answers_are_those_of_the_addr2line_crate() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags: [&[&str]; 6] = [
        &["-g", "-O2", "-gdwarf-5"],
        &["-g", "-O2", "-gdwarf-4", "-ffunction-sections"],
        &["-g", "-O1", "-gdwarf-3", "-gstrict-dwarf"],
        &["-g", "-O2", "-gdwarf-2", "-gstrict-dwarf"],
        &["-g", "-O3", "-flto"],
        &["-g", "-O2", "-gdwarf-5", "-gdwarf64"],
    ];
    for flags in flags {
        let program = program_of_units(folder.path(), 6, flags);
        compare_with_crate(&program);
    }
}

/// Compares frames, files, lines and columns at every address of the program's functions.
fn compare_with_crate(program: &std::path::Path) {
    let bytes = std::fs::read(program).expect("the program");
    let image = Image::parse(&bytes).expect("the program");
    let loader = addr2line::Loader::new(program).expect("the program");
    let mut inlined = 0;
    for address in addresses(&image) {
        let answer = image.lookup(address);
        let mut frames = loader.find_frames(address).expect("frames");
        let mut theirs = Vec::new();
        while let Some(frame) = frames.next().expect("a frame") {
            let place = frame.location.as_ref();
            theirs.push((
                frame
                    .function
                    .map(|f| f.raw_name().expect("a name").into_owned()),
                place.and_then(|p| p.file).map(str::to_owned),
                place.and_then(|p| p.line),
                place.and_then(|p| p.column),
            ));
        }
        let ours: Vec<_> = answer
            .frames
            .iter()
            .map(|frame| {
                let name = frame.function.as_ref().map(|name| {
                    // The symbol, which tells clones apart, counts for the outermost frame.
                    name.raw.split('.').next().unwrap_or_default().to_owned()
                });
                (
                    name,
                    frame.file.as_deref().map(str::to_owned),
                    frame.line,
                    frame.column,
                )
            })
            .collect();
        assert_eq!(ours, theirs, "{address:#x} in {}", program.display());
        inlined += usize::from(ours.len() > 2);
    }
    assert!(inlined > 0);
}
