//! `report/src/schema.ts`: the types of what the page carries, for the script that reads it. The file is generated here from the types and
//! tables that write the data, and this test keeps it current: `INSTR_GOLDEN=1 cargo test -p instr report::schema` writes it again.

use std::fmt::Write as _;

use ts_rs::{Config, TS};

use super::columns::{Kind, Stored, StoredColumn, TABLES};
use super::timeline::model::{
    CodeLabel, Lane, LeftOut, Level, PathPart, Process, Processors, Runner, Spans, TaskGraph,
    Timeline, Track,
};
use crate::graph::model::{LevelCount, Parallelism, Region};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/src/schema.ts");

fn declaration<T: TS>() -> String {
    let config = Config::default();
    // Numbers of JSON: times are exact up to 104 days.
    let text = T::decl(&config).replace("bigint", "number");
    let docs = T::docs().unwrap_or_default();
    format!("{docs}export {text}\n\n")
}

fn generated() -> String {
    let mut text = "// What a report carries. Generated from instr/src/report by its test `schema`; do not edit.\n\n".to_owned();
    text += &declaration::<Kind>();
    text += &declaration::<StoredColumn>();
    text += &declaration::<Stored>();
    text += &declaration::<Process>();
    text += &declaration::<Track>();
    text += &declaration::<CodeLabel>();
    text += &declaration::<Level>();
    text += &declaration::<Spans>();
    text += &declaration::<Lane>();
    text += &declaration::<Runner>();
    text += &declaration::<Processors>();
    text += &declaration::<LevelCount>();
    text += &declaration::<Parallelism>();
    text += &declaration::<Region>();
    text += &declaration::<PathPart>();
    text += &declaration::<TaskGraph>();
    text += &declaration::<LeftOut>();
    text += &declaration::<Timeline>();
    for table in TABLES {
        let mut name = table.name.to_owned();
        name[..1].make_ascii_uppercase();
        let _ = writeln!(
            text,
            "/** {} */\nexport type {name}Columns = {{",
            table.what
        );
        for column in table.columns {
            let array = match column.kind {
                Kind::U8 => "Uint8Array",
                Kind::U16 => "Uint16Array",
                Kind::U32 => "Uint32Array",
                Kind::F64 | Kind::Varint => "Float64Array",
            };
            let _ = writeln!(
                text,
                "  /** {} */\n  {}: {array};",
                column.what, column.name
            );
        }
        text += "};\n\n";
    }
    text += "/** Tables by name. */\nexport type Tables = {\n";
    for table in TABLES {
        let mut name = table.name.to_owned();
        name[..1].make_ascii_uppercase();
        let _ = writeln!(text, "  {}: {name}Columns;", table.name);
    }
    text += "};\n";
    let lines = text.lines().map(str::trim_end);
    lines.fold(String::new(), |file, line| file + line + "\n")
}

#[test]
fn the_types_of_the_script_are_those_of_the_data() {
    let text = generated();
    if std::env::var_os("INSTR_GOLDEN").is_some_and(|value| value == "1") {
        std::fs::write(FILE, &text).expect("the file can be written");
    }
    let kept = std::fs::read_to_string(FILE).unwrap_or_default();
    assert_eq!(kept, text, "INSTR_GOLDEN=1 writes {FILE} again");
}
