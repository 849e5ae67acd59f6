//! Numbers of bodies: regions and tasks by process.

use hashbrown::HashMap;

use instr_trace::Names;
use instr_trace::model::Code;
use instr_trace::names::CodeRole;

use super::model::CodeLabel;
use crate::summary::model::Place;

/// The bodies of all processes; number 0 is none.
#[derive(Debug)]
pub(super) struct Codes {
    numbers: HashMap<(usize, Code, bool), u16>,
    all: Vec<(usize, Code, bool)>,
}

impl Codes {
    pub(super) fn new() -> Self {
        Self {
            numbers: HashMap::new(),
            all: vec![(0, Code::default(), false)],
        }
    }

    /// The number of a body; 0 when there are too many.
    pub(super) fn number(&mut self, process: usize, code: Code, task: bool) -> u16 {
        let key = (process, code, task);
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let Ok(number) = u16::try_from(self.all.len()) else {
            return 0;
        };
        self.numbers.insert(key, number);
        self.all.push(key);
        number
    }

    /// The labels, as tables have them. `names` are those of each process.
    pub(super) fn labels(&self, names: &[Box<dyn Names + '_>]) -> Vec<CodeLabel> {
        let label = |(number, &(process, code, task)): (usize, &(usize, Code, bool))| {
            let role = if task {
                CodeRole::Task
            } else {
                CodeRole::Parallel
            };
            let label = match names.get(process) {
                Some(names) if number > 0 => Place::of(names.as_ref(), Some(code), role).label,
                _ => String::new(),
            };
            CodeLabel {
                process,
                label,
                task,
            }
        };
        self.all.iter().enumerate().map(label).collect()
    }
}
