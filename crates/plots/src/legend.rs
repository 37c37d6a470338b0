//! The key of markers to runs, below a picture without space for names.

use swe_ci_views::figures::Subject;

use crate::brush::{Brush, Layout};
use crate::canvas::{Anchor, Canvas};
use crate::paint::Paint;
use crate::text;

/// The height of a line in pixels.
const LINE: u32 = 20;
/// The space left of a name for its marker, in pixels.
const MARKER: f64 = 18.0;

/// Names in columns, as many as fit.
pub(crate) struct Legend<'a> {
    runs: Vec<&'a Subject>,
    columns: u32,
}

impl<'a> Legend<'a> {
    pub(crate) fn of(brush: &Brush<'_>, runs: impl IntoIterator<Item = &'a Subject>) -> Self {
        let columns = match brush.layout {
            Layout::Wide => 3,
            Layout::Narrow => 2,
            Layout::Print => 4,
        };
        Self {
            runs: runs.into_iter().collect(),
            columns,
        }
    }

    pub(crate) fn height(&self) -> u32 {
        let runs = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
        runs.div_ceil(self.columns) * LINE
    }

    /// Between `left` and `right`, from `top` down, row by row.
    pub(crate) fn draw(
        &self,
        brush: &Brush<'_>,
        canvas: &Canvas<'_>,
        (left, right): (f64, f64),
        top: f64,
    ) {
        let width = (right - left) / f64::from(self.columns);
        for (number, run) in (0u32..).zip(&self.runs) {
            let x = left + f64::from(number % self.columns) * width;
            let y = top + f64::from(number / self.columns * LINE + LINE / 2);
            brush.marker(canvas, run, (x + 6.0, y), 4.5);
            let name = text::line(&run.model, width - MARKER - 8.0);
            canvas.text(&name, (x + MARKER, y), Anchor::Right, Paint::Ink);
        }
    }
}
