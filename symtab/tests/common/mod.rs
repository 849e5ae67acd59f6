//! Compiles small programs and asks binutils about them.
#![allow(dead_code)] // every test binary uses a part

use std::path::{Path, PathBuf};
use std::process::Command;

use instr_symtab::Image;

/// A compiler and the tools that belong to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) compiler: &'static [&'static str],
    pub(crate) binutils: &'static str,
    pub(crate) machines: &'static [u16],
}

pub(crate) const X86_64: Target = Target {
    name: "x86-64",
    compiler: &["gcc"],
    binutils: "",
    machines: &[62],
};
pub(crate) const CLANG: Target = Target {
    name: "clang",
    compiler: &["clang"],
    binutils: "",
    machines: &[62],
};
pub(crate) const SPARC32: Target = Target {
    name: "sparc32",
    compiler: &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=v8"],
    binutils: "sparc64-linux-gnu-",
    machines: &[2, 18],
};
pub(crate) const SPARC64: Target = Target {
    name: "sparc64",
    compiler: &["sparc64-linux-gnu-gcc"],
    binutils: "sparc64-linux-gnu-",
    machines: &[43],
};

/// The GCC targets; SPARC ones drop out with a note where the cross compiler is not installed.
pub(crate) fn gcc_targets() -> Vec<Target> {
    [X86_64, SPARC32, SPARC64]
        .into_iter()
        .filter(|target| target.is_installed())
        .collect()
}

impl Target {
    /// Whether the compiler runs here.
    pub(crate) fn is_installed(&self) -> bool {
        instr_test_needs::has(self.compiler[0])
    }

    /// Compiles `source` in `folder` with `flags` into `output`.
    pub(crate) fn compile(
        &self,
        folder: &Path,
        source: &str,
        flags: &[&str],
        output: &str,
    ) -> PathBuf {
        let path = folder.join(output);
        let mut command = Command::new(self.compiler[0]);
        command
            .args(&self.compiler[1..])
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(&path)
            .current_dir(folder);
        let out = command.output().expect("the compiler starts");
        assert!(
            out.status.success(),
            "{command:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        path
    }
}

/// Runs a tool and gives its standard output.
pub(crate) fn run(folder: &Path, tool: &str, arguments: &[&str]) -> String {
    let out = Command::new(tool)
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the tool starts");
    assert!(
        out.status.success(),
        "{tool} {arguments:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// Reads a program into an image.
pub(crate) fn image(path: &Path) -> Image {
    Image::parse(&std::fs::read(path).expect("the program is there")).expect("the program is read")
}

/// Function and `file:line` of each frame, innermost first.
pub(crate) type Frames = Vec<(String, String, u32)>;

/// What `addr2line -f -i -C` says of each address.
pub(crate) fn binutils_frames(target: &Target, program: &Path, addresses: &[u64]) -> Vec<Frames> {
    let tool = format!("{}addr2line", target.binutils);
    let mut answers = Vec::new();
    for chunk in addresses.chunks(2000) {
        let texts: Vec<String> = chunk.iter().map(|a| format!("{a:#x}")).collect();
        let mut arguments = vec![
            "-a",
            "-f",
            "-i",
            "-C",
            "-e",
            program.to_str().expect("plain path"),
        ];
        arguments.extend(texts.iter().map(String::as_str));
        let out = run(Path::new("/"), &tool, &arguments);
        let mut lines = out.lines().peekable();
        while let Some(first) = lines.next() {
            assert!(first.starts_with("0x"), "address line: {first}");
            let mut frames = Frames::new();
            while lines.peek().is_some_and(|line| !line.starts_with("0x")) {
                let function = lines.next().unwrap_or_default().to_owned();
                let place = lines.next().unwrap_or_default();
                let place = place.split(" (discriminator").next().unwrap_or_default();
                let (file, line) = place.rsplit_once(':').expect("file:line");
                frames.push((function, file.to_owned(), line.parse().unwrap_or(0)));
            }
            answers.push(frames);
        }
    }
    assert_eq!(answers.len(), addresses.len());
    answers
}

/// The same of ours.
pub(crate) fn our_frames(image: &Image, address: u64) -> Frames {
    let answer = image.lookup(address);
    let frames = answer.frames.iter().map(|frame| {
        let name = frame.function.as_ref().map_or("??", |name| &name.demangled);
        (
            name.to_owned(),
            frame.file.as_deref().unwrap_or("??").to_owned(),
            frame.line.unwrap_or(0),
        )
    });
    frames.collect()
}

/// Name, address and size of the defined functions, from `nm`.
pub(crate) fn functions(target: &Target, program: &Path) -> Vec<(String, u64, u64)> {
    let out = run(
        Path::new("/"),
        &format!("{}nm", target.binutils),
        &[
            "-S",
            "--defined-only",
            program.to_str().expect("plain path"),
        ],
    );
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [address, size, kind, name] = fields[..] else {
            return None;
        };
        let hex = |text| u64::from_str_radix(text, 16).ok();
        "tTwW".contains(kind).then_some(())?;
        Some((name.to_owned(), hex(address)?, hex(size)?))
    };
    out.lines().filter_map(parse).collect()
}

/// The 1-based number of the line that holds `marker`.
pub(crate) fn line_of(source: &str, marker: &str) -> u32 {
    source
        .lines()
        .position(|line| line.contains(marker))
        .map_or(0, |at| at as u32 + 1)
}

/// A small generator of reproducible pseudo-random numbers (xorshift64*).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// A C program with inlined calls, a clone and OpenMP constructs, each marked by a comment.
pub(crate) const INLINES: &str = r#"
#include <stdlib.h>
volatile int sink;
static inline __attribute__((always_inline)) int leaf(int x) {
  sink = x;
  return x * 3 + sink;
}
static inline __attribute__((always_inline)) int mid(int x) {
  int y = leaf(x);
  return y + leaf(y + 1);
}
static __attribute__((noinline)) int cloned(int x, int unused) {
  for (int i = 0; i < 3; i++)
    sink += x;
  return mid(x);
}
__attribute__((noinline)) int outer(int x) {
  if (x > 5)
    sink = mid(x);
  return cloned(x, 7);
}
int main(int argc, char **argv) {
  (void)argv;
  return outer(argc) + cloned(argc + 1, 7);
}
"#;

/// OpenMP constructs whose first lines are marked.
pub(crate) const OPENMP: &str = r#"
#include <stdio.h>
extern int rand(void);
static int work(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * rand(); return s; }
int loops(int n) {
  int sum = 0;
  int k = n * 3;

#pragma omp parallel for reduction(+ : sum) firstprivate(k) // MARK loops._omp_fn.0
  for (int i = 0; i < n; i++)
    sum += work(i) + k;
  return sum;
}
int tasks(int n) {
  int a = 0, b = 0;
#pragma omp parallel shared(a, b) // MARK tasks._omp_fn.0
  {
#pragma omp single
    {
#pragma omp task depend(out : a) shared(a) firstprivate(n) // MARK tasks._omp_fn.1
      a = work(n);
#pragma omp task depend(in : a) shared(a, b) // MARK tasks._omp_fn.2
      { b = work(a); printf("%d\n", b); }
    }
#pragma omp critical(account)
    a += work(b);
  }
  return a + b;
}
int main(int argc, char **argv) {
  (void)argv;
  return loops(argc) + tasks(argc);
}
"#;
