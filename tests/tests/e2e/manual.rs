//! Manual pages and shell completions: they say what the command lines are, and the programs they are made for take them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use instr_tests::manual;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::need;
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("manual::kept-files-are-current", current),
        trial("manual::man-renders-pages-without-a-warning", man),
        trial("manual::mandoc-finds-no-fault-in-pages", mandoc),
        trial("manual::bash-completes", bash),
        trial("manual::zsh-completes", zsh),
        trial("manual::fish-completes", fish),
    ]
}

fn packaging() -> Check<PathBuf> {
    Ok(workspace::root()?.join("packaging"))
}

/// The kept files are those that the command lines give. With `INSTR_GOLDEN=1` they are written.
fn current() -> Check {
    let folder = packaging()?;
    let made = manual::all()?;
    let write = std::env::var_os("INSTR_GOLDEN").is_some_and(|value| value == "1");
    let mut names = BTreeSet::new();
    for file in &made {
        let path = folder.join(&file.path);
        if write {
            std::fs::write(&path, &file.bytes)?;
        }
        let kept = std::fs::read(&path)
            .map_err(|error| format!("{}: {error}: run `make golden`", path.display()))?;
        ensure(kept == file.bytes, || {
            format!(
                "{} is not what the command line says: run `make golden`",
                path.display()
            )
        })?;
        names.insert(path);
    }
    for kind in ["man", "completions"] {
        for entry in std::fs::read_dir(folder.join(kind))? {
            let path = entry?.path();
            ensure(names.contains(&path), || {
                format!("{}: of no command", path.display())
            })?;
        }
    }
    Ok(())
}

fn pages() -> Check<Vec<PathBuf>> {
    let entries = std::fs::read_dir(packaging()?.join("man"))?;
    let mut pages: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    ensure(pages.len() > 3, || format!("only {pages:?}"))?;
    Ok(pages)
}

/// man-db's renderer says nothing, and each page names every option once it is a page of text.
fn man() -> Check {
    need("man")?;
    for page in pages()? {
        let shown = Run::words(["man", "--warnings", "--encoding=UTF-8", "--local-file"])
            .arg(&page)
            .env("MANWIDTH", "80")
            .env("MANROFFSEQ", "")
            .succeed()?;
        ensure(shown.errors().is_empty(), || format!("{shown}"))?;
        for part in ["NAME", "SYNOPSIS", "OPTIONS", "EXIT STATUS"] {
            let found = shown.text().lines().any(|line| line == part);
            ensure(found, || format!("no {part} in {shown}"))?;
        }
    }
    Ok(())
}

fn mandoc() -> Check {
    need("mandoc")?;
    let lint = Run::words(["mandoc", "-T", "lint", "-W", "warning"])
        .args(pages()?)
        .output()?;
    // A page has no date: it would change with every change of the tools.
    let found: Vec<String> = lint
        .text()
        .lines()
        .filter(|line| !line.contains("missing date"))
        .map(str::to_owned)
        .collect();
    ensure(found.is_empty(), || found.join("\n"))
}

/// What is typed, and what must be offered: words of the documents, not of the files under test.
const TYPED: [(&str, &[&str]); 6] = [
    ("instr summ", &["summary"]),
    ("instr summary --lea", &["--leaks"]),
    ("instr merge --comms dep", &["depend"]),
    ("instr-rewrite --emit-w", &["--emit-wrap-flags"]),
    (
        "instr-cc --instr-ve",
        &["--instr-verbose", "--instr-version"],
    ),
    ("instr-cc --instr-mem", &["--instr-memory"]),
];

fn completion(file: &str) -> Check<PathBuf> {
    Ok(packaging()?.join("completions").join(file))
}

/// Asks `offered` for each typed line.
fn compare(offered: impl Fn(&str, &[&str]) -> Check<Vec<String>>) -> Check {
    for (line, expected) in TYPED {
        let words: Vec<&str> = line.split(' ').collect();
        let offered: BTreeSet<String> = offered(line, &words)?.into_iter().collect();
        let expected: BTreeSet<String> = expected.iter().map(|&word| word.to_owned()).collect();
        ensure(offered == expected, || {
            format!("{line}<Tab> offers {offered:?}, expected {expected:?}")
        })?;
    }
    Ok(())
}

