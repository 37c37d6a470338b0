//! Rows of runs.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_core::permissions::{Keyring, Reach, RunPermissions};
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_views::account::Visibility;
use swe_ci_views::steering::Steering;
use swe_ci_views::verification::Mark;
use swe_ci_views::view::RunSummary;

use super::columns::{Columns, read_config, read_progress};
use crate::count;

/// A run in a listing.
#[derive(Debug, Clone)]
pub struct RunListing {
    pub run_id: String,
    pub model: String,
    /// RFC 3339; `None` until the run is over.
    pub finished_at: Option<String>,
}

pub(crate) fn read_listing(row: &AnyRow) -> Result<RunListing> {
    Ok(RunListing {
        run_id: row.try_get("id")?,
        model: read_config(row)?.model,
        finished_at: row.optional_time("finished_at")?,
    })
}

pub(crate) fn read_run_summary(row: &AnyRow) -> Result<RunSummary> {
    let config = read_config(row)?;
    Ok(RunSummary {
        run_id: row.try_get("id")?,
        steering: read_steering(row, &config)?,
        mark: Mark::of(config.kind, row.optional_text("verified")?.is_some()),
        config,
        visibility: read_visibility(row)?,
        withdrawn: row.optional_text("withdrawn")?,
        progress: read_progress(row)?,
        created_at: row.time("created_at")?,
        started_at: row.optional_time("started_at")?,
        finished_at: row.optional_time("finished_at")?,
        evolutions: row.count("evolutions")?,
        evolutions_over: row.count("over")?,
        evolutions_blocked: row.count("blocked")?,
        iterations: row.count("iterations")?,
    })
}

pub(crate) fn read_visibility(row: &AnyRow) -> Result<Visibility> {
    row.named("visibility", "visibility", Visibility::from_name)
}

/// A run as a worker executes it.
#[derive(Debug, Clone)]
pub struct RunToExecute {
    pub progress: Progress,
    /// As submitted, with the budget the run may use now.
    pub config: RunConfig,
    /// Whose keys it may use, and which addresses.
    pub permissions: RunPermissions,
}

pub(crate) fn read_run_to_execute(row: &AnyRow) -> Result<RunToExecute> {
    let config = read_config(row)?;
    let budget = read_steering(row, &config)?.budget;
    Ok(RunToExecute {
        progress: read_progress(row)?,
        config: RunConfig { budget, ..config },
        permissions: read_permissions(row)?,
    })
}

pub(crate) fn read_permissions(row: &AnyRow) -> Result<RunPermissions> {
    Ok(RunPermissions {
        keyring: Keyring::of_owner(row.try_get("keys_of")?),
        reach: row.named("reach", "reach", Reach::from_name)?,
    })
}

/// A run's progress and its steering.
pub(crate) fn read_run_state(row: &AnyRow) -> Result<(Progress, Steering)> {
    let config = read_config(row)?;
    Ok((read_progress(row)?, read_steering(row, &config)?))
}

fn read_steering(row: &AnyRow, config: &RunConfig) -> Result<Steering> {
    let raised = row.optional_json("budget", "a run's budget")?;
    Ok(Steering {
        paused: row.is_set("paused_at")?,
        at_once: row.try_get::<Option<i64>, _>("at_once")?.map(count),
        budget: raised.unwrap_or(config.budget),
    })
}
