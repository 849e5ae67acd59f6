//! What SQLite calls: the columns of a table, a plan for each scan, and its rows.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::rc::Rc;

use instr_tables::{Kind, TABLES, Table};
use rusqlite::types::{Null, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, VTab, VTabConfig, VTabConnection, VTabCursor,
    eponymous_only_module, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Connection, Error, Result};

use crate::index::{Bounds, Index, Key, stretch};
use crate::plan::{Comparison, Constraint, Plan};
use crate::store::{Loaded, NOTHING, Store, Values};

/// Rows that a table is taken to have before it was read.
const UNKNOWN_ROWS: f64 = 1e6;

/// Makes all tables known to a connection.
pub(crate) fn register(connection: &Connection, store: &Rc<Store>) -> Result<()> {
    for (number, table) in TABLES.iter().enumerate() {
        let aux = (store.clone(), number);
        connection.create_module(
            table.name,
            eponymous_only_module::<VirtualTable>(),
            Some(aux),
        )?;
    }
    Ok(())
}

/// The statement that declares a table.
pub(crate) fn declaration(table: &Table) -> String {
    let column = |column: &instr_tables::Column| {
        let kind = match column.kind {
            Kind::Int | Kind::Small => "INTEGER",
            Kind::Real => "REAL",
            Kind::Flag => "BOOLEAN",
            Kind::Text => "TEXT",
        };
        let null = if column.nullable { "" } else { " NOT NULL" };
        format!("{} {kind}{null}", column.name)
    };
    let columns: Vec<_> = table.columns.iter().map(column).collect();
    format!("CREATE TABLE {}({})", table.name, columns.join(", "))
}

#[repr(C)]
struct VirtualTable {
    /// SQLite's part comes first.
    base: sqlite3_vtab,
    store: Rc<Store>,
    number: usize,
}

impl VirtualTable {
    fn is_sorted_by(&self, column: c_int) -> Option<usize> {
        let at = usize::try_from(column).ok()?;
        let column = TABLES[self.number].columns.get(at)?;
        (column.kind != Kind::Real).then_some(at)
    }

    fn constraints(&self, info: &IndexInfo) -> Vec<Constraint> {
        let mut found = Vec::new();
        for (number, constraint) in info.constraints().enumerate() {
            let comparison = match constraint.operator() {
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ => Comparison::Equal,
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GT => Comparison::Greater,
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_GE => Comparison::GreaterOrEqual,
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LT => Comparison::Less,
                IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_LE => Comparison::LessOrEqual,
                _ => continue,
            };
            // Texts are sorted byte by byte.
            let is_binary = info.collation(number).is_ok_and(|name| name == "BINARY");
            if let Some(column) = self.is_sorted_by(constraint.column())
                && constraint.is_usable()
                && is_binary
            {
                found.push(Constraint {
                    number,
                    column,
                    comparison,
                });
            }
        }
        found
    }

    /// About how many rows a plan gives, of how many.
    fn estimate(&self, plan: &Plan) -> (f64, f64) {
        let mut loaded = self.store.tables[self.number].borrow_mut();
        let all = loaded
            .rows
            .map_or(UNKNOWN_ROWS, |rows| rows as f64)
            .max(1.0);
        let mut rows = all;
        for key in &plan.keys[..plan.equal] {
            rows /= loaded.distinct(key.column);
        }
        let bounds = plan.given.len() - plan.equal;
        (rows / 4f64.powi(bounds as i32), all)
    }
}

