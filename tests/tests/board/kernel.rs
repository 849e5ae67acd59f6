//! What a kernel forbids and what a board has not: locks that sleep, interrupts that wait, clocks of a dying system, memory for all.

use std::collections::BTreeMap;
use std::path::Path;

use instr_tests::board::{Board, Host, Sources};
use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::workspace;
use instr_trace::{Payload, Trace};

use super::summary;

const OWN: &str = "sink = \"own\"\nbuffer = \"16K\"\n[image]\npool = \"2M\"\n";

fn build(board: &Board, config: &str, files: &[&str], flags: &[&str]) -> Check<std::path::PathBuf> {
    let include = format!("-I{}", workspace::root()?.join("runtime").display());
    let mut all = vec!["-pthread", "-Wno-pedantic", include.as_str()];
    all.extend_from_slice(flags);
    board.build_sources(Sources {
        config,
        files,
        flags: &all,
        heap: false,
    })
}

fn reported(board: &Board, name: &str) -> Check<u64> {
    let report = std::fs::read_to_string(board.path("report"))?;
    let value = report.lines().find_map(|line| line.strip_prefix(name));
    Ok(value.ok_or_else(|| format!("no {name}"))?.trim().parse()?)
}

/// User events of a trace by their kind.
fn user_events(trace: &Trace) -> Check<BTreeMap<u32, u64>> {
    let (mut merge, mut counts) = (trace.merge(), BTreeMap::new());
    while let Some(event) = merge.next()? {
        if let Payload::UserEvent { kind, .. } = event.payload {
            *counts.entry(kind).or_default() += 1;
        }
    }
    Ok(counts)
}

/// Eight threads ask for the runtime's lock at once, and whoever has it keeps it for 2 ms: no thread sleeps for a clock tick.
pub(crate) fn attaching(host: Host) -> Check {
    let board = Board::new(host, "board-attach")?;
    let files = ["board/attach.c", "board/slow_sink.c"];
    let built = build(&board, OWN, &files, &[])?;
    board.run_words(&built, &[])?;
    // When the trace is closed, the thread that does it waits for others once.
    let sleeps = reported(&board, "sleeps ")?;
    ensure(sleeps <= 1, || {
        format!("{sleeps} sleeps for whole clock ticks")
    })?;
    let trace = Trace::open(board.path("files.instr"))?;
    ensure(user_events(&trace)? == BTreeMap::from([(7, 160)]), || {
        "events are missing".to_owned()
    })?;
    let mut names: Vec<&str> = trace.threads().iter().map(|t| t.name.as_str()).collect();
    names.sort_unstable();
    let expected: Vec<String> = (0..8).map(|n| format!("worker-{n}")).collect();
    ensure(names[0] == "main" && names[1..] == expected[..], || {
        format!("{names:?}")
    })
}

/// Each event of an interrupt is in the trace or counted as lost, and nothing waits or writes there.
pub(crate) fn interrupts(host: Host) -> Check {
    let board = Board::new(host, "board-interrupts")?;
    let files = ["board/timer_events.c", "board/slow_sink.c"];
    for policy in ["end", "stream"] {
        let config = format!("policy = \"{policy}\"\n{}", OWN.replace("16K", "64K"));
        let built = build(&board, &config, &files, &[])?;
        let said = board.run_words(&built, &[])?.text();
        let said: Vec<u64> = said.split_whitespace().flat_map(str::parse).collect();
        let [fired, brief] = said[..] else {
            return Err(format!("{said:?}").into());
        };
        let trace = Trace::open(board.path("files.instr"))?;
        let counts = user_events(&trace)?;
        let kept = counts.values().sum::<u64>();
        ensure(fired > 20 && counts.get(&903) == Some(&brief), || {
            format!("{fired} fired, {counts:?}")
        })?;
        ensure(kept + trace.discarded() == fired + brief, || {
            format!(
                "{kept} kept and {} lost of {fired} and {brief}, {policy}",
                trace.discarded()
            )
        })?;
        ensure(reported(&board, "writes-in-interrupts ")? == 0, || {
            "a full window was written in an interrupt".to_owned()
        })?;
    }
    Ok(())
}

