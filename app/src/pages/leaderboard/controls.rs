use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::view::SplitSummary;

use super::looking::Looking;
use crate::components::{Choice, Choices};
use crate::glossary::Word;
use crate::query::{
    self, EXCLUDE, GAMMA_LEAST, GAMMA_MAX, GAMMA_MIN, GAMMA_MOST, OFF, Reading, gamma_text,
};

/// What the board is ranked by: γ, convention, split; and whether published
/// rows are shown.
#[component]
pub fn Controls(
    splits: Vec<SplitSummary>,
    split: String,
    /// Whether there are published rows to show or hide.
    any_published: bool,
    looking: Looking,
    /// What the present γ does, in words.
    #[prop(into)]
    weights: Signal<String>,
) -> impl IntoView {
    let several = splits.len() > 1;
    let choices = split_choices(&splits, &split, looking);
    let published = published_choices(looking);
    view! {
        <section class="controls" aria-label="How to rank">
            <GammaControl looking weights/>
            <div class="controls-choices">
                <Choices label="Counting" word=Word::Convention choices=convention_choices(looking)/>
                {several.then(|| view! { <Choices label="Split" choices/> })}
                {any_published.then(|| view! { <Choices label="Published" choices=published/> })}
            </div>
        </section>
    }
}

/// Ranks anew as it moves: a slider for the usual range, and a field for any
/// γ exactly. The address follows once it rests; without JavaScript the field
/// and the form's button take over.
#[component]
fn GammaControl(looking: Looking, weights: Signal<String>) -> impl IntoView {
    let gamma = looking.gamma;
    let on_input = move |event| {
        if let Some(wanted) = query::gamma(&event_target_value(&event)) {
            gamma.set(wanted);
            looking.later();
        }
    };
    // What is typed stays as it is until it is done.
    let on_change = move |event| {
        let wanted = query::gamma(&event_target_value(&event));
        gamma.set(wanted.unwrap_or(gamma.get_untracked()));
        gamma.notify();
    };
    let first = gamma_text(gamma.get_untracked());
    view! {
        <form class="gamma" method="get" action="/" on:submit=|event| event.prevent_default()>
            <Hidden looking gamma=false view=true/>
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
                prop:value=move || gamma_text(gamma.get())
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
                prop:value=move || gamma_text(gamma.get())
                title="Any γ from 0.1 to 10"
                aria-describedby="gamma-words"
                on:change=move |event| {
                    on_change(event);
                    looking.later();
                }
            />
            <button class="button no-js">"Rank"</button>
            <span id="gamma-words" class="gamma-words">{move || weights.get()}</span>
        </form>
    }
}

/// What a form does not ask for and yet keeps.
#[component]
pub(super) fn Hidden(looking: Looking, gamma: bool, view: bool) -> impl IntoView {
    move || {
        let reading = looking.get();
        let usual = reading.convention == Convention::default();
        let mut kept: Vec<(&str, String)> = Vec::new();
        kept.extend(reading.split.map(|split| ("split", split)));
        if gamma && reading.gamma != Gamma::ONE {
            kept.push(("gamma", gamma_text(reading.gamma)));
        }
        if !usual {
            kept.push(("convention", reading.convention.name().to_owned()));
        }
        if !reading.published {
            kept.push(("published", OFF.to_owned()));
        }
        if view {
            let view = reading.view;
            kept.extend(
                view.kinds
                    .iter()
                    .map(|kind| ("kind", kind.name().to_owned())),
            );
            kept.extend(view.provider.map(|provider| ("provider", provider)));
            kept.extend(view.mark.map(|mark| ("mark", mark.name().to_owned())));
            kept.extend((!view.text.is_empty()).then_some(("text", view.text)));
            kept.extend(view.unseen.then(|| ("seen", EXCLUDE.to_owned())));
            kept.push(("sort", view.sort.to_string()));
            kept.push(("columns", view.columns.to_string()));
        }
        let field = |(name, value)| view! { <input type="hidden" name=name value=value/> };
        kept.into_iter().map(field).collect_view()
    }
}

/// A choice that is a link to the board as it is but for one thing.
fn choice(
    label: &str,
    hint: &str,
    looking: Looking,
    change: impl Fn(&mut Reading) + Send + Sync + 'static,
    chosen: Signal<bool>,
) -> Choice {
    Choice {
        label: label.to_owned(),
        hint: hint.to_owned(),
        href: Signal::derive(move || looking.href(&change)),
        chosen,
    }
}

fn convention_choices(looking: Looking) -> Vec<Choice> {
    let each = |convention: Convention| {
        let hint = match convention {
            Convention::Paper => {
                "Counts the tests the target passes, and looks at regressions test by test"
            }
            Convention::Reference => {
                "Counts as the authors' program does: every passing test, regressions by net count"
            }
        };
        let chosen = Signal::derive(move || looking.get().convention == convention);
        let change = move |reading: &mut Reading| reading.convention = convention;
        choice(convention.name(), hint, looking, change, chosen)
    };
    Convention::ALL.into_iter().map(each).collect()
}

fn published_choices(looking: Looking) -> Vec<Choice> {
    let each = |label: &str, hint: &str, published| {
        let chosen = Signal::derive(move || looking.get().published == published);
        let change = move |reading: &mut Reading| reading.published = published;
        choice(label, hint, looking, change, chosen)
    };
    vec![
        each(
            "shown",
            "Results known only as they were published stand below the ranking",
            true,
        ),
        each("hidden", "Only runs this site can rank", false),
    ]
}

fn split_choices(splits: &[SplitSummary], chosen: &str, looking: Looking) -> Vec<Choice> {
    let each = |split: &SplitSummary| {
        let name = split.name.clone();
        let label = format!("{} · {}", split.name, split.tasks);
        let hint = format!("{} of {} tasks can be run", split.ready, split.tasks);
        let chosen = Signal::stored(name == chosen);
        let change = move |reading: &mut Reading| reading.split = Some(name.clone());
        choice(&label, &hint, looking, change, chosen)
    };
    splits.iter().map(each).collect()
}

/// What a γ means over so many iterations.
pub(super) fn weight_words(gamma: Gamma, iterations: u32) -> String {
    if gamma == Gamma::ONE {
        return "all iterations weigh the same".to_owned();
    }
    let exponent = i32::try_from(iterations.saturating_sub(1)).unwrap_or(i32::MAX);
    let (heavy, light, factor) = if gamma > Gamma::ONE {
        ("last", "first", gamma.get().powi(exponent))
    } else {
        ("first", "last", gamma.get().recip().powi(exponent))
    };
    let times = if factor < 9.95 {
        format!("{factor:.1}")
    } else if factor < 10_000.0 {
        format!("{factor:.0}")
    } else {
        "over 10 000".to_owned()
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
