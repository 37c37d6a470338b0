//! Handovers: what each model makes of code that another run wrote.

mod pairs;
mod query;

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_core::handover::HandoverTarget;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_views::handover::{After, AfterIteration, Continuer, HandoverMatrix, Writer};
use swe_ci_views::view::SplitSummary;

use self::pairs::{ByIteration, PairTable};
use self::query::HandoverQuery;
use crate::components::CollectAny;
use crate::components::{
    Choice, Choices, InPlace, NoTasks, PageTop, PlainTable, Term, crumb, fetched, loaded,
    split_choices,
};
use crate::error::AppError;
use crate::format;
use crate::glossary::Word;
use crate::pages::result_table::KindTag;
use crate::pages::routes::run_href;
use crate::pages::splits::choose;
use crate::query::of_query;

#[component]
pub fn HandoverPage() -> impl IntoView {
    let query = of_query(HandoverQuery::of);
    let resource = fetched(move || query.get(), find);
    view! {
        <PageTop
            title="Handovers"
            description="How well code can be maintained: what each model makes of the code that another wrote."
            crumbs=vec![crumb("/", "Leaderboard")]
            lede="How well can others go on with the code a model wrote? Each row is a run whose code was handed over, each column a model that went on with it."
        />
        <InPlace/>
        {loaded(resource, move |found| view! { <Found found query=query.get_untracked()/> })}
    }
}

#[derive(Debug, Clone, Default)]
pub struct Handovers {
    pub splits: Vec<SplitSummary>,
    /// The shown split; empty when there is none.
    pub split: String,
    pub matrix: HandoverMatrix,
}

async fn find(query: HandoverQuery) -> Result<Handovers, AppError> {
    let engine = crate::error::engine()?;
    let splits = engine.splits().await?;
    let wanted = query.wanted();
    let Some(split) = choose(&splits, query.split)? else {
        return Ok(Handovers::default());
    };
    Ok(Handovers {
        matrix: engine.handovers(&split, wanted).await?,
        splits,
        split,
    })
}

#[component]
fn Found(found: Handovers, query: HandoverQuery) -> impl IntoView {
    let Handovers {
        splits,
        split,
        matrix,
    } = found;
    if splits.is_empty() {
        return EitherOf3::A(view! { <NoTasks will="This page will show handovers."/> });
    }
    let query = HandoverQuery {
        split: Some(split),
        ..query
    };
    let at = query.at.unwrap_or(matrix.iterations);
    let at = at.clamp(1, matrix.iterations.max(1));
    let controls = view! { <Controls splits matrix=matrix.clone() query at/> };
    if matrix.cells.is_empty() {
        return EitherOf3::B(view! {
            {controls}
            <p class="note">
                "No public handover on this split is finished yet. "
                <a href="/runs/new">"Submit a run"</a>
                " that continues the code of another, or: "
                <code>"swe-ci run submit FILE --continue RUN"</code>
            </p>
        });
    }
    EitherOf3::C(view! {
        {controls}
        <section aria-labelledby="matrix-title">
            <h2 id="matrix-title">"Written by × continued by"</h2>
            <p class="quiet">
                "The share of the "<Term word=Word::Gap text="gap"/>" at the "<Term word=Word::Handover/>" that is closed "
                {format!("{} later", format::count(at, "iteration"))}
                ", with its "<Term word=Word::Interval/>"; below it, the share of the tests passing at the handover that are lost."
            </p>
            <Matrix matrix=matrix.clone() at/>
        </section>
        <PairTable matrix=matrix.clone() at/>
        <ByIteration matrix/>
        <p class="footnote">
            "Evolutions that are solved at the handover have nothing to go on with, and are left out. "
            <a href="/about">"How to read this"</a>
        </p>
    })
}

