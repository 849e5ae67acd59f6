//! The only place that starts a process.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek as _};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use crate::inherited;

/// A program with its arguments and what changes in its environment.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// The file that is run.
    pub program: PathBuf,
    /// `argv[0]`; the program's path if there is none.
    pub arg0: Option<OsString>,
    /// The arguments.
    pub args: Vec<OsString>,
    /// Variables that are set, or removed.
    pub env: Vec<(&'static str, Option<OsString>)>,
    /// Further variables that are set, whose names the user has chosen.
    pub variables: Vec<(OsString, OsString)>,
}

/// Variables that would make a compiler of ours write or read what belongs to the user's own steps, and those that GCC
/// sets for what it runs: under the shim, `COMPILER_PATH` leads back to the shim.
const PRIVATE: &[&str] = &[
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "OBJC_INCLUDE_PATH",
    "DEPENDENCIES_OUTPUT",
    "SUNPRO_DEPENDENCIES",
    "COLLECT_GCC",
    "COLLECT_GCC_OPTIONS",
    "COMPILER_PATH",
    "LIBRARY_PATH",
];

impl Call {
    /// A call without arguments.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            ..Self::default()
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args
            .extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if let Some(name) = &self.arg0 {
            command.arg0(name);
        }
        for (name, value) in &self.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(ignore) = inherited::again() {
            // SAFETY: between fork and exec only plain system calls are made.
            unsafe { command.pre_exec(ignore) };
        }
        command
    }

    /// Becomes the program. Returns only if that fails.
    #[must_use]
    pub fn replace(&self) -> io::Error {
        self.command().exec()
    }

    /// Runs the program with our own input and output; signals that are meant for it are passed on.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run(&self) -> io::Result<ExitStatus> {
        wait(self.command())
    }

    /// Runs the program as if this process were it: what other processes send to this one reaches the program, what a terminal sends reaches both
    /// from there, and what is ignored stays ignored. The handlers stay: the caller ends soon, by [`end_instead`].
    /// `started` gets the process id.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run_instead(&self, started: impl FnOnce(u32)) -> io::Result<ExitStatus> {
        take_sent_signals();
        let mut child = self.command().spawn()?;
        started(child.id());
        let id = i32::try_from(child.id()).unwrap_or(0);
        CHILD.store(id, Ordering::SeqCst);
        let early = EARLY.swap(0, Ordering::SeqCst);
        if early != 0 {
            // SAFETY: `kill` takes plain integers.
            unsafe { libc::kill(id, early) };
        }
        let status = child.wait();
        CHILD.store(0, Ordering::SeqCst);
        status
    }

    /// Like [`Call::run`], with the program's output going to two files.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run_into(&self, stdout: File, stderr: File) -> io::Result<ExitStatus> {
        let mut command = self.command();
        command.stdout(stdout).stderr(stderr);
        wait(command)
    }

    /// Like [`Call::run`], with `input` as the program's input; it need not read all of it.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run_with_input(&self, input: &[u8]) -> io::Result<ExitStatus> {
        use std::io::Write as _;
        let mut file = tempfile::tempfile()?;
        file.write_all(input)?;
        file.seek(io::SeekFrom::Start(0))?;
        let mut command = self.command();
        command.stdin(file);
        wait(command)
    }

    /// Runs a program for our own purposes: no input, its output returned, the user's dependency files left alone.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn run_privately(&self) -> io::Result<Output> {
        let mut command = self.command();
        for name in PRIVATE {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").stdin(Stdio::null()).output()
    }
}

/// What a program took, and how it ended.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// How it ended.
    pub status: ExitStatus,
    /// From the start to the end.
    pub wall: Duration,
    /// Processor time in user code, of it and of all children that it waited for.
    pub user: Duration,
    /// The same in the system.
    pub system: Duration,
    /// The largest resident set of one of these processes, bytes; [`None`] where it is not larger than that of this process, which the kernel counts for
    /// a child between fork and exec.
    pub resident: Option<u64>,
    /// It was ended because its time was over.
    pub timed_out: bool,
    /// This process was stopped meanwhile, by Ctrl-Z or otherwise: `wall` may have that time too. Known after [`catch_interrupts`].
    pub stopped: bool,
}

/// What a child may have of its own between fork and exec, bytes.
const FORKED: u64 = 256 << 10;

/// Bytes of this process in memory now; 0: not known.
fn own_resident() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse().ok());
    kib.unwrap_or(0_u64) << 10
}

/// How long a program that was asked to end has for that.
const GRACE: Duration = Duration::from_secs(2);

