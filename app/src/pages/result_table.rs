//! Tags beside a result: how far to trust it, how it was made, who sees it; and
//! tables of scores.

use leptos::prelude::*;
use swe_ci_core::finding::Unranked;
use swe_ci_core::requirement::Mode;
use swe_ci_core::run::Kind;
use swe_ci_core::text::visible;
use swe_ci_views::account::Visibility;
use swe_ci_views::verification::Mark;

use crate::components::CollectAny;
use crate::components::{Tag, Term, Tone};
use crate::glossary::Word;
use crate::{format, labels};

/// How many runs a table leaves out, because they are known by counts alone.
#[component]
pub(super) fn KnownByCounts(runs: usize) -> impl IntoView {
    (runs > 0).then(|| {
        let runs = format::count(runs, "run");
        view! { <p class="quiet">{format!("Not listed: {runs} known by counts alone, scored in the reference convention only.")}</p> }
    })
}

/// The mark with a tooltip, for tables whose key explains the marks.
#[component]
pub(super) fn MarkTag(mark: Option<Mark>) -> impl IntoView {
    mark.map(|mark| {
        let (word, tone) = labels::mark(mark);
        view! { <Tag text=word.name().to_owned() tone hint=word.definition().to_owned()/> }
    })
}

/// The mark with its explanation, where it appears once.
#[component]
pub(super) fn MarkTerm(mark: Option<Mark>) -> impl IntoView {
    mark.map(|mark| {
        let (word, tone) = labels::mark(mark);
        view! { <span class="tag" data-tone=tone.name()><Term word/></span> }
    })
}

/// Why a run has no rank; nothing for most runs.
#[component]
pub(super) fn UnrankedTag(unranked: Option<Unranked>) -> impl IntoView {
    unranked.map(|why| {
        let hint = visible(&why.to_string()).into_owned();
        view! { <Tag text=unranked_word(&why) tone=Tone::Warn hint/> }
    })
}

/// The same in a word or two.
pub(super) fn unranked_word(why: &Unranked) -> &'static str {
    match why {
        Unranked::HeldForReview { .. } => "held for review",
        Unranked::Regraded { .. } => "graded again",
        Unranked::RunAgain { .. } => "run again",
        Unranked::Incomplete { .. } | Unranked::OutOfBudget { .. } => "incomplete",
        Unranked::BeingAudited { .. } => "being audited",
        Unranked::FewerIterations { .. } => "fewer iterations",
        Unranked::OtherRevisions { .. } => "other revision",
        Unranked::HostedTools | Unranked::OtherMode | Unranked::Confirmed { .. } => "unranked",
    }
}

/// Nothing for runs measured here.
#[component]
pub(super) fn KindTag(kind: Kind) -> impl IntoView {
    labels::kind(kind).map(|(text, hint, tone)| view! { <Tag text tone hint/> })
}

/// Nothing for code that is audited, or may be yet.
#[component]
pub(super) fn NotAuditedTag(why: Option<String>) -> impl IntoView {
    why.map(|why| {
        let hint = format!("Nobody tried contradictions of its tests: {why}.");
        view! { <Tag text="not audited" tone=Tone::Warn hint/> }
    })
}

/// Nothing for runs of the default mode.
#[component]
pub(super) fn ModeTag(mode: Mode) -> impl IntoView {
    labels::mode_mark(mode).map(|(text, hint, tone)| view! { <Tag text tone hint/> })
}

/// Nothing for runs outside experiments.
#[component]
pub(super) fn ArmTag(arm: Option<String>) -> impl IntoView {
    arm.map(|text| view! { <Tag text hint=labels::ARM/> })
}

/// Nothing for runs without the provider's own tools.
#[component]
pub(super) fn HostedToolsTag(allowed: bool) -> impl IntoView {
    allowed.then(|| {
        let (text, hint, tone) = labels::HOSTED_TOOLS;
        view! { <Tag text tone hint/> }
    })
}

/// Nothing for runs that start from the bases.
#[component]
pub(super) fn HandoverTag(handover: bool) -> impl IntoView {
    handover.then(|| {
        let (text, hint, tone) = labels::HANDOVER;
        view! { <Tag text tone hint/> }
    })
}

/// Nothing for public runs.
#[component]
pub(super) fn VisibilityTag(visibility: Visibility) -> impl IntoView {
    labels::visibility(visibility).map(|(text, hint, tone)| view! { <Tag text tone hint/> })
}

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
    columns.iter().map(head).collect_any()
}

/// The words of the headings, for the key of the table.
pub(super) fn words_of(columns: &[Column]) -> Vec<Word> {
    columns.iter().map(|column| column.word).collect()
}
