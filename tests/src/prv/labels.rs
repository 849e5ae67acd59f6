//! The `.pcf` and `.row` companions of a `.prv`.

use std::collections::{BTreeMap, BTreeSet};

/// What a `.pcf` declares.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// Labels of the states.
    pub states: BTreeMap<u32, String>,
    /// For each event type its label.
    pub types: BTreeMap<u64, String>,
    /// For each event type that lists its values: value → label.
    pub values: BTreeMap<u64, BTreeMap<i128, String>>,
}

/// Parses a `.pcf`.
///
/// # Errors
///
/// `line: message` for a line that fits no section, or a type declared twice.
pub fn parse_config(text: &str) -> Result<Config, String> {
    let mut config = Config::default();
    let mut section = "";
    let mut block: Vec<u64> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let at = |message: &str| format!("{number}: {message}: {line}");
        let words = line.trim();
        if words.is_empty() {
            continue;
        }
        if !words.starts_with(|c: char| c.is_ascii_digit()) {
            section = words.split_whitespace().next().unwrap_or("");
            if section == "EVENT_TYPE" {
                block.clear();
            }
            continue;
        }
        match section {
            "STATES" => {
                let (id, label) = number_and_label(words).ok_or_else(|| at("not a state"))?;
                let id = u32::try_from(id).map_err(|_| at("state number too large"))?;
                if config.states.insert(id, label).is_some() {
                    return Err(at("state declared twice"));
                }
            }
            "EVENT_TYPE" => {
                let (_, rest) = number_and_label(words).ok_or_else(|| at("not an event type"))?;
                let (kind, label) =
                    number_and_label(&rest).ok_or_else(|| at("not an event type"))?;
                if config.types.insert(kind, label).is_some() {
                    return Err(at("event type declared twice"));
                }
                block.push(kind);
            }
            "VALUES" => {
                let (value, label) = number_and_label(words).ok_or_else(|| at("not a value"))?;
                for kind in &block {
                    let known = config.values.entry(*kind).or_default();
                    if known.insert(value.into(), label.clone()).is_some() {
                        return Err(at("value declared twice"));
                    }
                }
            }
            _ => {}
        }
    }
    Ok(config)
}

fn number_and_label(text: &str) -> Option<(u64, String)> {
    let (number, label) = text.split_once(char::is_whitespace)?;
    Some((number.parse().ok()?, label.trim().to_owned()))
}

/// The levels of a `.row`: name → names of the objects.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// `CPU`, `NODE`, `THREAD` → names.
    pub levels: BTreeMap<String, Vec<String>>,
}

/// Parses a `.row`.
///
/// # Errors
///
/// `line: message` when a level's size is not the number of its names.
pub fn parse_rows(text: &str) -> Result<Rows, String> {
    let mut rows = Rows::default();
    let mut lines = (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty());
    while let Some((number, line)) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["LEVEL", level @ .., "SIZE", size] = words.as_slice() else {
            return Err(format!("{number}: not `LEVEL … SIZE n`: {line}"));
        };
        let size: usize = size.parse().map_err(|error| format!("{number}: {error}"))?;
        let names: Vec<String> = lines
            .by_ref()
            .take(size)
            .map(|(_, name)| name.to_owned())
            .collect();
        if names.len() != size || names.iter().any(|name| name.starts_with("LEVEL ")) {
            return Err(format!("{number}: fewer than {size} names follow"));
        }
        let unique: BTreeSet<&String> = names.iter().collect();
        if unique.len() != names.len() {
            return Err(format!("{number}: a name appears twice"));
        }
        rows.levels.insert(level.join(" "), names);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PCF: &str = "DEFAULT_OPTIONS\n\nLEVEL               THREAD\nUNITS               NANOSEC\n\nSTATES\n0    Idle\n1    Running\n\n\
                       STATES_COLOR\n0    {117,195,255}\n\nEVENT_TYPE\n0    60000018    Executed OpenMP parallel function\n\
                       0    60000023    Executed OpenMP task function\nVALUES\n0   End\n2   main\n\nEVENT_TYPE\n9  7  User\n";

    #[test]
    fn types_that_share_a_block_share_its_values() {
        let config = parse_config(PCF).expect("well-formed");
        assert_eq!(config.states.len(), 2);
        assert_eq!(
            config.types.keys().copied().collect::<Vec<_>>(),
            [7, 60_000_018, 60_000_023]
        );
        assert_eq!(config.values[&60_000_018], config.values[&60_000_023]);
        assert_eq!(config.values[&60_000_018][&2], "main");
        assert!(!config.values.contains_key(&7));
    }

    #[test]
    fn damaged_labels_are_refused() {
        assert!(parse_config(&PCF.replace("9  7  User", "9  60000018  User")).is_err());
        assert!(parse_config(&PCF.replace("2   main", "0   main")).is_err());
        assert!(parse_config(&PCF.replace("1    Running", "0    Running")).is_err());
    }

    #[test]
    fn rows_need_as_many_names_as_they_say() {
        let rows = parse_rows("LEVEL CPU SIZE 2\n1.vm\n2.vm\n\nLEVEL NODE SIZE 1\nvm\n\nLEVEL THREAD SIZE 1\nTHREAD 1.1.1\n").expect("well-formed");
        assert_eq!(rows.levels["CPU"], ["1.vm", "2.vm"]);
        assert!(parse_rows("LEVEL CPU SIZE 2\n1.vm\nLEVEL NODE SIZE 1\nvm\n").is_err());
        assert!(parse_rows("LEVEL CPU SIZE 2\n1.vm\n1.vm\n").is_err());
        assert!(parse_rows("CPU 2\n").is_err());
    }
}
