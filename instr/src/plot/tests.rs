//! Every kind in every format, and what is refused.

use instr_trace::synth;

use crate::console::Status;
use crate::console::tests::instr;
use crate::fixture::Fixture;

fn plot(path: &str, words: &[&str]) -> (Status, Vec<u8>, String) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let out = file.path().to_str().unwrap().to_owned();
    let all: Vec<_> = ["plot", path, "-o", &out]
        .iter()
        .chain(words)
        .copied()
        .collect();
    let (status, _, err) = instr(&all);
    (status, std::fs::read(&out).unwrap_or_default(), err)
}

#[test]
fn pictures_are_what_their_format_says() {
    let fixture = Fixture::new(synth::layouts()[0]);
    for kind in ["gantt", "tdg", "efficiency", "histogram"] {
        let (status, svg, err) = plot(
            fixture.path(),
            &["--kind", kind, "--format", "svg", "--size", "100x60mm"],
        );
        assert_eq!(status, Status::Done, "{kind}: {err}");
        let svg = String::from_utf8(svg).unwrap();
        let read = roxmltree::Document::parse_with_options(
            &svg,
            roxmltree::ParsingOptions {
                allow_dtd: false,
                ..Default::default()
            },
        )
        .unwrap();
        assert_eq!(
            read.root_element().attribute("width"),
            Some("100.000mm"),
            "{kind}"
        );
        assert_eq!(
            read.root_element().attribute("height"),
            Some("60.000mm"),
            "{kind}"
        );
        let words = [
            "--kind", kind, "--format", "png", "--size", "100x60mm", "--dpi", "127",
        ];
        let (_, png, _) = plot(fixture.path(), &words);
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n", "{kind}");
        // 127 dots an inch are 5 a millimetre.
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (500, 300), "{kind}");
        let (_, pdf, _) = plot(
            fixture.path(),
            &["--kind", kind, "--format", "pdf", "--size", "100x60mm"],
        );
        assert!(pdf.starts_with(b"%PDF-"), "{kind}");
        let again = plot(
            fixture.path(),
            &["--kind", kind, "--format", "pdf", "--size", "100x60mm"],
        )
        .1;
        assert!(pdf == again, "{kind}: the same trace gives the same bytes");
    }
}