/// The clock of what a fatal error leaves: that of the board, not one that stands still.
pub(crate) fn times_after_fatal(host: Host) -> Check {
    let board = Board::new(host, "board-late")?;
    for (sink, from) in [("console", "console"), ("ram", "image")] {
        let config = format!(
            "policy = \"end\"\nbuffer = \"16K\"\nsink = \"{sink}\"\n[image]\npool = \"1M\"\n"
        );
        let built = build(&board, &config, &["board/late.c"], &[])?;
        board.run_fatal(&built, ["", ""], "exit")?;
        board.extract(from, "left.instr")?;
        let trace = Trace::open(board.path("left.instr"))?;
        let frequency = trace.metadata().clock.freq;
        ensure(frequency.abs_diff(250_000_000) < 2_500_000, || {
            format!("{sink}: {frequency} Hz")
        })?;
        let told = summary(&board.path("left.instr"))?;
        let region = &told["regions"][0];
        let mean = region["total_ns"].as_u64().unwrap_or(0) / 3;
        // A busy machine takes longer, a wrong clock is off by a factor.
        ensure(
            region["count"] == 3 && (99_000_000..400_000_000).contains(&mean),
            || format!("{sink}: {region}"),
        )?;
    }
    Ok(())
}

/// What the console has printed when main begins: the program's name, and metadata only if packets may follow at any time. At the end the
/// metadata is there three times.
pub(crate) fn late_metadata(host: Host) -> Check {
    let board = Board::new(host, "board-console")?;
    for (policy, before, behind) in [("end", 0, 3), ("stream", 1, 3)] {
        let config = format!(
            "policy = \"{policy}\"\nbuffer = \"16K\"\nsink = \"console\"\n[image]\npool = \"1M\"\n"
        );
        let built = build(&board, &config, &["board/late.c"], &[])?;
        board.run_words(&built, &[])?;
        let console = std::fs::read_to_string(board.path("console"))?;
        let (early, late) = console
            .split_once("main begins")
            .ok_or("main never began")?;
        let ours = |text: &str| {
            text.lines()
                .filter(|line| line.contains("~instr1:"))
                .count()
        };
        // Of a line without a payload, which ends a copy.
        let copies = |text: &str| {
            let kind = |line: &&str| {
                line.split_once("~instr1:").is_some_and(|(_, line)| {
                    line.get(8..9) == Some("M") && line.get(33..35) == Some("00")
                })
            };
            text.lines().filter(kind).count()
        };
        ensure((copies(early), copies(late)) == (before, behind), || {
            format!("{} and {} copies, {policy}", copies(early), copies(late))
        })?;
        ensure(ours(early) <= 1 + before * 15, || {
            format!("{} lines before main, {policy}", ours(early))
        })?;
        board.extract("console", "console.instr")?;
    }
    Ok(())
}

/// What the console says of its events is what there is of them, whatever becomes of full buffers: a line without events is lost, then one with.
pub(crate) fn told_events(host: Host) -> Check {
    let board = Board::new(host, "board-told")?;
    for policy in ["end", "stream", "ring"] {
        let config = format!(
            "policy = \"{policy}\"\nbuffer = \"8K\"\nsink = \"console\"\n[image]\npool = \"1M\"\n"
        );
        let built = board.build_plain_sinks(&config, "sparselu_task", "")?;
        board.run(&built, &[])?;
        let whole = std::fs::read_to_string(board.path("console"))?;
        board.extract("console", "whole.instr")?;
        let all = all_events(&board.path("whole.instr"))?;
        for kind in ["M", "P"] {
            let is_kind = |line: &&str| {
                line.split_once("~instr1:")
                    .is_some_and(|(_, line)| line.get(8..9) == Some(kind))
            };
            let last = whole.lines().rfind(is_kind).ok_or("no such line")?;
            std::fs::write(board.path("console"), whole.replace(last, ""))?;
            board.extract("console", "left.instr")?;
            let left = all_events(&board.path("left.instr"))?;
            let lost = Trace::open(board.path("left.instr"))?
                .metadata()
                .lost_events;
            ensure(
                lost == Some(all - left) && (kind == "M") == (lost == Some(0)),
                || {
                    format!(
                        "{left} of {all} events are left, {lost:?} are told as lost, {policy} {kind}"
                    )
                },
            )?;
        }
    }
    Ok(())
}

