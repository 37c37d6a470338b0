//! The code style of the runs compared with the oracle's, on the tasks that all
//! of them solved.

use leptos::prelude::*;
use swe_ci_views::leaderboard::{StyleRates, WinRates};
use swe_ci_views::style::StyleMetric;

use super::names::{Name, heads};
use super::run_columns::figure_cell;
use crate::components::{PlainTable, Term};
use crate::format;
use crate::glossary::Word;

/// A row of the table: its subject, and each run's figure with a note.
type Line = (
    &'static str,
    Word,
    fn(&StyleRates) -> Option<(String, String)>,
);

static LINES: [Line; 3] = [
    ("MI", Word::Maintainability, |rates| {
        rates.of(StyleMetric::Mi).map(wins)
    }),
    ("Pylint score", Word::Pylint, |rates| {
        rates.of(StyleMetric::Pylint).map(wins)
    }),
    ("Changed lines", Word::ChangedLines, |rates| {
        let ratio = format!("{}×", format::decimals(rates.lines_ratio?, 1));
        Some((ratio, "the oracle's, median".to_owned()))
    }),
];

/// "0.50", "better of 4; 0.25 equal, 0.25 worse".
fn wins(rates: WinRates) -> (String, String) {
    let [win, tie, loss] = [rates.win, rates.tie, rates.loss].map(format::share);
    let tasks = format::thousands(rates.tasks);
    (win, format!("better of {tasks}; {tie} equal, {loss} worse"))
}

/// Empty where no task is measured in all runs.
#[component]
pub(super) fn Style(style: Vec<StyleRates>, names: Vec<Name>) -> impl IntoView {
    let heads = heads(names);
    let is_known = |(.., of): &&Line| style.iter().any(|rates| of(rates).is_some());
    let known = LINES.iter().filter(is_known);
    let lines = known.map(|(name, word, of)| {
        let unknown = || ("–".to_owned(), String::new());
        let cell = |rates| figure_cell(of(rates).unwrap_or_else(unknown));
        view! {
            <tr>
                <th scope="row"><Term word=*word text=*name/></th>
                {style.iter().map(cell).collect_view()}
            </tr>
        }
    });
    let lines = lines.collect_view();
    (!style.is_empty()).then(|| view! {
        <section aria-labelledby="style-title">
            <h2 id="style-title">"Code style beside the oracle's"</h2>
            <p class="quiet">
                "On the tasks that all of these runs solved and whose code is measured for all of them, the "
                <Term word=Word::WinRate/>
                " of their last code."
            </p>
            <PlainTable class="versus-heads versus-style" caption="Code style of the runs beside the oracle's" scrolls="Code style of the runs" heads>
                {lines}
            </PlainTable>
        </section>
    })
}

#[cfg(test)]
mod tests {
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
        };
        let cells: Vec<Option<(String, String)>> =
            LINES.iter().map(|(.., of)| of(&rates)).collect();
        let both = |text: &str, beside: &str| Some((text.to_owned(), beside.to_owned()));
        let expect = [
            both("0.50", "better of 4; 0.25 equal, 0.25 worse"),
            None,
            both("1.4×", "the oracle's, median"),
        ];
        assert_eq!(cells, expect);
    }
}
