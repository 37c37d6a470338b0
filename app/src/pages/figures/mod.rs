//! The figures of the paper for the runs of one split, and our own. The
//! server computes their data and sends it to the browser, instead of the
//! leaderboard data. `/embed/<figure>` has one of them for other sites to
//! frame.

mod data;
mod section;

use leptos::either::EitherOf3;
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_core::requirement::Mode;
use swe_ci_views::figures::Figure;
use swe_ci_views::leaderboard::View;

use self::data::{Shown, shown};
use self::section::{Drawing, Empty, Section, notes};
use crate::components::CollectAny;
use crate::components::{
    Choices, GammaForm, InPlace, NoRuns, NoTasks, PageHead, PageTop, SnapshotNote, fetched, loaded,
};
use crate::components::{convention_choices, mode_choices, split_choices, unseen_choices};
use crate::error::AppError;
use crate::format;
use crate::glossary::Word;
use crate::query::{Reading, of_query, path_part, reading_of};

#[component]
pub fn FiguresPage() -> impl IntoView {
    let reading = of_query(reading_of);
    let resource = fetched(move || reading.get(), |reading| shown(reading, None));
    view! {
        <PageTop
            title="Figures"
            description="The figures of the SWE-CI paper, drawn from the runs on this site: EvoScore by release date, rank against γ, regressions, code style, solved tasks, iterations and tokens."
            lede="The plots of the paper, drawn from the runs on this site, and figures of our own. The data is below each picture."
        />
        <InPlace/>
        {loaded(resource, move |shown| view! { <FiguresView shown reading/> })}
    }
}

#[component]
fn FiguresView(shown: Shown, #[prop(into)] reading: Signal<Reading>) -> impl IntoView {
    if shown.splits.is_empty() {
        return EitherOf3::A(
            view! { <NoTasks will="Here the runs of a split will be drawn as the paper draws its models."/> },
        );
    }
    let now = in_figures(Reading {
        snapshot: None,
        ..reading.get_untracked()
    });
    let controls = view! {
        <SnapshotNote snapshot=shown.snapshot.clone() now/>
        <Controls shown=shown.clone() reading/>
    };
    if shown.is_empty() {
        let split = shown.split.unwrap_or_default();
        return EitherOf3::B(view! {
            {controls}
            <NoRuns split will="Figures are drawn as soon as a run's first task is scored."/>
        });
    }
    let unscored = shown.unscored.clone();
    let unranked = shown.unranked.clone();
    let figures = shown.figures.clone();
    let (empty, drawn): (Vec<_>, Vec<_>) =
        figures.into_iter().partition(|(_, data)| data.is_empty());
    let empty: Vec<Figure> = empty.into_iter().map(|(figure, _)| figure).collect();
    let shown = StoredValue::new(shown);
    let section = move |(which, data)| view! { <Section which data shown reading/> };
    EitherOf3::C(view! {
        {controls}
        <Unscored models=unscored reading/>
        <WithoutRank models=unranked/>
        <Contents empty=empty.clone()/>
        {drawn.into_iter().map(section).collect_any()}
        <Empty figures=empty/>
    })
}

#[component]
fn Contents(
    /// The figures without data.
    empty: Vec<Figure>,
) -> impl IntoView {
    let link = |figure: Figure| {
        let without = empty.contains(&figure).then_some(" (no data)");
        let number = match figure.number() {
            Some(number) => format!("Fig. {number}"),
            None => "Ours".to_owned(),
        };
        view! {
            <li>
                <a href=format!("#{}", figure.name())>
                    <span class="figures-number">{number}</span>
                    <span>{figure.title()}{without}</span>
                </a>
            </li>
        }
    };
    view! {
        <nav class="figures-contents" aria-label="Figures">
            <ol>{Figure::ALL.map(link).collect_any()}</ol>
        </nav>
    }
}

/// Runs that have scores only in the other convention.
#[component]
fn Unscored(models: Vec<String>, reading: Signal<Reading>) -> impl IntoView {
    let href = move || {
        let convention = Convention::Reference;
        let reading = Reading {
            convention,
            ..reading.get()
        };
        in_figures(reading)
    };
    (!models.is_empty()).then(|| view! {
        <p class="note">
            <strong>"Not in these figures: "</strong>
            {format::names(&models)}
            ". Their results say how many tests passed, but not which, so there is no score in the paper's convention. "
            <a href=href>"Look in the reference convention"</a>
        </p>
    })
}

