//! An open row: where its run is strong and weak, what a task takes, what breaks.

use leptos::prelude::*;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::leaderboard::{Common, Entry, Extremes, Group, Rate, Row, extremes, strengths};

use crate::components::CollectAny;
use crate::components::fact;
use crate::format;
use crate::pages::routes::{evolution_href, model_href};

/// Shown besides the figures of the row.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    pub run_id: String,
    /// Its tasks by size, each with the score of the group.
    groups: Vec<(String, f64)>,
    extremes: Option<Extremes>,
}

impl Opened {
    pub(super) fn of(entry: &Entry, gamma: Gamma, convention: Convention) -> Self {
        let groups = strengths(&[entry], gamma, convention);
        Self {
            run_id: entry.run_id.clone(),
            groups: groups.iter().filter_map(by_size).collect(),
            extremes: extremes(&[entry], gamma, convention),
        }
    }
}

fn by_size(group: &Group) -> Option<(String, f64)> {
    let name = match &group.common {
        Common::Gap { .. } => format::capital(&group.common.to_string()),
        Common::Suite { .. } => format!("Suite of {}", group.common),
        Common::Repository { .. } => return None,
    };
    Some((name, group.evoscore))
}

#[component]
pub(super) fn OpenRow(
    opened: Opened,
    row: Row,
    /// How many the table has.
    columns: usize,
    convention: Convention,
) -> impl IntoView {
    let groups = opened.groups.into_iter();
    let groups = groups.map(|(name, score)| fact(name, format::score(score)));
    let groups = groups.collect_any();
    let taken = taken(&row).into_iter();
    let taken = taken.map(|(name, amount)| fact(name, amount));
    let taken = taken.collect_any();
    let ends = opened
        .extremes
        .into_iter()
        .flat_map(|Extremes { best, worst }| {
            [("Best task", best), ("Worst task", worst)].map(|(name, task)| {
                let href = evolution_href(&row.run_id, task.task_id.as_str(), 1);
                let score = format!(" {}", format::score(task.evoscore));
                fact(
                    name,
                    view! { <a href=href>{task.task_id.to_string()}</a>{score} },
                )
            })
        });
    let ends = ends.collect_any();
    let model = model_href(&row.model, convention);
    view! {
        <tr role="row" class="row-open">
            <td role="cell" colspan=columns>
                <div class="row-parts">
                    <section>
                        <h2>"Strong and weak"</h2>
                        <dl>{groups}</dl>
                        <p><a href=model>"The model over all its runs"</a></p>
                    </section>
                    <section>
                        <h2>"An average task takes"</h2>
                        <dl>{taken}</dl>
                    </section>
                    <section>
                        <h2>"What breaks"</h2>
                        <dl>
                            {fact("Tasks without a regression", format::percent(row.zero_regression_rate))}
                            {fact("Tasks solved", format::percent(row.solved_rate))}
                            {ends}
                        </dl>
                    </section>
                </div>
            </td>
        </tr>
    }
}

/// The known amounts of an average evolution, each with its name.
fn taken(row: &Row) -> Vec<(&'static str, String)> {
    let show = |name, rate, show: fn(f64) -> String| Some((name, show(row.took(rate)?)));
    let known = [
        show("Tokens", Rate::TokensPerTask, |tokens| {
            format::compact(tokens.round() as u64)
        }),
        show("Money", Rate::UsdPerTask, format::usd),
        show(
            "Time of the agents",
            Rate::AgentSecondsPerTask,
            format::brief,
        ),
        show("Money for a test", Rate::UsdPerClosedTest, format::usd),
    ];
    let mut known: Vec<_> = known.into_iter().flatten().collect();
    known.push(("Iterations", format::decimals(row.average_turns, 1)));
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_plots::fixture::leaderboard_of;
    use swe_ci_views::leaderboard::EffortRates;

    #[test]
    fn what_an_open_row_tells() {
        let board = leaderboard_of(&[("m", vec![&[0.5], &[1.0]])]);
        let opened = Opened::of(&board.entries[0], Gamma::ONE, Convention::Paper);
        assert_eq!(opened.run_id, board.entries[0].run_id);
        assert!(
            opened
                .groups
                .iter()
                .any(|(name, _)| name.starts_with("Gap of "))
        );
        assert!(
            opened
                .groups
                .iter()
                .any(|(name, _)| name.starts_with("Suite of "))
        );
        let scores = opened
            .extremes
            .map(|both| [both.best, both.worst].map(|task| task.evoscore));
        assert_eq!(scores, Some([1.0, 0.5]));

        let mut row = board.rank(Gamma::ONE, Convention::Paper)[0].clone();
        row.effort = None;
        let names = |row: &Row| -> Vec<&str> { taken(row).iter().map(|(name, _)| *name).collect() };
        assert_eq!(names(&row), ["Iterations"]);
        row.effort = Some(EffortRates {
            usd_per_task: Some(4.1),
            ..EffortRates::default()
        });
        assert_eq!(taken(&row)[0], ("Money", "$4.10".to_owned()));
    }
}
