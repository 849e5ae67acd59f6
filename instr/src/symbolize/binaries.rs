//! The files that addresses belong to: programs by their paths, or the modules of a traced process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use instr_symtab::{Found, GnuView, Image, Loader, Module, ModuleMap};
use instr_trace::Trace;

use super::options::SymbolizeOptions;
use crate::console::{Console, Refusal};
use crate::kept::Kept;

/// The default of `--exe`.
pub(super) const DEFAULT_PROGRAM: &str = "a.out";

/// First bytes of an archive, thin or not.
const ARCHIVES: [&[u8]; 2] = [b"!<arch>\n", b"!<thin>\n"];

/// One file, opened or not.
pub(super) struct Binary {
    /// Path as the user or the trace tells it.
    pub(super) path: String,
    /// Its names.
    pub(super) view: Option<GnuView>,
    /// Why there are none.
    pub(super) problem: Option<Problem>,
    /// The section that offsets count from.
    pub(super) section: Option<usize>,
}

/// Why a file has no names to give.
#[derive(Debug, Clone)]
pub(super) struct Problem {
    pub(super) message: String,
    /// Build ids of the file that ran and of the one that was found, where they differ.
    pub(super) build_ids: Option<(String, Option<String>)>,
}

/// A loader that looks where the options say.
pub(super) fn loader(options: &SymbolizeOptions) -> Loader {
    let mut loader = Loader::new();
    for dir in &options.debug_dir {
        loader = loader.debug_dir(dir);
    }
    for dir in &options.search {
        loader = loader.search(dir);
    }
    for (old, new) in &options.path_map {
        loader = loader.path_map(old, new);
    }
    if let Some(root) = &options.sysroot {
        loader = loader.sysroot(root);
    }
    if let Some(file) = &options.debug_file {
        loader = loader.debug_file(file);
    }
    loader
}

/// Opens the program or library at `path`; the section the options name has to be there.
///
/// # Errors
///
/// Files that cannot be read, are no ELF files or lack the section.
pub(super) fn open(
    path: &Path,
    loader: &Loader,
    options: &SymbolizeOptions,
    console: &mut Console<'_>,
) -> Result<Binary> {
    let bytes =
        instr_symtab::map_file(path).with_context(|| format!("cannot read {}", path.display()))?;
    if ARCHIVES
        .iter()
        .any(|magic| bytes.as_slice().starts_with(magic))
    {
        return Err(anyhow::Error::new(Refusal {
            message: format!("cannot read {}: it is an archive", path.display()),
            notes: Vec::new(),
            help: Some(String::from(
                "take a member out with ar -x, or name the linked program",
            )),
        }));
    }
    let image = loader.open_bytes(bytes, path)?;
    warn_of_damage(&image, path, console);
    let view = GnuView::new(image);
    let mut section = None;
    if let Some(name) = &options.section {
        let found = view.section_named(name.as_encoded_bytes());
        section = Some(found.with_context(|| {
            let name = name.display();
            format!("cannot find section {name}, {}", path.display())
        })?);
    }
    Ok(Binary {
        path: path.display().to_string(),
        view: Some(view),
        problem: None,
        section,
    })
}

fn warn_of_damage(image: &Image, path: &Path, console: &mut Console<'_>) {
    if let Some(why) = image.debug_error() {
        let path = path.display();
        console.warn(&format!(
            "{path}: part of the debug information is not used: {why}"
        ));
    }
}

/// A traced process: which of its modules an address belongs to.
pub(super) struct Process {
    map: ModuleMap,
    modules: Vec<instr_trace::Module>,
    /// Number of the module that is the program.
    program: usize,
    /// Whether its addresses have 64 bits.
    pub(super) wide: bool,
    /// The files that the trace keeps.
    kept: Kept,
    /// The binaries of the modules that were asked for, by the modules' numbers.
    opened: BTreeMap<usize, usize>,
}

impl Process {
    pub(super) fn new(trace: &Trace) -> Self {
        let metadata = trace.metadata();
        let modules = metadata.modules.clone();
        Process {
            map: ModuleMap::new(crate::symbols::places(&modules)),
            program: modules
                .iter()
                .position(|module| module.path == metadata.executable)
                .unwrap_or(0),
            wide: metadata.word_bits != 32,
            modules,
            kept: Kept::of(trace.dir()),
            opened: BTreeMap::new(),
        }
    }

    /// The module around a run-time address, as its number and the link address.
    pub(super) fn find(&self, address: u64) -> Option<(usize, u64)> {
        self.map.find(address)
    }

    /// The module's binary among `binaries`, found and opened when it is first asked for.
    pub(super) fn binary(
        &mut self,
        number: usize,
        binaries: &mut Vec<Binary>,
        (loader, options): (&Loader, &SymbolizeOptions),
        console: &mut Console<'_>,
    ) -> usize {
        if let Some(&known) = self.opened.get(&number) {
            return known;
        }
        let module = &self.modules[number];
        let named = options.exe.as_ref().filter(|_| number == self.program);
        let place = named.map_or(Path::new(&module.path), PathBuf::as_path);
        // A program that the user names is not looked for below the sysroot.
        let plain = named.map(|_| Loader::new());
        let found = plain.as_ref().unwrap_or(loader).find(Module {
            path: place,
            build_id: module.build_id.as_deref(),
        });
        let found = match found {
            Found::Image { .. } => found,
            _ if named.is_some() || module.build_id.is_none() => found,
            other => self.kept(module, loader).unwrap_or(other),
        };
        let (view, problem) = match found {
            Found::Image { path, image } => {
                warn_of_damage(&image, &path, console);
                (Some(GnuView::new(*image)), None)
            }
            found => (None, Some(problem(found, module))),
        };
        if let Some(problem) = &problem {
            let advice = match named {
                Some(_) => "",
                None => {
                    "\n  help: name the program with --exe, a folder with --search or a copy of the system with --sysroot"
                }
            };
            console.warn(&format!("{}{advice}", problem.message));
        }
        binaries.push(Binary {
            path: module.path.clone(),
            view,
            problem,
            section: None,
        });
        self.opened.insert(number, binaries.len() - 1);
        binaries.len() - 1
    }

    /// The file in the trace that has the module's build id.
    fn kept(&self, module: &instr_trace::Module, loader: &Loader) -> Option<Found> {
        let mut found = self.kept.files().map(|path| {
            loader.find(Module {
                path: &path,
                build_id: module.build_id.as_deref(),
            })
        });
        found.find(|found| matches!(found, Found::Image { .. }))
    }
}

/// What to tell of a module without names.
fn problem(found: Found, module: &instr_trace::Module) -> Problem {
    match found {
        Found::OtherBuild { path, build_id } => {
            let traced = module.build_id.clone().unwrap_or_default();
            let found = build_id.as_deref().unwrap_or("none");
            Problem {
                message: format!(
                    "no names from {}: it is not the file that ran (build id {found}, traced {traced})",
                    path.display()
                ),
                build_ids: Some((traced, build_id)),
            }
        }
        Found::Missing { why } => Problem {
            message: format!("no names from {}: {}", module.path, root_cause(&why)),
            build_ids: None,
        },
        Found::Image { path, .. } => Problem {
            message: format!("no names from {}", path.display()),
            build_ids: None,
        },
    }
}

/// The innermost reason.
fn root_cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), root_cause)
}
