use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};
use swe_ci_core::fates::Wanted;
use swe_ci_core::inspection::{Inspection, StepLog};
use swe_ci_core::view::{EvolutionDetail, Spent, StepView};

use crate::error::AppError;
use crate::pages::iteration::{DIFF, SPLIT};
use crate::query::{Query, encode, named};

/// Longer texts are in no node id anybody filters for.
const LONGEST_TEXT: usize = 200;

#[server(prefix = "/api/pages", endpoint = "evolution", input = GetUrl)]
pub async fn evolution(
    run: String,
    task: String,
    sample: u32,
) -> Result<EvolutionDetail, AppError> {
    // What cannot be a name names nothing.
    let task = swe_ci_core::task::TaskId::new(task)
        .map_err(|_| AppError::not_found("There is no task of this name in this run."))?;
    let engine = crate::error::engine()?;
    Ok(engine.evolution(&run, &task, sample).await?)
}

/// What an evolution took of its model, and the attempts of the iteration it
/// did not come to test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    pub spent: Option<Spent>,
    pub untested: Vec<StepView>,
    /// What the last of these printed.
    pub logs: Vec<StepLog>,
}

/// How many logs stand on the page; each has an address of its own.
#[cfg(feature = "ssr")]
const LOGS: usize = 4;

/// Of an evolution of which so many iterations were tested.
#[server(prefix = "/api/pages", endpoint = "effort", input = GetUrl)]
pub async fn effort_of(evolution: String, tested: u32) -> Result<Effort, AppError> {
    let engine = crate::error::engine()?;
    let steps = engine.steps(&evolution).await?;
    let spent = Spent::of(&steps);
    let later = steps.into_iter().filter(|step| step.iteration > tested);
    let untested: Vec<StepView> = later.collect();
    let mut logs = Vec::new();
    for step in untested.iter().rev().take(LOGS).rev() {
        let (role, attempt) = (step.role, step.attempt);
        let log = engine.step_log(&evolution, step.iteration, role, attempt);
        // A step that printed nothing has none.
        if let Ok(log) = log.await {
            logs.push(StepLog::of(role, attempt, &log, 200, 24 << 10));
        }
    }
    Ok(Effort {
        spent,
        untested,
        logs,
    })
}

/// An evolution with all its page shows at first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    pub detail: EvolutionDetail,
    pub effort: Effort,
}

/// An iteration of it looked into; none when it has not come so far.
#[server(prefix = "/api/pages", endpoint = "inspection", input = GetUrl)]
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
        // The page says so in the place of the iteration.
        Err(swe_ci_engine::Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What is known of the iteration that was chosen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Chosen {
    pub iteration: u32,
    /// None when there is no such iteration.
    pub inspection: Option<Inspection>,
}

pub(super) async fn chosen_of(
    (address, iteration): (Address, Option<u32>),
) -> Result<Option<Chosen>, AppError> {
    let Some(iteration) = iteration else {
        return Ok(None);
    };
    let Address { run, task, sample } = address;
    let inspection = inspect(run, task, sample, iteration).await?;
    Ok(Some(Chosen {
        iteration,
        inspection,
    }))
}

/// Names the place of the chosen iteration in the page, and that of the tests.
pub(super) const ITERATION: &str = "iteration";
pub(super) const TESTS: &str = "tests";

/// Which evolution the address means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    pub run: String,
    pub task: String,
    /// From 1, which what is no number means too.
    pub sample: u32,
}

impl Address {
    pub(in crate::pages) fn of(params: &ParamsMap, query: &ParamsMap) -> Self {
        let sample = query.get_str("sample").and_then(|n| n.parse().ok());
        Self {
            run: params.get("id").unwrap_or_default(),
            task: params.get("task").unwrap_or_default(),
            sample: sample.unwrap_or(1),
        }
    }

    pub(in crate::pages) fn of_detail(detail: &EvolutionDetail) -> Self {
        Self {
            run: detail.run_id.clone(),
            task: detail.view.task_id.to_string(),
            sample: detail.view.sample,
        }
    }

    pub(in crate::pages) fn path(&self) -> String {
        format!("/runs/{}/tasks/{}", encode(&self.run), encode(&self.task))
    }

    /// The page, read in this way; what is default is left out.
    pub(super) fn href(&self, reading: &Reading) -> String {
        let mut query = Query::default();
        query.add("sample", self.named_sample());
        let wanted = reading.wanted;
        query.add("show", (wanted != Wanted::All).then_some(wanted.name()));
        let text = Some(reading.text.as_str());
        query.add("q", text.filter(|text| !text.is_empty()));
        query.add("iteration", reading.iteration.map(|n| n.to_string()));
        query.add(DIFF, reading.split.then_some(SPLIT));
        format!("{}{}", self.path(), query.0)
    }

