use std::cmp::Ordering;

use leptos::prelude::*;
use swe_ci_core::metrics::Gamma;

use super::data::Shown;
use crate::components::{Choice, Choices};
use crate::format;
use crate::glossary::Word;
use crate::pages::splits::{convention_choices, split_choices};
use crate::query::Reading;

/// The γs that links offer; the address accepts any other.
const GAMMAS: [f64; 6] = [0.5, 0.8, 1.0, 1.2, 1.5, 2.0];

/// The controls of the figures: links, so that they work without JavaScript.
#[component]
pub(super) fn Controls(shown: Shown, #[prop(into)] reading: Signal<Reading>) -> impl IntoView {
    let several = shown.splits.len() > 1;
    let now = reading.get_untracked();
    let gammas = gammas(&now);
    let (chosen, now) = (now.convention, StoredValue::new(now));
    let conventions = convention_choices(
        move || chosen,
        move |convention| {
            let now = now.get_value();
            href(Reading { convention, ..now })
        },
    );
    let split = shown.split.unwrap_or_default();
    let splits = split_choices(&shown.splits, &split, move |name| {
        let (split, now) = (Some(name.to_owned()), now.get_value());
        href(Reading { split, ..now })
    });
    view! {
        <section class="controls" aria-label="Settings">
            <div class="controls-choices">
                <Choices label="γ" word=Word::Gamma choices=gammas/>
                <Choices label="Counting" word=Word::Convention choices=conventions/>
                {several.then(|| view! { <Choices label="Split" word=Word::Split choices=splits/> })}
            </div>
        </section>
    }
}

fn href(reading: Reading) -> String {
    format!("/figures{}", reading.to_query())
}

fn gammas(now: &Reading) -> Vec<Choice> {
    let usual = GAMMAS.into_iter().filter_map(|g| Gamma::new(g).ok());
    let mut gammas: Vec<Gamma> = usual.collect();
    if !gammas.contains(&now.gamma) {
        gammas.push(now.gamma);
    }
    gammas.sort_by(|a, b| a.get().total_cmp(&b.get()));
    let choice = |gamma: Gamma| {
        let hint = match gamma.get().total_cmp(&1.0) {
            Ordering::Equal => "All iterations weigh the same",
            Ordering::Greater => "Later iterations weigh more",
            Ordering::Less => "Earlier iterations weigh more",
        };
        let now = now.clone();
        Choice {
            label: format::gamma(gamma),
            hint: hint.to_owned(),
            chosen: Signal::stored(gamma == now.gamma),
            href: Signal::stored(href(Reading { gamma, ..now })),
        }
    };
    gammas.into_iter().map(choice).collect()
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
