//! An independent reader and checker of Paraver traces (`.prv`, `.pcf`, `.row`), written from the format's description and sharing
//! nothing with the code that writes them.
//!
//! [`read`] parses, [`check::check`] proves what must hold of every trace.

pub mod check;
pub mod labels;

use std::path::{Path, PathBuf};

/// A thread, as Paraver names it: application, task, thread, all from 1.
pub type Object = (u32, u32, u32);

/// The header line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The trace's duration in ns.
    pub end: u64,
    /// Number of processors of each node.
    pub nodes: Vec<u32>,
    /// For each application, for each task: number of threads and node.
    pub applications: Vec<Vec<(u32, u32)>>,
}

impl Header {
    /// All threads in the order of the `.row` file.
    #[must_use]
    pub fn objects(&self) -> Vec<Object> {
        let mut objects = Vec::new();
        for (application, tasks) in (1..).zip(&self.applications) {
            for (task, (threads, _)) in (1..).zip(tasks) {
                objects.extend((1..=*threads).map(|thread| (application, task, thread)));
            }
        }
        objects
    }

    /// Number of processors of all nodes.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.nodes.iter().sum()
    }
}

/// A state record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Line in the file.
    pub line: usize,
    /// Processor, 0 = none.
    pub cpu: u32,
    /// Thread.
    pub object: Object,
    /// Begin in ns.
    pub begin: u64,
    /// End in ns.
    pub end: u64,
    /// State number.
    pub state: u32,
}

/// One type and value of an event record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Line in the file.
    pub line: usize,
    /// Processor, 0 = none.
    pub cpu: u32,
    /// Thread.
    pub object: Object,
    /// Time in ns.
    pub time: u64,
    /// Event type.
    pub kind: u64,
    /// Value; signed, because counters are.
    pub value: i128,
}

/// One end of a communication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// Processor, 0 = none.
    pub cpu: u32,
    /// Thread.
    pub object: Object,
    /// Logical time in ns.
    pub logical: u64,
    /// Physical time in ns.
    pub physical: u64,
}

/// A communication record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comm {
    /// Line in the file.
    pub line: usize,
    /// The sender.
    pub send: End,
    /// The receiver.
    pub receive: End,
    /// Size.
    pub size: u64,
    /// Tag.
    pub tag: u64,
}

/// A whole trace.
#[derive(Debug, Clone)]
pub struct Trace {
    /// First line.
    pub header: Header,
    /// Records of kind 1.
    pub states: Vec<State>,
    /// Records of kind 2, one for each type and value.
    pub events: Vec<Event>,
    /// Records of kind 3.
    pub comms: Vec<Comm>,
    /// The begin of each record in the order of the file, with its line.
    pub order: Vec<(usize, u64)>,
    /// The `.pcf` file.
    pub config: labels::Config,
    /// The `.row` file.
    pub rows: labels::Rows,
}

