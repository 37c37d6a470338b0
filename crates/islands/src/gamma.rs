//! The leaderboard while γ moves. The scores at every γ follow from a few numbers
//! per run, so that rows and chart follow the hand; when it rests, [`InPlace`]
//! shows the server's page for that γ, with intervals, ties and words.
//!
//! [`InPlace`]: crate::InPlace

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use leptos::ev::Event;
use leptos::html;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use swe_ci_metrics::curve::{Curve, GammaPlane};
use swe_ci_metrics::format;
use swe_ci_metrics::{Gamma, SAME};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, HtmlInputElement};

use crate::bar;
use crate::elements::elements;

/// The range of γ that people can type: the one the metric is defined for.
const LEAST: f64 = 0.1;
const MOST: f64 = 10.0;

/// Rows this far beyond the edges of the screen, in pixels, follow too.
const MARGIN: f64 = 80.0;

/// A run whose score follows γ.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct MovingRun {
    pub id: String,
    pub curve: Curve,
}

/// Makes the γ slider live: the inputs `#gamma` and `#gamma-exact`, the rows
/// `tr[data-run]` of `.ranking` and the marks `.gamma-dot[data-run]`.
#[island]
pub fn LiveGamma(
    runs: Vec<MovingRun>,
    /// The chart on wide and on narrow screens.
    planes: [GammaPlane; 2],
    /// N: how many iterations the words about γ are for.
    iterations: u32,
    /// The run whose score is subtracted from all in the chart.
    leader: Option<String>,
) -> impl IntoView {
    let place = NodeRef::<html::Span>::new();
    Effect::new(move || {
        let board = Board {
            runs: runs.clone(),
            planes,
            iterations,
            leader: leader.clone(),
        };
        let board = StoredValue::new_local(board);
        let moving = StoredValue::new_local(None::<Moving>);
        let on_input = window_event_listener(leptos::ev::input, move |event| {
            // Another ranking may have come in its place.
            let is_in_page = place
                .get_untracked()
                .is_some_and(|place| place.is_connected());
            let Some(gamma) = chosen(&event).filter(|_| is_in_page) else {
                return;
            };
            board.with_value(|board| {
                moving.update_value(|moving| {
                    // A page rendered anew has none of the marks of a movement.
                    let known = moving.take().filter(Moving::is_going_on);
                    *moving = known.or_else(|| Moving::begin(board));
                    if let Some(moving) = moving {
                        moving.show(board, gamma);
                    }
                });
            });
        });
        on_cleanup(move || on_input.remove());
    });
    view! { <span node_ref=place hidden=true></span> }
}

/// The data of a movement, which γ does not change.
struct Board {
    runs: Vec<MovingRun>,
    planes: [GammaPlane; 2],
    iterations: u32,
    leader: Option<String>,
}

/// The γ that somebody has just chosen; the other control follows.
fn chosen(event: &Event) -> Option<Gamma> {
    let input = event.target()?.dyn_into::<HtmlInputElement>().ok()?;
    let other = match input.id().as_str() {
        "gamma" => "gamma-exact",
        "gamma-exact" => "gamma",
        _ => return None,
    };
    let gamma = gamma_of(&input.value())?;
    let other = document().get_element_by_id(other)?;
    let other = other.dyn_into::<HtmlInputElement>().ok()?;
    other.set_value(&format::gamma(gamma));
    Some(gamma)
}

/// A number from a control, rounded to hundredths.
fn gamma_of(text: &str) -> Option<Gamma> {
    let value: f64 = text.trim().parse().ok()?;
    let value = value.is_finite().then_some(value)?;
    Gamma::new((value.clamp(LEAST, MOST) * 100.0).round() / 100.0).ok()
}

/// The elements of a movement, looked up and measured once: nobody scrolls while
/// dragging, and measuring in between would force the browser to lay out the
/// page twice a frame.
struct Moving {
    board: Element,
    rows: Vec<MovingRow>,
    /// What can be seen, from the top of the first row: rows elsewhere do nothing.
    screen: Range<f64>,
    /// Whether rows take their places by score.
    sorts: bool,
    floor: f64,
    words: Option<Element>,
    charts: Vec<Chart>,
}

