//! The folder of a trace that the launcher makes: by the names and rules of the runtime (`runtime/sinks/file_place.c`, `file_runs.c`; docs/decisions/0020).
//! Nothing that is found there is trusted: names are looked up in opened folders, links are not followed.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use instr_trace::Metadata;
use instr_trace::kernel::{FOLDER, Info, metadata_around};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, openat,
    renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::Folder;

/// Names that are tried: NAME, NAME-2, NAME-3 …
const MOST_NAMES: u32 = 1000;
/// Earlier runs that are looked at, and numbers that are tried.
const MOST_RUNS: u64 = 64;
const MOST_NUMBERS: u64 = 1000;
/// Folders of a trace nest no deeper.
const MAX_DEPTH: u32 = 16;
/// Bytes of metadata that are read.
const MAX_METADATA: u64 = 1 << 20;

/// Whose trace it is.
#[derive(Debug)]
pub(crate) struct Owner<'a> {
    /// The program's file.
    pub(crate) executable: &'a Path,
    /// `INSTR_KEEP`.
    pub(crate) keep: u64,
    /// The number of a run that recorded nothing though it might have: it takes the place of the last one that did so.
    pub(crate) empty: Option<u64>,
}

/// What a folder holds.
#[derive(Debug, PartialEq, Eq)]
enum Content {
    Nothing,
    Trace,
    Foreign,
}

/// Puts the folder `from`, whose contents are this process's, into the trace `trace` as `name`.
pub(super) fn put(from: Folder, trace: &Path, name: &str) -> io::Result<()> {
    let (folder, status) = enter(CWD.as_fd(), trace)?;
    if !is_own(&status) {
        return Err(io::Error::other(
            "it is not a folder that this user owns and nobody else may write to",
        ));
    }
    // Who may read the trace may read this.
    let readers = status.st_mode & 0o055;
    if readers != 0 {
        open_to(from.path(), readers)?;
    }
    renameat(CWD, from.path(), &folder, name)?;
    let _ = from.keep();
    Ok(())
}

fn open_to(folder: &Path, readers: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let set =
        |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode));
    for entry in std::fs::read_dir(folder)? {
        set(&entry?.path(), 0o600 | readers & 0o044)?;
    }
    set(folder, 0o700 | readers)
}

/// A folder that was taken.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) path: PathBuf,
    /// It is locked as long as this is there.
    _made: Made,
}

/// Takes a folder for a new trace at `first` or beside it, and writes its metadata.
pub(super) fn take(first: &Path, owner: &Owner<'_>, info: &Info) -> io::Result<Taken> {
    let around = first
        .parent()
        .filter(|around| !around.as_os_str().is_empty());
    let around = around.unwrap_or(Path::new("."));
    std::fs::create_dir_all(around)?;
    let (parent, _) = enter(CWD.as_fd(), around)?;
    let base = first.file_name().unwrap_or_default();
    for attempt in 1..MOST_NAMES {
        let mut name = base.to_owned();
        if attempt > 1 {
            name.push(format!("-{attempt}"));
        }
        let Some(made) = make(&parent, &name, owner, info)? else {
            continue;
        };
        let (folder, _) = enter(parent.as_fd(), &name)?;
        write_metadata(&folder, owner, info, owner.empty.unwrap_or(made.run))?;
        if made.moved {
            remove_older(&parent, &name, made.run, owner, info);
        }
        return Ok(Taken {
            path: first.with_file_name(name),
            _made: made,
        });
    }
    Err(io::Error::other("all names are taken"))
}

/// A folder for a new trace.
#[derive(Debug)]
struct Made {
    /// Number of the run.
    run: u64,
    /// The run before has another name now.
    moved: bool,
    /// The locks of the folder and of the one that was there, so that nobody else takes them.
    _locks: Vec<OwnedFd>,
}

