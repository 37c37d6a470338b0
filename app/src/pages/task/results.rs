use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::{TaskResult, TaskScore};

use super::data::Reading;
use crate::components::CollectAny;
use crate::components::convention_choices;
use crate::components::{CardTable, Choices, FilterSelect, Key, Score, floor_of};
use crate::glossary::Word;
use crate::pages::result_table::{Column, KindTag, KnownByCounts, heads, words_of};
use crate::pages::routes::{evolution_href, matrix_href, run_href};
use crate::query::encode;
use crate::{format, labels};

/// After the model.
const COLUMNS: [Column; 5] = [
    Column::text(Word::EvoScore, "EvoScore"),
    Column::number(Word::Solved, "Solved"),
    Column::number(Word::ZeroRegression, "Zero regression"),
    Column::number(Word::IterationsUsed, "Iterations"),
    Column::text(Word::Evolution, "Evolution"),
];

#[component]
pub(super) fn ModelResults(
    task: String,
    /// The splits with this task.
    splits: Vec<String>,
    results: Vec<TaskResult>,
    reading: Signal<Reading>,
) -> impl IntoView {
    let body = if results.is_empty() {
        Either::Left(view! {
            <p class="quiet">"No run is scored on this task yet. "<a href="/runs">"See what is running"</a></p>
        })
    } else {
        Either::Right(view! {
            <SideBySide task=task.clone() results=results.clone() reading/>
            <Results task results reading/>
            <p class="quiet">"Compared with all other tasks: "{beside(&splits)}</p>
        })
    };
    view! {
        <section aria-labelledby="fared-title">
            <h2 id="fared-title">"Results of models"</h2>
            {body}
        </section>
    }
}

/// Chooses two runs, to see their evolutions of the task one beside the other.
#[component]
fn SideBySide(task: String, results: Vec<TaskResult>, reading: Signal<Reading>) -> impl IntoView {
    let convention = reading.with_untracked(|r| r.convention);
    let ranked = ranked(&results, convention);
    (ranked.len() > 1).then(|| {
        let select = |(place, label)| {
            let option = |(at, (result, _)): (usize, &(TaskResult, TaskScore))| {
                let same = |(other, _): &&(TaskResult, TaskScore)| other.model == result.model;
                let name = match ranked.iter().filter(same).count() {
                    1 => result.model.clone(),
                    _ => format!("{} · {}", result.model, result.harness),
                };
                (result.run_id.clone(), name, at == place)
            };
            let options = ranked.iter().enumerate().map(option).collect::<Vec<_>>();
            view! { <FilterSelect name="runs" label options/> }
        };
        let selects = [(0, "Two runs"), (1, "beside")].map(select);
        view! {
            <form class="choose-how" method="get" action=format!("/compare/{}", encode(&task))>
                <input type="hidden" name="convention" value=convention.name()/>
                {selects.collect_any()}
                <button class="button">"Side by side"</button>
            </form>
        }
    })
}

/// A link to the matrix of each split, with commas between.
fn beside(splits: &[String]) -> impl IntoView + use<> {
    let one = |(place, split): (usize, &String)| {
        let comma = (place > 0).then_some(", ");
        view! { {comma}<a href=matrix_href(Some(split))>{split.clone()}</a> }
    };
    splits.iter().enumerate().map(one).collect_any()
}

/// The results of one convention, best first.
fn ranked(results: &[TaskResult], convention: Convention) -> Vec<(TaskResult, TaskScore)> {
    let score = |result: &TaskResult| {
        let score = result.scores.iter().find(|s| s.convention == convention)?;
        Some((result.clone(), *score))
    };
    let mut scored: Vec<_> = results.iter().filter_map(score).collect();
    scored.sort_by(|(a, x), (b, y)| {
        let order = y.evoscore.total_cmp(&x.evoscore);
        order.then_with(|| a.model.cmp(&b.model))
    });
    scored
}

