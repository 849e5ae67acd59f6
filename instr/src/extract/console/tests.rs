//! Consoles whose text can be written by hand.

mod damage;

use super::*;

/// The characters of a line, from the first number on.
fn line(seq: u32, kind: char, id: u32, total: u32, offset: u32, payload: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = format!(
        "{seq:08x}{kind}{id:08x}{total:08x}{offset:08x}{:02x}",
        payload.len()
    );
    for group in payload.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit <= group.len() {
                let at = (word >> (18 - 6 * digit) & 63) as usize;
                text.push(char::from(DIGITS[at]));
            } else {
                text.push('=');
            }
        }
    }
    let sum = crc32fast::hash(text.as_bytes());
    format!("{text}{sum:08x};")
}

fn run(text: &str, number: Option<usize>) -> (tempfile::TempDir, Result<Extracted>) {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("log");
    std::fs::write(&input, text).unwrap();
    let result = extract(&input, &dir.path().join("out"), number);
    (dir, result)
}

fn whole(name: &str, packet: &[u8]) -> String {
    let head = "~instr1:";
    let meta = b"/* CTF 1.8 */";
    let (count, sum) = (meta.len() as u32, crc32fast::hash(meta));
    [
        line(0, 'O', 0, name.len() as u32, 0, name.as_bytes()),
        line(1, 'M', 0, 0, 0, meta),
        line(2, 'M', sum, count, count, b""),
        line(3, 'P', 7, packet.len() as u32, 0, packet),
        line(4, 'E', 0, 1, 0, b"0000000000000000"),
    ]
    .map(|line| format!("noise{head}{line} more noise\r\n"))
    .concat()
}

#[test]
fn lines_are_found_among_other_text() {
    let (dir, result) = run(&whole("app.exe", b"packet"), None);
    let extracted = result.unwrap();
    assert_eq!(extracted.program, "app.exe");
    assert_eq!(extracted.losses, Losses::default());
    let out = dir.path().join("out");
    assert_eq!(std::fs::read(out.join("thread_0007")).unwrap(), b"packet");
    assert_eq!(
        std::fs::read(out.join("metadata")).unwrap(),
        b"/* CTF 1.8 */"
    );
    assert_eq!(std::fs::read_dir(out).unwrap().count(), 2);
}

#[test]
fn the_last_of_several_traces_is_taken_unless_another_is_wanted() {
    let text = whole("first", b"one") + &whole("second", b"two");
    for (number, name, packet) in [(None, "second", b"two"), (Some(1), "first", b"one")] {
        let (dir, result) = run(&text, number);
        let extracted = result.unwrap();
        assert_eq!(extracted.program, name);
        assert_eq!(extracted.losses.other_traces, 1);
        let found = std::fs::read(dir.path().join("out/thread_0007")).unwrap();
        assert_eq!(found, packet);
    }
    let error = run(&text, Some(3)).1.unwrap_err().to_string();
    assert!(error.contains("it holds 2 trace(s), not 3"), "{error}");
}

#[test]
fn a_changed_character_is_told_with_its_line() {
    let text = whole("app", b"packet").replace("noise~", "\u{7f}~");
    let at = text.rmatch_indices(';').nth(1).unwrap().0 - 12;
    let mut bytes = text.into_bytes();
    bytes[at] ^= 1;
    let (_dir, result) = run(&String::from_utf8(bytes).unwrap(), None);
    let losses = result.unwrap().losses;
    assert_eq!(losses.count, 1);
    assert!(losses.places[0].starts_with("line 4: a line of the trace is ignored"));
}

#[test]
fn without_metadata_nothing_can_be_read() {
    let text = whole("app", b"packet").replace("1M0", "1X0");
    let error = run(&text, None).1.unwrap_err().to_string();
    assert!(error.contains("no complete metadata"), "{error}");
}

/// Seven lines: name, metadata and its end, a packet of thread 7 in two lines, one of thread 8, and the end.
fn lines() -> Vec<String> {
    let long: Vec<u8> = (0..200).collect();
    let meta = b"/* CTF 1.8 */";
    let (count, sum) = (meta.len() as u32, crc32fast::hash(meta));
    [
        line(0, 'O', 0, 3, 0, b"app"),
        line(1, 'M', 0, 0, 0, meta),
        line(2, 'M', sum, count, count, b""),
        line(3, 'P', 7, 200, 0, &long[..120]),
        line(4, 'P', 7, 200, 120, &long[120..]),
        line(5, 'P', 8, 6, 0, b"packet"),
        line(6, 'E', 0, 1, 0, b"0000000000000000"),
    ]
    .map(|line| format!("~instr1:{line}\n"))
    .to_vec()
}

/// Text, places, lost packets; and the bytes of both threads that come through.
fn expect(text: &str, places: &[&str], packets: u64, bytes: [usize; 2]) {
    let (dir, result) = run(text, None);
    let losses = result.unwrap().losses;
    assert_eq!(losses.places, places, "{text}");
    assert_eq!(losses.count, places.len() as u64);
    assert_eq!((losses.packets, losses.other_traces), (packets, 0));
    let long: Vec<u8> = (0..200).collect();
    for ((name, all), bytes) in [("thread_0007", &long[..]), ("thread_0008", b"packet")]
        .into_iter()
        .zip(bytes)
    {
        let found = std::fs::read(dir.path().join("out").join(name)).unwrap_or_default();
        assert_eq!(found, &all[..bytes], "{text}");
    }
}