/// Makes the folder `name`, after an earlier run there was moved or removed. `None`: what is there is something else, and stays.
fn make(
    parent: &OwnedFd,
    name: &OsStr,
    owner: &Owner<'_>,
    info: &Info,
) -> io::Result<Option<Made>> {
    let new = |run, moved, locks| {
        Ok(Some(Made {
            run,
            moved,
            _locks: locks,
        }))
    };
    // Others may take the new folder before it is locked.
    let lock_new = |locks: Vec<OwnedFd>| {
        let locked = || {
            let (folder, _) = enter(parent.as_fd(), name)?;
            let own = lock(&folder)?;
            let is_empty = look(&folder)? == Content::Nothing;
            let own = own.filter(|_| is_empty);
            Ok::<_, io::Error>(own.map(|own| locks.into_iter().chain([own]).collect::<Vec<_>>()))
        };
        // Without descriptors no other name would do, either.
        locked().inspect_err(|_| {
            let _ = unlinkat(parent, Path::new(name).join(".lock"), AtFlags::empty());
            let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
        })
    };
    let made = || rustix::fs::mkdirat(parent, name, Mode::RWXU);
    match made() {
        Ok(()) => {
            return match lock_new(Vec::new())? {
                Some(locks) => new(first_number(parent, name), false, locks),
                None => Ok(None),
            };
        }
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let Ok((folder, status)) = enter(parent.as_fd(), name) else {
        return Ok(None);
    };
    if !is_own(&status) || look(&folder)? == Content::Foreign {
        return Ok(None);
    }
    let Some(lock) = lock(&folder)? else {
        return Ok(None);
    };
    match look(&folder)? {
        Content::Foreign => return Ok(None),
        Content::Nothing => return new(first_number(parent, name), false, vec![lock]),
        Content::Trace => {}
    }
    let Some(earlier) = earlier(&folder, &info.program) else {
        return Ok(None);
    };
    let number = earlier.run.unwrap_or(1);
    if owner.keep == 0 || earlier.empty {
        clear(&folder, 0);
        return new(number + u64::from(!earlier.empty), false, vec![lock]);
    }
    let Some(moved) = move_away(parent, name, number)? else {
        return Ok(None);
    };
    match made() {
        Ok(()) => match lock_new(vec![lock])? {
            Some(locks) => new(moved + 1, true, locks),
            None => Ok(None),
        },
        Err(Errno::EXIST) => Ok(None), // another run was quicker
        Err(error) => Err(error.into()),
    }
}

pub(super) fn enter<P: rustix::path::Arg>(
    parent: std::os::fd::BorrowedFd<'_>,
    name: P,
) -> io::Result<(OwnedFd, Stat)> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(parent, name, flags, Mode::empty())?;
    let status = fstat(&folder)?;
    Ok((folder, status))
}

/// A folder of the effective user into which nobody else may put anything.
pub(super) fn is_own(status: &Stat) -> bool {
    status.st_uid == rustix::process::geteuid().as_raw() && status.st_mode & 0o022 == 0
}

fn is_numbered(name: &[u8], prefix: &str, more: &[u8]) -> bool {
    let rest = name.strip_prefix(prefix.as_bytes());
    rest.is_some_and(|rest| {
        let is_digit = |byte: &u8| byte.is_ascii_digit() || more.contains(byte);
        !rest.is_empty() && rest.iter().all(is_digit)
    })
}

fn is_folder_of_ours(name: &[u8]) -> bool {
    let prefixes = ["fork-", "exec-"];
    prefixes
        .iter()
        .any(|prefix| is_numbered(name, prefix, b"-"))
        || name == FOLDER.as_bytes()
}

fn is_beside(name: &[u8]) -> bool {
    name == b".lock" || name == b".metadata.new" || is_numbered(name, ".binary_", b"")
}

fn is_file_of_ours(name: &[u8]) -> bool {
    let numbered = ["thread_", "switches_", ".window_", "processor_", "series_"];
    name == b"metadata" || numbered.iter().any(|prefix| is_numbered(name, prefix, b""))
}

fn names(folder: &OwnedFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_bytes().to_owned();
        if name != b"." && name != b".." {
            names.push(name);
        }
    }
    Ok(names)
}

fn look(folder: &OwnedFd) -> io::Result<Content> {
    let mut found = Content::Nothing;
    for name in names(folder)? {
        if is_beside(&name) {
            continue;
        }
        if !is_folder_of_ours(&name) && !is_file_of_ours(&name) {
            return Ok(Content::Foreign);
        }
        found = Content::Trace;
    }
    Ok(found)
}

/// Removes the files of a trace, but for its lock.
pub(super) fn clear(folder: &OwnedFd, depth: u32) {
    for name in names(folder).unwrap_or_default() {
        let name_of = OsString::from(String::from_utf8_lossy(&name).into_owned());
        if is_folder_of_ours(&name) && depth < MAX_DEPTH {
            if let Ok((inner, _)) = enter(folder.as_fd(), &name_of) {
                clear(&inner, depth + 1);
                let _ = unlinkat(&inner, ".lock", AtFlags::empty());
            }
            let _ = unlinkat(folder, &name_of, AtFlags::REMOVEDIR);
        } else if name != b".lock" && (is_beside(&name) || is_file_of_ours(&name)) {
            let _ = unlinkat(folder, &name_of, AtFlags::empty());
        }
    }
}

