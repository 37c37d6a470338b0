//! The façade's answer about all tasks of a split at once.

use swe_ci_core::leaderboard::{Matrix, TaskOrder};
use swe_ci_core::metrics::{Convention, Gamma};

use crate::Engine;
use crate::blocking::blocking;
use crate::error::Result;

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
        let sheet = self.sheet(split).await?;
        Ok(blocking(move || Ok(sheet.matrix(gamma, convention, order))).await?)
    }
}
