//! Figures with interactive marks.

use leptos::ev::{KeyboardEvent, PointerEvent};
use leptos::prelude::*;
use leptos::svg;
use serde::{Deserialize, Serialize};
use swe_ci_metrics::format;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::elements::elements;

/// How near the pointer must be to a mark, in pixels of the picture.
const REACH: f64 = 28.0;
/// Marks this close to each other share a tip: nobody can point at one of them.
const TOGETHER: f64 = 1.0;
const LONGEST_TIP: usize = 60;

/// One datum of a figure, as a page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MarkPoint {
    /// In pixels of the picture.
    pub x: f64,
    pub y: f64,
    pub label: String,
    /// The number of its run's line: elements with this `data-line` belong to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The address a click leads to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
}

/// A figure with its marks on top. The drawing are its children.
#[island]
pub fn Picture(
    width: u32,
    height: u32,
    marks: Vec<MarkPoint>,
    children: Children,
) -> impl IntoView {
    view! {
        <div class="picture">
            {children()}
            <MarkLayer width height marks/>
        </div>
    }
}

/// The marks over a drawing of the same size. The one nearest to the pointer, or
/// the focused one, shows its text and picks out its run's line, and what else of
/// the page belongs to it; marks at the same place share a text. The layer is one
/// tab stop: arrow keys move between marks. Escape hides the text until
/// the next mark; the page's script does that for all tips.
#[component]
fn MarkLayer(width: u32, height: u32, marks: Vec<MarkPoint>) -> impl IntoView {
    let marks = StoredValue::new(marks);
    let shown = RwSignal::new(None::<usize>);
    let tab_stop = RwSignal::new(0);
    let layer = NodeRef::<svg::Svg>::new();
    Effect::new(move |_| {
        let line = shown
            .get()
            .and_then(|near| marks.with_value(|marks| marks[near].line));
        if let Some(layer) = layer.get() {
            pick_out(&layer, line);
        }
    });
    let on_move = move |event: PointerEvent| {
        let near = pointed(&event, (width, height)).and_then(|pointer| {
            marks.with_value(|marks| nearest(marks.iter().map(|mark| (mark.x, mark.y)), pointer))
        });
        if near != shown.get_untracked() {
            shown.set(near);
        }
    };
    let on_click = move |_| {
        let near = shown.get_untracked();
        let href = near.and_then(|near| marks.with_value(|marks| marks[near].href.clone()));
        if let Some(href) = href {
            follow(&href);
        }
    };
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" => on_click(()),
        key => {
            let count = marks.with_value(Vec::len);
            if let Some(next) = neighbour(key, tab_stop.get_untracked(), count) {
                event.prevent_default();
                tab_stop.set(next);
                focus(&event, next);
            }
        }
    };
    let mark = |(index, mark): (usize, &MarkPoint)| {
        view! {
            <g
                class="mark"
                class:shown=move || shown.get() == Some(index)
                role="img"
                transform=format!("translate({} {})", number(mark.x), number(mark.y))
                tabindex=move || if tab_stop.get() == index { "0" } else { "-1" }
                aria-label=mark.label.clone()
                data-mark=index
                on:focus=move |_| {
                    tab_stop.set(index);
                    shown.set(Some(index));
                }
                on:blur=move |_| shown.set(None)
            >
                <circle class="mark-ring" r="8"/>
            </g>
        }
    };
    let tip = move || {
        let near = shown.get()?;
        let tip = marks.with_value(|marks| {
            let at = (marks[near].x, marks[near].y);
            Tip::of(&labels_at(marks, at), at, width)
        });
        Some(view! {
            <g class="mark-tip" aria-hidden="true">
                <rect x=number(tip.x) y=number(tip.y) width=number(tip.width) height="24" rx="4"/>
                <text x=number(tip.x + tip.width / 2.0) y=number(tip.y + 16.0) text-anchor="middle">
                    {tip.text}
                </text>
            </g>
        })
    };
    let all = marks.with_value(|marks| marks.iter().enumerate().map(mark).collect_view());
    view! {
        <svg
            node_ref=layer
            class="picture-marks"
            viewBox=format!("0 0 {width} {height}")
            role="group"
            aria-label="Data points; arrow keys move between them"
            on:pointermove=on_move
            on:pointerleave=move |_| shown.set(None)
            on:click=move |_| on_click(())
            on:keydown=on_key
        >
            <rect class="mark-area" width=width height=height/>
            {all}
            {tip}
        </svg>
    }
}

