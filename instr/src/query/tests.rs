//! The command on traces whose numbers are known.

use instr_trace::synth;

use crate::console::Status;
use crate::console::tests::instr;
use crate::fixture::Fixture;

fn ask(sql: &str) -> (Status, String, String) {
    let fixture = Fixture::new(synth::layouts()[0]);
    instr(&["query", fixture.path(), sql, "--format", "csv"])
}

fn answer(sql: &str) -> String {
    let (status, out, err) = ask(sql);
    assert_eq!(status, Status::Done, "{sql}: {err}");
    out
}

fn refused(sql: &str) -> String {
    let (status, out, err) = ask(sql);
    assert_eq!((status, out.as_str()), (Status::Refused, ""), "{sql}");
    assert!(
        err.starts_with("instr: error: cannot run the query"),
        "{err}"
    );
    err
}

/// As the fixture's comment says.
#[test]
fn the_tables_hold_what_the_fixture_did() {
    let regions = "SELECT begin_ns, end_ns, duration_ns, team, thread, name FROM regions";
    assert_eq!(
        answer(regions),
        "begin_ns,end_ns,duration_ns,team,thread,name\n100,1500,1400,2,0,0x1000\n"
    );
    let tasks = "SELECT task, name, thread, created_ns, ready_ns, begin_ns, end_ns, parent, undeferred FROM tasks ORDER BY task";
    assert_eq!(
        answer(tasks),
        "task,name,thread,created_ns,ready_ns,begin_ns,end_ns,parent,undeferred\n\
         1,0x2000,0,510,510,700,900,,0\n\
         2,0x2000,1,530,900,950,1050,,0\n\
         3,0x3000,0,550,550,560,660,,1\n\
         4,0x3000,0,710,710,740,800,1,0\n"
    );
    assert_eq!(
        answer("SELECT from_task, to_task FROM edges"),
        "from_task,to_task\n1,2\n"
    );
    let locks = "SELECT what, begin_ns, end_ns, kind, object FROM sync WHERE object IS NOT NULL ORDER BY begin_ns";
    assert_eq!(
        answer(locks),
        "what,begin_ns,end_ns,kind,object\nacquire,410,430,named critical,36864\nhold,430,480,named critical,36864\n"
    );
    let events = "SELECT thread, time_ns, kind, number, value, value_end FROM events ORDER BY time_ns, thread";
    assert_eq!(
        answer(events),
        "thread,time_ns,kind,number,value,value_end\n0,125,chunk,,0,10\n1,125,chunk,,10,20\n0,230,chunk,,0,10\n0,1200,user event,7,1,\n"
    );
    let own = "SELECT name, begin_ns, end_ns, ended FROM spans WHERE kind = 'region'";
    assert_eq!(
        answer(own),
        "name,begin_ns,end_ns,ended\nphase,1210,1310,event\n"
    );
    let lives = "SELECT thread, begin_ns, end_ns, initial, tid FROM threads ORDER BY thread";
    assert_eq!(
        answer(lives),
        "thread,begin_ns,end_ns,initial,tid\n0,0,2000,1,4000\n1,105,1900,0,4001\n"
    );
    let states = "SELECT thread, sum(duration_ns) AS ns FROM states GROUP BY thread";
    assert_eq!(answer(states), "thread,ns\n0,2000\n1,1795\n");
}

#[test]
fn formats_and_questions() {
    let fixture = Fixture::new(synth::layouts()[1]);
    let question =
        |format: &str| instr(&["query", fixture.path(), "waiting-tasks", "--format", format]).1;
    assert_eq!(
        question("table"),
        "name    tasks  waited_ns  longest_ns\n------  -----  ---------  ----------\n0x2000      2        240         190\n0x3000      2         40          30\n"
    );
    let json: serde_json::Value = serde_json::from_str(&question("json")).unwrap();
    assert_eq!(json[0]["waited_ns"], 240);
    for known in instr_query::questions::QUESTIONS {
        let (status, _, err) = instr(&["query", fixture.path(), known.name]);
        assert_eq!(status, Status::Done, "{}: {err}", known.name);
    }
    let (_, list, _) = instr(&["query", "--list"]);
    assert!(list.contains("waiting-tasks"), "{list}");
}

