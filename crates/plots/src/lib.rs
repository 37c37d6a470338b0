//! Charts as SVG, drawn with plotters: pure functions of their data, the same on
//! pages and for download.
//!
//! A [`Figure`] carries [`Mark`]s beside its picture: the position and label of
//! each datum, so that a page can lay focus and hover targets over it.

pub mod fixture;

mod bars;
mod changed;
mod correlation;
mod curves;
mod evoscore_gamma;
mod figure;
mod lines;
mod passing;
mod ranks;
mod scatter;
mod series;
mod style_wins;
mod task_curves;
mod trends;

mod amounts;
mod axes;
mod brush;
mod canvas;
mod captioned;
mod labels;
mod legend;
mod marker;
mod paint;
mod panels;
mod text;
mod ticks;

use swe_ci_views::figures::{GAMMA_MAX, GAMMA_MIN};
pub use swe_ci_views::format;

pub use brush::Layout;
pub use captioned::{Caption, captioned};
pub use curves::{Curve, Curves};
pub use evoscore_gamma::{evoscore_gamma, gamma_lines, label as gamma_label};
pub use figure::figure;
pub use lines::trend;
pub use paint::Theme;
pub use passing::passing;
pub use series::{RunLook, Series};
pub use task_curves::courses;

#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// A whole `<svg>` element.
    pub svg: String,
    pub size: Size,
    /// A description of the picture in one sentence.
    pub summary: String,
    pub marks: Vec<Mark>,
}

impl Figure {
    /// The picture for paper, so many millimetres wide.
    #[must_use]
    pub fn printed(mut self, millimetres: u32) -> Self {
        let Size { width, height } = self.size;
        let high = f64::from(height * millimetres) / f64::from(width);
        self.svg = self.svg.replacen(
            &format!("width=\"{width}\" height=\"{height}\""),
            &format!("width=\"{millimetres}mm\" height=\"{high:.2}mm\""),
            1,
        );
        self
    }
}

/// One datum of a figure.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// In the units of the data.
    pub x: f64,
    pub y: f64,
    /// In the units of the picture's [`Size`].
    pub px: f64,
    pub py: f64,
    pub label: String,
    /// The number of its run: elements of the picture with this `data-line` are
    /// the run's too. None where it is of no run.
    pub line: Option<usize>,
}

impl Mark {
    fn new(
        (x, y): (f64, f64),
        (px, py): (f64, f64),
        line: impl Into<Option<usize>>,
        label: String,
    ) -> Self {
        Self {
            x,
            y,
            px,
            py,
            label,
            line: line.into(),
        }
    }
}

/// Width and height of a picture in CSS pixels. Pages show it at about this
/// size, so that its text is as large as the text beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    /// Beside text, on a wide screen.
    pub const WIDE: Self = Self::of(820, 400);
    /// Beside a wide table.
    pub const BESIDE: Self = Self::of(500, 420);
    /// On a phone.
    pub const NARROW: Self = Self::of(360, 340);
    /// One of several, beside a table.
    pub const SMALL: Self = Self::of(440, 240);
    /// For a slide.
    pub const PRINT: Self = Self::of(960, 480);
    /// In a column of a paper, where a letter of 12 pixels has 8 points.
    pub const COLUMN: Self = Self::of(360, 300);
    /// As wide as a page of a paper, with letters of the same size.
    pub const PAGE: Self = Self::of(746, 400);

    const fn of(width: u32, height: u32) -> Self {
        Self { width, height }
    }
}
