//! From the wrapper's command line to the compiler's: the impure middle between [`crate::cli`] and [`crate::plan`].

use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal as _, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use instr_rewrite::Api;

use crate::argv::response_file;
use crate::cache::Cache;
use crate::cli::{self, Choice, Options};
use crate::compiler::Machine;
use crate::config::Config;
use crate::error::UsageError;
use crate::exec::{Call, end_like};
use crate::plan::{self, Additions, Plan, Reason};
use crate::shim::context::{self, Context};
use crate::targets::{self, Target};
use crate::{help, language, launcher, preload, runtime, say, shim};

/// Counts how often wrappers have called each other, to stop a compiler script that calls the wrapper.
const DEPTH_VARIABLE: &str = "INSTR_CC_DEPTH";
/// More than any chain of scripts that makes sense.
const MAX_DEPTH: u32 = 10;

/// The compiler's file and how it is started.
struct Compiler {
    /// What is started: the compiler, or a launcher.
    program: PathBuf,
    /// `argv[0]`.
    arg0: OsString,
    /// The rest of the command before the arguments.
    prefix: Vec<OsString>,
    /// The compiler itself.
    file: PathBuf,
}

/// Runs as the compiler wrapper; returns an exit status if the process did not become the compiler.
pub fn run(argv0: &OsStr, argv: Vec<OsString>) -> i32 {
    match try_run(argv0, argv) {
        Ok(status) => status,
        Err(error) => {
            say::error(&format!("{error:#}"));
            if error.is::<UsageError>() { 2 } else { 1 }
        }
    }
}

fn try_run(argv0: &OsStr, argv: Vec<OsString>) -> Result<i32> {
    let words = cli::split(argv)?;
    if words.options.help {
        return print(&help::text());
    }
    if words.options.version {
        return print(&format!("instr-cc {}\n", env!("CARGO_PKG_VERSION")));
    }
    if let Some(folder) = &words.options.preload {
        preload::put(folder).context("cannot build the library that instr run preloads")?;
        return Ok(0);
    }
    let options = words.options;
    let target = target(&options)?;
    let mut api = Api::empty();
    for path in &options.apis {
        // The parser's message names the file and the place.
        api.add_file(path)?;
    }
    if let Some(path) = &options.config {
        read_config(path)?;
    }
    let machine = Machine::new();
    let variable = std::env::var_os("INSTR_CC");
    let wanted = target.as_ref().map(|t| t.compiler.as_str());
    let choice = cli::choose(argv0, words.rest, wanted, variable.as_deref(), &machine);
    let choice = match choice.named {
        true => choice,
        false => {
            cli::check_first(&choice, &machine)?;
            let default = choice.compiler().to_owned();
            let choice = language::choose(choice, &machine)?;
            if choice.compiler() != default {
                let (chosen, default) = (choice.compiler().display(), default.display());
                let why = "by the language of sources and objects";
                say::note(
                    options.verbose,
                    &format!("runs {chosen}, not {default}: {why}"),
                );
            }
            choice
        }
    };
    let compiler = resolve(&choice, &machine)?;
    let depth = depth(&compiler)?;
    let args = with_target([choice.extra, choice.args].concat(), target.as_ref());
    let mut setup = Setup {
        options,
        compiler,
        depth,
        machine,
        cache: None,
    };
    let off = setup.options.off || cli::is_off(variable.as_deref());
    if let Some(compiler) = shim::compiler_of_linker(&setup.compiler.arg0).filter(|_| !off) {
        return setup.link(&compiler, &args);
    }
    let plan = if off {
        Plan::Untouched(Reason::Off)
    } else {
        planned(&args)
    };
    setup.carry_out(&args, plan)
}

/// Reads a configuration.
///
/// # Errors
/// When it cannot be read, or says what cannot be.
pub(crate) fn read_config(path: &Path) -> Result<Config> {
    let text = instr_rewrite::api::read_text(path)?;
    Config::parse(&text).with_context(|| format!("cannot use {}", path.display()))
}

fn print(text: &str) -> Result<i32> {
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(0)
}

fn target(options: &Options) -> Result<Option<Target>> {
    let Some(name) = &options.target else {
        return Ok(None);
    };
    let found = targets::find(name).context("embedded target description")?;
    Ok(Some(found.ok_or_else(|| {
        UsageError::UnknownTarget(format!("--instr-target={name}"))
    })?))
}

fn planned(args: &[OsString]) -> Plan {
    match response_file::expand(args) {
        Ok(expanded) => plan::plan(&expanded),
        Err(error) => Plan::Untouched(Reason::Response(error.to_string())),
    }
}

/// The target's flags stand in front of the user's, those for links only if something is linked.
fn with_target(args: Vec<OsString>, target: Option<&Target>) -> Vec<OsString> {
    let Some(target) = target else { return args };
    let links = matches!(planned(&args), Plan::Run(a) if a.link || a.plain_link.is_some());
    let link_flags = target.link_flags.iter().filter(|_| links);
    target
        .flags
        .iter()
        .chain(link_flags)
        .map(OsString::from)
        .chain(args)
        .collect()
}

