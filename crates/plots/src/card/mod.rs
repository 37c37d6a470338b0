//! Cards: pictures that sites and messengers show beside a link to a page (Open
//! Graph). Large letters, few words, real numbers; drawn like every other
//! figure.

mod rows;

use crate::canvas::{Anchor, Canvas, Frame, Lettering, Margins};
use crate::paint::{Look, Paint, Theme};
use crate::{Figure, Size, text};

pub use rows::Bar;

/// The size that link previews expect: shown whole, and large.
pub const SIZE: Size = Size::of(1200, 630);

const EDGE: f64 = 64.0;
/// The left edge of the picture beside the text.
const BESIDE: f64 = 596.0;
/// The lower edge of everything above the foot.
const BOTTOM: f64 = 536.0;

const SMALL: Lettering = Lettering::of(25.0);
const BODY: Lettering = Lettering::of(28.0);
const TITLE: Lettering = Lettering::of(54.0).bold();
const VALUE: Lettering = Lettering::of(46.0).bold();
/// For cards with text only.
const LARGE_TITLE: Lettering = Lettering::of(68.0).bold();
const LARGE_BODY: Lettering = Lettering::of(34.0);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Card {
    /// The kind of page, above the title.
    pub kind: String,
    pub title: String,
    pub sentence: String,
    /// Values and their labels, at most four.
    pub numbers: Vec<(String, &'static str)>,
    pub shown: Shown,
}

/// The content besides text.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Shown {
    #[default]
    Nothing,
    /// Drawn for paper; beside the text.
    Figure(Figure),
    /// Below the text.
    Bars(Vec<Bar>),
}

impl Card {
    pub fn draw(&self) -> Figure {
        let frame = Frame {
            size: SIZE,
            margins: Margins::new(0, 0, 0, 0),
            x: 0.0..=f64::from(SIZE.width),
            y: 0.0..=f64::from(SIZE.height),
        };
        let summary = format!("{}: {}", self.kind, self.title);
        let mut card = frame.draw(Theme::Paper, summary, |canvas| {
            let below = self.words(canvas);
            if let Shown::Bars(bars) = &self.shown {
                rows::draw(canvas, bars, (below + 26.0, BOTTOM));
            }
            if self.shown == Shown::Nothing && self.numbers.is_empty() {
                mark(canvas, (890.0, 130.0), 13.0);
            }
            foot(canvas);
            Vec::new()
        });
        if let Shown::Figure(figure) = &self.shown {
            put_beside(&mut card.svg, figure);
        }
        card
    }

    /// Returns the lower end of the text.
    fn words(&self, canvas: &Canvas<'_>) -> f64 {
        let Room {
            width,
            title: (title, title_lines),
            body: (body, body_lines),
        } = self.room();
        let mut pen = Pen {
            canvas,
            width,
            y: 52.0,
        };
        pen.write(&self.kind, 1, SMALL, Paint::Muted);
        pen.y += 8.0;
        pen.write(&self.title, title_lines, title, Paint::Ink);
        pen.y += 8.0;
        // Numbers take precedence: the text makes room for them.
        let columns = if width < 600.0 { 2 } else { 4 };
        let rows = self.numbers.len().div_ceil(columns);
        let room = BOTTOM - pen.y - rows as f64 * NUMBER;
        let lines = body_lines.min((room / line_height(body)).max(0.0) as usize);
        pen.write(&self.sentence, lines, body, Paint::Muted);
        pen.numbers(&self.numbers, columns);
        pen.y
    }

    fn room(&self) -> Room {
        match self.shown {
            Shown::Figure(_) => Room {
                width: BESIDE - EDGE - 40.0,
                title: (TITLE, 3),
                body: (BODY, 6),
            },
            Shown::Bars(_) => Room {
                width: WHOLE,
                title: (TITLE, 1),
                body: (BODY, 1),
            },
            Shown::Nothing if self.numbers.is_empty() => Room {
                width: 760.0,
                title: (LARGE_TITLE, 3),
                body: (LARGE_BODY, 6),
            },
            Shown::Nothing => Room {
                width: WHOLE,
                title: (LARGE_TITLE, 2),
                body: (LARGE_BODY, 3),
            },
        }
    }
}

/// Between the edges.
const WHOLE: f64 = SIZE.width as f64 - 2.0 * EDGE;

struct Room {
    width: f64,
    /// The last value is the maximum number of lines.
    title: (Lettering, usize),
    body: (Lettering, usize),
}

/// The height of a number with its label.
const NUMBER: f64 = 110.0;

fn line_height(lettering: Lettering) -> f64 {
    (lettering.size * 1.28).round()
}

struct Pen<'a, 'b> {
    canvas: &'a Canvas<'b>,
    width: f64,
    /// The top of the next line.
    y: f64,
}

impl Pen<'_, '_> {
    fn write(&mut self, text: &str, lines: usize, lettering: Lettering, paint: Paint) {
        let height = line_height(lettering);
        for line in text::fit(text, lettering, self.width, lines) {
            let at = (EDGE, self.y + height / 2.0);
            write(self.canvas, &line, at, paint, lettering);
            self.y += height;
        }
    }

