//! Values of the axes of a sweep: inputs, placements, hardware threads, and the plan that combines them.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An input of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "InputText", deny_unknown_fields)]
pub(crate) struct Input {
    /// Its name in tables.
    pub(crate) name: String,
    /// Its words on the command line.
    pub(crate) arguments: Vec<String>,
    /// How large it is, in any unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<f64>,
}

/// An input as it is written: text is its words, its name, and, where it is one number, its size.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "an input is text, a number, or a table with `arguments` (a list of texts) and, where wanted, `name` and `size`"
)]
enum InputText {
    Text(String),
    Number(f64),
    #[serde(rename_all = "kebab-case")]
    Table {
        name: Option<String>,
        arguments: Vec<String>,
        size: Option<f64>,
    },
}

impl From<InputText> for Input {
    fn from(text: InputText) -> Self {
        match text {
            InputText::Text(text) => Self::of_text(&text),
            InputText::Number(number) => Self::of_text(&number.to_string()),
            InputText::Table {
                name,
                arguments,
                size,
            } => {
                let name = name.unwrap_or_else(|| arguments.join(" "));
                Self {
                    name,
                    arguments,
                    size,
                }
            }
        }
    }
}

impl Input {
    /// Words as a shell splits them; text with an open quote is one word.
    pub(super) fn of_text(text: &str) -> Self {
        let arguments = shlex::split(text).unwrap_or_else(|| vec![text.to_owned()]);
        let size = text
            .trim()
            .parse()
            .ok()
            .filter(|size: &f64| size.is_finite() && *size > 0.0);
        Self {
            name: text.trim().to_owned(),
            arguments,
            size,
        }
    }
}

/// Which processors a run may use.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// All that this process may use
    Any,
    /// As many as threads, the first ones
    Compact,
    /// As many as threads, as far apart as possible
    Spread,
}

impl Placement {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Compact => "compact",
            Self::Spread => "spread",
        }
    }
}

/// Hardware threads of a core beside the first one.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Smt {
    /// Each core has all of them
    On,
    /// Each core has one thread
    Off,
}

impl Smt {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// Which combinations are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Plan {
    /// All.
    #[default]
    Full,
    /// As many as the longest axis has values; each value of an axis as often as the others.
    Latin,
    /// So many, spread evenly by Halton's sequence.
    Halton(u32),
}

impl fmt::Display for Plan {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => write!(to, "full"),
            Self::Latin => write!(to, "latin"),
            Self::Halton(points) => write!(to, "halton:{points}"),
        }
    }
}

impl std::str::FromStr for Plan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("halton:").map(str::parse)) {
            ("full", _) => Ok(Self::Full),
            ("latin", _) => Ok(Self::Latin),
            (_, Some(Ok(points @ 1..))) => Ok(Self::Halton(points)),
            _ => Err(format!(
                "no plan is `{text}`: expected full, latin or halton:N"
            )),
        }
    }
}

/// A value that is written as text.
pub(super) mod as_text {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    pub(crate) fn serialize<S: Serializer>(value: &super::Plan, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<super::Plan, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}