// SAFETY: SQLite's part is the first field of a structure with C's layout.
unsafe impl VTab<'_> for VirtualTable {
    type Aux = (Rc<Store>, usize);
    type Cursor = Cursor<'static>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _: &[&[u8]],
    ) -> Result<(String, Self)> {
        let (store, number) = aux
            .cloned()
            .ok_or_else(|| Error::ModuleError("no store".to_owned()))?;
        db.config(VTabConfig::Innocuous)?;
        let table = Self {
            base: sqlite3_vtab::default(),
            store,
            number,
        };
        Ok((declaration(TABLES[number]), table))
    }

    fn best_index(&self, info: &mut IndexInfo) -> Result<()> {
        let used = &self.store.used[self.number];
        used.set(used.get() | info.col_used() | NOTHING);
        let constraints = self.constraints(info);
        let order: Option<Vec<Key>> = info
            .order_bys()
            .map(|by| {
                Some(Key {
                    column: self.is_sorted_by(by.column())?,
                    descending: by.is_order_by_desc(),
                })
            })
            .collect();
        let order = order.filter(|order| !order.is_empty());
        let plan = Plan::new(&constraints, order.as_deref());
        for (at, (number, ..)) in plan.given.iter().enumerate() {
            info.constraint_usage(*number)
                .set_argv_index(at as c_int + 1);
        }
        let (rows, all) = self.estimate(&plan);
        // To find the first row takes a search by halves. Rows of an index lie anywhere.
        let cost = match plan.keys.is_empty() {
            true => all,
            false => all.log2().max(1.0) * plan.given.len() as f64 + rows * 1.5,
        };
        info.set_estimated_cost(cost.max(1.0));
        info.set_estimated_rows(rows.max(1.0) as i64);
        info.set_order_by_consumed(plan.ordered);
        info.set_idx_str(&plan.text());
        // A column of an index is used, if only here.
        let keys = plan.keys.iter().fold(0, |all, key| all | 1 << key.column);
        used.set(used.get() | keys);
        Ok(())
    }

    fn open(&mut self) -> Result<Cursor<'static>> {
        Ok(Cursor {
            base: sqlite3_vtab_cursor::default(),
            store: self.store.clone(),
            number: self.number,
            index: None,
            at: 0,
            end: 0,
            backwards: false,
            table: PhantomData,
        })
    }
}

/// A scan.
#[repr(C)]
struct Cursor<'t> {
    /// SQLite's part comes first.
    base: sqlite3_vtab_cursor,
    store: Rc<Store>,
    number: usize,
    /// Nothing: rows come as they stand.
    index: Option<Rc<Index>>,
    at: usize,
    end: usize,
    backwards: bool,
    table: PhantomData<&'t VirtualTable>,
}

impl Cursor<'_> {
    #[inline]
    fn row(&self) -> usize {
        match &self.index {
            None => self.at,
            Some(index) if self.backwards => index.rows[self.end - 1] as usize,
            Some(index) => index.rows[self.at] as usize,
        }
    }

    fn index(&self, loaded: &mut Loaded, keys: &[Key], ranks: &[u32]) -> Result<Rc<Index>> {
        if let Some(known) = loaded.indexes.get(keys) {
            return Ok(known.clone());
        }
        let rows = loaded.rows.unwrap_or(0);
        let index = Index::new(loaded, keys, ranks);
        let index = index.ok_or_else(|| module_error(format!("{rows} rows are too many")))?;
        let index = Rc::new(index);
        loaded.indexes.insert(keys.to_vec(), index.clone());
        Ok(index)
    }
}

fn module_error(text: String) -> Error {
    Error::ModuleError(text)
}

/// The rank of a text, and whether it is there; else that of the last one before it.
type Rank<'r> = &'r dyn Fn(&[u8]) -> Option<(i64, bool)>;

/// Whole numbers that a comparison with `value` leaves; nothing: SQLite compares itself. Of a text the numbers are ranks.
fn bounds(comparison: Comparison, value: ValueRef<'_>, text: Option<Rank<'_>>) -> Option<Bounds> {
    const NONE: Bounds = Bounds { from: 1, to: 0 };
    let (least, most) = (i64::MIN + 1, i64::MAX);
    let (number, is_exact) = match (value, text) {
        (ValueRef::Null, _) => return Some(NONE),
        (ValueRef::Integer(number), None) => (number, true),
        // What is behind the point lies above.
        (ValueRef::Real(number), None) if number.abs() < 9e18 => {
            (number.floor() as i64, number.fract() == 0.0)
        }
        (ValueRef::Text(bytes), Some(rank)) => rank(bytes)?,
        _ => return None,
    };
    Some(match (comparison, is_exact) {
        (Comparison::Equal, true) => Bounds {
            from: number,
            to: number,
        },
        (Comparison::Equal, false) => NONE,
        (Comparison::Greater, _) | (Comparison::GreaterOrEqual, false) => {
            match number.checked_add(1) {
                Some(from) => Bounds { from, to: most },
                None => NONE,
            }
        }
        (Comparison::GreaterOrEqual, true) => Bounds {
            from: number,
            to: most,
        },
        (Comparison::LessOrEqual, _) | (Comparison::Less, false) => Bounds {
            from: least,
            to: number,
        },
        (Comparison::Less, true) => Bounds {
            from: least,
            to: number.saturating_sub(1),
        },
    })
}

