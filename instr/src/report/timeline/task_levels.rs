//! Explicit tasks by function and level. The level of a task is the number of tasks on the longest path of its region that ends just before it
//! (`docs/graph.md`).

use std::collections::BTreeMap;

use instr_trace::event::task_flags;
use instr_trace::model::Code;
use instr_trace::tasks::{RegionRecord, TaskKind, TaskRecord, TaskSink};

/// Bands of levels. Where there are more levels, several share a band.
pub(in super::super) const BANDS: usize = 64;
/// Functions that are told apart.
const MOST: usize = 1024;

/// Tasks of one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Function {
    pub(in super::super) tasks: u64,
    /// User code, ns.
    pub(in super::super) work_ns: u64,
    /// From creation to readiness, ns.
    pub(in super::super) dependency_wait_ns: u64,
    /// From readiness to the begin, ns.
    pub(in super::super) ready_wait_ns: u64,
    /// Lowest and highest level.
    pub(in super::super) first: u32,
    pub(in super::super) last: u32,
    /// Tasks by band.
    pub(in super::super) bands: [u64; BANDS],
}

/// All tasks that began in one process.
#[derive(Debug)]
pub(in super::super) struct TaskLevels {
    functions: BTreeMap<Code, Function>,
    /// Levels of a band.
    width: u32,
    /// Tasks of functions that are not told apart.
    left_out: u64,
}

/// The function of a task.
pub(super) fn code_of(task: &TaskRecord) -> Code {
    Code::new(task.function, task.flags & task_flags::CALL_SITE != 0)
}

impl Default for TaskLevels {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskLevels {
    pub(super) fn new() -> Self {
        Self {
            functions: BTreeMap::new(),
            width: 1,
            left_out: 0,
        }
    }

    /// Levels of a band.
    pub(in super::super) fn width(&self) -> u32 {
        self.width
    }

    /// Tasks that are in no function.
    pub(in super::super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The functions, the one with most user code first.
    pub(in super::super) fn functions(&self) -> Vec<(Code, &Function)> {
        let mut all: Vec<_> = self
            .functions
            .iter()
            .map(|(code, of)| (*code, of))
            .collect();
        all.sort_by_key(|(code, of)| (std::cmp::Reverse(of.work_ns), *code));
        all
    }

    /// Makes bands twice as wide until there is one for a level.
    fn widen(&mut self, level: u32) {
        while level / self.width >= BANDS as u32 {
            self.width *= 2;
            for function in self.functions.values_mut() {
                let bands = function.bands;
                let pair = |at: usize| {
                    bands
                        .get(2 * at..2 * at + 2)
                        .map_or(0, |two| two[0] + two[1])
                };
                function.bands = std::array::from_fn(pair);
            }
        }
    }
}

impl TaskSink for TaskLevels {
    fn task(&mut self, task: &TaskRecord) {
        // A taskwait with dependences is in the graph as an empty task. It is none that was created or executed.
        let Some(level) = task.level.filter(|_| task.kind != TaskKind::Taskwait) else {
            return;
        };
        self.widen(level);
        let code = code_of(task);
        if self.functions.len() == MOST && !self.functions.contains_key(&code) {
            self.left_out += 1;
            return;
        }
        let function = self.functions.entry(code).or_insert(Function {
            tasks: 0,
            work_ns: 0,
            dependency_wait_ns: 0,
            ready_wait_ns: 0,
            first: level,
            last: level,
            bands: [0; BANDS],
        });
        function.tasks += 1;
        function.work_ns = function.work_ns.saturating_add(task.work);
        let add = |sum: &mut u64, wait: Option<u64>| *sum = sum.saturating_add(wait.unwrap_or(0));
        add(&mut function.dependency_wait_ns, task.dependency_wait());
        add(&mut function.ready_wait_ns, task.ready_wait());
        function.first = function.first.min(level);
        function.last = function.last.max(level);
        function.bands[(level / self.width) as usize] += 1;
    }

    fn region(&mut self, _region: RegionRecord) {}
}

#[cfg(test)]
pub(super) mod tests {
    use instr_trace::synth;

    use super::super::tests::collected;
    use super::*;
    use crate::fixture::Fixture;
    use instr_trace::Session;

    #[test]
    fn tasks_are_counted_by_function_and_level() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let session = Session::of(vec![fixture.open()]);
        let levels = &collected(&session).task_levels[0];
        let found: Vec<_> = levels
            .functions()
            .iter()
            .map(|(code, of)| {
                (
                    code.address,
                    of.tasks,
                    of.first,
                    of.last,
                    of.bands[..3].to_vec(),
                )
            })
            .collect();
        // 2 depends on 1, which waited for its child 4; 3 was undeferred. 1 created another task and waited for it: 110 of its 140 ns are
        // user code.
        assert_eq!(
            found,
            [
                (0x2000, 2, 0, 2, vec![1, 0, 1]),
                (0x3000, 2, 0, 1, vec![1, 1, 0]),
            ]
        );
        let work = |at: usize| levels.functions()[at].1.work_ns;
        assert_eq!((work(0), work(1)), (110 + 100, 100 + 60));
        let waited = levels.functions()[0].1;
        // 1 was ready when it was created, at 510, and began at 700; 2 was created at 530, ready at 900, and began at 950.
        assert_eq!(waited.dependency_wait_ns, 900 - 530);
        assert_eq!(waited.ready_wait_ns, (700 - 510) + (950 - 900));
    }

    #[test]
    fn bands_become_wider_and_keep_all_tasks() {
        let mut levels = TaskLevels::new();
        for level in 0..1000 {
            let mut task = record(&Fixture::new(synth::layouts()[0]));
            task.level = Some(level);
            levels.task(&task);
        }
        assert_eq!(levels.width(), 16);
        let (_, function) = levels.functions()[0];
        assert_eq!(
            (function.tasks, function.first, function.last),
            (1000, 0, 999)
        );
        let whole = 1000 / 16;
        assert!(function.bands[..whole].iter().all(|tasks| *tasks == 16));
        assert_eq!(function.bands[whole], 1000 - 16 * whole as u64);
    }

    /// A task of the fixture.
    pub(in super::super) fn record(fixture: &Fixture) -> TaskRecord {
        let session = Session::of(vec![fixture.open()]);
        #[derive(Default)]
        struct First(Option<TaskRecord>);
        impl TaskSink for First {
            fn task(&mut self, task: &TaskRecord) {
                self.0.get_or_insert_with(|| task.clone());
            }
            fn region(&mut self, _region: RegionRecord) {}
        }
        let trace = &session.traces()[0];
        let mut states = instr_trace::tasks::TaskStates::new(trace.threads(), First::default());
        instr_trace::model::replay(trace, &mut states).unwrap();
        states.finish().0.expect("a task")
    }
}
