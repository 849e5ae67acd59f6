//! Numbers for people.

/// A time with a unit: `0`, `870 ns`, `12.35 us`, `3.20 ms`, `1.25 s`.
pub fn time(ns: u64) -> String {
    let scaled = |unit: f64| ns as f64 / unit;
    match ns {
        0 => "0".into(),
        1..1_000 => format!("{ns} ns"),
        // The limits are where rounding to two decimals would give 1000.00.
        1_000..999_995 => format!("{:.2} us", scaled(1e3)),
        999_995..999_995_000 => format!("{:.2} ms", scaled(1e6)),
        _ => format!("{:.2} s", scaled(1e9)),
    }
}

/// A time and its share of `whole`: `3.20 ms  12.5%`.
pub fn share(ns: u64, whole: u64) -> String {
    if ns == 0 || whole == 0 {
        return time(ns);
    }
    format!("{}  {:>5.1}%", time(ns), ns as f64 * 100.0 / whole as f64)
}

/// A share of 1 in percent: `12.5%`.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// A whole number in groups of three: `48 211`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// A number of things: `1 thread`, `2 threads`.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", count(number))
}

/// A size with a unit: `512 B`, `1.5 KiB`, `3.2 MiB`.
pub fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    match unit {
        0 => format!("{bytes} B"),
        _ => format!("{value:.1} {}", units[unit]),
    }
}

/// At most `width` characters, the end replaced by `...`; without control characters.
pub fn elide(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return harmless(text.chars());
    }
    harmless(text.chars().take(width.saturating_sub(3))) + "..."
}

/// At most `width` characters, the middle replaced by `…`: names of one program often begin, and often end, alike.
pub fn elide_middle(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return elide(text, width);
    }
    let kept = width.saturating_sub(1);
    let (first, last) = (kept.div_ceil(2), kept / 2);
    let begin = text.chars().take(first);
    let end = text.chars().skip(length - last);
    harmless(begin) + "…" + &harmless(end)
}

/// At most `width` characters, the begin replaced by `…`.
pub fn elide_start(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return elide(text, width);
    }
    let kept = width.saturating_sub(1);
    "…".to_owned() + &harmless(text.chars().skip(length - kept))
}

