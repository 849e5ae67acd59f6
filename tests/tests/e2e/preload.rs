//! `instr run` of programs that nobody built to be traced: the runtime is preloaded. The programs of `tests/conformance` have a preload case each
//! (`conformance::…::preload::…`); here is what becomes of processes, libraries and programs that take no preloaded library.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Family, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

/// `instr run true` may take so much longer than `true`.
const LAUNCH: Duration = Duration::from_millis(20);
const LAUNCHES: usize = 21;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("preload::ends", ends),
        trial("preload::processes", processes),
        trial("preload::started-programs", started_programs),
        trial("preload::daemon", daemon),
        trial("preload::without-openmp", without_openmp),
        trial("preload::runtime-is-loaded-when-needed", loaded_when_needed),
        trial("preload::rights-given-up", rights_given_up),
        trial("preload::loaded-libraries", loaded_libraries),
        trial("preload::destructors", destructors),
        trial("preload::constructors", constructors),
        trial("preload::recorded-once", recorded_once),
        trial("preload::libomp", libomp),
        trial("preload::refused", refused),
        trial("preload::environment", environment),
        trial("preload::numpy", numpy),
        trial("preload::launch", launch),
    ]
}

/// `omp N HOW`: N regions of two threads with four tasks each, then an end of that kind. Prints the number of tasks that ran, and of threads.
const PROGRAM: &str = "#include <omp.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <signal.h>\n#include <unistd.h>\nstatic int done, threads;\n\
int main(int argc, char **argv)\n{\n    int n = argc > 1 ? atoi(argv[1]) : 0, how = argc > 2 ? argv[2][0] : 0;\n    for (int i = 0; i < n; i++) {\n\
#pragma omp parallel num_threads(2)\n        {\n#pragma omp atomic\n            threads += omp_get_num_threads();\n#pragma omp single\n            for (int j = 0; j < 4; j++)\n\
#pragma omp task\n            {\n#pragma omp atomic\n                done++;\n            }\n        }\n    }\n    printf(\"%d tasks, %d\\n\", done, threads);\n    fflush(stdout);\n\
    if (how == 's') raise(SIGSEGV);\n    if (how == 'k') raise(SIGKILL);\n    if (how == 'e') _exit(3);\n    return how == '3' ? 3 : 0;\n}\n";

/// `work(n)` adds up the numbers of threads of n regions of two threads, by itself and as each thread knows it.
const LIBRARY: &str = "#include <omp.h>\nint work(int n)\n{\n    int sum = 0;\n    for (int i = 0; i < n; i++)\n#pragma omp parallel num_threads(2) reduction(+ : sum)\n        sum += 10 * omp_get_num_threads() + omp_get_thread_num();\n    return sum;\n}\n";

/// `load N LIBRARY…`: calls `work(N)` of libraries that it loads, each with its name hidden from the others.
const LOADER: &str = "#include <dlfcn.h>\n#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    for (int i = 2; i < argc; i++) {\n        void *l = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);\n        int (*work)(int) = l ? (int (*)(int))dlsym(l, \"work\") : NULL;\n        if (work == NULL) { puts(dlerror()); return 1; }\n        printf(\"%d\\n\", work(atoi(argv[1])));\n    }\n    return 0;\n}\n";

/// `maps HOW`: prints whether libinstr.so is there, before and behind what HOW says: a thread ('t'), a user without rights ('u'), another root folder ('r');
/// then it makes a thread.
const MAPS: &str = "#define _GNU_SOURCE\n#include <pthread.h>\n#include <stdio.h>\n#include <string.h>\n#include <unistd.h>\nstatic int ends;\n\
static void *run(void *arg)\n{\n    (*(int *)arg)++;\n    return NULL;\n}\n\
static void show(FILE *maps)\n{\n    char line[512];\n    int found = 0;\n    rewind(maps);\n    while (fgets(line, sizeof line, maps))\n        found |= strstr(line, \"/libinstr.so.\") != NULL;\n    printf(\"%d\\n\", found);\n}\n\
static int thread(void)\n{\n    pthread_t made;\n    return pthread_create(&made, NULL, run, &ends) != 0 || pthread_join(made, NULL) != 0;\n}\n\
int main(int argc, char **argv)\n{\n    FILE *maps = fopen(\"/proc/self/maps\", \"r\");\n    const int how = argc > 1 ? argv[1][0] : 0;\n    show(maps);\n    if (how == 'r' && chroot(argv[2]) != 0) return 2;\n\
    if (how == 'u' && setuid(65534) != 0) return 2;\n    if (how == 't' && thread()) return 3;\n    show(maps);\n    return how == 0 ? 0 : thread() ? 4 : 0;\n}\n";

