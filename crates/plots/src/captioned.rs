//! A picture that explains itself away from its page: what it shows above, how
//! to read it and where it is from below.

use crate::canvas::{Anchor, CLOSING, Canvas, Frame, Lettering, Margins, PLAIN, SCALE, drawing};
use crate::paint::{Paint, Theme};
use crate::{Figure, Size, text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caption {
    pub title: String,
    /// The split and the settings, and how much data there is.
    pub basis: String,
    /// How to read it.
    pub reading: String,
    /// The day, and the address of the figure.
    pub source: String,
}

const TITLE: Lettering = Lettering::of(18.0).bold();
const SMALL_TITLE: Lettering = Lettering::of(13.0).bold();
const SOURCE: Lettering = Lettering::of(11.0);
const EDGE: f64 = 14.0;
/// The height of the space above the picture, without the lines of its basis, in
/// pixels.
const ABOVE: u32 = 48;
/// The height of a line above or below it.
const LINE: u32 = 16;
const MOST_ABOVE: usize = 3;
const MOST_LINES: usize = 8;

/// The picture, drawn on paper, between its title and its source.
pub fn captioned(figure: Figure, caption: &Caption) -> Figure {
    let width = f64::from(figure.size.width) - 2.0 * EDGE;
    let basis = text::fit(&caption.basis, PLAIN, width, MOST_ABOVE);
    let above = ABOVE + LINE * u32::try_from(basis.len()).unwrap_or_default();
    let mut below = Vec::new();
    for (words, lettering) in [(&caption.reading, PLAIN), (&caption.source, SOURCE)] {
        let lines = text::fit(words, lettering, width, MOST_LINES);
        below.extend(lines.into_iter().map(|line| (line, lettering)));
    }
    let lines = u32::try_from(below.len()).unwrap_or_default();
    let size = Size {
        width: figure.size.width,
        height: above + figure.size.height + (lines + 1) * LINE,
    };
    let frame = Frame {
        size,
        margins: Margins::new(0, 0, 0, 0),
        x: 0.0..=1.0,
        y: 0.0..=1.0,
    };
    let framed = frame.draw(Theme::Paper, figure.summary.clone(), |canvas| {
        let small = figure.size.width < Size::PAGE.width;
        let title = if small { SMALL_TITLE } else { TITLE };
        write(canvas, &caption.title, 24.0, title, Paint::Ink);
        for (line, y) in basis.iter().zip((46..).step_by(LINE as usize)) {
            write(canvas, line, f64::from(y), PLAIN, Paint::Muted);
        }
        let mut y = f64::from(above + figure.size.height + LINE / 2);
        for (line, lettering) in &below {
            write(canvas, line, y, *lettering, Paint::Muted);
            y += f64::from(LINE);
        }
        Vec::new()
    });
    let around = framed.svg.trim_end().strip_suffix(CLOSING);
    let svg = format!(
        "{}<g transform=\"translate(0 {})\">{}</g>\n{CLOSING}\n",
        around.unwrap_or_default(),
        above * SCALE,
        drawing(&figure)
    );
    let mut marks = figure.marks;
    for mark in &mut marks {
        mark.py += f64::from(above);
    }
    Figure {
        svg,
        size,
        summary: figure.summary,
        marks,
    }
}

fn write(canvas: &Canvas<'_>, text: &str, y: f64, lettering: Lettering, paint: Paint) {
    canvas.styled_text(text, (EDGE, y), Anchor::Right, paint, lettering);
}

#[cfg(test)]
mod tests {
    use swe_ci_views::figures;

    use super::*;
    use crate::fixture::{assert_well_formed, data, leaderboard};
    use crate::{Layout, Series};

    #[test]
    fn everything_is_said_and_nothing_of_the_picture_is_lost() {
        let runs = leaderboard(&[("m<1>", &[0.5, 0.75]), ("n", &[0.25])]);
        let caption = Caption {
            title: "Solved & more".into(),
            basis: "Split demo, γ 1.00".into(),
            reading: "word ".repeat(200),
            source: "2026-11-24, https://bench.example.org/figures?split=a&gamma=1.00#solved"
                .into(),
        };
        for which in figures::Figure::ALL {
            let series = Series::all([1, 2]);
            let data = data(&runs, which, 1.0);
            let bare = crate::figure(which, &data, &series, Layout::Print, Theme::Paper);
            let drawn = captioned(bare.clone(), &caption);
            assert_well_formed(&drawn.svg);
            for part in [
                "Solved &amp; more",
                "Split demo, γ 1.00",
                "2026-11-24, https://",
            ] {
                assert!(drawn.svg.contains(part), "{which:?}: {part}");
            }
            assert_eq!(drawn.svg.matches("<title>").count(), 1, "{which:?}");
            assert!(drawn.svg.contains(drawing(&bare)), "{which:?}");
            let basis =
                "Split demo, γ 1.00, paper convention; 40 tasks of 20 repositories, 12 runs";
            let caption = Caption {
                basis: basis.into(),
                ..caption.clone()
            };
            let column = crate::figure(which, &data, &series, Layout::Column, Theme::Paper);
            let column = captioned(column, &caption).svg;
            assert!(column.contains("12 runs"), "{which:?}: {column}");
            assert!(!drawing(&bare).contains("<svg"), "{which:?}");
            assert!(drawn.size.height > bare.size.height + ABOVE + LINE);
            for (mark, before) in drawn.marks.iter().zip(&bare.marks) {
                assert!((mark.py - before.py - f64::from(ABOVE + LINE)).abs() < 1e-9);
            }
        }
    }
}