    fn numbers(&mut self, numbers: &[(String, &str)], columns: usize) {
        let width = (self.width / columns as f64).min(270.0);
        for row in numbers.chunks(columns) {
            self.y += 20.0;
            for (place, (value, name)) in row.iter().enumerate() {
                let x = EDGE + place as f64 * width;
                write(self.canvas, value, (x, self.y + 26.0), Paint::Ink, VALUE);
                write(self.canvas, name, (x, self.y + 68.0), Paint::Muted, SMALL);
            }
            self.y += NUMBER - 20.0;
        }
    }
}

/// Writes text right of a point.
fn write(canvas: &Canvas<'_>, text: &str, at: (f64, f64), paint: Paint, lettering: Lettering) {
    let at = lowered(at, lettering);
    canvas.styled_text(text, at, Anchor::Right, paint, lettering);
}

/// Where to write text that is to be centred on a height. The backend centres
/// it on half an `ex`, which places large letters visibly too high.
fn lowered((x, y): (f64, f64), lettering: Lettering) -> (f64, f64) {
    (x, y + lettering.size * 0.09)
}

/// A line over the whole width, and the name of the site.
fn foot(canvas: &Canvas<'_>) {
    let (width, height) = (f64::from(SIZE.width), f64::from(SIZE.height));
    canvas.pixel_line(&[(0.0, 5.0), (width, 5.0)], BRAND, 10.0);
    let y = height - 46.0;
    mark(canvas, (EDGE, y - 20.0), 1.7);
    let name = Lettering::of(29.0).bold();
    write(canvas, "swe-ci", (EDGE + 46.0, y), Paint::Ink, name);
    let words = "how well coding agents maintain code";
    let end = lowered((width - EDGE, y), SMALL);
    canvas.styled_text(words, end, Anchor::Left, Paint::Muted, SMALL);
}

/// The human baseline's colour is the site's.
const BRAND: Paint = Paint::Run(0, Look::Solid);

/// The logo in the site's header, from its top left corner.
fn mark(canvas: &Canvas<'_>, (left, top): (f64, f64), zoom: f64) {
    let at = |(x, y): (f64, f64)| (left + (x - 3.0) * zoom, top + y * zoom);
    let goal = [(3.0, 5.0), (21.0, 5.0)].map(at);
    canvas.pixel_line(&goal, Paint::Goal, 1.4 * zoom);
    let line = [(3.0, 19.0), (9.0, 14.0), (14.0, 15.5), (21.0, 7.0)].map(at);
    canvas.pixel_line(&line, BRAND, 2.2 * zoom);
    canvas.marker(at((14.0, 15.5)), 0, 2.2 * zoom, BRAND, false);
}

/// Puts a figure into the space on the right, as large as possible. A figure
/// that is much too tall, with a row for each of many runs, is cut at the
/// bottom.
fn put_beside(card: &mut String, figure: &Figure) {
    let (top, right) = (44.0, f64::from(SIZE.width) - 44.0);
    let (room_x, room_y) = (right - BESIDE, BOTTOM - top);
    let (width, whole) = (f64::from(figure.size.width), f64::from(figure.size.height));
    let height = if whole * LEAST_ZOOM > room_y {
        room_y * width / room_x
    } else {
        whole
    };
    let zoom = (room_x / width).min(room_y / height);
    let x = BESIDE + (room_x - width * zoom);
    let y = top + (room_y - height * zoom) / 2.0;
    let units = |pixels: f64| (pixels * f64::from(crate::canvas::SCALE)).round();
    let inside = format!(
        "<svg x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {width} {height:.1}\">\n{}</svg>\n",
        units(x),
        units(y),
        units(width * zoom),
        units(height * zoom),
        figure.svg
    );
    if let Some(end) = card.rfind("</svg>") {
        card.insert_str(end, &inside);
    }
}

/// Smaller figures are unreadable.
const LEAST_ZOOM: f64 = 0.8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{assert_well_formed, evolution, scored};
    use crate::passing;

    fn card() -> Card {
        Card {
            kind: "Model · acme".into(),
            title: "</text><script>alert(\"1\")</script> & more".into(),
            sentence: "x".repeat(5_000),
            numbers: vec![("0.512".into(), "EvoScore"), ("0.50".into(), "solved")],
            shown: Shown::Nothing,
        }
    }

    #[test]
    fn names_are_text_and_not_markup() {
        let figure = card().draw();
        assert_well_formed(&figure.svg);
        assert!(!figure.svg.contains("<script"), "{}", figure.svg);
        assert_eq!((figure.size.width, figure.size.height), (1200, 630));
    }

    /// The text ends above the foot, however long it is.
    #[test]
    fn numbers_keep_their_place() {
        let svg = card().draw().svg;
        assert!(svg.contains("0.512") && svg.contains("EvoScore"));
        let lowest = svg
            .split(" y=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next()?.parse::<f64>().ok())
            .fold(0.0, f64::max);
        assert!(lowest <= 630.0 * 4.0, "{lowest}");
    }

    #[test]
    fn a_figure_stands_inside() {
        let figure = passing(&evolution(&[scored(12, 0)]), Size::SMALL, Theme::Paper);
        let card = Card {
            shown: Shown::Figure(figure),
            ..card()
        };
        let svg = card.draw().svg;
        assert_well_formed(&svg);
        assert_eq!(svg.matches("<svg").count(), 3);
        assert!(svg.contains("target 20"));
    }
}