fn depth(compiler: &Compiler) -> Result<u32> {
    let depth = std::env::var(DEPTH_VARIABLE)
        .ok()
        .and_then(|d| d.parse().ok())
        .unwrap_or(0);
    if depth >= MAX_DEPTH {
        return Err(UsageError::Circle(compiler.file.display().to_string(), depth).into());
    }
    Ok(depth + 1)
}

fn resolve(choice: &Choice, machine: &Machine) -> Result<Compiler, UsageError> {
    let mut found = Vec::new();
    for word in &choice.command {
        found.push(resolve_one(word, machine)?);
    }
    let mut found = found.into_iter();
    // `choose` gives one word at least.
    let (program, arg0) = found
        .next()
        .ok_or_else(|| UsageError::NoCompiler(String::new()))?;
    let (prefix, files): (Vec<OsString>, Vec<PathBuf>) =
        found.map(|(file, word)| (word, file)).unzip();
    let file = files.last().cloned().unwrap_or_else(|| program.clone());
    Ok(Compiler {
        program,
        arg0,
        prefix,
        file,
    })
}

/// The file of a command's word, and the word as it is passed on: as it was written, unless the wrapper stands in `PATH`
/// before the compiler of that name.
fn resolve_one(word: &OsStr, machine: &Machine) -> Result<(PathBuf, OsString), UsageError> {
    let shown = || word.to_string_lossy().into_owned();
    if word.as_bytes().contains(&b'/') {
        let path = PathBuf::from(word);
        if machine.is_own(&path) {
            return Err(UsageError::OwnCompiler(shown()));
        }
        return Ok((path, word.to_owned()));
    }
    match machine.find(word) {
        Some((path, false)) => Ok((path, word.to_owned())),
        Some((path, true)) => Ok((path.clone(), path.into())),
        None => Err(UsageError::NoCompiler(shown())),
    }
}

struct Setup {
    options: Options,
    compiler: Compiler,
    depth: u32,
    machine: Machine,
    cache: Option<Cache>,
}

impl Setup {
    fn carry_out(&mut self, args: &[OsString], plan: Plan) -> Result<i32> {
        let call = match plan {
            Plan::Untouched(reason) => {
                self.note(&format!("compiler run untouched: {reason}"));
                self.call(args)
            }
            Plan::Run(additions) => match self.prepare(args, &additions) {
                Ok(call) => call,
                Err(error) => {
                    self.note(&format!("compiler run untouched: {error:#}"));
                    self.call(args)
                }
            },
        };
        if self.options.dry_run {
            return print(&shown(&call));
        }
        if args.iter().any(|word| word == "--help") && std::io::stdout().is_terminal() {
            return self.help_of_compiler(&call);
        }
        self.start(&call)
    }

    /// The compiler's help, and where ours is. Only people see that: programs read the compiler's own text.
    fn help_of_compiler(&self, call: &Call) -> Result<i32> {
        let status = call
            .run()
            .with_context(|| format!("cannot run {}", call.program.display()))?;
        print("\nThis is the compiler's help. That of instr-cc itself: instr-cc --instr-help\n")?;
        end_like(status);
    }

    /// Links with a linker that was named in place of a compiler.
    fn link(&self, compiler: &OsStr, args: &[OsString]) -> Result<i32> {
        let real = &self.compiler.file;
        if self.options.dry_run {
            return print(&shown(&self.call(args)));
        }
        let context = || {
            let (compiler, _) = self
                .machine
                .find(compiler)
                .with_context(|| format!("there is no {} in PATH", compiler.display()))?;
            let cache = Cache::open(|name| std::env::var_os(name))
                .context("cannot make a folder for the runtime")?;
            let (_, facts) = runtime::identify(&cache, &compiler)?;
            anyhow::ensure!(facts.family.is_some(), "its compiler is not known");
            let shim = shim::folder(&cache, self.machine.own())?;
            self.context(&cache, shim, &compiler, &Additions::default(), &facts.os)
        };
        match context() {
            Ok(context) => Ok(shim::run_linker(real, args, &context, self.machine.own())),
            Err(error) => {
                self.note(&format!("linked plainly: {error:#}"));
                Err(self.call(args).replace())
                    .with_context(|| format!("cannot run {}", real.display()))
            }
        }
    }

    fn note(&self, text: &str) {
        say::note(self.options.verbose, text);
    }

    fn call(&self, args: &[OsString]) -> Call {
        let mut call = Call::new(&self.compiler.program)
            .args(&self.compiler.prefix)
            .args(args);
        call.arg0 = Some(self.compiler.arg0.clone());
        call.env
            .push((DEPTH_VARIABLE, Some(self.depth.to_string().into())));
        call
    }

