//! What a time in which a processor ran a thread is counted for, in figures and tables: a program, an application, a parallel section, a thread.

use std::path::PathBuf;

use anyhow::Result;
use hashbrown::HashMap;
use instr_analysis::processors::Slice;
use instr_analysis::sections::{SEQUENTIAL, Section, Sections};
use instr_trace::kernel::Part;
use instr_trace::names::{CodeRole, code_label};
use instr_trace::{Names, Session};

use crate::cli::{By, SymbolOptions};
use crate::console::Refusal;
use crate::quote::harmless;
use crate::symbols::{as_names, of_session};

/// Applications that a message lists.
const LISTED: usize = 8;

/// How a group is told apart from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of many.
    Usual,
    /// What is outside of all parallel regions.
    Sequential,
    /// Other applications than the chosen one.
    Others,
}

/// A piece of a slice: of one group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'s, 'a> {
    /// The slice.
    pub(crate) slice: &'s Slice<'a>,
    /// Begin, ns since that of the first recording.
    pub(crate) begin: u64,
    /// End.
    pub(crate) end: u64,
    /// Position of the group in [`Groups::names`].
    pub(crate) group: usize,
}

/// The groups.
pub(crate) struct Groups {
    by: By,
    /// Names of the recordings' programs.
    programs: Vec<String>,
    /// The only application whose groups are told apart.
    chosen: Option<usize>,
    /// In the order in which they appear.
    pub(crate) names: Vec<String>,
    /// Of each.
    pub(crate) kinds: Vec<Kind>,
    by_name: HashMap<String, usize>,
    by_thread: HashMap<(u32, u32), usize>,
    sections: Option<OfSections>,
}

/// Sections with their names, and groups by application and section.
struct OfSections {
    sections: Sections,
    names: Vec<String>,
    /// `CLOCK_MONOTONIC` at the begin of the first recording.
    begin: u64,
    groups: HashMap<(Option<usize>, Option<Section>), usize>,
}

/// Which groups are wanted.
pub(crate) struct Wanted<'a> {
    /// What they are.
    pub(crate) by: By,
    /// The only application that is told apart, by the name of its program or the number of its process.
    pub(crate) application: Option<&'a str>,
    /// The folders of the traces, which have the sections.
    pub(crate) traces: &'a [PathBuf],
    /// Where names come from.
    pub(crate) symbols: &'a SymbolOptions,
}

impl Groups {
    /// No group yet.
    ///
    /// # Errors
    ///
    /// An application that is none or several, traces that cannot be read, and, where sections are wanted, traces without regions.
    pub(crate) fn of(wanted: &Wanted<'_>, parts: &[&Part]) -> Result<Self> {
        let infos = parts.iter().map(|part| part.info());
        let programs: Vec<String> = infos.clone().map(|info| info.program.clone()).collect();
        let pids: Vec<u32> = infos.map(|info| info.pid).collect();
        let chosen = wanted.application;
        let chosen = chosen.map(|text| choose(text, &programs, &pids));
        let chosen = chosen.transpose()?;
        let sections = match wanted.by {
            By::Section => Some(OfSections::read(wanted, parts)?),
            _ => None,
        };
        Ok(Self {
            chosen,
            sections,
            programs,
            ..Self::by_program(wanted.by)
        })
    }

    /// By the programs alone.
    pub(crate) fn programs(parts: &[&Part]) -> Self {
        let infos = parts.iter().map(|part| part.info());
        Self {
            programs: infos.map(|info| info.program.clone()).collect(),
            ..Self::by_program(By::Program)
        }
    }

    fn by_program(by: By) -> Self {
        Self {
            by,
            programs: Vec::new(),
            chosen: None,
            names: Vec::new(),
            kinds: Vec::new(),
            by_name: HashMap::new(),
            by_thread: HashMap::new(),
            sections: None,
        }
    }

    /// Whether a slice is of an application that is told apart.
    pub(crate) fn is_chosen(&self, slice: &Slice<'_>) -> bool {
        self.chosen.is_none() || self.chosen == slice.application
    }

    fn group(&mut self, name: &str, kind: Kind) -> usize {
        if let Some(group) = self.by_name.get(name) {
            return *group;
        }
        let group = self.names.len();
        self.by_name.insert(name.to_owned(), group);
        self.names.push(name.to_owned());
        self.kinds.push(kind);
        group
    }

