//! What `instr run` does to programs that are hard on a launcher, and what is left when it is killed itself: the same output and status as without it, a
//! trace that can be read, no process and no file that nobody cleans. As root and as a user, by eBPF where that is permitted and by perf.

use std::path::Path;
use std::time::{Duration, Instant};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("launcher::hard-programs", || hard(false)),
        trial("launcher::hard-programs-of-a-user", || hard(true)),
        trial("launcher::what-it-leaves-when-killed-goes", killed),
        trial("launcher::few-descriptors", few_descriptors),
        trial(
            "launcher::a-program-that-allows-itself-few-descriptors",
            allows_itself_few,
        ),
        trial("launcher::a-program-for-32-bits", bits),
        trial("launcher::a-program-that-goes-to-another-folder", goes),
    ]
}

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Check<Self> {
        let dir = workspace::work_dir("launcher")?;
        let source = workspace::root()?.join("tests/launcher/hard.c");
        let mut build = Build::openmp(Target::X86_64).flag("-pthread");
        build.flags.retain(|flag| flag != "-fopenmp");
        build.plain(&[&source], &dir.path().join("hard"))?;
        Ok(Self { dir })
    }

    fn instr(&self, words: &[&str]) -> Check<Run> {
        Ok(Run::new(&tools()?.instr).args(words).dir(self.dir.path()))
    }

    fn names(&self) -> Check<Vec<String>> {
        names(self.dir.path())
    }
}