// SAFETY: SQLite's part is the first field of a structure with C's layout.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, _number: c_int, text: Option<&str>, values: &Filters<'_>) -> Result<()> {
        let plan = text.and_then(Plan::parse).unwrap_or_default();
        let store = self.store.clone();
        let mut loaded = store.tables[self.number].borrow_mut();
        let rows = loaded.rows.unwrap_or(0);
        (self.index, self.at, self.end, self.backwards) = (None, 0, rows, plan.backwards);
        if plan.keys.is_empty() {
            return Ok(());
        }
        let ranks = store.ranks();
        if !loaded.indexes.contains_key(&plan.keys) {
            let needed = store_bytes(&store, &loaded) + Index::bytes_for(rows);
            if needed > store.limit {
                store.too_much.set(Some(needed));
                return Err(module_error(
                    "an index would take too much memory".to_owned(),
                ));
            }
        }
        let index = self.index(&mut loaded, &plan.keys, &ranks)?;
        let texts = store.texts.borrow();
        // The rank of a text, and whether it is there; else that of the last one before it.
        let rank = |bytes: &[u8]| {
            let text = std::str::from_utf8(bytes).ok()?;
            if let Some(found) = texts.number_of(text) {
                return Some((i64::from(ranks[found as usize]), true));
            }
            let before = (0..texts.len() as i32).filter(|number| texts.get(*number) < text);
            Some((before.count() as i64 - 1, false))
        };
        let mut all: Vec<Option<Bounds>> = vec![None; plan.keys.len()];
        let mut whole = false;
        for ((_, key, comparison), value) in plan.given.iter().zip(values.iter()) {
            let column = plan.keys[*key].column;
            let is_text = TABLES[self.number].columns[column].kind == Kind::Text;
            let of_text: Rank<'_> = &rank;
            match (
                bounds(*comparison, value, is_text.then_some(of_text)),
                &mut all[*key],
            ) {
                (Some(new), Some(known)) => {
                    known.from = known.from.max(new.from);
                    known.to = known.to.min(new.to);
                }
                (Some(new), unknown) => *unknown = Some(new),
                // Bounds that are not known leave all rows; behind an equal value that is not known nothing can be found.
                (None, _) => whole |= *comparison == Comparison::Equal,
            }
        }
        if !whole {
            let known: Vec<Bounds> = all.into_iter().map_while(|bounds| bounds).collect();
            (self.at, self.end) = stretch(&index, &loaded, &plan.keys, &known, &ranks);
        }
        self.index = Some(index);
        Ok(())
    }

    #[inline]
    fn next(&mut self) -> Result<()> {
        match self.backwards {
            true => self.end -= 1,
            false => self.at += 1,
        }
        Ok(())
    }

    #[inline]
    fn eof(&self) -> bool {
        self.at >= self.end
    }

    fn column(&self, context: &mut Context, at: c_int) -> Result<()> {
        let loaded = self.store.tables[self.number].borrow();
        let column = usize::try_from(at)
            .ok()
            .and_then(|at| loaded.columns.get(at)?.as_ref());
        let Some(column) = column else {
            return Err(module_error(format!("column {at} was not read")));
        };
        let row = self.row();
        if !column.has(row) {
            return context.set_result(&Null);
        }
        match &column.values {
            Values::Int(values) => context.set_result(&values[row]),
            Values::Small(values) => context.set_result(&values[row]),
            Values::Real(values) => context.set_result(&values[row]),
            Values::Flag(values) => context.set_result(&values[row]),
            Values::Text(values) => context.set_result(&self.store.texts.borrow().get(values[row])),
        }
    }

    fn rowid(&self) -> Result<i64> {
        Ok(self.row() as i64)
    }
}

/// Bytes of the store, one of whose tables is borrowed.
fn store_bytes(store: &Store, borrowed: &Loaded) -> u64 {
    let others = store
        .tables
        .iter()
        .filter_map(|loaded| loaded.try_borrow().ok());
    let others: usize = others.map(|loaded| loaded.bytes()).sum();
    (others + borrowed.bytes() + store.texts.borrow().bytes()) as u64
}