    /// Divides a slice among its groups, in order of time.
    ///
    /// # Errors
    ///
    /// Those of `each`.
    pub(crate) fn divide(
        &mut self,
        slice: &Slice<'_>,
        each: &mut dyn FnMut(Piece<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let whole = |group: usize| Piece {
            slice,
            begin: slice.begin_ns,
            end: slice.end_ns,
            group,
        };
        if !self.is_chosen(slice) {
            return each(whole(self.group("other applications", Kind::Others)));
        }
        match (self.by, self.sections.take()) {
            (By::Section, Some(mut sections)) => {
                let done = self.divide_by_section(slice, &mut sections, each);
                self.sections = Some(sections);
                done
            }
            (By::Thread, _) => {
                let key = (slice.pid, slice.tid);
                let group = match self.by_thread.get(&key) {
                    Some(group) => *group,
                    None => {
                        let name = format!("{} ({})", slice.name, slice.tid);
                        let group = self.group(&name, Kind::Usual);
                        self.by_thread.insert(key, group);
                        group
                    }
                };
                each(whole(group))
            }
            _ => each(whole(self.program(slice))),
        }
    }

    /// The program of a slice, or its application where there are several, or where these are wanted.
    fn program(&mut self, slice: &Slice<'_>) -> usize {
        let by_application = self.by == By::Application || self.programs.len() > 1;
        let name = match slice.application {
            None => return self.group("other programs", Kind::Usual),
            Some(at) if by_application => self.programs.get(at).cloned().unwrap_or_default(),
            Some(_) => return self.group(slice.process_name, Kind::Usual),
        };
        self.group(&name, Kind::Usual)
    }

    fn divide_by_section(
        &mut self,
        slice: &Slice<'_>,
        of: &mut OfSections,
        each: &mut dyn FnMut(Piece<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let begin = of.begin;
        let time = (
            slice.begin_ns.saturating_add(begin),
            slice.end_ns.saturating_add(begin),
        );
        let mut done = Ok(());
        let (names, groups) = (&of.names, &mut of.groups);
        of.sections
            .divide((slice.pid, slice.tid), time, &mut |from, to, section| {
                if done.is_err() {
                    return;
                }
                let group = *groups
                    .entry((slice.application, section))
                    .or_insert_with(|| {
                        let (name, kind) = match section {
                            None => ("programs that recorded no regions", Kind::Usual),
                            Some(SEQUENTIAL) => ("sequential", Kind::Sequential),
                            Some(section) => {
                                let name =
                                    names.get(section as usize - 1).map_or("", String::as_str);
                                (name, Kind::Usual)
                            }
                        };
                        let program = slice.application.and_then(|at| self.programs.get(at));
                        match program.filter(|_| self.programs.len() > 1 && self.chosen.is_none()) {
                            Some(program) => self.group(&format!("{program}: {name}"), kind),
                            None => self.group(name, kind),
                        }
                    });
                done = each(Piece {
                    slice,
                    begin: from.saturating_sub(begin),
                    end: to.saturating_sub(begin),
                    group,
                });
            });
        done
    }
}

/// The application that is meant.
fn choose(text: &str, programs: &[String], pids: &[u32]) -> Result<usize> {
    let all = programs.iter().zip(pids).enumerate();
    let found: Vec<usize> = all
        .filter(|(_, (program, pid))| program.as_str() == text || pid.to_string() == text)
        .map(|(at, _)| at)
        .collect();
    if let [one] = found.as_slice() {
        return Ok(*one);
    }
    let listed = programs.iter().zip(pids).take(LISTED);
    let listed: Vec<_> = listed
        .map(|(program, pid)| format!("{} ({pid})", harmless(program)))
        .collect();
    let why = match found.len() {
        0 => "there is no application",
        _ => "there are several applications",
    };
    Err(Refusal {
        message: format!("{why} {}", harmless(text)),
        notes: vec![format!("there are {}", listed.join(", "))],
        help: Some("name the program, or the number of its process".to_owned()),
    }
    .into())
}

impl OfSections {
    fn read(wanted: &Wanted<'_>, parts: &[&Part]) -> Result<Self> {
        let session = Session::open(wanted.traces)?;
        let sections = Sections::of(session.traces())?;
        if sections.regions().is_empty() {
            return Err(Refusal {
                message: "there is no parallel region in what was recorded".to_owned(),
                notes: Vec::new(),
                help: Some(
                    "instr run records those of programs with OpenMP that are linked dynamically; build others with instr-cc".to_owned(),
                ),
            }
            .into());
        }
        let symbols = of_session(&session, wanted.symbols);
        let names = as_names(&symbols);
        let name = |(process, code): &(usize, instr_trace::model::Code)| {
            code_label(
                names[*process].as_ref() as &dyn Names,
                *code,
                CodeRole::Parallel,
            )
        };
        let names = sections.regions().iter().map(name).collect();
        let begins = parts.iter().map(|part| part.info().start_monotonic_ns);
        Ok(Self {
            sections,
            names,
            begin: begins.min().unwrap_or(0),
            groups: HashMap::new(),
        })
    }
}