    /// The call with headers and shim.
    fn prepare(&mut self, args: &[OsString], additions: &Additions) -> Result<Call> {
        if let Some(reason) = &additions.plain_link {
            self.note(&format!("linked plainly: {reason}"));
        }
        if let Some(warning) =
            launcher::warning(&self.compiler.file, args, additions, &self.machine)
        {
            say::warning(&warning);
        }
        if !additions.headers && !additions.link {
            return Ok(self.call(args));
        }
        let cache = Cache::open(|name| std::env::var_os(name))
            .context("cannot make a folder for the runtime")?;
        cache.notes().iter().for_each(|note| self.note(note));
        let headers = additions
            .headers
            .then(|| runtime::headers(&cache))
            .transpose()?;
        let system = if additions.link {
            self.known_compilers_system(&cache)?
        } else {
            None
        };
        let shim = system
            .is_some()
            .then(|| shim::folder(&cache, self.machine.own()))
            .transpose()?;
        let mut call = self.call(&plan::arguments(args, headers.as_deref(), shim.as_deref()));
        if let (Some(shim), Some(system)) = (shim, system) {
            let context = self.context(&cache, shim, &self.compiler.file, additions, &system)?;
            call.env.push((context::VARIABLE, Some(context.encode())));
        }
        self.cache = Some(cache);
        Ok(call)
    }

    /// The system it compiles for. `-B` means what we think only to GCC and Clang: nothing for others.
    fn known_compilers_system(&self, cache: &Cache) -> Result<Option<String>> {
        if self.options.dry_run {
            return Ok(Some(String::new()));
        }
        let (_, facts) = runtime::identify(cache, &self.compiler.file)
            .context("cannot identify the compiler")?;
        if facts.family.is_none() {
            self.note("linked plainly: the compiler is neither GCC nor Clang");
        }
        Ok(facts.family.map(|_| facts.os))
    }

    fn context(
        &self,
        cache: &Cache,
        shim: PathBuf,
        compiler: &Path,
        additions: &Additions,
        system: &str,
    ) -> Result<Context> {
        let apis: std::io::Result<Vec<PathBuf>> =
            self.options.apis.iter().map(std::path::absolute).collect();
        let config = self.options.config.as_ref().map(std::path::absolute);
        let mut abi = additions.abi.clone();
        if system == "rtems" {
            // Its headers come with a board's kernel, not with the compiler.
            abi.extend_from_slice(&additions.system);
        }
        Ok(Context {
            compiler: std::path::absolute(compiler)?,
            cache: cache.root().to_owned(),
            shim,
            abi,
            memory: self.options.memory,
            apis: apis?,
            config: config.transpose()?,
            target: self.options.target.clone(),
            verbose: self.options.verbose,
        })
    }

    /// Becomes the compiler; with a private cache, waits for it and cleans up.
    fn start(&mut self, call: &Call) -> Result<i32> {
        let failed = |error| {
            anyhow::Error::new(error).context(format!("cannot run {}", call.program.display()))
        };
        if self.cache.as_ref().is_some_and(Cache::is_private) {
            let status = call.run().map_err(failed)?;
            self.cache = None;
            end_like(status);
        }
        Err(failed(call.replace()))
    }
}

/// A call as a shell would take it.
fn shown(call: &Call) -> String {
    let mut text = String::new();
    for (name, value) in &call.env {
        if let Some(value) = value {
            text.push_str(&format!("{name}={} ", quoted(value)));
        }
    }
    let words = [call.program.as_os_str()]
        .into_iter()
        .chain(call.args.iter().map(OsString::as_os_str));
    text.push_str(&words.map(quoted).collect::<Vec<_>>().join(" "));
    text.push('\n');
    text
}

fn quoted(word: &OsStr) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"/._-+=,:@%".contains(b);
    if !word.is_empty() && word.as_bytes().iter().all(plain) {
        return word.to_string_lossy().into_owned();
    }
    match word.to_str() {
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => {
            let bytes: String = word
                .as_bytes()
                .iter()
                .map(|b| format!("\\x{b:02x}"))
                .collect();
            format!("$'{bytes}'")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dry_runs_print_what_a_shell_reads() {
        let words = [
            OsStr::new("-DX=\"a b\""),
            OsStr::new("it's"),
            OsStr::new(""),
            OsStr::from_bytes(b"\xff"),
        ];
        assert_eq!(
            shown(&Call::new("/bin/cc").args(words)),
            "/bin/cc '-DX=\"a b\"' 'it'\\''s' '' $'\\xff'\n"
        );
    }

    #[test]
    fn link_flags_of_a_target_come_only_with_links() {
        let target = targets::find("sparc-linux").unwrap().unwrap();
        let of = |line: &str| {
            let args: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
            with_target(args, Some(&target)).join(OsStr::new(" "))
        };
        assert_eq!(of("-c x.c"), "-m32 -mcpu=v8 -c x.c");
        assert_eq!(of("x.c"), "-m32 -mcpu=v8 -static x.c");
    }
}
