//! A table of the arms of an experiment: how each differs from another.

use leptos::prelude::*;
use swe_ci_core::uncertainty::Comparison;
use swe_ci_views::leaderboard::{ArmEffect, probability};

use crate::components::{CollectAny, Term};
use crate::format;
use crate::glossary::Word;

/// Nothing without runs of two arms that differ in nothing else.
#[component]
pub(super) fn Arms(effects: Vec<ArmEffect>) -> impl IntoView {
    let item = |effect: &ArmEffect| {
        let [arm, against] = effect.names().map(str::to_owned);
        let pairs = format::count(effect.pairs, "pair");
        let score = changed("EvoScore", &effect.comparison);
        let cheating = effect.cheating.as_ref();
        let cheating = cheating.map(|it| format!("; {}", changed("cheating rate", it)));
        view! {
            <li><strong><bdi>{arm}</bdi></strong>" against "<bdi>{against}</bdi>": "{score}{cheating}", in "{pairs}" of runs."</li>
        }
    };
    (!effects.is_empty()).then(|| {
        view! {
            <section aria-labelledby="arms-title">
                <h2 id="arms-title">"What each arm changes"</h2>
                <p class="quiet">"Runs that differ in nothing but their "<Term word=Word::Arm text="arm"/>", task by task."</p>
                <ul>{effects.iter().map(item).collect_any()}</ul>
            </section>
        }
    })
}

/// "EvoScore +0.19 [0.10, 0.28], p = 0.012".
fn changed(what: &str, comparison: &Comparison) -> String {
    let interval = comparison.interval;
    let interval = interval.map(|interval| format!(" {}", format::interval(interval, 2)));
    let difference = format::signed(comparison.difference, 2);
    let p = probability(comparison.p_value);
    format!("{what} {difference}{}, {p}", interval.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::uncertainty::Interval;

    #[test]
    fn a_difference_in_words() {
        let mut comparison = Comparison {
            tasks: 8,
            repositories: 8,
            difference: 0.19,
            interval: None,
            p_value: 0.012,
            wins: 5,
            ties: 2,
            losses: 1,
        };
        assert_eq!(changed("Rate", &comparison), "Rate +0.19, p = 0.012");
        let (low, high) = (0.1, 0.28);
        comparison.interval = Some(Interval { low, high });
        let said = "Rate +0.19 [0.10, 0.28], p = 0.012";
        assert_eq!(changed("Rate", &comparison), said);
    }
}
