//! How a scan of a table is served: which columns an index begins with, and whether its rows come in the order that the statement asks for.

use crate::index::Key;

/// Equal values that an index begins with at most.
const MOST_EQUAL: usize = 3;

/// A comparison of a column with something that is known when the scan begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// What the statement would have served.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constraint {
    /// Its number among the statement's.
    pub(crate) number: usize,
    pub(crate) column: usize,
    pub(crate) comparison: Comparison,
}

/// How it is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The index: columns with equal values, then one with bounds, then those of the order.
    pub(crate) keys: Vec<Key>,
    /// How many of them have equal values.
    pub(crate) equal: usize,
    /// The comparisons whose values the scan gets, in that order, and the key each is of.
    pub(crate) given: Vec<(usize, usize, Comparison)>,
    /// Rows come in the order of the statement.
    pub(crate) ordered: bool,
    /// From the end on.
    pub(crate) backwards: bool,
}

impl Plan {
    /// For these constraints and this order, of columns that can be sorted.
    pub(crate) fn new(constraints: &[Constraint], order: Option<&[Key]>) -> Self {
        let mut plan = Self::default();
        for of in constraints {
            let known = plan.keys.iter().any(|key| key.column == of.column);
            if of.comparison == Comparison::Equal && !known && plan.equal < MOST_EQUAL {
                plan.given.push((of.number, plan.keys.len(), of.comparison));
                plan.keys.push(ascending(of.column));
                plan.equal += 1;
            }
        }
        // What is the same in all rows orders nothing.
        let is_equal = |key: &&Key| plan.keys.iter().any(|known| known.column == key.column);
        let order: Option<Vec<Key>> =
            order.map(|order| order.iter().filter(|key| !is_equal(key)).copied().collect());
        let range = range(constraints, &plan);
        let first = order.as_ref().and_then(|order| order.first());
        let range = range.filter(|range| match first {
            None => true,
            Some(first) => first.column == range.column || range.is_closed,
        });
        if let Some(range) = &range {
            let at = plan.keys.len();
            let of = constraints.iter().filter(|of| of.column == range.column);
            let bounds = of.filter(|of| of.comparison != Comparison::Equal);
            plan.given
                .extend(bounds.map(|of| (of.number, at, of.comparison)));
        }
        match (order, range) {
            (Some(order), range)
                if range.as_ref().is_none_or(|range| {
                    order.first().is_none_or(|key| key.column == range.column)
                }) =>
            {
                plan.ordered = true;
                plan.backwards = order.first().is_some_and(|key| key.descending);
                let turned = |key: Key| Key {
                    descending: key.descending != plan.backwards,
                    ..key
                };
                let before = plan.keys.len();
                plan.keys.extend(order.into_iter().map(turned));
                if plan.keys.len() == before
                    && let Some(range) = range
                {
                    plan.keys.push(ascending(range.column));
                }
            }
            (_, Some(range)) => plan.keys.push(ascending(range.column)),
            (_, None) => {}
        }
        plan
    }

    /// The plan as text, which SQLite keeps.
    pub(crate) fn text(&self) -> String {
        let keys = self.keys.iter().map(|key| match key.descending {
            true => format!("-{}", key.column),
            false => format!("+{}", key.column),
        });
        let given = self
            .given
            .iter()
            .map(|(_, key, comparison)| format!("{key}{}", sign(*comparison)));
        let flags = [(self.ordered, "o"), (self.backwards, "b")];
        let flags = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| *flag);
        format!(
            "{};{};{};{}",
            keys.collect::<Vec<_>>().join(","),
            self.equal,
            given.collect::<Vec<_>>().join(","),
            flags.collect::<String>()
        )
    }

    /// From [`Plan::text`]; the numbers of the constraints are those of the values then.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let keys = words(parts.next()?).map(|word| {
            let (sign, number) = word.split_at_checked(1)?;
            Some(Key {
                column: number.parse().ok()?,
                descending: sign == "-",
            })
        });
        let keys = keys.collect::<Option<Vec<_>>>()?;
        let equal = parts.next()?.parse().ok()?;
        let given = words(parts.next()?).enumerate().map(|(number, word)| {
            let end = word.find(|c: char| !c.is_ascii_digit())?;
            let (key, sign) = word.split_at(end);
            Some((number, key.parse().ok()?, comparison(sign)?))
        });
        let given = given.collect::<Option<Vec<_>>>()?;
        let flags = parts.next()?;
        Some(Self {
            keys,
            equal,
            given,
            ordered: flags.contains('o'),
            backwards: flags.contains('b'),
        })
    }
}

