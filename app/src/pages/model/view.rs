//! The page of a model.

use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::{ModelDetail, ModelRun, Standing};

use super::strengths::StrengthsOfModel;
use super::trend::TrendOfModel;
use crate::components::{Choice, Choices, Key, PageHead, ScoreBar, Tag, Term, floor_of};
use crate::format;
use crate::glossary::Word;
use crate::pages::mark::{MarkKey, MarkTag};
use crate::pages::routes::{model_href, run_href};
use crate::query::encode;
use crate::words;

/// The words of the column headings.
const HEADS: [Word; 8] = [
    Word::Split,
    Word::RankInterval,
    Word::EvoScore,
    Word::ZeroRegression,
    Word::Solved,
    Word::Turns,
    Word::Scored,
    Word::Cost,
];

#[component]
pub fn ModelView(
    detail: ModelDetail,
    #[prop(into)] convention: Signal<Convention>,
) -> impl IntoView {
    let ModelDetail {
        model,
        runs,
        strengths,
    } = detail;
    let choices = convention_choices(&model, convention);
    let lede = lede(&runs);
    let runs = StoredValue::new(runs);
    let json = format!("/api/v1/models/{}", encode(&model));
    view! {
        <PageHead
            title=model.clone()
            description=format!("All runs of {model} over all splits, and its strengths.")
        />
        <nav class="crumbs" aria-label="Where this is"><a href="/">"Leaderboard"</a></nav>
        <div class="hero">
            <h1 class="model-name">{model}</h1>
            <p class="lede">{lede}</p>
        </div>
        <section class="controls" aria-label="How to count">
            <div class="controls-choices">
                <Choices label="Counting" choices/>
                <a class="controls-link" href=json rel="external">"JSON"</a>
            </div>
        </section>
        <Runs runs convention/>
        <TrendOfModel runs convention/>
        <StrengthsOfModel strengths convention/>
    }
}

/// "3 runs on 2 splits."
fn lede(runs: &[ModelRun]) -> String {
    let count = |n: usize, noun| format::count(u32::try_from(n).unwrap_or(u32::MAX), noun);
    let mut splits: Vec<&str> = runs
        .iter()
        .map(|r| r.summary.config.split.as_str())
        .collect();
    splits.sort_unstable();
    splits.dedup();
    let (runs, splits) = (count(runs.len(), "run"), count(splits.len(), "split"));
    format!("{runs} on {splits}. Scores are at γ = 1, with 95 % intervals.")
}

fn convention_choices(model: &str, chosen: Signal<Convention>) -> Vec<Choice> {
    let choice = |convention: Convention| Choice {
        label: convention.name().to_owned(),
        hint: words::convention(convention).to_owned(),
        href: Signal::stored(model_href(model, convention)),
        chosen: Signal::derive(move || chosen.get() == convention),
    };
    Convention::ALL.map(choice).to_vec()
}