/// Events of all streams.
pub(crate) fn all_events(dir: &Path) -> Check<u64> {
    let trace = Trace::open(dir)?;
    let (mut merge, mut count) = (trace.merge(), 0);
    while let Some(event) = merge.next()? {
        count += u64::from(event.payload.id() != 0);
    }
    for number in 0..trace.processors() {
        let mut stream = trace.processor(number).ok_or("no stream")?;
        while stream.next()?.is_some() {}
        count += stream.events();
    }
    Ok(count)
}

/// Where there is no memory for the streams of processors, their switches are counted and the reason is told; where they are not asked
/// for, the kernel is not asked to tell them.
pub(crate) fn no_switches(host: Host) -> Check {
    let board = Board::new(host, "board-switches")?;
    let config = |more: &str, pool: &str| {
        format!(
            "policy = \"end\"\nbuffer = \"16K\"\nsink = \"console\"\n{more}[image]\npool = \"{pool}\"\n"
        )
    };
    let built = build(&board, &config("", "64K"), &["board/late.c"], &[])?;
    board.run_words(&built, &[])?;
    board.extract("console", "few.instr")?;
    let trace = Trace::open(board.path("few.instr"))?;
    let trouble = trace.metadata().setting_trouble.clone().unwrap_or_default();
    ensure(
        (1..4).contains(&trace.processors())
            && trouble.contains("no memory for the context switches"),
        || format!("{} processors: {trouble:?}", trace.processors()),
    )?;
    let mut kept = 0_u64;
    for number in 0..trace.processors() {
        let mut stream = trace.processor(number).ok_or("no stream")?;
        while let Some(event) = stream.next()? {
            let is_switch =
                matches!(event.payload, Payload::ThreadSwitch { from, to, .. } if from != to);
            kept += u64::from(is_switch);
        }
    }
    // The board's processors all switch at each tick, but for the first and the last one that are recorded.
    let with = trace.processors() as u64;
    let told = trace.discarded() * with;
    ensure(kept > 20 && told.abs_diff(kept * (4 - with)) <= 16, || {
        format!(
            "{} lost, {kept} kept on {with} processors",
            trace.discarded()
        )
    })?;
    let built = build(
        &board,
        &config("switches = false\n", "1M"),
        &["board/late.c"],
        &[],
    )?;
    board.run_words(&built, &[])?;
    ensure(reported(&board, "switch-extension ")? == 0, || {
        "the kernel calls the runtime at each switch".to_owned()
    })
}

/// Eight threads emit 20 events each where there is memory for the windows of a few: each event is in the image or counted as lost.
pub(crate) fn no_windows(host: Host) -> Check {
    let board = Board::new(host, "board-windows")?;
    for (pool, most) in [("64K", 3), ("128K", 7), ("512K", 9)] {
        let config = format!(
            "policy = \"end\"\nbuffer = \"16K\"\nsink = \"ram\"\nswitches = false\n[image]\npool = \"{pool}\"\n"
        );
        let built = build(&board, &config, &["board/attach.c"], &[])?;
        board.run_words(&built, &[])?;
        board.extract("image", "image.instr")?;
        let trace = Trace::open(board.path("image.instr"))?;
        let kept = user_events(&trace)?.get(&7).copied().unwrap_or(0);
        let lost = trace.discarded();
        ensure(trace.threads().len() <= most, || {
            format!("{pool}: {} threads have windows", trace.threads().len())
        })?;
        ensure(
            kept + lost == 160 && (lost == 0) == (pool == "512K"),
            || format!("{pool}: {kept} kept and {lost} lost of 160"),
        )?;
    }
    Ok(())
}

