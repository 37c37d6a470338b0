use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::leaderboard::Row;
use swe_ci_core::metrics::{Convention, Gamma};

use super::chart::GammaChart;
use super::controls::{Controls, weight_words};
use super::data::Board;
use super::table::Ranking;
use crate::components::Empty;
use crate::format;
use crate::plots::Curves;
use crate::query::{Reading, gamma_text};

/// The board of one split; what is derived from its sheet is derived here,
/// once, and shared by table and chart.
#[component]
pub fn BoardView(
    board: Board,
    /// What the address says.
    #[prop(into)]
    reading: Signal<Reading>,
    /// Writes a reading into the address.
    go: Callback<Reading>,
) -> impl IntoView {
    let Some(sheet) = board.sheet else {
        return Either::Left(view! { <NoTasks/> });
    };
    let gamma = RwSignal::new(reading.get_untracked().gamma);
    let convention = Memo::new(move |_| reading.with(|r| r.convention));
    let split = sheet.split.clone();
    let entries = sheet.entries.len();
    let most_iterations = sheet
        .entries
        .iter()
        .map(|e| e.max_iterations)
        .max()
        .unwrap_or(20);
    let sheet = StoredValue::new(sheet);
    let rows = Memo::new(move |_| sheet.with_value(|s| s.rank(gamma.get(), convention.get())));
    let curves = Memo::new(move |_| sheet.with_value(|s| Curves::of(s, convention.get())));
    let body = if entries == 0 {
        Either::Left(view! { <NoRuns split=split.clone()/> })
    } else {
        Either::Right(view! {
            <Ranking rows curves/>
            <Reader rows/>
            <Announcer rows gamma/>
            <GammaChart curves gamma split=split.clone() convention/>
        })
    };
    let weights = Signal::derive(move || weight_words(gamma.get(), most_iterations));
    Either::Right(view! {
        <Controls splits=board.splits split reading gamma go weights/>
        {body}
    })
}

/// Reads the first row out in words, so that the figures explain themselves.
#[component]
fn Reader(rows: Memo<Vec<Row>>) -> impl IntoView {
    let words = move || rows.with(|rows| rows.first().map(in_words));
    view! {
        <p class="footnote">
            <strong>"In words: "</strong>
            {words}
            " Tasks that could not be run for reasons outside the agent are left out, never counted as 0."
        </p>
    }
}

fn in_words(row: &Row) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    format!(
        "{} scores {}. In {} of its {} no passing test was ever broken, {} ended solved, \
         and a task took {} iterations on average.",
        row.model,
        format::score(row.evoscore),
        percent(row.zero_regression_rate),
        format::count(row.tasks, "task"),
        percent(row.solved_rate),
        format::decimals(row.average_turns, 1)
    )
}

/// Tells screen readers when the order of the rows has changed.
#[component]
fn Announcer(rows: Memo<Vec<Row>>, gamma: RwSignal<Gamma>) -> impl IntoView {
    let said = RwSignal::new(String::new());
    Effect::new(move |before: Option<Vec<String>>| {
        let order: Vec<String> = rows.with(|rows| rows.iter().map(|r| r.run_id.clone()).collect());
        if before.is_some_and(|before| before != order) {
            let first = rows.with_untracked(|rows| {
                let named = rows
                    .iter()
                    .take(3)
                    .map(|r| format!("{} {}", r.rank, r.model));
                named.collect::<Vec<_>>().join(", ")
            });
            said.set(format!(
                "New order at γ {}: {first}",
                gamma_text(gamma.get_untracked())
            ));
        }
        order
    });
    view! { <p class="visually-hidden" role="status" aria-live="polite">{move || said.get()}</p> }
}

#[component]
fn NoTasks() -> impl IntoView {
    view! {
        <Empty title="No tasks yet" command="swe-ci dataset demo\nswe-ci run submit --human --split demo">
            <p>
                "Here runs will be ranked by how well their agents maintain code. The first command makes four small tasks from the release histories of real packages, the second replays what their maintainers did: the human baseline."
            </p>
        </Empty>
    }
}

#[component]
fn NoRuns(split: String) -> impl IntoView {
    view! {
        <Empty
            title=format!("No results on {split} yet")
            command=format!("swe-ci run submit --human --split {split}")
        >
            <p>
                "Runs appear here as soon as their first task is scored. This command replays the real history of every task through the same loop and grading: the human baseline. "
                <a href="/runs">"See what is running"</a>
            </p>
        </Empty>
    }
}

/// The address of the same board as JSON, or as a picture.
pub(super) fn api_href(path: &str, split: &str, gamma: Gamma, convention: Convention) -> String {
    let mut query = crate::query::Query::default();
    query.add("split", Some(split));
    query.add("gamma", Some(gamma_text(gamma)));
    query.add("convention", Some(convention.name()));
    format!("/api/v1/{path}{}", query.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plots::fixture::sheet;

    #[test]
    fn a_row_in_words() {
        let row = &sheet(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0];
        assert_eq!(
            in_words(row),
            "m scores 0.500. In 100 % of its 1 task no passing test was ever broken, \
             0 % ended solved, and a task took 1.0 iterations on average."
        );
    }

    #[test]
    fn addresses_of_the_api() {
        assert_eq!(
            api_href("leaderboard", "a b", Gamma::ONE, Convention::Paper),
            "/api/v1/leaderboard?split=a%20b&gamma=1.00&convention=paper"
        );
    }
}
