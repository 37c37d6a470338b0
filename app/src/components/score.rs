use leptos::prelude::*;
use swe_ci_core::uncertainty::Interval;

use super::{ScoreBar, Term};
use crate::components::CollectAny;
use crate::format;
use crate::glossary::Word;

/// A score as a number, with its interval and its bar.
#[component]
pub fn Score(
    #[prop(into)] value: Signal<f64>,
    /// Where the scale of the bar starts.
    #[prop(into)]
    floor: Signal<f64>,
    #[prop(optional, into)] interval: Signal<Option<Interval>>,
) -> impl IntoView {
    let words = move || {
        interval.get().map(|interval| {
            view! {
                <span class="score-interval">
                    <span class="visually-hidden">", 95\u{a0}% interval "</span>
                    {format::interval(interval, 2)}
                </span>
            }
        })
    };
    view! {
        <span class="score">
            <span class="score-figures">
                <span class="score-number">{move || format::score(value.get())}</span>
                {words}
            </span>
            <ScoreBar value floor interval/>
        </span>
    }
}

/// The key for the marks in a table.
#[component]
pub fn MarkKey(#[prop(into)] words: Signal<Vec<Word>>) -> impl IntoView {
    move || {
        let words = words.get();
        (!words.is_empty()).then(|| {
            let words = words.into_iter();
            let words = words.map(|word| view! { " "<Term word/> }).collect_any();
            view! { <p class="quiet marks-key">"Marks:"{words}</p> }
        })
    }
}
