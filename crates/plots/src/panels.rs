//! Two panels side by side with a row for each run: the layout that figures of
//! two values per run share.

use swe_ci_views::figures::Subject;

use crate::Mark;
use crate::brush::Brush;
use crate::canvas::{Anchor, Canvas, Frame, Margins};
use crate::paint::Paint;

/// How a figure lays out its panels, in pixels.
#[derive(Clone, Copy)]
pub(crate) struct Panels {
    pub row: u32,
    pub bottom: u32,
    /// The space right of each panel, for its numbers.
    pub numbers: f64,
}

#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub left: f64,
    pub right: f64,
}

impl Panels {
    pub(crate) fn frame(self, brush: &Brush<'_>, runs: usize) -> Frame {
        let rows = u32::try_from(runs).unwrap_or(1);
        let margins = Margins::new(34, 8, self.bottom, brush.either(214, 8));
        Frame {
            size: brush.size(margins.top + margins.bottom + rows * self.row),
            margins,
            x: 0.0..=1.0,
            y: 0.0..=f64::from(rows),
        }
    }

    pub(crate) fn spans(self, frame: &Frame) -> [Span; 2] {
        let left = f64::from(frame.margins.left);
        let width = (f64::from(frame.size.width - frame.margins.right) - left) / 2.0;
        [0.0, 1.0].map(|number| Span {
            left: left + number * width + 10.0,
            right: left + (number + 1.0) * width - self.numbers,
        })
    }

    /// Draws each run's row, given the middle of it.
    pub(crate) fn rows<T>(
        self,
        frame: &Frame,
        runs: &[T],
        draw: impl Fn(&T, f64) -> Vec<Mark>,
    ) -> Vec<Mark> {
        let rows = (0u32..).zip(runs).flat_map(|(number, run)| {
            let top = frame.margins.top + number * self.row;
            draw(run, f64::from(top) + f64::from(self.row) / 2.0)
        });
        rows.collect()
    }
}

impl Span {
    /// The pixel of a share of the scale.
    pub(crate) fn at(self, share: f64) -> f64 {
        self.left + (self.right - self.left) * share
    }

    /// The title, and lines at the start, middle and end of the scale.
    pub(crate) fn scale(
        self,
        canvas: &Canvas<'_>,
        frame: &Frame,
        title: &str,
        lines: [(Paint, &str); 3],
    ) {
        let top = f64::from(frame.margins.top);
        let bottom = top + f64::from(frame.inner_height());
        for (share, (paint, text)) in [0.0, 0.5, 1.0].into_iter().zip(lines) {
            let x = self.at(share);
            canvas.pixel_line(&[(x, top), (x, bottom)], paint, 1.0);
            canvas.text(text, (x, bottom + 7.0), Anchor::Below, Paint::Muted);
        }
        let at = (self.at(0.5), top - 10.0);
        canvas.bold_text(title, at, Anchor::Above, Paint::Ink);
    }

    /// The name of a run: left of this panel, the first; in a narrow layout
    /// above it by `above`.
    pub(crate) fn name(
        self,
        brush: &Brush<'_>,
        canvas: &Canvas<'_>,
        run: &Subject,
        (y, above): (f64, f64),
    ) {
        brush.name(canvas, run, (self.left - 22.0, y), (self.left, y - above));
    }
}
