use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_islands::weight_words;
use swe_ci_views::figures::{GAMMA_MAX, GAMMA_MIN};
use swe_ci_views::view::SplitSummary;

use crate::components::{
    Choice, Choices, GammaField, HiddenFields, Popup, convention_choices, mode_choices,
    split_choices,
};
use crate::format;
use crate::glossary::Word;
use crate::query::{EXCLUDE, LEADER, OFF, Reading};

/// Split, convention, mode and published rows, folded behind their present values.
#[component]
pub(super) fn RankingMenu(
    splits: Vec<SplitSummary>,
    split: String,
    /// Whether there are published rows to show or hide.
    any_published: bool,
    reading: Reading,
) -> impl IntoView {
    let several = splits.len() > 1;
    let changed = |change: &dyn Fn(&mut Reading)| {
        let mut reading = reading.clone();
        change(&mut reading);
        reading.href()
    };
    let of_split = reading.clone();
    let choices = split_choices(&splits, &split, move |name| {
        let reading = Reading {
            split: Some(name.to_owned()),
            ..of_split.clone()
        };
        reading.href()
    });
    let of_convention = reading.clone();
    let convention = reading.convention;
    let conventions = convention_choices(
        move || convention,
        move |convention| {
            let reading = Reading {
                convention,
                ..of_convention.clone()
            };
            reading.href()
        },
    );
    let modes = mode_choices(reading.mode, |mode| changed(&|reading| reading.mode = mode));
    let published = [true, false].map(|published| {
        let href = changed(&|reading| reading.published = published);
        published_choice(published, href, reading.published == published)
    });
    view! {
        <Popup class="menu ranking-settings" summary=in_short(&splits, &split, &reading)>
            <div class="menu-panel controls-choices">
                {several.then(|| view! { <Choices label="Split" choices/> })}
                <Choices label="Counting" word=Word::Convention choices=conventions/>
                <Choices label="Mode" word=Word::Mode choices=modes/>
                {any_published.then(|| view! { <Choices label="Published" choices=published.to_vec()/> })}
            </div>
        </Popup>
    }
}

/// "demo · 4 tasks · paper".
fn in_short(splits: &[SplitSummary], split: &str, reading: &Reading) -> String {
    let tasks = splits.iter().find(|known| known.name == split);
    let tasks = tasks.map(|split| format!(" · {}", format::count(split.tasks, "task")));
    let mode = match reading.mode {
        Mode::Tdd => String::new(),
        mode => format!(" · {}", mode.name()),
    };
    let convention = reading.convention.name();
    format!("{split}{} · {convention}{mode}", tasks.unwrap_or_default())
}

/// A slider for the usual range, and a field for any exact γ. With scripts rows
/// and chart follow both ([`LiveGamma`](swe_ci_islands::LiveGamma)); without,
/// the form's button sends the field.
#[component]
pub(super) fn GammaControl(
    reading: Reading,
    /// N: how many iterations the words about γ are for.
    iterations: u32,
) -> impl IntoView {
    let exact = reading.gamma;
    let gamma = format::gamma(exact);
    let words = weight_words(reading.gamma, iterations);
    let action = reading.path();
    view! {
        <form class="gamma" method="get" action=action autocomplete="off" data-in-place="">
            <Hidden reading gamma=false view=true/>
            <GammaField gamma=exact described="gamma-words">
                <input
                    id="gamma"
                    class="needs-js"
                    type="range"
                    min=GAMMA_MIN.to_string()
                    max=GAMMA_MAX.to_string()
                    step="0.01"
                    list="gamma-stops"
                    value=gamma
                    aria-label="γ"
                    aria-describedby="gamma-words"
                />
                <datalist id="gamma-stops">
                    <option value="1"></option>
                </datalist>
            </GammaField>
            <span id="gamma-words" class="gamma-words">{words}</span>
            <button class="button no-js">"Rank"</button>
        </form>
    }
}

/// Hidden fields for settings that the form does not change.
#[component]
pub(super) fn Hidden(reading: Reading, gamma: bool, view: bool) -> impl IntoView {
    let mut kept: Vec<(&'static str, String)> = Vec::new();
    kept.extend(reading.split.map(|split| ("split", split)));
    if reading.mode != Mode::default() {
        kept.push(("mode", reading.mode.name().to_owned()));
    }
    if gamma && reading.gamma != Gamma::ONE {
        kept.push(("gamma", format::gamma(reading.gamma)));
    }
    if reading.convention != Convention::default() {
        kept.push(("convention", reading.convention.name().to_owned()));
    }
    if !reading.published {
        kept.push(("published", OFF.to_owned()));
    }
    if reading.from_leader {
        kept.push(("relative", LEADER.to_owned()));
    }
    if view {
        let view = reading.view;
        let kind = |kind: &Kind| ("kind", kind.name().to_owned());
        kept.extend(view.kinds.iter().map(kind));
        kept.extend(view.provider.map(|provider| ("provider", provider)));
        kept.extend(view.mark.map(|mark| ("mark", mark.name().to_owned())));
        kept.extend((!view.text.is_empty()).then_some(("text", view.text)));
        kept.extend(view.unseen.then(|| ("seen", EXCLUDE.to_owned())));
        kept.push(("sort", view.sort.to_string()));
        kept.push(("columns", view.columns.to_string()));
        kept.extend(reading.open.map(|run| ("open", run)));
    }
    view! { <HiddenFields fields=kept/> }
}

fn published_choice(shown: bool, href: String, chosen: bool) -> Choice {
    let (label, hint) = match shown {
        true => (
            "shown",
            "Shows results that are only known from publications, below the ranking",
        ),
        false => ("hidden", "Only runs this site can rank"),
    };
    Choice::new(label, hint, move || href.clone(), move || chosen)
}