#[component]
fn Controls(
    splits: Vec<SplitSummary>,
    matrix: HandoverMatrix,
    query: HandoverQuery,
    at: u32,
) -> impl IntoView {
    let split = query.split.clone().unwrap_or_default();
    let by_split = split_choices(&splits, &split, |name| {
        HandoverQuery {
            split: Some(name.to_owned()),
            ..HandoverQuery::default()
        }
        .href()
    });
    let choice = |label: String, hint: String, to: HandoverQuery, chosen: bool| Choice {
        label,
        hint,
        href: Signal::stored(to.href()),
        chosen: Signal::stored(chosen),
    };
    let by_target = matrix.targets.iter().map(|target| {
        let to = HandoverQuery {
            target: Some(*target),
            after: None,
            at: None,
            ..query.clone()
        };
        let (label, hint) = match target {
            HandoverTarget::Same => ("the same", "The target that the earlier run had"),
            HandoverTarget::Moved => (
                "a later one",
                "The target of a task that begins where the earlier run's task ended",
            ),
        };
        let chosen = *target == matrix.target;
        choice(label.to_owned(), hint.to_owned(), to, chosen)
    });
    let by_after = matrix.choices.iter().map(|after| {
        let to = HandoverQuery {
            after: Some(*after),
            at: None,
            ..query.clone()
        };
        let (label, hint) = match after {
            After::LastScored => (
                "the last".to_owned(),
                "The last scored iteration of each evolution".to_owned(),
            ),
            After::Iteration(n) => (n.to_string(), format!("Iteration {n} of each evolution")),
        };
        choice(label, hint, to, *after == matrix.after)
    });
    let by_at = shown(matrix.iterations).into_iter().map(|n| {
        let to = HandoverQuery {
            at: Some(n),
            ..query.clone()
        };
        let hint = format!("{} after the handover", format::count(n, "iteration"));
        choice(n.to_string(), hint, to, n == at)
    });
    let by_target: Vec<Choice> = by_target.collect();
    let (by_after, by_at): (Vec<Choice>, Vec<Choice>) = (by_after.collect(), by_at.collect());
    view! {
        <section class="controls" aria-label="Which handovers">
            <div class="controls-choices">
                <Choices label="Split" choices=by_split/>
                {(by_target.len() > 1).then(|| view! { <Choices label="Target" choices=by_target/> })}
                {(by_after.len() > 1).then(|| view! { <Choices label="Handed over after iteration" choices=by_after/> })}
                {(by_at.len() > 1).then(|| view! { <Choices label="Iterations since" choices=by_at/> })}
                <a class="controls-link" href=query.api("handovers.csv") download="">"CSV"</a>
                <a class="controls-link" href=query.api("handovers")>"JSON"</a>
            </div>
        </section>
    }
}

/// The iterations that have a link: all of few, else some on the way.
fn shown(iterations: u32) -> Vec<u32> {
    const FEW: u32 = 6;
    match iterations {
        few @ ..=FEW => (1..=few).collect(),
        many => {
            let on_the_way = [1, 2, 5, 10, 20, 50, 100].into_iter();
            on_the_way.filter(|n| *n < many).chain([many]).collect()
        }
    }
}

#[component]
fn Matrix(matrix: HandoverMatrix, at: u32) -> impl IntoView {
    let heads = matrix.continuers.iter().map(|by| {
        view! { <th scope="col">{continuer(by)}</th> }
    });
    let heads = view! {
        <th scope="col">"Written by"</th>
        {heads.collect_any()}
    };
    let row = |(place, writer): (usize, &Writer)| {
        let cells = matrix.continuers.iter().enumerate().map(|(column, by)| {
            let cell = matrix.cell(place, column);
            let own = writer.is_own(by);
            match cell.and_then(|cell| Some((cell.run_id.clone(), *cell.at(at)?))) {
                Some((run_id, after)) => Either::Left(view! { <Cell run_id after own/> }),
                None => Either::Right(view! { <td class="quiet">"–"</td> }),
            }
        });
        view! {
            <tr>
                <th scope="row">
                    <a href=run_href(&writer.run_id)>{writer.model.clone()}</a>
                    " "
                    <KindTag kind=writer.kind/>
                    <small class="handover-note">{agents(&writer.harness, writer.mode)}</small>
                </th>
                {cells.collect_any()}
            </tr>
        }
    };
    let rows = matrix.writers.iter().enumerate().map(row).collect_any();
    view! {
        <PlainTable
            class="handover"
            caption="Share of the gap closed, by who wrote the code and who went on with it"
            scrolls="Written by × continued by; scrolls sideways"
            heads=heads.into_any()
        >
            {rows}
        </PlainTable>
    }
}

#[component]
fn Cell(run_id: String, after: AfterIteration, own: bool) -> impl IntoView {
    let interval = after.closed_gap_interval;
    let interval = interval.map(|interval| {
        view! { <small class="handover-note">{format::interval(interval, 2)}</small> }
    });
    view! {
        <td class:handover-own=own>
            <a href=run_href(&run_id)>{format::share(after.closed_gap)}</a>
            {interval}
            <small class="handover-note">{format!("lost {}", format::share(after.lost))}</small>
            {own.then(|| view! { <small class="handover-note">"its own code"</small> })}
        </td>
    }
}

/// "Juniper", and its agents below.
fn continuer(by: &Continuer) -> impl IntoView + use<> {
    let (model, agents) = (by.model.clone(), agents(&by.harness, by.mode));
    view! { {model}<small class="handover-note">{agents}</small> }
}

/// "builtin", or "builtin, rdd".
fn agents(harness: &str, mode: Mode) -> String {
    match mode {
        Mode::Tdd => harness.to_owned(),
        mode => format!("{harness}, {}", mode.name()),
    }
}

/// "Human (replayed history)" or "Juniper": who wrote the code.
fn written_by(writer: &Writer) -> String {
    match writer.kind {
        Kind::Human => "the human baseline".to_owned(),
        _ => writer.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_on_the_way() {
        assert!(shown(0).is_empty());
        assert_eq!(shown(3), [1, 2, 3]);
        assert_eq!(shown(20), [1, 2, 5, 10, 20]);
        assert_eq!(shown(12), [1, 2, 5, 10, 12]);
    }
}
