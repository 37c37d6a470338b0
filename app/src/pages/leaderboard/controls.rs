use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::Kind;
use swe_ci_plots::{GAMMA_MAX, GAMMA_MIN};
use swe_ci_views::view::SplitSummary;

use super::board_state::BoardState;
use crate::components::{Choice, Choices, HiddenFields};
use crate::format;
use crate::glossary::Word;
use crate::pages::splits::{convention_choices, split_choices};
use crate::query::{self, EXCLUDE, GAMMA_LEAST, GAMMA_MOST, OFF};

#[component]
pub fn Controls(
    splits: Vec<SplitSummary>,
    split: String,
    /// Whether there are published rows to show or hide.
    any_published: bool,
    state: BoardState,
    /// N: how many iterations the words about γ are for.
    iterations: u32,
) -> impl IntoView {
    let several = splits.len() > 1;
    let choices = split_choices(&splits, &split, move |name| {
        state.href(|reading| reading.split = Some(name.to_owned()))
    });
    let conventions = convention_choices(
        move || state.get().convention,
        move |convention| state.href(|reading| reading.convention = convention),
    );
    let published = published_choices(state);
    view! {
        <section class="controls" aria-label="How to rank">
            <GammaControl state iterations/>
            <div class="controls-choices">
                <Choices label="Counting" word=Word::Convention choices=conventions/>
                {several.then(|| view! { <Choices label="Split" choices/> })}
                {any_published.then(|| view! { <Choices label="Published" choices=published/> })}
            </div>
        </section>
    }
}

/// Ranks again as γ moves: a slider for the usual range, and a field for any
/// exact γ. The address follows once it rests. Without JavaScript, the field
/// and the form's button take over.
#[component]
fn GammaControl(state: BoardState, iterations: u32) -> impl IntoView {
    let gamma = state.gamma;
    let on_input = move |event| {
        if let Some(wanted) = query::gamma(&event_target_value(&event)) {
            gamma.set(wanted);
            state.later();
        }
    };
    // The field keeps its text until the change is complete.
    let on_change = move |event| {
        let wanted = query::gamma(&event_target_value(&event));
        gamma.set(wanted.unwrap_or(gamma.get_untracked()));
        gamma.notify();
        state.later();
    };
    let first = format::gamma(gamma.get_untracked());
    view! {
        <form class="gamma" method="get" action="/" on:submit=|event| event.prevent_default()>
            <Hidden state gamma=false view=true/>
            <label for="gamma-exact">"γ"</label>
            <input
                id="gamma"
                class="needs-js"
                type="range"
                min=GAMMA_MIN.to_string()
                max=GAMMA_MAX.to_string()
                step="0.01"
                list="gamma-stops"
                value=first.clone()
                prop:value=move || format::gamma(gamma.get())
                aria-label="γ"
                aria-describedby="gamma-words"
                on:input=on_input
            />
            <datalist id="gamma-stops">
                <option value="1"></option>
            </datalist>
            <input
                id="gamma-exact"
                name="gamma"
                type="number"
                inputmode="decimal"
                min=GAMMA_LEAST.to_string()
                max=GAMMA_MOST.to_string()
                step="0.01"
                value=first
                prop:value=move || format::gamma(gamma.get())
                title="Any γ from 0.1 to 10"
                aria-describedby="gamma-words"
                on:change=on_change
            />
            <button class="button no-js">"Rank"</button>
            <span id="gamma-words" class="gamma-words">{move || weight_words(gamma.get(), iterations)}</span>
        </form>
    }
}

/// Hidden fields for settings that the form does not change.
#[component]
pub(super) fn Hidden(state: BoardState, gamma: bool, view: bool) -> impl IntoView {
    move || {
        let reading = state.get();
        let mut kept: Vec<(&'static str, String)> = Vec::new();
        kept.extend(reading.split.map(|split| ("split", split)));
        if gamma && reading.gamma != Gamma::ONE {
            kept.push(("gamma", format::gamma(reading.gamma)));
        }
        if reading.convention != Convention::default() {
            kept.push(("convention", reading.convention.name().to_owned()));
        }
        if !reading.published {
            kept.push(("published", OFF.to_owned()));
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
        }
        view! { <HiddenFields fields=kept/> }
    }
}

fn published_choices(state: BoardState) -> Vec<Choice> {
    let choice = |label, hint, published| {
        let href = move || state.href(|reading| reading.published = published);
        let chosen = move || state.get().published == published;
        Choice::new(label, hint, href, chosen)
    };
    let shown = "Shows results that are only known from publications, below the ranking";
    vec![
        choice("shown", shown, true),
        choice("hidden", "Only runs this site can rank", false),
    ]
}

/// The weights that γ gives to this many iterations, in words.
fn weight_words(gamma: Gamma, iterations: u32) -> String {
    if gamma == Gamma::ONE {
        return "all iterations weigh the same".to_owned();
    }
    let exponent = i32::try_from(iterations.saturating_sub(1)).unwrap_or(i32::MAX);
    let (heavy, light, factor) = if gamma > Gamma::ONE {
        ("last", "first", gamma.get().powi(exponent))
    } else {
        ("first", "last", gamma.get().recip().powi(exponent))
    };
    let times = match factor {
        ..9.95 => format!("{factor:.1}"),
        9.95..10_000.0 => format!("{factor:.0}"),
        _ => "over 10 000".to_owned(),
    };
    format!("the {heavy} of {iterations} iterations weighs {times}× the {light}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_in_words() {
        let check = |gamma, expect: &str| {
            assert_eq!(weight_words(Gamma::new(gamma).unwrap(), 20), expect);
        };
        check(1.0, "all iterations weigh the same");
        check(1.2, "the last of 20 iterations weighs 32× the first");
        check(0.9, "the first of 20 iterations weighs 7.4× the last");
        check(
            2.0,
            "the last of 20 iterations weighs over 10 000× the first",
        );
    }
}
