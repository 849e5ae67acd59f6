//! Settings of a traced program that are not understood: which they are, and what was meant.

use instr_schema::settings::{Kind, SETTINGS, Setting};
use instr_trace::Metadata;

use crate::summary::units::elide;

/// How alike a name must be to be proposed (Jaro-Winkler, 1 = the same).
const ALIKE: f64 = 0.75;
/// Variables of `instr-cc`, that by which `instr run` tells programs of each other, and those of the Python package.
const OF_TOOLS: &[&str] = &[
    "INSTR_CC",
    "INSTR_CACHE",
    "INSTR_TREE",
    "INSTR_LAUNCHER",
    "INSTR_PYTHON",
    "INSTR_PYTHON_C",
    "INSTR_PYTHON_COUNT",
];
/// Variables of this project's own tests.
const OF_TESTS: &str = "INSTR_TEST_";
/// Characters of a value that are shown.
const SHOWN: usize = 60;

/// The word most like `given`, if one is like it.
pub(crate) fn nearest<'a>(given: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let alike =
        |word: &str| strsim::jaro_winkler(&given.to_ascii_lowercase(), &word.to_ascii_lowercase());
    words
        .map(|word| (alike(word), word))
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

/// What is wrong with each of these variables, in their order; nothing for those that are right.
pub(crate) fn mistakes<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let mistakes = variables.into_iter();
    mistakes
        .filter_map(|(name, value)| mistake(name, value))
        .collect()
}

fn mistake(name: &str, value: &str) -> Option<String> {
    let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
        return unknown(name);
    };
    // An empty value is as good as none.
    let what = setting.check(value).err().filter(|_| !value.is_empty())?;
    let meant = word(setting, value);
    let meant = meant.map_or(String::new(), |word| format!(" (did you mean {word}?)"));
    let shown = elide(value, SHOWN);
    Some(format!(
        "{name}={shown} is not {what}{meant}; the default is used"
    ))
}

fn unknown(name: &str) -> Option<String> {
    let rest = name.strip_prefix("INSTR_")?;
    if OF_TOOLS.contains(&name) || name.starts_with(OF_TESTS) {
        return None;
    }
    let known = SETTINGS
        .iter()
        .filter_map(|setting| setting.name.strip_prefix("INSTR_"));
    let meant = nearest(rest, known).map_or(String::new(), |known| {
        format!("; did you mean INSTR_{known}?")
    });
    Some(format!("{} is no setting{meant}", elide(name, SHOWN)))
}

/// The word of the setting that a value is like.
fn word(setting: &Setting, value: &str) -> Option<&'static str> {
    match setting.kind {
        Kind::OneOf(words) => nearest(value, words.iter().copied()),
        _ => None,
    }
}

/// All that is wrong with the settings of a traced program: what the host sees in their text, and what the runtime found when it used them.
pub(crate) fn trouble(metadata: &Metadata) -> Option<String> {
    let variables = metadata.settings.iter();
    let variables = variables.map(|(name, value)| (name.as_str(), value.as_str()));
    let mut all = mistakes(variables);
    let found = metadata.setting_trouble.as_deref().unwrap_or_default();
    let found = found.split(" | ").filter(|why| !why.is_empty());
    // The runtime's first word is the setting's name.
    let is_new = |why: &&str| {
        let name = why.split([' ', '=']).next().unwrap_or_default();
        !all.iter()
            .any(|known| known.split('=').next() == Some(name))
    };
    let more: Vec<String> = found.filter(is_new).map(str::to_owned).collect();
    all.extend(more);
    (!all.is_empty()).then(|| all.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_is_told_with_its_value_and_what_was_meant() {
        let told = mistakes([
            ("INSTR_TRCE", "x"),
            ("INSTR_POLICY", "rng"),
            ("INSTR_POLICY", "ring"),
            ("INSTR_BUFFER", "1T"),
            ("INSTR_KEEP", "all"),
            ("INSTR_VERBOSE", ""),
            ("INSTR_SAMPLING_PERIOD", "5"),
            ("INSTR_CC", "gcc"),
            ("INSTR_PYTHON", "user"),
            ("INSTR_QQQ", "1"),
            ("INSTR_BUFER", "1"),
        ]);
        assert_eq!(
            told,
            [
                "INSTR_TRCE is no setting; did you mean INSTR_TRACE?",
                "INSTR_POLICY=rng is not stream, end or ring (did you mean ring?); the default is used",
                "INSTR_BUFFER=1T is not a size such as 65536, 256K or 4M; the default is used",
                "INSTR_KEEP=all is not a number from 0 to 1000; the default is used",
                "INSTR_SAMPLING_PERIOD=5 is not a time of at least 50us, such as 500us, 10ms or 2s, or 0; the default is used",
                "INSTR_QQQ is no setting",
                "INSTR_BUFER is no setting; did you mean INSTR_BUFFER?",
            ]
        );
    }

    #[test]
    fn what_the_runtime_found_is_told_once() {
        let mut metadata = Metadata {
            settings: vec![("INSTR_POLICY".into(), "rng".into())],
            setting_trouble: Some(
                "INSTR_POLICY is not stream, end or ring; the default is used".into(),
            ),
            ..Metadata::default()
        };
        let told = trouble(&metadata).unwrap();
        assert_eq!(
            told,
            "INSTR_POLICY=rng is not stream, end or ring (did you mean ring?); the default is used"
        );
        metadata.setting_trouble = Some("INSTR_POLICY is odd | INSTR_BUFFER is too small".into());
        assert!(
            trouble(&metadata)
                .unwrap()
                .ends_with("the default is used; INSTR_BUFFER is too small")
        );
        assert_eq!(trouble(&Metadata::default()), None);
    }

    #[test]
    fn values_do_not_reach_the_terminal_as_they_are() {
        let told = mistakes([("INSTR_SINK", "\x1b[31mfile\n")]);
        assert!(
            told[0].starts_with("INSTR_SINK=?[31mfile? is not"),
            "{told:?}"
        );
    }
}
