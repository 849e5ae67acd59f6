//! Callers at every instruction of programs that step through themselves, compared with glibc's `backtrace()`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use instr_symtab::{CallFrames, Image, Registers, return_addresses, return_addresses_with_frames};

/// As in `programs/unwinding.c`.
const CALLERS: usize = 40;
const WORDS: usize = 800;
const NUMBERS: usize = 8 + 1 + CALLERS + 1 + WORDS;
/// rbx, rbp, r12 to r15.
const KEPT: [u16; 6] = [3, 6, 12, 13, 14, 15];

struct Step {
    start: Registers,
    callers: Vec<u64>,
    words: Vec<u64>,
}

/// A file that the program runs in.
struct Loaded {
    path: PathBuf,
    image: Image,
    frames: CallFrames,
    /// What is added to its link addresses.
    bias: u64,
}

/// Files by where they begin in memory.
type Files = BTreeMap<u64, Loaded>;

fn run(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("it runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
    output.stdout
}

/// Builds the program and its library, runs it, and reads what it wrote.
fn steps(compiler: &str, flags: &[&str]) -> (Files, Vec<Step>) {
    let folder = tempfile::tempdir().expect("a folder");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let (library, program) = (folder.path().join("lib.so"), folder.path().join("program"));
    let shared = ["-fPIC", "-shared", "-o"];
    let code = sources.join("unwinding_library.c");
    let mut first = Command::new("gcc");
    run(first.args(flags).args(shared).arg(&library).arg(code));
    let language = if compiler.ends_with("++") { "c++" } else { "c" };
    let mut second = Command::new(compiler);
    let code = sources.join("unwinding.c");
    second.args(flags).args(["-x", language]).arg(code);
    run(second
        .args(["-x", "none", "-o"])
        .arg(&program)
        .arg(&library));
    let written = run(&mut Command::new(&program));
    let head = written.windows(2).position(|two| two == b"\n\n");
    let head = head.expect("the files end with an empty line");
    let text = String::from_utf8(written[..head].to_vec()).expect("text");
    let files = text.lines().filter_map(file).collect();
    let numbers: Vec<u64> = written[head + 2..]
        .chunks_exact(8)
        .map(|bytes| u64::from_ne_bytes(bytes.try_into().expect("8 bytes")))
        .collect();
    (files, numbers.chunks_exact(NUMBERS).map(step).collect())
}

fn file(line: &str) -> Option<(u64, Loaded)> {
    let (base, path) = line.split_once(' ')?;
    let base = u64::from_str_radix(base, 16).ok()?;
    let bytes = std::fs::read(path).ok()?; // the kernel's library is no file
    let image = Image::parse(&bytes).expect("an ELF file");
    let lowest = if base == 0 { 0x40_0000 } else { base };
    let loaded = Loaded {
        path: path.into(),
        frames: CallFrames::of(&image),
        image,
        bias: base,
    };
    Some((lowest, loaded))
}

/// The file around an address.
fn file_at(files: &Files, address: u64) -> Option<&Loaded> {
    files
        .range(..=address)
        .next_back()
        .map(|(_, loaded)| loaded)
}

fn step(numbers: &[u64]) -> Step {
    let mut start = Registers::new(numbers[0], numbers[1]);
    for (number, value) in KEPT.into_iter().zip(&numbers[2..8]) {
        start.set(number, *value);
    }
    let list = |at: usize| numbers[at + 1..][..numbers[at] as usize].to_vec();
    Step {
        start,
        callers: list(8),
        words: list(8 + 1 + CALLERS),
    }
}

/// Return addresses up to where the copied stack ends are those of `backtrace()`; with the eight words of a sample and the frame
/// pointers, they are the first of them, and all where every function keeps a frame pointer.
fn compare(compiler: &str, flags: &[&str], keeps_frames: bool) {
    let (files, steps) = steps(compiler, flags);
    let what = format!("{compiler} {flags:?}");
    assert!(steps.len() > 2000, "{what}: {} steps", steps.len());
    let module = |address: u64| {
        let loaded = file_at(&files, address)?;
        Some((&loaded.frames, address.wrapping_sub(loaded.bias)))
    };
    let mut by_frames = 0;
    for step in &steps {
        let (pc, sp) = (step.start.pc().unwrap(), step.start.sp().unwrap());
        let word = |address: u64, most: usize| {
            let at = usize::try_from(address.checked_sub(sp)? / 8).ok()?;
            step.words.get(at).copied().filter(|_| at < most)
        };
        let found = return_addresses(&step.start, module, |at| word(at, WORDS), CALLERS);
        let common = found.len().min(step.callers.len());
        let told = (&found, &step.callers);
        assert_eq!(found[..common], step.callers[..common], "{what} {pc:#x}");
        // The copy ends a little above the frame of `main`.
        let wanted = step.callers.len().saturating_sub(2);
        assert!(found.len() >= wanted, "{what} {pc:#x}: {told:x?}");
        let led = frame_pointers(&files, step, sp);
        let few =
            return_addresses_with_frames(&step.start, &led, module, |at| word(at, 8), CALLERS);
        let few = few.expect("all code is described");
        if keeps_frames {
            let own = |&address: &u64| {
                let system = |path: &Path| {
                    ["/lib", "/lib64", "/usr"]
                        .iter()
                        .any(|at| path.starts_with(at))
                };
                file_at(&files, address).is_some_and(|loaded| !system(&loaded.path))
            };
            // The walk leaves out the caller of a function that keeps none. All of the program's do; some of the C library's do not, for
            // one the code in assembly that binds calls: what called the library may be missing, and what the library called.
            let mut callee_is_own = own(&pc);
            let mut rest = step.callers.iter();
            for address in &few {
                if rest.len() == 0 {
                    break;
                }
                let told = (&few, &step.callers);
                for caller in rest.by_ref().take_while(|caller| *caller != address) {
                    let missing = callee_is_own && own(caller);
                    assert!(!missing, "{what} {pc:#x}, by frames: {told:x?}");
                    callee_is_own = own(caller);
                }
                callee_is_own = own(address);
                assert!(
                    step.callers.contains(address),
                    "{what} {pc:#x}, by frames: {told:x?}"
                );
            }
            // Behind `main` come two of the C library and `_start`.
            let above = step.callers.len().saturating_sub(3);
            if [pc].iter().chain(&step.callers[..above]).all(own) {
                let told = (&few, &step.callers);
                assert!(few.len() >= above, "{what} {pc:#x}: {told:x?}");
                by_frames += 1;
            }
        }
    }
    assert!(by_frames > 500 || !keeps_frames, "{what}: {by_frames}");
}

/// Return addresses as the runtime finds them, up to the first word that no call returns to: the C library around `main`
/// keeps something else in the register.
fn frame_pointers(files: &Files, step: &Step, sp: u64) -> Vec<u64> {
    let returns = |&address: &u64| {
        let loaded = file_at(files, address);
        loaded.is_some_and(|loaded| {
            let linked = address.wrapping_sub(loaded.bias);
            loaded.image.follows_call(linked) == Some(true)
        })
    };
    let mut found = Vec::new();
    let (mut frame, mut low) = (step.start.get(6).unwrap_or(0), sp);
    while frame >= low && frame % 8 == 0 {
        let at = ((frame - sp) / 8) as usize;
        let Some([next, address]) = step.words.get(at..at + 2) else {
            break;
        };
        if *address < 4096 {
            break;
        }
        found.push(*address);
        (low, frame) = (frame + 16, *next);
    }
    found.into_iter().take_while(returns).collect()
}

#[test]
fn callers_at_every_instruction_are_those_of_backtrace() {
    if cfg!(not(all(target_arch = "x86_64", target_os = "linux"))) {
        return instr_test_needs::skipped("callers are followed on x86-64 Linux only");
    }
    for compiler in ["gcc", "g++", "clang"] {
        for level in ["-O0", "-O2"] {
            compare(compiler, &[level, "-fomit-frame-pointer"], false);
        }
        let kept = [
            "-O2",
            "-fno-omit-frame-pointer",
            "-fno-optimize-sibling-calls",
        ];
        compare(compiler, &kept, true);
    }
    compare("gcc", &["-O2", "-no-pie", "-Wl,-z,lazy"], false);
}
