//! The objects of a Paraver trace: nodes, processes, threads; header line and `.row` file.

use std::io::Write;

use crate::session::{Session, Shift};
use crate::trace::Trace;

/// More processors of a node than that are not believed.
const MAX_PROCESSORS: u32 = 4096;

/// Most bytes of a [`Prefix`]: four 32-bit numbers and their colons.
pub(super) const PREFIX: usize = 44;

/// A short text that is copied often: copying all its room is faster than copying its length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefix {
    pub(super) bytes: [u8; PREFIX],
    pub(super) len: usize,
}

impl Prefix {
    fn new(text: &str) -> Self {
        let len = text.len().min(PREFIX);
        let mut bytes = [0; PREFIX];
        bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
        Self { bytes, len }
    }
}

/// The processors of a node in the numbers of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cpus {
    /// Before the first.
    before: u32,
    count: u32,
}

impl Cpus {
    /// Number of `processor` in the output; 0, which stands for none, when there is no such one.
    pub(super) fn number(self, processor: u32) -> u32 {
        match processor < self.count {
            true => self.before + processor + 1,
            false => 0,
        }
    }
}

/// A node.
#[derive(Debug)]
struct Node {
    name: String,
    threads: usize,
    /// Processors, where all its traces tell their context switches; else each thread has one of its own, as Extrae writes it.
    processors: Option<u32>,
}

impl Node {
    fn cpus(&self) -> usize {
        self.processors.map_or(self.threads, |count| count as usize)
    }
}

/// Processors of a trace whose context switches are known.
fn processors(trace: &Trace) -> Option<u32> {
    let numbers = trace.processor_infos().iter().map(|info| info.os_tid);
    let most = numbers.max()?;
    (most < MAX_PROCESSORS).then(|| most + 1)
}

/// One thread of the output.
#[derive(Debug)]
pub(super) struct Row {
    /// Processor at the beginning; 0: none.
    pub(super) cpu: u32,
    /// Where the processors are known.
    pub(super) cpus: Option<Cpus>,
    task: usize,
    pub(super) process: usize,
    pub(super) position: usize,
    /// Last event, ns since the output's start.
    pub(super) last: u64,
    name: String,
}

impl Row {
    /// `cpu:1:task:thread:` as its records on that processor begin.
    pub(super) fn prefix(&self, cpu: u32) -> Prefix {
        Prefix::new(&format!("{cpu}:1:{}:{}:", self.task, self.position + 1))
    }
}

/// All objects.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// First row of each process.
    pub(super) first: Vec<usize>,
    /// From the times of each process to those of the output.
    pub(super) shift: Vec<Shift>,
    pub(super) end: u64,
    nodes: Vec<Node>,
    /// Threads and node (from 0) of each process.
    processes: Vec<(usize, usize)>,
    realtime_ns: u64,
}

impl Rows {
    pub(super) fn new(session: &Session) -> Self {
        let traces = session.traces();
        let mut all = Self {
            rows: Vec::new(),
            first: Vec::new(),
            shift: session.shifts().to_vec(),
            end: 0,
            nodes: Vec::new(),
            processes: Vec::new(),
            realtime_ns: traces
                .iter()
                .map(|trace| trace.metadata().start_realtime_ns)
                .min()
                .unwrap_or(0),
        };
        for trace in traces {
            let host = match trace.metadata().hostname.as_str() {
                "" => "node".to_owned(),
                host => clean(host),
            };
            let threads = trace.threads().len();
            // Paraver rejects a process without threads: such a trace is left out.
            if threads == 0 {
                continue;
            }
            let found = all.nodes.iter().position(|node| node.name == host);
            let node = found.unwrap_or(all.nodes.len());
            let known = processors(trace);
            match all.nodes.get_mut(node) {
                Some(node) => {
                    node.threads += threads;
                    node.processors = node.processors.zip(known).map(|(a, b)| a.max(b));
                }
                None => all.nodes.push(Node {
                    name: host,
                    threads,
                    processors: known,
                }),
            }
            all.processes.push((threads, node));
        }
        all.number(traces);
        all
    }