/// The lock of a folder; `None`: somebody has it, or it cannot be made.
///
/// # Errors
///
/// Too few descriptors.
fn lock(folder: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    let flags =
        OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let lock = match openat(folder, ".lock", flags, Mode::RUSR | Mode::WUSR) {
        Ok(lock) => lock,
        Err(error @ (Errno::MFILE | Errno::NFILE)) => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    Ok(
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => None,
            _ => Some(lock), // not every file system has locks
        },
    )
}

/// A text as it is read from metadata, which has no control characters.
fn as_written(text: &str) -> String {
    let written = |c: char| if c.is_ascii_control() { '?' } else { c };
    text.chars().map(written).collect()
}

/// The metadata of an earlier run of the program that is over.
fn earlier(folder: &OwnedFd, program: &str) -> Option<Metadata> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = openat(folder, "metadata", flags, Mode::empty()).ok()?;
    let status = fstat(&file).ok()?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut text = Vec::new();
    let limited = File::from(file).take(MAX_METADATA).read_to_end(&mut text);
    let metadata = limited
        .ok()
        .and_then(|_| Metadata::parse(&text).ok())
        .filter(|metadata| metadata.program == as_written(program))?;
    let lives = || {
        let pid = i32::try_from(metadata.pid)
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        pid.is_some_and(|pid| !matches!(rustix::process::test_kill_process(pid), Err(Errno::SRCH)))
    };
    (metadata.closed || !lives()).then_some(metadata)
}

fn numbered(base: &OsStr, number: u64) -> OsString {
    let mut name = base.to_owned();
    name.push(format!(".{number}"));
    name
}

fn is_free(parent: &OwnedFd, name: &OsStr) -> bool {
    matches!(
        statat(parent, name, AtFlags::SYMLINK_NOFOLLOW),
        Err(Errno::NOENT)
    )
}

/// The number of the first run in a new folder: 1, unless older runs are there.
fn first_number(parent: &OwnedFd, base: &OsStr) -> u64 {
    let mut numbers = 1..MOST_NUMBERS;
    let free = numbers.find(|number| is_free(parent, &numbered(base, *number)));
    free.unwrap_or(MOST_NUMBERS)
}

