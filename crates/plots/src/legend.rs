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

/// Names in columns, as many as fit, and how many runs have none.
pub(crate) struct Legend<'a> {
    runs: Vec<&'a Subject>,
    others: usize,
    columns: u32,
}

impl<'a> Legend<'a> {
    pub(crate) fn of<T>(brush: &Brush<'_>, runs: &'a [T], run: impl Fn(&T) -> &Subject) -> Self {
        let columns = match brush.layout {
            Layout::Wide | Layout::Page => 3,
            Layout::Narrow | Layout::Column => 2,
            Layout::Print => 4,
        };
        let named = brush.named(runs, &run);
        Self {
            others: runs.len() - named.len(),
            runs: named.into_iter().map(run).collect(),
            columns,
        }
    }

    pub(crate) fn height(&self) -> u32 {
        let lines = self.runs.len() + usize::from(self.others > 0);
        let runs = u32::try_from(lines).unwrap_or(u32::MAX);
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
        let place = |number: usize| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let x = left + f64::from(number % self.columns) * width;
            (x, top + f64::from(number / self.columns * LINE + LINE / 2))
        };
        for (number, run) in self.runs.iter().enumerate() {
            let (x, y) = place(number);
            brush.marker(canvas, run, (x + 6.0, y), 4.5);
            let name = text::line(&run.model, width - MARKER - 8.0);
            canvas.text(&name, (x + MARKER, y), Anchor::Right, Paint::Ink);
        }
        if self.others > 0 {
            let (x, y) = place(self.runs.len());
            let words = format!("and {} more", self.others);
            canvas.text(&words, (x + MARKER, y), Anchor::Right, Paint::Muted);
        }
    }
}
