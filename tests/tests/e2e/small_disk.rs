//! A small file system that only one script sees.

use std::path::{Path, PathBuf};

use instr_tests::outcome::{Check, Stop};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::need;

/// `disk` in a folder. Root needs a name space of its own for that, others one in which they are root.
pub(crate) struct SmallDisk {
    dir: PathBuf,
    mount: String,
}

impl SmallDisk {
    /// Of so much space, and with further options of a mount.
    pub(crate) fn new(dir: &Path, size: &str) -> Check<Self> {
        need("unshare")?;
        std::fs::create_dir_all(dir.join("disk"))?;
        let disk = Self {
            dir: dir.to_owned(),
            mount: format!("mount -t tmpfs -o size={size} none disk"),
        };
        let tried = disk.run("exit 0").output()?;
        if tried.status != Status::Code(0) {
            return Err(Stop::NotAllowed(format!(
                "no right to mount a small disk, not even in a name space: {}",
                tried.errors().trim()
            )));
        }
        Ok(disk)
    }

    /// A script of a shell in the folder, with the disk in place.
    pub(crate) fn run(&self, script: &str) -> Run {
        let space = if instr_test_needs::administrator() {
            "--mount"
        } else {
            "-Urm" // user (mapped to root) and mounts
        };
        let script = format!("{} || exit 99; {script}", self.mount);
        Run::words(["unshare", space, "sh", "-c", &script, "sh"]).dir(&self.dir)
    }
}
