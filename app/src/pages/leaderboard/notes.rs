//! Notes below the table: how to read it, and how far to trust it.

use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_core::text::visible;
use swe_ci_core::uncertainty::{RESAMPLES, SEED};
use swe_ci_views::leaderboard::{LeftOut, Row, UnrankedRun};

use crate::components::CollectAny;
use crate::components::{Tag, Term, Tone};
use crate::format;
use crate::glossary::Word;
use crate::pages::result_table::unranked_word;
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
        format::percent(row.zero_regression_rate),
        format::count(row.tasks, "task"),
        format::percent(row.solved_rate),
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
            "): their difference, task by task, may be chance (p of 0.05 or more), so that its interval spans 0. Otherwise it is “real”."
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
        "95\u{a0}%, from {} resamples of the {repositories} repositories the tasks are of (seed {SEED}). ",
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

/// A run without a rank, and its EvoScore in this view if it has one.
type Apart = (UnrankedRun, Option<f64>);

/// The runs that have scores and no rank, folded: a group for each reason.
#[component]
pub(super) fn Unranked(
    runs: Vec<Apart>,
    /// How many the table has.
    columns: usize,
) -> impl IntoView {
    let groups = by_reason(runs);
    let counts: Vec<String> = groups
        .iter()
        .map(|(word, runs)| counted(runs.len(), word))
        .collect();
    let summary = format!("Not ranked: {}", counts.join(" · "));
    let item = |(run, score): Apart| {
        let href = format!("{}#{FINDINGS}", run_href(&run.run_id));
        let why = visible(&run.unranked.to_string()).into_owned();
        let score = score.map(|score| format!(" (EvoScore {})", format::score(score)));
        view! { <li><a href=href>{run.model}</a>": "{why}{score}</li> }
    };
    let group = |(word, runs): (&'static str, Vec<Apart>)| {
        let items = runs.into_iter().map(item).collect_any();
        view! {
            <section>
                <h2><Tag text=word tone=Tone::Warn/></h2>
                <ul>{items}</ul>
            </section>
        }
    };
    view! {
        <tbody role="rowgroup" class="unranked">
            <tr role="row">
                <td role="cell" colspan=columns>
                    <details>
                        <summary>{summary}</summary>
                        <p class="quiet">
                            "Runs with scores that are "<Term word=Word::Unranked/>
                            " stand apart, a group for each reason."
                        </p>
                        <div class="row-parts">{groups.into_iter().map(group).collect_any()}</div>
                    </details>
                </td>
            </tr>
        </tbody>
    }
}

/// In the order of their first runs.
fn by_reason(runs: Vec<Apart>) -> Vec<(&'static str, Vec<Apart>)> {
    let mut groups: Vec<(&'static str, Vec<Apart>)> = Vec::new();
    for run in runs {
        let word = unranked_word(&run.0.unranked);
        match groups.iter_mut().find(|(known, _)| *known == word) {
            Some((_, runs)) => runs.push(run),
            None => groups.push((word, vec![run])),
        }
    }
    groups
}

/// "1 incomplete", "2 with fewer iterations".
fn counted(runs: usize, word: &str) -> String {
    match word {
        "fewer iterations" => format!("{runs} with {word}"),
        "other revision" => format!("{runs} of another revision"),
        "unranked" => format!("{runs} for other reasons"),
        _ => format!("{runs} {word}"),
    }
}

/// Explains counting only unseen tasks, and which models it leaves out.
#[component]
pub(super) fn OnlyUnseen(left_out: Option<LeftOut>) -> impl IntoView {
    left_out.map(|left_out| view! {
        <p class="footnote">
            <strong>"Unseen tasks only: "</strong>
            "a task counts for a model when its target was committed after the model's training data ends, or after its release if that is not known, so that no training data can contain it. Models of different dates then have different tasks (the column Tasks says how many), so a mean and the rank by it may compare easier tasks with harder ones; tie groups, p-values and the comparison count only tasks that both models have. Tokens of such tasks alone are unknown."
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
            "m scores 0.500. In 100\u{a0}% of its 1 task no passing test was ever broken, \
             0\u{a0}% ended solved, and a task took 1.0 iterations on average."
        );
        let leaderboard = leaderboard_of(&[("m", vec![&[0.5], &[1.0]])]);
        let row =
            &UncertaintyModel::new(&leaderboard).rank(&leaderboard, Gamma::ONE, Convention::Paper)
                [0];
        let words = in_words(row);
        assert!(
            words.starts_with("m scores 0.750 (95\u{a0}% interval 0.50 to 1.00). In 100\u{a0}%"),
            "{words}"
        );
    }

    #[test]
    fn runs_without_a_rank_stand_in_groups() {
        use swe_ci_core::finding::Unranked;
        let run = |unranked| {
            let run = UnrankedRun {
                run_id: "r".into(),
                model: "m".into(),
                unranked,
            };
            (run, None)
        };
        let short = |scored| Unranked::Incomplete { scored, of: 9 };
        let fewer = Unranked::FewerIterations {
            iterations: 5,
            of: 20,
        };
        let runs = [short(8), fewer, short(1), Unranked::HostedTools].map(run);
        let groups = by_reason(runs.to_vec());
        let words: Vec<String> = groups
            .iter()
            .map(|(word, runs)| counted(runs.len(), word))
            .collect();
        let expect = [
            "2 incomplete",
            "1 with fewer iterations",
            "1 for other reasons",
        ];
        assert_eq!(words, expect);
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
