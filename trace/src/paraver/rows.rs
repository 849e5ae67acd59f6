//! The objects of a Paraver trace: nodes, processes, threads; header line and `.row` file.

use std::io::Write;

use crate::trace::Trace;

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

    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// One thread of the output.
#[derive(Debug)]
pub(super) struct Row {
    /// `cpu:1:task:thread:` as all its records begin.
    pub(super) prefix: Prefix,
    pub(super) process: usize,
    pub(super) position: usize,
    /// Last event, ns since the output's start.
    pub(super) last: u64,
    name: String,
}

/// All objects.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// First row of each process.
    pub(super) first: Vec<usize>,
    /// What to add to the times of each process, ns.
    pub(super) shift: Vec<u64>,
    pub(super) end: u64,
    /// Name and threads of each node.
    nodes: Vec<(String, usize)>,
    /// Threads and node (from 0) of each process.
    processes: Vec<(usize, usize)>,
    realtime_ns: u64,
}

impl Rows {
    pub(super) fn new(traces: &[Trace]) -> Self {
        let mut all = Self {
            rows: Vec::new(),
            first: Vec::new(),
            shift: shifts(traces),
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
            let node = all
                .nodes
                .iter()
                .position(|(name, _)| *name == host)
                .unwrap_or_else(|| {
                    all.nodes.push((host, 0));
                    all.nodes.len() - 1
                });
            // Paraver rejects a process without threads: such a trace is left out.
            if threads > 0 {
                all.nodes[node].1 += threads;
                all.processes.push((threads, node));
            }
        }
        all.nodes.retain(|(_, threads)| *threads > 0);
        all.number(traces);
        all
    }

    fn number(&mut self, traces: &[Trace]) {
        let mut next: Vec<usize> = Vec::new();
        for (node, _) in self.nodes.iter().enumerate() {
            next.push(
                self.nodes[..node]
                    .iter()
                    .map(|(_, threads)| threads)
                    .sum::<usize>()
                    + 1,
            );
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
            for (position, thread) in trace.threads().iter().enumerate() {
                let cpu = next[*node];
                next[*node] += 1;
                let last = thread.last_time.saturating_add(self.shift[process]);
                self.end = self.end.max(last);
                self.rows.push(Row {
                    prefix: Prefix::new(&format!("{cpu}:1:{task}:{}:", position + 1)),
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
        for (number, (_, threads)) in self.nodes.iter().enumerate() {
            write!(out, "{}{threads}", if number == 0 { "" } else { "," })?;
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
        writeln!(out, "LEVEL CPU SIZE {}", self.rows.len())?;
        for (host, threads) in &self.nodes {
            for number in 1..=*threads {
                writeln!(out, "{number}.{host}")?;
            }
        }
        writeln!(out, "\nLEVEL NODE SIZE {}", self.nodes.len())?;
        for (host, _) in &self.nodes {
            writeln!(out, "{host}")?;
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

/// Distance of each trace's start from the earliest. On one host the monotonic clock tells, else the time of day.
fn shifts(traces: &[Trace]) -> Vec<u64> {
    let host = |trace: &Trace| trace.metadata().hostname.clone();
    let same = traces
        .windows(2)
        .all(|pair| host(&pair[0]) == host(&pair[1]));
    let start = |trace: &Trace| {
        let metadata = trace.metadata();
        if same {
            metadata.start_monotonic_ns
        } else {
            metadata.start_realtime_ns
        }
    };
    let first = traces.iter().map(start).min().unwrap_or(0);
    traces.iter().map(|trace| start(trace) - first).collect()
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