/// Control characters, which names from a damaged or hostile trace may hold, do not reach the terminal.
fn harmless(text: impl Iterator<Item = char>) -> String {
    text.map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// A label whose name has at most `width` characters: arguments of templates and functions go first, then the middle. The place at its end stays.
pub fn brief(label: &str, width: usize) -> String {
    let place = label.rfind(" [").filter(|_| label.ends_with(']'));
    let (name, place) = label.split_at(place.unwrap_or(label.len()));
    let name = match name.chars().count() > width {
        true => elide_middle(&without_arguments(name), width),
        false => elide(name, width),
    };
    name + &elide(place, MAX_PLACE)
}

/// Longer places are cut.
const MAX_PLACE: usize = 200;

/// `f<…>(…)` of `f<int, long>(char)`: names of C++ without what stands in brackets. A name whose brackets do not match stays.
fn without_arguments(name: &str) -> String {
    let mut short = String::new();
    let mut depth = 0_u32;
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        // Brackets that are a part of a name.
        let whole = [
            "(anonymous namespace)",
            "operator<=>",
            "operator<<",
            "operator<",
            "operator->",
            "operator>>",
            "operator>",
            "operator()",
        ];
        if let Some(part) = whole.iter().find(|part| rest.starts_with(**part)) {
            if depth == 0 {
                short += part;
            }
            rest = &rest[part.len()..];
            continue;
        }
        match c {
            '<' | '(' => {
                if depth == 0 {
                    short.push(c);
                    short.push('…');
                }
                depth += 1;
            }
            '>' | ')' => {
                depth = match depth.checked_sub(1) {
                    Some(less) => less,
                    None => return name.to_owned(),
                };
                if depth == 0 {
                    short.push(c);
                }
            }
            _ if depth == 0 => short.push(c),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    if depth != 0 {
        return name.to_owned();
    }
    // Before a function of a template stands what it returns.
    match short.rsplit_once(' ') {
        Some((_, function)) if !short.contains("operator") && function.contains('(') => {
            function.to_owned()
        }
        _ => short,
    }
}

/// A name is cut to fewer characters than these only where even the file and line leave it no more room.
const MIN_NAME: usize = 12;

/// At most `width` characters of a label; the place in brackets at its end is kept as long as there is room for it.
pub fn shorten(label: &str, width: usize) -> String {
    let place = label.rfind(" [").filter(|_| label.ends_with(']'));
    let (name, place) = label.split_at(place.unwrap_or(label.len()));
    let room = width.saturating_sub(place.chars().count());
    if room >= MIN_NAME.min(name.chars().count()) && !place.is_empty() {
        return elide(name, room) + &elide(place, width);
    }
    // The last part of the place tells most: the file and line.
    match place.rsplit_once(' ') {
        Some((_, last)) if last.chars().count() + 6 <= width => {
            elide(name, width - last.chars().count() - 2) + " [" + &elide(last, width)
        }
        _ => elide(label, width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_the_middle_and_places_at_the_begin() {
        let name = "factorize_with_loops";
        assert_eq!(elide_middle(name, 20), name);
        assert_eq!(elide_middle(name, 13), "factor…_loops");
        assert_eq!(elide_start("a/long/path/lu.c:18", 10), "…h/lu.c:18");
        for width in 1..30 {
            for cut in [elide_middle(name, width), elide_start(name, width)] {
                assert_eq!(cut.chars().count(), width.min(20), "{cut}");
            }
        }
        assert_eq!(elide_middle("a\u{1b}[2Jbcdefghij", 9), "a?[2…ghij");
    }

    #[test]
    fn long_names_lose_their_arguments_before_anything_else() {
        let name = "void a::apply<std::map<int, b<c> >, int>(main::{lambda(double)#1}, int) [omp parallel a.cc:7]";
        assert_eq!(brief(name, 40), "a::apply<…>(…) [omp parallel a.cc:7]");
        assert_eq!(brief(name, 13), "a::app…<…>(…) [omp parallel a.cc:7]");
        assert_eq!(brief("f(int) [a.cc:7]", 40), "f(int) [a.cc:7]");
        assert_eq!(
            brief(
                "(anonymous namespace)::c::operator()<int, long>(int, long)",
                48
            ),
            "(anonymous namespace)::c::operator()<…>(…)"
        );
        let odd = "f<(<".repeat(30);
        assert_eq!(brief(&odd, 9), elide_middle(&odd, 9));
    }

    #[test]
    fn labels_keep_their_place_when_they_are_shortened() {
        let label = "factorize_with_loops [omp parallel sparselu_for.c:18]";
        assert_eq!(shorten(label, 53), label);
        assert_eq!(
            shorten(label, 45),
            "factorize... [omp parallel sparselu_for.c:18]"
        );
        assert_eq!(shorten(label, 30), "factori... [sparselu_for.c:18]");
        assert_eq!(
            shorten("create_step [omp task sparselu_task.c:38]", 38),
            "create_step [sparselu_task.c:38]"
        );
        assert_eq!(shorten("a_function_without_place", 12), "a_functio...");
        for width in 0..60 {
            assert!(shorten(label, width).chars().count() <= width.max(3));
        }
    }

    #[test]
    fn times_never_show_a_thousand_of_a_unit() {
        let shown = [
            0,
            1,
            999,
            1_000,
            999_994,
            999_995,
            1_000_000,
            999_994_999,
            999_995_000,
            61_000_000_000,
        ]
        .map(time);
        let expected = [
            "0",
            "1 ns",
            "999 ns",
            "1.00 us",
            "999.99 us",
            "1.00 ms",
            "1.00 ms",
            "999.99 ms",
            "1.00 s",
            "61.00 s",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn numbers_are_grouped_from_the_right() {
        assert_eq!(
            [0, 999, 1_000, 48_211, 1_234_567].map(count),
            ["0", "999", "1 000", "48 211", "1 234 567"]
        );
    }

    #[test]
    fn sizes_have_binary_units() {
        assert_eq!(
            [0, 1023, 1024, 1 << 20].map(size),
            ["0 B", "1023 B", "1.0 KiB", "1.0 MiB"]
        );
    }

    #[test]
    fn long_names_are_cut_at_characters() {
        assert_eq!(elide("größer", 6), "größer");
        assert_eq!(elide("größeres", 6), "grö...");
        assert_eq!(elide("\u{1b}[2Ja\nb", 20), "?[2Ja?b");
    }

    #[test]
    fn shares_are_of_the_whole() {
        assert_eq!(share(250, 1_000), "250 ns   25.0%");
        assert_eq!(share(0, 0), "0");
    }
}