/// Runs that no figure counts.
#[component]
fn WithoutRank(models: Vec<String>) -> impl IntoView {
    (!models.is_empty()).then(|| view! {
        <p class="note">
            <strong>"Not in these figures: "</strong>
            {format::names(&models)}
            ". "
            {if models.len() == 1 { "The run has no rank." } else { "These runs have no rank." }}
            " The leaderboard says why."
        </p>
    })
}

/// The controls of the figures; they work without JavaScript.
#[component]
fn Controls(shown: Shown, reading: Signal<Reading>) -> impl IntoView {
    let several = shown.splits.len() > 1;
    let now = reading.get_untracked();
    let gamma = now.gamma;
    let (chosen, now) = (now.convention, StoredValue::new(now));
    let conventions = convention_choices(
        move || chosen,
        move |convention| {
            let now = now.get_value();
            in_figures(Reading { convention, ..now })
        },
    );
    let modes = mode_choices(shown.mode, |mode| {
        in_figures(Reading {
            mode,
            ..now.get_value()
        })
    });
    let by_age = unseen_choices(shown.unseen, |unseen| {
        let now = now.get_value();
        let view = View { unseen, ..now.view };
        in_figures(Reading { view, ..now })
    });
    let split = shown.split.unwrap_or_default();
    let splits = split_choices(&shown.splits, &split, move |name| {
        let (split, now) = (Some(name.to_owned()), now.get_value());
        in_figures(Reading { split, ..now })
    });
    view! {
        <section class="controls" aria-label="Settings">
            <GammaForm gamma/>
            <div class="controls-choices">
                <Choices label="Counting" word=Word::Convention choices=conventions/>
                <Choices label="Mode" word=Word::Mode choices=modes/>
                <Choices label="Tasks" word=Word::Unseen choices=by_age/>
                {several.then(|| view! { <Choices label="Split" word=Word::Split choices=splits/> })}
            </div>
        </section>
    }
}

fn in_figures(reading: Reading) -> String {
    format!("/figures{}", reading.to_query())
}

/// A single figure, for other sites to frame.
#[component]
pub fn EmbedPage() -> impl IntoView {
    let (slug, reading) = (path_part("figure"), of_query(reading_of));
    let resource = fetched(move || (slug.get(), reading.get()), one);
    view! { {loaded(resource, move |shown| view! { <EmbedView shown/> })} }
}

async fn one((slug, reading): (String, Reading)) -> Result<Shown, AppError> {
    let which: Figure = slug
        .parse()
        .map_err(|_| AppError::not_found(format!("There is no figure “{slug}”.")))?;
    shown(reading, Some(which)).await
}

#[component]
fn EmbedView(shown: Shown) -> impl IntoView {
    let whole = shown.address("figures");
    let words = in_words(&shown);
    let figures = shown.figures.clone();
    let shown = StoredValue::new(shown);
    let figure = move |(which, data): (Figure, _)| {
        let notes = shown.with_value(|shown| notes(&data, shown)).into_iter();
        let notes = notes.map(|note| view! { <p class="quiet">{note}</p> });
        let href = format!("{whole}#{}", which.name());
        view! {
            <PageHead title=which.title() description=which.reading()/>
            <figure class="embed" data-lines="">
                <figcaption>
                    <h1>{which.title()}</h1>
                    <p>{which.reading()}</p>
                </figcaption>
                <Drawing which data shown/>
                {notes.collect_any()}
                <p class="quiet">
                    <a href=href target="_blank" rel="external noopener">"swe-ci"</a>
                    {format!(" · {words}")}
                </p>
            </figure>
        }
    };
    figures.into_iter().map(figure).collect_any()
}

/// "full, mode rdd, paper convention, γ 1.00, snapshot of 2026-11-27".
fn in_words(shown: &Shown) -> String {
    let mode = (shown.mode != Mode::default()).then(|| format!(", mode {}", shown.mode.name()));
    let unseen = shown.unseen.then_some(", unseen tasks only");
    let snapshot = shown.snapshot.as_ref();
    let snapshot = snapshot.map(|of| format!(", snapshot of {}", of.day));
    format!(
        "{}{}, {} convention, γ {}{}{}",
        shown.split.as_deref().unwrap_or_default(),
        mode.unwrap_or_default(),
        shown.convention.name(),
        format::gamma(shown.gamma),
        unseen.unwrap_or_default(),
        snapshot.unwrap_or_default()
    )
}
