//! Outlined functions as directives: the function of the source, file and line, labels that differ.

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::*;
use instr_symtab::{Construct, Directive, Image, OutlinedKind, parse_outlined};

/// `// AT function nesting` marks a directive; the nesting is clang's, GCC does not tell.
const NESTED: &str = r#"
#include <stdio.h>
extern int rand(void);
static int work(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * rand(); return s; }
static inline __attribute__((always_inline)) void inlined(int *a, int n) {
#pragma omp parallel for reduction(+ : a[0 : 1]) // AT inlined 0
  for (int i = 0; i < n; i++)
    a[0] += work(i);
}
__attribute__((noinline)) int nested(int n) {
  int a = 0, b = 0;
#pragma omp parallel shared(a) num_threads(2) // AT nested 0
  {
    if (work(n) > 3)
      printf("deep\n");
#pragma omp parallel shared(a, b) // AT nested 1
    {
#pragma omp single
      {
#pragma omp task shared(a) firstprivate(n) // AT nested 2
        {
          a = work(n);
#pragma omp task shared(b) // AT nested 3
          b = work(a);
        }
      }
    }
  }
  return a + b;
}
int main(int argc, char **argv) {
  (void)argv;
  int a[1] = {argc};
  inlined(a, argc);
  inlined(a, argc + 1);
  printf("%d\n", a[0]);
#pragma omp taskloop // AT main 0
  for (int i = 0; i < argc; i++)
    work(i);
  return nested(argc);
}
"#;

/// The marks of a source: function, line, nesting.
fn marks(source: &str) -> BTreeSet<(String, u32, usize)> {
    let mark = |(at, line): (usize, &str)| {
        let (_, mark) = line.split_once("// AT ")?;
        let (function, nesting) = mark.rsplit_once(' ')?;
        Some((function.to_owned(), at as u32 + 1, nesting.parse().ok()?))
    };
    source.lines().enumerate().filter_map(mark).collect()
}

/// Directives of the bodies of a program, without the functions that copy data.
fn directives(image: &Image) -> Vec<Directive> {
    let outlined =
        image.symbols_where(|name| parse_outlined(&String::from_utf8_lossy(name)).is_some());
    let all = outlined.iter().map(|symbol| {
        let found = image.directive(symbol.address);
        let found = found.unwrap_or_else(|| panic!("{}: no directive", symbol.raw));
        // Any address of the function tells the same.
        let inside = image.directive(symbol.address + symbol.size.saturating_sub(1));
        assert_eq!(inside.as_ref(), Some(&found));
        found
    });
    all.filter(|directive| directive.kind != OutlinedKind::Copy)
        .collect()
}

fn image_of(target: &Target, source: &str, file: &str, flags: &[&str]) -> Image {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join(file), source).expect("the source is written");
    image(&target.compile(folder.path(), file, flags, "program"))
}

/// Compares functions, lines and (if `nests`) nesting with the marks in the source.
fn check(target: &Target, source: &str, file: &str, flags: &[&str], nests: bool) {
    let what = format!("{} {flags:?}", target.name);
    let image = image_of(target, source, file, flags);
    let found = directives(&image);
    let name = |directive: &Directive| {
        let function = directive.function.as_ref();
        function
            .unwrap_or_else(|| panic!("{what}: {directive:?}"))
            .demangled
            .to_string()
    };
    let found: BTreeSet<_> = found
        .iter()
        .map(|d| {
            (
                name(d),
                d.line.unwrap_or(0),
                if nests { d.nesting } else { 0 },
            )
        })
        .collect();
    let expected: BTreeSet<_> = marks(source)
        .into_iter()
        .map(|(name, line, nesting)| (name, line, if nests { nesting } else { 0 }))
        .collect();
    assert_eq!(found, expected, "{what}");
}

#[test]
fn gcc_names_the_function_and_the_lines_tell_the_directive() {
    for target in gcc_targets() {
        for level in [&["-O0"][..], &["-O2"], &["-O2", "-flto"]] {
            let flags = [&["-g", "-fopenmp"], level].concat();
            check(&target, NESTED, "nested.c", &flags, false);
        }
    }
}

#[test]
fn clangs_names_or_the_code_tell_the_function() {
    if !CLANG.is_installed() {
        return;
    }
    for flags in [
        ["-fopenmp", "-O0", "-gdwarf-5", "-fPIE"],
        ["-fopenmp", "-O2", "-gdwarf-4", "-fPIE"],
        ["-fopenmp", "-O2", "-gdwarf-5", "-no-pie"],
    ] {
        check(&CLANG, NESTED, "nested.c", &flags, true);
    }
}

