//! The checker on a sound trace and on every kind of damage.

use super::super::parse;
use super::*;

const PRV: &str = "#Paraver (21/11/2026 at 05:29):1000_ns:1(2):1:1(2:1),0
1:1:1:1:1:0:400:1
1:2:1:1:2:0:100:2
2:1:1:1:1:50:60000001:3:60000018:2:60000118:5
1:2:1:1:2:100:1000:1
2:2:1:1:2:110:60000018:2
2:2:1:1:2:150:60000007:3
2:2:1:1:2:160:60000007:6
2:2:1:1:2:170:60000007:5
2:2:1:1:2:171:60000007:0
3:1:1:1:1:200:200:2:1:1:2:250:260:7:60000000
2:2:1:1:2:260:60000023:4
2:2:1:1:2:300:60000023:0
1:1:1:1:1:400:600:7
2:2:1:1:2:500:60000018:0
1:1:1:1:1:600:1000:1
2:1:1:1:1:700:60000018:0:60000118:0:60000001:0
";
const PCF: &str = "STATES
1 Running
2 Not created
7 Scheduling and Fork/Join

EVENT_TYPE
0 60000001 Parallel (OMP)
VALUES
0 close
3 REGION

EVENT_TYPE
0 60000007 Unnamed lock

EVENT_TYPE
0 60000018 Executed OpenMP parallel function
0 60000118 its line
0 60000023 Executed OpenMP task function
VALUES
0 End
2 main
4 leaf
5 main.c:7
";
const ROW: &str = "LEVEL CPU SIZE 2\n1.vm\n2.vm\n\nLEVEL NODE SIZE 1\nvm\n\nLEVEL THREAD SIZE 2\nTHREAD 1.1.1\nTHREAD 1.1.2\n";

fn verdict(prv: &str, pcf: &str, row: &str) -> Result<(), String> {
    check(&parse(prv, pcf, row)?, Options::default())
}

/// The trace with `from` replaced by `to` must be refused with a message that holds `why`.
fn refused(from: &str, to: &str, why: &str) {
    assert!(PRV.contains(from), "the damage must hit: {from}");
    let message = verdict(&PRV.replacen(from, to, 1), PCF, ROW).expect_err(why);
    assert!(message.contains(why), "{why} not in: {message}");
}

#[test]
fn sound_trace_passes() {
    assert_eq!(verdict(PRV, PCF, ROW), Ok(()));
}

#[test]
fn a_thread_may_live_for_an_instant() {
    let prv = |second: u64| {
        format!(
            "#Paraver (21/11/2026 at 05:29):1000_ns:1(2):1:1(2:1),0
1:1:1:1:1:0:1000:1
1:2:1:1:2:0:1000:2
2:2:1:1:2:50:60000007:3
2:2:1:1:2:{second}:60000007:0
"
        )
    };
    assert_eq!(verdict(&prv(50), PCF, ROW), Ok(()));
    let later = verdict(&prv(51), PCF, ROW).expect_err("two moments");
    assert!(later.contains("outside the life 50..50"), "{later}");
}

#[test]
fn damaged_text_is_refused() {
    refused("1(2:1),0\n", "1(2:1,0\n", "not a header");
    refused(
        "2:2:1:1:2:300:60000023:0\n",
        "2:2:1:1:2:300:60000023\n",
        "not a record",
    );
    refused(
        "2:2:1:1:2:300:60000023:0\n",
        "4:2:1:1:2:300:60000023:0\n",
        "not a record",
    );
    refused(
        "2:2:1:1:2:300:60000023:0\n",
        "2:2:1:1:2:-3:60000023:0\n",
        "not a record",
    );
    let cut = PRV.trim_end();
    assert!(verdict(cut, PCF, ROW).expect_err("cut").contains("cut off"));
}

#[test]
fn damaged_times_are_refused() {
    refused("2:2:1:1:2:500:", "2:2:1:1:2:390:", "time 390 after 400");
    refused(":1000_ns:", ":900_ns:", "the trace at 900");
    refused(
        "2:2:1:1:2:110:60000018:2",
        "2:2:1:1:2:99:60000018:2",
        "outside the life",
    );
}

#[test]
fn a_type_with_two_values_in_a_record_is_refused() {
    refused(
        "2:2:1:1:2:110:60000018:2",
        "2:2:1:1:2:110:60000018:2:60000018:2",
        "type 60000018 has two values",
    );
}

