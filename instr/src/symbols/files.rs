//! Which file the names of a module come from: the one at its path, or the one that the trace keeps of it.

use std::path::{Path, PathBuf};

use instr_symtab::{Found, Image, Loader, is_vdso};
use instr_trace::Module;

use super::{Loaded, Symbols, hexadecimal};

/// Where the names of a module come from.
pub(super) enum Opened {
    /// The file where the module was loaded from, or where the user says. Whether its build id is the module's.
    Outside { proved: bool },
    /// A file in the trace.
    Kept(PathBuf),
}

impl Symbols {
    /// Has the trace keep the files from which names were taken, so that the next command finds them. A trace that cannot be written stays as it is.
    pub(super) fn keep(&self) {
        let Some(kept) = &self.kept else {
            return;
        };
        for loaded in &self.modules {
            match loaded.opened.get() {
                Some(Opened::Kept(path)) => kept.own(path),
                Some(Opened::Outside { proved: true }) => match self.kept_file(loaded) {
                    Some((path, _)) => kept.own(&path),
                    None => kept.add(&loaded.path, loaded.is_program),
                },
                _ => {}
            }
        }
    }

    /// The file in the trace that is the module's, by its build id. The program's is what it is if the program has none.
    fn kept_file(&self, loaded: &Loaded) -> Option<(PathBuf, Image)> {
        let kept = self.kept.as_ref()?;
        let Some(ran) = &loaded.module.build_id else {
            let path = kept.program().filter(|_| loaded.is_program)?;
            let image = Loader::new().open(&path).ok()?;
            return Some((path, image));
        };
        kept.files().find_map(|path| {
            let image = Loader::new().open(&path).ok()?;
            let found = image.build_id().map(hexadecimal)?;
            ran.eq_ignore_ascii_case(&found).then_some((path, image))
        })
    }

    /// Opens the module's file: the one at its path, or what the trace keeps.
    pub(super) fn open(&self, loaded: &Loaded) -> Option<Image> {
        if is_vdso(&loaded.module.path) {
            return own_vdso(&loaded.module);
        }
        match self.open_outside(loaded) {
            Ok((image, proved)) => {
                let other = self.better(loaded, proved).filter(|_| !loaded.asked_for);
                Some(self.opened(loaded, proved, other).unwrap_or(image))
            }
            Err(why) => {
                let other = self.kept_file(loaded).filter(|_| !loaded.asked_for);
                let image = self.opened(loaded, false, other);
                if image.is_none() {
                    self.warn(loaded, &why);
                }
                image
            }
        }
    }

    /// A kept file that says more than the one at the module's path: without a build id the path may lead to another file by now, and what was
    /// stripped has the same build id.
    fn better(&self, loaded: &Loaded, proved: bool) -> Option<(PathBuf, Image)> {
        let length = |path: &Path| path.metadata().map_or(0, |status| status.len());
        let outside = length(&loaded.path);
        let mut files = self.kept.as_ref()?.files();
        if proved && !files.any(|path| length(&path) > outside) {
            return None;
        }
        let (path, image) = self.kept_file(loaded)?;
        let is_better = match proved {
            true => length(&path) > outside,
            false => !same_file(&path, &loaded.path),
        };
        is_better.then_some((path, image))
    }

    /// Notes which file was opened: the one in the trace, if there is one.
    fn opened(
        &self,
        loaded: &Loaded,
        proved: bool,
        kept: Option<(PathBuf, Image)>,
    ) -> Option<Image> {
        let (opened, image) = match kept {
            Some((path, image)) => (Opened::Kept(path), Some(image)),
            None => (Opened::Outside { proved }, None),
        };
        loaded.opened.get_or_init(|| opened);
        image
    }

    fn warn(&self, loaded: &Loaded, why: &str) {
        let advice = if loaded.asked_for {
            ""
        } else {
            "\n  help: name the program with --exe, or a copy of the system with --sysroot"
        };
        let path = loaded.path.display();
        let warning = format!("no names from {path}: {why}{advice}");
        self.warnings.borrow_mut().push(warning);
    }

    /// The file where the module was loaded from, and whether its build id says that it is the one; else why it is not used.
    fn open_outside(&self, loaded: &Loaded) -> Result<(Image, bool), String> {
        let opened = Loader::new().open(&loaded.path);
        let image = opened.map_err(|why| anyhow::Error::from(why).root_cause().to_string())?;
        let found = image.build_id().map(hexadecimal);
        match (&loaded.module.build_id, found) {
            (Some(ran), Some(found)) if !ran.eq_ignore_ascii_case(&found) => Err(format!(
                "it is not the file that ran (build id {found}, traced {ran})"
            )),
            (Some(ran), None) => Err(format!(
                "it is not the file that ran (no build id, traced {ran})"
            )),
            (ran, _) => Ok((image, ran.is_some())),
        }
    }
}

/// The kernel's library as this process has it, if it is the one that was traced, by its build id.
fn own_vdso(module: &Module) -> Option<Image> {
    let traced = instr_symtab::Module {
        path: Path::new(&module.path),
        build_id: module.build_id.as_deref(),
    };
    match Loader::new().find(traced) {
        Found::Image { image, .. } => Some(*image),
        _ => None,
    }
}

/// Whether two paths lead to one file.
fn same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity = |path: &Path| {
        path.metadata()
            .ok()
            .map(|status| (status.dev(), status.ino()))
    };
    identity(a).is_some() && identity(a) == identity(b)
}