/// In code that is loaded anywhere, addresses begin at 0, and small numbers in other code look like them: they refer to nothing.
#[test]
fn numbers_that_look_like_addresses_refer_to_no_function() {
    if !CLANG.is_installed() {
        return;
    }
    let mark = "numbers in code.";
    let source = format!(
        "{NESTED}__asm__(\".text\\n.globl numbers\\nnumbers: .ascii \\\"{mark}\\\"\\n\");\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("nested.c"), source).unwrap();
    let flags = ["-fopenmp", "-O2", "-gdwarf-4", "-fPIE", "-pie"];
    let program = CLANG.compile(folder.path(), "nested.c", &flags, "nested");
    let before = directives(&image(&program));
    assert!(before.iter().all(|directive| directive.function.is_some()));
    let bytes = std::fs::read(&program).unwrap();
    let at = bytes
        .windows(mark.len())
        .position(|part| part == mark.as_bytes());
    for directive in &before {
        let mut other = bytes.clone();
        let entry = u32::try_from(directive.entry).unwrap().to_le_bytes();
        other[at.unwrap()..][..4].copy_from_slice(&entry);
        assert_eq!(directives(&Image::parse(&other).unwrap()), before);
    }
}

#[test]
fn without_debug_information_function_and_number_remain() {
    for target in gcc_targets() {
        let image = image_of(&target, NESTED, "nested.c", &["-O2", "-fopenmp"]);
        let labels: BTreeSet<String> = directives(&image)
            .iter()
            .map(|d| d.label(Some(Construct::Task)))
            .collect();
        assert_eq!(labels.len(), 6, "{labels:?}");
        assert!(
            labels.contains("nested [omp task nested.c #3]"),
            "{labels:?}"
        );
    }
    if CLANG.is_installed() {
        let image = image_of(&CLANG, NESTED, "nested.c", &["-O2", "-fopenmp"]);
        let found = directives(&image);
        let of = |name: &str| {
            let named = |d: &&Directive| d.function.as_ref().is_some_and(|f| &*f.raw == name);
            found.iter().filter(named).count()
        };
        // Clang since 17 names the function; before, what was inlined into `main` cannot be told from it.
        let named = usize::from(!image.symbols_named("inlined.omp_outlined").is_empty());
        let counts = ["nested", "inlined", "main"].map(of);
        assert_eq!(counts, [4, named, 2 - named], "{found:#?}");
        let nested = found.iter().filter(|d| d.nesting > 0).map(|d| d.nesting);
        assert_eq!(nested.collect::<BTreeSet<_>>(), [1, 2, 3].into());
        let construct = |d: &Directive| match d.kind {
            OutlinedKind::Task => Construct::Task,
            _ => Construct::Parallel,
        };
        let labels: BTreeSet<String> = found.iter().map(|d| d.label(Some(construct(d)))).collect();
        assert_eq!(labels.len(), 6, "{labels:?}");
        assert!(found.iter().all(|d| d.line.is_none()));
    }
}

#[test]
fn cpp_templates_and_lambdas() {
    let source = r#"
#include <cstdio>
namespace a {
template <class T> __attribute__((noinline)) T sum(T n) {
  T s = 0;
#pragma omp parallel for reduction(+ : s) // both
  for (int i = 0; i < 100; i++) s += n;
  return s;
}
}
int main(int argc, char **) {
  auto lambda = [&](int n) {
#pragma omp task // lambda
    std::printf("%d\n", n + argc);
  };
#pragma omp parallel // main
  lambda(argc);
  return (int)a::sum<double>(argc) + a::sum<int>(argc);
}
"#;
    for (compiler, target) in [
        ("g++", X86_64),
        ("clang++", CLANG),
        ("sparc64-linux-gnu-g++", SPARC64),
    ] {
        if !instr_test_needs::has(compiler) {
            continue;
        }
        let compiler: &'static [&'static str] = match compiler {
            "g++" => &["g++"],
            "clang++" => &["clang++"],
            _ => &["sparc64-linux-gnu-g++"],
        };
        let target = Target { compiler, ..target };
        for level in ["-O0", "-O2"] {
            let image = image_of(&target, source, "a.cc", &["-g", "-fopenmp", level]);
            let found: BTreeSet<(String, u32)> = directives(&image)
                .iter()
                .map(|d| {
                    (
                        d.function
                            .as_ref()
                            .map_or("??", |f| &*f.demangled)
                            .to_owned(),
                        d.line.unwrap_or(0),
                    )
                })
                .collect();
            let line = |mark: &str| line_of(source, mark);
            let has =
                |name: &str, line: u32| found.iter().any(|(f, l)| f.contains(name) && *l == line);
            let what = format!("{compiler:?} {level}: {found:?}");
            assert!(has("a::sum<double>(double)", line("// both")), "{what}");
            assert!(has("a::sum<int>(int)", line("// both")), "{what}");
            assert!(has("main", line("// main")), "{what}");
            assert!(has("::operator()(int) const", line("// lambda")), "{what}");
            assert_eq!(found.len(), 4, "{what}");
        }
    }
}

