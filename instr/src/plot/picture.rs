//! A drawing in millimetres and what it is written as. The font comes with the tool: machines without a desktop have none, and a figure must not
//! depend on where it was made.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{FontStyle, register_font};
use resvg::tiny_skia::{Pixmap, Transform};
use svg2pdf::usvg::{Options, Tree, fontdb};
use svg2pdf::{ConversionOptions, PageOptions};

use crate::cli::PlotFormat;
use crate::summary::units::elide_middle;

/// Units of the drawing in a millimetre: lines may lie between dots.
const UNITS: f64 = 20.0;
/// Millimetres of a typographic point.
const POINT: f64 = 25.4 / 72.0;
/// CSS's pixels of an inch.
const CSS_DPI: f32 = 96.0;
/// Most dots of a PNG.
const MOST_DOTS: u64 = 200_000_000;
const FONT: &str = "sans-serif";

/// Colours that can be told apart by everybody, and in print (Okabe and Ito).
pub(super) const PALETTE: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0xf0, 0xe4, 0x42),
    RGBColor(0x80, 0x80, 0x80),
];
pub(super) const INK: RGBColor = RGBColor(0x20, 0x20, 0x20);
pub(super) const FAINT: RGBColor = RGBColor(0xd8, 0xd8, 0xd8);

/// What is drawn on.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A finished drawing.
#[derive(Debug)]
pub(super) struct Picture {
    svg: String,
    /// Width and height, mm.
    size: (f64, f64),
}

/// Sizes of text and margins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measures {
    /// Height of a line of text, units.
    pub(super) line: i32,
    font: f64,
}

impl Measures {
    /// Text of 8 points, and of 7 in one column of a paper.
    fn of(width: f64) -> Self {
        let points = if width < 120.0 { 7.0 } else { 8.0 };
        let font = points * POINT * UNITS;
        Self {
            line: (font * 1.35) as i32,
            font,
        }
    }

    /// Text that is anchored at its left, middle or right, and at half of its height.
    pub(super) fn text(&self, place: HPos) -> TextStyle<'static> {
        // The backend writes a size that is smaller by this.
        let style = TextStyle::from((FONT, self.font * 1.24).into_font()).color(&INK);
        style.pos(Pos::new(place, VPos::Center))
    }

    /// The width of a text, units.
    pub(super) fn width(&self, area: &Area<'_>, text: &str) -> i32 {
        let size = area.estimate_text_size(text, &self.text(HPos::Left));
        size.map_or(0, |(width, _)| (f64::from(width) / 1.05) as i32)
    }
}

/// Millimetres as units.
pub(super) fn mm(length: f64) -> i32 {
    (length * UNITS) as i32
}

/// A failure of the library that draws.
pub(super) fn failed(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("{error}")
}

/// A name for a picture: without characters that XML refuses.
pub(super) fn name(text: &str, width: usize) -> String {
    let text = elide_middle(text, width);
    text.chars()
        .map(|c| {
            if matches!(c, '\u{fffe}' | '\u{ffff}') {
                '?'
            } else {
                c
            }
        })
        .collect()
}

