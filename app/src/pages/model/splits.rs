//! The change of a model's score from split to split.

use leptos::prelude::*;
use swe_ci_core::metrics::Convention;
use swe_ci_views::leaderboard::{SplitScore, SplitSeries};

use crate::components::CollectAny;
use crate::components::PlainTable;
use crate::format;
use crate::labels;
use crate::pages::routes::run_href;

/// Nothing for a model with scores on one split.
#[component]
pub(super) fn SplitsOfModel(
    series: Vec<SplitSeries>,
    convention: Signal<Convention>,
) -> impl IntoView {
    let counted = |series: &SplitSeries| series.convention == convention.get_untracked();
    series.into_iter().find(counted).map(table)
}

fn table(series: SplitSeries) -> impl IntoView {
    let rows = series.splits.iter().map(row).collect_any();
    let heads = view! {
        <th scope="col">"Split"</th>
        <th scope="col">"Targets"</th>
        <th scope="col" class="number">"Tasks"</th>
        <th scope="col" class="number">"EvoScore"</th>
        <th scope="col" class="number">"Change"</th>
        <th scope="col" class="number">"Shared tasks"</th>
    };
    let alike = format!(
        "The newest finished run on each split with {} in the mode {}, the youngest targets last.",
        series.harness,
        series.mode.name()
    );
    view! {
        <section aria-labelledby="splits-title">
            <h2 id="splits-title">"From split to split"</h2>
            <p class="quiet" title=labels::mode(series.mode)>
                {alike}
                " Change is the difference to the split before. Its interval resamples the repositories of both splits; their tasks are independent, but for those they share. "
                <a href="/about#term-evoscore">"EvoScore"</a>
                " is at γ = 1, with 95 % intervals."
            </p>
            <PlainTable class="profile" caption="EvoScore by split" scrolls="EvoScore by split; scrolls sideways" heads=heads.into_any()>
                {rows}
            </PlainTable>
        </section>
    }
}

fn row(score: &SplitScore) -> impl IntoView + use<> {
    let shared = score.change.map(|_| format::thousands(score.shared_tasks));
    view! {
        <tr>
            <th scope="row"><a href=run_href(&score.run_id)>{score.split.clone()}</a></th>
            <td>{targets(score)}</td>
            <td class="number">{format::thousands(score.tasks)}</td>
            <td class="number">{evoscore(score)}</td>
            <td class="number">{format::or_dash(change(score))}</td>
            <td class="number">{format::or_dash(shared)}</td>
        </tr>
    }
}

/// "2026-01-05 to 2026-01-31".
fn targets(score: &SplitScore) -> String {
    let (first, last) = (score.first_target.as_ref(), score.last_target.as_ref());
    format::or_dash(first.zip(last).map(|(first, last)| match first == last {
        true => first.clone(),
        false => format!("{first} to {last}"),
    }))
}

/// "0.500 [0.31, 0.72]".
fn evoscore(score: &SplitScore) -> String {
    let interval = score
        .interval
        .map(|i| format!(" {}", format::interval(i, 2)));
    format::score(score.evoscore) + &interval.unwrap_or_default()
}

/// "−0.12 [−0.30, 0.05]"; none for the first split.
fn change(score: &SplitScore) -> Option<String> {
    let change = score.change?;
    let interval = change
        .interval
        .map(|i| format!(" {}", format::interval(i, 2)));
    Some(format::signed(change.change, 2) + &interval.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::uncertainty::Interval;
    use swe_ci_views::leaderboard::ScoreChange;

    #[test]
    fn a_split_in_words() {
        let mut score = SplitScore {
            split: "s".into(),
            run_id: "r".into(),
            tasks: 2,
            first_target: Some("2026-01-05".into()),
            last_target: Some("2026-01-31".into()),
            evoscore: 0.5,
            interval: Some(Interval {
                low: 0.31,
                high: 0.72,
            }),
            change: None,
            shared_tasks: 0,
        };
        assert_eq!(targets(&score), "2026-01-05 to 2026-01-31");
        assert_eq!(evoscore(&score), "0.500 [0.31, 0.72]");
        assert_eq!(change(&score), None);
        score.change = Some(ScoreChange {
            from_tasks: 2,
            to_tasks: 2,
            from: 0.62,
            to: 0.5,
            change: -0.12,
            interval: None,
        });
        assert_eq!(change(&score).as_deref(), Some("\u{2212}0.12"));
        (score.first_target, score.last_target) = (None, None);
        assert_eq!(targets(&score), "–");
    }
}
