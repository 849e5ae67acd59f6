//! DejaGnu directives: what a test program's comments say about building, running and judging it.
//!
//! | directive | meaning here |
//! |---|---|
//! | `dg-do WHAT [{ target SEL }]` | only `run` is run; the default is `run` |
//! | `dg-options OPTS [{ target SEL }]` | in place of the folder's default options |
//! | `dg-additional-options OPTS [{ target SEL }]` | added |
//! | `dg-additional-sources FILES` | compiled along |
//! | `dg-set-target-env-var NAME VALUE` | environment of the run |
//! | `dg-require-effective-target KEYWORD`, `dg-require-alias` | not run where it does not hold |
//! | `dg-skip-if WHY { SEL } [{ WITH }] [{ WITHOUT }]` | not run where it holds |
//! | `dg-shouldfail WHY` | must not exit with status 0 |
//! | `dg-output REGEX` | what the program prints; several are one |
//! | `dg-timeout N`, `dg-timeout-factor X` | time limit |
//! | `dg-xfail-run-if WHY { SEL }` | expected to fail where it holds |
//! | the others | about what the compiler says: not looked at |
//!
//! Source: GCC Internals, "Syntax and Descriptions of test directives", and DejaGnu's `dg.exp`.

use std::path::{Path, PathBuf};

use regex::bytes::{Regex, RegexBuilder};

use crate::selector::{self, SelectorError, Target};
use crate::tcl::{self, TclError};

/// Why a directive is not understood.
#[derive(Debug, thiserror::Error)]
pub enum DirectiveError {
    /// It is no list.
    #[error("line {0}: {1}")]
    Syntax(usize, TclError),
    /// Its selector.
    #[error("line {0}: {1}")]
    Selector(usize, SelectorError),
    /// Its regular expression.
    #[error("dg-output: {0}")]
    Output(#[from] regex::Error),
    /// A word is missing or is not what is expected.
    #[error("line {0}: {1}: {2}")]
    Argument(usize, String, &'static str),
    /// A directive that matters for a run and is not described here.
    #[error("line {0}: unknown directive {1}")]
    Unknown(usize, String),
}

/// One directive: `{ dg-NAME WORD… }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// Its line, from 1.
    pub line: usize,
    /// Its name, `dg-do`.
    pub name: String,
    /// Its arguments, braces and quotes taken off.
    pub words: Vec<String>,
}

/// Finds the directives of a source text.
///
/// # Errors
///
/// When one is no Tcl list.
pub fn parse(text: &str) -> Result<Vec<Directive>, DirectiveError> {
    let mut found = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some((name, arguments)) = directive(text) else {
            continue;
        };
        let words = tcl::words(arguments).map_err(|why| DirectiveError::Syntax(line, why))?;
        found.push(Directive {
            line,
            name: name.to_owned(),
            words,
        });
    }
    Ok(found)
}

/// Name and arguments in a line: `{`, blanks, `dg-NAME`, blanks, anything up to the last ` }`, as DejaGnu's `dg-get-options` finds them.
fn directive(line: &str) -> Option<(&str, &str)> {
    let blank = |c| c == ' ' || c == '\t';
    let mut from = 0;
    loop {
        let brace = from + line[from..].find('{')?;
        from = brace + 1;
        let inside = &line[from..];
        let body = inside.trim_start_matches(blank);
        if body.len() == inside.len() || !body.starts_with("dg-") {
            continue;
        }
        let end = body.rfind('}')?;
        let body = &body[..end];
        let name = body.split(blank).next()?;
        let well_formed =
            body.ends_with(blank) && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        return well_formed.then(|| (name, body[name.len()..].trim()));
    }
}

/// Whether a program is run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Run,
    /// It is compiled or linked only.
    NotRun(String),
    /// It asks for something that is not here.
    Unsupported(String),
}

