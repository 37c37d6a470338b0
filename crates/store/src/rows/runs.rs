//! Rows of runs.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::clock::rfc3339;
use swe_ci_base::error::Result;
use swe_ci_core::permissions::{Keyring, Reach, RunPermissions};
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_views::account::Visibility;
use swe_ci_views::steering::Steering;
use swe_ci_views::verification::{Mark, Verification};
use swe_ci_views::view::RunSummary;

use super::columns::{read_config, read_progress};
use crate::{count, from_json};

/// A run in a listing.
#[derive(Debug, Clone)]
pub struct RunListing {
    pub run_id: String,
    pub model: String,
    /// RFC 3339; `None` until the run is over.
    pub finished_at: Option<String>,
}

pub(crate) fn read_listing(row: &AnyRow) -> Result<RunListing> {
    let config = read_config(row)?;
    Ok(RunListing {
        run_id: row.try_get("id")?,
        model: config.model,
        finished_at: row.try_get::<Option<i64>, _>("finished_at")?.map(rfc3339),
    })
}

pub(crate) fn read_run_summary(row: &AnyRow) -> Result<RunSummary> {
    let config = read_config(row)?;
    Ok(RunSummary {
        run_id: row.try_get("id")?,
        steering: read_steering(row, &config)?,
        mark: Mark::of(
            config.kind,
            !row.try_get::<String, _>("verified")?.is_empty(),
        ),
        config,
        visibility: read_visibility(row)?,
        withdrawn: Some(row.try_get("withdrawn")?).filter(|why: &String| !why.is_empty()),
        progress: read_progress(row)?,
        created_at: rfc3339(row.try_get("created_at")?),
        started_at: row.try_get::<Option<i64>, _>("started_at")?.map(rfc3339),
        finished_at: row.try_get::<Option<i64>, _>("finished_at")?.map(rfc3339),
        evolutions: count(row.try_get("evolutions")?),
        evolutions_over: count(row.try_get("over")?),
        evolutions_blocked: count(row.try_get("blocked")?),
        iterations: count(row.try_get("iterations")?),
    })
}

pub(crate) fn read_visibility(row: &AnyRow) -> Result<Visibility> {
    let name: String = row.try_get("visibility")?;
    Visibility::from_name(&name)
        .ok_or_else(|| anyhow::anyhow!("the database holds the visibility `{name}`").into())
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
    let reach: String = row.try_get("reach")?;
    Ok(RunPermissions {
        keyring: Keyring::of_owner(row.try_get("keys_of")?),
        reach: Reach::from_name(&reach)
            .ok_or_else(|| anyhow::anyhow!("the database holds the reach `{reach}`"))?,
    })
}

/// A run's progress and its steering.
pub(crate) fn read_run_state(row: &AnyRow) -> Result<(Progress, Steering)> {
    let config = read_config(row)?;
    Ok((read_progress(row)?, read_steering(row, &config)?))
}

fn read_steering(row: &AnyRow, config: &RunConfig) -> Result<Steering> {
    let budget = match row.try_get::<Option<String>, _>("budget")? {
        Some(raised) => from_json("a run's budget", &raised)?,
        None => config.budget,
    };
    Ok(Steering {
        paused: row.try_get::<Option<i64>, _>("paused_at")?.is_some(),
        at_once: row.try_get::<Option<i64>, _>("at_once")?.map(count),
        budget,
    })
}

pub(crate) fn read_verification(row: &AnyRow) -> Result<Verification> {
    from_json("a run's verification", &row.try_get::<String, _>("found")?)
}