#[test]
fn fortran_says_do() {
    let source = "module m\ncontains\nsubroutine work(x)\n  integer :: x, i\n!$omp parallel do\n  do i = 1, x\n    print *, i\n  end do\nend subroutine\nend module\nprogram p\n  use m\n!$omp parallel\n  call work(3)\n!$omp end parallel\nend program\n";
    for (compiler, target) in [
        (&["gfortran"][..], X86_64),
        (&["sparc64-linux-gnu-gfortran", "-m32"], SPARC32),
        (&["sparc64-linux-gnu-gfortran"], SPARC64),
    ] {
        let target = Target {
            compiler: if compiler.len() == 2 {
                &["sparc64-linux-gnu-gfortran", "-m32"]
            } else if compiler[0] == "gfortran" {
                &["gfortran"]
            } else {
                &["sparc64-linux-gnu-gfortran"]
            },
            ..target
        };
        if !target.is_installed() {
            continue;
        }
        for level in ["-O0", "-O2"] {
            let image = image_of(&target, source, "m.f90", &["-g", "-fopenmp", level]);
            let labels: Vec<String> = directives(&image)
                .iter()
                .map(|d| d.label(Some(Construct::ParallelLoop)))
                .collect();
            let has = |label: &str| labels.iter().any(|other| other == label);
            assert!(
                has("m::work [omp parallel do m.f90:5]"),
                "{} {labels:?}",
                target.name
            );
            assert!(
                has("MAIN__ [omp parallel do m.f90:13]"),
                "{} {labels:?}",
                target.name
            );
        }
    }
}

/// Compiles several files, given by path and text, into one program.
fn several(target: &Target, folder: &Path, files: &[(&str, String)], flags: &[&str]) -> Image {
    let mut objects = Vec::new();
    for (path, text) in files {
        let place = folder.join(path);
        std::fs::create_dir_all(place.parent().expect("a folder")).expect("the folder is made");
        std::fs::write(&place, text).expect("the source is written");
        let object = path.replace('/', "_") + ".o";
        target.compile(folder, path, &[flags, &["-c"]].concat(), &object);
        objects.push(object);
    }
    let mut link = flags.to_vec();
    link.extend(objects[1..].iter().map(String::as_str));
    image(&target.compile(folder, &objects[0], &link, "program"))
}

#[test]
fn equal_names_are_told_apart() {
    let file = |global: &str| {
        format!(
            "static void f(int *x) {{\n#pragma omp parallel num_threads(2)\n  *x += 1;\n}}\nvoid {global}(int *x) {{ f(x); }}\n"
        )
    };
    let main = "void one(int *), two(int *), three(int *);\n#define P _Pragma(\"omp parallel\") x += 1;\nint main(void) {\n  int x = 0;\n  one(&x); two(&x); three(&x);\n  P P\n  return x;\n}\n";
    let clang = CLANG.is_installed().then_some(CLANG);
    for target in gcc_targets().into_iter().chain(clang) {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [
            ("main.c", main.to_owned()),
            ("a.c", file("one")),
            ("b.c", file("two")),
            ("sub/a.c", file("three")),
        ];
        for flags in [
            &["-g", "-fopenmp", "-O0"][..],
            &["-g", "-fopenmp", "-O2", "-fno-inline"],
            &["-fopenmp", "-O0"],
        ] {
            let image = several(&target, folder.path(), &files, flags);
            let found = directives(&image);
            let what = format!("{} {flags:?}: {found:#?}", target.name);
            let bodies: BTreeSet<u64> = found.iter().map(|d| d.entry).collect();
            let labels: BTreeSet<String> = found.iter().map(|d| d.label(None)).collect();
            assert_eq!(bodies.len(), 5, "{what}");
            if flags.contains(&"-g") {
                assert_eq!(labels.len(), 5, "{labels:?} {what}");
                assert!(labels.contains("f [omp b.c:2]"), "{labels:?}");
                assert!(labels.contains("f [omp sub/a.c:2]"), "{labels:?}");
                assert!(
                    labels.iter().any(|l| l.starts_with("main [omp main.c:6 #")
                        || l.starts_with("main [omp main.c:6:")),
                    "{labels:?}"
                );
            }
        }
    }
}

#[test]
fn a_region_and_a_task_of_one_line_are_told_apart() {
    let source = "__attribute__((noinline)) int f(int n) {\n  _Pragma(\"omp parallel\") { n++; _Pragma(\"omp task\") n += 2; }\n  return n;\n}\nint main(int n, char **v) { (void)v; return f(n); }\n";
    let clang = CLANG.is_installed().then_some(CLANG);
    for target in gcc_targets().into_iter().chain(clang) {
        for level in ["-O0", "-O2"] {
            let flags = ["-g", "-fopenmp", level];
            let found = directives(&image_of(&target, source, "a.c", &flags));
            let labels: BTreeSet<String> = found.iter().map(|d| d.label(None)).collect();
            let bodies: BTreeSet<u64> = found.iter().map(|d| d.entry).collect();
            let what = format!("{} {level}: {found:#?}", target.name);
            assert_eq!((bodies.len(), labels.len()), (2, 2), "{what}");
            assert!(
                labels.iter().all(|l| l.starts_with("f [omp a.c:2")),
                "{what}"
            );
        }
    }
}

#[test]
fn other_functions_are_no_directives() {
    let image = image_of(&X86_64, INLINES, "inlines.c", &["-g"]);
    for symbol in image.symbols_where(|_| true) {
        assert_eq!(image.directive(symbol.address), None, "{}", symbol.raw);
    }
    assert_eq!(image.directive(0), None);
}
