//! A program with the code that Rust makes of generics, closures, traits, formatting and threads: its names are compared with those of other tools.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt::{self, Write as _};
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Shape {
    Square(f64),
    Rectangle { width: f64, height: f64 },
    Several(Vec<Shape>),
}

trait Area {
    fn area(&self) -> f64;

    fn twice(&self) -> f64 {
        2.0 * self.area()
    }
}

impl Area for Shape {
    fn area(&self) -> f64 {
        match self {
            Self::Square(side) => side * side,
            Self::Rectangle { width, height } => width * height,
            Self::Several(shapes) => shapes.iter().map(Area::twice).sum(),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Square(side) => write!(out, "square {side:.3}"),
            Self::Rectangle { width, height } => write!(out, "{width:>8.2} by {height:e}"),
            Self::Several(shapes) => shapes.iter().try_for_each(|shape| write!(out, "[{shape}]")),
        }
    }
}

mod numbers {
    /// The greatest common divisor.
    pub fn divisor(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { divisor(b, a % b) }
    }

    pub struct Steps(pub u64);

    impl Iterator for Steps {
        type Item = u64;

        fn next(&mut self) -> Option<u64> {
            if self.0 == 1 {
                return None;
            }
            self.0 = if self.0 % 2 == 0 { self.0 / 2 } else { 3 * self.0 + 1 };
            Some(self.0)
        }
    }
}

fn histogram<K: Ord + Clone, T>(items: &[T], key: impl Fn(&T) -> K) -> BTreeMap<K, Vec<&T>> {
    let mut found: BTreeMap<K, Vec<&T>> = BTreeMap::new();
    for item in items {
        found.entry(key(item)).or_default().push(item);
    }
    found
}

fn words(text: &str) -> Result<HashMap<String, usize>, std::num::ParseIntError> {
    let mut counts = HashMap::new();
    for word in text.split_whitespace() {
        let number = word.trim_start_matches('n').parse::<usize>()?;
        *counts.entry(format!("{word:?}{number:#x}")).or_insert(0) += number;
    }
    Ok(counts)
}

fn main() {
    let count = std::env::args().count() as u64 + 9;
    let mut text = String::new();
    for number in 0..count {
        let _ = write!(text, "n{number} ");
    }
    let mut shapes: Vec<Shape> = (0..count)
        .map(|n| match n % 3 {
            0 => Shape::Square(n as f64),
            1 => Shape::Rectangle { width: n as f64, height: 0.5 },
            _ => Shape::Several(vec![Shape::Square(1.0); n as usize]),
        })
        .collect();
    shapes.sort_by(|a, b| b.area().total_cmp(&a.area()));
    let total = Arc::new(Mutex::new(0));
    let threads: Vec<_> = (1..=count)
        .map(|n| {
            let total = Arc::clone(&total);
            std::thread::spawn(move || {
                let steps: VecDeque<u64> = numbers::Steps(n).collect();
                *total.lock().unwrap() += steps.iter().rev().fold(0, |a, b| numbers::divisor(a, *b));
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let groups = histogram(&shapes, |shape| format!("{:.1}", shape.twice()));
    let counted = words(&text).map(|counts| counts.values().sum::<usize>());
    println!("{groups:?} {counted:?} {total:?} {}", shapes[0]);
}