/// A library whose destructor is the first in it that calls functions of threads and of OpenMP.
const ENDING: &str = "#include <omp.h>\n#include <pthread.h>\n#include <semaphore.h>\n#include <stdio.h>\nstatic pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;\n\
static omp_lock_t lock;\nstatic int regions;\n__attribute__((constructor)) static void came(void)\n{\n    puts(\"came\");\n    omp_init_lock(&lock);\n}\n\
__attribute__((destructor)) static void goes(void)\n{\n    sem_t semaphore;\n    sem_init(&semaphore, 0, 1);\n    sem_wait(&semaphore);\n    pthread_mutex_lock(&mutex);\n    omp_set_lock(&lock);\n    printf(\"went %d\\n\", regions);\n    omp_unset_lock(&lock);\n    omp_destroy_lock(&lock);\n    pthread_mutex_unlock(&mutex);\n}\n\
int work(int n)\n{\n    for (int i = 0; i < n; i++)\n#pragma omp parallel num_threads(2)\n#pragma omp master\n        regions++;\n    return regions;\n}\n";

/// A library whose constructor has a team, which calls functions that nobody has called before, while the loader's lock is held.
const BEGINNING: &str = "static int n;\n__attribute__((constructor)) static void came(void)\n{\n#pragma omp parallel num_threads(3)\n    {\n#pragma omp for schedule(dynamic)\n        for (int i = 0; i < 30; i++)\n#pragma omp critical\n            n++;\n    }\n}\nint work(int add)\n{\n    return n + add;\n}\n";

struct Place {
    dir: TempDir,
}

impl Place {
    fn new(name: &str) -> Check<Self> {
        let dir = workspace::work_dir(&format!("preload-{name}"))?;
        let place = Self { dir };
        for (name, text) in [("omp.c", PROGRAM), ("work.c", LIBRARY), ("load.c", LOADER)] {
            std::fs::write(place.at(name), text)?;
        }
        Ok(place)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn build(&self, source: &str, output: &str, flags: &[&str]) -> Check<PathBuf> {
        let build = Build::openmp(Target::X86_64);
        let build = flags.iter().fold(build, |build, flag| build.flag(*flag));
        build.plain(&[&self.at(source)], &self.at(output))?;
        Ok(self.at(output))
    }

    fn plain(&self, words: &[&str]) -> Run {
        Run::words(words).dir(self.dir.path())
    }

    fn traced(&self, words: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(["run", "--"]).args(words);
        Ok(run.dir(self.dir.path()))
    }

    /// The names of all folders of traces that programs left themselves, sorted. Those that `instr run` makes of who ran on which processor have no threads.
    fn traces(&self) -> Check<Vec<String>> {
        let is_own = |entry: &std::fs::DirEntry| {
            let is_there = |name| entry.path().join(name).exists();
            !is_there("kernel") || is_there("thread_0000")
        };
        let entries = std::fs::read_dir(self.dir.path())?.flatten();
        let names = entries
            .filter(is_own)
            .map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.filter(|name| name.contains(".instr")).collect();
        names.sort();
        Ok(names)
    }

    /// How many regions each program that was started had, whose traces are in this one, sorted.
    fn regions_of_started(&self, trace: &str) -> Check<Vec<i128>> {
        let mut regions = Vec::new();
        for entry in std::fs::read_dir(self.at(trace))? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name.starts_with("exec-") {
                regions.push(self.count(&format!("{trace}/{name}"), "parallel_begin")?);
            }
        }
        regions.sort_unstable();
        Ok(regions)
    }

