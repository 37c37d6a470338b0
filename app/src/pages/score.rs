//! Tables of scores.

use leptos::prelude::*;
use swe_ci_core::uncertainty::Interval;

use crate::components::{ScoreBar, Term};
use crate::format;
use crate::glossary::Word;

/// A column, headed by a word of the glossary in the form that fits there.
pub(super) struct Column {
    word: Word,
    text: &'static str,
    is_number: bool,
}

impl Column {
    pub(super) const fn text(word: Word, text: &'static str) -> Self {
        Self {
            word,
            text,
            is_number: false,
        }
    }

    pub(super) const fn number(word: Word, text: &'static str) -> Self {
        Self {
            word,
            text,
            is_number: true,
        }
    }
}

/// The headings of a table whose rows become cards on narrow screens.
pub(super) fn heads(columns: &'static [Column]) -> impl IntoView {
    let head = |column: &Column| {
        let class = column.is_number.then_some("number");
        view! { <th role="columnheader" scope="col" class=class><Term word=column.word text=column.text/></th> }
    };
    columns.iter().map(head).collect_view()
}

/// The words of the headings, for the key of the table.
pub(super) fn words_of(columns: &[Column]) -> Vec<Word> {
    columns.iter().map(|column| column.word).collect()
}

/// A score as a number, with its interval and its bar.
#[component]
pub(super) fn Score(
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
                    <span class="visually-hidden">", 95 % interval "</span>
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