/// What one program asks for.
#[derive(Debug, Clone)]
pub struct Demands {
    /// Whether it is run here.
    pub verdict: Verdict,
    /// Options of the compiler, of the program itself; the folder's default ones when it has none.
    pub options: Vec<String>,
    /// Further sources.
    pub sources: Vec<PathBuf>,
    /// Environment of the run.
    pub env: Vec<(String, String)>,
    /// It must not exit with status 0.
    pub should_fail: bool,
    /// It is known to fail.
    pub expected_to_fail: bool,
    /// What it prints.
    pub output: Option<Regex>,
    /// Time limit in seconds.
    pub timeout: Option<u64>,
    /// Factor to the time limit.
    pub timeout_factor: f64,
}

/// What the folder of a program says.
#[derive(Debug, Clone, Copy)]
pub struct Defaults<'a> {
    /// Options that are always given (`-fopenmp`, the torture option).
    pub always: &'a [String],
    /// Options unless the program has `dg-options`.
    pub options: &'a [String],
    /// The program's folder: other sources are looked for there.
    pub folder: &'a Path,
}

/// Reads what a program asks for out of its directives.
///
/// # Errors
///
/// When a directive is not understood.
pub fn demands(
    directives: &[Directive],
    defaults: Defaults<'_>,
    target: &dyn Target,
) -> Result<Demands, DirectiveError> {
    let mut reader = Reader {
        target,
        defaults,
        what: "run".into(),
        selected: None,
        options: None,
        more_options: Vec::new(),
        output: String::new(),
        skips: Vec::new(),
        demands: Demands {
            verdict: Verdict::Run,
            options: Vec::new(),
            sources: Vec::new(),
            env: Vec::new(),
            should_fail: false,
            expected_to_fail: false,
            output: None,
            timeout: None,
            timeout_factor: 1.0,
        },
    };
    for directive in directives {
        reader.read(directive)?;
    }
    reader.finish()
}

struct Reader<'a> {
    target: &'a dyn Target,
    defaults: Defaults<'a>,
    what: String,
    /// What the selectors of `dg-do` lines said so far.
    selected: Option<bool>,
    options: Option<Vec<String>>,
    more_options: Vec<String>,
    output: String,
    /// `dg-skip-if` lines: they look at the options, so they are decided last.
    skips: Vec<Directive>,
    demands: Demands,
}

