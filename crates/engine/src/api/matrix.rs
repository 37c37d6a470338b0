//! All tasks of a split at once.

use swe_ci_base::blocking::blocking;
use swe_ci_base::error::Result;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_views::leaderboard::{Matrix, TaskOrder};

use crate::Engine;

impl Engine {
    /// Every task of a split against every run.
    ///
    /// # Errors
    /// [`crate::Error::NotFound`] when there is no such split.
    pub async fn matrix(
        &self,
        split: &str,
        gamma: Gamma,
        convention: Convention,
        order: TaskOrder,
    ) -> Result<Matrix> {
        let leaderboard = self.sheet(split).await?;
        Ok(blocking(move || Ok(leaderboard.matrix(gamma, convention, order))).await?)
    }
}
