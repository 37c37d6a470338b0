//! The code style of the runs compared with the oracle's, on the tasks that all
//! of them solved.

use leptos::prelude::*;
use swe_ci_views::leaderboard::{StyleIntervals, StyleRates};
use swe_ci_views::style::{ErosionFigure, StyleMetric};

use super::names::{Name, heads};
use super::run_columns::figure_cell;
use crate::components::CollectAny;
use crate::components::{PlainTable, Term};
use crate::format;
use crate::glossary::Word;

/// A figure of a run, and a note.
type Shown = Option<(String, String)>;

/// A row of the table: its subject, and each run's figure.
type Line = (
    &'static str,
    Word,
    fn(&StyleRates, &StyleIntervals) -> Shown,
);

static LINES: [Line; 3] = [
    ("MI", Word::Maintainability, |rates, intervals| {
        wins(rates, intervals, StyleMetric::Mi)
    }),
    ("Pylint score", Word::Pylint, |rates, intervals| {
        wins(rates, intervals, StyleMetric::Pylint)
    }),
    ("Changed lines", Word::ChangedLines, |rates, _| {
        let ratio = format!("{}×", format::decimals(rates.lines_ratio?, 1));
        Some((ratio, "the oracle's, median".to_owned()))
    }),
];

/// "0.50", "[0.20, 0.80]; better of 4; 0.25 equal, 0.25 worse".
fn wins(rates: &StyleRates, intervals: &StyleIntervals, metric: StyleMetric) -> Shown {
    let rates = rates.of(metric)?;
    let interval = intervals.of(metric);
    let interval = interval.map(|i| format!("{}; ", format::interval(i.win, 2)));
    let [win, tie, loss] = [rates.win, rates.tie, rates.loss].map(format::share);
    let tasks = format::thousands(rates.tasks);
    let interval = interval.unwrap_or_default();
    Some((
        win,
        format!("{interval}better of {tasks}; {tie} equal, {loss} worse"),
    ))
}

/// "+1.20", "[0.40, 2.00]".
fn eroded(figure: ErosionFigure, rates: &StyleRates, intervals: &StyleIntervals) -> Shown {
    let difference = rates.erosion.of(figure)?;
    let places = figure.places().max(1);
    let interval = intervals.erosion.of(figure);
    let interval = interval.map(|interval| format::interval(interval, places));
    Some((
        format::signed(difference, places),
        interval.unwrap_or_default(),
    ))
}

/// All rows with the figures of the runs, those that no run has left out.
fn rows(
    style: &[StyleRates],
    intervals: &[StyleIntervals],
) -> Vec<(&'static str, Word, Vec<Shown>)> {
    let runs = || style.iter().zip(intervals);
    let lines = LINES.iter().map(|(name, word, of)| {
        let shown = runs().map(|(rates, intervals)| of(rates, intervals));
        (*name, *word, shown.collect())
    });
    let erosion = ErosionFigure::ALL.into_iter().map(|figure| {
        let shown = runs().map(|(rates, intervals)| eroded(figure, rates, intervals));
        (figure.title(), Word::Erosion, shown.collect())
    });
    let all = lines.chain(erosion);
    all.filter(|(.., shown): &(_, _, Vec<Shown>)| shown.iter().any(Option::is_some))
        .collect()
}

/// Empty where no task is measured in all runs.
#[component]
pub(super) fn Style(
    style: Vec<StyleRates>,
    /// Of each run, in the same order.
    intervals: Vec<StyleIntervals>,
    names: Vec<Name>,
) -> impl IntoView {
    let heads = heads(names);
    let lines = rows(&style, &intervals)
        .into_iter()
        .map(|(name, word, shown)| {
            let unknown = || ("–".to_owned(), String::new());
            let cell = |shown: Shown| figure_cell(shown.unwrap_or_else(unknown));
            view! {
                <tr>
                    <th scope="row"><Term word text=name/></th>
                    {shown.into_iter().map(cell).collect_any()}
                </tr>
            }
        });
    let lines = lines.collect_any();
    (!style.is_empty()).then(|| view! {
        <section aria-labelledby="style-title">
            <h2 id="style-title">"Code style against the reference solution"</h2>
            <p class="quiet">
                "On the tasks that all of these runs solved and whose code is measured for all of them, the "
                <Term word=Word::WinRate/>
                " of their last code, and its erosion: the mean of each number minus the oracle's, where above 0 is worse except for comments. With 95\u{a0}% intervals."
            </p>
            <PlainTable class="versus-heads versus-style" caption="Code style of the runs against the reference solution" scrolls="Code style of the runs" heads>
                {lines}
            </PlainTable>
        </section>
    })
}

#[cfg(test)]
mod tests {
    use swe_ci_views::leaderboard::WinRates;
    use swe_ci_views::style::Erosion;

    use super::*;

    #[test]
    fn figures_of_a_run() {
        let rates = StyleRates {
            mi: Some(WinRates {
                tasks: 4,
                win: 0.5,
                tie: 0.25,
                loss: 0.25,
            }),
            pylint: None,
            lines_ratio: Some(1.44),
            erosion: Erosion {
                unused_code: Some(1.2),
                broken_names: Some(-0.5),
                ..Erosion::default()
            },
        };
        let mut intervals = StyleIntervals::default();
        let erosion = &mut intervals.erosion;
        (erosion.low.unused_code, erosion.high.unused_code) = (Some(-0.25), Some(2.0));
        let rows = rows(&[rates], &[intervals]);
        let cells: Vec<(&str, Shown)> = rows
            .into_iter()
            .map(|(name, _, mut shown)| (name, shown.remove(0)))
            .collect();
        let both = |text: &str, beside: &str| Some((text.to_owned(), beside.to_owned()));
        let expect = [
            ("MI", both("0.50", "better of 4; 0.25 equal, 0.25 worse")),
            ("Changed lines", both("1.4×", "the oracle's, median")),
            ("Unused code, %", both("+1.20", "[\u{2212}0.25, 2.00]")),
            ("Broken public names", both("\u{2212}0.5", "")),
        ];
        assert_eq!(cells, expect);
    }
}