/// Gives an earlier run its number as its name, or the first free one behind it.
fn move_away(parent: &OwnedFd, base: &OsStr, from: u64) -> io::Result<Option<u64>> {
    for number in (from..).take(MOST_NUMBERS as usize) {
        let name = numbered(base, number);
        if !is_free(parent, &name) {
            continue;
        }
        match renameat(parent, base, parent, &name) {
            Ok(()) => return Ok(Some(number)),
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// Of each command line `keep` earlier runs stay; of all together those among the last 64.
fn remove_older(parent: &OwnedFd, base: &OsStr, run: u64, owner: &Owner<'_>, info: &Info) {
    let most = MOST_RUNS.max(owner.keep);
    let mut alike = 0;
    if run <= owner.keep + 1 {
        return;
    }
    for back in (1..=most + 8).take_while(|back| *back < run) {
        let name = numbered(base, run - back);
        let Ok((folder, status)) = enter(parent.as_fd(), &name) else {
            continue;
        };
        let Some(metadata) = earlier(&folder, &info.program).filter(|_| is_own(&status)) else {
            continue;
        };
        alike += u64::from(metadata.arguments.unwrap_or_default() == as_written(&info.arguments));
        if back > most || alike > owner.keep {
            remove(parent, &name, &folder);
        }
        // The next one alike is too many, the next one of others is not.
        alike = alike.min(owner.keep);
    }
}

fn remove(parent: &OwnedFd, name: &OsStr, folder: &OwnedFd) {
    if !matches!(look(folder), Ok(Content::Trace)) {
        return;
    }
    if let Ok(Some(_lock)) = lock(folder) {
        clear(folder, 0);
        let _ = unlinkat(folder, ".lock", AtFlags::empty());
        let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
    }
}

/// The metadata of a trace that has no events but the kernel's.
fn write_metadata(folder: &OwnedFd, owner: &Owner<'_>, info: &Info, run: u64) -> io::Result<()> {
    let executable = owner.executable.display().to_string();
    let text = metadata_around(info, &executable, run, owner.empty.is_some());
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let file = openat(folder, ".metadata.new", flags, Mode::RUSR | Mode::WUSR)?;
    File::from(file).write_all(text.as_bytes())?;
    renameat(folder, ".metadata.new", folder, "metadata")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::DirBuilder;
    use std::os::unix::fs::DirBuilderExt as _;

    use super::*;

    fn info(arguments: &str) -> Info {
        Info {
            program: "app".into(),
            arguments: arguments.into(),
            start_realtime_ns: 5,
            ..Info::default()
        }
    }

    fn taken(dir: &Path, arguments: &str, keep: u64) -> String {
        let owner = Owner {
            executable: Path::new("/bin/app"),
            keep,
            empty: None,
        };
        let found = take(&dir.join("app.instr"), &owner, &info(arguments)).unwrap();
        let found = found.path.clone();
        let part = Folder::make(dir, ".part-".as_ref()).unwrap();
        std::fs::write(part.path().join("processor_0000"), "x").unwrap();
        put(part, &found, FOLDER).unwrap();
        found.file_name().unwrap().to_str().unwrap().to_owned()
    }

    fn there(dir: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(dir).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn runs_get_numbers_and_the_last_ones_stay() {
        let dir = tempfile::tempdir().unwrap();
        for run in 1..=5 {
            assert_eq!(taken(dir.path(), "1", 2), "app.instr");
            let metadata = Metadata::read(&dir.path().join("app.instr/metadata")).unwrap();
            assert_eq!((metadata.run, metadata.closed), (Some(run), true));
            assert!(instr_trace::Trace::open(dir.path().join("app.instr")).is_ok());
        }
        assert_eq!(
            there(dir.path()),
            ["app.instr", "app.instr.3", "app.instr.4"]
        );
        taken(dir.path(), "other", 2);
        assert_eq!(
            there(dir.path()).len(),
            4,
            "other arguments push nothing out"
        );
        taken(dir.path(), "1", 0);
        assert_eq!(
            there(dir.path()).len(),
            4,
            "it takes the place of the one before"
        );
    }

    #[test]
    fn names_and_arguments_of_any_kind_are_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let info = Info {
            program: "a\n\"b\\\u{fffd}".into(),
            arguments: "-x \"1\t2\"".into(),
            ..Info::default()
        };
        let owner = Owner {
            executable: Path::new("/bin/a"),
            keep: 1,
            empty: None,
        };
        for _ in 0..3 {
            let taken = take(&dir.path().join("a.instr"), &owner, &info).unwrap();
            assert_eq!(taken.path.file_name().unwrap(), "a.instr");
        }
        assert_eq!(there(dir.path()), ["a.instr", "a.instr.2"]);
    }

    #[test]
    fn what_is_something_else_stays_as_it_is() {
        for case in 0..5 {
            let dir = tempfile::tempdir().unwrap();
            let place = dir.path().join("app.instr");
            match case {
                0 => std::fs::write(&place, "a file").unwrap(),
                1 => std::os::unix::fs::symlink("/tmp", &place).unwrap(),
                2 => {
                    std::fs::create_dir(&place).unwrap();
                    std::fs::write(place.join("letter"), "mine").unwrap();
                }
                3 => {
                    use std::os::unix::fs::PermissionsExt as _;
                    std::fs::create_dir(&place).unwrap();
                    let mode = std::fs::Permissions::from_mode(0o777);
                    std::fs::set_permissions(&place, mode).unwrap();
                }
                _ => {
                    DirBuilder::new().mode(0o700).create(&place).unwrap();
                    let (folder, _) = enter(CWD.as_fd(), &place).unwrap();
                    let held = lock(&folder).unwrap();
                    std::fs::write(place.join("metadata"), "x").unwrap();
                    assert_eq!(taken(dir.path(), "", 8), "app.instr-2");
                    drop(held);
                    continue;
                }
            }
            assert_eq!(taken(dir.path(), "", 8), "app.instr-2", "case {case}");
            assert!(place.symlink_metadata().is_ok());
        }
    }

    #[test]
    fn a_trace_of_another_program_and_one_that_is_written_stay() {
        let dir = tempfile::tempdir().unwrap();
        taken(dir.path(), "", 8);
        let path = dir.path().join("app.instr/metadata");
        let text = std::fs::read_to_string(&path).unwrap();
        let other = text.replace("program = \"app\"", "program = \"apple\"");
        std::fs::write(&path, other).unwrap();
        assert_eq!(taken(dir.path(), "", 8), "app.instr-2");
        let own = format!("pid = {};", std::process::id());
        let running = text
            .replace("closed = 1;", "closed = 0;")
            .replace("pid = 0;", &own);
        std::fs::write(&path, running).unwrap();
        assert_eq!(taken(dir.path(), "", 8), "app.instr-2");
        assert_eq!(
            there(dir.path()),
            ["app.instr", "app.instr-2", "app.instr-2.1"]
        );
    }
}