/// The words of a list, of which an empty one has none.
fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|word| !word.is_empty())
}

fn ascending(column: usize) -> Key {
    Key {
        column,
        descending: false,
    }
}

const SIGNS: [(Comparison, &str); 5] = [
    (Comparison::Equal, "="),
    (Comparison::Greater, ">"),
    (Comparison::GreaterOrEqual, ">="),
    (Comparison::Less, "<"),
    (Comparison::LessOrEqual, "<="),
];

fn sign(comparison: Comparison) -> &'static str {
    let found = SIGNS.iter().find(|(of, _)| *of == comparison);
    found.map_or("=", |(_, sign)| sign)
}

fn comparison(sign: &str) -> Option<Comparison> {
    let found = SIGNS.iter().find(|(_, of)| *of == sign);
    found.map(|(comparison, _)| *comparison)
}

/// A column with bounds.
struct Range {
    column: usize,
    /// On both sides.
    is_closed: bool,
}

fn range(constraints: &[Constraint], plan: &Plan) -> Option<Range> {
    let is_equal = |column: usize| plan.keys.iter().any(|key| key.column == column);
    let bounds = constraints
        .iter()
        .filter(|of| of.comparison != Comparison::Equal && !is_equal(of.column));
    let sides = |column: usize| {
        let mut sides = [false; 2];
        for of in constraints.iter().filter(|of| of.column == column) {
            match of.comparison {
                Comparison::Greater | Comparison::GreaterOrEqual => sides[0] = true,
                Comparison::Less | Comparison::LessOrEqual => sides[1] = true,
                Comparison::Equal => {}
            }
        }
        sides == [true; 2]
    };
    let ranges = bounds.map(|of| Range {
        column: of.column,
        is_closed: sides(of.column),
    });
    // Of several the first that is closed, else the first.
    ranges.reduce(|best, next| {
        if next.is_closed && !best.is_closed {
            next
        } else {
            best
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraint(number: usize, column: usize, comparison: Comparison) -> Constraint {
        Constraint {
            number,
            column,
            comparison,
        }
    }

    #[test]
    fn equal_values_come_first_then_the_order() {
        let constraints = [constraint(0, 4, Comparison::Equal)];
        let order = [ascending(4), ascending(2)];
        let plan = Plan::new(&constraints, Some(&order));
        assert_eq!(plan.keys, [ascending(4), ascending(2)]);
        assert!(plan.ordered && !plan.backwards && plan.equal == 1);
        assert_eq!(Plan::parse(&plan.text()), Some(plan));
    }

    #[test]
    fn an_order_from_the_largest_on_is_an_index_backwards() {
        let down = |column| Key {
            column,
            descending: true,
        };
        let plan = Plan::new(&[], Some(&[down(1), ascending(2)]));
        assert_eq!(plan.keys, [ascending(1), down(2)]);
        assert!(plan.ordered && plan.backwards);
        assert_eq!(Plan::parse(&plan.text()), Some(plan));
    }

    #[test]
    fn bounds_on_one_side_give_way_to_another_order_and_those_on_both_do_not() {
        let open = [constraint(0, 3, Comparison::Greater)];
        let plan = Plan::new(&open, Some(&[ascending(1)]));
        assert!(plan.ordered && plan.given.is_empty(), "{plan:?}");
        let closed = [open[0], constraint(1, 3, Comparison::LessOrEqual)];
        let plan = Plan::new(&closed, Some(&[ascending(1)]));
        assert!(!plan.ordered && plan.given.len() == 2, "{plan:?}");
        assert_eq!(plan.keys, [ascending(3)]);
        let plan = Plan::new(&closed, Some(&[ascending(3), ascending(1)]));
        assert!(plan.ordered && plan.given.len() == 2, "{plan:?}");
        assert_eq!(plan.keys, [ascending(3), ascending(1)]);
        let plan = Plan::new(&closed, None);
        assert_eq!(plan.keys, [ascending(3)]);
        assert!(!plan.ordered);
    }
}
