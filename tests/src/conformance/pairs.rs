//! The same program compiled by gcc and by clang, run by libgomp and by libomp, has the same regions, tasks and edges: the traces are compared
//! with each other, whatever the directives demand of each.

use std::collections::BTreeMap;

use super::edges;
use super::kept::Kept;
use crate::ctf::Event;

/// Numbers that must depend on the program alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape(BTreeMap<&'static str, i128>);

/// The names of the numbers: parallel regions (a league of teams is one), implicit tasks, explicit tasks created and begun, `taskwait` constructs with
/// `depend`, edges of the task graph.
pub const NUMBERS: [&str; 6] = ["regions", "implicit", "created", "begun", "waits", "edges"];

impl Shape {
    /// Counts `events`.
    ///
    /// # Errors
    ///
    /// When an event lacks a field.
    pub fn of(events: &[Event]) -> Result<Self, String> {
        let named = |name: &str| events.iter().filter(|event| event.name == name).count() as i128;
        let numbers = [
            named("parallel_begin"),
            named("implicit_begin"),
            named("task_create") + named("taskloop_task"),
            named("task_begin"),
            named("taskwait_depend"),
            edges(events)?,
        ];
        Ok(Self(NUMBERS.into_iter().zip(numbers).collect()))
    }

    /// The numbers that differ but for those in `excepted`, a line each.
    pub fn differences<'a>(
        &'a self,
        other: &'a Self,
        excepted: &'a [&str],
    ) -> impl Iterator<Item = String> + 'a {
        let pairs = NUMBERS
            .into_iter()
            .map(|name| (name, self.0[name], other.0[name]));
        let told = pairs.filter(|(name, one, two)| one != two && !excepted.contains(name));
        told.map(|(name, one, two)| format!("{name}: {one} and {two}"))
    }
}

/// [`Shape`] of the cases that ran.
pub static KEPT: Kept<Shape> = Kept::new();

#[cfg(test)]
mod tests {
    use super::*;

    fn events(names: &[&str]) -> Vec<Event> {
        let event = |name: &&str| Event {
            name: (*name).into(),
            stream: 0,
            fields: BTreeMap::from([("thread".to_owned(), 0), ("seq".to_owned(), 0)]),
            entries: Vec::new(),
        };
        names.iter().map(event).collect()
    }

    #[test]
    fn every_number_is_compared_unless_it_is_excepted() {
        let base = Shape::of(&events(&["parallel_begin", "task_create"])).expect("complete");
        for (name, number) in [
            ("parallel_begin", "regions: 1 and 2"),
            ("implicit_begin", "implicit: 0 and 1"),
            ("taskloop_task", "created: 1 and 2"),
            ("task_begin", "begun: 0 and 1"),
        ] {
            let other = events(&["parallel_begin", "task_create", name]);
            let other = Shape::of(&other).expect("complete");
            let told: Vec<String> = base.differences(&other, &[]).collect();
            assert_eq!(told, [number]);
            let excepted = number.split(':').next().expect("a name");
            assert_eq!(base.differences(&other, &[excepted]).count(), 0);
        }
    }
}
