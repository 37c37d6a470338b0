//! Erosion: numbers of a version of the code that say how hard it became to
//! work on, beside the maintainability index and Pylint's score.

use serde::{Deserialize, Serialize};
use swe_ci_core::metrics::mean;
use swe_ci_core::uncertainty::Interval;

swe_ci_core::named! {
    /// A number of [`Erosion`]. All that shows or compares them iterates over
    /// `ErosionFigure::ALL`.
    pub enum ErosionFigure {
        Cognitive = "cognitive_complexity",
        Duplicated = "duplicated_lines",
        LinesPerTest = "lines_per_test",
        Comments = "comments_per_line",
        Unused = "unused_code",
        BrokenNames = "broken_names",
        Dependencies = "changed_dependencies",
    }
}

/// One version of the code in the numbers of [`ErosionFigure`]. A number is
/// absent where its tool did not finish or nothing can be counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Erosion {
    /// Mean cognitive complexity of functions and methods, by complexipy.
    pub cognitive_complexity: Option<f64>,
    /// Duplicated lines in percent of all lines, by Pylint.
    pub duplicated_lines: Option<f64>,
    /// Lines of source added since the base per test gained since the base;
    /// absent unless tests were gained.
    pub lines_per_test: Option<f64>,
    /// Lines with a comment per line of source, by radon.
    pub comments_per_line: Option<f64>,
    /// Lines of unused code in percent of all lines, by Vulture.
    pub unused_code: Option<f64>,
    /// Public names of the base that were removed, or changed in a way that
    /// breaks their users, by griffe.
    pub broken_names: Option<f64>,
    /// Projects whose declared requirements differ from the base's.
    pub changed_dependencies: Option<f64>,
}

/// The ends of the 95 % intervals of [`Erosion`]; absent with tasks of fewer than
/// two repositories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ErosionIntervals {
    pub low: Erosion,
    pub high: Erosion,
}

impl ErosionIntervals {
    pub(crate) fn each(interval: impl Fn(ErosionFigure) -> Option<Interval>) -> Self {
        let intervals = ErosionFigure::ALL.map(|figure| (figure, interval(figure)));
        let end = |figure, end: fn(Interval) -> f64| {
            let found = intervals.iter().find(|(of, _)| *of == figure);
            found.and_then(|(_, interval)| interval.map(end))
        };
        Self {
            low: Erosion::each(|figure| end(figure, |interval| interval.low)),
            high: Erosion::each(|figure| end(figure, |interval| interval.high)),
        }
    }

    pub fn of(&self, figure: ErosionFigure) -> Option<Interval> {
        Some(Interval {
            low: self.low.of(figure)?,
            high: self.high.of(figure)?,
        })
    }
}

impl Erosion {
    pub fn each(number: impl Fn(ErosionFigure) -> Option<f64>) -> Self {
        Self {
            cognitive_complexity: number(ErosionFigure::Cognitive),
            duplicated_lines: number(ErosionFigure::Duplicated),
            lines_per_test: number(ErosionFigure::LinesPerTest),
            comments_per_line: number(ErosionFigure::Comments),
            unused_code: number(ErosionFigure::Unused),
            broken_names: number(ErosionFigure::BrokenNames),
            changed_dependencies: number(ErosionFigure::Dependencies),
        }
    }

    /// The differences of the numbers that both have.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self::each(|figure| Some(self.of(figure)? - other.of(figure)?))
    }

    /// Each number averaged over those that have it.
    pub(crate) fn mean(all: &[Self]) -> Self {
        Self::each(|figure| mean(all.iter().filter_map(|erosion| erosion.of(figure))))
    }

    pub fn of(&self, figure: ErosionFigure) -> Option<f64> {
        match figure {
            ErosionFigure::Cognitive => self.cognitive_complexity,
            ErosionFigure::Duplicated => self.duplicated_lines,
            ErosionFigure::LinesPerTest => self.lines_per_test,
            ErosionFigure::Comments => self.comments_per_line,
            ErosionFigure::Unused => self.unused_code,
            ErosionFigure::BrokenNames => self.broken_names,
            ErosionFigure::Dependencies => self.changed_dependencies,
        }
    }
}

impl ErosionFigure {
    /// Its name on pages and in figures.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Cognitive => "Cognitive complexity",
            Self::Duplicated => "Duplicated lines, %",
            Self::LinesPerTest => "Lines added per test gained",
            Self::Comments => "Comments per line",
            Self::Unused => "Unused code, %",
            Self::BrokenNames => "Broken public names",
            Self::Dependencies => "Changed dependencies",
        }
    }

    /// One sentence that says what is counted.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Cognitive => "Mean cognitive complexity of functions and methods",
            Self::Duplicated => "Lines that another file repeats, in percent of all",
            Self::LinesPerTest => "Lines of source added since the base for each test gained",
            Self::Comments => "Lines with a comment per line of source",
            Self::Unused => "Lines of code that nothing in the source uses, in percent of all",
            Self::BrokenNames => {
                "Public names of the base that were removed, or changed so that users break"
            }
            Self::Dependencies => "Projects whose declared requirements differ from the base's",
        }
    }

    /// The tool that measures it.
    pub fn tool(self) -> &'static str {
        match self {
            Self::Cognitive => "complexipy",
            Self::Duplicated => "Pylint",
            Self::LinesPerTest => "git's diff and the tests",
            Self::Comments => "radon",
            Self::Unused => "Vulture",
            Self::BrokenNames => "griffe",
            Self::Dependencies => "the project's declarations",
        }
    }

    /// Decimals for readers.
    pub fn places(self) -> usize {
        match self {
            Self::Cognitive | Self::Duplicated | Self::Unused => 2,
            Self::LinesPerTest => 1,
            Self::Comments => 3,
            Self::BrokenNames | Self::Dependencies => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// JSON has each number under the name of its figure.
    #[test]
    fn every_figure_has_its_own_number() {
        for figure in ErosionFigure::ALL {
            let json = format!("{{\"{}\": 2.5}}", figure.name());
            let erosion: Erosion = serde_json::from_str(&json).unwrap();
            assert_eq!(Erosion::each(|one| erosion.of(one)), erosion);
            for other in ErosionFigure::ALL {
                let expect = (other == figure).then_some(2.5);
                assert_eq!(erosion.of(other), expect, "{json}");
            }
        }
    }
}
