//! Frames of sampled addresses, compared with `addr2line -f -i -C` of binutils.

mod common;

use common::*;
use instr_symtab::Image;

/// Addresses in the functions of the source itself, every `step` bytes.
fn sample(target: &Target, program: &std::path::Path, names: &[&str], step: usize) -> Vec<u64> {
    let ours = functions(target, program)
        .into_iter()
        .filter(|(name, ..)| names.iter().any(|n| name.starts_with(n)));
    ours.flat_map(|(_, address, size)| (address..address + size).step_by(step))
        .collect()
}

/// Compares all frames; where binutils shows a clone's plain name, ours may carry the clone's suffix. Names of files
/// are compared by their last part, since binutils does not normalize.
fn compare(what: &str, ours: &Frames, theirs: &Frames, address: u64) {
    assert_eq!(
        ours.len(),
        theirs.len(),
        "{what} at {address:#x}: {ours:?} binutils: {theirs:?}"
    );
    for (our, their) in ours.iter().zip(theirs) {
        let same_name = our.0 == their.0
            || our.0 == instr_symtab::demangle(their.0.as_bytes()) // binutils leaves Fortran's names
            || our.0.starts_with(&format!("{}.", their.0))
            || our.0.starts_with(&format!("{} [clone", their.0))
            || our.0.starts_with(&format!("{} [clone", instr_symtab::demangle(their.0.as_bytes())));
        let last = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        assert!(
            same_name && last(&our.1) == last(&their.1) && our.2 == their.2,
            "{what} at {address:#x}: {ours:?} binutils: {theirs:?}"
        );
    }
}

fn check(target: &Target, source: &str, file: &str, flags: &[&str], names: &[&str]) -> Image {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(file), source).expect("the source is written");
    let program = target.compile(folder.path(), file, flags, "program");
    let addresses = sample(
        target,
        &program,
        names,
        if target.binutils.is_empty() { 1 } else { 4 },
    );
    assert!(
        addresses.len() > 40,
        "{} {flags:?}: only {} addresses",
        target.name,
        addresses.len()
    );
    let image = image(&program);
    assert!(target.machines.contains(&image.machine()));
    for (address, theirs) in addresses
        .iter()
        .zip(binutils_frames(target, &program, &addresses))
    {
        let ours = our_frames(&image, *address);
        // The start of an outlined function is the directive's line, where binutils may name the first statement.
        let starts_outlined = image
            .symbol(*address)
            .is_some_and(|s| s.address == *address && s.raw.contains("._omp_fn."));
        if !starts_outlined {
            compare(
                &format!("{} {flags:?}", target.name),
                &ours,
                &theirs,
                *address,
            );
        }
    }
    image
}

#[test]
fn inlined_calls_of_gcc_in_dwarf_4_and_5() {
    let mut deepest = 0;
    for target in gcc_targets() {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            for level in ["-O0", "-O2"] {
                let image = check(
                    &target,
                    INLINES,
                    "inlines.c",
                    &["-g", version, level],
                    &["outer", "cloned", "main"],
                );
                let outer = image.symbols_named("outer").remove(0);
                let depth = (outer.address..outer.address + outer.size)
                    .map(|a| image.lookup(a).frames.len())
                    .max();
                deepest = deepest.max(depth.unwrap_or(0));
            }
        }
    }
    assert_eq!(deepest, 3, "outer, mid and leaf");
}

#[test]
fn openmp_programs_of_gcc() {
    for target in gcc_targets() {
        for level in ["-O0", "-O2"] {
            check(
                &target,
                OPENMP,
                "openmp.c",
                &["-g", level, "-fopenmp"],
                &["loops", "tasks", "work", "main"],
            );
        }
    }
}

#[test]
fn compressed_debug_sections() {
    for target in gcc_targets() {
        check(
            &target,
            INLINES,
            "inlines.c",
            &["-g", "-O2", "-gz=zlib"],
            &["outer", "cloned", "main"],
        );
    }
}

#[test]
fn position_independent_static_and_shared() {
    let names = ["outer", "cloned", "main"];
    check(
        &X86_64,
        INLINES,
        "inlines.c",
        &["-g", "-O2", "-no-pie"],
        &names,
    );
    check(
        &X86_64,
        INLINES,
        "inlines.c",
        &["-g", "-O2", "-static"],
        &names,
    );
    check(
        &X86_64,
        INLINES,
        "inlines.c",
        &["-g", "-O2", "-shared", "-fPIC"],
        &names,
    );
}

