//! Questions to answers: which file, which link address, what is known of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use instr_symtab::{Frame, FunctionName, Loader, Lookup, Nearest};

use super::binaries::{self, Binary, DEFAULT_PROGRAM, Problem, Process};
use super::options::SymbolizeOptions;
use super::question::{Question, What};
use crate::console::Console;

/// Everything that stays open between questions.
pub(super) struct Session<'o> {
    options: &'o SymbolizeOptions,
    loader: Loader,
    binaries: Vec<Binary>,
    /// Numbers of the binaries by the paths they were asked for.
    known: BTreeMap<PathBuf, usize>,
    /// Number of the one that questions without a file are about.
    program: Option<usize>,
    process: Option<Process>,
}

/// Where the answer to a question is to be looked for.
struct Located {
    /// As it is shown.
    address: u64,
    /// Whether it is shown with 16 digits.
    wide: bool,
    binary: Option<usize>,
    /// Link addresses, to be tried in order.
    links: Vec<u64>,
}

/// An answer, ready to be shown.
pub(super) struct Answer<'s> {
    /// The address as it was asked for.
    pub(super) address: u64,
    /// Whether addresses of its program have 64 bits.
    pub(super) wide: bool,
    /// The file it belongs to.
    pub(super) binary: Option<&'s Binary>,
    /// The address in that file.
    pub(super) link: Option<u64>,
    /// What is known of it.
    pub(super) lookup: Arc<Lookup>,
}

/// Function, file and line of a frame.
type ShownFrame<'s> = (Option<&'s FunctionName>, Option<&'s str>, Option<u32>);

/// An answer as addr2line shows it.
pub(super) struct Shown<'s> {
    frames: &'s [Frame],
    /// What is shown in place of the frames.
    symbol: Option<Nearest>,
    /// The name of the outermost frame, where it has none.
    outermost: Option<FunctionName>,
    pub(super) discriminator: u32,
}

impl Shown<'_> {
    /// Innermost first.
    pub(super) fn frames(&self) -> impl Iterator<Item = ShownFrame<'_>> {
        let symbol = self.symbol.as_ref();
        let symbol = symbol.map(|symbol| (Some(&symbol.function), symbol.file.as_deref(), None));
        let frames = self.frames.iter().map(|frame| {
            let function = frame.function.as_ref().or(self.outermost.as_ref());
            (function, frame.file.as_deref(), frame.line)
        });
        symbol.into_iter().chain(frames)
    }
}

impl<'o> Session<'o> {
    pub(super) fn new(options: &'o SymbolizeOptions) -> Self {
        Session {
            options,
            loader: binaries::loader(options),
            binaries: Vec::new(),
            known: BTreeMap::new(),
            program: None,
            process: None,
        }
    }

    /// Takes addresses as those of a traced process from now on.
    pub(super) fn set_process(&mut self, process: Process) {
        self.process = Some(process);
    }

    /// Opens the program that questions without a file are about.
    ///
    /// # Errors
    ///
    /// Files that cannot be read, are no ELF files or lack the section that the options name.
    pub(super) fn open_program(&mut self, console: &mut Console<'_>) -> Result<usize> {
        if let Some(known) = self.program {
            return Ok(known);
        }
        let path = self.options.exe.clone();
        let path = path.unwrap_or_else(|| PathBuf::from(DEFAULT_PROGRAM));
        let number = match self.known.get(&path) {
            Some(&known) => known,
            None => {
                let binary = binaries::open(&path, &self.loader, self.options, console)?;
                self.keep(path, binary)
            }
        };
        self.program = Some(number);
        Ok(number)
    }

    fn keep(&mut self, path: PathBuf, binary: Binary) -> usize {
        self.binaries.push(binary);
        self.known.insert(path, self.binaries.len() - 1);
        self.binaries.len() - 1
    }

    /// The file that a question names. One that cannot be opened is told once and answers with nothing.
    fn open_module(&mut self, path: &Path, console: &mut Console<'_>) -> usize {
        if let Some(&known) = self.known.get(path) {
            return known;
        }
        let opened = binaries::open(path, &self.loader, self.options, console);
        let binary = opened.unwrap_or_else(|why| {
            let message = format!("{why:#}");
            console.warn(&format!("{message}: its addresses are answered with ??"));
            Binary {
                path: path.display().to_string(),
                view: None,
                problem: Some(Problem {
                    message,
                    build_ids: None,
                }),
                section: None,
            }
        });
        self.keep(path.to_owned(), binary)
    }

