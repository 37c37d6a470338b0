//! A compact form of the matrix for sending: ten thousand cells with only the
//! shown digits, some forty kilobytes instead of a megabyte.

use swe_ci_views::leaderboard::MatrixRun;

use swe_ci_views::leaderboard::{Matrix, MatrixCell, MatrixTask};

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Grid {
    pub runs: Vec<MatrixRun>,
    pub tasks: Vec<GridTask>,
    pub left_out: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct GridTask {
    pub id: String,
    pub repo: String,
    pub mean: Option<f64>,
    pub spread: Option<f64>,
    pub models: u32,
    pub solved_by: u32,
    /// "72sz 13z -": hundredths, `s` where every sample solved the task, `z`
    /// where none regressed; `-` for no score.
    cells: String,
}

/// A cell as shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub hundredths: i32,
    pub solved: bool,
    pub never_regressed: bool,
}

impl Grid {
    pub fn of(matrix: &Matrix) -> Self {
        Self {
            runs: matrix.columns.clone(),
            tasks: matrix.rows.iter().map(GridTask::of).collect(),
            left_out: matrix.left_out,
        }
    }
}

impl GridTask {
    fn of(task: &MatrixTask) -> Self {
        let cells = task.cells.iter().map(|cell| cell.as_ref().map(Cell::of));
        let words: Vec<String> = cells.map(Cell::word).collect();
        let rounded = |value: f64| (value * 1e4).round() / 1e4;
        Self {
            id: task.task_id.to_string(),
            repo: task.repo.clone(),
            mean: task.mean.map(rounded),
            spread: task.spread.map(rounded),
            models: task.models,
            solved_by: task.solved_by,
            cells: words.join(" "),
        }
    }

    /// One for each run; none where it has no score.
    pub fn cells(&self) -> impl Iterator<Item = Option<Cell>> + '_ {
        self.cells.split(' ').map(Cell::read)
    }
}

impl Cell {
    fn of(cell: &MatrixCell) -> Self {
        // Rounded as elsewhere, half to even.
        let written: f64 = format!("{:.2}", cell.evoscore).parse().unwrap_or(0.0);
        Self {
            hundredths: (written * 100.0).round() as i32,
            solved: cell.solved >= 1.0,
            never_regressed: cell.zero_regression >= 1.0,
        }
    }

    fn word(cell: Option<Self>) -> String {
        let Some(cell) = cell else {
            return "-".to_owned();
        };
        let solved = if cell.solved { "s" } else { "" };
        let never_regressed = if cell.never_regressed { "z" } else { "" };
        format!("{}{solved}{never_regressed}", cell.hundredths)
    }
}

impl Cell {
    fn read(word: &str) -> Option<Self> {
        let (rest, never_regressed) = strip(word, 'z');
        let (digits, solved) = strip(rest, 's');
        Some(Self {
            hundredths: digits.parse().ok()?,
            solved,
            never_regressed,
        })
    }
}

fn strip(word: &str, sign: char) -> (&str, bool) {
    let rest = word.strip_suffix(sign);
    (rest.unwrap_or(word), rest.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let cell = |hundredths, solved, never_regressed| {
            Some(Cell {
                hundredths,
                solved,
                never_regressed,
            })
        };
        let check = |cell: Option<Cell>, expect: &str| {
            assert_eq!(Cell::word(cell), expect);
            assert_eq!(Cell::read(expect), cell);
        };
        check(cell(72, true, true), "72sz");
        check(cell(-100, false, false), "-100");
        check(cell(0, false, true), "0z");
        check(cell(100, true, false), "100s");
        check(None, "-");
    }

    #[test]
    fn rounded_as_it_is_shown() {
        let cell = |evoscore, solved| MatrixCell {
            evoscore,
            solved,
            zero_regression: 0.5,
            samples: 2,
        };
        assert_eq!(Cell::word(Some(Cell::of(&cell(0.716, 1.0)))), "72s");
        assert_eq!(Cell::word(Some(Cell::of(&cell(-0.001, 0.5)))), "0");
        assert_eq!(Cell::word(Some(Cell::of(&cell(0.625, 0.5)))), "62");
    }
}
