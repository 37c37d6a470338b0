//! One model: all its runs, and its strengths.

mod strengths;
mod trend;

use std::collections::BTreeSet;

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::{Board, ModelDetail, ModelRun, Standing};

use self::strengths::StrengthsOfModel;
use self::trend::TrendOfModel;
use crate::components::CollectAny;
use crate::components::convention_choices;
use crate::components::{
    CardTable, Choices, InPlace, Key, MarkKey, PageTop, Score, Tag, crumb, fetched, floor_of,
    loaded, unseen_choices,
};
use crate::error::{AppError, ErrorKind};
use crate::glossary::Word;
use crate::pages::result_table::{Column, KindTag, MarkTag, UnrankedTag, heads, words_of};
use crate::pages::routes::{compare_with_href, run_href};
use crate::pages::why_lost::WhyLost;
use crate::query::{EXCLUDE, Query, encode, of_query, parsed, path_part};
use crate::{format, labels};

#[component]
pub fn ModelPage() -> impl IntoView {
    let name = path_part("name");
    let convention = of_query(|query| parsed(query, "convention").unwrap_or_default());
    let unseen = of_query(|query| query.get_str("seen") == Some(EXCLUDE));
    let resource = fetched(move || (name.get(), unseen.get()), model);
    loaded(
        resource,
        move |(detail, looks)| view! { <InPlace/><ModelView detail looks convention unseen=unseen.get()/> },
    )
}

async fn model((name, unseen): (String, bool)) -> Result<(ModelDetail, Vec<usize>), AppError> {
    let found = crate::error::engine()?.model(&name, unseen).await;
    let found = found.map_err(AppError::from).map_err(|error| match error.kind {
        ErrorKind::NotFound => AppError::not_found(
            "No run on this site has a model of this name. The leaderboard lists all scored models; names must match exactly, including capitals.",
        ),
        _ => error,
    })?;
    let boards = found.runs.iter().map(|run| {
        let summary = &run.summary;
        (Board::of(&summary.config), summary.run_id.as_str())
    });
    let looks = crate::looks::numbers(boards.collect()).await?;
    Ok((found, looks))
}

/// The last appears only where a run has prices.
const COLUMNS: [Column; 9] = [
    Column::text(Word::Split, "Split"),
    Column::text(Word::RankInterval, "Rank"),
    Column::text(Word::EvoScore, "EvoScore"),
    Column::number(Word::ZeroRegression, "Zero regression"),
    Column::number(Word::Solved, "Solved"),
    Column::number(Word::Zrr, "ZRR"),
    Column::number(Word::IterationsUsed, "Iterations"),
    Column::number(Word::Scored, "Tasks"),
    Column::number(Word::Cost, "Cost"),
];

#[component]
fn ModelView(
    detail: ModelDetail,
    /// The number of each run's look.
    looks: Vec<usize>,
    #[prop(into)] convention: Signal<Convention>,
    unseen: bool,
) -> impl IntoView {
    let ModelDetail { model, runs, .. } = detail;
    let name = StoredValue::new(model.clone());
    let choices = convention_choices(
        move || convention.get(),
        move |convention| name.with_value(|name| href(name, convention, unseen)),
    );
    let by_age = unseen_choices(unseen, |unseen| {
        name.with_value(|name| href(name, convention.get_untracked(), unseen))
    });
    let lede = lede(&runs);
    let which = unseen.then(|| view! { <p class="quiet">{unseen_in_words(&runs)}</p> });
    let runs = StoredValue::new(runs);
    let mut json = Query::default();
    json.add("seen", unseen.then_some(EXCLUDE));
    let json = json.at(&format!("/api/v1/models/{}", encode(&model)));
    view! {
        <PageTop
            title=model.clone()
            description=format!("All runs of {model} over all splits, and its strengths.")
            crumbs=vec![crumb("/", "Leaderboard")]
            class="model-name"
            lede
        />
        <section class="controls" aria-label="How to count">
            <div class="controls-choices">
                <Choices label="Counting" choices/>
                <Choices label="Tasks" choices=by_age/>
                <a class="controls-link" href=json>"JSON"</a>
            </div>
        </section>
        {which}
        <Runs runs convention/>
        <TrendOfModel runs looks convention=convention.get_untracked()/>
        <WhyLost classes=detail.lost/>
        <StrengthsOfModel strengths=detail.strengths convention/>
    }
}

/// The page of the model with these choices.
fn href(model: &str, convention: Convention, unseen: bool) -> String {
    let mut query = Query::default();
    query.add_convention(convention);
    query.add("seen", unseen.then_some(EXCLUDE));
    query.at(&format!("/models/{}", encode(model)))
}

/// Which tasks count, or why none does.
fn unseen_in_words(runs: &[ModelRun]) -> &'static str {
    let dated = |run: &ModelRun| {
        let config = &run.summary.config;
        config.training_cutoff.is_some() || config.release_date.is_some()
    };
    let scored = |run: &ModelRun| !run.standings.is_empty();
    if runs.iter().any(scored) {
        "Only tasks count whose target is younger than the model's training data, or than the model where that is not known. Ranks are among all models, each on its unseen tasks."
    } else if runs.iter().any(dated) {
        "None of its scored tasks has a target that is younger than the model, so nothing is known of unseen tasks."
    } else {
        "Its runs name neither a training cutoff nor a release date of the model, so nobody can tell which tasks it has not seen."
    }
}

