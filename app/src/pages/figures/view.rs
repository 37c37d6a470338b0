//! The page of figures.

use leptos::either::{Either, EitherOf3};
use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::figures::Figure;

use super::controls::Controls;
use super::data::Shown;
use super::section::Section;
use crate::components::{NoRuns, NoTasks};
use crate::query::Reading;

#[component]
pub(super) fn FiguresView(shown: Shown, #[prop(into)] reading: Signal<Reading>) -> impl IntoView {
    if shown.splits.is_empty() {
        return EitherOf3::A(
            view! { <NoTasks will="Here the runs of a split will be drawn as the paper draws its models."/> },
        );
    }
    let controls = view! { <Controls shown=shown.clone() reading/> };
    if shown.is_empty() {
        let split = shown.split.unwrap_or_default();
        return EitherOf3::B(view! {
            {controls}
            <NoRuns split will="Figures are drawn as soon as a run's first task is scored."/>
        });
    }
    let unscored = shown.unscored.clone();
    let figures = shown.figures.clone();
    let shown = StoredValue::new(shown);
    let section = move |(which, data)| view! { <Section which data shown/> };
    EitherOf3::C(view! {
        {controls}
        <Unscored models=unscored reading/>
        <Contents/>
        {figures.into_iter().map(section).collect_view()}
    })
}

#[component]
fn Contents() -> impl IntoView {
    let link = |figure: Figure| {
        let number = match figure.number() {
            Some(number) => format!("Fig. {number}"),
            None => "Ours".to_owned(),
        };
        view! {
            <li>
                <a href=format!("#{}", figure.name())>
                    <span class="figures-number">{number}</span>
                    {figure.title()}
                </a>
            </li>
        }
    };
    view! {
        <nav class="figures-contents" aria-label="Figures">
            <ol>{Figure::ALL.map(link).collect_view()}</ol>
        </nav>
    }
}

/// Runs that have scores only in the other convention.
#[component]
fn Unscored(models: Vec<String>, reading: Signal<Reading>) -> impl IntoView {
    if models.is_empty() {
        return Either::Left(());
    }
    let href = move || {
        let reading = Reading {
            convention: Convention::Reference,
            ..reading.get()
        };
        format!("/figures{}", reading.to_query())
    };
    Either::Right(view! {
        <p class="note">
            <strong>"Not in these figures: "</strong>
            {models.join(", ")}
            ". Their results say how many tests passed, but not which, so there is no score in the paper's convention. "
            <a href=href data-noscroll="">"Look in the reference convention"</a>
        </p>
    })
}
