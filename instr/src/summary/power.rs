//! The chip whose power model a summary uses: the one of the trace's target, or of the one that the user names.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use instr_cc::targets::{self, Target};
use instr_trace::Trace;
use instr_trace::energy::PowerModel;

use crate::console::Refusal;

/// Larger descriptions are refused.
const MAX_BYTES: u64 = 1 << 20;

/// A target with a power model.
#[derive(Clone, Debug)]
pub struct Chip {
    /// The target's name.
    pub target: String,
    /// Its model.
    pub power: PowerModel,
}

impl Chip {
    /// The chip that a trace says it comes from; nothing when its description has no model.
    #[must_use]
    pub fn of(trace: &Trace) -> Option<Self> {
        let target = targets::find(&trace.metadata().target).ok().flatten()?;
        Self::described(&target)
    }

    /// The chip that the user names: a target, or a file with a description (`cross-targets/*.toml`).
    ///
    /// # Errors
    ///
    /// Names and files that do not exist, descriptions that are refused or have no model.
    pub fn named(name: &OsStr) -> Result<Self> {
        let known = name.to_str().map(targets::find).transpose()?.flatten();
        let target = match known {
            Some(target) => target,
            None if Path::new(name).extension() == Some(OsStr::new("toml")) => {
                read(Path::new(name)).with_context(|| cannot(name))?
            }
            None => return Err(unknown(name).into()),
        };
        Self::described(&target).ok_or_else(|| {
            let refusal = Refusal {
                message: format!("{}: its description has no [power] table", cannot(name)),
                notes: Vec::new(),
                help: with_models(),
            };
            refusal.into()
        })
    }

    fn described(target: &Target) -> Option<Self> {
        let power = target.power.as_ref()?;
        Some(Self {
            target: target.name.clone(),
            power: PowerModel::new(power.idle_mw(), &power.busy_mw())?,
        })
    }
}

fn cannot(name: &OsStr) -> String {
    format!("cannot take the power model of {}", name.display())
}

fn unknown(name: &OsStr) -> Refusal {
    Refusal {
        message: format!("{}: there is no such target", cannot(name)),
        notes: vec![format!("known targets: {}", targets::names().join(", "))],
        help: Some("a file with a description of your own ends in .toml".to_owned()),
    }
}

/// The known targets that have one.
fn with_models() -> Option<String> {
    let has = |name: &&str| matches!(targets::find(name), Ok(Some(t)) if t.power.is_some());
    let names: Vec<&str> = targets::names().into_iter().filter(has).collect();
    (!names.is_empty()).then(|| format!("targets with a power model: {}", names.join(", ")))
}

fn read(file: &Path) -> Result<Target> {
    let mut text = String::new();
    let opened = std::fs::File::open(file)?;
    opened.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(anyhow!("it is larger than 1 MiB"));
    }
    Ok(targets::parse(&text)?)
}