#[test]
fn one_object_file() {
    for target in gcc_targets() {
        check(
            &target,
            INLINES,
            "inlines.c",
            &[
                "-g",
                "-O2",
                "-c",
                "-fno-toplevel-reorder",
                "-fno-reorder-functions",
            ],
            &["outer", "cloned"],
        );
    }
}

#[test]
fn cpp_and_fortran_names() {
    let cpp = r#"
volatile int sink;
namespace a {
template <class T, class... Rest> inline __attribute__((always_inline)) void store(T *at, Rest &&...rest) { *at = sink + sizeof...(rest); }
template <class T> struct B {
  T t;
  __attribute__((noinline)) int run(const T &other) { store(&t); store(&t, 1); return t + other; }
};
}
int main(int n, char **) {
  return a::B<unsigned long>{3}.run(n);
}
"#;
    let target = Target {
        compiler: &["g++"],
        ..X86_64
    };
    // DWARF 4: binutils 2.40 names the wrong file for inlined functions of headers in DWARF 5.
    let image = check(
        &target,
        cpp,
        "b.cc",
        &["-g", "-O1", "-gdwarf-4"],
        &["main", "_ZN1a"],
    );
    let run = image
        .symbols_where(|name| name.starts_with(b"_ZN1a"))
        .remove(0);
    assert_eq!(run.name, "a::B<unsigned long>::run(unsigned long const&)");

    let fortran = "module m\ncontains\nsubroutine work(x)\n  integer :: x, i\n!$omp parallel do\n  do i = 1, x\n    print *, i\n  end do\nend subroutine\nend module\nprogram p\n  use m\n  call work(3)\nend program\n";
    let target = Target {
        compiler: &["gfortran"],
        ..X86_64
    };
    if target.is_installed() {
        let image = check(
            &target,
            fortran,
            "m.f90",
            &["-g", "-fopenmp"],
            &["__m_MOD", "MAIN__", "main"],
        );
        let body = image.symbols_named("__m_MOD_work._omp_fn.0").remove(0);
        assert_eq!(image.lookup(body.address).line, Some(5));
    }
}

#[test]
fn clang_inlines_in_dwarf_4() {
    // DWARF 5 of clang is wrong in binutils 2.40 (outermost frame only): see `clang_inlines_in_dwarf_5`.
    if CLANG.is_installed() {
        check(
            &CLANG,
            INLINES,
            "inlines.c",
            &["-gdwarf-4", "-O2"],
            &["outer", "cloned", "main"],
        );
    }
}

#[test]
fn clang_inlines_in_dwarf_5() {
    if !CLANG.is_installed() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("inlines.c"), INLINES).expect("the source is written");
    let four = image(&CLANG.compile(folder.path(), "inlines.c", &["-gdwarf-4", "-O2"], "four"));
    let five = image(&CLANG.compile(folder.path(), "inlines.c", &["-gdwarf-5", "-O2"], "five"));
    // The code is the same, so are the frames.
    for name in ["outer", "main"] {
        let (a, b) = (
            four.symbols_named(name).remove(0),
            five.symbols_named(name).remove(0),
        );
        assert_eq!(a.size, b.size);
        for offset in 0..a.size {
            assert_eq!(
                our_frames(&four, a.address + offset),
                our_frames(&five, b.address + offset)
            );
        }
    }
}

#[test]
fn many_addresses_at_once_get_the_same_answers() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("inlines.c"), INLINES).expect("the source is written");
    let image = image(&X86_64.compile(
        folder.path(),
        "inlines.c",
        &["-g", "-O2", "-static"],
        "program",
    ));
    let main = image.symbols_named("main").remove(0).address;
    let mut random = Random(7);
    let addresses: Vec<u64> = (0..20_000)
        .map(|_| main - 8000 + random.below(16_000) as u64)
        .collect();
    let all = image.lookup_all(&addresses);
    assert_eq!(all.len(), addresses.len());
    for (address, answer) in addresses.iter().zip(&all) {
        assert_eq!(**answer, *image.lookup(*address), "{address:#x}");
    }
    assert!(all.iter().any(|answer| answer.frames.len() > 1));
}