    fn number(&mut self, traces: &[Trace]) {
        // Processors before those of each node, and those of its threads that were given out.
        let mut next: Vec<usize> = vec![0; self.nodes.len()];
        for node in 1..self.nodes.len() {
            next[node] = next[node - 1] + self.nodes[node - 1].cpus();
        }
        let mut task = 0;
        for (process, trace) in traces.iter().enumerate() {
            self.first.push(self.rows.len());
            let Some((_, node)) = self
                .processes
                .get(task)
                .filter(|_| !trace.threads().is_empty())
            else {
                continue;
            };
            task += 1;
            let cpus = self.nodes[*node].processors.map(|count| Cpus {
                before: next[*node] as u32,
                count,
            });
            for (position, thread) in trace.threads().iter().enumerate() {
                let mut cpu = 0;
                if cpus.is_none() {
                    next[*node] += 1;
                    cpu = next[*node] as u32;
                }
                let last = self.shift[process].output(thread.last_time);
                self.end = self.end.max(last);
                self.rows.push(Row {
                    cpu,
                    cpus,
                    task,
                    process,
                    position,
                    last,
                    name: format!("THREAD 1.{task}.{}", position + 1),
                });
            }
        }
    }

    /// The header line.
    pub(super) fn header(&self, out: &mut impl Write) -> std::io::Result<()> {
        let (day, month, year, hour, minute) = date(self.realtime_ns / 1_000_000_000);
        write!(
            out,
            "#Paraver ({day:02}/{month:02}/{year:04} at {hour:02}:{minute:02}):{}_ns:{}(",
            self.end,
            self.nodes.len()
        )?;
        for (number, node) in self.nodes.iter().enumerate() {
            write!(out, "{}{}", if number == 0 { "" } else { "," }, node.cpus())?;
        }
        write!(out, "):1:{}(", self.processes.len())?;
        for (number, (threads, node)) in self.processes.iter().enumerate() {
            write!(
                out,
                "{}{threads}:{}",
                if number == 0 { "" } else { "," },
                node + 1
            )?;
        }
        writeln!(out, "),0")
    }

    /// The `.row` file.
    pub(super) fn names(&self, out: &mut impl Write) -> std::io::Result<()> {
        let cpus: usize = self.nodes.iter().map(Node::cpus).sum();
        writeln!(out, "LEVEL CPU SIZE {cpus}")?;
        for node in &self.nodes {
            for number in 1..=node.cpus() {
                writeln!(out, "{number}.{}", node.name)?;
            }
        }
        writeln!(out, "\nLEVEL NODE SIZE {}", self.nodes.len())?;
        for node in &self.nodes {
            writeln!(out, "{}", node.name)?;
        }
        writeln!(out, "\nLEVEL THREAD SIZE {}", self.rows.len())?;
        for row in &self.rows {
            writeln!(out, "{}", row.name)?;
        }
        Ok(())
    }
}

/// Without line breaks and other control characters.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// Day, month, year, hour, minute (UTC) of a time since 1970 in seconds; days to civil date after Howard Hinnant.
fn date(seconds: u64) -> (u64, u64, u64, u64, u64) {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    (
        day,
        month,
        year + era * 400 + u64::from(month <= 2),
        seconds / 3600 % 24,
        seconds / 60 % 60,
    )
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), (1, 1, 1970, 0, 0));
        assert_eq!(date(951_782_340), (28, 2, 2000, 23, 59));
        assert_eq!(date(951_868_799), (29, 2, 2000, 23, 59));
        assert_eq!(date(1_795_239_000), (21, 11, 2026, 5, 30));
        assert_eq!(date(4_107_542_400), (1, 3, 2100, 0, 0));
    }
}