/// "3 runs on 2 splits."
fn lede(runs: &[ModelRun]) -> String {
    let splits = runs.iter().map(|run| &run.summary.config.split);
    let splits = splits.collect::<BTreeSet<_>>().len();
    format!(
        "{} on {}. Scores are at γ = 1, with 95\u{a0}% intervals.",
        format::count(runs.len(), "run"),
        format::count(splits, "split")
    )
}

#[component]
fn Runs(runs: StoredValue<Vec<ModelRun>>, convention: Signal<Convention>) -> impl IntoView {
    let priced = runs.with_value(|runs| runs.iter().any(is_priced));
    let rows = move || {
        let runs = runs.get_value();
        let standing = |run: &ModelRun| {
            let mut all = run.standings.iter();
            all.find(|s| s.convention == convention.get()).cloned()
        };
        let standings: Vec<Option<Standing>> = runs.iter().map(standing).collect();
        let floor = floor_of(standings.iter().flatten().map(|s| s.row.evoscore));
        let row = |(run, standing)| view! { <RunRow run standing floor priced/> };
        runs.into_iter().zip(standings).map(row).collect_any()
    };
    let marks = runs.with_value(|runs| labels::marks(runs.iter().map(|run| run.summary.mark)));
    let columns = &COLUMNS[..if priced { 9 } else { 8 }];
    view! {
        <section aria-labelledby="runs-title">
            <h2 id="runs-title">"Runs"</h2>
            <Key words=Signal::stored(words_of(columns))/>
            <MarkKey words=Signal::stored(marks)/>
            <CardTable class="cards model-runs" heads=heads(columns).into_any()>{rows}</CardTable>
        </section>
    }
}

#[component]
fn RunRow(
    run: ModelRun,
    standing: Option<Standing>,
    floor: f64,
    /// Whether there is a cost column.
    priced: bool,
) -> impl IntoView {
    let summary = run.summary;
    let (state, tone) = labels::run_state(&summary, false);
    let config = summary.config;
    let origin = labels::origin(config.harness.name(), &config.provider);
    let created = format::day(&summary.created_at);
    let compare = compare_with_href(&summary.run_id);
    let compare_label = format!(
        "Compare the run on {} of {created} with others",
        config.split
    );
    let figure = |of: fn(&Standing) -> String| format::or_dash(standing.as_ref().map(of));
    let score = match standing.as_ref().map(|standing| &standing.row) {
        Some(row) => {
            let interval = Signal::stored(row.intervals.map(|i| i.evoscore));
            Either::Left(view! { <Score value=row.evoscore floor interval/> })
        }
        None => Either::Right("–"),
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=run_href(&summary.run_id)>{config.split}</a>
                <span class="tags"><Tag text=state tone/><KindTag kind=config.kind/><MarkTag mark=summary.mark/><UnrankedTag unranked=run.unranked/></span>
                <small>{format!("{origin} · {created} · ")}<a href=compare aria-label=compare_label>"compare"</a></small>
            </th>
            <td role="cell" data-label="Rank">{figure(rank)}</td>
            <td role="cell" class="col-score" data-label="EvoScore">{score}</td>
            <td role="cell" class="number" data-label="Zero regression">{figure(|s| format::share(s.row.zero_regression_rate))}</td>
            <td role="cell" class="number" data-label="Solved">{figure(|s| format::share(s.row.solved_rate))}</td>
            <td role="cell" class="number" data-label="ZRR">{figure(|s| format::share(s.row.zrr))}</td>
            <td role="cell" class="number" data-label="Iterations">{figure(|s| format::decimals(s.row.average_turns, 1))}</td>
            <td role="cell" class="number" data-label="Tasks">{figure(|s| format!("{} / {}", s.row.tasks, s.row.tasks_total))}</td>
            {priced.then(|| view! { <td role="cell" class="number" data-label="Cost">{figure(cost)}</td> })}
        </tr>
    }
}

fn is_priced(run: &ModelRun) -> bool {
    run.standings.iter().any(|s| s.row.micro_usd.is_some())
}

fn cost(standing: &Standing) -> String {
    format::or_dash(standing.row.micro_usd.map(format::dollars))
}

/// "2 of 7 · 2–4": the rank and its 95 % interval.
fn rank(standing: &Standing) -> String {
    let rank = format!("{} of {}", standing.row.rank, standing.of);
    match standing.row.intervals.map(|i| i.rank) {
        Some(open) if open.best != open.worst => format!("{rank} · {}", format::ranks(open)),
        _ => rank,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::Gamma;
    use swe_ci_core::uncertainty::RankInterval;
    use swe_ci_plots::fixture::leaderboard;

    #[test]
    fn ranks_in_words() {
        let row = leaderboard(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
        let standing = Standing {
            convention: Convention::Paper,
            of: 7,
            row,
        };
        assert_eq!(rank(&standing), "1 of 7");
        let open = RankInterval { best: 1, worst: 3 };
        assert_eq!(format::ranks(open), "1–3");
    }
}