impl Call {
    /// Runs the program by itself, without input, in a session of its own, and measures it. After `limit`, or when [`interrupted`] becomes true, the group is asked to end, and is killed if it does not. When this
    /// process is killed, the program is too. `began` gets the number of the group.
    ///
    /// # Errors
    /// When it cannot be started, or its end cannot be waited for.
    pub fn measure(
        &self,
        output: Option<File>,
        limit: Option<Duration>,
        began: impl FnOnce(i32),
    ) -> io::Result<Measured> {
        let mut command = self.command();
        command.stdin(Stdio::null());
        if let Some(output) = output {
            command.stderr(output.try_clone()?).stdout(output);
        }
        // SAFETY: between fork and exec only plain system calls are made.
        unsafe {
            command.pre_exec(|| {
                // A group of a session without a terminal: in the background of one with a terminal, a read from that would stop the program for ever.
                libc::setsid();
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        CONTINUED.store(false, Ordering::SeqCst);
        let own = own_resident();
        let begin = Instant::now();
        let id = i32::try_from(command.spawn()?.id()).unwrap_or(0);
        began(id);
        let timed_out = wait_until(id, begin, limit);
        let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
        loop {
            // SAFETY: both pointers are to memory that outlives the call; `id` is a child that nobody else waits for.
            let ended = unsafe { libc::wait4(id, &raw mut status, 0, usage.as_mut_ptr()) };
            match ended {
                -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
                -1 => return Err(io::Error::last_os_error()),
                _ => break,
            }
        }
        let wall = begin.elapsed();
        // SAFETY: all bytes were zero, and the kernel has filled the structure.
        let usage = unsafe { usage.assume_init() };
        let time = |time: libc::timeval| {
            let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
            seconds + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
        };
        Ok(Measured {
            status: ExitStatus::from_raw(status),
            wall,
            user: time(usage.ru_utime),
            system: time(usage.ru_stime),
            resident: u64::try_from(usage.ru_maxrss)
                .ok()
                .map(|kib| kib << 10)
                .filter(|bytes| *bytes > own + FORKED),
            timed_out,
            stopped: CONTINUED.load(Ordering::SeqCst),
        })
    }

    /// Starts the program in a process group of its own, where no terminal reaches it, with a pipe for its input. It goes on when this process ends, however that ends. Gives its number too.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start_beside(&self) -> io::Result<(u32, ChildStdin)> {
        let mut command = self.command();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0);
        let mut child = command.spawn()?;
        let input = child.stdin.take();
        let input = input.ok_or_else(|| io::Error::other("it has no input"))?;
        Ok((child.id(), input))
    }
}

/// Waits for the end of a child, but does not take its status. Returns whether its time was over.
fn wait_until(id: i32, begin: Instant, limit: Option<Duration>) -> bool {
    // SAFETY: plain integers; what is returned is a descriptor of our own, or -1.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, id, 0) };
    let Ok(descriptor @ 0..) = i32::try_from(descriptor) else {
        // A kernel before 5.3: without a limit the caller's wait is enough.
        return false;
    };
    let mut asked: Option<Instant> = None;
    let mut timed_out = false;
    loop {
        let over = limit.is_some_and(|limit| begin.elapsed() >= limit);
        if asked.is_none() && (over || interrupted().is_some()) {
            timed_out = over && interrupted().is_none();
            asked = Some(Instant::now());
            // SAFETY: plain integers; the group is that of the child, which is not waited for yet.
            unsafe { libc::kill(-id, libc::SIGTERM) };
        }
        if asked.is_some_and(|asked| asked.elapsed() >= GRACE) {
            kill_group(id);
        }
        let left = limit.map(|limit| limit.saturating_sub(begin.elapsed()));
        let nap = if asked.is_some() {
            Some(Duration::from_millis(50))
        } else {
            left
        };
        let nap = nap.map_or(-1, |nap| {
            i32::try_from(nap.as_millis())
                .unwrap_or(i32::MAX)
                .saturating_add(1)
        });
        let mut poll = libc::pollfd {
            fd: descriptor,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one structure that outlives the call. A signal ends the call early.
        if unsafe { libc::poll(&raw mut poll, 1, nap) } > 0 {
            break;
        }
    }
    // SAFETY: the descriptor is ours and is not used behind this.
    unsafe { libc::close(descriptor) };
    timed_out
}

/// The signal that asked this process to end; 0: none.
static INTERRUPTED: AtomicI32 = AtomicI32::new(0);

extern "C" fn note_interrupt(signal: libc::c_int) {
    INTERRUPTED.store(signal, Ordering::SeqCst);
}

/// This process was stopped, and goes on.
static CONTINUED: AtomicBool = AtomicBool::new(false);

extern "C" fn note_continuation(_: libc::c_int) {
    CONTINUED.store(true, Ordering::SeqCst);
}

/// From now on, signals that would end this process are noted: [`interrupted`] has them. Signals that are ignored stay ignored.
pub fn catch_interrupts() {
    let handler: extern "C" fn(libc::c_int) = note_interrupt;
    let continued: extern "C" fn(libc::c_int) = note_continuation;
    // SAFETY: the handler stores an atomic.
    unsafe { libc::signal(libc::SIGCONT, continued as libc::sighandler_t) };
    for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: zeros are valid in all fields; both structures outlive the calls; the handler stores an atomic. Without SA_RESTART, waits end early.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut old) == 0
                && old.sa_sigaction != libc::SIG_IGN
            {
                let mut new: libc::sigaction = std::mem::zeroed();
                new.sa_sigaction = handler as libc::sighandler_t;
                libc::sigaction(signal, &raw const new, std::ptr::null_mut());
            }
        }
    }
}

