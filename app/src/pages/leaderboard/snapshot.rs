//! A snapshot: what it is, and what changed since.

use leptos::prelude::*;
use swe_ci_views::leaderboard::{ChangedRow, Snapshot};

use crate::components::{ItemTable, Time};
use crate::format;
use crate::pages::routes::{run_href, snapshot_content_href};
use crate::query::Reading;

/// Says that the page shows a snapshot, and leads to its other views.
#[component]
pub(super) fn Banner(snapshot: Snapshot, reading: Reading) -> impl IntoView {
    let content = snapshot_content_href(&snapshot);
    let frozen = Reading {
        split: Some(snapshot.split.clone()),
        ..reading
    };
    let query = frozen.to_query();
    let now = Reading {
        snapshot: None,
        ..frozen
    };
    let Snapshot {
        day, split, digest, ..
    } = snapshot;
    view! {
        <section class="note" aria-label="Snapshot">
            <p>
                <strong>{format!("Snapshot of {day}, split {split}.")}</strong>
                " Its numbers never change. The pages of its runs and tasks are those of today. "
                <a href=now.href()>"The leaderboard now"</a>
            </p>
            <p>
                <a href=format!("/figures{query}")>"Its figures"</a>
                " · "
                <a href=format!("/matrix{query}")>"Its tasks × runs"</a>
                " · "
                <a href=content>"Its content"</a>
                ", SHA-256 "
                <code>{digest}</code>
                ", made "
                <Time at=Some(snapshot.made_at)/>
                " by "{snapshot.made_by}
                " · "
                <a href="/snapshots">"All snapshots"</a>
            </p>
        </section>
    }
}

/// The runs whose rank or score differs between the snapshot and now.
#[component]
pub(super) fn Since(changes: Vec<ChangedRow>) -> impl IntoView {
    view! {
        <section aria-labelledby="since-title">
            <h2 id="since-title">"Changes since"</h2>
            <ItemTable
                caption="Runs whose rank or score differs today"
                columns=&["Run", "Change", "Rank then", "Rank now", "EvoScore then", "EvoScore now"]
                items=changes
                row=changed
                none="None: the leaderboard has the same runs, ranks and scores today."
            />
        </section>
    }
}

fn changed(row: ChangedRow) -> impl IntoView {
    let words = in_words(&row);
    let rank = |at: Option<(u32, f64)>| format::or_dash(at.map(|(rank, _)| rank.to_string()));
    let score = |at: Option<(u32, f64)>| format::or_dash(at.map(|(_, score)| format::score(score)));
    let name = match row.after {
        Some(_) => view! { <a href=run_href(&row.run_id)>{row.model}</a> }.into_any(),
        None => row.model.into_any(),
    };
    view! {
        <tr role="row">
            <th role="rowheader" scope="row">{name}</th>
            <td role="cell" data-label="Change">{words}</td>
            <td role="cell" data-label="Rank then">{rank(row.before)}</td>
            <td role="cell" data-label="Rank now">{rank(row.after)}</td>
            <td role="cell" data-label="EvoScore then">{score(row.before)}</td>
            <td role="cell" data-label="EvoScore now">{score(row.after)}</td>
        </tr>
    }
}

/// "up 2, score +0.012".
fn in_words(row: &ChangedRow) -> String {
    let ((rank, score), (new_rank, new_score)) = match (row.before, row.after) {
        (Some(before), Some(after)) => (before, after),
        (None, _) => return "new".to_owned(),
        (_, None) => return "no longer ranked".to_owned(),
    };
    let moved = match new_rank.abs_diff(rank) {
        0 => None,
        by if new_rank < rank => Some(format!("up {by}")),
        by => Some(format!("down {by}")),
    };
    let difference = format::signed(new_score - score, 3);
    let by =
        (format::score(new_score) != format::score(score)).then(|| format!("score {difference}"));
    let words: Vec<String> = moved.into_iter().chain(by).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_in_words() {
        let check = |before, after, expect: &str| {
            let row = ChangedRow {
                run_id: "r".into(),
                model: "m".into(),
                before,
                after,
            };
            assert_eq!(in_words(&row), expect);
        };
        check(None, Some((1, 0.5)), "new");
        check(Some((1, 0.5)), None, "no longer ranked");
        check(Some((4, 0.5)), Some((2, 0.5)), "up 2");
        check(Some((1, 0.5)), Some((2, 0.5)), "down 1");
        check(Some((1, 0.25)), Some((1, 0.5)), "score +0.250");
        check(Some((1, 0.5)), Some((2, 0.5001)), "down 1");
    }
}