impl Picture {
    /// Draws by `body` on a white page of this size, mm.
    pub(super) fn draw(
        size: (f64, f64),
        body: impl FnOnce(&Area<'_>, Measures) -> Result<()>,
    ) -> Result<Self> {
        register_font(FONT, FontStyle::Normal, dejavu::sans::regular())
            .map_err(|_| anyhow!("the font cannot be read"))?;
        let units = (mm(size.0) as u32, mm(size.1) as u32);
        let mut svg = String::new();
        {
            let area = SVGBackend::with_string(&mut svg, units).into_drawing_area();
            area.fill(&WHITE).map_err(failed)?;
            body(&area, Measures::of(size.0))?;
            area.present().map_err(failed)?;
        }
        Ok(Self::of_svg(&svg, Some(size)))
    }

    /// Of an SVG that is there, which gets this size, mm, if one is given.
    pub(super) fn of_svg(svg: &str, size: Option<(f64, f64)>) -> Self {
        let (tag, rest) = svg.split_once('>').unwrap_or((svg, ""));
        let of = |attribute: &str| {
            let (_, value) = tag.split_once(&format!(" {attribute}=\""))?;
            value.split_once('"')?.0.parse::<f64>().ok()
        };
        let css = 25.4 / f64::from(CSS_DPI);
        let own = (of("width").unwrap_or(1.0), of("height").unwrap_or(1.0));
        let size = size.unwrap_or((own.0 * css, own.1 * css));
        let mut tag = tag.to_owned();
        for (attribute, own, mm) in [("width", own.0, size.0), ("height", own.1, size.1)] {
            tag = tag.replacen(
                &format!(" {attribute}=\"{own}\""),
                &format!(" {attribute}=\"{mm:.3}mm\""),
                1,
            );
        }
        if size.0 > 0.0 {
            tag += " font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\"";
        }
        Self {
            svg: format!("{tag}>{rest}"),
            size,
        }
    }

    /// Width and height, mm.
    pub(super) fn size(&self) -> (f64, f64) {
        self.size
    }

    /// The picture as a file.
    pub(super) fn bytes(&self, format: PlotFormat, dpi: u32) -> Result<Vec<u8>> {
        if format == PlotFormat::Svg {
            return Ok(self.svg.clone().into_bytes());
        }
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(dejavu::sans::regular().to_vec());
        // One font alone: svg2pdf writes several in no fixed order.
        for set in [
            fontdb::Database::set_sans_serif_family,
            fontdb::Database::set_serif_family,
            fontdb::Database::set_monospace_family,
        ] {
            set(&mut fonts, "DejaVu Sans");
        }
        let options = Options {
            font_family: "DejaVu Sans".to_owned(),
            fontdb: Arc::new(fonts),
            dpi: CSS_DPI,
            ..Options::default()
        };
        let tree = Tree::from_str(&self.svg, &options)?;
        match format {
            PlotFormat::Pdf => svg2pdf::to_pdf(
                &tree,
                ConversionOptions::default(),
                PageOptions { dpi: CSS_DPI },
            )
            .map_err(failed),
            _ => png(&tree, dpi),
        }
    }
}

fn png(tree: &Tree, dpi: u32) -> Result<Vec<u8>> {
    let scale = dpi as f32 / CSS_DPI;
    let (width, height) = (
        (tree.size().width() * scale).round(),
        (tree.size().height() * scale).round(),
    );
    let dots = width as u64 * height as u64;
    if dots > MOST_DOTS {
        return Err(anyhow!(
            "{width} x {height} dots are too many: choose fewer by --dpi, or --format svg or pdf"
        ));
    }
    let mut map = Pixmap::new((width as u32).max(1), (height as u32).max(1))
        .ok_or_else(|| anyhow!("it has no size"))?;
    resvg::render(tree, Transform::from_scale(scale, scale), &mut map.as_mut());
    Ok(map.encode_png()?)
}

/// A time axis' unit: its name and nanoseconds.
pub(super) fn unit(end: u64) -> (&'static str, f64) {
    match end {
        0..2_000 => ("ns", 1.0),
        2_000..2_000_000 => ("µs", 1e3),
        2_000_000..2_000_000_000 => ("ms", 1e6),
        _ => ("s", 1e9),
    }
}

/// A number on an axis, without digits that say nothing.
pub(super) fn number(value: &f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Squares and names in a row at the top of an area, as many lines as they need; gives the rest of the area.
pub(super) fn legend<'a>(
    area: &Area<'a>,
    measures: Measures,
    entries: &[(RGBColor, String)],
) -> Result<Area<'a>> {
    let (width, _) = area.dim_in_pixel();
    let (left, top) = (mm(2.0), mm(1.0));
    let (mut x, mut y) = (left, top + measures.line / 2);
    for (colour, text) in entries {
        let needed = measures.line + measures.width(area, text) + mm(3.0);
        if x > left && x + needed > width as i32 {
            (x, y) = (left, y + measures.line);
        }
        let side = measures.line * 6 / 10;
        let square = Rectangle::new(
            [(x, y - side / 2), (x + side, y + side / 2)],
            colour.filled(),
        );
        area.draw(&square).map_err(failed)?;
        area.draw(&Text::new(
            text.clone(),
            (x + measures.line * 8 / 10, y),
            measures.text(HPos::Left),
        ))
        .map_err(failed)?;
        x += needed;
    }
    let used = y + measures.line / 2 + mm(1.0);
    Ok(area.split_vertically(used).1)
}