impl Reader<'_> {
    fn read(&mut self, directive: &Directive) -> Result<(), DirectiveError> {
        let word = |at: usize| directive.words.get(at).map_or("", String::as_str);
        let number = || {
            word(0)
                .parse::<f64>()
                .ok()
                .filter(|n| *n > 0.0)
                .ok_or_else(|| {
                    let (line, name) = (directive.line, directive.name.clone());
                    DirectiveError::Argument(line, name, "a positive number is expected")
                })
        };
        match directive.name.as_str() {
            "dg-do" => self.what_to_do(directive)?,
            "dg-options" if self.applies(directive, 1)? => self.options = Some(options(word(0))),
            "dg-additional-options" if self.applies(directive, 1)? => {
                self.more_options.extend(options(word(0)));
            }
            "dg-options" | "dg-additional-options" => {}
            "dg-additional-sources" => {
                let folder = self.defaults.folder;
                let files = options(word(0)).into_iter().map(|file| folder.join(file));
                self.demands.sources.extend(files);
            }
            "dg-set-target-env-var" => {
                let pair = (word(0).to_owned(), word(1).to_owned());
                self.demands.env.push(pair);
            }
            "dg-require-effective-target" => self.require(directive, word(0))?,
            "dg-require-alias" => self.require(directive, "alias")?,
            "dg-skip-if" => self.skips.push(directive.clone()),
            "dg-xfail-run-if" => {
                self.demands.expected_to_fail |= self.select(directive, word(1))?
            }
            "dg-shouldfail" => self.demands.should_fail = true,
            "dg-output" => self.output += word(0),
            "dg-timeout" => self.demands.timeout = Some(number()?.ceil() as u64),
            "dg-timeout-factor" => self.demands.timeout_factor = number()?,
            // What the compiler says and writes; options that x86-64 has no use for.
            "dg-add-options" | "dg-bogus" | "dg-error" | "dg-excess-errors" | "dg-final"
            | "dg-message" | "dg-note" | "dg-prune-output" | "dg-warning" | "dg-xfail-if" => {}
            name => return Err(DirectiveError::Unknown(directive.line, name.to_owned())),
        }
        Ok(())
    }

    /// `dg-do`: the last one says what, a selector of any one that fits selects the program (DejaGnu's `dg-do`).
    fn what_to_do(&mut self, directive: &Directive) -> Result<(), DirectiveError> {
        self.what = directive.words.first().cloned().unwrap_or_default();
        if directive.words.len() > 1 {
            let fits = self.applies(directive, 1)?;
            self.selected = Some(fits || self.selected == Some(true));
        }
        Ok(())
    }

    /// Whether the selector `{ target SEL }` at word `at` holds; a directive without one always applies.
    fn applies(&self, directive: &Directive, at: usize) -> Result<bool, DirectiveError> {
        let Some(condition) = directive.words.get(at) else {
            return Ok(true);
        };
        match condition.trim().strip_prefix("target") {
            Some(selector) => self.select(directive, selector),
            None => {
                let (line, name) = (directive.line, directive.name.clone());
                Err(DirectiveError::Argument(
                    line,
                    name,
                    "`{ target … }` is expected",
                ))
            }
        }
    }

    fn select(&self, directive: &Directive, selector: &str) -> Result<bool, DirectiveError> {
        selector::evaluate(selector, self.target)
            .map_err(|why| DirectiveError::Selector(directive.line, why))
    }

    fn require(&mut self, directive: &Directive, keyword: &str) -> Result<(), DirectiveError> {
        if !self.select(directive, keyword)? {
            self.unsupported(format!("needs {keyword}"));
        }
        Ok(())
    }

    fn unsupported(&mut self, reason: String) {
        if self.demands.verdict == Verdict::Run {
            self.demands.verdict = Verdict::Unsupported(reason);
        }
    }

    fn finish(mut self) -> Result<Demands, DirectiveError> {
        let own = self.options.take();
        let own = own.unwrap_or_else(|| self.defaults.options.to_vec());
        self.demands.options = [own, std::mem::take(&mut self.more_options)].concat();
        for directive in std::mem::take(&mut self.skips) {
            if self.skips_here(&directive)? {
                let reason = directive.words.first().cloned().unwrap_or_default();
                self.unsupported(format!("skipped: {}", quoted_reason(&reason)));
            }
        }
        if self.selected == Some(false) {
            self.unsupported("not for this target".into());
        }
        if self.what != "run" {
            self.demands.verdict = Verdict::NotRun(format!("only for `{}`", self.what));
        }
        if !self.output.is_empty() {
            let expression = RegexBuilder::new(&self.output).build()?;
            self.demands.output = Some(expression);
        }
        Ok(self.demands)
    }

    /// `dg-skip-if WHY { SEL } [{ WITH… }] [{ WITHOUT… }]`.
    fn skips_here(&self, directive: &Directive) -> Result<bool, DirectiveError> {
        let word = |at: usize| directive.words.get(at).map(String::as_str);
        if !self.select(directive, word(1).unwrap_or_default())? {
            return Ok(false);
        }
        let list = |text: &str| {
            tcl::words(text).map_err(|why| DirectiveError::Syntax(directive.line, why))
        };
        let used = |pattern: &String| {
            let pattern = format!("* {pattern} *");
            let line = [self.defaults.always, &self.demands.options]
                .concat()
                .join(" ");
            selector::glob(&pattern, &format!(" {line} "))
        };
        let with = list(word(2).unwrap_or("*"))?;
        let without = list(word(3).unwrap_or_default())?;
        let any = |patterns: &[String]| patterns.iter().any(|p| p == "*" || used(p));
        Ok((with.is_empty() || any(&with)) && !any(&without))
    }
}

fn quoted_reason(reason: &str) -> &str {
    if reason.is_empty() {
        "by the program itself"
    } else {
        reason
    }
}

fn options(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
