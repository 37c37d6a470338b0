//! The estimate of a run, in words.

use leptos::either::Either;
use leptos::prelude::*;
use swe_ci_views::submission::{Estimate, ExperimentEstimate, PlannedRun, Range};

use crate::components::fact;
use crate::components::{CollectAny, ListTable};
use crate::format;

/// An estimate as a part of the page, for a form that is being filled in.
pub fn estimate_in_html(estimate: Option<Estimate>) -> String {
    estimated_or_not(estimate).to_html()
}

pub(super) fn estimated_or_not(estimate: Option<Estimate>) -> impl IntoView {
    match estimate {
        Some(estimate) => Either::Left(estimated(estimate)),
        None => Either::Right(view! {
            <p class="quiet">"Cost and time from earlier runs, once harness, model and split are known."</p>
        }),
    }
}

/// The estimate for the run, and its basis.
fn estimated(estimate: Estimate) -> impl IntoView {
    let hours = |seconds: u64| format::roughly(seconds as f64);
    let [money, time, tokens] = [
        estimate
            .micro_usd
            .map(|range| in_words(range, format::dollars)),
        estimate.seconds.map(|range| in_words(range, hours)),
        estimate
            .tokens
            .map(|range| in_words(range, format::compact)),
    ]
    .map(|known| known.unwrap_or_else(|| "unknown".to_owned()));
    let longest = match estimate.longest {
        Some((task, seconds)) => format!("{task}, about {}", hours(seconds)),
        None => "unknown".to_owned(),
    };
    let evolutions = format!(
        "{} of {}",
        format::thousands(estimate.evolutions),
        format::count(estimate.tasks, "task")
    );
    let facts = [
        ("Cost", money),
        ("Work, one after another", time),
        ("Tokens", tokens),
        ("Longest task", longest),
        ("Evolutions", evolutions),
        ("Iterations at most", format::thousands(estimate.iterations)),
        (
            "Disk per running evolution, at most",
            format!("{} MiB", format::thousands(estimate.disk_mb)),
        ),
    ];
    let facts = facts.map(|(name, value)| fact(name, value));
    let rests_on = match estimate.rests_on {
        0 => "This site has no earlier evolutions of this harness and model with as many iterations, so time, tokens and money cannot be estimated.".to_owned(),
        1 => "This rests on one earlier evolution of this harness and model, so the spread is unknown.".to_owned(),
        n => format!(
            "Four of five such runs end in these ranges, to judge by {} earlier evolutions of this harness and model.",
            format::thousands(n)
        ),
    };
    let detects = estimate.detects.map(|difference| {
        let difference = format::decimals(difference, 3);
        format!(" Detects differences of {difference} or more (80 % power).")
    });
    view! {
        <dl class="facts">{facts.collect_any()}</dl>
        <p class="quiet">{rests_on}{detects}</p>
    }
}

/// The runs of an experiment, and what all of them take.
#[component]
pub(super) fn Planned(planned: ExperimentEstimate) -> impl IntoView {
    let hours = |seconds: u64| format::roughly(seconds as f64);
    let known = |words: Option<String>| words.unwrap_or_else(|| "unknown".to_owned());
    let cost = |range: Option<Range>| known(range.map(|range| in_words(range, format::dollars)));
    let time = |range: Option<Range>| known(range.map(|range| in_words(range, hours)));
    let summary = format!(
        "{} with {}: cost {}, work {}.",
        format::count(planned.runs.len(), "run"),
        format::count(planned.evolutions, "evolution"),
        cost(planned.micro_usd),
        time(planned.seconds)
    );
    let row = |run: PlannedRun| {
        view! {
            <tr role="row">
                <th role="rowheader" scope="row"><bdi>{run.model}</bdi></th>
                <td role="cell" data-label="Harness">{run.harness}</td>
                <td role="cell" data-label="Mode">{run.mode.name()}</td>
                <td role="cell" data-label="Arm"><bdi>{run.arm}</bdi></td>
                <td role="cell" data-label="Cost">{cost(run.estimate.micro_usd)}</td>
                <td role="cell" data-label="Work">{time(run.estimate.seconds)}</td>
            </tr>
        }
    };
    let rows = planned.runs.into_iter().map(row).collect_any();
    view! {
        <div class="note" role="status" tabindex="-1" data-result="">
            <p>{summary}</p>
            <ListTable caption="Runs of the experiment" columns=&["Model", "Harness", "Mode", "Arm", "Cost", "Work"]>
                {rows}
            </ListTable>
        </div>
    }
}

/// "$240 to $410"; "about $300" where the spread is unknown.
fn in_words(range: Range, show: impl Fn(u64) -> String) -> String {
    let [low, high] = [range.low, range.high].map(show);
    match low == high {
        true => format!("about {low}"),
        false => format!("{low} to {high}"),
    }
}
