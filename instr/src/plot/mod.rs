//! `instr plot`: figures for papers. `docs/plot.md` says what each shows.
//!
//! | module | job |
//! |---|---|
//! | `picture` | a drawing in millimetres, and its formats: SVG, PNG, PDF |
//! | `series` | panels below processors |
//! | `gantt`, `cores`, `lanes`, `efficiency`, `histogram`, `tdg` | one kind, or two, each |
//! | `sweep` | the kinds of sweeps |

mod cores;
mod efficiency;
mod gantt;
mod histogram;
mod lanes;
mod picture;
mod series;
mod sweep;
mod tdg;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use instr_trace::{Names, Session};

use crate::cli::{PlotFormat, PlotKind, PlotOptions};
use crate::console::{Console, NO_OUTPUT, Refusal, WrongUsage};
use crate::output::{is_folder, write_to};
use crate::progress::Progress;
use crate::report::timeline::part::{Row, View, Window, view};
use crate::sweep::is_sweep;
use crate::symbols::{as_names, of_session, open_readable, program_name};
use crate::timeline::select;
use picture::Picture;

/// Width and height unless the user says otherwise, mm.
const SIZE: (f64, f64) = (160.0, 90.0);

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, traces that lack what is to be drawn, and failures to write.
pub fn run(options: &PlotOptions, console: &mut Console<'_>) -> Result<()> {
    let format = format(options)?;
    let size = options.size.unwrap_or(SIZE);
    if let [dir] = &options.traces[..]
        && is_sweep(dir)
    {
        of_cores_only(options)?;
        let picture = sweep::draw(dir, options, size, console)?;
        let folder = std::path::absolute(dir).unwrap_or_else(|_| dir.clone());
        let name = folder.file_stem().unwrap_or_default();
        return write(&picture, name, (options, format), console);
    }
    if sweep::is_of_sweeps(options.kind) {
        let why = "this kind is of sweeps: name the folder that `instr sweep` has made, as in instr plot app.sweep --kind speedup";
        return Err(WrongUsage(why.to_owned()).into());
    }
    whole_only(options)?;
    let (session, refused) = open_readable(&options.traces, console)?;
    let picture = draw(&session, options, size, console)?;
    let name = program_name(&session);
    write(&picture, name, (options, format), console)?;
    refused.map_or(Ok(()), Err)
}

/// Writes the picture into the file that was asked for, or one called after `name`.
fn write(
    picture: &Picture,
    name: &OsStr,
    (options, format): (&PlotOptions, PlotFormat),
    console: &mut Console<'_>,
) -> Result<()> {
    let own = default_name(name, options.kind, format);
    let path = match options.output.as_deref() {
        Some(path) if is_folder(path) => path.join(own),
        Some(path) => path.to_owned(),
        None => own,
    };
    let bytes = picture
        .bytes(format, options.dpi)
        .with_context(|| format!("cannot draw {}", path.display()))?;
    write_to(&path, console, |out| Ok(out.write_all(&bytes)?))?;
    if path != Path::new("-") {
        let (width, height) = picture.size();
        writeln!(
            console.out,
            "{}: {width:.0} x {height:.0} mm",
            path.display()
        )
        .context(NO_OUTPUT)?;
    }
    Ok(())
}

fn draw(
    session: &Session,
    options: &PlotOptions,
    size: (f64, f64),
    console: &mut Console<'_>,
) -> Result<Picture> {
    match options.kind {
        PlotKind::Cores => return cores::draw(options, size, console),
        PlotKind::Tdg => return tdg::draw(session, options, console),
        PlotKind::Efficiency => return efficiency::draw(session, options, size, console),
        _ => {}
    }
    let symbols = of_session(session, &options.symbols);
    let names = as_names(&symbols);
    let drawn = match options.kind {
        PlotKind::Gantt => gantt::draw(session, &names, options, size, console),
        PlotKind::Histogram => histogram::draw(session, &names, options, size, console),
        _ => lanes::draw(session, &names, options, size, console),
    };
    for trace in session.traces() {
        crate::symbols::warn_of_unreadable(trace, console);
    }
    symbols.iter().for_each(|symbols| symbols.report(console));
    drawn
}

