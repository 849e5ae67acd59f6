//! How small the runtime is.

use std::path::{Path, PathBuf};

use instr_tests::board::{Board, Host, files};
use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::workspace;

use super::SENSORS;

/// What the linker is told in the porting guide's command line.
fn documented_link() -> Check<String> {
    let guide = std::fs::read_to_string(workspace::root()?.join("docs/porting.md"))?;
    let (_, command) = guide
        .split_once("instr-cc --instr-target=sparc-gr740-rtems")
        .ok_or("no command line")?;
    let (command, _) = command.split_once("\n```").ok_or("it has no end")?;
    let words = command
        .split_whitespace()
        .filter(|word| word.starts_with("-Wl,"));
    Ok(words.collect::<Vec<&str>>().join(" "))
}

/// What the runtime adds to the LU example with tasks, sensors on: text and data of the members of its archive that were linked, and of
/// the stubs, linked as the porting guide says.
pub(crate) fn footprint() -> Check {
    let board = Board::new(Host::Sparc32, "board-size")?;
    let config = format!(
        "policy = \"end\"\nbuffer = \"32K\"\nsink = \"ram\"\n{SENSORS}[image]\npool = \"1M\"\n"
    );
    let map = board.path("map");
    let linker = format!("{} -Wl,-Map={}", documented_link()?, map.display());
    let built = board.build_plain_sinks(&config, "sparselu_task", &linker)?;
    board.run(&built, &[])?;
    board.extract("image", "image.instr")?;
    let map = std::fs::read_to_string(&map)?;
    let (mut bytes, mut members) = (0_u64, 0);
    // ` .text.F  0xADDRESS  0xBYTES  /path/libinstr.a(member.o)`, on one line or, after a long name, on two.
    let mut words: Vec<&str> = Vec::new();
    let mut in_memory_map = false;
    for line in map.lines() {
        in_memory_map |= line.starts_with("Linker script and memory map");
        if !in_memory_map {
            continue;
        }
        if line.starts_with(" .") {
            words.clear();
        }
        words.extend(line.split_whitespace());
        let [section, _, size, file] = words[..] else {
            continue;
        };
        words.clear();
        let ours = file.contains("libinstr.a(") || file.ends_with("/stubs.o");
        let loaded = [
            ".text",
            ".rodata",
            ".data",
            ".init_array",
            ".fini_array",
            ".eh_frame",
        ];
        if ours && loaded.iter().any(|name| section.starts_with(name)) {
            bytes += u64::from_str_radix(size.trim_start_matches("0x"), 16)?;
            members += 1;
        }
    }
    println!(
        "the runtime adds {bytes} bytes of text and data to sparselu_task, sensors on, in {members} sections"
    );
    ensure(members > 10 && bytes <= 30 * 1024, || {
        format!("{bytes} bytes of text and data")
    })
}

/// The objects of the runtime for RTEMS, compiled as `instr-cc` does, for SPARC V8.
pub(crate) fn no_heap() -> Check {
    let root = workspace::root()?;
    let dir = workspace::work_dir("board-size")?;
    let mut objects = Vec::new();
    for source in runtime_sources(root)? {
        let object = dir
            .path()
            .join(source.replace('/', "-"))
            .with_extension("o");
        Run::new("sparc64-linux-gnu-gcc")
            .args([
                "-m32",
                "-mcpu=v8",
                "-std=c11",
                "-O2",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
            ])
            .args([
                "-U__linux__",
                "-D__rtems__",
                "-DINSTR_BOARD_IO",
                "-fvisibility=hidden",
                "-fno-pie",
                "-fstack-usage",
            ])
            .args(["-I".into(), root.join("runtime")])
            .args(["-I".into(), root.join("runtime/include")])
            .args(["-I".into(), root.join("tests/board/include")])
            .arg("-c")
            .arg(root.join("runtime").join(&source))
            .arg("-o")
            .arg(&object)
            .succeed()?;
        objects.push(object);
    }
    let symbols = Run::new("sparc64-linux-gnu-nm")
        .arg("-u")
        .args(&objects)
        .succeed()?
        .text();
    for heap in [
        "malloc",
        "calloc",
        "realloc",
        "free",
        "posix_memalign",
        "aligned_alloc",
    ] {
        ensure(!symbols.split_whitespace().any(|s| s == heap), || {
            format!("the runtime refers to {heap}")
        })?;
    }
    stack_usage(dir.path(), &objects)
}

/// At most 512 bytes in each function that a probe enters on its way to the real one.
fn stack_usage(dir: &Path, objects: &[PathBuf]) -> Check {
    let mut worst = (0_u64, String::new());
    for object in objects {
        let name = object
            .file_stem()
            .ok_or("no name")?
            .to_string_lossy()
            .into_owned();
        let usage = std::fs::read_to_string(dir.join(format!("{name}.su")))?;
        for line in usage.lines().filter(|_| name.starts_with("probes-")) {
            let fields: Vec<&str> = line.split('\t').collect();
            let bytes: u64 = fields.get(1).ok_or("a line of .su")?.parse()?;
            // A dynamic frame holds the program's own data, whose size the program chose.
            if bytes > worst.0 {
                worst = (bytes, fields[0].to_owned());
            }
        }
    }
    println!("largest frame of a probe: {} bytes, {}", worst.0, worst.1);
    ensure(worst.0 <= 512, || {
        format!("{} bytes of stack in {}", worst.0, worst.1)
    })
}

fn runtime_sources(root: &Path) -> Check<Vec<String>> {
    let mut sources = Vec::new();
    for folder in [
        "core",
        "platform/rtems",
        "probes",
        "sampling",
        "sensors",
        "sinks",
    ] {
        for (name, _) in files(&root.join("runtime").join(folder))? {
            let other = folder == "sinks" && name.starts_with("file");
            let settings = folder == "platform/rtems" && name == "config.c";
            if name.ends_with(".c") && !other && !settings {
                sources.push(format!("{folder}/{name}"));
            }
        }
    }
    Ok(sources)
}