#[component]
fn Runs(runs: StoredValue<Vec<ModelRun>>, convention: Signal<Convention>) -> impl IntoView {
    let priced = runs.with_value(|runs| runs.iter().any(is_priced));
    let rows = move || {
        let runs = runs.get_value();
        let standing = |run: &ModelRun| {
            let all = run.standings.iter();
            all.into_iter()
                .find(|s| s.convention == convention.get())
                .cloned()
        };
        let standings: Vec<Option<Standing>> = runs.iter().map(standing).collect();
        let floor = floor_of(standings.iter().flatten().map(|s| s.row.evoscore));
        let pairs = runs.into_iter().zip(standings);
        pairs
            .map(|(run, standing)| view! { <RunRow run standing floor priced/> })
            .collect_view()
    };
    let marks = runs.with_value(|runs| words::marks(runs.iter().map(|run| run.summary.mark)));
    let cost = priced.then(|| {
        view! { <th role="columnheader" scope="col" class="number"><Term word=Word::Cost text="Cost"/></th> }
    });
    view! {
        <section aria-labelledby="runs-title">
            <h2 id="runs-title">"Runs"</h2>
            <Key words=Signal::stored(heads(priced))/>
            <MarkKey words=Signal::stored(marks)/>
            <div class="table-frame">
                <table class="cards model-runs" role="table">
                    <thead role="rowgroup">
                        <tr role="row">
                            <th role="columnheader" scope="col"><Term word=Word::Split text="Split"/></th>
                            <th role="columnheader" scope="col"><Term word=Word::RankInterval text="Rank"/></th>
                            <th role="columnheader" scope="col"><Term word=Word::EvoScore/></th>
                            <th role="columnheader" scope="col" class="number"><Term word=Word::ZeroRegression text="Zero regression"/></th>
                            <th role="columnheader" scope="col" class="number"><Term word=Word::Solved text="Solved"/></th>
                            <th role="columnheader" scope="col" class="number"><Term word=Word::Turns text="Turns"/></th>
                            <th role="columnheader" scope="col" class="number"><Term word=Word::Scored text="Tasks"/></th>
                            {cost}
                        </tr>
                    </thead>
                    <tbody role="rowgroup">{rows}</tbody>
                </table>
            </div>
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
    let config = summary.config;
    let kind = words::kind(config.kind)
        .map(|(text, hint, tone)| view! { <Tag text=text.to_owned() tone hint=hint.to_owned()/> });
    let mark = summary.mark;
    let progress = summary.progress;
    let tone = words::progress_tone(progress);
    let origin = words::origin(config.harness.name(), &config.provider);
    let created = format::day(&summary.created_at);
    let figure = |of: fn(&Standing) -> String| standing.as_ref().map_or_else(none, of);
    let score = standing.as_ref().map(|standing| score(standing, floor));
    view! {
        <tr role="row">
            <th role="rowheader" scope="row" class="col-model">
                <a href=run_href(&summary.run_id)>{config.split}</a>
                <span class="tags"><Tag text=progress.name().to_owned() tone/>{kind}<MarkTag mark/></span>
                <small>{format!("{origin} · {created}")}</small>
            </th>
            <td role="cell" data-label="Rank">{figure(rank)}</td>
            <td role="cell" class="col-score" data-label="EvoScore">{score.map_or_else(|| none().into_any(), IntoAny::into_any)}</td>
            <td role="cell" class="number" data-label="Zero regression">{figure(|s| format::share(s.row.zero_regression_rate))}</td>
            <td role="cell" class="number" data-label="Solved">{figure(|s| format::share(s.row.solved_rate))}</td>
            <td role="cell" class="number" data-label="Turns">{figure(|s| format::decimals(s.row.average_turns, 1))}</td>
            <td role="cell" class="number" data-label="Tasks">{figure(|s| format!("{} / {}", s.row.tasks, s.row.tasks_total))}</td>
            {priced.then(|| view! { <td role="cell" class="number" data-label="Cost">{figure(cost)}</td> })}
        </tr>
    }
}

fn is_priced(run: &ModelRun) -> bool {
    run.standings.iter().any(|s| s.row.micro_usd.is_some())
}

/// The words of the present columns: the last is about cost.
fn heads(priced: bool) -> Vec<Word> {
    let heads = HEADS.into_iter();
    heads.filter(|word| priced || *word != Word::Cost).collect()
}

fn cost(standing: &Standing) -> String {
    standing.row.micro_usd.map_or_else(none, format::dollars)
}

fn none() -> String {
    "–".to_owned()
}

/// "2 of 7 · 2–4": the rank and its 95 % interval.
fn rank(standing: &Standing) -> String {
    let rank = format!("{} of {}", standing.row.rank, standing.of);
    match standing.row.intervals.map(|i| i.rank) {
        Some(open) if open.best != open.worst => format!("{rank} · {}", format::ranks(open)),
        _ => rank,
    }
}

fn score(standing: &Standing, floor: f64) -> impl IntoView + use<> {
    let value = standing.row.evoscore;
    let interval = standing.row.intervals.map(|i| i.evoscore);
    let text = interval.map(|interval| {
        view! {
            <span class="score-interval">
                <span class="visually-hidden">", 95 % interval "</span>
                {format::interval(interval, 2)}
            </span>
        }
    });
    view! {
        <span class="score">
            <span class="score-figures">
                <span class="score-number">{format::score(value)}</span>
                {text}
            </span>
            <ScoreBar value floor interval=Signal::stored(interval)/>
        </span>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::Gamma;
    use swe_ci_core::uncertainty::RankInterval;
    use swe_ci_plots::fixture::sheet;

    #[test]
    fn ranks_in_words() {
        let row = sheet(&[("m", &[0.5])]).rank(Gamma::ONE, Convention::Paper)[0].clone();
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
