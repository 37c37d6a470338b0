//! The drawing surface of charts: plotters' SVG backend, a scale that gives its
//! whole numbers quarter-pixel precision, and our paints.
//!
//! We do not use plotters' own axes and legends: in a browser they measure text
//! by putting styled elements into the page, which the content security policy
//! rightly forbids, and direct labels read better anyway.

use std::ops::RangeInclusive;

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::element::{Drawable, PointCollection};
use plotters::prelude::{
    Cartesian2d, Circle, DrawingArea, IntoDrawingArea, PathElement, Polygon, SVGBackend, Text,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, ShapeStyle};

use crate::marker::{Filling, corners};
use crate::paint::{Paint, Theme, put_paints};
use crate::{Figure, Mark, Size};

/// Units of the drawing per pixel.
pub(crate) const SCALE: u32 = 4;
/// plotters divides font sizes by this number.
const FONT_FACTOR: f64 = 1.24;
/// Pixels between the lines of a hatched area.
const HATCH: f64 = 5.0;
pub(crate) const PLAIN: Lettering = Lettering::of(12.0);

/// Space around the data, in pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Margins {
    pub top: u32,
    pub right: u32,
    pub bottom: u32,
    pub left: u32,
}

impl Margins {
    /// In the order of CSS.
    pub(crate) const fn new(top: u32, right: u32, bottom: u32, left: u32) -> Self {
        Self {
            top,
            right,
            bottom,
            left,
        }
    }
}

/// Where a text is relative to its point.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Anchor {
    Right,
    Left,
    Above,
    Below,
}

/// A rectangle, in pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Area {
    fn corners(self) -> [(f64, f64); 4] {
        let Self {
            left,
            top,
            right,
            bottom,
        } = self;
        [(left, top), (right, top), (right, bottom), (left, bottom)]
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Lettering {
    /// In pixels.
    pub size: f64,
    pub bold: bool,
}

impl Lettering {
    pub(crate) const fn of(size: f64) -> Self {
        Self { size, bold: false }
    }

    pub(crate) const fn bold(self) -> Self {
        Self { bold: true, ..self }
    }
}

type Plane<'a> = DrawingArea<SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

#[derive(Debug)]
pub(crate) struct Frame {
    pub size: Size,
    pub margins: Margins,
    pub x: RangeInclusive<f64>,
    pub y: RangeInclusive<f64>,
}

pub(crate) struct Canvas<'a> {
    root: DrawingArea<SVGBackend<'a>, Shift>,
    plane: Plane<'a>,
}

impl Frame {
    /// Draws a figure: `draw` draws on the canvas and returns the marks.
    pub(crate) fn draw(
        &self,
        theme: Theme,
        summary: String,
        draw: impl FnOnce(&Canvas<'_>) -> Vec<Mark>,
    ) -> Figure {
        let mut svg = String::new();
        let marks = {
            let canvas = Canvas::new(&mut svg, self);
            draw(&canvas)
        };
        // The backend writes the closing tag when it is dropped.
        let body = svg.split_once('>').map_or("", |(_, body)| body);
        let body = put_paints(&body.replace(" opacity=\"1\"", ""), theme, SCALE);
        Figure {
            svg: format!("{}{body}", opening(self.size, theme, &summary)),
            size: self.size,
            summary,
            marks,
        }
    }

    /// The position of a datum, in pixels.
    pub(crate) fn pixel(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let share = |range: &RangeInclusive<f64>, value: f64| {
            (value - range.start()) / (range.end() - range.start())
        };
        let (left, top) = (f64::from(self.margins.left), f64::from(self.margins.top));
        (
            left + share(&self.x, x) * f64::from(self.inner_width()),
            top + (1.0 - share(&self.y, y)) * f64::from(self.inner_height()),
        )
    }

    /// Width of the data area in pixels.
    pub(crate) fn inner_width(&self) -> u32 {
        self.size.width - self.margins.left - self.margins.right
    }

    /// Height of the data area in pixels.
    pub(crate) fn inner_height(&self) -> u32 {
        self.size.height - self.margins.top - self.margins.bottom
    }
}

fn opening(Size { width, height }: Size, theme: Theme, summary: &str) -> String {
    let (w, h) = (width * SCALE, height * SCALE);
    let summary = escape(summary);
    let common = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" role=\"img\" \
         stroke-linejoin=\"round\" stroke-linecap=\"butt\""
    );
    match theme {
        Theme::Page => format!("{common} class=\"plot\" aria-label=\"{summary}\">"),
        Theme::Paper => format!(
            "{common} width=\"{width}\" height=\"{height}\"><title>{summary}</title>\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#ffffff\"/>"
        ),
    }
}