/// Area of the boxes of a colour.
fn area(svg: &str, colour: &str) -> f64 {
    let read = roxmltree::Document::parse(svg).unwrap();
    let number = |node: &roxmltree::Node<'_, '_>, name| {
        node.attribute(name)
            .and_then(|text| text.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let boxes = read
        .descendants()
        .filter(|node| node.attribute("fill") == Some(colour));
    boxes
        .map(|node| number(&node, "width") * number(&node, "height"))
        .sum()
}

#[test]
fn a_gantt_chart_has_the_area_of_its_states() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let (_, svg, _) = plot(
        fixture.path(),
        &["--kind", "gantt", "--format", "svg", "--size", "1000x400mm"],
    );
    let svg = String::from_utf8(svg).unwrap();
    let (_, json, _) = instr(&["summary", "--json", fixture.path()]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let time = |name: &str| -> f64 {
        let threads = json["threads"].as_array().unwrap().iter();
        threads.map(|thread| thread[name].as_f64().unwrap()).sum()
    };
    // The legend's squares are small beside the rows.
    let (useful, waiting) = (area(&svg, "#0072B2"), area(&svg, "#E69F00"));
    let wanted = time("useful_ns") / time("sync_ns");
    assert!(
        (useful / waiting / wanted - 1.0).abs() < 0.05,
        "{} instead of {wanted}",
        useful / waiting
    );
}

/// A sweep on 1, 2 and 4 threads: 8, 4 and 8/3 s for `a`, so that its speedup is 1, 2 and 3; 1, 1 and 1 s for `b`.
fn sweep(dir: &std::path::Path) {
    let config = "command = ['app']\nthreads = [1, 2, 4]\ninputs = ['a', 'b']";
    std::fs::write(dir.join("sweep.toml"), config).unwrap();
    let mut runs = String::new();
    for (input, times) in [("a", [8.0, 4.0, 8.0 / 3.0]), ("b", [1.0; 3])] {
        for (threads, seconds) in [1, 2, 4].iter().zip(times) {
            for repeat in 0..5 {
                let seconds = seconds * (0.98 + 0.01 * f64::from(repeat));
                runs += &format!(
                    "{{\"input\":\"{input}\",\"threads\":{threads},\"repeat\":{repeat},\"begin_ns\":1,\"seconds\":{seconds},\"user_seconds\":1,\"system_seconds\":0,\"resident_bytes\":1}}\n"
                );
            }
        }
    }
    std::fs::write(dir.join("runs.jsonl"), runs).unwrap();
}

#[test]
fn a_sweep_has_curves_and_a_map_where_its_numbers_are() {
    let dir = tempfile::tempdir().unwrap();
    sweep(dir.path());
    let path = dir.path().to_str().unwrap();
    let svg = |words: &[&str]| {
        let words = [words, &["--format", "svg"]].concat();
        let (status, svg, err) = plot(path, &words);
        assert_eq!(status, Status::Done, "{words:?}: {err}");
        String::from_utf8(svg).unwrap()
    };
    let speedup = svg(&["--kind", "speedup"]);
    let read = roxmltree::Document::parse(&speedup).unwrap();
    let number = |node: &roxmltree::Node<'_, '_>, name| -> f64 {
        node.attribute(name).unwrap().parse().unwrap()
    };
    let dots: Vec<(f64, f64)> = read
        .descendants()
        .filter(|node| node.has_tag_name("circle"))
        .map(|node| (number(&node, "cx"), number(&node, "cy")))
        .collect();
    let [a1, a2, a4, b1, b2, b4] = dots[..] else {
        panic!("six dots: {dots:?}")
    };
    let near = |one: f64, other: f64| (one - other).abs() <= 2.0;
    // Threads double from mark to mark, and the speedups of `a` are 1, 2, 3; those of `b` are 1.
    assert!(
        near(a4.0 - a2.0, a2.0 - a1.0) && near(a1.1 - a2.1, a2.1 - a4.1),
        "{dots:?}"
    );
    assert!(
        a4.0 > a2.0 && a4.1 < a2.1 && near(b1.1, b4.1) && near(a1.1, b2.1),
        "{dots:?}"
    );
    // 0 is as far below as 2 is above 1.
    let text = |svg: &str, wanted: &str| {
        let read = roxmltree::Document::parse(svg).unwrap();
        let found = read.descendants().find(|node| {
            node.has_tag_name("text") && node.text().is_some_and(|text| text.trim() == wanted)
        });
        found.map(|node| number(&node, "y"))
    };
    let zero = text(&speedup, "0").unwrap();
    assert!(
        (zero - a1.1 - (a1.1 - a2.1)).abs() < 20.0,
        "{zero} {dots:?}"
    );
    for kind in ["time", "efficiency"] {
        let drawn = svg(&["--kind", kind]);
        assert_eq!(drawn.matches("<circle").count(), 6, "{kind}");
    }
    let map = svg(&["--kind", "map"]);
    for cell in ["100.0", "75.0", "50.0", "25.0"] {
        assert!(text(&map, cell).is_some(), "{cell}: {map}");
    }
    assert!(text(&map, "a").is_some() && text(&map, "b").is_some());
    for (words, status, told) in [
        (&["--kind", "gantt"][..], Status::Usage, "this is a sweep"),
        (
            &["--kind", "map", "--from", "1ms"],
            Status::Usage,
            "no time line",
        ),
        (
            &["--kind", "map", "--region", "x"],
            Status::Refused,
            "no region with `x`",
        ),
        (
            &["--kind", "map", "--by", "thread"],
            Status::Usage,
            "for --kind cores",
        ),
    ] {
        let (found, _, err) = plot(path, words);
        assert!(found == status && err.contains(told), "{words:?}: {err}");
    }
    let fixture = Fixture::new(synth::layouts()[0]);
    let (status, _, err) = plot(fixture.path(), &["--kind", "speedup"]);
    assert!(
        status == Status::Usage && err.contains("of sweeps"),
        "{err}"
    );
}

#[test]
fn what_a_trace_does_not_have_is_named_with_what_records_it() {
    let fixture = Fixture::new(synth::layouts()[0]);
    for (kind, told) in [
        ("cores", "`instr run PROGRAM` records it"),
        ("power", "INSTR_SENSORS"),
        ("memory", "--instr-memory"),
    ] {
        let (status, out, err) = plot(fixture.path(), &["--kind", kind, "--format", "svg"]);
        assert_eq!((status, out.len()), (Status::Refused, 0), "{kind}");
        assert!(err.contains(told), "{kind}: {err}");
    }
    for words in [
        &["--kind", "tdg", "--from", "1us"][..],
        &["--kind", "memory", "--thread", "0"],
        &["--kind", "gantt", "--size", "1x1mm"],
        &["--kind", "nothing"],
    ] {
        let (status, ..) = plot(fixture.path(), words);
        assert_eq!(status, Status::Usage, "{words:?}");
    }
    let (status, _, err) = instr(&["plot", fixture.path(), "--kind", "gantt", "-o", "x.gif"]);
    assert_eq!(status, Status::Usage);
    assert!(err.contains(".gif is none of .svg, .png, .pdf"), "{err}");
}
