//! The key of markers to runs, below a picture without space for names.

use swe_ci_views::figures::Subject;

use crate::brush::{Brush, Layout};
use crate::canvas::{Anchor, Canvas};
use crate::marker::Filling;
use crate::paint::{Look, Paint, shape};
use crate::text;

/// The height of a line in pixels.
const LINE: u32 = 20;
/// The space left of a name for its marker, in pixels.
const MARKER: f64 = 18.0;

/// Words in columns, as many as fit, and how many runs have none.
pub(crate) struct Legend {
    keys: Vec<Key>,
    others: usize,
    columns: u32,
}

/// A marker and what it stands for.
pub(crate) struct Key {
    pub number: usize,
    pub paint: Paint,
    pub words: String,
}

impl Key {
    pub(crate) fn of_run(brush: &Brush<'_>, run: &Subject, words: String) -> Self {
        Self {
            number: brush.number(run),
            paint: brush.solid(run),
            words,
        }
    }

    /// Of no run; grey where colours do not stand for providers.
    pub(crate) fn of_provider(brush: &Brush<'_>, provider: &str, words: String) -> Self {
        let number = brush.series.of_provider(provider);
        Self {
            number: number.unwrap_or_default(),
            paint: number.map_or(Paint::Muted, |number| Paint::Run(number, Look::Key)),
            words,
        }
    }
}

impl Legend {
    pub(crate) fn of<T>(brush: &Brush<'_>, runs: &[T], run: impl Fn(&T) -> &Subject) -> Self {
        let named = brush.named(runs, &run);
        let others = runs.len() - named.len();
        let named = named.into_iter().map(run);
        let keys = named.map(|run| Key::of_run(brush, run, run.model.clone()));
        Self {
            others,
            ..Self::of_keys(brush, keys.collect())
        }
    }

    pub(crate) fn of_keys(brush: &Brush<'_>, keys: Vec<Key>) -> Self {
        let columns = match brush.layout {
            Layout::Wide | Layout::Page => 3,
            Layout::Narrow | Layout::Column => 2,
            Layout::Print => 4,
        };
        Self {
            keys,
            others: 0,
            columns,
        }
    }

    pub(crate) fn height(&self) -> u32 {
        let lines = self.keys.len() + usize::from(self.others > 0);
        let runs = u32::try_from(lines).unwrap_or(u32::MAX);
        runs.div_ceil(self.columns) * LINE
    }

    /// Between `left` and `right`, from `top` down, row by row.
    pub(crate) fn draw(&self, canvas: &Canvas<'_>, (left, right): (f64, f64), top: f64) {
        let width = (right - left) / f64::from(self.columns);
        let place = |number: usize| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            let x = left + f64::from(number % self.columns) * width;
            (x, top + f64::from(number / self.columns * LINE + LINE / 2))
        };
        for (number, key) in self.keys.iter().enumerate() {
            let (x, y) = place(number);
            let filling = Filling::of(key.number);
            canvas.marker((x + 6.0, y), shape(key.number), 4.5, key.paint, filling);
            let words = text::line(&key.words, width - MARKER - 8.0);
            canvas.text(&words, (x + MARKER, y), Anchor::Right, Paint::Ink);
        }
        if self.others > 0 {
            let (x, y) = place(self.keys.len());
            let words = format!("and {} more", self.others);
            canvas.text(&words, (x + MARKER, y), Anchor::Right, Paint::Muted);
        }
    }
}