/// The drawing of a figure on paper, without its frame.
pub(crate) fn drawing(figure: &Figure) -> &str {
    let Figure {
        svg, size, summary, ..
    } = figure;
    let drawing = svg.strip_prefix(&opening(*size, Theme::Paper, summary));
    let drawing = drawing.and_then(|drawing| drawing.trim_end().strip_suffix(CLOSING));
    drawing.unwrap_or(svg)
}

pub(crate) const CLOSING: &str = "</svg>";

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

impl<'a> Canvas<'a> {
    fn new(svg: &'a mut String, frame: &Frame) -> Self {
        let Size { width, height } = frame.size;
        let backend = SVGBackend::with_string(svg, (width * SCALE, height * SCALE));
        let root = backend.into_drawing_area();
        let m = frame.margins;
        let px = |v: u32| (v * SCALE) as i32;
        let across = px(m.left)..px(width - m.right);
        // The data's y axis points up, pixels count down.
        let down = px(height - m.bottom)..px(m.top);
        let range = |r: &RangeInclusive<f64>| RangedCoordf64::from(*r.start()..*r.end());
        let coords = Cartesian2d::new(range(&frame.x), range(&frame.y), (across, down));
        let plane = root.clone().apply_coord_spec(coords);
        Self { root, plane }
    }

    /// The position of a datum, in drawing units.
    fn at(&self, x: f64, y: f64) -> (i32, i32) {
        self.plane.map_coordinate(&(x, y))
    }

    /// The position of a datum, in pixels.
    pub(crate) fn pixel(&self, x: f64, y: f64) -> (f64, f64) {
        let (px, py) = self.at(x, y);
        let scale = f64::from(SCALE);
        (f64::from(px) / scale, f64::from(py) / scale)
    }

    pub(crate) fn mark(
        &self,
        (x, y): (f64, f64),
        line: impl Into<Option<usize>>,
        label: String,
    ) -> Mark {
        Mark::new((x, y), self.pixel(x, y), line, label)
    }

    pub(crate) fn line(&self, points: &[(f64, f64)], paint: Paint, width: f64) {
        let path: Vec<(i32, i32)> = points.iter().map(|(x, y)| self.at(*x, *y)).collect();
        self.path(path, paint, width);
    }

    pub(crate) fn pixel_line(&self, points: &[(f64, f64)], paint: Paint, width: f64) {
        self.path(points.iter().map(|p| units(*p)).collect(), paint, width);
    }

    /// A marker that covers what is beneath it, around a point given in pixels.
    pub(crate) fn marker(
        &self,
        at: (f64, f64),
        shape: usize,
        radius: f64,
        paint: Paint,
        filling: Filling,
    ) {
        let centre = units(at);
        let radius = (radius * f64::from(SCALE)).round() as i32;
        let inside = match filling {
            Filling::Full => paint,
            Filling::None | Filling::Dot => Paint::Surface,
        };
        match corners(shape, centre, radius) {
            None => {
                self.put(&Circle::new(centre, radius, inside.stand_in().filled()));
                self.put(&Circle::new(centre, radius, stroke(paint, 2.0)));
            }
            Some(mut corners) => {
                self.put(&Polygon::new(corners.clone(), inside.stand_in().filled()));
                let first = corners[0];
                let second = corners[1];
                // Closed past its first corner, so that this corner is joined
                // too.
                corners.extend([first, second]);
                self.path(corners, paint, 2.0);
            }
        }
        if filling == Filling::Dot {
            self.put(&Circle::new(centre, radius / 3, paint.stand_in().filled()));
        }
    }

    pub(crate) fn area(&self, area: Area, paint: Paint) {
        let corners: Vec<(i32, i32)> = area.corners().into_iter().map(units).collect();
        self.put(&Polygon::new(corners, paint.stand_in().filled()));
    }

