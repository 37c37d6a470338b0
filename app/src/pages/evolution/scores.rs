//! The scores of an evolution.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::audit::{EvolutionAudit, FunctionAnswers, Generalisation, LeftOut};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::step::Ending;
use swe_ci_core::text::visible;
use swe_ci_views::leaderboard::EvolutionScore;
use swe_ci_views::view::EvolutionView;

use crate::components::CollectAny;
use crate::components::{PlainTable, Term, heading};
use crate::format;
use crate::glossary::Word;

/// A row of the table: a name, its explanation, its value.
type Measure = (&'static str, &'static str, fn(&EvolutionScore) -> String);

static MEASURES: [Measure; 5] = [
    (
        "EvoScore",
        "Mean of the normalized change after each iteration, −1 to 1",
        |s| format::score(s.evoscore),
    ),
    (
        "Zero regression",
        "Whether no passing test was ever broken",
        |s| yes_no(s.zero_regression),
    ),
    (
        "Solved",
        "paper: all target tests pass at the end; reference: the target count was reached at any time",
        |s| yes_no(s.solved),
    ),
    (
        "ZRR",
        "Zero-regression resolution: solved, and no passing test was ever broken",
        |s| yes_no(s.zrr),
    ),
    ("Iterations", "Iterations used", |s| s.turns.to_string()),
];

fn yes_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// "0.617": at γ = 1, in the first convention that has a score.
pub(super) fn score_in_words(evolution: &EvolutionView) -> Option<String> {
    let mut conventions = Convention::ALL.into_iter();
    let score = conventions.find_map(|c| EvolutionScore::of(evolution, Gamma::ONE, c))?;
    Some(format::score(score.evoscore))
}

/// The scores of the evolution in each convention that has any.
#[component]
pub(super) fn ScoresOfEvolution(
    evolution: EvolutionView,
    audit: Option<EvolutionAudit>,
) -> impl IntoView {
    let score = |convention: Convention| {
        let score = EvolutionScore::of(&evolution, Gamma::ONE, convention)?;
        Some((convention, score))
    };
    let scores: Vec<_> = Convention::ALL.into_iter().filter_map(score).collect();
    let missing = (evolution.suite.counts_only && !scores.is_empty()).then(|| {
        view! {
            <p class="quiet">
                "Only how many tests passed is known, not which: there is no score in the paper's convention."
            </p>
        }
    });
    let body = if scores.is_empty() {
        Either::Left(view! { <p class="quiet">{why_none(&evolution)}</p> })
    } else {
        Either::Right(table(&scores))
    };
    view! {
        <section class="scores" aria-labelledby="scores-title">
            <h2 id="scores-title">"Scores"</h2>
            <p class="quiet">"At γ = 1. "<a href="/about#columns">"Definitions"</a></p>
            {missing}
            {body}
            {audit.map(|audit| view! { <Audited audit evolution_id=evolution.evolution_id/> })}
        </section>
    }
}

/// Its audit: of which states, and what it found of the last.
#[component]
fn Audited(audit: EvolutionAudit, evolution_id: String) -> impl IntoView {
    let json = format!("/api/v1/evolutions/{evolution_id}/audit");
    let says = visible(&audit.text()).into_owned();
    let generalisation = audit.generalisation;
    view! {
        <p class="quiet">{says}" "<a href=json>"The audit as JSON"</a></p>
        {generalisation.map(|generalisation| view! { <Generalised generalisation/> })}
    }
}

/// The generalisation of its last code, what was asked and what was not.
#[component]
fn Generalised(generalisation: Generalisation) -> impl IntoView {
    let Generalisation {
        functions,
        left_out,
        unanswered,
        late,
        ..
    } = &generalisation;
    let of_function = |function: &FunctionAnswers| {
        let FunctionAnswers {
            function,
            asked,
            equal,
            ..
        } = function;
        view! { <li><code>{visible(function).into_owned()}</code>{format!(": {equal} of {asked} equal")}</li> }
    };
    let silent = (*unanswered > 0).then(|| {
        let silent = format::thousands(*unanswered);
        view! { <li>{format!("without an answer in time, which counts as another one: {silent}")}</li> }
    });
    let late = (*late > 0).then(|| {
        let late = format::thousands(*late);
        view! { <li>{format!("not counted, no time was left to ask: {late}")}</li> }
    });
    let of_reason = |left_out: &LeftOut| {
        let LeftOut { why, calls } = left_out;
        view! { <li>{format!("not counted, {}: {}", visible(why), format::thousands(*calls))}</li> }
    };
    view! {
        <p class="measure-value">
            <Term word=Word::Generalisation text="Generalisation"/>
            {format!(": {}", generalised(&generalisation))}
        </p>
        <details class="fold">
            <summary>"Changed inputs by function"</summary>
            <p class="quiet">"Where a test compares a call with a constant, the same call with one input changed a little. It changes no score: honest code may differ where no test looks."</p>
            <ul>
                {functions.iter().map(of_function).collect_any()}
                {silent}
                {late}
                {left_out.iter().map(of_reason).collect_any()}
            </ul>
        </details>
    }
}

/// "0.93 (0.90–0.96), 120 changed inputs of 9 functions".
fn generalised(generalisation: &Generalisation) -> String {
    let Some((share, interval)) = generalisation.share.zip(generalisation.interval) else {
        return "unknown, for no changed input could be asked".to_owned();
    };
    let [share, low, high] = [share, interval.low, interval.high].map(format::share);
    let asked = format::count(generalisation.asked, "changed input");
    let functions = format::count(generalisation.functions.len(), "function");
    format!("{share} ({low}–{high}), {asked} of {functions}")
}

fn why_none(evolution: &EvolutionView) -> &'static str {
    match evolution.ending {
        None => "It is scored when it ends.",
        Some(Ending::Blocked) => {
            "None: the platform or the model's provider failed, which is never scored."
        }
        Some(Ending::BudgetSpent) => {
            "None: the run's budget was spent before it ended, and that is never scored."
        }
        Some(_) => "None: it was cancelled before it ended.",
    }
}

fn table(scores: &[(Convention, EvolutionScore)]) -> impl IntoView + use<> {
    let heads = scores
        .iter()
        .map(|(convention, _)| view! { <th scope="col">{convention.name()}</th> })
        .collect_any();
    let row = |(name, hint, of): &'static Measure| {
        let cells = scores.iter().map(|(_, score)| {
            view! { <td><span class="measure-value">{of(score)}</span></td> }
        });
        view! {
            <tr>
                <th scope="row">{heading(name, hint)}</th>
                {cells.collect_any()}
            </tr>
        }
    };
    let rows = MEASURES.iter().map(row).collect_any();
    let heads = view! { <th scope="col">"Measure, by "<Term word=Word::Convention/></th>{heads} };
    let heads = heads.into_any();
    view! { <PlainTable class="measures" caption="Scores by convention" heads>{rows}</PlainTable> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generalisation_in_words() {
        let of = |asked, equal| FunctionAnswers {
            function: "f".into(),
            asked,
            equal,
            unknown: 0,
        };
        let check = |functions, expect: &str| {
            let generalisation = Generalisation::of(functions, 0, Vec::new());
            assert_eq!(generalised(&generalisation), expect);
        };
        check(
            vec![of(30, 30), of(10, 5)],
            "0.75 (0.57–0.87), 40 changed inputs of 2 functions",
        );
        check(Vec::new(), "unknown, for no changed input could be asked");
    }
}
