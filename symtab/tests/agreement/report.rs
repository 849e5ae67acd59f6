//! The table in `docs/symtab.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use crate::peers::Peer;
use crate::rules::RULES;

const BEGIN: &str = "<!-- written by `scripts/agreement.sh`: begin -->";
const END: &str = "<!-- written by `scripts/agreement.sh`: end -->";

/// What was found of one program with one peer.
#[derive(Debug, Default, Clone)]
pub(crate) struct Counts {
    pub(crate) equal: usize,
    /// How many addresses each rule explains, by the rule's number; an address with several differences counts once,
    /// under the first.
    pub(crate) rules: BTreeMap<usize, usize>,
    pub(crate) unexplained: usize,
}

/// One row of the table.
#[derive(Debug, Default, Clone)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) addresses: usize,
    pub(crate) peers: BTreeMap<Peer, Counts>,
    /// Addresses where no peer is equal to us.
    pub(crate) alone: usize,
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.equal += other.equal;
        self.unexplained += other.unexplained;
        for (rule, count) in &other.rules {
            *self.rules.entry(*rule).or_default() += count;
        }
    }

    fn cells(&self) -> String {
        let rules: Vec<String> = self
            .rules
            .iter()
            .map(|(rule, count)| format!("{} {}", grouped(*count), letter(*rule)))
            .collect();
        let rules = if rules.is_empty() {
            String::from("·")
        } else {
            rules.join(", ")
        };
        format!("{} | {rules}", grouped(self.equal))
    }
}

impl Row {
    /// All rows in one.
    pub(crate) fn total(rows: &[Row]) -> Row {
        let mut total = Row {
            name: String::from("**all**"),
            ..Row::default()
        };
        for row in rows {
            total.addresses += row.addresses;
            total.alone += row.alone;
            for (peer, counts) in &row.peers {
                total.peers.entry(*peer).or_default().add(counts);
            }
        }
        total
    }

    pub(crate) fn line(&self) -> String {
        let cells = |peer| self.peers.get(&peer).cloned().unwrap_or_default().cells();
        let unexplained: usize = self.peers.values().map(|counts| counts.unexplained).sum();
        format!(
            "| {} | {} | {} | {} | {} | {unexplained} |",
            self.name,
            grouped(self.addresses),
            cells(Peer::Binutils),
            cells(Peer::Llvm),
            grouped(self.alone)
        )
    }
}

/// A rule's letter.
pub(crate) fn letter(rule: usize) -> char {
    char::from(b'a' + u8::try_from(rule).unwrap_or(25))
}

/// `12,345`
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The rules as the document lists them.
pub(crate) fn rules() -> String {
    let mut out = String::from("| | what differs | who is right, and why |\n|---|---|---|\n");
    for (number, rule) in RULES.iter().enumerate() {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            letter(number),
            rule.name,
            rule.reason
        );
    }
    out
}

/// Everything between the marks.
pub(crate) fn section(rows: &[Row], tools: &str, names: &str) -> String {
    let mut out = format!("{tools}\n\n");
    out += "| program | addresses | binutils: equal | differing, by rule | llvm: equal | differing, by rule | neither equal | unexplained |\n";
    out += "|---|---|---|---|---|---|---|---|\n";
    for row in rows.iter().chain([&Row::total(rows)]) {
        out += &row.line();
        out.push('\n');
    }
    format!("{out}\n{names}\n{}", rules())
}

fn document() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/symtab.md")
}

/// The text between the marks as it stands.
pub(crate) fn written() -> String {
    let text = fs::read_to_string(document()).expect("docs/symtab.md");
    let rest = text.split(BEGIN).nth(1).unwrap_or_default();
    rest.split(END).next().unwrap_or_default().to_owned()
}

/// Puts a new text between the marks.
pub(crate) fn write(section: &str) {
    let text = fs::read_to_string(document()).expect("docs/symtab.md");
    let (before, rest) = text.split_once(BEGIN).expect("the first mark");
    let (_, after) = rest.split_once(END).expect("the second mark");
    fs::write(
        document(),
        format!("{before}{BEGIN}\n\n{section}\n{END}{after}"),
    )
    .expect("docs/symtab.md");
}
