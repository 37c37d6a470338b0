//! Notes below the table: how to read it, and how far to trust it.

use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_core::text::visible;
use swe_ci_core::uncertainty::{RESAMPLES, SEED};
use swe_ci_views::leaderboard::{LeftOut, Row, UnrankedRun};

use crate::components::CollectAny;
use crate::components::Term;
use crate::format;
use crate::glossary::Word;
use crate::pages::routes::{FINDINGS, run_href};
use crate::query::Reading;

/// With fewer repositories, a bootstrap over them gives too narrow intervals.
const FEW_REPOSITORIES: usize = 10;

/// Puts the first row into words, as an example of how to read the table.
#[component]
pub(super) fn Reader(first: Row) -> impl IntoView {
    view! {
        <p class="footnote">
            <strong>"In words: "</strong>
            {in_words(&first)}
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
pub(super) fn Certainty(repositories: usize) -> impl IntoView {
    let ties = (repositories > 1).then(|| {
        view! {
            "“Tied” with the next row (together a "
            <Term word=Word::TieGroup/>
            "): the interval of their difference, task by task, spans 0, or it may be chance (p of 0.05 or more). Otherwise it is “real”."
        }
    });
    let caution = warning(repositories);
    let caution = caution.map(|text| view! { " "<strong class="caution">{text}</strong> });
    view! {
        <p class="footnote">
            <strong><Term word=Word::Interval text="Intervals"/>": "</strong>
            {intervals_are(repositories)}
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
pub(super) fn CountsOnly(models: Vec<String>, reading: Reading) -> impl IntoView {
    let href = Reading {
        convention: Convention::Reference,
        ..reading
    };
    (!models.is_empty()).then(|| view! {
        <p class="footnote counts-only">
            <strong>"Not in this table: "</strong>
            {format::names(&models)}
            ". Their results say how many tests passed, but not which, so there is no score in the paper's convention. "
            <a href=href.href()>"Rank in the reference convention"</a>
        </p>
    })
}

/// The runs that have scores and no rank, each with its reason and score.
#[component]
pub(super) fn Unranked(runs: Vec<(UnrankedRun, Option<f64>)>) -> impl IntoView {
    let item = |(run, score): (UnrankedRun, Option<f64>)| {
        let href = format!("{}#{FINDINGS}", run_href(&run.run_id));
        let why = visible(&run.unranked.to_string()).into_owned();
        let score = score.map(|score| format!(" (EvoScore {})", format::score(score)));
        view! { <li><a href=href>{run.model}</a>": "{why}{score}</li> }
    };
    (!runs.is_empty()).then(|| {
        view! {
            <section class="note" aria-labelledby="unranked-title">
                <h2 id="unranked-title"><Term word=Word::Unranked text="Not ranked"/></h2>
                <ul>{runs.into_iter().map(item).collect_any()}</ul>
            </section>
        }
    })
}

/// Explains counting only unseen tasks, and which models it leaves out.
#[component]
pub(super) fn OnlyUnseen(left_out: Option<LeftOut>) -> impl IntoView {
    left_out.map(|left_out| view! {
        <p class="footnote">
            <strong>"Unseen tasks only: "</strong>
            "a task counts for a model when its target was committed after the model's training data ends, or after its release if that is not known, so that no training data can contain it. Rows then cover different tasks (the column Tasks says how many), and their tokens alone are unknown."
            {named(" No release date, so not ranked: ", &left_out.undated_models)}
            {named(" No task is known to be newer than ", &left_out.too_young)}
            {named(" Far fewer such tasks than the others, so not ranked: ", &left_out.too_few)}
            {named(" No date, so not counted: ", &left_out.undated_tasks)}
        </p>
    })
}

fn named(what: &str, names: &[String]) -> Option<String> {
    (!names.is_empty()).then(|| format!("{what}{}.", format::names(names)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::Gamma;
    use swe_ci_plots::fixture::{leaderboard, leaderboard_of};
    use swe_ci_views::leaderboard::UncertaintyModel;

    #[test]
    fn a_row_in_words() {
        let row = &leaderboard(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0];
        assert_eq!(
            in_words(row),
            "m scores 0.500. In 100 % of its 1 task no passing test was ever broken, \
             0 % ended solved, and a task took 1.0 iterations on average."
        );
        let leaderboard = leaderboard_of(&[("m", vec![&[0.5], &[1.0]])]);
        let row =
            &UncertaintyModel::new(&leaderboard).rank(&leaderboard, Gamma::ONE, Convention::Paper)
                [0];
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
}
