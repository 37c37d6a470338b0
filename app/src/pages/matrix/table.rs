//! The rows of the matrix as HTML text.

use std::fmt::Write as _;

use swe_ci_views::leaderboard::{Absence, MatrixRun};

use super::grid::{Cell, Grid, GridTask};
use crate::format;
use crate::format::escape;
use crate::query::encode;

/// The rows of the table's body.
pub(super) fn rows(grid: &Grid) -> String {
    let mut html = String::with_capacity(grid.tasks.len() * (grid.runs.len() * 110 + 200));
    let runs: Vec<String> = grid.runs.iter().map(|run| encode(&run.run_id)).collect();
    for task in &grid.tasks {
        head(&mut html, task);
        for ((cell, run), id) in task.cells().zip(&grid.runs).zip(&runs) {
            match cell {
                Some(cell) => scored(&mut html, cell, id, &task.id),
                None => empty(&mut html, run),
            }
        }
        html.push_str("</tr>");
    }
    html
}

fn head(html: &mut String, task: &GridTask) {
    let (id, repo) = (escape(&task.id), escape(&task.repo));
    let number = |value: Option<f64>| format::or_dash(value.map(format::share));
    // Writing to a string cannot fail.
    let _ = write!(
        html,
        "<tr><th scope=\"row\"><a href=\"/tasks/{}\">{id}</a> <small>{repo}</small></th>\
         <td class=\"margin\">{}</td><td class=\"margin\">{}</td>\
         <td class=\"margin\">{}<small> of {}</small></td>",
        encode(&task.id),
        number(task.mean),
        number(task.spread),
        task.solved_by,
        task.models,
    );
}

fn scored(html: &mut String, cell: Cell, run: &str, task: &str) {
    let _ = write!(
        html,
        "<td data-level=\"{}\"><a href=\"/runs/{run}/tasks/{}\">{}{}{}</a></td>",
        level(cell.hundredths),
        encode(task),
        format::share(f64::from(cell.hundredths) / 100.0),
        if cell.solved { SOLVED } else { "" },
        if cell.never_regressed { CALM } else { "" },
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

/// The step of the colour scale: `low` below zero, else tenths.
fn level(hundredths: i32) -> String {
    match hundredths {
        ..0 => "low".to_owned(),
        n => (n / 10).min(10).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::metrics::{Convention, Gamma};
    use swe_ci_plots::fixture::sheet_of;
    use swe_ci_views::leaderboard::TaskOrder;

    #[test]
    fn a_row_for_each_task_and_a_cell_for_each_run() {
        let mut sheet = sheet_of(&[("a", vec![&[1.0], &[-0.5]]), ("b", vec![&[0.25]])]);
        sheet.entries[0].tasks[1].repo = "<b>\"&".into();
        let matrix = sheet.matrix(Gamma::ONE, Convention::Paper, TaskOrder::default());
        let html = rows(&Grid::of(&matrix));
        assert_eq!(html.matches("<tr>").count(), 2);
        assert_eq!(html.matches("<td data-level").count(), 3);
        // Hardest first; foreign text stays text.
        assert!(html.starts_with(
            "<tr><th scope=\"row\"><a href=\"/tasks/task-1\">task-1</a> <small>&lt;b&gt;&quot;&amp;</small>"
        ));
        let low = "<td data-level=\"low\"><a href=\"/runs/run-a/tasks/task-1\">\u{2212}0.50<";
        assert!(html.contains(low), "{html}");
        let solved = format!(
            "<td data-level=\"10\"><a href=\"/runs/run-a/tasks/task-0\">1.00{SOLVED}{CALM}</a>"
        );
        assert!(html.contains(&solved), "{html}");
        assert!(html.contains("aria-label=\"not part of the run\">–<"));
        assert!(html.contains("1<small> of 2</small>"));
    }

    #[test]
    fn steps_of_the_scale() {
        let check = |hundredths, expect: &str| assert_eq!(level(hundredths), expect);
        check(-1, "low");
        check(0, "0");
        check(9, "0");
        check(10, "1");
        check(99, "9");
        check(100, "10");
        check(120, "10");
    }
}