/// Marks what belongs to a line, within the part of the page that `data-lines`
/// names: its strokes and marks, and rows of tables. The style sheet turns all
/// other lines grey.
fn pick_out(layer: &Element, line: Option<usize>) {
    let Ok(Some(part)) = layer.closest("[data-lines]") else {
        return;
    };
    for element in elements(&part, ".is-picked") {
        let _ = element.class_list().remove_1(PICKED);
    }
    if let Some(line) = line {
        for element in elements(&part, &format!("[data-line='{line}']")) {
            let _ = element.class_list().add_1(PICKED);
        }
    }
    let _ = part
        .class_list()
        .toggle_with_force("has-picked", line.is_some());
}

const PICKED: &str = "is-picked";

/// Goes where a mark leads, by the page's own link if it has one, which may show
/// the place within the page.
fn follow(href: &str) {
    let link = document().query_selector(&format!("a[href=\"{href}\"]"));
    let link = link
        .ok()
        .flatten()
        .and_then(|link| link.dyn_into::<web_sys::HtmlElement>().ok());
    match link {
        Some(link) => link.click(),
        // If the navigation fails, the browser reports it.
        None => drop(window().location().set_href(href)),
    }
}

/// Where the pointer is, in pixels of the picture.
fn pointed(event: &PointerEvent, (width, height): (u32, u32)) -> Option<(f64, f64)> {
    let layer = event.current_target()?.dyn_into::<Element>().ok()?;
    let area = layer.get_bounding_client_rect();
    let share = |at: i32, from: f64, length: f64| (f64::from(at) - from) / length;
    let x = share(event.client_x(), area.left(), area.width());
    let y = share(event.client_y(), area.top(), area.height());
    Some((x * f64::from(width), y * f64::from(height)))
}

/// The index of the mark nearest to a point, if it is near enough.
fn nearest(marks: impl Iterator<Item = (f64, f64)>, point: (f64, f64)) -> Option<usize> {
    let distances = marks.map(|mark| (mark.0 - point.0).hypot(mark.1 - point.1));
    let (index, distance) = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    (distance <= REACH).then_some(index)
}

/// The labels of all marks at a place.
fn labels_at(marks: &[MarkPoint], (x, y): (f64, f64)) -> String {
    let here = marks
        .iter()
        .filter(|mark| (mark.x - x).hypot(mark.y - y) <= TOGETHER);
    let labels: Vec<&str> = here.map(|mark| mark.label.as_str()).collect();
    labels.join(" · ")
}

/// Where a mark's tip appears: above it, within the picture.
struct Tip {
    text: String,
    x: f64,
    y: f64,
    width: f64,
}

impl Tip {
    fn of(text: &str, (x, y): (f64, f64), width_of_picture: u32) -> Self {
        let text = format::clip(text, LONGEST_TIP);
        let width = text.chars().count() as f64 * 6.7 + 20.0;
        let most = (f64::from(width_of_picture) - width).max(0.0);
        let above = y - 36.0;
        Self {
            x: (x - width / 2.0).clamp(0.0, most),
            y: if above >= 0.0 { above } else { y + 12.0 },
            width,
            text,
        }
    }
}

fn number(value: f64) -> String {
    format!("{value:.2}")
}

/// Moves the focus to a mark. It may fail; nothing depends on it.
fn focus(event: &KeyboardEvent, mark: usize) {
    let layer = event.current_target();
    let layer = layer.and_then(|layer| layer.dyn_into::<Element>().ok());
    let mark = layer.and_then(|layer| {
        layer
            .query_selector(&format!("[data-mark='{mark}']"))
            .ok()?
    });
    if let Some(mark) = mark.and_then(|mark| mark.dyn_into::<web_sys::SvgElement>().ok()) {
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
    fn the_nearest_mark_is_the_one_under_the_pointer() {
        // Closer to each other than a finger is wide.
        let marks: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i) * 2.0, 50.0)).collect();
        for (index, at) in marks.iter().enumerate() {
            assert_eq!(nearest(marks.iter().copied(), *at), Some(index));
        }
        assert_eq!(nearest(marks.iter().copied(), (0.0, 90.0)), None);
        assert_eq!(nearest(std::iter::empty(), (0.0, 0.0)), None);
    }

    #[test]
    fn tips_stay_inside() {
        let text = "x".repeat(200);
        for at in [(0.0, 0.0), (440.0, 240.0), (220.0, 120.0)] {
            let tip = Tip::of(&text, at, 440);
            assert!(tip.x >= 0.0 && tip.x + tip.width <= 440.0, "{}", tip.x);
            assert!(tip.y >= 0.0);
        }
    }
}
