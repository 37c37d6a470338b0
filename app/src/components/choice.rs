use leptos::either::Either;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_query_map};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_views::view::SplitSummary;

use super::Term;
use crate::components::CollectAny;
use crate::format;
use crate::glossary::Word;
use crate::labels;
use crate::query::{GAMMA_LEAST, GAMMA_MOST};

/// One of a few ways to view the page. As a link, it works without JavaScript,
/// and the address and the history contain it.
#[derive(Debug, Clone)]
pub struct Choice {
    pub label: String,
    /// A tooltip, where the label alone is not enough.
    pub hint: String,
    pub href: Signal<String>,
    pub chosen: Signal<bool>,
}

impl Choice {
    pub fn new(
        label: impl Into<String>,
        hint: impl Into<String>,
        href: impl Fn() -> String + Send + Sync + 'static,
        chosen: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            label: label.into(),
            hint: hint.into(),
            href: Signal::derive(href),
            chosen: Signal::derive(chosen),
        }
    }
}

#[component]
pub fn Choices(
    #[prop(into)] label: String,
    #[prop(optional)] word: Option<Word>,
    choices: Vec<Choice>,
) -> impl IntoView {
    let links = choices.into_iter().map(|choice| {
        let current = move || choice.chosen.get().then_some("true");
        view! {
            <a href=move || choice.href.get() title=choice.hint aria-current=current>
                {choice.label}
            </a>
        }
    });
    let named = match word {
        Some(word) => {
            let text = label.clone();
            Either::Left(view! { <span class="choices-label"><Term word text/></span> })
        }
        None => Either::Right(view! {
            <span class="choices-label" aria-hidden="true">{label.clone()}</span>
        }),
    };
    view! {
        <div class="choices" role="group" aria-label=label>
            {named}
            <span class="choices-links">{links.collect_any()}</span>
        </div>
    }
}

/// A link for each split.
pub fn split_choices(
    splits: &[SplitSummary],
    chosen: &str,
    href: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
) -> Vec<Choice> {
    let choice = |split: &SplitSummary| {
        let (href, name) = (href.clone(), split.name.clone());
        Choice {
            label: format!("{} · {}", split.name, split.tasks),
            hint: format!("{} of {} tasks can be run", split.ready, split.tasks),
            href: Signal::derive(move || href(&name)),
            chosen: Signal::stored(split.name == chosen),
        }
    };
    splits.iter().map(choice).collect()
}

/// A link for each mode of runs.
pub fn mode_choices(chosen: Mode, href: impl Fn(Mode) -> String) -> Vec<Choice> {
    let choice = |mode: Mode| Choice {
        label: mode.name().to_owned(),
        hint: labels::mode(mode).to_owned(),
        href: Signal::stored(href(mode)),
        chosen: Signal::stored(mode == chosen),
    };
    Mode::ALL.into_iter().map(choice).collect()
}

/// Links to all tasks, and to those that no model can have seen.
pub fn unseen_choices(chosen: bool, href: impl Fn(bool) -> String) -> Vec<Choice> {
    let choice = |unseen: bool| {
        let (label, hint) = match unseen {
            false => ("all", "All tasks"),
            true => (
                "unseen",
                "Only tasks whose target is younger than the model's training data, or than the model",
            ),
        };
        Choice {
            label: label.to_owned(),
            hint: hint.to_owned(),
            href: Signal::stored(href(unseen)),
            chosen: Signal::stored(unseen == chosen),
        }
    };
    [false, true].map(choice).into()
}

/// A link for each convention of counting.
pub fn convention_choices(
    chosen: impl Fn() -> Convention + Clone + Send + Sync + 'static,
    href: impl Fn(Convention) -> String + Clone + Send + Sync + 'static,
) -> Vec<Choice> {
    let choice = |convention: Convention| {
        let (chosen, href) = (chosen.clone(), href.clone());
        let (label, hint) = (convention.name(), labels::convention(convention));
        Choice::new(
            label,
            hint,
            move || href(convention),
            move || chosen() == convention,
        )
    };
    Convention::ALL.map(choice).to_vec()
}

/// The values in the chart over γ: scores, or their differences from the leader's.
#[component]
pub fn LeaderSwitch(
    from_leader: bool,
    #[prop(into)] href: Callback<bool, String>,
) -> impl IntoView {
    let choice = |(label, hint, value): (&str, &str, bool)| {
        Choice::new(
            label,
            hint,
            move || href.run(value),
            move || from_leader == value,
        )
    };
    let choices = [
        ("Score", "The scores themselves", false),
        (
            "Difference from the leader",
            "A line above 0 belongs to a run that would lead at that γ",
            true,
        ),
    ];
    view! { <Choices label="Shows" choices=choices.map(choice).to_vec()/> }
}

#[component]
pub fn HiddenFields(fields: Vec<(&'static str, String)>) -> impl IntoView {
    let field = |(name, value)| view! { <input type="hidden" name=name value=value/> };
    fields.into_iter().map(field).collect_any()
}

/// The field for an exact γ, the same on every page that has one.
#[component]
pub fn GammaField(
    #[prop(into)] gamma: Signal<Gamma>,
    /// The id of the words about it.
    #[prop(optional)]
    described: Option<&'static str>,
    /// Between the label and the field.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <label for="gamma-exact">"γ"</label>
        {children.map(|children| children())}
        <input
            id="gamma-exact"
            name="gamma"
            type="number"
            min=GAMMA_LEAST.to_string()
            max=GAMMA_MOST.to_string()
            step="0.01"
            value=move || format::gamma(gamma.get())
            title="Any γ from 0.1 to 10"
            aria-describedby=described
        />
    }
}

/// Loads the same page for another γ; the rest of its address stays.
#[component]
pub fn GammaForm(#[prop(into)] gamma: Signal<Gamma>) -> impl IntoView {
    let (location, query) = (use_location(), use_query_map());
    let others = move || {
        let query = query.get().into_iter();
        let others = query.filter(|(name, _)| name != "gamma");
        others
            .map(
                |(name, value)| view! { <input type="hidden" name=name.into_owned() value=value/> },
            )
            .collect_any()
    };
    view! {
        <form class="gamma gamma-plain" method="get" action=move || location.pathname.get() data-in-place="">
            {others}
            <GammaField gamma/>
            <button class="button">"Apply"</button>
        </form>
    }
}

/// One field of a form that filters a list.
#[component]
pub fn FilterSelect(
    name: &'static str,
    label: &'static str,
    /// Value, label, and whether it is selected.
    options: Vec<(String, String, bool)>,
) -> impl IntoView {
    let options = options.into_iter().map(|(value, words, chosen)| {
        view! { <option value=value selected=chosen>{words}</option> }
    });
    view! {
        <label class="field">
            <span>{label}</span>
            <select name=name>{options.collect_any()}</select>
        </label>
    }
}
