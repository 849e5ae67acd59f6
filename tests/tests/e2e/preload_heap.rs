//! The heap of programs that nobody built to be traced (`INSTR_MEMORY=1 instr run`): as programs count it themselves, as valgrind counts it, and without
//! a change for programs that bring an allocator, operators of C++, or libraries that do.

use std::path::PathBuf;

use instr_tests::cases::summary;
use instr_tests::heap::ACCOUNT;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Language, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

use crate::memory::{COUNTED, LEAKS, every, line_of, more, numbers};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("preload::heap::account", account),
        trial("preload::heap::as-valgrind-counts", as_valgrind),
        trial("preload::heap::only-where-it-is-asked-for", not_asked),
        trial("preload::heap::programs-with-a-malloc", own_malloc),
        trial("preload::heap::allocators-of-the-user", users_allocator),
        trial("preload::heap::loaded-libraries", loaded),
        trial("preload::heap::processes", processes),
    ];
    for language in [Language::C, Language::Cxx, Language::Fortran] {
        let name = format!("preload::heap::every-function::{language:?}");
        trials.push(trial(name, move || every_function(language)));
    }
    trials
}

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Check<Self> {
        let dir = workspace::work_dir("preload-heap")?;
        Ok(Self { dir })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Builds a text in C or C++, by its file's name.
    fn build(&self, name: &str, text: &str, output: &str, flags: &[&str]) -> Check {
        std::fs::write(self.at(name), text)?;
        let mut build = Build::openmp(Target::X86_64).flag("-fno-builtin");
        build.flags.retain(|flag| flag != "-fopenmp");
        build.language = Language::of(&self.at(name)).unwrap_or(Language::C);
        let build = flags.iter().fold(build, |build, flag| build.flag(*flag));
        build.plain(&[&self.at(name)], &self.at(output))?;
        Ok(())
    }

    fn plain(&self, words: &[&str]) -> Run {
        Run::words(words).dir(self.dir.path())
    }

    /// Runs words with the heap recorded in the trace `t`.
    fn traced(&self, words: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(["run", "-o", "t", "--"]);
        let run = run.args(words).dir(self.dir.path());
        Ok(run.env("INSTR_MEMORY", "1"))
    }

    fn memory(&self) -> Check<Value> {
        Ok(summary(&self.at("t"))?["memory"].clone())
    }
}

fn number(memory: &Value, name: &str) -> u64 {
    memory[name].as_u64().unwrap_or(u64::MAX)
}

/// The heap as the program itself counts it; what is left has the lines that got it.
fn account() -> Check {
    let place = Place::new()?;
    let source = workspace::root()?.join("tests/memory/account.c");
    place.build(
        "account.c",
        &std::fs::read_to_string(source)?,
        "account",
        &[],
    )?;
    let ran = place.traced(&["./account"])?.succeed()?;
    let own = numbers(&ran.text());
    let memory = place.memory()?;
    let told = ACCOUNT.map(|name| number(&memory, name));
    ensure(own.len() == 5 && own == told, || {
        format!("the program says {own:?}, the trace {told:?}")
    })?;
    ensure(memory["unknown_frees"] == 0, || memory.to_string())?;
    let table = Run::new(&tools()?.instr).args(["summary", "--leaks"]);
    let table = table.arg(place.at("t")).succeed()?.text();
    for (_, call) in LEAKS {
        let line = format!("account.c:{}", line_of(call)?);
        ensure(table.contains(&line), || format!("no {line}:\n{table}"))?;
    }
    Ok(())
}