const WHOLE: [usize; 2] = [200, 6];

#[test]
fn ends_of_lines_and_terminals_cost_nothing() {
    let text = lines().concat();
    for end in ["\n", "\r\n", "\r\r\n", "\n\r", "\r", "\r\n\r\n", "\0\n"] {
        expect(&text.replace('\n', end), &[], 0, WHOLE);
    }
    for width in [20, 43, 72, 80, 132] {
        let wrapped: Vec<String> = text
            .lines()
            .flat_map(|line| line.as_bytes().chunks(width))
            .map(|piece| format!("{}\r\n", std::str::from_utf8(piece).unwrap()))
            .collect();
        expect(&wrapped.concat(), &[], 0, WHOLE);
    }
    // In one line, also one that is longer than what is looked at in one piece.
    expect(&text.replace('\n', ""), &[], 0, WHOLE);
    for gap in [65_400, 65_500, 65_530, 65_536] {
        let gap = " ".repeat(gap);
        expect(&text.replace('\n', &gap), &[], 0, WHOLE);
    }
}

#[test]
fn colours_and_flow_control_cost_nothing() {
    let lines = lines().into_iter().map(|line| {
        let (begin, end) = line.trim_end().split_at(line.len() / 2);
        format!("\x1b[1;32m12:00:01 \x1b[0m{begin}\x1b[K\x13\x11{end}\x1b[0m\n")
    });
    expect(&lines.collect::<String>(), &[], 0, WHOLE);
}

#[test]
fn each_damage_is_told_once_with_its_line() {
    const IGNORED: &str = "a line of the trace is ignored";
    let with = |at: usize, change: fn(&str) -> String| {
        let mut lines = lines();
        lines[at] = change(&lines[at]);
        lines.concat()
    };
    let wrong = |line: u32| format!("line {line}: {IGNORED}: its checksum is wrong");
    let cut = |line: u32| format!("line {line}: {IGNORED}: the line is cut short");
    // Bytes that are missing in the middle, at the end; other output in it costs nothing.
    let lost = with(4, |l| format!("{}{}", &l[..60], &l[90..]));
    expect(&lost, &[&cut(5)], 1, [0, 6]);
    let lost = with(3, |l| format!("{}\n", &l[..100]));
    expect(&lost, &[&cut(4)], 1, [0, 6]);
    let mixed = with(3, |l| format!("{}[board] a tick {}", &l[..100], &l[100..]));
    expect(&mixed, &[], 0, WHOLE);
    let mixed = with(5, |l| format!("{}[board] a tick\r\n{}", &l[..50], &l[50..]));
    expect(&mixed, &[], 0, WHOLE);
    // Two next to each other are two places, and nothing more.
    let mut two = lines();
    two[3] = two[3].replace("P0", "p0");
    two[4] = two[4].replace("P0", "p0");
    expect(&two.concat(), &[&wrong(4), &wrong(5)], 0, [0, 6]);
    // Lines that are not there at all.
    let gone = with(3, |_| "noise\n".to_owned());
    let missing = "line 5: 1 line of the trace missing before it";
    expect(&gone, &[missing], 1, [0, 6]);
    // The first line.
    let first = with(0, |l| l.replacen("O", "o", 1));
    expect(&first, &[&wrong(1)], 0, WHOLE);
}

#[test]
fn lines_that_come_twice_or_late_are_left_out() {
    const IGNORED: &str = "a line of the trace is ignored";
    for at in 0..6 {
        let mut twice = lines();
        twice.insert(at, twice[at].clone());
        let told = format!("line {}: {IGNORED}: it comes again", at + 2);
        expect(&twice.concat(), &[&told], 0, WHOLE);
    }
    let mut late = lines();
    late.swap(4, 5);
    let told = [
        "line 5: 1 line of the trace missing before it",
        &format!("line 6: {IGNORED}: it comes after later ones"),
    ];
    expect(&late.concat(), &told, 1, [0, 6]);
}

#[test]
fn a_log_that_ends_in_a_line_keeps_what_was_before() {
    let text = lines().concat();
    let end = text.rfind("~instr1:").unwrap();
    let end = text[..end].rfind("~instr1:").unwrap();
    let missing = "the end of the trace is missing: the program was stopped, or the log is";
    let told = [
        "line 6: a line of the trace is ignored: the line is cut short",
        missing,
    ];
    for left in [20, 50, 59] {
        expect(&text[..end + left], &told, 0, [200, 0]);
    }
    expect(&text[..end + 4], &[missing], 0, [200, 0]);
}

#[test]
fn the_next_run_of_the_same_program_is_another_trace() {
    let run_of = || lines().concat();
    for second in [run_of(), lines()[..5].concat()] {
        let (_dir, result) = run(&(run_of() + &second), None);
        let losses = result.unwrap().losses;
        let ends = u64::from(!second.ends_with(&lines()[6]));
        assert_eq!((losses.count, losses.other_traces), (ends, 1));
    }
}

#[test]
fn any_text_gives_an_answer() {
    for text in [
        "",
        "~instr1:",
        "~instr1:~instr1:",
        "~instr1:00000000P",
        "\0\0\0",
    ] {
        assert!(run(text, None).1.is_err(), "{text}");
    }
}