#[component]
fn Results(task: String, results: Vec<TaskResult>, reading: Signal<Reading>) -> impl IntoView {
    let name = StoredValue::new(task.clone());
    let choices = convention_choices(
        move || reading.with(|r| r.convention),
        move |convention| {
            let mut reading = reading.get();
            reading.convention = convention;
            name.with_value(|task| reading.href(task))
        },
    );
    let results = StoredValue::new(results);
    let convention = Memo::new(move |_| reading.with(|r| r.convention));
    let rows = move || {
        let ranked = results.with_value(|r| ranked(r, convention.get()));
        let floor = floor_of(ranked.iter().map(|(_, score)| score.evoscore));
        let row = |(result, score)| view! { <ResultRow task=task.clone() result score floor/> };
        ranked.into_iter().map(row).collect_any()
    };
    let missing = move || {
        let without = |r: &Vec<TaskResult>| r.len() - ranked(r, convention.get()).len();
        view! { <KnownByCounts runs=results.with_value(without)/> }
    };
    let model = view! { <th role="columnheader" scope="col">"Model"</th> };
    let heads = (model, heads(&COLUMNS)).into_any();
    view! {
        <p class="quiet">"At γ = 1, on this task alone: an anecdote, not a ranking."</p>
        <div class="controls controls-plain"><Choices label="Counting" word=Word::Convention choices/></div>
        <Key words=Signal::stored(words_of(&COLUMNS))/>
        <CardTable class="cards fared" heads>{rows}</CardTable>
        {missing}
    }
}

#[component]
fn ResultRow(task: String, result: TaskResult, score: TaskScore, floor: f64) -> impl IntoView {
    let run = run_href(&result.run_id);
    let evolution = evolution_href(&result.run_id, &task, 1);
    let origin = labels::origin(&result.harness, &result.provider);
    let samples = match result.samples {
        1 => "See it".to_owned(),
        n => format!("See them ({n} samples)"),
    };
    // Voice control matches the visible text, so the label starts with it.
    let label = format!("{samples}: how {} went", result.model);
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=run>{result.model}</a>
                <KindTag kind=result.kind/>
                <small>{format!("{origin} · {}", result.split)}</small>
            </th>
            <td role="cell" class="col-score" data-label="EvoScore"><Score value=score.evoscore floor/></td>
            <td role="cell" class="number" data-label="Solved">{yes_no(score.solved)}</td>
            <td role="cell" class="number" data-label="Zero regression">{yes_no(score.zero_regression)}</td>
            <td role="cell" class="number" data-label="Iterations">{format::few(score.turns)}</td>
            <td role="cell" data-label="Evolution"><a href=evolution aria-label=label>{samples}</a></td>
        </tr>
    }
}

/// "yes", "no", or the share of the samples.
fn yes_no(share: f64) -> String {
    match share {
        1.0.. => "yes".to_owned(),
        ..=0.0 => "no".to_owned(),
        _ => format::share(share),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::Gamma;
    use swe_ci_plots::fixture::{leaderboard, task_id};

    #[test]
    fn best_first_in_each_convention() {
        let mut leaderboard = leaderboard(&[("b", &[0.5]), ("a", &[0.5]), ("c", &[1.0])]);
        let task = task_id("task-0");
        leaderboard.entries[2].tasks_mut()[0].samples[0].paper = None;
        let results: Vec<TaskResult> = leaderboard
            .entries
            .iter()
            .filter_map(|e| e.on_task("s", &task, Gamma::ONE))
            .collect();
        let models = |convention| {
            let ranked = ranked(&results, convention);
            ranked.into_iter().map(|(r, _)| r.model).collect::<Vec<_>>()
        };
        assert_eq!(models(Convention::Paper), ["a", "b"]);
        assert_eq!(models(Convention::Reference), ["c", "a", "b"]);
    }

    #[test]
    fn shares_in_words() {
        assert_eq!(
            [yes_no(1.0), yes_no(0.0), yes_no(0.5)],
            ["yes", "no", "0.50"]
        );
        assert_eq!([3.0, 2.5].map(format::few), ["3", "2.5"]);
    }
}
