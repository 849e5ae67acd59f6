//! Where built runtimes are kept, with real compilers: without a home folder, with a damaged cache, and what a compilation writes.

#[allow(dead_code, reason = "other tests use the rest")]
mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use common::{INSTR_CC, Place, text};

/// A command without any of the variables that name a place; temporary files go to the test's folder.
fn homeless(place: &Place, program: &str) -> Command {
    let mut command = place.command(program);
    for name in ["INSTR_CACHE", "XDG_CACHE_HOME", "HOME"] {
        command.env_remove(name);
    }
    command.env("TMPDIR", place.path());
    command
}

/// The one entry of this kind.
fn entry(cache: &Path, kind: &str) -> PathBuf {
    let entries = fs::read_dir(cache).unwrap().map(|e| e.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .filter(|p| {
            p.is_dir()
                && p.file_name()
                    .is_some_and(|n| n.to_string_lossy().starts_with(kind))
        })
        .collect();
    assert_eq!(found.len(), 1, "{kind}: {found:?}");
    found.remove(0)
}

fn changed(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

#[test]
fn without_a_home_the_runtime_is_still_built_once() {
    let place = Place::new();
    let link = |name: &str, home: Option<&Path>| {
        let mut command = homeless(&place, INSTR_CC);
        command.args(["--instr-verbose", "gcc", "-fopenmp", "p.c", "-o", name]);
        if let Some(home) = home {
            command.env("HOME", home);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    let said = link("a", None);
    assert!(!said.contains("cannot keep"), "{said}");
    // SAFETY: the call has no arguments and always succeeds.
    let user = unsafe { libc::geteuid() };
    let folder = place.path().join(format!("instr-cache-{user}"));
    assert_eq!(
        folder.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );
    let library = entry(&folder.join("v1"), "lib-").join("libinstr.a");
    let built = changed(&library);
    let nobody = place.path().join("nobody");
    let said = link("b", Some(&nobody));
    assert!(said.contains("(from HOME): "), "{said}");
    assert!(said.contains("nobody is no folder"), "{said}");
    assert!(!nobody.exists(), "a home folder was made");
    assert_eq!(changed(&library), built, "built again");
    for name in ["a", "b"] {
        assert_eq!(place.run(&format!("./{name}")).status.code(), Some(7));
        assert!(place.has_trace(name));
    }
}

#[test]
fn a_damaged_cache_is_mended() {
    let place = Place::new();
    place.write(
        "p.c",
        "#include <instr/instr.h>\nint main(void)\n{\n    int n = 0;\n    #pragma omp parallel num_threads(2) reduction(+:n)\n\
         \x20   n++;\n    instr_event(5, 1);\n    return n == 2 ? 7 : 1;\n}\n",
    );
    let cache = place.path().join("cache");
    let build = |name: &str| {
        let mut command = place.command(INSTR_CC);
        command
            .args(["gcc", "-fopenmp", "p.c", "-o", name])
            .env("INSTR_CACHE", &cache);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        assert_eq!(place.run(&format!("./{name}")).status.code(), Some(7));
        assert!(place.has_trace(name), "{name} left no trace");
    };
    build("whole");
    // As a power cut leaves files: the names are there, the bytes are not.
    let damaged = [
        ("lib-", "libinstr.a"),
        ("headers-", "include/instr/instr.h"),
        ("stubs-", "stubs.o"),
        ("index-", "names"),
        ("facts-", "facts"),
    ];
    for (kind, file) in damaged {
        let path = entry(&cache.join("v1"), kind).join(file);
        let whole = fs::metadata(&path).unwrap().len();
        fs::write(&path, "").unwrap();
        build(&format!("with-empty-{kind}"));
        assert_eq!(fs::metadata(&path).unwrap().len(), whole, "{kind}");
    }
    fs::remove_file(entry(&cache.join("v1"), "shim-").join("ld")).unwrap();
    build("without-shim");
}

#[test]
fn compilations_write_nothing_into_a_filled_cache() {
    let place = Place::new();
    let cache = place.path().join("cache");
    let compile = || {
        let mut command = place.command(INSTR_CC);
        command
            .args(["gcc", "-fopenmp", "-c", "p.c"])
            .env("INSTR_CACHE", &cache);
        assert!(command.status().unwrap().success());
    };
    compile();
    let filled = changed(&cache.join("v1"));
    compile();
    assert_eq!(changed(&cache.join("v1")), filled);
}
