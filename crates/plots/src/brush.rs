//! The parts all shapes share: the layout, the colours and markers of runs, and the
//! summary of a figure.

use swe_ci_views::figures::{MOST_RUNS, Subject};

use crate::canvas::{Anchor, Canvas};
use crate::format;
use crate::labels::LABEL_GAP;
use crate::marker::Filling;
use crate::paint::{Paint, Theme, shape};
use crate::series::{RunLook, Series};
use crate::{Size, text};

/// The place a figure is drawn for. Its height follows from its data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Beside text, on a wide screen.
    Wide,
    /// On a phone.
    Narrow,
    /// For a slide.
    Print,
    /// For a column of a paper.
    Column,
    /// Across the columns of a paper.
    Page,
}

/// Pixels between a name and the edge of the picture.
const EDGE: f64 = 8.0;

/// The means to draw runs: layout, theme, and the colour of each run.
pub(crate) struct Brush<'a> {
    pub layout: Layout,
    pub theme: Theme,
    pub series: &'a Series,
}

impl Layout {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 5] = [
        Self::Wide,
        Self::Narrow,
        Self::Print,
        Self::Column,
        Self::Page,
    ];

    /// The size of a figure whose height does not depend on its data.
    pub(crate) fn size(self) -> Size {
        match self {
            Self::Wide => Size::WIDE,
            Self::Narrow => Size::NARROW,
            Self::Print => Size::PRINT,
            Self::Column => Size::COLUMN,
            Self::Page => Size::PAGE,
        }
    }

    pub(crate) fn width(self) -> u32 {
        self.size().width
    }

    /// The layout of a figure of this width on paper, if there is one.
    pub fn of_millimetres(width: u32) -> Option<Self> {
        let mut layouts = [Self::Column, Self::Page].into_iter();
        layouts.find(|layout| layout.millimetres() == Some(width))
    }

    /// The width on paper, where that matters.
    pub fn millimetres(self) -> Option<u32> {
        match self {
            Self::Column => Some(84),
            Self::Page => Some(174),
            Self::Wide | Self::Narrow | Self::Print => None,
        }
    }
}

impl<'a> Brush<'a> {
    pub(crate) fn new(layout: Layout, theme: Theme, series: &'a Series) -> Self {
        Self {
            layout,
            theme,
            series,
        }
    }

    pub(crate) fn narrow(&self) -> bool {
        matches!(self.layout, Layout::Narrow | Layout::Column)
    }

    /// Whether it is shown without a page that explains it.
    pub(crate) fn print(&self) -> bool {
        self.layout.millimetres().is_some() || self.layout == Layout::Print
    }

    pub(crate) fn size(&self, height: u32) -> Size {
        Size::of(self.layout.width(), height)
    }

    /// At least this height, and room for a name at the end of each of so many
    /// lines; `around` is the height of the margins.
    pub(crate) fn size_with_names(&self, height: u32, around: u32, names: usize) -> Size {
        self.size(height.max(around + height_of_names(names)))
    }

    /// One of two values, by the width of the layout.
    pub(crate) fn either<T>(&self, roomy: T, narrow: T) -> T {
        if self.narrow() { narrow } else { roomy }
    }

    pub(crate) fn look(&self, run: &Subject) -> RunLook {
        self.series.of(run.index)
    }

    /// The number of a run's colour, markers and dashes.
    pub(crate) fn number(&self, run: &Subject) -> usize {
        self.look(run).number
    }

    pub(crate) fn solid(&self, run: &Subject) -> Paint {
        self.look(run).solid()
    }

    /// The runs in the order of drawing: those in colour over the grey ones, and
    /// the first over the later ones.
    pub(crate) fn layers<'r, T>(&self, runs: &'r [T], run: impl Fn(&T) -> &Subject) -> Vec<&'r T> {
        let mut layers: Vec<&T> = runs.iter().rev().collect();
        layers.sort_by_key(|each| self.look(run(each)).featured);
        layers
    }

    /// The runs with a name in the picture: those in colour, and some of the
    /// others, the first ones first.
    pub(crate) fn named<'r, T>(&self, runs: &'r [T], run: impl Fn(&T) -> &Subject) -> Vec<&'r T> {
        let is_featured = |each: &&T| self.look(run(each)).featured;
        let (mut named, others): (Vec<&T>, Vec<&T>) = runs.iter().partition(is_featured);
        named.extend(others);
        named.truncate(MOST_RUNS);
        named
    }

    /// The name of a run's row, left of one place or, in narrow layouts, right
    /// of another.
    pub(crate) fn name(
        &self,
        canvas: &Canvas<'_>,
        run: &Subject,
        roomy: (f64, f64),
        narrow: (f64, f64),
    ) {
        self.words(canvas, &run.model, Paint::Ink, roomy, narrow);
    }

    /// The same of what is not a run.
    pub(crate) fn words(
        &self,
        canvas: &Canvas<'_>,
        words: &str,
        paint: Paint,
        roomy: (f64, f64),
        narrow: (f64, f64),
    ) {
        let width = f64::from(self.layout.width());
        let room = self.either(roomy.0, width - narrow.0) - EDGE;
        let anchor = self.either(Anchor::Left, Anchor::Right);
        let words = text::line(words, room);
        canvas.text(&words, self.either(roomy, narrow), anchor, paint);
    }

    pub(crate) fn marker(&self, canvas: &Canvas<'_>, run: &Subject, at: (f64, f64), radius: f64) {
        let number = self.number(run);
        let filling = Filling::of(number);
        canvas.marker(at, shape(number), radius, self.solid(run), filling);
    }
}

pub(crate) fn height_of_names(names: usize) -> u32 {
    names.min(MOST_RUNS) as u32 * LABEL_GAP as u32
}

/// "Figure: 3 runs. a 0.5, b 0.4, c 0.1.", naming at most five.
pub(crate) fn summary(title: &str, runs_in_words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = runs_in_words.collect();
    let runs = format::count(u32::try_from(words.len()).unwrap_or(u32::MAX), "run");
    match words.get(..5) {
        Some(first) if words.len() > 5 => format!("{title}: {runs}. {}, …", first.join(", ")),
        _ => format!("{title}: {runs}. {}.", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_name_a_few() {
        let runs = |n: usize| (0..n).map(|i| i.to_string());
        assert_eq!(summary("T", runs(1)), "T: 1 run. 0.");
        assert_eq!(summary("T", runs(6)), "T: 6 runs. 0, 1, 2, 3, 4, …");
    }
}