#[test]
fn errors_name_the_place_and_what_was_meant() {
    let err = refused("SELECT count(*)\nFROM span");
    assert!(
        err.contains("no such table: span") && err.contains("help: did you mean spans?"),
        "{err}"
    );
    let err = refused("SELECT name,\n  durations FROM spans");
    assert!(
        err.contains("line 2, column 3: no such column: durations"),
        "{err}"
    );
    assert!(
        err.contains("  durations FROM spans\n          ^\n")
            && err.contains("did you mean duration_ns?"),
        "{err}"
    );
    let err = refused("SELECT 1 2 3");
    assert!(
        err.contains("line 1, column 12") || err.contains("line 1, column 10"),
        "{err}"
    );
    let err = refused("SELECT 1; SELECT 2");
    assert!(err.contains("more than one statement"), "{err}");
    assert!(refused(" ").contains("there is no statement"));
    // SQLite would stop there, and answer what stands before.
    let err = refused("SELECT count(*) FROM tasks\0 WHERE 1 = 0");
    assert!(err.contains("line 1, column 27: a zero byte"), "{err}");
    let (status, _, err) = instr(&["query", "/nonexistent/a", "waitng-tasks"]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("did you mean waiting-tasks?"), "{err}");
}

#[test]
fn a_query_only_reads() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.db");
    let file = file.display();
    for sql in [
        format!("ATTACH DATABASE '{file}' AS x"),
        format!("VACUUM INTO '{file}'"),
        "CREATE TABLE x(a)".into(),
        "CREATE TEMP TABLE x AS SELECT 1".into(),
        "CREATE VIRTUAL TABLE x USING fts5(a)".into(),
        "INSERT INTO spans(process) VALUES(1)".into(),
        "DELETE FROM tasks".into(),
        "UPDATE tasks SET process = 1".into(),
        "DROP TABLE tasks".into(),
        "PRAGMA temp_store = FILE".into(),
        "PRAGMA writable_schema = ON".into(),
        "SELECT * FROM pragma_database_list".into(),
        "BEGIN;".into(),
        "SAVEPOINT a".into(),
        "ANALYZE;".into(),
        "DETACH main".into(),
        "SELECT load_extension('x')".into(),
        "SELECT writefile('x', 'y')".into(),
        "SELECT readfile('/etc/passwd')".into(),
    ] {
        refused(&sql);
    }
    for sql in [format!("VACUUM INTO '{file}'"), "/* all */ VACUUM;".into()] {
        let err = refused(&sql);
        assert!(
            err.contains("a query only reads: ATTACH or VACUUM"),
            "{err}"
        );
    }
    assert!(refused("/* nothing */ ").contains("there is no statement"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn answers_are_as_they_are_read() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let sql = "SELECT 1e-9, -2.5e-7, 0.0, 0.5, 'a\nb' AS name";
    let (_, out, err) = instr(&["query", fixture.path(), sql]);
    let last: Vec<&str> = out
        .lines()
        .last()
        .unwrap_or(&err)
        .split_whitespace()
        .collect();
    assert_eq!(
        last,
        ["1.00000e-9", "-2.50000e-7", "0.000000", "0.500000", "a?b"],
        "{out}"
    );
    let sql = "SELECT 1 AS n, 2 AS n, 3 AS n_2, 4 AS n";
    let (_, out, _) = instr(&["query", fixture.path(), sql, "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        rows,
        serde_json::json!([{ "n": 1, "n_3": 2, "n_2": 3, "n_4": 4 }])
    );
}

#[test]
fn an_answer_takes_no_place_of_its_question_or_of_a_program() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let dir = tempfile::tempdir().unwrap();
    let (sql, program) = (dir.path().join("q.sql"), dir.path().join("app"));
    std::fs::write(&sql, "SELECT 1").unwrap();
    std::fs::write(&program, b"\x7fELF and so on").unwrap();
    let path = sql.to_str().unwrap();
    let (status, _, err) = instr(&["query", fixture.path(), "-f", path, "-o", path]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("the statement is in it"), "{err}");
    assert_eq!(std::fs::read(&sql).unwrap(), b"SELECT 1");
    let output = program.to_str().unwrap();
    let (status, _, err) = instr(&["query", fixture.path(), "-f", path, "-o", output]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("it is a program"), "{err}");
    assert_eq!(std::fs::read(&program).unwrap(), b"\x7fELF and so on");
}

#[test]
fn run_away_statements_have_an_end() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let forever =
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    let (status, _, err) = instr(&["query", fixture.path(), forever, "--time", "1"]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("longer than 1 s"), "{err}");
    let deep = format!("SELECT {}1{}", "1+(".repeat(900), ")".repeat(900));
    refused(&deep);
    refused("SELECT length(zeroblob(1000000000))");
}