fn names(folder: &Path) -> Check<Vec<String>> {
    let entries = std::fs::read_dir(folder)?.flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// Scripts of a shell in which `hard` is the program; what they print does not depend on the moment.
const SCRIPTS: [&str; 31] = [
    "exec ./hard chain 3",
    "./hard thread-exec; echo $?; ./hard chain 60",
    "./hard spawn 300; ./hard vfork 50; ./hard clone 50; ./hard tree 5",
    "./hard daemon $PWD/done; echo $?; while ! [ -s done ]; do sleep 0.05; done; cat done; rm done",
    "./hard state",
    "trap '' PIPE HUP; ./hard state",
    "exec ./hard signal 15",
    "exec ./hard signal 9",
    "ulimit -c 0; exec ./hard signal 11",
    "./hard stop; echo $?",
    "./hard orphans; echo $?",
    "setsid ./hard setsid; ./hard setsid",
    "exec <&- >&- 2>&-; ./hard chain 1",
    "for i in 0 1 2 3 4 5 6 7 8 9; do eval \"exec $i>&-\"; done; ./hard chain 3",
    "ulimit -v 200000; ./hard chain 2",
    "ulimit -u 1; ./hard chain 2",
    "ulimit -s 64; \"$INSTR\" run -q -o inner.instr -- ./hard chain 2; echo $?; rm -r inner.instr",
    "ulimit -f 0; exec ./hard chain 2",
    "ulimit -f 8; ./hard spawn 20",
    "ulimit -n 8; ./hard state; ./hard chain 2",
    "env -i ./hard chain 3; env -i /bin/sh -c './hard chain 2'",
    "\"$INSTR\" run -q -o inner.instr -- ./hard spawn 5; ls -d inner.instr; rm -r inner.instr",
    "PATH=$(dirname \"$INSTR\"):$PATH; instr run -q -o a.instr -- instr run -q -o b.instr -- ./hard chain 2; rm -r a.instr b.instr",
    "printf 'echo a script\\nexit 3\\n' >script; chmod 755 script; ./script; echo $?; rm script",
    "./hard filter",
    "./hard strict; echo $?",
    "unshare -Ur ./hard chain 2 2>&1; unshare -Urpf --kill-child ./hard spawn 20 2>&1",
    "unshare -UrT ./hard chain 2 2>&1; unshare -Urm ./hard chain 2 2>&1",
    "mkdir x; cd x; rmdir ../x; ../hard chain 1 2>&1 | tail -1",
    "umask 0; ./hard chain 1",
    "yes | head -1; seq 100000 | tail -1",
];

/// Who cannot make name spaces, or trace a program in one that has ended, sees the same by both ways.
fn hard(as_user: bool) -> Check {
    if as_user && !instr_test_needs::administrator() {
        return Err(Stop::NotAllowed("to become another user".into()));
    }
    need("setpriv")?;
    need("unshare")?;
    let place = Place::new()?;
    let instr = tools()?.instr.display().to_string();
    if as_user {
        use std::os::unix::fs::PermissionsExt as _;
        let open = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(place.dir.path(), open)?;
    }
    let run = |words: &[&str]| {
        let user = [
            "setpriv",
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
        ];
        let before = if as_user { &user[..] } else { &[] };
        let run = Run::words(before.iter().chain(words).copied());
        let run = run.dir(place.dir.path()).env("INSTR", &instr);
        run.env("HOME", place.dir.path())
    };
    // The library that is preloaded is made once, in the home.
    run(&[&instr, "run", "-q", "-o", "t", "--", "true"]).output()?;
    std::fs::remove_dir_all(place.dir.path().join("t"))?;
    let mut problems = Vec::new();
    for script in SCRIPTS {
        let before = place.names()?;
        let plain = run(&["sh", "-c", script]).output()?;
        let traced = run(&[&instr, "run", "-q", "-o", "t", "--", "sh", "-c", script]).output()?;
        let same = plain.status == traced.status
            && plain.text() == traced.text()
            && plain.errors() == traced.errors();
        if !same {
            problems.push(format!("{script}: {plain}\n{traced}"));
        }
        // Where no byte may be written there is no trace; what becomes another program has one for each.
        let shown = run(&[&instr, "summary", "--json", "t"]).output()?;
        if shown.status != Status::Code(0) && !script.contains("ulimit -f 0") {
            problems.push(format!("{script}: {shown}"));
        }
        for name in place.names()? {
            if name == "t" || name.starts_with("t-") {
                std::fs::remove_dir_all(place.dir.path().join(name))?;
            }
        }
        let after = place.names()?;
        if after != before {
            problems.push(format!("{script}: something was left: {after:?}"));
        }
    }
    ensure(problems.is_empty(), || problems.join("\n"))
}

/// A launcher that is killed leaves a folder; the next one in that place removes it, but not that of one that lives.
fn killed() -> Check {
    let place = Place::new()?;
    let hidden = || -> Check<Vec<String>> {
        let names = place.names()?;
        let hidden = names.into_iter().filter(|name| name.starts_with('.'));
        Ok(hidden.collect())
    };
    let start = |name: &str, seconds: &str| -> Check<std::process::Child> {
        let mut command = std::process::Command::new(&tools()?.instr);
        command.args(["run", "-q", "-o", name, "--", "./hard", "sleep", seconds]);
        Ok(command.current_dir(place.dir.path()).spawn()?)
    };
    let wait_for = |count: usize| -> Check {
        let begin = Instant::now();
        while hidden()?.len() != count {
            ensure(begin.elapsed() < Duration::from_secs(60), || {
                format!("{:?}, not {count}", place.names())
            })?;
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    };
    // One for what is recorded, and one for traces of started programs.
    let mut one = start("one", "1")?;
    wait_for(2)?;
    one.kill()?;
    one.wait()?;
    ensure(hidden()?.len() == 2, || "they went by themselves".into())?;
    let mut living = start("two", "600")?;
    // The folder for started programs has the name of the trace.
    wait_for(3)?;
    place
        .instr(&["run", "-q", "-o", "one", "--", "./hard", "chain", "0"])?
        .output()?;
    ensure(hidden()?.len() == 2, || format!("{:?}", place.names()))?;
    Run::words(["kill", &living.id().to_string()]).succeed()?;
    living.wait()?;
    let names = place.names()?;
    ensure(names == ["hard", "one", "two"], || format!("{names:?}"))
}

/// The trace is where the command is typed, wherever the program goes before its first thread.
fn goes() -> Check {
    let place = Place::new()?;
    std::fs::create_dir(place.dir.path().join("deep"))?;
    for (words, variable, trace) in [
        (&["-o", "named"][..], None, "named"),
        (&[], Some("set"), "set"),
        (&[], None, "hard.instr"),
    ] {
        let mut run = place.instr(&["run", "-q"])?.args(words);
        if let Some(value) = variable {
            run = run.env("INSTR_TRACE", value);
        }
        run.args(["--", "./hard", "goes", "deep"]).succeed()?;
        let left = names(&place.dir.path().join("deep"))?;
        let trace = place.dir.path().join(trace);
        let has_threads = trace.join("thread_0001").is_file() && trace.join("kernel").is_dir();
        ensure(left.is_empty() && has_threads, || {
            format!("{left:?}, {:?}", names(&trace))
        })?;
    }
    Ok(())
}

/// Where no descriptor is left for the folder's lock, there is no trace, and one line says so; not a thousand folders.
fn few_descriptors() -> Check {
    let place = Place::new()?;
    let instr = tools()?.instr.display().to_string();
    for most in 4..=9 {
        let script = format!("ulimit -n {most}; exec '{instr}' run -- ./hard chain 2");
        let run = Run::words(["sh", "-c", &script]).dir(place.dir.path());
        let outcome: Outcome = run.output()?;
        let ended = outcome.status == Status::Code(7) && outcome.text() == "end of the chain\n";
        ensure(ended, || format!("{most}: {outcome}"))?;
        let names = place.names()?;
        let left = names.iter().filter(|name| *name != "hard");
        ensure(left.clone().all(|name| name == "hard.instr"), || {
            format!("{most}: {names:?}\n{outcome}")
        })?;
        let has_trace = place.dir.path().join("hard.instr/metadata").is_file();
        let is_told = outcome.errors().contains("no trace was made");
        ensure(has_trace != is_told, || format!("{most}: {outcome}"))?;
        let _ = std::fs::remove_dir_all(place.dir.path().join("hard.instr"));
    }
    Ok(())
}

/// Where the program itself leaves no descriptor for its trace, that is said, whether switches are recorded or not; of a started one, too.
fn allows_itself_few() -> Check {
    let place = Place::new()?;
    let why = "./hard recorded nothing itself: its trace could not be made: Too many open files";
    let none = "no trace was made at t: Too many open files";
    let child = "recorded nothing: its trace could not be made: Too many open files";
    for (switches, words, told) in [
        ("1", &["./hard", "few", "3"][..], why),
        ("1", &["./hard", "few", "4"], why),
        ("0", &["./hard", "few", "4"], none),
        ("1", &["sh", "-c", "./hard few 3; exit $?"], child),
        ("1", &["./hard", "few-in-child", "3"], child),
    ] {
        let run = place.instr(&["run", "-o", "t", "--"])?.args(words);
        let outcome = run.env("INSTR_SWITCHES", switches).output()?;
        let ended = outcome.status == Status::Code(6) && outcome.text() == "has few\n";
        ensure(ended && outcome.errors().contains(told), || {
            format!("{outcome}")
        })?;
        let _ = std::fs::remove_dir_all(place.dir.path().join("t"));
        let names = place.names()?;
        ensure(names == ["hard"], || format!("{names:?}"))?;
    }
    Ok(())
}

/// A child for another kind of processor runs as it does without us.
fn bits() -> Check {
    need("as")?;
    need("ld")?;
    let place = Place::new()?;
    let source = ".globl _start\n_start: movl $1, %eax\n movl $7, %ebx\n int $0x80\n";
    std::fs::write(place.dir.path().join("x.s"), source)?;
    let run = |words: &[&str]| Run::words(words.iter().copied()).dir(place.dir.path());
    run(&["as", "--32", "x.s", "-o", "x.o"]).succeed()?;
    run(&["ld", "-m", "elf_i386", "x.o", "-o", "x"]).succeed()?;
    if run(&["./x"]).output()?.status != Status::Code(7) {
        return Err(Stop::NotAllowed("programs for 32 bits".into()));
    }
    for words in [&["./x"][..], &["sh", "-c", "./x; echo $?; exec ./x"]] {
        let traced = place.instr(&["run", "-q", "-o", "t", "--"])?.args(words);
        let (plain, traced) = (run(words).output()?, traced.output()?);
        let same = (plain.status == traced.status) && plain.text() == traced.text();
        ensure(same, || format!("{plain}\n{traced}"))?;
        place.instr(&["summary", "t"])?.succeed()?;
        std::fs::remove_dir_all(place.dir.path().join("t"))?;
    }
    Ok(())
}
