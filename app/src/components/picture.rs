//! Figures with interactive marks.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use swe_ci_plots::{Figure, Mark, Size};
use wasm_bindgen::JsCast;

use crate::format;

/// A little more than half a target of 24 pixels.
const REACH: f64 = 13.0;
const LONGEST_TIP: usize = 46;

/// A figure with its marks on top: hovering or focusing a mark shows its text.
/// The figure is one tab stop; arrow keys move between marks, Escape hides the
/// text until the next mark.
#[component]
pub fn Picture(#[prop(into)] figure: Signal<Figure>) -> impl IntoView {
    let active = RwSignal::new(0);
    let hushed = RwSignal::new(false);
    // On the window, because a tip opened by hovering must close as well.
    let on_escape = window_event_listener(leptos::ev::keydown, move |event| {
        if event.key() == "Escape" {
            hushed.set(true);
        }
    });
    on_cleanup(move || on_escape.remove());
    let drawing = move || figure.with(|f| f.svg.clone());
    let size = move || figure.with(|f| format!("0 0 {} {}", f.size.width, f.size.height));
    let marks = move || {
        figure.with(|f| {
            let marks = f.marks.iter().enumerate();
            marks
                .map(|(index, mark)| mark_view(index, mark, f.size, active, hushed))
                .collect_view()
        })
    };
    let count = move || figure.with_untracked(|f| f.marks.len());
    view! {
        <div class="picture">
            <div inner_html=drawing></div>
            <svg
                class="picture-marks"
                class:hushed=hushed
                viewBox=size
                role="group"
                aria-label="Data points; arrow keys move between them"
                on:keydown=move |event| walk(&event, active, count())
            >
                {marks}
            </svg>
        </div>
    }
}

fn mark_view(
    index: usize,
    mark: &Mark,
    size: Size,
    active: RwSignal<usize>,
    hushed: RwSignal<bool>,
) -> impl IntoView + use<> {
    let tip = Tip::of(mark, size);
    let (x, y) = (number(mark.px), number(mark.py));
    view! {
        <g
            class="mark"
            role="img"
            tabindex=move || if active.get() == index { "0" } else { "-1" }
            aria-label=mark.label.clone()
            data-mark=index
            on:mouseenter=move |_| hushed.set(false)
            on:focus=move |_| {
                active.set(index);
                hushed.set(false);
            }
        >
            <circle class="mark-reach" cx=x.clone() cy=y.clone() r=number(REACH)/>
            <circle class="mark-ring" cx=x cy=y r="8"/>
            <g class="mark-tip" aria-hidden="true">
                <rect x=number(tip.x) y=number(tip.y) width=number(tip.width) height="24" rx="4"/>
                <text x=number(tip.x + tip.width / 2.0) y=number(tip.y + 16.0) text-anchor="middle">
                    {tip.text}
                </text>
            </g>
        </g>
    }
}

/// Where a mark's tip appears: above it, within the picture.
struct Tip {
    text: String,
    x: f64,
    y: f64,
    width: f64,
}

impl Tip {
    fn of(mark: &Mark, size: Size) -> Self {
        let text = format::clip(&mark.label, LONGEST_TIP);
        let width = text.chars().count() as f64 * 6.7 + 20.0;
        let most = (f64::from(size.width) - width).max(0.0);
        // It touches the mark's hit area, so that the pointer can reach it.
        let above = mark.py - REACH - 23.0;
        Self {
            x: (mark.px - width / 2.0).clamp(0.0, most),
            y: match above >= 0.0 {
                true => above,
                false => mark.py + REACH - 1.0,
            },
            width,
            text,
        }
    }
}

fn number(value: f64) -> String {
    format!("{value:.2}")
}

/// Moves the focus to the next or previous mark.
fn walk(event: &KeyboardEvent, active: RwSignal<usize>, count: usize) {
    let Some(next) = neighbour(&event.key(), active.get_untracked(), count) else {
        return;
    };
    event.prevent_default();
    active.set(next);
    let marks = event
        .current_target()
        .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
    let mark = marks.and_then(|m| {
        m.query_selector(&format!("[data-mark='{next}']"))
            .ok()
            .flatten()
    });
    if let Some(mark) = mark.and_then(|m| m.dyn_into::<web_sys::SvgElement>().ok()) {
        // Focusing may fail; nothing depends on it.
        let _ = mark.focus();
    }
}

fn neighbour(key: &str, from: usize, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    match key {
        "ArrowRight" | "ArrowDown" => Some(if from >= last { 0 } else { from + 1 }),
        "ArrowLeft" | "ArrowUp" => Some(from.checked_sub(1).unwrap_or(last).min(last)),
        "Home" => Some(0),
        "End" => Some(last),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_around() {
        assert_eq!(neighbour("ArrowRight", 2, 3), Some(0));
        assert_eq!(neighbour("ArrowLeft", 0, 3), Some(2));
        assert_eq!(neighbour("End", 0, 3), Some(2));
        assert_eq!(neighbour("Tab", 0, 3), None);
        assert_eq!(neighbour("ArrowRight", 0, 0), None);
    }

    #[test]
    fn tips_stay_inside() {
        let mark = |px, py| Mark {
            x: 0.0,
            y: 0.0,
            px,
            py,
            label: "x".repeat(200),
            series: String::new(),
        };
        for (px, py) in [(0.0, 0.0), (440.0, 240.0), (220.0, 120.0)] {
            let tip = Tip::of(&mark(px, py), Size::SMALL);
            assert!(tip.x >= 0.0 && tip.x + tip.width <= 440.0, "{}", tip.x);
            assert!(tip.y >= 0.0);
        }
    }
}