/// Address and bytes of the functions of a program.
fn functions(program: &Path) -> Check<BTreeMap<String, std::ops::Range<u64>>> {
    let text = Run::new("sparc64-linux-gnu-nm")
        .arg("-S")
        .arg(program)
        .succeed()?
        .text();
    let mut found = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [address, bytes, _, name] = words[..] {
            let (address, bytes) = (
                u64::from_str_radix(address, 16)?,
                u64::from_str_radix(bytes, 16)?,
            );
            found.insert(name.to_owned(), address..address + bytes);
        }
    }
    Ok(found)
}

/// Code that begins at address 0, as the linker scripts of boards say whose memory does: functions without a frame have callers.
pub(crate) fn leaf_functions() -> Check {
    let board = Board::new(Host::Sparc32, "board-leaf")?;
    let config = "policy = \"end\"\nbuffer = \"64K\"\nsink = \"ram\"\nsampling_period = \"2ms\"\n[image]\npool = \"1M\"\n";
    let at_0 = [
        "-Wl,--defsym=__executable_start=0",
        "-Wl,--defsym=_text_start=0",
    ];
    let built = build(&board, config, &["board/leaf.c"], &at_0)?;
    board.run_words(&built, &[])?;
    board.extract("image", "image.instr")?;
    let functions = functions(&built)?;
    let (leaf, caller) = (&functions["leaf"], &functions["caller"]);
    let trace = Trace::open(board.path("image.instr"))?;
    let (mut merge, mut taken, mut called) = (trace.merge(), 0_u32, 0_u32);
    while let Some(event) = merge.next()? {
        if let Payload::Sample { pc, mut stack, .. } = event.payload
            && leaf.contains(&pc)
        {
            taken += 1;
            called += u32::from(stack.next().is_some_and(|at| caller.contains(&at)));
        }
    }
    ensure(taken >= 8 && called * 10 >= taken * 9, || {
        format!("{called} of {taken} samples in the leaf function tell its caller")
    })
}

/// What the porting guide says to type into gdb gives the image.
pub(crate) fn dump_by_gdb() -> Check {
    let board = Board::new(Host::X86_64, "board-gdb")?;
    let config = "policy = \"end\"\nbuffer = \"16K\"\nsink = \"ram\"\n[image]\npool = \"512K\"\n";
    let built = build(&board, config, &["board/late.c"], &[])?;
    let guide = std::fs::read_to_string(workspace::root()?.join("docs/porting.md"))?;
    let (_, command) = guide
        .split_once("`dump binary memory ")
        .ok_or("no command")?;
    let (command, _) = command.split_once('`').ok_or("no end of it")?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let [name, from, to] = words[..] else {
        return Err(format!("{words:?}").into());
    };
    // gdb takes symbols without a type by their address alone.
    let symbols = Run::new("nm").arg(&built).succeed()?.text();
    let address = |of: &str| -> Check<u64> {
        let symbol = of.strip_prefix('&').ok_or("not an address of a symbol")?;
        let line = symbols
            .lines()
            .find(|line| line.ends_with(&format!(" {symbol}")));
        let line = line.ok_or_else(|| format!("the program has no {symbol}"))?;
        Ok(u64::from_str_radix(
            line.split(' ').next().unwrap_or(""),
            16,
        )?)
    };
    ensure(address(to)? - address(from)? == 512 << 10, || {
        "the command does not dump the pool".to_owned()
    })?;
    if !instr_test_needs::installed("gdb") {
        return Ok(());
    }
    Run::new("gdb")
        .args(["-batch", "-nx", "-ex", "break _exit", "-ex", "run", "-ex"])
        .arg(format!(
            "dump binary memory {} {from} {to}",
            board.path(name).display()
        ))
        .arg(&built)
        .env("BOARD_REPORT", board.path("report"))
        .succeed()?;
    board.extract(name, "dumped.instr")?;
    let told = summary(&board.path("dumped.instr"))?;
    ensure(told["regions"][0]["count"] == 3, || format!("{told}"))
}
