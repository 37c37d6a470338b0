//! Counts the results of a run, once for each revision of them.

use std::collections::{BTreeMap, HashMap};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use swe_ci_base::error::Result;
use swe_ci_core::metrics::{Convention, Series, Verdict};
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::step::Ending;
use swe_ci_core::task::TaskId;
use swe_ci_core::usage::Usage;
use swe_ci_store::{EvolutionRow, LeaderboardRun, task_revision};
use swe_ci_views::leaderboard::{Effort, Generalised, Sample};
use swe_ci_views::style::EvolutionStyle;

use crate::api::runs::by_evolution;
use crate::style_tools::METHOD;
use crate::{Engine, as_u32};

/// Of the stored counts. Raise it when [`RunCounts`] or how they are counted
/// changes; another method of measuring style changes it too.
pub(super) const FORMAT: u32 = 11_000 + METHOD;

/// The counted results of a run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RunCounts {
    /// The model usage of all its evolutions; absent when not counted.
    pub usage: Option<Usage>,
    pub micro_usd: Option<u64>,
    /// Iterations with integrity findings.
    pub findings: u32,
    /// Steps whose last answer of the model was cut short.
    pub truncated_steps: u32,
    /// Tested iterations of all its evolutions, scored or not.
    pub iterations: u32,
    /// Evolutions that the run's budget ended.
    pub out_of_budget: u32,
    /// Evolutions that wait for their audit.
    pub being_audited: u32,
    /// All its tasks in order of name, those without a scored evolution too.
    pub tasks: Vec<TaskCounts>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TaskCounts {
    pub task_id: TaskId,
    /// Of [`ScoredTask::revision`](swe_ci_views::leaderboard::ScoredTask::revision).
    pub revision: Option<String>,
    /// The scored evolutions.
    pub samples: Vec<Sample>,
    /// An evolution was blocked, or stopped by the budget.
    pub blocked: bool,
}

impl RunCounts {
    /// As a text for the database, which has no other place for bytes.
    fn packed(&self) -> anyhow::Result<String> {
        Ok(BASE64_STANDARD.encode(postcard::to_allocvec(self)?))
    }

    /// # Errors
    /// For other text than [`Self::packed`] writes.
    pub fn unpacked(text: &str) -> anyhow::Result<Self> {
        Ok(postcard::from_bytes(&BASE64_STANDARD.decode(text)?)?)
    }

    /// Tasks without a scored evolution, for one was blocked.
    pub fn blocked(&self) -> usize {
        let blocked = |task: &&TaskCounts| task.blocked && task.samples.is_empty();
        self.tasks.iter().filter(blocked).count()
    }
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Counts the results of a run, and stores the counts when it is over.
    pub(super) async fn count(&self, run: &LeaderboardRun) -> Result<RunCounts> {
        let counts = self.count_rows(run).await?;
        if run.progress == Progress::Finished {
            self.store
                .put_counts(run, FORMAT, &counts.packed()?)
                .await?;
        }
        Ok(counts)
    }

    /// What each scored evolution of a run took. Elsewhere nobody took the time, and
    /// the replay of a history is not the work of its authors.
    async fn efforts(&self, run: &LeaderboardRun) -> Result<HashMap<String, Effort>> {
        let mut efforts = self.store.efforts_of_run(&run.run_id).await?;
        if matches!(run.config.kind, Kind::Human | Kind::Imported) {
            for effort in efforts.values_mut() {
                (effort.wall_ms, effort.agent_ms) = (None, None);
            }
        }
        Ok(efforts)
    }

    /// The generalisation of each evolution that was asked changed inputs.
    async fn generalised(&self, run_id: &str) -> Result<HashMap<String, Generalised>> {
        let audits = self.store.audits_of_run(run_id).await?.into_iter();
        let generalised = audits.filter_map(|(evolution, audit)| {
            let generalisation = audit.generalisation?;
            let generalised = Generalised {
                share: generalisation.share?,
                asked: generalisation.asked,
            };
            Some((evolution, generalised))
        });
        Ok(generalised.collect())
    }

    async fn count_rows(&self, run: &LeaderboardRun) -> Result<RunCounts> {
        let run_id = &run.run_id;
        let mut verdicts = by_evolution(self.store.verdicts_of_run(run_id).await?);
        let iterations = verdicts.values().map(Vec::len).sum();
        let styles = self.store.styles_of_run(run_id, METHOD).await?;
        let mut styles: HashMap<String, EvolutionStyle> = styles.into_iter().collect();
        let efforts = self.efforts(run).await?;
        let mut generalised = self.generalised(run_id).await?;
        let contradicted = self.store.contradicted_of_run(run_id).await?;
        let max_iterations = run.config.plan.max_iterations;
        let mut tasks: BTreeMap<TaskId, TaskCounts> = BTreeMap::new();
        let mut out_of_budget = 0;
        for evolution in self.store.evolutions_of_run(run_id).await? {
            let task = tasks.entry(evolution.task_id.clone());
            let task = task.or_insert_with(|| TaskCounts {
                task_id: evolution.task_id.clone(),
                revision: revision(&evolution),
                samples: Vec::new(),
                blocked: false,
            });
            let Some(ending) = evolution.ending else {
                continue;
            };
            out_of_budget += u32::from(ending == Ending::BudgetSpent);
            let verdicts = verdicts.remove(&evolution.id).unwrap_or_default();
            let style = styles.remove(&evolution.id);
            match sample(&evolution, max_iterations, &verdicts).filter(|_| ending.is_scored()) {
                Some(sample) => {
                    let series = sample.paper.as_ref().unwrap_or(&sample.reference);
                    let style = style.and_then(|style| style.with_tests(series).beside());
                    let effort = efforts.get(&evolution.id).copied().unwrap_or_default();
                    task.samples.push(Sample {
                        style,
                        effort,
                        generalisation: generalised.remove(&evolution.id),
                        cheating: contradicted.get(&evolution.id).copied(),
                        ..sample
                    });
                }
                None => task.blocked |= matches!(ending, Ending::Blocked | Ending::BudgetSpent),
            }
        }
        let totals = self.store.totals_of_run(run_id).await?;
        Ok(RunCounts {
            usage: totals.usage(),
            micro_usd: totals.micro_usd(),
            findings: totals.findings,
            truncated_steps: totals.truncated_steps,
            iterations: as_u32(iterations),
            out_of_budget,
            being_audited: self.pending_audits(run_id).await?,
            tasks: tasks.into_values().collect(),
        })
    }
}

/// The revision of the task in this evolution. A handover has a suite of its own.
fn revision(evolution: &EvolutionRow) -> Option<String> {
    let task = evolution.pinned.as_ref()?;
    let suite = match evolution.start {
        None => evolution.suite.as_str(),
        Some(_) => "",
    };
    let command = task.test_command.to_string();
    Some(task_revision([
        &task.base_sha,
        &task.target_sha,
        &task.image,
        &command,
        suite,
    ]))
}

/// The convention `reference` needs only counts; without even those there is no
/// sample.
fn sample(evolution: &EvolutionRow, max_iterations: u32, verdicts: &[Verdict]) -> Option<Sample> {
    let count = |convention| Series::count(convention, evolution.counts, max_iterations, verdicts);
    Some(Sample {
        number: evolution.sample,
        paper: count(Convention::Paper),
        reference: count(Convention::Reference)?,
        style: None,
        effort: Effort::default(),
        generalisation: None,
        cheating: None,
    })
}
