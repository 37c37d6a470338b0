//! Rows of costs: prices of models, and what iterations used.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_core::usage::{Prices, Usage};
use swe_ci_views::submission::IterationCost;

pub(crate) fn read_prices(row: &AnyRow) -> Result<Prices> {
    Ok(Prices {
        input: row.try_get("input")?,
        cached: row.try_get("cached")?,
        output: row.try_get("output")?,
    })
}

pub(crate) fn read_iteration_cost(row: &AnyRow) -> Result<IterationCost> {
    let number = |column: &str| -> Result<u64> {
        Ok(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or(0))
    };
    let usage = Usage {
        input_tokens: number("input_tokens")?,
        output_tokens: number("output_tokens")?,
        cached_tokens: number("cached_tokens")?,
        reasoning_tokens: number("reasoning_tokens")?,
    };
    Ok(IterationCost {
        ms: number("ms")?,
        usage: (number("counted")? > 0).then_some(usage),
    })
}