fn bash() -> Check {
    compare(|_, words| {
        let [command, .., word] = words else {
            return Err("a command and a word".into());
        };
        let before = words[words.len() - 2];
        let file = completion(&format!("{command}.bash"))?;
        // As readline calls it; the function's name is what `complete` was told.
        let script = "source \"$1\" && shift && command=$1 && COMP_WORDS=(\"${@:1:$#-2}\") && COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) && \
                      spec=$(complete -p \"$command\") && function=${spec#*-F } && ${function%% *} \"$command\" \"${@: -2:1}\" \"${@: -1}\" && \
                      printf '%s\\n' \"${COMPREPLY[@]}\"";
        let run = Run::words(["bash", "--norc", "--noprofile", "-c", script, "bash"]).arg(file);
        let ended = run.args(words).arg(word).arg(before).succeed()?;
        ensure(ended.errors().is_empty(), || format!("{ended}"))?;
        Ok(ended.text().lines().map(str::to_owned).collect())
    })
}

fn fish() -> Check {
    need("fish")?;
    compare(|line, words| {
        let file = completion(&format!("{}.fish", words[0]))?;
        let script = "source $argv[1]; complete --do-complete $argv[2]";
        let run = Run::words(["fish", "--no-config", "--command", script]).arg(file);
        let ended = run.arg(line).succeed()?;
        ensure(ended.errors().is_empty(), || format!("{ended}"))?;
        // A candidate, a tab, its description.
        let candidates = ended.text();
        let candidates = candidates.lines().map(|line| line.split('\t').next());
        Ok(candidates.flatten().map(str::to_owned).collect())
    })
}

/// zsh completes in an editor only: one is started on a terminal of its own, and the candidates are read where it adds them.
fn zsh() -> Check {
    need("zsh")?;
    let dir = workspace::work_dir("zsh-completes")?;
    let folder = packaging()?.join("completions");
    let script = dir.path().join("ask.zsh");
    std::fs::write(&script, ASK_ZSH)?;
    compare(|line, _| {
        let ended = zsh_run(&script, &folder, line, dir.path())?;
        let text = ended.replace('\r', "");
        let (_, after) = text.split_once("<begin>").ok_or("zsh offers nothing")?;
        let (list, _) = after.split_once("<end>").ok_or("zsh does not end")?;
        Ok(list.split_whitespace().map(str::to_owned).collect())
    })
}

fn zsh_run(script: &Path, folder: &Path, line: &str, dir: &Path) -> Check<String> {
    let run = Run::words(["zsh", "-f"]).arg(script).arg(folder).arg(line);
    Ok(run
        .env("ZDOTDIR", dir)
        .env("TERM", "dumb")
        .succeed()?
        .text())
}

/// `compadd`, through which all candidates go, is replaced by one that keeps what matches.
const ASK_ZSH: &str = r#"
zmodload zsh/zpty
zpty ask zsh -f -i
zpty -w ask "PS1= PS2= RPS1=; fpath=(${(q)1} \$fpath); autoload -Uz compinit; compinit -D -u"
zpty -w ask 'compadd() { local -a kept; builtin compadd -O kept "$@"; offered+=($kept); builtin compadd "$@" }'
zpty -w ask 'report() { print -r -- "<begin>" $offered "<end>"; exit }'
zpty -w ask 'zle -C ask complete-word ask; ask() { offered=(); _main_complete; compstate[insert]= compstate[list]=; print -r -- "<begin>" ${(u)offered} "<end>"; exit }'
zpty -w ask "bindkey '^I' ask"
zpty -w ask "print ready"
zpty -r -m ask text '*ready*ready*'
zpty -w -n ask "$2"$'\t'
zpty -r -m ask text '*<end>*'
print -r -- "$text"
zpty -d ask
"#;