/// The signal that asked this process to end since [`catch_interrupts`].
#[must_use]
pub fn interrupted() -> Option<i32> {
    Some(INTERRUPTED.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
}

/// Ends this process by a signal, so that whoever started it sees by what it ended: a loop of the shell ends on Ctrl-C, too.
pub fn end_by(signal: i32) {
    // SAFETY: the set is initialized by the first call and outlives the others; restoring a default action, unblocking and raising a signal in
    // this process have no memory effects. A handler of before is ours and is not needed any more.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::signal(signal, libc::SIG_DFL);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        libc::raise(signal);
    }
}

/// Kills the processes of a group, if there are any.
pub fn kill_group(group: i32) {
    // SAFETY: plain integers.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// From now on, processes whose parents have ended before them become children of this one, which can find and end them: [`children`].
pub fn adopt_orphans() {
    // SAFETY: plain integers.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1) };
}

/// The children of this process that have not ended; those that have are waited for. `apart`: one that is none of these. Where the kernel has no
/// list of children (CONFIG_PROC_CHILDREN), none is found.
#[must_use]
pub fn children(apart: Option<u32>) -> Vec<i32> {
    let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
        return Vec::new();
    };
    let lists = tasks
        .flatten()
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let mut found = Vec::new();
    for list in lists {
        let own = apart.and_then(|apart| i32::try_from(apart).ok());
        let others = list.split_ascii_whitespace();
        let others = others.filter_map(|word| word.parse::<i32>().ok());
        for child in others.filter(|child| Some(*child) != own) {
            // SAFETY: plain integers and no status; a child that has ended is taken off the list.
            if unsafe { libc::waitpid(child, std::ptr::null_mut(), libc::WNOHANG) } == 0 {
                found.push(child);
            }
        }
    }
    found
}

