//! Rows of runs.

use sqlx::any::AnyRow;
use swe_ci_base::error::Result;
use swe_ci_core::finding::Unranked;
use swe_ci_core::permissions::{Keyring, RunPermissions};
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_views::preflight::Preflight;
use swe_ci_views::steering::Steering;
use swe_ci_views::verification::Mark;
use swe_ci_views::view::{Cleared, RunSummary};

use super::columns::{Columns, from_row};

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
        run_id: row.read("id")?,
        model: row.read::<RunConfig>("config")?.model,
        finished_at: row.optional_time("finished_at")?,
    })
}

pub(crate) fn read_run_summary(row: &AnyRow) -> Result<RunSummary> {
    let submitted: RunConfig = row.read("config")?;
    Ok(from_row!(row => RunSummary {
        visibility, progress, evolutions, iterations;
        run_id: row.read("id")?,
        steering: read_steering(row, &submitted)?,
        mark: Mark::of(submitted.kind, row.optional_text("verified")?.is_some()),
        regraded_from: row.read("regrades")?,
        cleared: read_cleared(row)?,
        set_aside: read_set_aside(row)?,
        preflight: read_preflight(row)?,
        config: submitted,
        withdrawn: row.optional_text("withdrawn")?,
        created_at: row.time("created_at")?,
        started_at: row.optional_time("started_at")?,
        finished_at: row.optional_time("finished_at")?,
        evolutions_over: row.read("over")?,
        evolutions_scored: row.read("scored")?,
        evolutions_blocked: row.read("blocked")?,
        evolutions_solved: row.read("solved")?,
        evolutions_gave_up: row.read("gave_up")?
    }))
}

/// `None` for a run without one.
pub(crate) fn read_preflight(row: &AnyRow) -> Result<Option<Preflight>> {
    let Some(at) = row.optional_time("preflight_at")? else {
        return Ok(None);
    };
    Ok(Some(Preflight {
        state: row.read("preflight_state")?,
        at,
        findings: row.json("preflight_findings", "a preflight")?,
    }))
}

fn read_cleared(row: &AnyRow) -> Result<Option<Cleared>> {
    let at = row.optional_time("cleared_at")?;
    let evolutions = row.read("cleared")?;
    Ok(at.map(|at| Cleared { evolutions, at }))
}

/// Why the history of a run keeps it from a rank, if it does.
pub(crate) fn read_set_aside(row: &AnyRow) -> Result<Option<Unranked>> {
    let beside: Option<String> = row.read("beside")?;
    let evolutions: u32 = row.read("cleared")?;
    let tasks: u32 = row.read("other_revisions")?;
    let chosen = (evolutions > 0).then_some(Unranked::RunAgain { evolutions });
    let other = (tasks > 0).then_some(Unranked::OtherRevisions { tasks });
    Ok(beside
        .map(|run_id| Unranked::Regraded { run_id })
        .or(chosen)
        .or(other))
}

/// A run as a worker executes it.
#[derive(Debug, Clone)]
pub struct RunToExecute {
    pub progress: Progress,
    /// As submitted, with the budget the run may use now.
    pub config: RunConfig,
    /// The keys and the addresses that it may use.
    pub permissions: RunPermissions,
    /// The run whose code it grades again; its agents do not work then.
    pub regrades: Option<String>,
}

pub(crate) fn read_run_to_execute(row: &AnyRow) -> Result<RunToExecute> {
    let config: RunConfig = row.read("config")?;
    let budget = read_steering(row, &config)?.budget;
    Ok(RunToExecute {
        progress: row.read("progress")?,
        config: RunConfig { budget, ..config },
        permissions: read_permissions(row)?,
        regrades: row.read("regrades")?,
    })
}

pub(crate) fn read_permissions(row: &AnyRow) -> Result<RunPermissions> {
    Ok(RunPermissions {
        keyring: Keyring::of_owner(row.read("keys_of")?),
        reach: row.read("reach")?,
    })
}

/// A run's progress and its steering.
pub(crate) fn read_run_state(row: &AnyRow) -> Result<(Progress, Steering)> {
    let steering = read_steering(row, &row.read("config")?)?;
    Ok((row.read("progress")?, steering))
}

fn read_steering(row: &AnyRow, config: &RunConfig) -> Result<Steering> {
    let raised = row.optional_json("budget", "a run's budget")?;
    Ok(Steering {
        paused: row.is_set("paused_at")?,
        at_once: row.read("at_once")?,
        budget: raised.unwrap_or(config.budget),
    })
}
