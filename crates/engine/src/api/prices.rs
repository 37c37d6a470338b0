//! The price table.

use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::PriceLine;
use swe_ci_views::account::AccountRole;

use crate::Engine;

#[swe_ci_boxed::boxed]
impl Engine {
    /// Adds a line to the price table, or replaces that of the same model and
    /// day; for administrators.
    ///
    /// # Errors
    /// [`Error::Invalid`] when a field is out of range.
    pub async fn set_price(&self, line: &PriceLine) -> Result<()> {
        self.require(AccountRole::Admin)?;
        line.check().map_err(|e| Error::Invalid(e.to_string()))?;
        self.store.put_price(line, self.by()).await
    }

    /// The price table by model, the latest line first.
    pub async fn prices(&self) -> Result<Vec<PriceLine>> {
        self.store.prices().await
    }

    /// Removes a model's line that applies from this day on; for
    /// administrators.
    pub async fn remove_price(&self, model: &str, from: &str) -> Result<()> {
        self.require(AccountRole::Admin)?;
        self.store.remove_price(model, from, self.by()).await
    }
}
