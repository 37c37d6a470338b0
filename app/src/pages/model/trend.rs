//! The state of a model's code, iteration by iteration, in each of its runs.

use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_plots::{Layout, trend};
use swe_ci_views::figures::{Line, Lines, Subject};
use swe_ci_views::leaderboard::{ModelRun, Trend};

use crate::components::CollectAny;
use crate::components::{Picture, Term};
use crate::format;
use crate::glossary::Word;

/// Empty while no run has a score.
#[component]
pub(super) fn TrendOfModel(
    runs: StoredValue<Vec<ModelRun>>,
    looks: Vec<usize>,
    convention: Convention,
) -> impl IntoView {
    let data = runs.with_value(|runs| lines(runs, convention));
    let entry = |line: &Line| view! { <li>{in_words(line)}</li> };
    let entries = data.lines.iter().map(entry).collect_any();
    let drawn = |layout| trend(&data, &looks, layout);
    let (wide, narrow) = (drawn(Layout::Wide), drawn(Layout::Narrow));
    (!data.lines.is_empty()).then(|| view! {
            <section aria-labelledby="trend-title">
                <figure class="figure figure-beside">
                    <figcaption>
                        <h2 id="trend-title">"Trend"</h2>
                        <p>
                            "The state of its code after each iteration: the mean "
                            <Term word=Word::Change/>
                            " of its tasks, 0 on the base and 1 on the target. A task that has ended keeps its value. The mean height of a line is its EvoScore at γ = 1; a line that turns down means that the code got harder to change."
                        </p>
                        <ul>{entries}</ul>
                    </figcaption>
                    <div class="only-wide"><Picture figure=wide/></div>
                    <div class="only-narrow"><Picture figure=narrow/></div>
                </figure>
            </section>
    })
}

/// Best final value first, each named by split and day.
fn lines(runs: &[ModelRun], convention: Convention) -> Lines {
    let line = |(index, run): (usize, &ModelRun)| {
        let of = |trend: &&Trend| trend.convention == convention;
        let trend = run.trends.iter().find(of)?;
        let summary = &run.summary;
        let day = format::day(&summary.created_at);
        Some(Line {
            run: Subject {
                index,
                run_id: summary.run_id.clone(),
                model: format!("{} · {day}", summary.config.split),
                provider: summary.config.provider.clone(),
                kind: summary.config.kind,
            },
            values: trend.changes.clone(),
        })
    };
    let mut lines: Vec<Line> = runs.iter().enumerate().filter_map(line).collect();
    let end = |line: &Line| line.values.last().copied().unwrap_or_default();
    lines.sort_by(|a, b| end(b).total_cmp(&end(a)));
    let longest = lines.iter().map(|line| line.values.len()).max();
    Lines {
        along: "iteration".into(),
        value: "mean normalized change".into(),
        prefix: "iteration".into(),
        steps: (1..=longest.unwrap_or(0)).map(|i| i.to_string()).collect(),
        lines,
        others: None,
    }
}

/// "field · 2026-09-22: 0.41 after 20 iterations, at its best 0.45 after 15."
fn in_words(line: &Line) -> String {
    let end = line.values.last().copied().unwrap_or_default();
    // Of equal values the first: when it got there.
    let best = line.values.iter().copied().enumerate().rev();
    let best = best.max_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.map(|(at, best)| (at + 1, format::score(best)));
    let end = format::score(end);
    let iterations = format::count(line.values.len(), "iteration");
    let ended = format!("{}: {end} after {iterations}", line.run.model);
    match best {
        Some((at, best)) if best != end => format!("{ended}, at its best {best} after {at}."),
        _ => format!("{ended}, its best."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::run::Kind;

    #[test]
    fn a_trend_in_words() {
        let check = |values: &[f64], expect: &str| {
            let line = Line {
                run: Subject {
                    index: 0,
                    run_id: "r".into(),
                    model: "field · 2026-09-22".into(),
                    provider: String::new(),
                    kind: Kind::Measured,
                },
                values: values.to_vec(),
            };
            assert_eq!(in_words(&line), format!("field · 2026-09-22: {expect}"));
        };
        check(&[0.2, 0.5], "0.500 after 2 iterations, its best.");
        check(
            &[0.2, 0.5, 0.5, 0.1],
            "0.100 after 4 iterations, at its best 0.500 after 2.",
        );
        check(&[-0.25], "−0.250 after 1 iteration, its best.");
    }
}
