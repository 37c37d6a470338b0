//! Scores as bars, and passing tests as columns.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_core::uncertainty::Interval;
use swe_ci_islands::bar::{percent, place, span};

/// The id of the hatch pattern; see [`Hatching`].
const HATCHING: &str = "score-hatching";

/// A column as high as the share of the target's tests that pass; collapsed code
/// has none.
#[component]
pub fn PassingBar(passing: Option<u32>, target: u32) -> impl IntoView {
    let words = match passing {
        Some(passing) => format!("{passing} of {target}"),
        None => "collapsed: nothing ran".to_owned(),
    };
    let share = passing.map(|passing| f64::from(passing) / f64::from(target.max(1)));
    let picture = match share.map(|share| share.min(1.0)) {
        Some(share) => Either::Left(view! {
            <svg viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
                <rect width="1" height=format!("{share:.3}") y=format!("{:.3}", 1.0 - share)></rect>
            </svg>
        }),
        None => Either::Right(view! { <span aria-hidden="true">"✕"</span> }),
    };
    let title = words.clone();
    view! { <span class="passing-bar" title=title>{picture}<span class="visually-hidden">{words}</span></span> }
}

/// A score from −1 to 1 as a bar that grows from zero.
#[component]
pub fn ScoreBar(
    #[prop(into)] value: Signal<f64>,
    /// Where the scale starts, −1 to 0; it ends at 1.
    #[prop(into)]
    floor: Signal<f64>,
    /// 95 % interval, drawn as whiskers.
    #[prop(optional, into)]
    interval: Signal<Option<Interval>>,
) -> impl IntoView {
    let bar = move || span(0.0, value.get(), floor.get());
    let zero = move || {
        (floor.get() < 0.0).then(|| {
            let x = percent(place(0.0, floor.get()));
            view! { <line class="score-zero" x1=x.clone() x2=x y1="0" y2="14"/> }
        })
    };
    let whiskers = move || {
        interval.get().map(|Interval { low, high }| {
            let (x, width) = span(low, high, floor.get());
            let end = percent(place(high, floor.get()));
            view! {
                <g class="score-whisker">
                    <rect x=x.clone() width=width y="6.25" height="1.5"/>
                    <rect x=x width="1.5" y="2.5" height="9"/>
                    <rect x=end width="1.5" y="2.5" height="9"/>
                </g>
            }
        })
    };
    view! {
        <svg class="score-bar" width="100%" height="14" aria-hidden="true" focusable="false">
            <rect class="score-track" y="3" width="100%" height="8" rx="2"/>
            <rect
                class="score-fill"
                class:score-fill-below=move || { value.get() < 0.0 }
                x=move || bar().0
                width=move || bar().1
                y="3"
                height="8"
                rx="2"
            />
            {zero}
            {whiskers}
        </svg>
    }
}

/// A score that is only known from a publication: hatched, with a line at its
/// end. The page needs a [`Hatching`] for it.
#[component]
pub fn PublishedBar(value: f64, #[prop(into)] floor: Signal<f64>) -> impl IntoView {
    let bar = move || span(0.0, value, floor.get());
    let end = move || percent(place(value, floor.get()));
    view! {
        <svg class="score-bar" width="100%" height="14" aria-hidden="true" focusable="false">
            <rect class="score-track" y="4" width="100%" height="6" rx="2"/>
            <rect fill=format!("url(#{HATCHING})") x=move || bar().0 width=move || bar().1 y="4" height="6"/>
            <rect class="score-end" x=end width="1.5" y="2.5" height="9"/>
        </svg>
    }
}

/// The hatch pattern for [`PublishedBar`]s; once per page.
#[component]
pub fn Hatching() -> impl IntoView {
    view! {
        <svg class="hatching" width="0" height="0" aria-hidden="true" focusable="false">
            <defs>
                <pattern
                    id=HATCHING
                    width="5"
                    height="5"
                    patternUnits="userSpaceOnUse"
                    patternTransform="rotate(45)"
                >
                    <rect width="2.5" height="5"/>
                </pattern>
            </defs>
        </svg>
    }
}

/// The start of a scale that fits all these scores: 0, or lower in quarters.
pub fn floor_of(scores: impl IntoIterator<Item = f64>) -> f64 {
    let lowest = scores.into_iter().fold(0.0, f64::min);
    // Adding 0 turns −0 into 0.
    (lowest * 4.0).floor().max(-4.0) / 4.0 + 0.0
}

#[component]
pub fn Meter(
    #[prop(into)] value: Signal<u32>,
    #[prop(into)] most: Signal<u32>,
    #[prop(into)] label: String,
    /// `good`: ended well; `live`: in progress; otherwise neutral.
    #[prop(optional, into)]
    tone: Signal<&'static str>,
) -> impl IntoView {
    let width = move || filled(value.get(), most.get());
    let words = move || format!("{} of {}", value.get(), most.get());
    view! {
        <span
            class="meter"
            role="progressbar"
            aria-label=label
            aria-valuemin="0"
            aria-valuemax=move || most.get().to_string()
            aria-valuenow=move || value.get().to_string()
            aria-valuetext=words
            data-tone=move || tone.get()
        >
            <svg width="100%" height="10" aria-hidden="true" focusable="false">
                <rect class="meter-track" y="2" width="100%" height="6" rx="3"/>
                <rect class="meter-fill" y="2" width=width height="6" rx="3"/>
            </svg>
        </span>
    }
}

fn filled(value: u32, most: u32) -> String {
    let share = f64::from(value.min(most)) / f64::from(most.max(1));
    format!("{:.1}%", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_goes_as_low_as_it_must() {
        let check = |scores: &[f64], expect: f64| {
            assert_eq!(floor_of(scores.iter().copied()), expect, "{scores:?}");
        };
        check(&[], 0.0);
        check(&[0.3, 0.9], 0.0);
        check(&[0.3, -0.001], -0.25);
        check(&[-0.25], -0.25);
        check(&[-0.26], -0.5);
        check(&[-1.0], -1.0);
    }

    #[test]
    fn a_share_of_nothing_is_nothing() {
        assert_eq!(filled(1, 4), "25.0%");
        assert_eq!(filled(9, 4), "100.0%");
        assert_eq!(filled(0, 0), "0.0%");
    }
}