/// Reads `NAME.prv` and its companions.
///
/// # Errors
///
/// `file:line: message` for whatever is not of the format.
pub fn read(prv: &Path) -> Result<Trace, String> {
    let text = |path: PathBuf| {
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    parse(
        &text(prv.to_owned())?,
        &text(prv.with_extension("pcf"))?,
        &text(prv.with_extension("row"))?,
    )
}

/// Parses the three texts.
///
/// # Errors
///
/// `prv|pcf|row:line: message` for whatever is not of the format.
pub fn parse(prv: &str, pcf: &str, row: &str) -> Result<Trace, String> {
    let mut lines = (1..).zip(prv.lines());
    let first = lines.next().map_or("", |(_, line)| line);
    let header = parse_header(first).ok_or_else(|| format!("prv:1: not a header: {first}"))?;
    let mut trace = Trace {
        header,
        states: Vec::new(),
        events: Vec::new(),
        comms: Vec::new(),
        order: Vec::new(),
        config: labels::parse_config(pcf).map_err(|message| format!("pcf:{message}"))?,
        rows: labels::parse_rows(row).map_err(|message| format!("row:{message}"))?,
    };
    for (number, line) in lines {
        if line.starts_with("c:") || line.starts_with('#') {
            continue;
        }
        parse_record(&mut trace, number, line)
            .ok_or_else(|| format!("prv:{number}: not a record: {line}"))?;
    }
    if !prv.ends_with('\n') {
        return Err("prv: the last line is cut off".into());
    }
    Ok(trace)
}

/// `#Paraver (dd/mm/yyyy at hh:mm):<end>_ns:<nodes>(<cpus>,…):<appls>:<tasks>(<threads>:<node>,…)[,<comms>]…`
fn parse_header(line: &str) -> Option<Header> {
    let rest = line.strip_prefix("#Paraver (")?;
    let (date, rest) = rest.split_once("):")?;
    well_formed_date(date).then_some(())?;
    let (end, rest) = rest.split_once("_ns:")?;
    let (count, rest) = rest.split_once('(')?;
    let (cpus, rest) = rest.split_once("):")?;
    let nodes = cpus
        .split(',')
        .map(|cpu| cpu.parse().ok())
        .collect::<Option<Vec<u32>>>()?;
    (count.parse::<usize>().ok()? == nodes.len() && !nodes.is_empty()).then_some(())?;
    let (count, mut rest) = rest.split_once(':')?;
    let mut applications = Vec::new();
    for index in 0..count.parse::<usize>().ok()? {
        if index > 0 {
            rest = rest.strip_prefix(':')?;
        }
        let (tasks, after) = rest.split_once('(')?;
        let (list, after) = after.split_once(')')?;
        let list = list
            .split(',')
            .map(thread_and_node)
            .collect::<Option<Vec<_>>>()?;
        (tasks.parse::<usize>().ok()? == list.len()).then_some(())?;
        applications.push(list);
        // The optional number of communicators.
        rest = after.strip_prefix(',').map_or(after, |after| {
            after.trim_start_matches(|c: char| c.is_ascii_digit())
        });
    }
    rest.is_empty().then_some(Header {
        end: end.parse().ok()?,
        nodes,
        applications,
    })
}

fn thread_and_node(text: &str) -> Option<(u32, u32)> {
    let (threads, node) = text.split_once(':')?;
    Some((threads.parse().ok()?, node.parse().ok()?))
}

fn well_formed_date(date: &str) -> bool {
    let shape: String = date
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    shape == "00/00/0000 at 00:00"
}

fn parse_record(trace: &mut Trace, line: usize, text: &str) -> Option<()> {
    let fields: Vec<&str> = text.split(':').collect();
    // Only the values of events may be negative; there 0 stands for them.
    let is_value = |index: usize| fields[0] == "2" && index >= 7 && index % 2 == 1;
    let number = |(index, field): (usize, &&str)| {
        if is_value(index) {
            Some(0)
        } else {
            field.parse::<u64>().ok()
        }
    };
    let numbers = fields
        .iter()
        .enumerate()
        .map(number)
        .collect::<Option<Vec<u64>>>()?;
    let small = |index: usize| {
        numbers
            .get(index)
            .and_then(|&number| u32::try_from(number).ok())
    };
    let object = |at: usize| Some((small(at)?, small(at + 1)?, small(at + 2)?));
    let begin = match (*numbers.first()?, numbers.len()) {
        (1, 8) => {
            let (begin, end) = (numbers[5], numbers[6]);
            trace.states.push(State {
                line,
                cpu: small(1)?,
                object: object(2)?,
                begin,
                end,
                state: small(7)?,
            });
            begin
        }
        (2, length) if length >= 8 && length % 2 == 0 => {
            let (cpu, object, time) = (small(1)?, object(2)?, numbers[5]);
            for at in (6..length).step_by(2) {
                let value = event_value(fields[at + 1])?;
                trace.events.push(Event {
                    line,
                    cpu,
                    object,
                    time,
                    kind: numbers[at],
                    value,
                });
            }
            time
        }
        (3, 15) => {
            let end = |at: usize| {
                Some(End {
                    cpu: small(at)?,
                    object: object(at + 1)?,
                    logical: numbers[at + 4],
                    physical: numbers[at + 5],
                })
            };
            let comm = Comm {
                line,
                send: end(1)?,
                receive: end(7)?,
                size: numbers[13],
                tag: numbers[14],
            };
            let begin = comm.send.logical;
            trace.comms.push(comm);
            begin
        }
        _ => return None,
    };
    trace.order.push((line, begin));
    Some(())
}

/// A value of 64 bits, signed or unsigned.
fn event_value(text: &str) -> Option<i128> {
    let value: i128 = text.parse().ok()?;
    (i128::from(i64::MIN)..=i128::from(u64::MAX))
        .contains(&value)
        .then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_of_the_format_is_read() {
        let header = parse_header("#Paraver (21/11/2026 at 05:29):18835952_ns:1(2):1:1(2:1),0")
            .expect("a header");
        assert_eq!(
            (header.end, header.cpus(), header.objects()),
            (18_835_952, 2, vec![(1, 1, 1), (1, 1, 2)])
        );
        let two = parse_header("#Paraver (21/11/2026 at 05:29):5_ns:2(2,4):2:1(1:1):2(1:1,3:2)")
            .expect("a header");
        assert_eq!(
            two.objects(),
            [(1, 1, 1), (2, 1, 1), (2, 2, 1), (2, 2, 2), (2, 2, 3)]
        );
        assert_eq!(two.nodes, [2, 4]);
    }

    #[test]
    fn malformed_headers_are_refused() {
        for line in [
            "",
            "#Paraver 21/11/2026:5_ns:1(2):1:1(2:1)",
            "#Paraver (21/11/2026 at 05:29):5:1(2):1:1(2:1)",
            "#Paraver (21/11/2026 at 05:29):5_ns:2(2):1:1(2:1)",
            "#Paraver (21/11/2026 at 05:29):5_ns:1(2):2:1(2:1)",
            "#Paraver (21/11/2026 at 05:29):5_ns:1(2):1:2(2:1)",
            "#Paraver (1/11/2026 at 05:29):5_ns:1(2):1:1(2:1)",
        ] {
            assert!(parse_header(line).is_none(), "{line}");
        }
    }
}
