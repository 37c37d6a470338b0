//! The rows of the matrix as HTML text.

use std::fmt::Write as _;
use std::ops::Range;

use swe_ci_views::leaderboard::{Absence, Matrix, MatrixCell, MatrixRun, MatrixTask};

use crate::format;
use crate::format::escape;
use crate::query::encode;

/// The rows of the table's body, with the cells of these runs.
pub(super) fn rows(matrix: &Matrix, shown: Range<usize>) -> String {
    let runs = &matrix.columns[shown.clone()];
    let mut html = String::with_capacity(matrix.rows.len() * (runs.len() * 110 + 200));
    let ids: Vec<String> = runs.iter().map(|run| encode(&run.run_id)).collect();
    for task in &matrix.rows {
        head(&mut html, task);
        let id = encode(task.task_id.as_str());
        for ((cell, run), run_id) in task.cells[shown.clone()].iter().zip(runs).zip(&ids) {
            match cell {
                Some(cell) => scored(&mut html, cell, run_id, &id),
                None => empty(&mut html, run),
            }
        }
        html.push_str("</tr>");
    }
    html
}

fn head(html: &mut String, task: &MatrixTask) {
    let id = task.task_id.as_str();
    let number = |value: Option<f64>| format::or_dash(value.map(format::share));
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<tr><th scope=\"row\"><a href=\"/tasks/{}\" title=\"{}\">{}</a></th>\
         <td class=\"margin\">{}</td><td class=\"margin\">{}</td>\
         <td class=\"margin\">{}<small> of {}</small></td>\
         <td class=\"margin\">{}<small> of {}</small></td>",
        encode(id),
        escape(&task.repo),
        escape(id),
        number(task.mean),
        number(task.spread),
        task.solved_by,
        task.models,
        task.zrr_by,
        task.models,
    );
}

fn scored(html: &mut String, cell: &MatrixCell, run: &str, task: &str) {
    let _ = write!(
        html,
        "<td data-level=\"{}\"><a href=\"/runs/{run}/tasks/{task}\">{}{}{}</a></td>",
        level(cell.evoscore),
        format::share(cell.evoscore),
        if cell.solved >= 1.0 { SOLVED } else { "" },
        if cell.zero_regression >= 1.0 {
            CALM
        } else {
            ""
        },
    );
}

pub(super) const SOLVED: &str = "<i role=\"img\" aria-label=\"solved\">✓</i>";
pub(super) const CALM: &str = "<i role=\"img\" aria-label=\"never regressed\">◇</i>";

fn empty(html: &mut String, run: &MatrixRun) {
    let (sign, why) = absence(run.absence);
    let _ = write!(
        html,
        "<td title=\"{why}\"><span role=\"img\" aria-label=\"{why}\">{sign}</span></td>"
    );
}

/// The symbol for a cell without a score, and its reason.
pub(super) fn absence(why: Absence) -> (&'static str, &'static str) {
    match why {
        Absence::NotYet => ("…", "not scored yet"),
        Absence::BlockedOrNoPart => ("–", "blocked by the platform, or not part of the run"),
        Absence::NoPart => ("–", "not part of the run"),
    }
}

/// The step of the colour scale: `low` below zero, else tenths. It is that of
/// the score as it is written.
fn level(score: f64) -> String {
    let written: f64 = format!("{score:.2}").parse().unwrap_or(0.0);
    match (written * 100.0).round() as i32 {
        ..0 => "low".to_owned(),
        n => (n / 10).min(10).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::leaderboard_of;
    use swe_ci_views::leaderboard::TaskOrder;

    #[test]
    fn a_row_for_each_task_and_a_cell_for_each_run() {
        let mut leaderboard = leaderboard_of(&[("a", vec![&[1.0], &[-0.5]]), ("b", vec![&[0.25]])]);
        leaderboard.entries[0].tasks_mut()[1].origin_mut().repo = "<b>\"&".into();
        let matrix = leaderboard.matrix(Gamma::ONE, Convention::Paper, TaskOrder::default());
        let html = rows(&matrix, 0..2);
        assert_eq!(html.matches("<tr>").count(), 2);
        assert_eq!(html.matches("<td data-level").count(), 3);
        // Hardest first; foreign text stays text.
        assert!(html.starts_with(
            "<tr><th scope=\"row\"><a href=\"/tasks/task-1\" title=\"&lt;b&gt;&quot;&amp;\">task-1</a></th>"
        ));
        let low = "<td data-level=\"low\"><a href=\"/runs/run-a/tasks/task-1\">\u{2212}0.50<";
        assert!(html.contains(low), "{html}");
        let solved = format!(
            "<td data-level=\"10\"><a href=\"/runs/run-a/tasks/task-0\">1.00{SOLVED}{CALM}</a>"
        );
        assert!(html.contains(&solved), "{html}");
        assert!(html.contains("aria-label=\"not part of the run\">–<"));
        assert!(html.contains("1<small> of 2</small>"));
        let second = rows(&matrix, 1..2);
        assert!(second.contains("/runs/run-b/") && !second.contains("/runs/run-a/"));
    }

    #[test]
    fn steps_of_the_scale() {
        let check = |score, expect: &str| assert_eq!(level(score), expect);
        check(-0.01, "low");
        check(-0.004, "0");
        check(0.0, "0");
        check(0.094, "0");
        check(0.096, "1");
        check(0.994, "9");
        check(1.0, "10");
        check(1.2, "10");
    }
}