struct MovingRow {
    id: String,
    row: HtmlElement,
    rank: Option<Element>,
    number: Option<Element>,
    fill: Option<Element>,
    /// From the top of the first row, before the movement.
    top: f64,
    height: f64,
    /// The same where it was shown last.
    shown_at: Cell<f64>,
}

struct Chart {
    plane: GammaPlane,
    cursor: Option<Element>,
    cursor_text: Option<Element>,
    dots: Vec<(String, Element)>,
}

/// Marks a page whose rows show another γ than its address.
const MOVING: &str = "moving";

impl Moving {
    fn begin(board: &Board) -> Option<Self> {
        let page = document();
        let element = page.query_selector(".board-and-chart").ok()??;
        let table = element.query_selector(".ranking").ok()??;
        let rows = elements(&table, "tr[data-run]");
        let screen = window().inner_height().ok()?.as_f64()?;
        let first = rows
            .first()
            .map_or(0.0, |row| row.get_bounding_client_rect().top());
        let rows = rows.into_iter().filter_map(|row| {
            let area = row.get_bounding_client_rect();
            Some(MovingRow {
                id: row.get_attribute("data-run")?,
                rank: row.query_selector(".rank-number").ok()?,
                number: row.query_selector(".score-number").ok()?,
                fill: row.query_selector(".score-fill").ok()?,
                top: area.top() - first,
                height: area.height(),
                shown_at: Cell::new(area.top() - first),
                row: row.dyn_into().ok()?,
            })
        });
        // The chart for the other width is in the page too; one below the screen
        // does nothing.
        let is_shown = |chart: &Element| {
            let area = chart.get_bounding_client_rect();
            area.width() > 0.0 && area.top() < screen
        };
        let charts = elements(&element, ".gamma-marks")
            .into_iter()
            .zip(board.planes)
            .filter(|(chart, _)| is_shown(chart));
        let chart = |(chart, plane): (Element, GammaPlane)| Chart {
            plane,
            cursor: chart.query_selector(".gamma-cursor").ok().flatten(),
            cursor_text: chart.query_selector(".gamma-cursor text").ok().flatten(),
            dots: elements(&chart, ".gamma-dot")
                .into_iter()
                .filter_map(|dot| Some((dot.get_attribute("data-run")?, dot)))
                .collect(),
        };
        let moving = Self {
            rows: rows.collect(),
            screen: (-first - MARGIN)..(screen - first + MARGIN),
            sorts: table.get_attribute("data-order").as_deref() == Some("score"),
            floor: table.get_attribute("data-floor")?.parse().ok()?,
            words: page.get_element_by_id("gamma-words"),
            charts: charts.map(chart).collect(),
            board: element,
        };
        // What does not follow is hidden meanwhile.
        let _ = moving.board.class_list().add_1(MOVING);
        Some(moving)
    }

    /// Whether these are still the elements of the page.
    fn is_going_on(&self) -> bool {
        self.board.is_connected() && self.board.class_list().contains(MOVING)
    }

    fn show(&self, board: &Board, gamma: Gamma) {
        let scores: HashMap<&str, f64> = board
            .runs
            .iter()
            .map(|run| (run.id.as_str(), run.curve.at(gamma)))
            .collect();
        let ranks = ranks(&scores);
        let mut top = 0.0;
        for row in self.order(&scores) {
            let at = if self.sorts { top } else { row.top };
            top += row.height;
            let known = scores.get(row.id.as_str()).zip(ranks.get(row.id.as_str()));
            let shows = self.is_seen(row, at);
            if shows || self.is_seen(row, row.shown_at.get()) {
                row.move_to(at);
            }
            if let Some((score, rank)) = known.filter(|_| shows) {
                row.show(*score, *rank, self.floor);
            }
        }
        write(self.words.as_ref(), &weight_words(gamma, board.iterations));
        let leader = board.leader.as_deref();
        let base = leader.and_then(|leader| scores.get(leader).copied());
        for chart in &self.charts {
            chart.show(&scores, base.unwrap_or(0.0), gamma);
        }
    }

    /// The rows in the order in which they stand at these scores.
    fn order(&self, scores: &HashMap<&str, f64>) -> Vec<&MovingRow> {
        let mut rows: Vec<&MovingRow> = self.rows.iter().collect();
        if self.sorts {
            let score = |row: &MovingRow| scores.get(row.id.as_str()).copied();
            let score = |row| score(row).unwrap_or(f64::NEG_INFINITY);
            rows.sort_by(|a, b| score(b).total_cmp(&score(a)));
        }
        rows
    }