    /// The page with an iteration looked into, at its place.
    pub(super) fn looking_into(&self, reading: &Reading, iteration: u32) -> String {
        let reading = Reading {
            iteration: Some(iteration),
            ..reading.clone()
        };
        format!("{}#{ITERATION}", self.href(&reading))
    }

    /// One test in the map.
    pub(super) fn test(&self, reading: &Reading, node_id: &str) -> String {
        let reading = Reading {
            wanted: Wanted::All,
            text: limited(node_id),
            ..reading.clone()
        };
        format!("{}#{TESTS}", self.href(&reading))
    }

    /// The same as JSON.
    pub(super) fn api(&self) -> String {
        let mut query = Query::default();
        query.add("sample", self.named_sample());
        format!("/api/v1{}{}", self.path(), query.0)
    }

    pub(in crate::pages) fn named_sample(&self) -> Option<String> {
        (self.sample != 1).then(|| self.sample.to_string())
    }
}

/// Where the page of an evolution is.
pub(in crate::pages) fn evolution_href(run: &str, task: &str, sample: u32) -> String {
    let address = Address {
        run: run.to_owned(),
        task: task.to_owned(),
        sample,
    };
    address.href(&Reading::default())
}

/// Where a test of an evolution is looked at.
pub(in crate::pages) fn test_href(run: &str, task: &str, sample: u32, node_id: &str) -> String {
    let address = Address {
        run: run.to_owned(),
        task: task.to_owned(),
        sample,
    };
    address.test(&Reading::default(), node_id)
}

pub(super) async fn evolution_at(address: Address) -> Result<Shown, AppError> {
    let detail = evolution(address.run, address.task, address.sample).await?;
    let tested = detail.view.iterations.last().map_or(0, |i| i.iteration);
    let effort = effort_of(detail.view.evolution_id.clone(), tested).await?;
    Ok(Shown { detail, effort })
}

/// What is looked at, as the address says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    pub wanted: Wanted,
    /// What their node ids have in them.
    pub text: String,
    /// The iteration that is looked into.
    pub iteration: Option<u32>,
    /// Whether its changes are shown side by side.
    pub split: bool,
}

fn limited(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

impl Reading {
    pub(super) fn of(query: &ParamsMap) -> Self {
        let wanted = query.get_str("show").and_then(Wanted::from_name);
        let text = named(query, "q").unwrap_or_default();
        Self {
            wanted: wanted.unwrap_or_default(),
            text: limited(&text),
            iteration: query.get_str("iteration").and_then(|n| n.parse().ok()),
            split: query.get_str(DIFF) == Some(SPLIT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&'static str, &str)]) -> ParamsMap {
        pairs.iter().map(|(k, v)| (*k, (*v).to_owned())).collect()
    }

    #[test]
    fn there_and_back() {
        let check = |query: &[(&'static str, &str)], expect: &str| {
            let query = map(query);
            let address = Address::of(&map(&[("id", "r"), ("task", "t-1")]), &query);
            assert_eq!(address.href(&Reading::of(&query)), expect);
        };
        check(&[], "/runs/r/tasks/t-1");
        check(
            &[
                ("iteration", "3"),
                ("sample", "2"),
                ("show", "never"),
                ("q", "a b::[c]"),
                ("diff", "split"),
            ],
            "/runs/r/tasks/t-1?sample=2&show=never&q=a%20b%3A%3A%5Bc%5D&iteration=3&diff=split",
        );
        // What cannot be read is as if it were not there.
        check(
            &[
                ("sample", "x"),
                ("show", "x"),
                ("q", ""),
                ("iteration", "-1"),
                ("diff", "x"),
            ],
            "/runs/r/tasks/t-1",
        );
        check(&[("sample", "-1"), ("show", "all")], "/runs/r/tasks/t-1");
    }

    #[test]
    fn places_in_the_page() {
        let query = map(&[("show", "regressed"), ("iteration", "1")]);
        let address = Address::of(&map(&[("id", "r"), ("task", "t")]), &query);
        let reading = Reading::of(&query);
        assert_eq!(
            address.looking_into(&reading, 2),
            "/runs/r/tasks/t?show=regressed&iteration=2#iteration"
        );
        assert_eq!(
            address.test(&reading, "a.py::b"),
            "/runs/r/tasks/t?q=a.py%3A%3Ab&iteration=1#tests"
        );
    }

    #[test]
    fn a_text_has_its_limit() {
        let long = "ä".repeat(5_000);
        let reading = Reading::of(&map(&[("q", &long)]));
        assert_eq!(reading.text.chars().count(), LONGEST_TEXT);
    }
}