/// Kills all children, and those that become children of this process by that; `apart` as in [`children`].
pub fn kill_children(apart: Option<u32>) {
    let begin = Instant::now();
    loop {
        let left = children(apart);
        if left.is_empty() || begin.elapsed() > GRACE {
            return;
        }
        for child in left {
            // SAFETY: plain integers; it is a child that is not waited for yet.
            unsafe { libc::kill(child, libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The process that [`wait`] waits for; 0 if there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: libc::c_int) {
    let child = CHILD.load(Ordering::Relaxed);
    if child > 0 {
        // SAFETY: `kill` is async-signal-safe and takes plain integers.
        unsafe { libc::kill(child, signal) };
    }
}

/// Runs a command and stays until it has ended, so that temporary files can be removed even when a signal ends it.
fn wait(mut command: Command) -> io::Result<ExitStatus> {
    let mut child = command.spawn()?;
    CHILD.store(i32::try_from(child.id()).unwrap_or(0), Ordering::Relaxed);
    let handler = pass_on as extern "C" fn(libc::c_int) as libc::sighandler_t;
    let signals = [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP];
    // SAFETY: the handler only loads an atomic and calls `kill`; signals ignored from outside stay ignored.
    let old = signals.map(|s| unsafe {
        let old = libc::signal(s, handler);
        if old == libc::SIG_IGN {
            libc::signal(s, old);
        }
        old
    });
    let status = child.wait();
    CHILD.store(0, Ordering::Relaxed);
    for (signal, old) in signals.into_iter().zip(old) {
        // SAFETY: `old` is what `signal` returned for this signal.
        unsafe { libc::signal(signal, old) };
    }
    status
}

/// Signals that somebody may send to the process he started, for the program behind it: batch systems send SIGXCPU before the time is over. Those of real time, which service managers send,
/// are passed on too. Those of faults, SIGPIPE and SIGXFSZ mean this process itself.
const SENT: [libc::c_int; 15] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
    libc::SIGXCPU,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGIO,
    libc::SIGPWR,
    libc::SIGSTKFLT,
    libc::SIGURG,
];

/// A signal that came before the program had begun; 0: none.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// What a terminal sends, it sends to the program as well: only what came from a process is passed on.
extern "C" fn pass_on_sent(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid pointer.
    let code = unsafe { (*info).si_code };
    if code > 0 {
        return;
    }
    match CHILD.load(Ordering::SeqCst) {
        0 => EARLY.store(signal, Ordering::SeqCst),
        // SAFETY: `kill` is async-signal-safe and takes plain integers.
        child => unsafe {
            libc::kill(child, signal);
        },
    }
}

/// Takes the signals, but for those that are ignored: the program ignores them, too.
fn take_sent_signals() {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = pass_on_sent;
    for signal in SENT.into_iter().chain(libc::SIGRTMIN()..=libc::SIGRTMAX()) {
        // SAFETY: zeros are valid in all fields of both structures, which outlive the calls; the handler only loads and stores atomics and
        // calls `kill`.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            let known = libc::sigaction(signal, std::ptr::null(), &raw mut old) == 0;
            if !known || old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = handler as libc::sighandler_t;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const new, std::ptr::null_mut());
        }
    }
}

/// As [`end_like`], for a process that stands for another one: a core file of the other one is enough.
pub fn end_instead(status: ExitStatus) -> ! {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a structure that outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    end_like(status)
}

/// Ends this process the way another one ended: with its exit status, or by the same signal.
pub fn end_like(status: ExitStatus) -> ! {
    if let Some(signal) = status.signal() {
        end_by(signal);
        std::process::exit(128 + signal);
    }
    std::process::exit(status.code().unwrap_or(1));
}

/// Two paths name the same file.
#[must_use]
pub fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_runs_see_no_dependency_variables() {
        let mut call = Call::new("/bin/sh").args(["-c", "echo ${DEPENDENCIES_OUTPUT-unset}"]);
        call.env.push(("DEPENDENCIES_OUTPUT", Some("x".into())));
        assert_eq!(call.run_privately().unwrap().stdout, b"unset\n");
    }

    #[test]
    fn input_is_read_as_far_as_the_program_likes() {
        let call = |script| Call::new("/bin/sh").args(["-c", script]);
        let lines = b"one\ntwo\n".repeat(100_000);
        let status = call("read a; read b; test $a-$b = one-two").run_with_input(&lines);
        assert!(status.unwrap().success());
        let status = call("exit 3").run_with_input(&lines).unwrap();
        assert_eq!(status.code(), Some(3));
    }

    #[test]
    fn programs_are_measured_and_ended_when_their_time_is_over() {
        let call = |script| Call::new("/bin/sh").args(["-c", script]);
        let limit = Some(Duration::from_secs(60));
        let found = call("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; exit 3")
            .measure(None, limit, |_| {})
            .unwrap();
        assert_eq!((found.status.code(), found.timed_out), (Some(3), false));
        assert!(found.user + found.system > Duration::ZERO, "{found:?}");
        let copy = Call::new("dd").args(["if=/dev/zero", "of=/dev/null", "bs=192M", "count=1"]);
        let found = copy.measure(None, limit, |_| {}).unwrap();
        let resident = found.resident.expect("more than this process has");
        assert!((192 << 20..256 << 20).contains(&resident), "{resident}");
        // The child of the shell ends with it: they are one group.
        let begin = Instant::now();
        let found = call("sleep 30 & wait")
            .measure(None, Some(Duration::from_millis(100)), |_| {})
            .unwrap();
        assert!(
            found.timed_out && begin.elapsed() < Duration::from_secs(10),
            "{found:?}"
        );
        assert_eq!(found.status.signal(), Some(libc::SIGTERM));
        let stubborn = call("trap '' TERM; sleep 30 & wait; sleep 30");
        let found = stubborn
            .measure(None, Some(Duration::from_millis(100)), |_| {})
            .unwrap();
        assert_eq!(
            (found.status.signal(), found.timed_out),
            (Some(libc::SIGKILL), true)
        );
    }

    #[test]
    fn variables_are_set_and_removed() {
        let mut call = Call::new("/bin/sh").args(["-c", "echo $INSTR_T ${HOME-none} $0"]);
        call.env = vec![("INSTR_T", Some("1".into())), ("HOME", None)];
        assert_eq!(call.run_privately().unwrap().stdout, b"1 none /bin/sh\n");
    }
}
