//! What is known of the latest tasks of a kind whose end nobody tells.

use std::collections::VecDeque;

use hashbrown::HashMap;

use crate::event::TaskId;

/// Taskloops that are followed at a time.
const MOST: usize = 1 << 16;

/// A value for each of the latest tasks that were entered: a bounded number.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    values: HashMap<TaskId, T>,
    /// Keys of `values`, the oldest first.
    order: VecDeque<TaskId>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self {
            values: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T> Recent<T> {
    /// Enters a task. The oldest one is forgotten when there are too many.
    pub(crate) fn insert(&mut self, task: TaskId, value: T) {
        if self.values.insert(task, value).is_some() {
            return;
        }
        self.order.push_back(task);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }

    pub(crate) fn get(&self, task: TaskId) -> Option<&T> {
        self.values.get(&task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept() {
        let mut recent = Recent::default();
        let task = |seq| TaskId { thread: 1, seq };
        let most = MOST as u32;
        for seq in 0..most + 10 {
            recent.insert(task(seq), seq);
            recent.insert(task(seq), seq + 1);
        }
        assert_eq!(recent.get(task(9)), None);
        assert_eq!(recent.get(task(10)), Some(&11));
        assert_eq!((recent.values.len(), recent.order.len()), (MOST, MOST));
    }
}