    fn is_seen(&self, row: &MovingRow, top: f64) -> bool {
        top + row.height > self.screen.start && top < self.screen.end
    }
}

impl MovingRow {
    fn show(&self, score: f64, rank: usize, floor: f64) {
        write(self.rank.as_ref(), &rank.to_string());
        write(self.number.as_ref(), &format::score(score));
        if let Some(element) = &self.fill {
            let (x, width) = bar::span(0.0, score, floor);
            let _ = element.set_attribute("x", &x);
            let _ = element.set_attribute("width", &width);
        }
    }

    /// Without laying out the table anew.
    fn move_to(&self, top: f64) {
        self.shown_at.set(top);
        let by = top - self.top;
        let style = self.row.style();
        let _ = match by.abs() < 0.5 {
            true => style.remove_property("transform").map(drop),
            false => style.set_property("transform", &format!("translateY({by:.1}px)")),
        };
    }
}

impl Chart {
    /// `base` is subtracted from all scores.
    fn show(&self, scores: &HashMap<&str, f64>, base: f64, gamma: Gamma) {
        let plane = &self.plane;
        let x = plane.x(gamma);
        if let Some(cursor) = &self.cursor {
            let _ = cursor.set_attribute("transform", &format!("translate({x:.1} 0)"));
        }
        let text = format!("γ {}", format::gamma(gamma));
        write(self.cursor_text.as_ref(), &text);
        for (id, dot) in &self.dots {
            if let Some(score) = scores.get(id.as_str()) {
                let y = plane.y(*score - base).clamp(plane.top, plane.bottom);
                let _ = dot.set_attribute("transform", &format!("translate({x:.1} {y:.1})"));
            }
        }
    }
}

/// Changes the only text of an element. A new text node in its place would make
/// the browser ask all relations of the style sheet (`:has`) again.
fn write(element: Option<&Element>, text: &str) {
    if let Some(node) = element.and_then(|element| element.first_child()) {
        node.set_node_value(Some(text));
    }
}

/// The rank of each run, from 1; equal scores share one.
fn ranks<'a>(scores: &HashMap<&'a str, f64>) -> HashMap<&'a str, usize> {
    let mut order: Vec<(&str, f64)> = scores.iter().map(|(id, score)| (*id, *score)).collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut ranks = HashMap::with_capacity(order.len());
    let mut last = (f64::INFINITY, 0);
    for (place, (id, score)) in (1..).zip(order) {
        if last.0 - score > SAME {
            last = (score, place);
        }
        ranks.insert(id, last.1);
    }
    ranks
}

/// The weights that γ gives to this many iterations, in words.
pub fn weight_words(gamma: Gamma, iterations: u32) -> String {
    if gamma == Gamma::ONE {
        return "all iterations weigh the same".to_owned();
    }
    let exponent = i32::try_from(iterations.saturating_sub(1)).unwrap_or(i32::MAX);
    let (heavy, light, factor) = if gamma > Gamma::ONE {
        ("last", "first", gamma.get().powi(exponent))
    } else {
        ("first", "last", gamma.get().recip().powi(exponent))
    };
    let times = match factor {
        ..9.95 => format!("{factor:.1}"),
        9.95..10_000.0 => format!("{factor:.0}"),
        _ => "over 10 000".to_owned(),
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

    #[test]
    fn a_typed_gamma_is_in_hundredths_and_in_range() {
        let check = |text, expect: Option<f64>| {
            assert_eq!(gamma_of(text).map(Gamma::get), expect, "{text}");
        };
        check("1.0749", Some(1.07));
        check(" 0 ", Some(0.1));
        check("99", Some(10.0));
        check("", None);
        check("NaN", None);
    }

    #[test]
    fn equal_scores_share_a_rank() {
        let scores = HashMap::from([("a", 0.5), ("b", 0.7), ("c", 0.5), ("d", -0.2)]);
        let ranks = ranks(&scores);
        assert_eq!(
            (ranks["b"], ranks["a"], ranks["c"], ranks["d"]),
            (1, 2, 2, 4)
        );
    }
}