#[test]
fn damaged_states_are_refused() {
    refused("1:1:1:1:1:400:600:7\n", "1:1:1:1:1:400:601:7\n", "overlaps");
    refused(
        "1:1:1:1:1:400:600:7\n",
        "1:1:1:1:1:400:599:7\n",
        "leaves a gap",
    );
    refused("1:1:1:1:1:400:600:7\n", "", "leaves a gap");
    refused("1:2:1:1:2:0:100:2\n", "1:2:1:1:2:1:100:2\n", "leaves a gap");
    refused("1:1:1:1:1:600:1000:1\n", "", "the trace at 1000");
    refused(
        "1:1:1:1:1:400:600:7\n",
        "1:1:1:1:1:400:600:8\n",
        "state 8 is not in the .pcf",
    );
}

#[test]
fn damaged_constructs_are_refused() {
    refused(
        "2:2:1:1:2:300:60000023:0\n",
        "",
        "begin of type 60000023 without an end",
    );
    refused(
        "2:2:1:1:2:260:60000023:4\n",
        "",
        "end of type 60000023 without a begin",
    );
    refused(
        "2:2:1:1:2:500:60000018:0\n1:1:1:1:1:600:1000:1\n",
        "1:1:1:1:1:600:1000:1\n",
        "without an end",
    );
    let crossing = PRV.replacen("2:2:1:1:2:300:60000023:0\n", "", 1) + "2:2:1:1:2:800:60000023:0\n";
    assert!(
        verdict(&crossing, PCF, ROW)
            .expect_err("crossing")
            .contains("crosses")
    );
}

#[test]
fn open_constructs_pass_only_when_allowed() {
    let prv = PRV.replacen("2:2:1:1:2:300:60000023:0\n", "", 1).replacen(
        "2:2:1:1:2:500:60000018:0\n",
        "",
        1,
    );
    let trace = parse(&prv, PCF, ROW).expect("parses");
    assert!(check(&trace, Options::default()).is_err());
    assert_eq!(check(&trace, Options { open: true }), Ok(()));
}

#[test]
fn damaged_locks_are_refused() {
    refused("2:2:1:1:2:150:60000007:3\n", "", "goes from None to 6");
    refused("2:2:1:1:2:160:60000007:6\n", "", "goes from Some(3) to 5");
    refused("2:2:1:1:2:171:60000007:0\n", "", "stays at 5");
    refused("60000007:5", "60000007:4", "to 4");
}

#[test]
fn damaged_communications_are_refused() {
    refused(
        "2:1:1:2:250:260:7",
        "2:1:1:2:261:260:7",
        "after physical time",
    );
    refused(
        "2:1:1:2:250:260:7",
        "2:1:1:2:150:160:7",
        "before it was sent",
    );
    refused(
        "2:1:1:2:250:260:7",
        "2:1:1:2:250:1001:7",
        "outside the life",
    );
    refused(
        "3:1:1:1:1:200:200:2:1:1:2:",
        "3:1:1:1:1:200:200:2:1:1:3:",
        "no object (1, 1, 3)",
    );
}

#[test]
fn damaged_objects_and_labels_are_refused() {
    refused("2:2:1:1:2:110:", "2:3:1:1:2:110:", "no processor 3");
    refused("2:2:1:1:2:110:", "2:2:1:1:3:110:", "no object (1, 1, 3)");
    refused("2:2:1:1:2:110:", "2:2:0:1:2:110:", "no object (0, 1, 2)");
    refused(
        "60000118:5",
        "60000999:5",
        "type 60000999 is not in the .pcf",
    );
    refused("60000023:4", "60000023:9", "value 9 of type 60000023");
    let row = ROW.replace("THREAD SIZE 2\nTHREAD 1.1.1\n", "THREAD SIZE 1\n");
    assert!(
        verdict(PRV, PCF, &row)
            .expect_err("row")
            .contains("LEVEL THREAD")
    );
    let large = PRV.replacen("60000118:5", "3000000000:5", 1);
    let pcf = format!("{PCF}\nEVENT_TYPE\n9 3000000000 large\n");
    assert!(
        verdict(&large, &pcf, ROW)
            .expect_err("large")
            .contains("2^31")
    );
}
