//! The controls of the figures: split, γ, convention.

use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, Gamma};

use super::data::Shown;
use crate::components::{Choice, Choices};
use crate::format;
use crate::glossary::Word;
use crate::query::Reading;

/// The γs that links offer; the address accepts any other.
const GAMMAS: [f64; 6] = [0.5, 0.8, 1.0, 1.2, 1.5, 2.0];

/// The controls of the figures: links, so that they work without JavaScript.
#[component]
pub(super) fn Controls(shown: Shown, #[prop(into)] reading: Signal<Reading>) -> impl IntoView {
    let several = shown.splits.len() > 1;
    let now = reading.get_untracked();
    view! {
        <section class="controls" aria-label="Settings">
            <div class="controls-choices">
                <Choices label="γ" word=Word::Gamma choices=gammas(&now)/>
                <Choices label="Counting" word=Word::Convention choices=conventions(&now)/>
                {several.then(|| view! { <Choices label="Split" word=Word::Split choices=splits(&shown, &now)/> })}
            </div>
        </section>
    }
}

fn choice(label: String, hint: &str, reading: &Reading, chosen: bool) -> Choice {
    Choice {
        label,
        hint: hint.to_owned(),
        href: Signal::stored(format!("/figures{}", reading.to_query())),
        chosen: Signal::stored(chosen),
    }
}

fn gammas(now: &Reading) -> Vec<Choice> {
    let mut gammas: Vec<Gamma> = GAMMAS
        .into_iter()
        .filter_map(|g| Gamma::new(g).ok())
        .collect();
    if !gammas.contains(&now.gamma) {
        gammas.push(now.gamma);
    }
    gammas.sort_by(|a, b| a.get().total_cmp(&b.get()));
    let choice = |gamma: Gamma| {
        let reading = Reading {
            gamma,
            ..now.clone()
        };
        let hint = if gamma == Gamma::ONE {
            "All iterations weigh the same"
        } else if gamma > Gamma::ONE {
            "Later iterations weigh more"
        } else {
            "Earlier iterations weigh more"
        };
        choice(format::gamma(gamma), hint, &reading, gamma == now.gamma)
    };
    gammas.into_iter().map(choice).collect()
}

fn conventions(now: &Reading) -> Vec<Choice> {
    let choice = |convention: Convention| {
        let reading = Reading {
            convention,
            ..now.clone()
        };
        let hint = match convention {
            Convention::Paper => {
                "Counts the tests the target passes, and finds regressions test by test"
            }
            Convention::Reference => {
                "Counts as the authors' program does: every passing test, regressions by net count"
            }
        };
        let chosen = convention == now.convention;
        choice(convention.name().to_owned(), hint, &reading, chosen)
    };
    Convention::ALL.into_iter().map(choice).collect()
}

fn splits(shown: &Shown, now: &Reading) -> Vec<Choice> {
    let choice = |split: &swe_ci_views::view::SplitSummary| {
        let reading = Reading {
            split: Some(split.name.clone()),
            ..now.clone()
        };
        let label = format!("{} · {}", split.name, split.tasks);
        let hint = format!("{} of {} tasks can be run", split.ready, split.tasks);
        let chosen = shown.split.as_ref() == Some(&split.name);
        choice(label, &hint, &reading, chosen)
    };
    shown.splits.iter().map(choice).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gamma_in_between_is_a_choice_too() {
        let check = |gamma, expect: &[&str], chosen: &str| {
            let now = Reading {
                gamma: Gamma::new(gamma).unwrap(),
                ..Reading::of(&leptos_router::params::ParamsMap::new())
            };
            let choices = gammas(&now);
            let labels: Vec<&str> = choices.iter().map(|c| c.label.as_str()).collect();
            assert_eq!(labels, expect);
            let now: Vec<&str> = choices
                .iter()
                .filter(|c| c.chosen.get_untracked())
                .map(|c| c.label.as_str())
                .collect();
            assert_eq!(now, [chosen]);
        };
        let owner = Owner::new();
        owner.set();
        check(
            1.0,
            &["0.50", "0.80", "1.00", "1.20", "1.50", "2.00"],
            "1.00",
        );
        check(
            1.07,
            &["0.50", "0.80", "1.00", "1.07", "1.20", "1.50", "2.00"],
            "1.07",
        );
    }
}
