//! Characters and colours. A colour is never the only carrier: every state has a character of its own.

use crate::report::timeline::STATES;

/// How a terminal shows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    pub(super) ascii: bool,
    pub(super) colour: bool,
}

/// A character and its colour among the 256 of terminals.
pub(super) type Glyph = (char, u8);

/// Characters of the states by number: of UTF-8, of ASCII, colour. The colours can be told apart without red and green.
const STATE: [(char, char, u8); STATES] = [
    ('█', '#', 32),
    ('░', '-', 208),
    ('▒', '+', 175),
    ('·', '.', 245),
    ('▓', '%', 220),
];
/// Events are missing.
const LOST: Glyph = ('!', 196);
/// Letters of bodies and programs, those with most time first; the rest shares the last character.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const OTHERS: char = '*';
/// Their colours, which repeat.
const COLOURS: [u8; 8] = [32, 208, 37, 220, 75, 175, 245, 166];

impl Style {
    pub(super) fn state(self, state: usize) -> Glyph {
        let (wide, plain, colour) = STATE[state.min(STATES - 1)];
        (if self.ascii { plain } else { wide }, colour)
    }

    pub(super) fn lost(self) -> Glyph {
        LOST
    }

    /// Of what has this rank; `usize::MAX`: it has none.
    pub(super) fn letter(self, rank: usize) -> Glyph {
        match LETTERS.get(rank) {
            Some(letter) => (char::from(*letter), COLOURS[rank % COLOURS.len()]),
            None => (OTHERS, 245),
        }
    }

    /// Time in which nothing that has a letter ran.
    pub(super) fn nothing(self) -> Glyph {
        self.state(3)
    }

    /// How many have letters of their own.
    pub(super) fn letters() -> usize {
        LETTERS.len()
    }

    /// The cells as text.
    pub(super) fn line(self, cells: &[Glyph]) -> String {
        if !self.colour {
            return cells.iter().map(|(c, _)| *c).collect();
        }
        let (mut text, mut now) = (String::new(), None);
        for (c, colour) in cells {
            let wanted = (*c != ' ').then_some(*colour);
            if wanted != now {
                text += &match wanted {
                    Some(colour) => format!("\x1b[38;5;{colour}m"),
                    None => "\x1b[0m".to_owned(),
                };
                now = wanted;
            }
            text.push(*c);
        }
        if now.is_some() {
            text += "\x1b[0m";
        }
        text
    }
}
