//! Notes below the table: how to read it, and how far to trust it.

use std::sync::Arc;

use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::text::visible;
use swe_ci_core::uncertainty::{RESAMPLES, SEED};
use swe_ci_views::leaderboard::{Row, UnrankedRun};

use super::board_state::BoardState;
use super::data::Scene;
use crate::components::Term;
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::{FINDINGS, run_href};

/// With fewer repositories, a bootstrap over them gives too narrow intervals.
const FEW_REPOSITORIES: usize = 10;

/// Puts the first row into words, as an example of how to read the table.
#[component]
pub(super) fn Reader(rows: Memo<Vec<Arc<Row>>>) -> impl IntoView {
    let words = move || rows.with(|rows| rows.first().map(|row| in_words(row)));
    view! {
        <p class="footnote" hidden=move || rows.with(Vec::is_empty)>
            <strong>"In words: "</strong>
            {words}
            " Tasks that could not be run for reasons outside the agent are left out, never counted as 0."
        </p>
    }
}

fn in_words(row: &Row) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let interval = row
        .intervals
        .map(|i| format::interval_in_words(i.evoscore, 2));
    let interval = interval.map(|words| format!(" ({words})"));
    format!(
        "{} scores {}{}. In {} of its {} no passing test was ever broken, {} ended solved, \
         and a task took {} iterations on average.",
        row.model,
        format::score(row.evoscore),
        interval.unwrap_or_default(),
        percent(row.zero_regression_rate),
        format::count(row.tasks, "task"),
        percent(row.solved_rate),
        format::decimals(row.average_turns, 1)
    )
}

/// Explains intervals and ties, and when not to trust them.
#[component]
pub(super) fn Certainty(scene: Memo<Scene>, rows: Memo<Vec<Arc<Row>>>) -> impl IntoView {
    let repositories = Memo::new(move |_| scene.with(|s| s.repositories));
    let ties = move || {
        (repositories.get() > 1).then(|| {
            view! {
                "Rows joined by a line and marked “tied” are a "
                <Term word=Word::TieGroup/>
                ": the interval of their difference, task by task, spans 0."
            }
        })
    };
    let caution = move || {
        let text = warning(repositories.get())?;
        Some(view! { " "<strong class="caution">{text}</strong> })
    };
    view! {
        <p class="footnote" hidden=move || rows.with(Vec::is_empty)>
            <strong><Term word=Word::Interval text="Intervals"/>": "</strong>
            {move || intervals_are(repositories.get())}
            {ties}
            {caution}
            " "
            <a href="/about#certainty">"How sure is that?"</a>
        </p>
    }
}

fn intervals_are(repositories: usize) -> String {
    if repositories < 2 {
        return "none, because all tasks are of one repository: the variation between repositories \
                is unknown, so all rows count as tied."
            .to_owned();
    }
    format!(
        "95 %, from {} resamples of the {repositories} repositories the tasks are of (seed {SEED}). ",
        format::thousands(RESAMPLES as u64),
    )
}

fn warning(repositories: usize) -> Option<String> {
    (2..FEW_REPOSITORIES).contains(&repositories).then(|| {
        format!(
            "{repositories} repositories are few: the intervals are too narrow, and the order of \
             close rows may be luck."
        )
    })
}

/// Runs that have scores only in the other convention.
#[component]
pub(super) fn CountsOnly(scene: Memo<Scene>, state: BoardState) -> impl IntoView {
    let models = Memo::new(move |_| scene.with(|scene| scene.counts_only.join(", ")));
    let href = move || state.href(|r| r.convention = Convention::Reference);
    move || {
        let models = models.get();
        (!models.is_empty()).then(|| view! {
            <p class="footnote counts-only">
                <strong>"Not in this table: "</strong>
                {models}
                ". Their results say how many tests passed, but not which, so there is no score in the paper's convention. "
                <a href=href data-noscroll="">"Rank in the reference convention"</a>
            </p>
        })
    }
}

/// The runs that have scores and no rank, each with its reason.
#[component]
pub(super) fn Unranked(scene: Memo<Scene>) -> impl IntoView {
    let runs = Memo::new(move |_| scene.with(|scene| scene.unranked.clone()));
    let item = |run: UnrankedRun| {
        let href = format!("{}#{FINDINGS}", run_href(&run.run_id));
        let why = visible(&run.unranked.to_string()).into_owned();
        view! { <li><a href=href>{run.model}</a>": "{why}</li> }
    };
    move || {
        let runs = runs.get();
        (!runs.is_empty()).then(|| {
            view! {
                <section class="note" aria-labelledby="unranked-title">
                    <h2 id="unranked-title"><Term word=Word::Unranked text="Not ranked"/></h2>
                    <ul>{runs.into_iter().map(item).collect_view()}</ul>
                </section>
            }
        })
    }
}