    /// Answers questions together, in their order.
    ///
    /// # Errors
    ///
    /// As [`Session::open_program`].
    pub(super) fn answers(
        &mut self,
        questions: &[Question],
        console: &mut Console<'_>,
    ) -> Result<Vec<Answer<'_>>> {
        let located = questions
            .iter()
            .map(|question| self.locate(question, console))
            .collect::<Result<Vec<_>>>()?;
        let lookups = self.look_up(&located);
        let answers = located.into_iter().zip(lookups);
        Ok(answers
            .map(|(located, (link, lookup))| Answer {
                address: located.address,
                wide: located.wide,
                binary: located.binary.map(|number| &self.binaries[number]),
                link,
                lookup,
            })
            .collect())
    }

    fn locate(&mut self, question: &Question, console: &mut Console<'_>) -> Result<Located> {
        let number = match (&question.module, &self.process) {
            (Some(path), _) => self.open_module(path, console),
            (None, Some(_)) => return Ok(self.locate_in_process(question, console)),
            (None, None) => self.open_program(console)?,
        };
        let binary = &self.binaries[number];
        let Some(view) = &binary.view else {
            return Ok(Located {
                address: match question.what {
                    What::Address(address) => address,
                    What::Symbol(..) => 0,
                },
                wide: true,
                binary: Some(number),
                links: Vec::new(),
            });
        };
        let address = match &question.what {
            What::Address(address) => *address,
            What::Symbol(name, offset) => match view.symbol_value(name) {
                Some(value) => value.wrapping_add(*offset),
                None => 0,
            },
        };
        let wide = view.is_64();
        let address = if wide { address } else { address & 0xffff_ffff };
        let value = address.wrapping_sub(self.options.adjust_vma);
        Ok(Located {
            address,
            wide,
            binary: Some(number),
            links: view.link_addresses(value, binary.section),
        })
    }

    /// A run-time address; a symbol is one of the traced program.
    fn locate_in_process(&mut self, question: &Question, console: &mut Console<'_>) -> Located {
        let address = match question.what {
            What::Address(address) => address,
            What::Symbol(..) => 0,
        };
        let Some(process) = &mut self.process else {
            return Located {
                address,
                wide: true,
                binary: None,
                links: Vec::new(),
            };
        };
        // The return address of a call may be that of the next function.
        let back = u64::from(question.call_site);
        let place = process.find(address.wrapping_sub(back));
        let wide = process.wide;
        let from = (&self.loader, self.options);
        let binary =
            place.map(|(module, _)| process.binary(module, &mut self.binaries, from, console));
        Located {
            address,
            wide,
            binary,
            links: place.map(|(_, link)| link).into_iter().collect(),
        }
    }

    /// The link address and what is known of it for each place; the questions to one file are asked together.
    fn look_up(&self, located: &[Located]) -> Vec<(Option<u64>, Arc<Lookup>)> {
        let nothing = Arc::new(Lookup::default());
        let mut found: Vec<_> = located
            .iter()
            .map(|located| (located.links.first().copied(), Arc::clone(&nothing)))
            .collect();
        let mut by_binary: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, located) in located.iter().enumerate() {
            if let (Some(number), false) = (located.binary, located.links.is_empty()) {
                by_binary.entry(number).or_default().push(at);
            }
        }
        for (number, places) in by_binary {
            let Some(view) = &self.binaries[number].view else {
                continue;
            };
            let links: Vec<u64> = places.iter().map(|&at| located[at].links[0]).collect();
            for (&at, lookup) in places.iter().zip(view.image().lookup_all(&links)) {
                found[at].1 = lookup;
                // In a relocatable file the next section may know more.
                for &link in located[at].links.iter().skip(1) {
                    if !found[at].1.frames.is_empty() {
                        break;
                    }
                    found[at] = (Some(link), view.image().lookup(link));
                }
            }
        }
        found
    }
}

impl Answer<'_> {
    /// The answer as addr2line shows it; `None` where nothing is known.
    ///
    /// Where there is no debug information, the symbol table's rules are those of BFD: the nearest function before the
    /// address counts, and the source file is the one that the table tells.
    pub(super) fn shown(&self) -> Option<Shown<'_>> {
        let (link, view) = (self.link?, self.binary?.view.as_ref()?);
        let innermost = self.lookup.frames.first();
        let described = innermost.is_some_and(|frame| {
            frame.line.is_some()
                || self.lookup.frames.len() > 1
                || frame.file.as_ref().is_some_and(|file| file.contains('/'))
        });
        let frames = &self.lookup.frames[..];
        if described {
            let unnamed = frames.last().is_some_and(|last| last.function.is_none());
            let line = innermost.and_then(|frame| frame.line);
            return Some(Shown {
                frames,
                symbol: None,
                outermost: unnamed
                    .then(|| view.nearest(link).map(|nearest| nearest.function))
                    .flatten(),
                discriminator: line.map_or(0, |_| self.lookup.discriminator),
            });
        }
        let known = self.lookup.function.as_ref().map(|function| &function.raw);
        let symbol = view.nearest(link).filter(|nearest| {
            nearest.covers
                || known.is_none_or(|known| *known == nearest.function.raw)
                || view.has_symbol_table()
        });
        let frames = match symbol {
            Some(_) => &[],
            None => frames,
        };
        (symbol.is_some() || !frames.is_empty()).then_some(Shown {
            frames,
            symbol,
            outermost: None,
            discriminator: 0,
        })
    }
}