    /// The area between two lines of data.
    pub(crate) fn band(&self, low: &[(f64, f64)], high: &[(f64, f64)], paint: Paint) {
        let around = low.iter().chain(high.iter().rev());
        let corners: Vec<(i32, i32)> = around.map(|(x, y)| self.at(*x, *y)).collect();
        self.put(&Polygon::new(corners, paint.stand_in().filled()));
    }

    pub(crate) fn outline(&self, area: Area, paint: Paint, width: f64) {
        let [first, second, third, fourth] = area.corners();
        self.pixel_line(&[first, second, third, fourth, first], paint, width);
    }

    /// Parallel lines across a rectangle, rising to the right.
    pub(crate) fn hatch(&self, area: Area, paint: Paint, width: f64) {
        let rise = area.bottom - area.top;
        let mut foot = area.left - rise + HATCH;
        while foot < area.right {
            let from = foot.max(area.left);
            let to = (foot + rise).min(area.right);
            let ends = [
                (from, area.bottom - (from - foot)),
                (to, area.bottom - (to - foot)),
            ];
            self.pixel_line(&ends, paint, width);
            foot += HATCH;
        }
    }

    /// A horizontal interval with strokes up and down by `half` at its ends; the
    /// widths are those of the interval and the strokes.
    pub(crate) fn interval(
        &self,
        (low, high): (f64, f64),
        y: f64,
        half: f64,
        paint: Paint,
        (width, stroke): (f64, f64),
    ) {
        self.pixel_line(&[(low, y), (high, y)], paint, width);
        for x in [low, high] {
            self.pixel_line(&[(x, y - half), (x, y + half)], paint, stroke);
        }
    }

    pub(crate) fn cross(&self, (x, y): (f64, f64), radius: f64, paint: Paint) {
        let r = radius;
        self.pixel_line(&[(x - r, y - r), (x + r, y + r)], paint, 2.0);
        self.pixel_line(&[(x - r, y + r), (x + r, y - r)], paint, 2.0);
    }

    pub(crate) fn text(&self, text: &str, at: (f64, f64), anchor: Anchor, paint: Paint) {
        self.styled_text(text, at, anchor, paint, PLAIN);
    }

    pub(crate) fn bold_text(&self, text: &str, at: (f64, f64), anchor: Anchor, paint: Paint) {
        self.styled_text(text, at, anchor, paint, PLAIN.bold());
    }

    pub(crate) fn styled_text(
        &self,
        text: &str,
        at: (f64, f64),
        anchor: Anchor,
        paint: Paint,
        Lettering { size, bold }: Lettering,
    ) {
        let weight = if bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let (h, v) = match anchor {
            Anchor::Right => (HPos::Left, VPos::Center),
            Anchor::Left => (HPos::Right, VPos::Center),
            Anchor::Above => (HPos::Center, VPos::Bottom),
            Anchor::Below => (HPos::Center, VPos::Top),
        };
        let size = size * f64::from(SCALE) * FONT_FACTOR;
        let font = ("sans-serif", size).into_font().style(weight);
        let style = font.color(&paint.stand_in()).pos(Pos::new(h, v));
        self.put(&Text::new(printable(text), units(at), style));
    }

    fn path(&self, points: Vec<(i32, i32)>, paint: Paint, width: f64) {
        self.put(&PathElement::new(points, stroke(paint, width)));
    }

    fn put<E>(&self, element: &E)
    where
        for<'b> &'b E: PointCollection<'b, (i32, i32)>,
        E: Drawable<SVGBackend<'a>>,
    {
        // Writing to a String cannot fail.
        let _ = self.root.draw(element);
    }
}

fn units((x, y): (f64, f64)) -> (i32, i32) {
    let scaled = |v: f64| (v * f64::from(SCALE)).round() as i32;
    (scaled(x), scaled(y))
}

fn stroke(paint: Paint, width: f64) -> ShapeStyle {
    let width = (width * f64::from(SCALE)).round() as u32;
    paint.stand_in().stroke_width(width)
}

/// Removes control characters, which XML forbids even when escaped.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