    /// How many events of a name there are in a trace.
    fn count(&self, trace: &str, event: &str) -> Check<i128> {
        Ok(ctf::count(&ctf::read(&self.at(trace))?, event)?)
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Check {
    ensure(found == wanted, || {
        format!("{what}: {found:?}, expected {wanted:?}")
    })
}

fn says(outcome: &Outcome, part: &str) -> Check {
    ensure(outcome.errors().contains(part), || {
        format!("expected `{part}` in\n{outcome}")
    })
}

/// Output and status are the program's, however it ends; the trace holds what ran.
fn ends() -> Check {
    let place = Place::new("ends")?;
    place.build("omp.c", "omp", &[])?;
    for (how, status) in [
        ("0", Status::Code(0)),
        ("3", Status::Code(3)),
        ("e", Status::Code(3)),
        ("s", Status::Signal(11)),
        ("k", Status::Signal(9)),
    ] {
        let words = ["./omp", "7", how];
        let plain = place.plain(&words).output()?;
        equal("plain", &plain.status, &status)?;
        let traced = place.traced(&words)?.output()?;
        equal(how, &traced.status, &status)?;
        equal(how, &traced.text(), &plain.text())?;
        says(&traced, "trace: omp.instr")?;
        let metadata = std::fs::read_to_string(place.at("omp.instr/metadata"))?;
        let closed = matches!(status, Status::Code(_));
        equal(how, &metadata.contains("closed = 1"), &closed)?;
        let whole = match closed {
            true => "omp.instr".to_owned(),
            false => format!("whole-{how}"),
        };
        if !closed {
            let repair = Run::new(&tools()?.instr).args(["repair", "omp.instr", "-o", &whole]);
            repair.dir(place.dir.path()).succeed()?;
        }
        equal("regions", &place.count(&whole, "parallel_begin")?, &7)?;
        equal("tasks", &place.count(&whole, "task_create")?, &28)?;
    }
    Ok(())
}

/// Children are recorded, also those that take another program's place; shells and other programs without OpenMP leave nothing.
fn processes() -> Check {
    let place = Place::new("processes")?;
    place.build("omp.c", "omp", &[])?;
    let script = "env ./omp 2; true; setsid -w ./omp 3 | cat; exec ./omp 4";
    let plain = place.plain(&["sh", "-c", script]).succeed()?;
    let traced = place.traced(&["sh", "-c", script])?.succeed()?;
    equal("output", &traced.text(), &plain.text())?;
    // The last one is the process that was run; the others are in its trace.
    equal("traces", &place.traces()?, &vec!["omp.instr".to_owned()])?;
    equal(
        "started",
        &place.regions_of_started("omp.instr")?,
        &vec![2, 3],
    )?;
    let own = std::fs::read_to_string(place.at("omp.instr/metadata"))?;
    ensure(own.contains("arguments = \"4\""), || own.clone())?;
    equal("own", &place.count("omp.instr", "parallel_begin")?, &4)
}

/// The place of a trace of the shell: `sh` is a link.
fn of_shell() -> Check<String> {
    let shell = Path::new("/bin/sh").canonicalize()?;
    let name = shell.file_name().unwrap_or_default().to_string_lossy();
    Ok(format!("{name}.instr"))
}

/// However many programs a run starts, each has a trace in that of the run, and other runs keep theirs.
fn started_programs() -> Check {
    let place = Place::new("started")?;
    place.build("omp.c", "omp", &[])?;
    let run_of_shell = of_shell()?;
    let many = "i=0; while [ $i -lt 30 ]; do ./omp 2 & i=$((i + 1)); [ $((i % 4)) != 0 ] || wait; done; wait";
    for (run, switches) in [(1, "1"), (2, "0")] {
        let traced = place.traced(&["sh", "-c", many])?;
        let traced = traced.env("INSTR_SWITCHES", switches).succeed()?;
        says(&traced, "with 30 started programs")?;
        let wanted = vec![2; 30];
        let found = place.regions_of_started(&run_of_shell)?;
        equal(&format!("run {run}"), &found, &wanted)?;
    }
    let before = place.regions_of_started(&format!("{run_of_shell}.1"))?;
    equal("the run before", &before, &vec![2; 30])?;
    ensure(!place.at("omp.instr").exists(), || "omp.instr".into())?;
    // One view of all.
    let summary = Run::new(&tools()?.instr).args(["summary", "--json", &run_of_shell]);
    let summary = summary.dir(place.dir.path()).succeed()?;
    let summary: serde_json::Value =
        serde_json::from_str(&summary.text()).map_err(|error| error.to_string())?;
    let children = summary["children"].as_array().map_or(0, Vec::len);
    equal("children", &children, &30)?;
    for child in summary["children"].as_array().into_iter().flatten() {
        let regions = child["parallel_regions"][0]["count"].as_u64();
        equal("regions of a child", &regions, &Some(2))?;
        equal("started", &child["started"].as_bool(), &Some(true))?;
    }
    let merged = Run::new(&tools()?.instr).args(["merge", &run_of_shell, "-o", "all"]);
    merged.dir(place.dir.path()).succeed()?;
    let prv = std::fs::read_to_string(place.at("all.prv"))?;
    // Type 60000001 is the parallel region: its begin has the value 3, in the thread that meets it.
    let begins = prv.lines().filter(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        fields[0] == "2" && fields[6..].chunks(2).any(|pair| pair == ["60000001", "3"])
    });
    equal("regions in Paraver", &begins.count(), &60)?;

    // Who names a trace in a script means that; a program that lives on keeps its own.
    let named = "INSTR_TRACE=$PWD/mine.instr ./omp 5; ./omp 3";
    place.traced(&["sh", "-c", named])?.succeed()?;
    equal("mine", &place.count("mine.instr", "parallel_begin")?, &5)?;
    equal("other", &place.regions_of_started(&run_of_shell)?, &vec![3])
}

/// A daemon that outlives the run goes on writing its trace, which stays where it is.
fn daemon() -> Check {
    let place = Place::new("daemon")?;
    let text = PROGRAM.replace(
        "if (how == 's')",
        "if (how == 'w') sleep(3);\n    if (how == 's')",
    );
    std::fs::write(place.at("omp.c"), text)?;
    place.build("omp.c", "omp", &[])?;
    let run_of_shell = of_shell()?;
    let script = "./omp 3; setsid ./omp 5 w > /dev/null & sleep 1";
    let traced = place.traced(&["sh", "-c", script])?.succeed()?;
    says(&traced, "1 started process lives on; its trace is in ")?;
    equal("ended", &place.regions_of_started(&run_of_shell)?, &vec![3])?;
    std::thread::sleep(Duration::from_secs(4));
    let entries = std::fs::read_dir(place.dir.path())?.flatten();
    let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let folder = names.find(|name| name.starts_with(&format!(".{run_of_shell}.tree-")));
    let folder = folder.ok_or_else(|| Stop::from("no folder was left for the daemon"))?;
    equal("daemon", &place.regions_of_started(&folder)?, &vec![5])
}

/// A process that calls no OpenMP leaves nothing, and takes nothing away; its own output is all it prints.
fn without_openmp() -> Check {
    let place = Place::new("none")?;
    place.build("omp.c", "omp", &[])?;
    for words in [
        &["true"] as &[&str],
        &["sh", "-c", "echo x; echo y >&2; exit 5"],
        &["./omp", "0"],
    ] {
        let plain = place.plain(words).output()?;
        let traced = Run::new(&tools()?.instr)
            .args(["run", "-q", "--"])
            .args(words);
        plain.same_as(&traced.dir(place.dir.path()).output()?)?;
        equal("traces", &place.traces()?, &Vec::new())?;
    }
    place.traced(&["./omp", "2"])?.succeed()?;
    place.traced(&["./omp", "0"])?.succeed()?;
    equal("traces", &place.traces()?, &vec!["omp.instr".to_owned()])?;
    equal("regions", &place.count("omp.instr", "parallel_begin")?, &2)
}

/// Most processes of a run record nothing: they do not load the runtime, which others load with their first thread.
fn loaded_when_needed() -> Check {
    let place = Place::new("needed")?;
    std::fs::write(place.at("maps.c"), MAPS)?;
    place.build("maps.c", "maps", &["-pthread", "-fno-openmp"])?;
    for (words, wanted) in [
        (&["./maps"] as &[&str], "0\n0\n"),
        (&["./maps", "t"], "0\n1\n"),
    ] {
        let traced = place.traced(words)?.succeed()?;
        equal("maps", &traced.text(), &wanted.to_owned())?;
    }
    // Where it cannot be loaded, the process runs as it is, and says so to who asks.
    let folder = place.at("preload");
    let put = Run::new(&tools()?.instr_cc).arg(format!("--instr-preload={}", folder.display()));
    put.succeed()?;
    for entry in std::fs::read_dir(&folder)?.flatten() {
        if entry
            .file_name()
            .to_string_lossy()
            .starts_with("libinstr.so.")
        {
            std::fs::remove_file(entry.path())?;
        }
    }
    for (verbose, words) in [("0", ""), ("1", " cannot be loaded\n")] {
        let run = place.plain(&["./maps", "t"]).env("INSTR_VERBOSE", verbose);
        let run = run.env("LD_PRELOAD", folder.join("libinstr-preload.so"));
        let outcome = run.succeed()?;
        equal("maps", &outcome.text(), &"0\n0\n".to_owned())?;
        let is_said = outcome.errors().ends_with(words);
        ensure(
            is_said && outcome.errors().is_empty() == words.is_empty(),
            || outcome.to_string(),
        )?;
    }
    // The heap is recorded from the start.
    let run = place.traced(&["./maps"])?.env("INSTR_MEMORY", "1");
    equal(
        "with the heap",
        &run.succeed()?.text(),
        &"1\n1\n".to_owned(),
    )
}

/// A process that gives up its rights or its root folder before its first thread is recorded all the same, though the library's file cannot be reached then.
fn rights_given_up() -> Check {
    if !instr_test_needs::administrator() {
        return Err(Stop::NotAllowed("to become another user".into()));
    }
    let place = Place::new("rights")?;
    std::fs::write(place.at("maps.c"), MAPS)?;
    place.build("maps.c", "maps", &["-pthread", "-fno-openmp"])?;
    let private = place.at("private");
    Run::new(&tools()?.instr_cc)
        .arg(format!("--instr-preload={}", private.display()))
        .succeed()?;
    std::fs::set_permissions(&private, PermissionsExt::from_mode(0o700))?;
    // Where the process writes its trace when it is another user.
    let open = tempfile::Builder::new().tempdir_in("/tmp")?;
    std::fs::set_permissions(open.path(), PermissionsExt::from_mode(0o777))?;
    let root = open.path().to_string_lossy().into_owned();
    let traced = |words: &[&str], trace: &Path| {
        let run = place.plain(words).env("INSTR_SWITCHES", "0");
        run.env("LD_PRELOAD", private.join("libinstr-preload.so"))
            .env("INSTR_TRACE", trace)
            .succeed()
    };
    let user = open.path().join("user.instr");
    equal(
        "user",
        &traced(&["./maps", "u"], &user)?.text(),
        &"0\n1\n".to_owned(),
    )?;
    let threads =
        |trace: &Path| -> Check<i128> { Ok(ctf::count(&ctf::read(trace)?, "thread_create")?) };
    equal("user's threads", &threads(&user)?, &1)?;
    let outcome = traced(&["./maps", "r", &root], Path::new("/root.instr"))?;
    equal("root", &outcome.text(), &"0\n1\n".to_owned())?;
    equal(
        "root's threads",
        &threads(&open.path().join("root.instr"))?,
        &1,
    )
}

/// OpenMP that comes with libraries which are loaded later, hidden from each other, and of which each has an OpenMP library of its own: every call goes to
/// the one that it would go to, and is recorded.
fn loaded_libraries() -> Check {
    let place = Place::new("loaded")?;
    let shared = ["-fPIC", "-shared"];
    place.build("work.c", "libone.so", &shared)?;
    place.build("work.c", "libtwo.so", &shared)?;
    Run::words(["gcc", "load.c", "-o", "load", "-ldl"])
        .dir(place.dir.path())
        .succeed()?;
    // libtwo.so's is a copy of libgomp by another name of the same length.
    let found = Run::words(["gcc", "-print-file-name=libgomp.so.1"]).succeed()?;
    let from = found.text();
    rename(Path::new(from.trim()), &place.at("libgomq.so.1"))?;
    rename(&place.at("libtwo.so"), &place.at("libtwo.so"))?;
    let run = |run: Run| {
        run.env("LD_LIBRARY_PATH", place.dir.path())
            .env("OMP_DYNAMIC", "false")
            .succeed()
    };
    let words = ["./load", "5", "./libone.so", "./libtwo.so"];
    let plain = run(place.plain(&words))?;
    // Of each region 2 × 10 × 2 threads and the numbers 0 and 1.
    equal("plain", &plain.text(), &"205\n205\n".to_owned())?;
    let traced = run(place.traced(&words)?)?;
    equal("traced", &traced.text(), &plain.text())?;
    equal(
        "regions",
        &place.count("load.instr", "parallel_begin")?,
        &10,
    )
}

/// A file whose libgomp.so.1 is called libgomq.so.1.
fn rename(from: &Path, to: &Path) -> Check {
    const OLD: &[u8] = b"libgomp.so.1";
    let mut bytes = std::fs::read(from)?;
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(OLD.len()).position(|w| w == OLD) {
        bytes[at + found + 6] = b'q';
        at += found + OLD.len();
    }
    ensure(at > 0, || format!("no libgomp.so.1 in {}", from.display()))?;
    std::fs::write(to, bytes)?;
    Ok(())
}

/// What `instr-cc` linked records itself: once.
fn recorded_once() -> Check {
    let place = Place::new("once")?;
    let build = Build::openmp(Target::X86_64);
    build.traced(&[&place.at("omp.c")], &place.at("omp"))?;
    let words = ["sh", "-c", "./omp 6"];
    place.traced(&words)?.succeed()?;
    let run = of_shell()?;
    equal("program", &place.regions_of_started(&run)?, &vec![6])?;
    let started = std::fs::read_dir(place.at(&run))?.flatten();
    let mut names = started.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let started = names.find(|name| name.starts_with("exec-"));
    let trace = format!("{run}/{}", started.unwrap_or_default());
    equal("tasks", &place.count(&trace, "task_create")?, &24)?;
    // A library that it linked, beside one that it did not, in a plain program.
    let library = build.flag("-fPIC").flag("-shared");
    library.traced(&[&place.at("work.c")], &place.at("libone.so"))?;
    library.plain(&[&place.at("work.c")], &place.at("libtwo.so"))?;
    Run::words(["gcc", "load.c", "-o", "load", "-ldl"])
        .dir(place.dir.path())
        .succeed()?;
    let words = ["./load", "5", "./libone.so", "./libtwo.so", "./libone.so"];
    let plain = place.plain(&words).env("INSTR_ENABLED", "0").succeed()?;
    let traced = place.traced(&words)?.succeed()?;
    equal("output", &traced.text(), &plain.text())?;
    equal(
        "regions",
        &place.count("load.instr", "parallel_begin")?,
        &15,
    )
}

/// Through libomp's own interface for tools, and GCC's objects that are linked with libomp.
fn libomp() -> Check {
    let place = Place::new("libomp")?;
    for family in [Family::Clang, Family::GccLibomp] {
        let build = Build {
            family,
            ..Build::openmp(Target::X86_64)
        };
        build.plain(&[&place.at("omp.c")], &place.at("omp"))?;
        let plain = place.plain(&["./omp", "7"]).succeed()?;
        let traced = place.traced(&["./omp", "7"])?.succeed()?;
        equal("output", &traced.text(), &plain.text())?;
        equal("regions", &place.count("omp.instr", "parallel_begin")?, &7)?;
        equal("tasks", &place.count("omp.instr", "task_create")?, &28)?;
        let metadata = std::fs::read_to_string(place.at("omp.instr/metadata"))?;
        equal("library", &metadata.contains("openmp = \"libomp"), &true)?;
    }
    Ok(())
}

/// Programs that take no preloaded library run as they are, with one warning that says what to do instead.
fn refused() -> Check {
    let place = Place::new("refused")?;
    place.build("omp.c", "static", &["-static"])?;
    let privileged = place.build("omp.c", "privileged", &[])?;
    std::fs::set_permissions(&privileged, PermissionsExt::from_mode(0o4755))?;
    place.build("omp.c", "checked", &["-fsanitize=address"])?;
    for (program, part) in [
        (
            "./static",
            "./static is linked statically: it runs, but records nothing",
        ),
        (
            "./privileged",
            "./privileged runs with rights that its user has not",
        ),
        ("./checked", "./checked has a sanitizer's library"),
    ] {
        let plain = place.plain(&[program, "3", "3"]).output()?;
        let traced = place.traced(&[program, "3", "3"])?.output()?;
        equal(program, &traced.status, &Status::Code(3))?;
        equal(program, &traced.text(), &plain.text())?;
        says(&traced, part)?;
        let warnings = traced.errors().matches("warning").count();
        equal(program, &warnings, &1)?;
        equal("traces", &place.traces()?, &Vec::new())?;
    }
    Ok(())
}

/// The user's own preloaded libraries stay; empty environments and closed descriptors harm nothing.
fn environment() -> Check {
    let place = Place::new("environment")?;
    place.build("omp.c", "omp", &[])?;
    let own = "#include <stdio.h>\n__attribute__((constructor)) static void first(void) { puts(\"own\"); }\n";
    std::fs::write(place.at("own.c"), own)?;
    place.build("own.c", "own.so", &["-fPIC", "-shared"])?;
    let traced = place.traced(&["./omp", "2"])?;
    let traced = traced.env("LD_PRELOAD", place.at("own.so")).succeed()?;
    ensure(traced.text().contains("own\n"), || traced.text())?;
    equal("regions", &place.count("omp.instr", "parallel_begin")?, &2)?;
    for script in [
        "env -i ./omp 3",
        "exec ./omp 3 <&- 2>&-",
        "ulimit -n 20; ./omp 3",
        "cd / && \"$OLDPWD\"/omp 3",
    ] {
        let words = ["sh", "-c", script];
        let plain = place.plain(&words).output()?;
        let traced = Run::new(&tools()?.instr)
            .args(["run", "-q", "--"])
            .args(words);
        let traced = traced.env("INSTR_TRACE", place.at("there.instr"));
        plain.same_as(&traced.dir(place.dir.path()).output()?)?;
    }
    Ok(())
}

/// While a library's constructor runs, the loader's lock is held: its team must not wait for that. The process sees libgomp, or only the library does.
fn constructors() -> Check {
    let place = Place::new("constructors")?;
    std::fs::write(place.at("beginning.c"), BEGINNING)?;
    place.build("beginning.c", "libbeginning.so", &["-shared", "-fPIC"])?;
    let forms: [&[&str]; 2] = [
        &["-Wl,--no-as-needed", "-lgomp", "-ldl"],
        &["-fno-openmp", "-Wl,--as-needed", "-ldl"],
    ];
    for form in forms {
        place.build("load.c", "load", form)?;
        let words = ["./load", "4", "./libbeginning.so"];
        ensure(place.plain(&words).output()?.text() == "34\n", || {
            format!("the plain program {form:?}")
        })?;
        let traced = Run::new(&tools()?.instr).args(["run", "-q", "-o", "begin.instr", "--"]);
        let traced = traced.args(words).dir(place.dir.path());
        let traced = traced.output()?;
        ensure(traced.text() == "34\n", || format!("{form:?}: {traced}"))?;
        let summary = cases::summary(&place.at("begin.instr"))?;
        let regions = summary["parallel_regions"].as_array().into_iter().flatten();
        let executed: i64 = regions.filter_map(|region| region["count"].as_i64()).sum();
        ensure(executed >= 1, || {
            format!("{form:?}: {}", summary["parallel_regions"])
        })?;
        std::fs::remove_dir_all(place.at("begin.instr"))?;
    }
    Ok(())
}

/// At the end of a process, the constructors of libraries do not run once more, whatever their destructors call: libraries that the program needs, that
/// a library needs which is loaded later, and that is loaded itself.
fn destructors() -> Check {
    let place = Place::new("destructors")?;
    std::fs::write(place.at("ending.c"), ENDING)?;
    std::fs::write(
        place.at("main.c"),
        "int work(int);\nint main(void) { return work(3) != 3; }\n",
    )?;
    std::fs::write(
        place.at("middle.c"),
        "int nothing(int);\nint nothing(int n) { return n; }\n",
    )?;
    let library = ["-shared", "-fPIC"];
    place.build("ending.c", "libending.so", &library)?;
    let folder = format!("-L{}", place.dir.path().display());
    let linked = [
        folder.as_str(),
        "-Wl,--no-as-needed",
        "-lending",
        "-Wl,-rpath,$ORIGIN",
    ];
    place.build("main.c", "main", &linked)?;
    place.build("middle.c", "middle.so", &[&library[..], &linked].concat())?;
    Run::words(["gcc", "load.c", "-o", "load", "-ldl"])
        .dir(place.dir.path())
        .succeed()?;
    for (words, regions) in [
        (vec!["./main"], 3),
        (vec!["./load", "4", "./libending.so"], 4),
        (vec!["./load", "0", "./middle.so"], 0),
    ] {
        let plain = place.plain(&words).output()?;
        let traced = Run::new(&tools()?.instr).args(["run", "-q", "--"]);
        plain.same_as(&traced.args(&words).dir(place.dir.path()).output()?)?;
        let went = format!("went {regions}\n");
        ensure(plain.text().ends_with(&went), || format!("{plain}"))?;
    }
    Ok(())
}

/// Python with a library that may use OpenMP.
fn numpy() -> Check {
    let place = Place::new("numpy")?;
    let program =
        "import numpy as n; a = n.arange(250000.).reshape(500, 500); print((a @ a).sum())";
    // The system's own, whose numpy scripts/setup.sh installs.
    let words = ["/usr/bin/python3", "-c", program];
    let plain = place.plain(&words).output()?;
    if plain.status != Status::Code(0) {
        return Err(Stop::Skip("/usr/bin/python3 has no numpy".into()));
    }
    let traced = Run::new(&tools()?.instr)
        .args(["run", "-q", "--"])
        .args(words);
    plain.same_as(&traced.dir(place.dir.path()).output()?)
}

/// What a run costs a program that has nothing to record.
fn launch() -> Check {
    let place = Place::new("launch")?;
    place.traced(&["true"])?.succeed()?; // the library is built now
    let times = |run: &dyn Fn() -> Check<Run>| -> Check<(Duration, Duration)> {
        let mut times = Vec::new();
        for _ in 0..LAUNCHES {
            let begin = Instant::now();
            run()?.succeed()?;
            times.push(begin.elapsed());
        }
        times.sort();
        Ok((times[0], times[LAUNCHES / 2]))
    };
    let plain = times(&|| Ok(place.plain(&["true"])))?;
    // The program for the kernel of those who may load one takes longer: docs/support-matrix.md says so.
    let traced = times(&|| Ok(place.traced(&["true"])?.env("INSTR_SWITCHES", "perf")))?;
    let words =
        format!("true {plain:?}, instr run true {traced:?}: least and median of {LAUNCHES}");
    eprintln!("preload::launch: {words}");
    equal("traces", &place.traces()?, &Vec::new())?;
    // Tools that were built without optimization take longer.
    let slower = if cfg!(debug_assertions) { 10 } else { 1 };
    let most = plain.0 + LAUNCH * slower;
    ensure(traced.0 < most, || words)
}
