//! The screen of a terminal, and its keys.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use ratatui::DefaultTerminal;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::Paragraph;

use super::Session;
use super::picture::{Picture, Thread};
use super::process::State;
use super::text::{self, Order};
use crate::locale;

/// A look takes at most this part of the time: reading must not cost the machine what the program needs.
const PART: u32 = 10;

const KEYS: [&str; 8] = [
    "q, Ctrl-C   quit",
    "p, space    pause and go on",
    "s           sort threads: by number, state, user code, events a second",
    "arrows, j k scroll the threads",
    "Tab, n      the next process",
    "h, ?        this help, and back",
    "",
    "user: share of user code since the last picture; for: how long the thread is in its state",
];

/// What the user has chosen.
#[derive(Debug, Default)]
struct View {
    order: Order,
    paused: bool,
    help: bool,
    scroll: usize,
    process: usize,
    colour: bool,
    ascii: bool,
}

/// Shows pictures until the user quits.
pub(super) fn run(
    session: &mut Session<'_>,
    interval: Duration,
    colour: bool,
    ascii: bool,
) -> Result<()> {
    let mut terminal = ratatui::try_init().context("the terminal cannot be used")?;
    let shown = show(&mut terminal, session, interval, colour, ascii);
    ratatui::restore();
    shown
}

fn show(
    terminal: &mut DefaultTerminal,
    session: &mut Session<'_>,
    interval: Duration,
    colour: bool,
    ascii: bool,
) -> Result<()> {
    let mut view = View {
        colour,
        ascii,
        ..View::default()
    };
    let mut picture = session.look()?;
    let mut next = Instant::now() + interval;
    loop {
        terminal.draw(|frame| draw(frame, &picture, &mut view))?;
        let left = next.saturating_duration_since(Instant::now());
        if event::poll(left.max(Duration::from_millis(10)))? {
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
                && pressed(key, &mut view, picture.processes.len())
            {
                return Ok(());
            }
            continue;
        }
        if next <= Instant::now() {
            let begin = Instant::now();
            if !view.paused {
                picture = session.look()?;
            }
            next = Instant::now() + interval.max(begin.elapsed() * PART);
        }
    }
}

/// True: the user quits.
fn pressed(key: KeyEvent, view: &mut View, processes: usize) -> bool {
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return true,
        KeyCode::Char('q') => return true,
        KeyCode::Esc if view.help => view.help = false,
        KeyCode::Char('p' | ' ') => view.paused = !view.paused,
        KeyCode::Char('s') => view.order = view.order.next(),
        KeyCode::Char('h' | '?') => view.help = !view.help,
        KeyCode::Down | KeyCode::Char('j') => view.scroll = view.scroll.saturating_add(1),
        KeyCode::Up | KeyCode::Char('k') => view.scroll = view.scroll.saturating_sub(1),
        KeyCode::Tab | KeyCode::Char('n') => {
            view.process = (view.process + 1) % processes.max(1);
            view.scroll = 0;
        }
        _ => {}
    }
    false
}

fn draw(frame: &mut Frame<'_>, picture: &Picture, view: &mut View) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let own = |line: String| match view.ascii {
        true => String::from_utf8_lossy(&locale::ascii(line.as_bytes())).into_owned(),
        false => line,
    };
    let Some(line) = picture
        .processes
        .get(view.process.min(picture.processes.len().saturating_sub(1)))
    else {
        return;
    };
    let head = text::head(line);
    let bodies = text::bodies(line);
    let below = if bodies.is_empty() {
        0
    } else {
        bodies.len().min(7) as u16 + 1
    };
    let parts = Layout::vertical([
        Constraint::Length(head.len() as u16 + 1),
        Constraint::Min(3),
        Constraint::Length(below),
        Constraint::Length(1),
    ])
    .split(frame.area());
    let mut lines: Vec<Line<'_>> = head.into_iter().map(|line| Line::raw(own(line))).collect();
    if let Some(first) = lines.first_mut() {
        *first = std::mem::take(first).style(bold);
    }
    frame.render_widget(Paragraph::new(Text::from(lines)), parts[0]);
    if view.help {
        let lines: Vec<Line<'_>> = KEYS.iter().map(|line| Line::raw(*line)).collect();
        frame.render_widget(Paragraph::new(Text::from(lines)), parts[1]);
    } else {
        let rows = parts[1].height.saturating_sub(1) as usize;
        view.scroll = view.scroll.min(line.threads.len().saturating_sub(rows));
        let threads = text::sorted(line, view.order)
            .into_iter()
            .skip(view.scroll)
            .take(rows);
        let heading =
            Line::raw(text::heading()).style(Style::new().add_modifier(Modifier::UNDERLINED));
        let lines = std::iter::once(heading).chain(
            threads.map(|thread| Line::raw(own(text::thread(thread))).style(style(thread, view))),
        );
        frame.render_widget(
            Paragraph::new(Text::from(lines.collect::<Vec<_>>())),
            parts[1],
        );
    }
    let lines: Vec<Line<'_>> = std::iter::once(String::new())
        .chain(bodies)
        .map(|line| Line::raw(own(line)))
        .collect();
    frame.render_widget(Paragraph::new(Text::from(lines)), parts[2]);
    frame.render_widget(
        Paragraph::new(own(foot(picture, view))).style(bold),
        parts[3],
    );
}

fn foot(picture: &Picture, view: &View) -> String {
    let mut text = format!("q quit  p pause  s sort: {}  h help", view.order.name());
    if picture.processes.len() > 1 {
        text += &format!(
            "  Tab process {} of {}",
            view.process + 1,
            picture.processes.len()
        );
    }
    if view.paused {
        text += "  · paused";
    } else if picture
        .processes
        .iter()
        .all(|line| line.state != State::Running)
    {
        text += "  · this is all: nothing comes any more";
    }
    text
}

/// Colours repeat what the column says.
fn style(thread: &Thread, view: &View) -> Style {
    if !view.colour {
        return Style::new();
    }
    match thread.state {
        "useful" => Style::new().fg(Color::Indexed(32)),
        "synchronization" => Style::new().fg(Color::Indexed(208)),
        "scheduling" => Style::new().fg(Color::Indexed(175)),
        "flush" => Style::new().fg(Color::Indexed(220)),
        _ => Style::new().fg(Color::Indexed(245)),
    }
}
