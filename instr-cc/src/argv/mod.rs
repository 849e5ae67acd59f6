//! The command line of a compiler driver as a list of arguments that can be written back exactly as it came.

pub mod response_file;
pub mod table;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use table::{Flag, Form, Kind};

/// One argument: one word, or an option with the word that holds its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// A file (or `-`, standard input).
    Input(OsString),
    /// An option of the table without a value (one that takes a separate value may lack it at the end of the line).
    Flag(&'static Flag),
    /// An option of the table with its value in the same word.
    Joined(&'static Flag, OsString),
    /// An option of the table with its value in the next word.
    Separate(&'static Flag, OsString),
    /// An option that is not in the table.
    Unknown(OsString),
}

impl Arg {
    /// The table's row, if the argument is an option in the table.
    #[must_use]
    pub fn flag(&self) -> Option<&'static Flag> {
        match self {
            Self::Flag(flag) | Self::Joined(flag, _) | Self::Separate(flag, _) => Some(flag),
            Self::Input(_) | Self::Unknown(_) => None,
        }
    }

    /// What the option is for; unknown options and inputs are [`Kind::Other`].
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.flag().map_or(Kind::Other, |f| f.kind)
    }

    /// The option's value, if it has one.
    #[must_use]
    pub fn value(&self) -> Option<&OsStr> {
        match self {
            Self::Joined(_, value) | Self::Separate(_, value) => Some(value),
            Self::Flag(_) | Self::Input(_) | Self::Unknown(_) => None,
        }
    }

    /// Appends the words that this argument was written with.
    pub fn emit(&self, out: &mut Vec<OsString>) {
        match self {
            Self::Input(word) | Self::Unknown(word) => out.push(word.clone()),
            Self::Flag(flag) => out.push(flag.name.into()),
            Self::Joined(flag, value) => {
                let mut word = OsString::from(flag.name);
                word.push(value);
                out.push(word);
            }
            Self::Separate(flag, value) => out.extend([OsString::from(flag.name), value.clone()]),
        }
    }
}

/// Parses words (response files already expanded) into arguments.
#[must_use]
pub fn parse(words: &[OsString]) -> Vec<Arg> {
    let mut args = Vec::with_capacity(words.len());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        args.push(parse_word(word, &mut rest));
    }
    args
}

fn parse_word(word: &OsString, rest: &mut std::slice::Iter<'_, OsString>) -> Arg {
    let bytes = word.as_bytes();
    if bytes.first() != Some(&b'-') || bytes == b"-" {
        return Arg::Input(word.clone());
    }
    let Some(flag) = table::lookup(bytes) else {
        return Arg::Unknown(word.clone());
    };
    if bytes.len() > flag.name.len() {
        return Arg::Joined(flag, OsString::from_vec(bytes[flag.name.len()..].to_vec()));
    }
    match flag.form {
        Form::Alone | Form::Joined => Arg::Flag(flag),
        Form::Separate | Form::JoinedOrSeparate => rest
            .next()
            .map_or(Arg::Flag(flag), |value| Arg::Separate(flag, value.clone())),
    }
}

/// Writes arguments back as words.
#[must_use]
pub fn emit(args: &[Arg]) -> Vec<OsString> {
    let mut words = Vec::with_capacity(args.len());
    for arg in args {
        arg.emit(&mut words);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(list: &[&str]) -> Vec<OsString> {
        list.iter().map(OsString::from).collect()
    }

    #[test]
    fn a_separate_value_is_not_an_input() {
        let args = parse(&words(&[
            "-o", "x.c", "-Xlinker", "a.o", "-MF", "d.d", "b.c", "-include", "c.h",
        ]));
        let inputs: Vec<_> = args.iter().filter(|a| matches!(a, Arg::Input(_))).collect();
        assert_eq!(inputs, [&Arg::Input("b.c".into())]);
    }

    #[test]
    fn a_value_missing_at_the_end_stays_missing() {
        assert_eq!(emit(&parse(&words(&["-o"]))), words(&["-o"]));
    }

    #[test]
    fn bytes_that_are_not_utf8_survive() {
        let odd = vec![
            OsString::from_vec(b"-I\xff/x".to_vec()),
            OsString::from_vec(b"\xfe.c".to_vec()),
        ];
        assert_eq!(emit(&parse(&odd)), odd);
    }

    fn word() -> impl Strategy<Value = OsString> {
        let known = (0..table::FLAGS.len()).prop_map(|i| table::FLAGS[i].name.as_bytes().to_vec());
        let any = proptest::collection::vec(1_u8..=255, 0..12);
        let joined = (known.clone(), any.clone()).prop_map(|(mut a, b)| {
            a.extend(b);
            a
        });
        prop_oneof![known, any, joined].prop_map(OsString::from_vec)
    }

    proptest! {
        #[test]
        fn what_was_parsed_is_written_back(line in proptest::collection::vec(word(), 0..20)) {
            prop_assert_eq!(emit(&parse(&line)), line);
        }
    }
}
