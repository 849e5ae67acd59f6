//! Good inputs, compiled at the start by whatever compilers are there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// Larger files are no good seeds: mutations get lost in them.
const MAX_SEED: usize = 192 << 10;

const C: &str = "
#include <stdlib.h>
int shared_value; extern void hook(void) __attribute__((weak));
static inline int twice(int x) { return x * 2 + rand(); }
int work(int n) {
  int sum = 0;
#pragma omp parallel for reduction(+:sum) schedule(dynamic)
  for (int i = 0; i < n; i++) sum += twice(i);
#pragma omp parallel
#pragma omp single
  {
#pragma omp task depend(out: sum)
    sum += twice(n);
#pragma omp critical(name)
    shared_value++;
  }
  if (hook) hook();
  return sum;
}
int main(int argc, char **argv) { (void)argv; return work(argc); }
";

const CPP: &str = "
extern \"C\" int GOMP_single_start();
namespace a { template <class T> struct B { virtual ~B() {} T t; inline int run(T x) { return t + x; } }; }
template struct a::B<int>;
int use(int n) {
  int sum = 0;
#pragma omp parallel for reduction(+:sum)
  for (int i = 0; i < n; i++) { a::B<long> b; b.t = i; sum += b.run(n); }
  return sum;
}
";

/// Name and contents of each seed.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// All seeds of files in ELF and around it.
#[derive(Debug, Default)]
pub(crate) struct Seeds {
    /// Relocatable objects.
    pub(crate) objects: Files,
    /// Archives of them, GNU and thin.
    pub(crate) archives: Files,
    /// Executables and shared objects.
    pub(crate) linked: Files,
}

/// A compiler, its own flags, what it compiles.
const COMPILERS: [(&str, &[&str], &str); 7] = [
    ("gcc", &[], "a.c"),
    ("gcc", &["-gz=zlib", "-ffunction-sections"], "a.c"),
    ("g++", &["-ffunction-sections"], "b.cc"),
    ("clang", &["-gdwarf-5", "-faddrsig"], "a.c"),
    ("sparc64-linux-gnu-gcc", &["-m32", "-mcpu=v8"], "a.c"),
    ("sparc64-linux-gnu-gcc", &["-fPIC"], "a.c"),
    (
        "sparc64-linux-gnu-g++",
        &["-m32", "-mcpu=v9", "-gdwarf-4"],
        "b.cc",
    ),
];

impl Seeds {
    /// Compiles them in `folder`.
    pub(crate) fn compile(folder: &Path) -> Result<Self> {
        fs::write(folder.join("a.c"), C)?;
        fs::write(folder.join("b.cc"), CPP)?;
        let mut seeds = Seeds::default();
        for (number, (compiler, own, source)) in COMPILERS.iter().enumerate() {
            let object = format!("{number}.o");
            let flags = ["-g", "-O1", "-fopenmp", "-c", source, "-o", &object];
            if run(folder, compiler, own, &flags) {
                keep(folder, &object, &mut seeds.objects)?;
            }
        }
        let plain = format!("{}.o", COMPILERS.len());
        if run(
            folder,
            "gcc",
            &["-O0", "-flto"],
            &["-c", "a.c", "-o", &plain],
        ) {
            keep(folder, &plain, &mut seeds.objects)?;
        }
        if run(folder, "ar", &[], &["rcs", "g.a", "0.o", "2.o"]) {
            keep(folder, "g.a", &mut seeds.archives)?;
        }
        if run(folder, "ar", &[], &["rcsT", "thin.a", "0.o", "2.o"]) {
            keep(folder, "thin.a", &mut seeds.archives)?;
        }
        let links: [(&str, &[&str], &str); 5] = [
            ("gcc", &["-g", "-fopenmp"], "exe"),
            (
                "gcc",
                &["-g", "-shared", "-fPIC", "-fopenmp", "-Wl,--build-id"],
                "x.so",
            ),
            ("gcc", &["-g", "-O2", "-gsplit-dwarf", "-fopenmp"], "split"),
            ("sparc64-linux-gnu-gcc", &["-g", "-fopenmp"], "sparc64"),
            (
                "sparc64-linux-gnu-gcc",
                &["-m32", "-g", "-shared", "-fPIC"],
                "sparc32.so",
            ),
        ];
        for (compiler, own, output) in links {
            if run(folder, compiler, own, &["a.c", "-o", output]) {
                keep(folder, output, &mut seeds.linked)?;
            }
        }
        Ok(seeds)
    }
}

/// Runs a tool; false if it is missing or fails, which only means fewer seeds.
fn run(folder: &Path, tool: &str, own: &[&str], arguments: &[&str]) -> bool {
    let mut command = Command::new(tool);
    command
        .args(own)
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Reads a file the compiler made.
fn keep(folder: &Path, name: &str, into: &mut Files) -> Result<()> {
    let bytes = fs::read(folder.join(name)).with_context(|| format!("cannot read seed {name}"))?;
    if bytes.len() <= MAX_SEED {
        into.push((name.to_owned(), bytes));
    }
    Ok(())
}
