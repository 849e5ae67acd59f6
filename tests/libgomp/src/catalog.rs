//! Which programs there are, and how their folder wants them built.
//!
//! Source: `c.exp`, `c++.exp` and `fortran.exp` in `libgomp/testsuite`. The OpenACC folders and `libgomp.graphite` (nothing there is
//! run) are left out.

use std::path::{Path, PathBuf};

use crate::directives::{self, Defaults, Demands, Directive, DirectiveError};
use crate::facts::Facts;
use crate::unpack::Suite;

/// A programming language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// C
    C,
    /// C++
    Cxx,
    /// Fortran
    Fortran,
}

impl Language {
    /// The compiler's command.
    #[must_use]
    pub fn compiler(self) -> &'static str {
        match self {
            Self::C => "gcc",
            Self::Cxx => "g++",
            Self::Fortran => "gfortran",
        }
    }
}

/// One way in which the programs of a folder are built: a row of the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// `libgomp.c`
    pub folder: &'static str,
    /// Compiled as this.
    pub language: Language,
    /// Ending of the programs' names: `O2` in `libgomp.fortran/x.f90@O2`; empty when the folder is built in one way only.
    pub variant: &'static str,
    /// The option `-VARIANT` is given with every command (GCC's torture options), in place of default options.
    torture: bool,
}

/// All groups, in the order of the summary. Of the six torture options of `gfortran-dg-runtest` two are used: those for which the
/// expensive Fortran programs do not skip themselves.
pub const GROUPS: [Group; 6] = [
    group("libgomp.c", Language::C, "", false),
    group("libgomp.c-c++-common", Language::C, "c", false),
    group("libgomp.c-c++-common", Language::Cxx, "c++", false),
    group("libgomp.c++", Language::Cxx, "", false),
    group("libgomp.fortran", Language::Fortran, "O2", true),
    group("libgomp.fortran", Language::Fortran, "O0", true),
];

const fn group(
    folder: &'static str,
    language: Language,
    variant: &'static str,
    torture: bool,
) -> Group {
    Group {
        folder,
        language,
        variant,
        torture,
    }
}

impl Group {
    /// Its name in the summary.
    #[must_use]
    pub fn name(&self) -> String {
        match self.variant {
            "" => self.folder.to_owned(),
            variant if self.torture => format!("{} -{variant}", self.folder),
            _ => format!(
                "{} as {}",
                self.folder,
                if self.language == Language::C {
                    "C"
                } else {
                    "C++"
                }
            ),
        }
    }

    /// Endings of the files that are programs of their own.
    fn endings(&self) -> &'static [&'static str] {
        match (self.language, self.folder) {
            (Language::C, _) | (_, "libgomp.c-c++-common") => &["c"],
            (Language::Cxx, _) => &["C"],
            (Language::Fortran, _) => &[
                "f", "F", "f90", "F90", "f95", "F95", "f03", "F03", "f08", "F08",
            ],
        }
    }
}

/// One program in one variant.
#[derive(Debug, Clone)]
pub struct Program {
    /// `libgomp.c-c++-common/depend-1.c@c++`: folder, file, variant.
    pub id: String,
    /// Place in [`GROUPS`].
    pub group: usize,
    /// Its language.
    pub language: Language,
    /// Its main source.
    pub source: PathBuf,
    /// Options that come with every command.
    pub always: Vec<String>,
    /// What its directives say, or why they are not understood.
    pub demands: Result<Demands, String>,
}

/// All programs, by group and name.
///
/// # Errors
///
/// When a folder or a file cannot be read.
pub fn programs(suite: &Suite) -> std::io::Result<Vec<Program>> {
    let mut programs = Vec::new();
    for (index, group) in GROUPS.iter().enumerate() {
        let facts = Facts::of_this_machine(group.language);
        let mut files = Vec::new();
        collect(
            &suite.tests().join(group.folder),
            group.endings(),
            &mut files,
        )?;
        files.sort();
        for source in files {
            programs.push(program(suite, index, source, &facts)?);
        }
    }
    Ok(programs)
}

fn collect(dir: &Path, endings: &[&str], files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let ending = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            collect(&path, endings, files)?;
        } else if endings.contains(&ending) {
            files.push(path);
        }
    }
    Ok(())
}

fn program(
    suite: &Suite,
    index: usize,
    source: PathBuf,
    facts: &Facts,
) -> std::io::Result<Program> {
    let group = &GROUPS[index];
    // Some sources are Latin-1; directives are ASCII.
    let text = String::from_utf8_lossy(&std::fs::read(&source)?).into_owned();
    let name = source.strip_prefix(suite.tests()).unwrap_or(&source);
    let mut id = name.to_string_lossy().into_owned();
    if !group.variant.is_empty() {
        id += &format!("@{}", group.variant);
    }
    let mut always = vec!["-fopenmp".to_owned()];
    if group.torture {
        always.push(format!("-{}", group.variant));
    }
    let demands = directives::parse(&text)
        .and_then(|directives| ask(group, &source, &always, &directives, facts))
        .map_err(|why| why.to_string());
    Ok(Program {
        id,
        group: index,
        language: group.language,
        source,
        always,
        demands,
    })
}

fn ask(
    group: &Group,
    source: &Path,
    always: &[String],
    directives: &[Directive],
    facts: &Facts,
) -> Result<Demands, DirectiveError> {
    let usual = ["-O2".to_owned()];
    let defaults = Defaults {
        always,
        options: if group.torture { &[] } else { &usual },
        folder: source.parent().unwrap_or(source),
    };
    directives::demands(directives, defaults, facts)
}
