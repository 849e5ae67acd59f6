//! The figures of `docs/architecture.md` are those of the code: its table of parts, and its figure of the modules of `trace`.

use std::collections::BTreeSet;
use std::path::Path;

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("figures::parts-are-the-crates", parts),
        trial("figures::modules-of-trace", modules),
        trial("figures::files-named-in-documents-exist", named_files),
    ]
}

type Names = BTreeSet<String>;

fn read(path: &str) -> Check<String> {
    Ok(std::fs::read_to_string(workspace::root()?.join(path))?)
}

fn same(of: &str, shown: &Names, found: &Names) -> Check {
    let missing: Vec<_> = found.difference(shown).collect();
    let gone: Vec<_> = shown.difference(found).collect();
    ensure(missing.is_empty() && gone.is_empty(), || {
        format!("docs/architecture.md, {of}: {missing:?} are not there, {gone:?} do not exist")
    })
}

/// Words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Each member of the workspace is in the table of parts, with the members it uses.
fn parts() -> Check {
    let page = read("docs/architecture.md")?;
    let table = page.split("## Parts").nth(1).unwrap_or("");
    let table = table.split("\n## ").next().unwrap_or("");
    let manifest: toml::Table = read("Cargo.toml")?.parse().map_err(|e| format!("{e}"))?;
    let members = manifest["workspace"]["members"].as_array();
    let members: Names = members
        .ok_or("no members")?
        .iter()
        .filter_map(|member| member.as_str())
        .map(|member| member.split('/').next().unwrap_or(member).to_owned())
        .collect();
    let (mut shown, mut checked) = (Names::new(), 0);
    for row in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        let folders: Vec<&str> = quoted(cells[0])
            .map(|name| name.trim_end_matches('/'))
            .collect();
        shown.extend(folders.iter().map(|folder| (*folder).to_owned()));
        let uses: Names = quoted(cells.last().unwrap_or(&""))
            .map(str::to_owned)
            .collect();
        let everything = cells.last().is_some_and(|cell| cell.contains("all"));
        for folder in folders.iter().filter(|_| !everything) {
            let path = format!("{folder}/Cargo.toml");
            let Ok(manifest) = read(&path) else { continue };
            let manifest: toml::Table = manifest.parse().map_err(|e| format!("{path}: {e}"))?;
            let depends = manifest.get("dependencies").and_then(toml::Value::as_table);
            let used: Names = depends
                .into_iter()
                .flat_map(toml::Table::keys)
                .filter_map(|name| name.strip_prefix("instr-"))
                .map(|name| match name {
                    "cc" | "rewrite" => format!("instr-{name}"),
                    _ => name.to_owned(),
                })
                .collect();
            let shown: Names = uses.intersection(&members).cloned().collect();
            same(&format!("what {folder} uses"), &shown, &used)?;
            checked += 1;
        }
    }
    ensure(checked >= 7, || format!("only {checked} rows were read"))?;
    // No crates: files alone.
    shown.remove("cross-targets");
    shown.remove("report");
    same("the table of parts", &shown, &members)
}

fn modules() -> Check {
    let page = read("docs/architecture.md")?;
    let figure = page.split(" modules of trace/src ").nth(1);
    let figure = figure.and_then(|rest| rest.split("```").next());
    let shown: Names = figure
        .ok_or("no figure of modules")?
        .lines()
        .skip(2) // the rest of the heading, and the line below
        .filter_map(|line| line.split('│').next())
        .flat_map(str::split_whitespace)
        .filter(|word| *word != "▼")
        .map(str::to_owned)
        .collect();
    let code = read("trace/src/lib.rs")?;
    let declared = code.lines().filter_map(|line| {
        let line = line.strip_prefix("pub ").unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    same(
        "the modules of trace",
        &shown,
        &declared.map(str::to_owned).collect(),
    )
}

/// Files in backticks, as `core/record.h`: of the root, or the end of a path somewhere. What is made up, or is written by a command, is left out.
fn named_files() -> Check {
    const MADE_UP: [&str; 1] = ["export/src/states.rs"];
    const KINDS: [&str; 9] = ["rs", "c", "h", "sh", "toml", "md", "py", "cc", "cfg"];
    let root = workspace::root()?;
    let mut all = Names::new();
    below(root, root, &mut all)?;
    let mut found = Vec::new();
    for path in all.iter().filter(|path| path.ends_with(".md")) {
        let text = read(path)?;
        let prose = text.split("```").step_by(2).flat_map(quoted);
        for name in prose {
            let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
            let is_path = name.contains('/')
                && !name.contains([' ', '*', '{', '<', '~', '$'])
                && !name.starts_with('/')
                && !name.contains("NAME");
            if !is_path || !KINDS.contains(&kind) || name.starts_with("target/") {
                continue;
            }
            let end = format!("/{}", name.trim_start_matches("../"));
            let exists = all.iter().any(|file| format!("/{file}").ends_with(&end));
            if !exists && !MADE_UP.contains(&name) {
                found.push(format!("{path}: {name}"));
            }
        }
    }
    ensure(found.is_empty(), || {
        format!("files that documents name and nobody has: {found:#?}")
    })
}

/// The files below a folder, as paths from the root; what cargo and git keep is left out.
fn below(root: &Path, folder: &Path, all: &mut Names) -> Check {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let inside = path.strip_prefix(root).unwrap_or(&path);
        if path.is_dir() && !path.is_symlink() {
            if name != "target" && name != ".git" {
                below(root, &path, all)?;
            }
        } else {
            all.insert(inside.to_string_lossy().into_owned());
        }
    }
    Ok(())
}