/// What the model says of the part of the time that was asked for, in at most `columns` columns.
fn part(
    session: &Session,
    names: &[Box<dyn Names + '_>],
    options: &PlotOptions,
    columns: usize,
    shown: &dyn Fn(usize, &Row) -> bool,
    console: &mut Console<'_>,
) -> Result<View> {
    let (from, to) = select::time(session, names, &options.part, console)?;
    // Axes are of floating point: what is too short beside its distance from 0 has none.
    if from as f64 >= to as f64 {
        return Err(lacks(
            "events between which time passes",
            "the program was recorded for no time at all",
        ));
    }
    let window = Window { from, to, columns };
    let mut bar = Progress::new("time line", console);
    Ok(view(session, names, window, shown, &mut |done, total| {
        bar.at(done, total)
    })?)
}

/// A refusal: the trace does not have `what`, and this helps.
fn lacks(what: &str, help: &str) -> anyhow::Error {
    Refusal {
        message: format!("the trace has no {what}"),
        notes: Vec::new(),
        help: Some(help.to_owned()),
    }
    .into()
}

/// The format by its name, or by the ending of the file.
fn format(options: &PlotOptions) -> Result<PlotFormat> {
    let ending = options
        .output
        .as_deref()
        .filter(|path| !is_folder(path))
        .and_then(Path::extension);
    let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
    let by_name = match ending.as_deref() {
        Some("svg") => Some(PlotFormat::Svg),
        Some("png") => Some(PlotFormat::Png),
        Some("pdf") => Some(PlotFormat::Pdf),
        Some(other) if options.format.is_none() => {
            let why = format!(
                ".{other} is none of .svg, .png, .pdf\n  help: name the format, as in --format pdf"
            );
            return Err(WrongUsage(why).into());
        }
        _ => None,
    };
    match (options.format, by_name) {
        (Some(named), Some(ending)) if named != ending => {
            let why = "--format and the ending of the file contradict each other\n  help: leave --format out";
            Err(WrongUsage(why.to_owned()).into())
        }
        (named, ending) => Ok(named.or(ending).unwrap_or(PlotFormat::Svg)),
    }
}

/// Some kinds are of the whole run, or of all threads.
fn whole_only(options: &PlotOptions) -> Result<()> {
    let part = &options.part;
    let timed = part.from.is_some() || part.to.is_some();
    let (region, threads) = (part.region.is_some(), !part.threads.is_empty());
    of_cores_only(options)?;
    let why = match options.kind {
        PlotKind::Tdg | PlotKind::Efficiency if timed || region || threads => {
            "this kind shows the whole run: it takes no part of it"
        }
        PlotKind::Cores if region || threads => {
            "this kind shows all threads: it takes --from and --to, not --region or --thread"
        }
        PlotKind::Power | PlotKind::Memory if threads => {
            "this kind is of processes, not of threads"
        }
        _ => return Ok(()),
    };
    Err(WrongUsage(why.to_owned()).into())
}

/// Some options are of processors.
fn of_cores_only(options: &PlotOptions) -> Result<()> {
    let of_cores =
        options.by.is_some() || options.application.is_some() || !options.series.is_empty();
    if of_cores && options.kind != PlotKind::Cores {
        let why = "--by, --application and --series are for --kind cores";
        return Err(WrongUsage(why.to_owned()).into());
    }
    Ok(())
}

/// The name of the program, or the sweep, with the kind, in the current directory.
fn default_name(name: &OsStr, kind: PlotKind, format: PlotFormat) -> PathBuf {
    let kind = match kind {
        PlotKind::Gantt => "gantt",
        PlotKind::Cores => "cores",
        PlotKind::Tdg => "tdg",
        PlotKind::Power => "power",
        PlotKind::Memory => "memory",
        PlotKind::Efficiency => "efficiency",
        PlotKind::Histogram => "histogram",
        PlotKind::Time => "time",
        PlotKind::Speedup => "speedup",
        PlotKind::Map => "map",
    };
    let ending = match format {
        PlotFormat::Svg => "svg",
        PlotFormat::Png => "png",
        PlotFormat::Pdf => "pdf",
    };
    let mut name = name.to_owned();
    name.push(format!(".{kind}.{ending}"));
    name.into()
}
