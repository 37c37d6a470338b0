//! The data of the page of an evolution.

use swe_ci_core::audit::EvolutionAudit;
use swe_ci_views::inspection::{Inspection, StepLog};
use swe_ci_views::view::{EvolutionDetail, Spent, StepView};

use crate::error::AppError;
use crate::pages::routes::EvolutionAddress;

pub async fn evolution(
    run: String,
    task: String,
    sample: u32,
) -> Result<EvolutionDetail, AppError> {
    // An invalid name matches no task.
    let task = swe_ci_core::task::TaskId::new(task)
        .map_err(|_| AppError::not_found("There is no task of this name in this run."))?;
    let engine = crate::error::engine()?;
    Ok(engine.evolution(&run, &task, sample).await?)
}

/// The model usage of an evolution, and the attempts at the iteration it did
/// not get to test.
#[derive(Debug, Clone, PartialEq)]
pub struct Effort {
    pub spent: Option<Spent>,
    pub untested: Vec<StepView>,
    /// The output of the last of these.
    pub logs: Vec<StepLog>,
}

/// How many logs the page shows; each also has its own address.
const LOGS: usize = 4;

/// `tested` is the number of tested iterations.
pub async fn effort_of(evolution: String, tested: u32) -> Result<Effort, AppError> {
    let engine = crate::error::engine()?;
    let steps = engine.steps(&evolution).await?;
    let spent = Spent::of(&steps);
    let later = steps.into_iter().filter(|step| step.iteration > tested);
    let untested: Vec<StepView> = later.collect();
    let mut logs = Vec::new();
    for step in untested.iter().rev().take(LOGS).rev() {
        let (role, attempt) = (step.role, step.attempt);
        let log = engine.step_log_tail(&evolution, step.iteration, role, attempt);
        // A step without output has no log.
        logs.extend(log.await.ok());
    }
    Ok(Effort {
        spent,
        untested,
        logs,
    })
}

/// An evolution with all data the page shows at first.
#[derive(Debug, Clone)]
pub struct Shown {
    pub detail: EvolutionDetail,
    pub effort: Effort,
    /// Absent before it is audited.
    pub audit: Option<EvolutionAudit>,
    /// The selected iteration.
    pub chosen: Option<Chosen>,
}

/// The details of an iteration; none when the evolution has not reached it.
pub async fn inspect(
    run: String,
    task: String,
    sample: u32,
    iteration: u32,
) -> Result<Option<Inspection>, AppError> {
    let Ok(task) = swe_ci_core::task::TaskId::new(task) else {
        return Ok(None);
    };
    let engine = crate::error::engine()?;
    match engine.inspect(&run, &task, sample, iteration).await {
        Ok(inspection) => Ok(Some(inspection)),
        // The page shows this in place of the iteration.
        Err(swe_ci_engine::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The selected iteration and its details.
#[derive(Debug, Clone)]
pub struct Chosen {
    pub iteration: u32,
    /// None when there is no such iteration.
    pub inspection: Option<Inspection>,
}

async fn chosen_of(
    address: EvolutionAddress,
    iteration: Option<u32>,
) -> Result<Option<Chosen>, AppError> {
    let Some(iteration) = iteration else {
        return Ok(None);
    };
    let EvolutionAddress { run, task, sample } = address;
    let inspection = inspect(run, task, sample, iteration).await?;
    Ok(Some(Chosen {
        iteration,
        inspection,
    }))
}

pub(super) async fn evolution_at(
    address: EvolutionAddress,
    iteration: Option<u32>,
) -> Result<Shown, AppError> {
    let chosen = chosen_of(address.clone(), iteration).await?;
    let detail = evolution(address.run, address.task, address.sample).await?;
    let tested = detail.view.iterations.last().map_or(0, |i| i.iteration);
    let effort = effort_of(detail.view.evolution_id.clone(), tested).await?;
    let id = &detail.view.evolution_id;
    let audit = crate::error::engine()?.evolution_audit(id).await?;
    Ok(Shown {
        detail,
        effort,
        audit,
        chosen,
    })
}