/// One round more is what the program says of a round.
fn every_function(language: Language) -> Check {
    let place = Place::new()?;
    let extension = match language {
        Language::C => "c",
        Language::Cxx => "cc",
        Language::Fortran => "f90",
    };
    let source = workspace::root()?.join(format!("tests/memory/every.{extension}"));
    let build = every(place.dir.path(), Target::X86_64, language);
    build.plain(&[&source], &place.at("every"))?;
    let told = |words: &[&str]| -> Check<(String, [u64; 6])> {
        let ran = place.traced(words)?.succeed()?;
        let memory = place.memory()?;
        Ok((ran.text(), COUNTED.map(|name| number(&memory, name))))
    };
    let ((text, three), (_, two)) = (told(&["./every", "3"])?, told(&["./every", "2"])?);
    ensure(more(three, two)[..3] == numbers(&text), || {
        format!("a round is {text}, in the trace {three:?} less {two:?}")
    })?;
    ensure(three[3..] == two[3..], || format!("{three:?}, {two:?}"))
}

/// Threads, and what the C library gets and gives back for the program: buffers, copies of texts, messages of its own, blocks of threads.
const THREADS: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
static void *work(void *arg)\n{\n    (void)arg;\n    for (int i = 0; i < 100; i++)\n        free(realloc(malloc(100 + i), 1000));\n    free(strdup(\"text\"));\n\
    dlsym(RTLD_DEFAULT, \"nonesuch\");\n    return malloc(7);\n}\n\
int main(void)\n{\n    pthread_t threads[8];\n    char *line = NULL;\n    size_t room = 0;\n    for (int round = 0; round < 3; round++) {\n\
        for (int i = 0; i < 8; i++)\n            pthread_create(&threads[i], NULL, work, NULL);\n        for (int i = 0; i < 8; i++) {\n            void *got;\n            pthread_join(threads[i], &got);\n            free(got);\n        }\n    }\n\
    FILE *file = fopen(\"/proc/self/maps\", \"r\");\n    while (getline(&line, &room, file) > 0)\n        ;\n    free(line);\n    fclose(file);\n    for (int i = 0; i < 5; i++)\n        line = malloc(50);\n    puts(\"done\");\n    return line == NULL;\n}\n";

/// As many blocks got, given back and left as valgrind sees, of the program and of its libraries.
fn as_valgrind() -> Check {
    need("valgrind")?;
    let place = Place::new()?;
    place.build("threads.c", THREADS, "threads", &["-pthread"])?;
    let words = ["valgrind", "--run-libc-freeres=no", "./threads"];
    let seen = place.plain(&words).succeed()?.errors();
    // "total heap usage: 4,970 allocs, 4,960 frees", "in use at exit: 5,434 bytes in 10 blocks"
    let before = |unit: &str| -> Check<u64> {
        let at = seen
            .find(unit)
            .ok_or_else(|| format!("no {unit} in {seen}"))?;
        let word = seen[..at].split_whitespace().next_back().unwrap_or("");
        Ok(word.replace(',', "").parse().map_err(|_| seen.clone())?)
    };
    let expected = [before(" allocs")?, before(" frees")?, before(" blocks")?];
    place.traced(&["./threads"])?.succeed()?;
    let memory = place.memory()?;
    let found = ["allocations", "frees", "live_blocks"].map(|name| number(&memory, name));
    ensure(expected == found && expected[0] > 4800, || {
        format!("valgrind: {expected:?}, the trace: {found:?}, {memory}")
    })?;
    ensure(memory["unknown_frees"] == 0, || memory.to_string())
}

/// Without the setting the heap is not touched.
fn not_asked() -> Check {
    let place = Place::new()?;
    place.build("threads.c", THREADS, "threads", &["-pthread"])?;
    for value in [None, Some("0")] {
        let run = Run::new(&tools()?.instr).args(["run", "-o", "t", "--", "./threads"]);
        let run = run.dir(place.dir.path());
        let run = value
            .into_iter()
            .fold(run, |run, value| run.env("INSTR_MEMORY", value));
        run.succeed()?;
        let memory = place.memory()?;
        ensure(memory.is_null() || memory["allocations"] == 0, || {
            memory.to_string()
        })?;
    }
    // In a file of settings it is the same as in the environment.
    std::fs::write(place.at("instr.toml"), "memory = true\n")?;
    let run = Run::new(&tools()?.instr).args(["run", "--config", "instr.toml", "-o", "t", "--"]);
    run.arg("./threads").dir(place.dir.path()).succeed()?;
    let memory = place.memory()?;
    ensure(number(&memory, "allocations") > 4800, || memory.to_string())
}

/// An allocator that is a part of the program.
const OWN: &str = "#include <stddef.h>\n#include <stdio.h>\n#include <string.h>\nstatic char pool[1 << 20];\nstatic size_t used;\nstatic int calls;\n\
void *malloc(size_t n)\n{\n    calls++;\n    n = (n + 31) & ~(size_t)15;\n    if (used + n > sizeof pool)\n        return NULL;\n    char *p = pool + used;\n    *(size_t *)p = n - 16;\n    used += n;\n    return p + 16;\n}\n\
void free(void *p)\n{\n    (void)p;\n}\n\
void *calloc(size_t a, size_t b)\n{\n    void *p = malloc(a * b);\n    return p != NULL ? memset(p, 0, a * b) : NULL;\n}\n\
void *realloc(void *p, size_t n)\n{\n    void *q = malloc(n);\n    size_t old = p != NULL ? ((size_t *)p)[-2] : 0;\n    if (p != NULL && q != NULL)\n        memcpy(q, p, old < n ? old : n);\n    return q;\n}\n\
int main(void)\n{\n    char *copy = strdup(\"copied\");\n    printf(\"%s, %d\\n\", copy, calls > 0 && copy > pool && copy < pool + sizeof pool);\n    return 4;\n}\n";

/// A program with an allocator of its own uses that, and is told that its heap is not recorded.
fn own_malloc() -> Check {
    let place = Place::new()?;
    place.build("own.c", OWN, "own", &["-w"])?;
    let plain = place.plain(&["./own"]).output()?;
    ensure(plain.text() == "copied, 1\n", || plain.to_string())?;
    let traced = place.traced(&["./own"])?.output()?;
    ensure(
        traced.status == Status::Code(4) && traced.text() == plain.text(),
        || traced.to_string(),
    )?;
    let told = "own brings its own malloc: its heap is not recorded";
    ensure(traced.errors().contains(told), || traced.to_string())
}

/// Counts blocks of one size, and says how many there were.
const USERS: &str = "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\nstatic int calls;\nvoid *malloc(size_t n)\n{\n    static void *(*real)(size_t);\n    if (real == NULL)\n        *(void **)&real = dlsym(RTLD_NEXT, \"malloc\");\n    calls += n == 777;\n    return real(n);\n}\n\
__attribute__((destructor)) static void end(void)\n{\n    fprintf(stderr, \"%d calls\\n\", calls);\n}\n";
const ASKS: &str = "#include <stdlib.h>\nint main(void)\n{\n    for (int i = 0; i < 30; i++)\n        free(malloc(777));\n    return 0;\n}\n";

/// A preloaded allocator of the user's is the one that is called.
fn users_allocator() -> Check {
    let place = Place::new()?;
    place.build("users.c", USERS, "users.so", &["-shared", "-fPIC", "-ldl"])?;
    place.build("asks.c", ASKS, "asks", &[])?;
    let traced = place.traced(&["./asks"])?;
    let traced = traced.env("LD_PRELOAD", place.at("users.so")).succeed()?;
    ensure(traced.errors().contains("30 calls\n"), || {
        traced.to_string()
    })?;
    let memory = place.memory()?;
    let sites = memory["sites"].as_array().into_iter().flatten();
    let main: u64 = sites
        .filter(|site| site["function"] == "main")
        .map(|site| number(site, "allocations"))
        .sum();
    ensure(main == 30, || memory.to_string())
}

/// `load N LIBRARY…`: loads each three times, and prints what its `work(N)` says.
const LOADER: &str = "#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    for (int at = 2; at < 3 * argc - 4; at++) {\n        void *library = dlopen(argv[2 + (at - 2) % (argc - 2)], RTLD_NOW | RTLD_LOCAL);\n        int (*work)(int) = library != NULL ? (int (*)(int))dlsym(library, \"work\") : NULL;\n        if (work == NULL) {\n            puts(dlerror());\n            return 1;\n        }\n        printf(\"%d\\n\", work(atoi(argv[1])));\n        dlclose(library);\n    }\n    return 0;\n}\n";
/// Uses the operators of the C++ library.
const USES: &str = "#include <string>\n#include <vector>\nstruct alignas(64) wide { char bytes[64]; };\nextern \"C\" int work(int n)\n{\n    std::vector<std::string> all;\n    for (int i = 0; i < n; i++)\n        all.push_back(std::string(100, 'x'));\n    wide *volatile one = new wide;\n    delete one;\n    return (int)all.size();\n}\n";
/// Has operators of its own, which nobody else sees.
const HAS: &str = "#include <cstdlib>\n#include <new>\nstatic int own;\nvoid *operator new(std::size_t n)\n{\n    own++;\n    return std::malloc(n);\n}\nvoid operator delete(void *p) noexcept\n{\n    own++;\n    std::free(p);\n}\nvoid operator delete(void *p, std::size_t) noexcept\n{\n    own++;\n    std::free(p);\n}\nextern \"C\" int work(int n)\n{\n    for (int i = 0; i < n; i++) {\n        int *volatile p = new int;\n        delete p;\n    }\n    return own;\n}\n";

/// Libraries of C++ in a program of C: each calls the operators that it would call, also where one is loaded to the place of another.
fn loaded() -> Check {
    let place = Place::new()?;
    let library = ["-shared", "-fPIC", "-std=c++17", "-Wno-interference-size"];
    place.build("load.c", LOADER, "load", &["-ldl"])?;
    place.build("uses.cc", USES, "uses.so", &library)?;
    place.build("has.cc", HAS, "has.so", &library)?;
    let words = ["./load", "5", "./uses.so", "./has.so"];
    let plain = place.plain(&words).succeed()?;
    ensure(plain.text() == "5\n10\n5\n10\n5\n10\n", || {
        plain.to_string()
    })?;
    let traced = place.traced(&words)?.succeed()?;
    ensure(traced.text() == plain.text(), || traced.to_string())?;
    let memory = place.memory()?;
    // Each round of the first makes 5 strings and one wide block, the second 5 blocks.
    ensure(number(&memory, "allocations") >= 3 * (6 + 5), || {
        memory.to_string()
    })
}

/// Shells, children, pipes and what takes another program's place.
fn processes() -> Check {
    let place = Place::new()?;
    place.build("asks.c", ASKS, "asks", &[])?;
    let script = "echo \"$(./asks; echo done)\" | cat; (./asks); env -i ./asks; ./asks; true";
    let words = ["sh", "-c", script];
    let plain = place.plain(&words).succeed()?;
    let traced = place.traced(&words)?.succeed()?;
    ensure(traced.text() == plain.text(), || traced.to_string())?;
    let mut programs = 0;
    let mut folders = vec![place.at("t")];
    while let Some(folder) = folders.pop() {
        let children = std::fs::read_dir(&folder)?
            .flatten()
            .map(|entry| entry.path());
        folders.extend(children.filter(|path| path.join("metadata").exists()));
        let metadata = std::fs::read_to_string(folder.join("metadata"))?;
        if !metadata.contains("program = \"asks\"") {
            continue;
        }
        let sites = summary(&folder)?["memory"]["sites"].clone();
        let sites = sites.as_array().into_iter().flatten();
        let main = sites.filter(|site| site["function"] == "main");
        let count: u64 = main.map(|site| number(site, "allocations")).sum();
        ensure(count == 30, || format!("{count} in {}", folder.display()))?;
        programs += 1;
    }
    // The one with an empty environment is not recorded.
    ensure(programs == 3, || format!("{programs} programs"))
}
