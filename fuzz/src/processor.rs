//! How long this process has run on processors.

/// Processor time of this process, ms; 0 where the system does not say.
pub(crate) fn processor_ms() -> u64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may hold spaces. Then the 12th and 13th field: user and system time in hundredths of a second.
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    let times = fields.split_whitespace().skip(11).take(2);
    let ticks = times.filter_map(|ticks| ticks.parse::<u64>().ok());
    ticks.sum::<u64>() * 10
}
