//! Very small programs of every kind the symbolizer reads, so that each of their bytes can be changed in turn.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::input::{Input, Part};

/// Inlined calls, and with `-DCALL` a stub of the procedure linkage table.
const SOURCE: &str = "
extern int puts(const char *);
volatile int sink;
static inline __attribute__((always_inline)) int leaf(int x) { sink = x; return x * 3 + sink; }
__attribute__((noinline)) int outer(int x) { if (x > 5) sink = leaf(x); return leaf(x + 1); }
#ifdef CALL
int call(int x) { return puts(\"x\") + outer(x); }
#endif
void _start(void) { for (;;) outer(sink); }
";

/// Commands, and the files that make an input: the program first, then what it asks for.
type Recipe = (&'static [&'static str], &'static [&'static str]);

/// Programs that hold everything themselves: every class, byte order and version of DWARF, stubs, objects.
const PLAIN: &[Recipe] = &[
    (&["gcc -gdwarf-2 -O2 -static -Wl,-N @ -o x2"], &["x2"]),
    (&["gcc -gdwarf-3 -O2 -static -Wl,-N @ -o x3"], &["x3"]),
    (&["gcc -gdwarf-4 -O2 -static -Wl,-N @ -o x4"], &["x4"]),
    (&["gcc -gdwarf-5 -O2 -static -Wl,-N @ -o x5"], &["x5"]),
    (&["clang -gdwarf-5 -O2 -static -Wl,-N @ -o c5"], &["c5"]),
    (
        &["sparc64-linux-gnu-gcc -m32 -mcpu=v8 -gdwarf-4 -O2 -static -Wl,-N @ -o s324"],
        &["s324"],
    ),
    (
        &["sparc64-linux-gnu-gcc -m32 -mcpu=v8 -gdwarf-5 -O2 -static -Wl,-N @ -o s325"],
        &["s325"],
    ),
    (
        &["sparc64-linux-gnu-gcc -gdwarf-4 -O2 -static -Wl,-N @ -o s644"],
        &["s644"],
    ),
    (
        &["sparc64-linux-gnu-gcc -gdwarf-5 -O2 -static -Wl,-N @ -o s645"],
        &["s645"],
    ),
    (
        &["gcc -g -O2 -shared -fPIC -DCALL -Wl,-z,noseparate-code @ -o x.so"],
        &["x.so"],
    ),
    (
        &[
            "sparc64-linux-gnu-gcc -g -O2 -shared -fPIC -DCALL -Wl,-z,max-page-size=4096 @ -o s64.so",
        ],
        &["s64.so"],
    ),
    (
        &[
            "sparc64-linux-gnu-gcc -m32 -g -O2 -shared -fPIC -DCALL -Wl,-z,max-page-size=4096 @ -o s32.so",
        ],
        &["s32.so"],
    ),
    (&["gcc -g -O2 -c @ -o x.o"], &["x.o"]),
    (
        &["sparc64-linux-gnu-gcc -m32 -g -O2 -c @ -o s32.o"],
        &["s32.o"],
    ),
];

/// Programs that come in several files.
const SEVERAL: &[Recipe] = &[
    (
        &[
            "gcc -g -gsplit-dwarf -O2 -c @ -o p5.o",
            "gcc -static -nostdlib -Wl,-N p5.o -o p5",
        ],
        &["p5", "p5.dwo"],
    ),
    (
        &[
            "gcc -gdwarf-4 -gsplit-dwarf -O2 -c @ -o p4.o",
            "gcc -static -nostdlib -Wl,-N p4.o -o p4",
        ],
        &["p4", "p4.dwo"],
    ),
    (&["llvm-dwp -e p5 -o p5.dwp"], &["p5", "p5.dwp"]),
    (&["dwp -e p4 -o p4.dwp"], &["p4", "p4.dwp"]),
    (
        &[
            "gcc -g -O2 -static -Wl,-N,--build-id @ -o full",
            "objcopy --only-keep-debug full full.debug",
            "objcopy -S --add-gnu-debuglink=full.debug full stripped",
        ],
        &["stripped", "full.debug"],
    ),
    (
        &["cp full d1", "cp full d2", "dwz -m common d1 d2"],
        &["d1", "common"],
    ),
];

/// Programs with packed sections.
const PACKED: &[Recipe] = &[
    (
        &[
            "gcc -g -O2 -static -Wl,-N @ -o x",
            "objcopy --compress-debug-sections=zlib-gabi x z1",
        ],
        &["z1"],
    ),
    (
        &["objcopy --compress-debug-sections=zlib-gnu x z2"],
        &["z2"],
    ),
    (&["objcopy --compress-debug-sections=zstd x z3"], &["z3"]),
    (
        &[
            "objcopy --only-keep-debug x symbols",
            "objcopy --strip-debug symbols",
            "xz -kf symbols",
            "objcopy -S x bare",
            "objcopy --add-section=.gnu_debugdata=symbols.xz bare mini",
        ],
        &["mini"],
    ),
];

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One file, nothing packed.
    Plain,
    /// A program and its further files.
    Several,
    /// Compressed sections.
    Packed,
}

/// Builds the programs of a kind in `folder`; those whose tools are missing are left out.
pub(crate) fn build(folder: &Path, kind: Kind) -> Result<Vec<Input>> {
    let source = folder.join("tiny.c");
    fs::write(&source, SOURCE).with_context(|| format!("cannot write {}", source.display()))?;
    let recipes = match kind {
        Kind::Plain => PLAIN,
        Kind::Several => SEVERAL,
        Kind::Packed => PACKED,
    };
    let mut inputs = Vec::new();
    for (commands, files) in recipes {
        if commands.iter().all(|command| run(folder, command)) {
            inputs.push(read(folder, files)?);
        } else {
            eprintln!("left out, for lack of a tool: {}", files.join(", "));
        }
    }
    Ok(inputs)
}

/// Runs a command whose `@` stands for the source, compiled without libraries.
fn run(folder: &Path, command: &str) -> bool {
    let words = command.split(' ').flat_map(|word| match word {
        "@" => vec!["-nostdlib", "tiny.c"],
        word => vec![word],
    });
    let words: Vec<&str> = words.collect();
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn read(folder: &Path, files: &[&str]) -> Result<Input> {
    let mut parts = Vec::new();
    for name in files {
        let path = folder.join(name);
        let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        parts.push(Part {
            name: (*name).to_owned(),
            bytes,
        });
    }
    Ok(Input(parts))
}
