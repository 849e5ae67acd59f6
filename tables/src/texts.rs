//! Texts of columns: each is kept once, rows hold its number.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, Int32Array, StringArray};
use hashbrown::hash_table::Entry;
use hashbrown::{HashMap, HashTable};

/// Bytes of texts up to which all columns share one dictionary.
const SHARED: usize = 1 << 20;

/// The number of a text in [`Texts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text(pub(crate) i32);

/// Places and lengths of words, with their numbers.
#[derive(Debug)]
struct Recent([(usize, usize, Text); Self::SIZE]);

impl Recent {
    const SIZE: usize = 64;

    #[inline]
    fn slot(&mut self, (place, length): (usize, usize)) -> &mut (usize, usize, Text) {
        let at = place ^ place >> 6 ^ length;
        &mut self.0[at % Self::SIZE]
    }
}

impl Default for Recent {
    fn default() -> Self {
        // No word is there.
        Self([(0, 0, Text(0)); Self::SIZE])
    }
}

/// All texts of a session.
#[derive(Debug, Default)]
pub struct Texts {
    texts: Vec<Box<str>>,
    numbers: HashTable<i32>,
    hasher: hashbrown::DefaultHashBuilder,
    bytes: usize,
    /// Words of this program, by their place in memory: that is looked up faster than their letters.
    words: HashMap<(usize, usize), Text>,
    /// Those that were looked up last, each where its place in memory says.
    recent: Recent,
    /// Numbers in the dictionary of one column, by number here; -1: it is not in it.
    own: Vec<i32>,
    /// As an array, of all or fewer.
    array: Option<Arc<StringArray>>,
}

impl Texts {
    /// The number of a text.
    ///
    /// # Panics
    ///
    /// There are 2³¹ different ones: memory is full long before.
    pub fn number(&mut self, text: &str) -> Text {
        use std::hash::BuildHasher as _;
        let (texts, hasher) = (&self.texts, &self.hasher);
        let hash = |at: &i32| hasher.hash_one(&*texts[*at as usize]);
        let is_it = |at: &i32| &*texts[*at as usize] == text;
        match self.numbers.entry(hasher.hash_one(text), is_it, hash) {
            Entry::Occupied(known) => Text(*known.get()),
            Entry::Vacant(free) => {
                let number = i32::try_from(texts.len()).expect("fewer than 2^31 texts");
                free.insert(number);
                self.bytes += text.len();
                self.texts.push(text.into());
                Text(number)
            }
        }
    }

    /// The number of a word of this program.
    #[inline]
    pub fn word(&mut self, word: &'static str) -> Text {
        let place = (word.as_ptr().addr(), word.len());
        let (known, length, text) = *self.recent.slot(place);
        if (known, length) == place {
            return text;
        }
        self.look_up(place, word)
    }

    fn look_up(&mut self, place: (usize, usize), word: &'static str) -> Text {
        let text = match self.words.get(&place) {
            Some(text) => *text,
            None => self.number(word),
        };
        self.words.insert(place, text);
        *self.recent.slot(place) = (place.0, place.1, text);
        text
    }

    /// The number of a text, as columns hold it, if it is known.
    #[must_use]
    pub fn number_of(&self, text: &str) -> Option<i32> {
        use std::hash::BuildHasher as _;
        let is_it = |at: &i32| &*self.texts[*at as usize] == text;
        let found = self.numbers.find(self.hasher.hash_one(text), is_it);
        found.copied()
    }

    /// The text of a number that a column holds.
    #[must_use]
    pub fn get(&self, number: i32) -> &str {
        let at = usize::try_from(number).ok();
        at.and_then(|at| self.texts.get(at))
            .map_or("", |text| &**text)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Bytes of memory, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes + self.texts.len() * (size_of::<Box<str>>() + 8)
    }

    /// A column of these numbers with a dictionary: of all texts while they are few, else of its own ones, so that many columns do not hold many copies of long texts.
    pub fn column(&mut self, keys: Int32Array) -> DictionaryArray<Int32Type> {
        if self.bytes <= SHARED {
            return DictionaryArray::new(keys, self.array());
        }
        self.own.resize(self.texts.len(), -1);
        let mut used: Vec<i32> = Vec::new();
        let own = &mut self.own;
        let mut number = |key: i32| {
            let number = &mut own[key as usize];
            if *number < 0 {
                *number = used.len() as i32;
                used.push(key);
            }
            *number
        };
        let numbers: Int32Array = keys.iter().map(|key| key.map(&mut number)).collect();
        for key in &used {
            self.own[*key as usize] = -1;
        }
        let values = StringArray::from_iter_values(used.iter().map(|key| self.get(*key)));
        DictionaryArray::new(numbers, Arc::new(values))
    }

    /// All of them by number, as values of dictionary columns.
    fn array(&mut self) -> Arc<StringArray> {
        let known = self.array.as_ref();
        match known.filter(|array| arrow_array::Array::len(&***array) == self.texts.len()) {
            Some(array) => array.clone(),
            None => {
                let array = Arc::new(StringArray::from_iter_values(self.texts.iter()));
                self.array = Some(array.clone());
                array
            }
        }
    }
}
