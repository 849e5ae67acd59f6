//! pprof's compressed profiles: one sample for each different stack of each thread, with how often and how long.

mod proto;

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use hashbrown::HashMap;
use instr_trace::Trace;
use instr_trace::event::SamplingClock;
use prost::Message;

use crate::error::Error;
use crate::format::{Input, Progress, Stats};
use crate::frames::Frame;
use crate::profile::{self, Profile, Sampling};

use proto::{
    FUNCTION, LOCATION, Label, Line, Location, MAPPING, Mapping, SAMPLE, Sample, ValueType,
};

/// Writes the profiles of all processes as one.
pub(crate) fn write(
    input: &Input<'_>,
    out: &mut dyn Write,
    progress: &mut Progress<'_>,
) -> Result<Stats, Error> {
    let mut writer = Writer::new(out);
    profile::of_processes(input, progress, |process, profile| {
        let title = input.title(process);
        writer
            .process(&title, &input.traces()[process], &profile)
            .map_err(Error::Output)
    })?;
    writer.finish(input).map_err(Error::Output)
}

/// Texts, each once.
struct Strings {
    all: Vec<String>,
    known: HashMap<String, i64>,
}

impl Strings {
    fn new() -> Self {
        Self {
            all: vec![String::new()],
            known: HashMap::from([(String::new(), 0)]),
        }
    }

    fn number(&mut self, text: &str) -> i64 {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let number = self.all.len() as i64;
        self.all.push(text.to_owned());
        self.known.insert(text.to_owned(), number);
        number
    }

    fn value_type(&mut self, kind: &str, unit: &str) -> ValueType {
        ValueType {
            r#type: self.number(kind),
            unit: self.number(unit),
        }
    }
}

struct Writer<'w> {
    out: GzEncoder<&'w mut dyn Write>,
    buffer: Vec<u8>,
    strings: Strings,
    /// By name and source file.
    functions: HashMap<(i64, i64), u64>,
    locations: u64,
    mappings: u64,
    /// Of the first process that was sampled.
    sampling: Option<Sampling>,
    /// Of one that was sampled, but whose period is not known.
    assumed: Option<Sampling>,
    stats: Stats,
}

impl<'w> Writer<'w> {
    fn new(out: &'w mut dyn Write) -> Self {
        Self {
            out: GzEncoder::new(out, Compression::default()),
            buffer: Vec::new(),
            strings: Strings::new(),
            functions: HashMap::new(),
            locations: 0,
            mappings: 0,
            sampling: None,
            assumed: None,
            stats: Stats::default(),
        }
    }

    fn put(&mut self, field: u32, message: &impl Message) -> io::Result<()> {
        self.buffer.clear();
        prost::encoding::message::encode(field, message, &mut self.buffer);
        self.out.write_all(&self.buffer)
    }

    fn process(&mut self, title: &str, trace: &Trace, profile: &Profile) -> io::Result<()> {
        match profile.no_period {
            true => self.assumed = profile.sampling,
            false => self.sampling = self.sampling.or(profile.sampling),
        }
        self.stats.shortened += profile.shortened;
        self.stats.no_period |= profile.no_period;
        let first_mapping = self.mappings;
        self.mappings(trace)?;
        let places: Vec<(u64, u64)> = trace
            .metadata()
            .modules
            .iter()
            .map(|module| (module.base, module.end))
            .collect();
        let root = self.location(None, 0, title)?;
        let mut locations = Vec::with_capacity(profile.frames.len());
        for frame in &profile.frames {
            let holds = |(from, to): &(u64, u64)| (*from..*to).contains(&frame.address);
            let module = places.iter().position(holds).filter(|_| frame.address != 0);
            let mapping = module.map_or(0, |module| first_mapping + module as u64 + 1);
            locations.push(self.location(Some(frame), mapping, &frame.name)?);
        }
        let thread_key = self.strings.number("thread");
        let threads: Vec<i64> = profile
            .threads
            .iter()
            .map(|name| self.strings.number(name))
            .collect();
        for (place, node) in profile.nodes.iter().enumerate() {
            if node.count == 0 && node.ns == 0 {
                continue;
            }
            let stack = profile.stack(place).map(|of| locations[of as usize]);
            let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
            let sample = Sample {
                location_id: stack.chain([root]).collect(),
                value: vec![whole(node.count), whole(node.ns)],
                label: vec![Label {
                    key: thread_key,
                    str: threads[profile.thread(place)],
                    num: 0,
                }],
            };
            self.stats.events += node.count;
            self.put(SAMPLE, &sample)?;
        }
        Ok(())
    }

    fn mappings(&mut self, trace: &Trace) -> io::Result<()> {
        for module in &trace.metadata().modules {
            self.mappings += 1;
            let mapping = Mapping {
                id: self.mappings,
                memory_start: module.base,
                memory_limit: module.end,
                filename: self.strings.number(&module.path),
                build_id: self
                    .strings
                    .number(module.build_id.as_deref().unwrap_or("")),
                has_functions: true,
                has_filenames: true,
                has_line_numbers: true,
            };
            self.put(MAPPING, &mapping)?;
        }
        Ok(())
    }

    /// A location, with its function: its number.
    fn location(&mut self, frame: Option<&Frame>, mapping_id: u64, name: &str) -> io::Result<u64> {
        let file = frame.and_then(|frame| frame.file.as_deref());
        let (name, filename) = (
            self.strings.number(name),
            self.strings.number(file.unwrap_or("")),
        );
        let new = self.functions.len() as u64 + 1;
        let id = *self.functions.entry((name, filename)).or_insert(new);
        if id == new {
            let function = proto::Function {
                id,
                name,
                system_name: name,
                filename,
            };
            self.put(FUNCTION, &function)?;
        }
        self.locations += 1;
        let location = Location {
            id: self.locations,
            mapping_id,
            address: frame.map_or(0, |frame| frame.address),
            line: vec![Line {
                function_id: id,
                line: frame.and_then(|frame| frame.line).map_or(0, i64::from),
            }],
        };
        self.put(LOCATION, &location)?;
        Ok(self.locations)
    }

    /// Writes what is known at the end alone.
    fn finish(mut self, input: &Input<'_>) -> Result<Stats, io::Error> {
        self.sampling = self.sampling.or(self.assumed);
        let strings = &mut self.strings;
        let (what, clock) = match self.sampling {
            Some(Sampling {
                clock: SamplingClock::Real,
                ..
            }) => ("samples", "wall"),
            Some(_) => ("samples", "cpu"),
            None => ("spans", "time"),
        };
        let time = strings.value_type(clock, "nanoseconds");
        let comment = match self.sampling {
            Some(_) => "samples of instr; processes that were not sampled: own times of spans",
            None => "own times of the spans of instr",
        };
        let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let session = input.session();
        let ends = input.traces().iter().enumerate();
        let end = ends.map(|(process, trace)| session.time(process, trace.end_time()));
        let mut profile = proto::Profile {
            sample_type: vec![strings.value_type(what, "count"), time],
            time_nanos: whole(session.realtime()),
            duration_nanos: whole(end.max().unwrap_or(0)),
            period_type: Some(time),
            period: whole(self.sampling.map_or(1, |sampling| sampling.period_ns)),
            comment: vec![strings.number(comment)],
            default_sample_type: time.r#type,
            string_table: Vec::new(),
        };
        profile.string_table = std::mem::take(&mut strings.all);
        self.out.write_all(&profile.encode_to_vec())?;
        self.out.finish()?;
        Ok(self.stats)
    }
}
