//! The chart of EvoScore against γ. Its lines do not depend on the selected γ, so
//! that only its marks move with it.

use std::collections::HashMap;

use leptos::prelude::*;
use swe_ci_core::metrics::Gamma;
use swe_ci_plots::{Figure, Mark, RunLook, gamma_label};
use swe_ci_views::figures::GammaPlane;
use swe_ci_views::leaderboard::Row;

use super::export::api_href;
use crate::components::CollectAny;
use crate::components::{LeaderSwitch, Picture, Term};
use crate::format;
use crate::glossary::Word;
use crate::query::Reading;

/// The lines of the chart, and where its marks go.
pub(super) type Lines = (Figure, GammaPlane);

/// Puts the chart beside the table, or below it again; the page's script does, and
/// remembers it.
#[component]
pub(super) fn ChartSwitch() -> impl IntoView {
    view! {
        <button type="button" class="chart-switch link-button needs-js">
            <span>"γ chart beside"</span>
            <span>"γ chart below"</span>
        </button>
    }
}

#[component]
pub(super) fn GammaChart(
    /// On wide and on narrow screens; the style sheet shows the one that fits.
    lines: [Lines; 2],
    rows: Vec<Row>,
    /// How each run looks, by its id.
    looks: HashMap<String, RunLook>,
    reading: Reading,
    split: String,
    /// How many runs have scores and no rank.
    unranked: usize,
    /// The row whose score is subtracted from all.
    leader: Option<Row>,
) -> impl IntoView {
    let mut download = api_href("plots/evoscore-gamma.svg", &split, &reading);
    if leader.is_some() {
        download.push_str("&relative=leader");
    }
    let gamma = reading.gamma;
    let base = leader.map(|leader| leader.evoscore);
    let [wide, narrow] = lines
        .map(|lines| view! { <Marked lines rows=rows.clone() looks=looks.clone() gamma base/> });
    let from_leader = reading.from_leader;
    let href = move |from_leader| {
        let reading = Reading {
            from_leader,
            ..reading.clone()
        };
        reading.href()
    };
    view! {
        <figure class="figure board-chart">
            <figcaption>
                <h2>"EvoScore against γ"</h2>
                <p>
                    <Term word=Word::Gamma/>" sets how much later iterations weigh; at 1 all weigh the same. A line that falls to the right means code that gets harder to change."
                </p>
                {not_drawn(unranked).map(|text| view! { <p>{text}</p> })}
                <p class="figure-links"><a href=download download="">"Download as SVG"</a></p>
                <LeaderSwitch from_leader href=href/>
            </figcaption>
            <div class="only-wide">{wide}</div>
            <div class="only-narrow">{narrow}</div>
        </figure>
    }
}

/// "2 runs without a rank are not drawn."
fn not_drawn(unranked: usize) -> Option<String> {
    match unranked {
        0 => None,
        1 => Some("1 run without a rank is not drawn.".to_owned()),
        n => Some(format!("{n} runs without a rank are not drawn.")),
    }
}

/// The lines with their marks, which `LiveGamma` moves.
#[component]
fn Marked(
    lines: Lines,
    rows: Vec<Row>,
    looks: HashMap<String, RunLook>,
    gamma: Gamma,
    /// The leader's score, where the chart shows differences from it.
    base: Option<f64>,
) -> impl IntoView {
    let (mut figure, plane) = lines;
    let x = plane.x(gamma);
    let difference = |row: &Row| base.map(|base| row.evoscore - base);
    let y = |row: &Row| {
        let shown = difference(row).unwrap_or(row.evoscore);
        plane.y(shown).clamp(plane.top, plane.bottom)
    };
    let look = |row: &Row| looks.get(&row.run_id).copied().unwrap_or_default();
    let dot = |row: &Row| {
        let place = format!("translate({x:.1} {:.1})", y(row));
        let look = look(row);
        let (path, is_filled) = look.path(if look.featured { 5 } else { 3 });
        view! {
            <path
                class="gamma-dot"
                class:is-filled=is_filled
                data-run=row.run_id.clone()
                data-series=look.colour()
                data-line=look.number
                d=path
                transform=place
            />
        }
    };
    // Best last, over the others.
    let dots = rows.iter().rev().map(dot).collect_any();
    let mark = |row: &Row| Mark {
        x: gamma.get(),
        y: row.evoscore,
        px: x,
        py: y(row),
        label: gamma_label(&row.model, row.evoscore, difference(row)),
        line: Some(look(row).number),
    };
    figure.marks = rows.iter().map(mark).collect();
    view! {
        <div class="gamma-marks">
            <Picture figure/>
            <svg viewBox=format!("0 0 {} {}", plane.width, plane.height) aria-hidden="true" focusable="false">
                <g class="gamma-cursor" transform=format!("translate({x:.1} 0)")>
                    <line y1=plane.top y2=plane.bottom/>
                    <text y=plane.top - 4.0 text-anchor="middle">{format!("γ {}", format::gamma(gamma))}</text>
                </g>
                {dots}
            </svg>
        </div>
    }
}
