//! Questions with names: `instr query app.instr waiting-tasks`. Their SQL is understood by DuckDB too, on the files of `instr export --format parquet`.

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// As it is typed.
    pub name: &'static str,
    /// What is asked.
    pub about: &'static str,
    /// The statement.
    pub sql: &'static str,
}

/// The question of this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Question> {
    QUESTIONS.iter().find(|question| question.name == name)
}

/// The name that is most like this one.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    let alike =
        |question: &'static Question| (strsim::jaro_winkler(name, question.name), question.name);
    let best = QUESTIONS
        .iter()
        .map(alike)
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.8).then_some(best.1)
}

/// What `docs/query.md` says of them.
#[must_use]
pub fn text() -> String {
    let one = |question: &Question| {
        let Question { name, about, sql } = question;
        format!("\n### `{name}`\n\n{about}\n\n```sql\n{sql}\n```\n")
    };
    let all: Vec<String> = QUESTIONS.iter().map(one).collect();
    format!("\n## Questions\n{}", all.concat())
}

/// All of them, those about tasks first.
pub static QUESTIONS: &[Question] = &[
    Question {
        name: "task-work",
        about: "Which task functions do most work?",
        sql: "SELECT name, count(*) AS tasks, sum(work_ns) AS work_ns, max(duration_ns) AS longest_ns
FROM tasks
WHERE begin_ns IS NOT NULL
GROUP BY name
ORDER BY work_ns DESC, name",
    },
    Question {
        name: "waiting-tasks",
        about: "Which task functions wait longest for a thread although they are ready?",
        sql: "SELECT name, count(*) AS tasks, sum(ready_wait_ns) AS waited_ns, max(ready_wait_ns) AS longest_ns
FROM tasks
WHERE ready_wait_ns IS NOT NULL
GROUP BY name
ORDER BY waited_ns DESC, name",
    },
    Question {
        name: "dependent-tasks",
        about: "Which task functions wait longest for the tasks that they depend on?",
        sql: "SELECT name, count(*) AS tasks, sum(dependency_wait_ns) AS waited_ns, max(dependency_wait_ns) AS longest_ns
FROM tasks
WHERE dependency_wait_ns IS NOT NULL
GROUP BY name
ORDER BY waited_ns DESC, name",
    },
    Question {
        name: "longest-tasks",
        about: "Which ten tasks took longest, when, and on which thread?",
        sql: "SELECT process, task, name, thread, begin_ns, duration_ns
FROM tasks
WHERE duration_ns IS NOT NULL
ORDER BY duration_ns DESC, process, task
LIMIT 10",
    },
    Question {
        name: "moved-tasks",
        about: "Which threads run the tasks that a thread creates?",
        sql: "SELECT process, creator, thread, count(*) AS tasks
FROM tasks
WHERE thread IS NOT NULL
GROUP BY process, creator, thread
ORDER BY process, creator, thread",
    },
    Question {
        name: "dependences",
        about: "Which task functions wait for which, and how often?",
        sql: "SELECT a.name AS first, b.name AS waits, count(*) AS edges
FROM edges e
JOIN tasks a ON a.process = e.process AND a.task = e.from_task
JOIN tasks b ON b.process = e.process AND b.task = e.to_task
GROUP BY a.name, b.name
ORDER BY edges DESC, first, waits",
    },
    Question {
        name: "regions",
        about: "How often does each parallel region run, and how long?",
        sql: "SELECT name, count(*) AS times, sum(duration_ns) AS total_ns, max(duration_ns) AS longest_ns
FROM regions
GROUP BY name
ORDER BY total_ns DESC, name",
    },
    Question {
        name: "closing-waits",
        about: "How long does each thread wait for the others at the end of each parallel region?",
        sql: "SELECT name, process, thread, count(*) AS waits, sum(duration_ns) AS waited_ns
FROM sync
WHERE kind = 'closing barrier'
GROUP BY name, process, thread
ORDER BY waited_ns DESC, name, process, thread",
    },
    Question {
        name: "waits",
        about: "What do threads wait for, how often and how long?",
        sql: "SELECT kind, count(*) AS waits, sum(duration_ns) AS waited_ns, max(duration_ns) AS longest_ns
FROM sync
WHERE what = 'wait' AND ended = 'event'
GROUP BY kind
ORDER BY waited_ns DESC, kind",
    },
    Question {
        name: "locks",
        about: "For which locks do threads wait, and how long are they held?",
        sql: "SELECT process, object_name, kind, object,
  sum(CASE WHEN what = 'acquire' THEN duration_ns ELSE 0 END) AS waited_ns,
  sum(CASE WHEN what = 'hold' THEN 1 ELSE 0 END) AS holds,
  sum(CASE WHEN what = 'hold' THEN duration_ns ELSE 0 END) AS held_ns
FROM sync
WHERE what IN ('acquire', 'hold')
GROUP BY process, object_name, kind, object
ORDER BY waited_ns DESC, process, object_name, kind, object",
    },
    Question {
        name: "lock-holders",
        about: "Who held the locks that a thread waited for, and for how much of that time?",
        sql: "SELECT w.process, w.thread, w.object_name, w.object, h.thread AS holder, count(*) AS times,
  sum((CASE WHEN h.end_ns < w.end_ns THEN h.end_ns ELSE w.end_ns END)
    - (CASE WHEN h.begin_ns > w.begin_ns THEN h.begin_ns ELSE w.begin_ns END)) AS held_ns
FROM sync w
JOIN sync h ON h.process = w.process AND h.object = w.object AND h.what = 'hold'
  AND h.object_name = w.object_name AND h.thread <> w.thread
  AND h.begin_ns < w.end_ns AND h.end_ns > w.begin_ns
WHERE w.what = 'acquire'
GROUP BY w.process, w.thread, w.object_name, w.object, h.thread
ORDER BY held_ns DESC, w.process, w.thread, w.object_name, w.object, holder",
    },
    Question {
        name: "states",
        about: "In which states do threads spend their time?",
        sql: "SELECT s.process, s.thread, t.name, s.state, sum(s.duration_ns) AS total_ns
FROM states s
JOIN threads t ON t.process = s.process AND t.thread = s.thread
GROUP BY s.process, s.thread, t.name, s.state
ORDER BY s.process, s.thread, total_ns DESC, s.state",
    },
    Question {
        name: "energy",
        about: "How much energy goes into each parallel region, by each meter?",
        sql: "SELECT r.name, s.sensor, count(DISTINCT r.region) AS times,
  sum(s.grown * (CASE s.unit WHEN 'uJ' THEN 1e-6 ELSE 1.0 END)
    * ((CASE WHEN s.time_ns < r.end_ns THEN s.time_ns ELSE r.end_ns END)
     - (CASE WHEN s.since_ns > r.begin_ns THEN s.since_ns ELSE r.begin_ns END))
    / (s.time_ns - s.since_ns)) AS joules
FROM regions r
JOIN sensors s ON s.process = r.process AND s.time_ns > r.begin_ns AND s.since_ns < r.end_ns
WHERE s.unit IN ('J', 'uJ') AND s.grown IS NOT NULL AND s.time_ns > s.since_ns
GROUP BY r.name, s.sensor
ORDER BY joules DESC, r.name, s.sensor",
    },
    Question {
        name: "functions",
        about: "Which functions were threads in when they were sampled?",
        sql: "SELECT function, sum(periods) AS periods, count(DISTINCT thread) AS threads
FROM samples
GROUP BY function
ORDER BY periods DESC, function",
    },
    Question {
        name: "allocations",
        about: "Which functions get most memory of the heap?",
        sql: "SELECT function, file, count(*) AS blocks, sum(bytes) AS bytes
FROM memory
WHERE address IS NOT NULL AND call NOT IN ('mmap', 'mremap')
GROUP BY function, file
ORDER BY bytes DESC, function, file",
    },
    Question {
        name: "user-regions",
        about: "How long do the program's own regions and described calls take?",
        sql: "SELECT kind, name, count(*) AS times, sum(end_ns - first_ns) AS total_ns, max(end_ns - first_ns) AS longest_ns
FROM spans
WHERE kind IN ('region', 'call') AND ended NOT IN ('suspended', 'kept')
GROUP BY kind, name
ORDER BY total_ns DESC, kind, name",
    },
    Question {
        name: "user-events",
        about: "Which events and counters of the program's own were recorded, and between which values?",
        sql: "SELECT kind, name, CASE kind WHEN 'user event' THEN number END AS type, count(*) AS events, min(value) AS least, max(value) AS most
FROM events
WHERE kind IN ('user event', 'counter')
GROUP BY kind, name, CASE kind WHEN 'user event' THEN number END
ORDER BY events DESC, kind, name, type",
    },
    Question {
        name: "processors",
        about: "How long does each thread run, on how many processors, and how often is one taken from it?",
        sql: "SELECT process, pid, tid, count(*) AS runs, sum(duration_ns) AS ran_ns, count(DISTINCT processor) AS processors,
  sum(CASE WHEN next = 'ready' THEN 1 ELSE 0 END) AS taken
FROM switches
GROUP BY process, pid, tid
ORDER BY ran_ns DESC, process, pid, tid",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// `INSTR_GOLDEN=1` writes it.
    #[test]
    fn the_document_has_the_questions() {
        const MARK: &str = "from query/src/questions.rs. -->\n";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/query.md");
        let found = std::fs::read_to_string(&path).unwrap();
        let (before, behind) = found.split_once(MARK).unwrap();
        if std::env::var_os("INSTR_GOLDEN").is_some() {
            std::fs::write(&path, [before, MARK, &text()].concat()).unwrap();
            return;
        }
        assert!(
            behind == text(),
            "docs/query.md is not current: make golden writes it"
        );
    }

    #[test]
    fn names_are_words_and_told_apart() {
        for (at, question) in QUESTIONS.iter().enumerate() {
            let is_plain = |c: char| c.is_ascii_lowercase() || c == '-';
            assert!(question.name.chars().all(is_plain), "{}", question.name);
            assert!(question.about.ends_with('?'), "{}", question.name);
            assert!(
                QUESTIONS[..at]
                    .iter()
                    .all(|other| other.name != question.name)
            );
        }
        assert_eq!(nearest("waitng-tasks"), Some("waiting-tasks"));
    }
}
