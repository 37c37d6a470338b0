//! How runs look on pages that show runs of several leaderboards.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use swe_ci_plots::Series;
use swe_ci_views::leaderboard::Board;

use crate::error::AppError;

/// The number of each run's look, as on its leaderboard. A run that is on none has
/// one by its place here. No two of these look alike.
pub(crate) async fn numbers(runs: Vec<(Board, &str)>) -> Result<Vec<usize>, AppError> {
    let engine = crate::error::engine()?;
    let mut of_boards: HashMap<Board, HashMap<String, usize>> = HashMap::new();
    let mut numbers = Vec::new();
    for (place, (board, run_id)) in runs.into_iter().enumerate() {
        let of_board = match of_boards.entry(board.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let data = engine.leaderboard_data(board).await?;
                new.insert(Series::numbers(&data))
            }
        };
        numbers.push(of_board.get(run_id).copied().unwrap_or(place + 1));
    }
    Ok(Series::apart(numbers))
}