/// "2 runs without a rank are not drawn."
pub(super) fn not_drawn(scene: &Scene) -> Option<String> {
    match scene.unranked.len() {
        0 => None,
        1 => Some("1 run without a rank is not drawn.".to_owned()),
        n => Some(format!("{n} runs without a rank are not drawn.")),
    }
}

/// Explains counting only unseen tasks, and which models it leaves out.
#[component]
pub(super) fn OnlyUnseen(scene: Memo<Scene>) -> impl IntoView {
    let left_out = Memo::new(move |_| scene.with(|scene| scene.left_out.clone()));
    move || {
        left_out.get().map(|left_out| view! {
            <p class="footnote">
                <strong>"Unseen tasks only: "</strong>
                "a task counts for a model when its target was committed after the model's release, so that no training data can contain it. Rows then cover different tasks (the column Tasks says how many), and their tokens alone are unknown."
                {named(" No release date, so not ranked: ", &left_out.undated_models)}
                {named(" No task is known to be newer than ", &left_out.too_young)}
                {named(" No date, so not counted: ", &left_out.undated_tasks)}
            </p>
        })
    }
}

/// How many names are listed; the others are counted.
const NAMED: usize = 8;

fn named(what: &str, names: &[String]) -> Option<String> {
    if names.is_empty() {
        return None;
    }
    let (listed, rest) = names.split_at(names.len().min(NAMED));
    let more = match rest.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    Some(format!("{what}{}{more}.", listed.join(", ")))
}

/// Tells screen readers that the order of the rows has changed.
#[component]
pub(super) fn Announcer(rows: Memo<Vec<Arc<Row>>>, gamma: RwSignal<Gamma>) -> impl IntoView {
    let said = RwSignal::new(String::new());
    Effect::new(move |before: Option<Vec<String>>| {
        let rows = rows.get();
        let order: Vec<String> = rows.iter().map(|row| row.run_id.clone()).collect();
        if before.is_some_and(|before| before != order) {
            let named = |row: &Arc<Row>| format!("{} {}", row.rank, row.model);
            let first: Vec<String> = rows.iter().take(3).map(named).collect();
            let gamma = format::gamma(gamma.get_untracked());
            said.set(format!("New order at γ {gamma}: {}", first.join(", ")));
        }
        order
    });
    view! { <p class="visually-hidden" role="status" aria-live="polite">{move || said.get()}</p> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::{sheet, sheet_of};
    use swe_ci_views::leaderboard::UncertaintyModel;

    #[test]
    fn a_row_in_words() {
        let row = &sheet(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0];
        assert_eq!(
            in_words(row),
            "m scores 0.500. In 100 % of its 1 task no passing test was ever broken, \
             0 % ended solved, and a task took 1.0 iterations on average."
        );
        let sheet = sheet_of(&[("m", vec![&[0.5], &[1.0]])]);
        let row = &UncertaintyModel::new(&sheet).rank(&sheet, Gamma::ONE, Convention::Paper)[0];
        let words = in_words(row);
        assert!(
            words.starts_with("m scores 0.750 (95 % interval 0.50 to 1.00). In 100 %"),
            "{words}"
        );
    }

    #[test]
    fn how_sure_that_is() {
        let check = |repositories, sure: &str, warned: bool| {
            let text = intervals_are(repositories);
            assert!(text.contains(sure), "{text}");
            assert_eq!(warning(repositories).is_some(), warned, "{repositories}");
        };
        check(0, "none, because", false);
        check(1, "none, because", false);
        check(2, "2000 resamples of the 2 repositories", true);
        check(9, "the 9 repositories", true);
        check(10, "the 10 repositories", false);
        assert!(intervals_are(2).contains("(seed 20260101)"));
    }

    #[test]
    fn many_names_are_counted() {
        let names = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        assert_eq!(named("Out: ", &names(0)), None);
        assert_eq!(named("Out: ", &names(2)).unwrap(), "Out: 0, 1.");
        let many = named("Out: ", &names(10)).unwrap();
        assert_eq!(many, "Out: 0, 1, 2, 3, 4, 5, 6, 7 and 2 more.");
    }
}
