//! The page of a comparison.

use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::Versus;

use super::course::CourseOfTask;
use super::heads::Heads;
use super::names::Name;
use super::pairs::Pairs;
use super::query::CompareQuery;
use super::style::Style;
use super::tasks::Tasks;
use crate::components::{Choice, Choices, GammaForm, PageHead};
use crate::format;
use crate::query::Query;

#[component]
pub(super) fn SideBySide(
    versus: Versus,
    #[prop(into)] query: Signal<CompareQuery>,
) -> impl IntoView {
    let names = Name::all(&versus.runs);
    let title = title(&names);
    let tab = format!("{} runs on {} compared", names.len(), versus.split);
    let basis = basis(&versus);
    let course = versus.task.clone().map(|task| {
        let names = names.clone();
        view! { <CourseOfTask task names/> }
    });
    let (pairs, tasks) = (versus.pairs.clone(), versus.tasks.clone());
    let style = versus.style.clone();
    view! {
        <PageHead
            title=tab
            description=format!("{title} on the split {}, side by side and task by task.", versus.split)
        />
        <nav class="crumbs" aria-label="Where this is">
            <a href="/compare">"Compare runs"</a>
        </nav>
        <div class="hero">
            <h1>{title}</h1>
            <p class="lede">{basis}</p>
        </div>
        <How query split=versus.split.clone()/>
        <Heads versus names=names.clone()/>
        <Pairs pairs names=names.clone() query/>
        <Style style names=names.clone()/>
        {course}
        <Tasks tasks names query/>
    }
}

/// The models, as many as fit on a line.
fn title(names: &[Name]) -> String {
    if names.len() > 3 {
        return format!("{} runs", names.len());
    }
    let words: Vec<String> = names.iter().map(Name::in_words).collect();
    words.join(" · ")
}

/// "Side by side on `full`: 36 tasks of 18 repositories are shared."
fn basis(versus: &Versus) -> String {
    let mut repos: Vec<&str> = versus.tasks.iter().map(|t| t.repo.as_str()).collect();
    repos.sort_unstable();
    repos.dedup();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let repositories = match repos.len() {
        1 => "1 repository".to_owned(),
        n => format!("{n} repositories"),
    };
    let tasks = format::count(count(versus.tasks.len()), "task");
    let are = if versus.tasks.len() == 1 { "is" } else { "are" };
    let left_out = versus.left_out.iter().filter(|n| **n > 0).count();
    let left_out = match left_out {
        0 => " None is left out.",
        _ => {
            " Tasks that not all of them were scored on are left out of the table below, and counted for each run."
        }
    };
    format!(
        "Side by side on {}: {tasks} of {repositories} {are} shared.{left_out}",
        versus.split
    )
}

/// The controls, and links to the same comparison elsewhere.
#[component]
fn How(query: Signal<CompareQuery>, split: String) -> impl IntoView {
    let conventions = Convention::ALL.into_iter().map(|convention| Choice {
        label: convention.name().to_owned(),
        hint: "How tests are counted".to_owned(),
        href: Signal::derive(move || {
            let query = CompareQuery {
                convention,
                ..query.get()
            };
            query.href()
        }),
        chosen: Signal::derive(move || query.with(|a| a.convention == convention)),
    });
    let conventions = conventions.collect();
    let gamma = Signal::derive(move || query.with(|a| a.gamma));
    let fields = Signal::derive(move || query.with(CompareQuery::but_gamma));
    let mut others = Query::default();
    others.add("split", Some(split));
    view! {
        <section class="controls" aria-label="How to compare">
            <GammaForm action="/compare" gamma others=fields/>
            <div class="controls-choices">
                <Choices label="Counting" choices=conventions/>
                <a class="controls-link" href=format!("/compare{}", others.0)>"Other runs"</a>
                <a class="controls-link" href=move || query.with(|a| a.api("compare.csv")) rel="external" download="">"CSV"</a>
                <a class="controls-link" href=move || query.with(|a| a.api("compare")) rel="external">"JSON"</a>
            </div>
        </section>
    }
}
