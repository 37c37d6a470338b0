//! Judging a run: a model answers the questions of a rubric about each iteration,
//! through the gateway and within a budget of its own. What it says is stored
//! iteration by iteration, and never part of a score.

mod ask;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use serde_json::Value;
use swe_ci_base::clock::{now_ms, rfc3339};
use swe_ci_base::digest::sha256_hex;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::diff::{Body, Diff, FileDiff};
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::requirement::{Expectation, Requirement};
use swe_ci_core::run::{HarnessConfig, Kind, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_core::usage::{Traffic, Usage};
use swe_ci_gateway::{Ledger, SessionConfig};
use swe_ci_store::{EvolutionRow, IterationRow, StepRow};
use swe_ci_views::background::{BackgroundWork, WorkKind};
use swe_ci_views::inspection::CodeChange;
use swe_ci_views::judge::{Judge, JudgePlan, JudgedRun, Judgement, Record, Section, instructions};
use swe_ci_views::submission::unknown_in_words;
use swe_ci_views::view::IterationDetail;

use self::ask::{Asked, Question};
use crate::background::{Reporter, Work};
use crate::{Engine, as_u32};

/// Iterations that are judged at the same time.
const AT_ONCE: usize = 4;
/// How long a judge's provider may keep an iteration waiting in all.
const PATIENCE: Duration = Duration::from_mins(10);
/// Tests that a record names, of each kind.
const MAX_TESTS: usize = 50;

/// A plan to begin with.
pub const EXAMPLE_JUDGE: &str = include_str!("example.toml");

/// How far a pass over a run is.
#[derive(Debug, Clone, Copy)]
pub struct Judged {
    pub done: u32,
    pub of: u32,
}

/// An iteration to judge.
#[derive(Debug)]
struct Case {
    evolution: EvolutionRow,
    row: IterationRow,
    steps: Vec<StepRow>,
}

/// What one pass over a run needs for each iteration.
struct Pass {
    run_id: String,
    judge: Judge,
    plan: JudgePlan,
    grant: RunPermissions,
    ledger: Arc<Ledger>,
}

/// Parses a plan in TOML.
///
/// # Errors
/// The problem and its place, in words.
pub fn judge_plan(text: &str) -> std::result::Result<JudgePlan, String> {
    let plan: JudgePlan = toml::from_str(text).map_err(|e| e.to_string())?;
    let value: Value = toml::from_str(text).map_err(|e| e.to_string())?;
    let understood = serde_json::to_value(&plan).map_err(|e| e.to_string())?;
    match unknown_in_words(&value, &understood).as_slice() {
        [] => Ok(plan),
        unknown => Err(unknown.join("; ")),
    }
}

#[swe_ci_boxed::boxed]
impl Engine {
    /// Asks a model about the iterations of a run, and stores what it says; for
    /// those who may steer the run. Iterations that this judge has judged are
    /// left out, so that a pass that ended early goes on.
    ///
    /// # Errors
    /// [`Error::Rejected`] naming every invalid field; [`Error::Conflict`] while
    /// the run is active, or when it has no iterations.
    pub async fn judge(
        &self,
        run_id: &str,
        plan: JudgePlan,
        tell: &(dyn Fn(Judged) + Send + Sync),
    ) -> Result<JudgedRun> {
        self.judge_since(now_ms(), run_id, plan, tell).await
    }

    /// Goes on with a pass that began at this moment, perhaps in another process.
    async fn judge_since(
        &self,
        began: i64,
        run_id: &str,
        plan: JudgePlan,
        tell: &(dyn Fn(Judged) + Send + Sync),
    ) -> Result<JudgedRun> {
        let (pass, cases) = self.pass(run_id, plan, began).await?;
        self.store.put_judge(run_id, &pass.judge, self.by()).await?;
        let (of, mut done) = (as_u32(cases.len()), 0);
        let mut asked = futures::stream::iter(cases)
            .map(|case| self.judge_iteration(&pass, case))
            .buffer_unordered(AT_ONCE);
        while let Some(judgement) = asked.next().await {
            judgement?;
            done += 1;
            tell(Judged { done, of });
        }
        drop(asked);
        let judged = self.judged_by(run_id, &pass.judge.judge_id).await?;
        judged.ok_or_else(|| Error::not_found("judge", &pass.judge.judge_id))
    }

    /// Queues [`Engine::judge`] for a worker.
    ///
    /// # Errors
    /// As there, and [`Error::Conflict`] while the run is being judged.
    pub async fn start_judge(&self, run_id: &str, plan: JudgePlan) -> Result<()> {
        // The problems of the plan belong into the answer.
        self.pass(run_id, plan.clone(), now_ms()).await?;
        let (run, plan) = (run_id.to_owned(), Box::new(plan));
        self.queue_work(&Work::Judge { run, plan }).await
    }

    pub(crate) async fn judge_in_background(
        &self,
        run_id: &str,
        plan: JudgePlan,
        asked_at: i64,
        reporter: &Reporter,
    ) -> Result<String> {
        let tell = |news: Judged| {
            reporter.say(format!("{} of {} iterations", news.done, news.of));
        };
        let judged = self.judge_since(asked_at, run_id, plan, &tell).await?;
        Ok(match judged.unanswered() {
            0 => format!("{} iterations are judged", judged.judgements.len()),
            n => format!("{n} iterations have no answer; begin again to ask again"),
        })
    }

    /// What all judges say of a run, the newest judge first.
    ///
    /// # Errors
    /// [`Error::NotFound`] for a run the actor may not see.
    pub async fn judgements(&self, run_id: &str) -> Result<Vec<JudgedRun>> {
        self.visible_run(run_id).await?;
        self.store.judged_run(run_id).await
    }

    /// How far the judge is that a page started last; none for those who may not
    /// steer the run.
    ///
    /// # Errors
    /// As [`Engine::judgements`].
    pub async fn judge_work(&self, run_id: &str) -> Result<Option<BackgroundWork>> {
        Ok(match self.may_judge(run_id).await? {
            true => self.last_work(WorkKind::Judge, run_id).await?,
            false => None,
        })
    }

    /// Whether the actor may have the run judged.
    ///
    /// # Errors
    /// As [`Engine::judgements`].
    pub async fn may_judge(&self, run_id: &str) -> Result<bool> {
        self.visible_run(run_id).await?;
        let standing = self.store.standing(run_id).await?;
        Ok(self.by().may_steer(&standing))
    }

    async fn judged_by(&self, run_id: &str, judge_id: &str) -> Result<Option<JudgedRun>> {
        let mut judged = self.store.judged_run(run_id).await?.into_iter();
        Ok(judged.find(|one| one.judge.judge_id == judge_id))
    }

    /// Checks everything that a pass needs; with the iterations that this judge
    /// has not judged.
    async fn pass(
        &self,
        run_id: &str,
        mut plan: JudgePlan,
        began: i64,
    ) -> Result<(Pass, Vec<Case>)> {
        let run = self.steerable_run(run_id).await?;
        if !run.progress.is_over() {
            return Err(Error::Conflict(format!(
                "run {run_id} is {}; it can be judged when it is over",
                run.progress.name()
            )));
        }
        let problems = plan.problems();
        if !problems.is_empty() {
            return Err(Error::Rejected(problems));
        }
        // The rules for the model of a run hold: keys, addresses, prices, ceilings.
        let mut config = RunConfig {
            kind: Kind::Measured,
            harness: HarnessConfig::Builtin,
            endpoint: Some(plan.endpoint),
            budget: plan.budget,
            ..RunConfig::human(&run.config.split)
        };
        let grant = self.trial_permissions(&mut config).await?;
        let endpoint = config
            .endpoint
            .ok_or_else(|| Error::Invalid("no endpoint".into()))?;
        plan.endpoint = endpoint;
        let mut cases = Vec::new();
        for evolution in self.store.evolutions_of_run(run_id).await? {
            let steps = self.store.steps(&evolution.id).await?;
            for row in self.store.iterations(&evolution.id).await? {
                let own = steps.iter().filter(|step| step.iteration == row.iteration);
                cases.push(Case {
                    steps: own.cloned().collect(),
                    evolution: evolution.clone(),
                    row,
                });
            }
        }
        if cases.is_empty() {
            return Err(Error::Conflict(format!(
                "run {run_id} has no iteration to judge"
            )));
        }
        let judge = self.judge_of(&plan)?;
        let judged = self.judged_by(run_id, &judge.judge_id).await?;
        let known = judged.map_or_else(Vec::new, |judged| judged.judgements);
        cases.retain(|case| {
            let id = (&case.evolution.id, case.row.iteration);
            let mut answered = known.iter().filter(|one| one.problem.is_none());
            !answered.any(|one| (&one.evolution_id, one.iteration) == id)
        });
        let (usage, traffic) = spent_since(&known, began);
        let pass = Pass {
            run_id: run_id.to_owned(),
            judge,
            ledger: Arc::new(Ledger::new(plan.budget, began, usage, traffic)),
            grant,
            plan,
        };
        Ok((pass, cases))
    }

    fn judge_of(&self, plan: &JudgePlan) -> Result<Judge> {
        let prompt = instructions(&plan.criteria);
        let endpoint = &plan.endpoint;
        let asked = (
            &endpoint.url,
            &endpoint.model,
            &endpoint.parameters,
            &prompt,
        );
        let asked = serde_json::to_vec(&asked).map_err(anyhow::Error::new)?;
        Ok(Judge {
            judge_id: sha256_hex(&asked),
            model: endpoint.model.clone(),
            parameters: endpoint.parameters.clone(),
            prompt_digest: sha256_hex(prompt.as_bytes()),
            criteria: plan.criteria.clone(),
            by: self.by().name().to_owned(),
            at: rfc3339(now_ms()),
        })
    }

    /// Asks about one iteration, and stores what came of it.
    async fn judge_iteration(&self, pass: &Pass, case: Case) -> Result<()> {
        let record = self.record(&case).await?;
        let endpoint = &pass.plan.endpoint;
        let keys = &self.keys;
        let keys = keys.of_endpoint(&pass.grant.keyring, endpoint).await?;
        let session = self.gateway.open(
            None,
            SessionConfig {
                endpoint: endpoint.clone(),
                grant: pass.grant.clone(),
                keys,
                recording: None,
                ledger: pass.ledger.clone(),
                evolution_ledger: None,
                usage_store: None,
                patience: PATIENCE,
                allow_hosted_tools: false,
                step: format!(
                    "{}/{}/{}/judge",
                    pass.run_id, case.evolution.id, case.row.iteration
                ),
            },
        )?;
        let judgement = |answers, problem, usage, micro_usd| Judgement {
            task_id: case.evolution.task_id.clone(),
            sample: case.evolution.sample,
            evolution_id: case.evolution.id.clone(),
            iteration: case.row.iteration,
            answers,
            problem,
            usage,
            micro_usd,
            at: rfc3339(now_ms()),
        };
        let (run_id, judge_id) = (&pass.run_id, &pass.judge.judge_id);
        // A request that a restart cuts off is paid too, and counts.
        let asked = Some("it was asked, and has not answered".to_owned());
        let asked = judgement(Vec::new(), asked, Usage::default(), None);
        self.store.put_judgement(run_id, judge_id, &asked).await?;
        let question = Question {
            criteria: &pass.plan.criteria,
            record: &record,
        };
        let Asked {
            answers,
            usage,
            micro_usd,
        } = question.ask(session).await;
        let (answers, problem) = match answers {
            Ok(answers) => (answers, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let judgement = judgement(answers, problem, usage, micro_usd);
        let put = self.store.put_judgement(run_id, judge_id, &judgement);
        put.await
    }

    async fn record(&self, case: &Case) -> Result<Record> {
        let (evolution, iteration) = (&case.evolution.id, case.row.iteration);
        let detail = self.iteration(evolution, iteration).await?;
        let change = match self.code_change(evolution, iteration).await? {
            CodeChange::Known(diff) => diff_text(&diff),
            _ => String::new(),
        };
        let programmer = case
            .steps
            .iter()
            .rfind(|step| step.role == Role::Programmer);
        let recording = programmer.and_then(|step| step.trajectory.as_deref());
        let conversation = match recording {
            Some(recording) => self.read_texts(recording).await?,
            None => None,
        };
        let conversation = conversation.unwrap_or_default();
        let conversation: Vec<String> = conversation.into_iter().map(|(_, text)| text).collect();
        Ok(Record::new([
            (
                Section::Requirement,
                requirements_text(&detail.requirements),
            ),
            (Section::Change, change),
            (Section::Tests, tests_text(&detail)),
            (Section::Conversation, conversation.join("\n\n")),
        ]))
    }
}

/// Sums up what a pass that began at this moment has spent. Its budget holds over
/// all processes that carried it out. A judgement took one request at least.
fn spent_since(known: &[Judgement], began: i64) -> (Usage, Traffic) {
    let began = rfc3339(began);
    let (mut usage, mut traffic) = (Usage::default(), Traffic::default());
    for one in known.iter().filter(|one| one.at >= began) {
        usage += one.usage;
        traffic.requests += 1;
        let paid = traffic.micro_usd.unwrap_or(0) + one.micro_usd.unwrap_or(0);
        traffic.micro_usd = Some(paid);
    }
    (usage, traffic)
}

fn requirements_text(requirements: &[Requirement]) -> String {
    let texts = requirements.iter().map(|one| {
        let expected = match &one.expectation {
            Expectation::Tested {
                contract,
                acceptance,
            } => format!("{contract}\n{acceptance}"),
            Expectation::Specified { specification } => specification.clone(),
        };
        format!("{}: {}\n{expected}\n\n", one.location, one.description)
    });
    texts.collect()
}

fn tests_text(detail: &IterationDetail) -> String {
    let list = |title: &str, tests: &[String]| {
        let shown = tests.iter().take(MAX_TESTS);
        let shown: String = shown.map(|test| format!("- {test}\n")).collect();
        format!("{title}: {}\n{shown}", tests.len())
    };
    let gained = list(
        "tests that pass now and did not before",
        &detail.gained_tests,
    );
    gained
        + &list(
            "tests that passed before and do not now",
            &detail.lost_tests,
        )
}

fn diff_text(diff: &Diff) -> String {
    let file = |file: &FileDiff| {
        let head = format!("{} ({})\n", file.path, file.change.name());
        match &file.body {
            Body::Text(hunks) => head + hunks,
            _ => head,
        }
    };
    diff.files.iter().map(file).collect()
}

#[cfg(test)]
mod tests {
    use swe_ci_core::task::TaskId;

    use super::*;

    /// A worker that takes over after a restart goes on with the budget that is
    /// left; a later pass begins with all of it.
    #[test]
    fn a_pass_goes_on_with_what_it_has_spent() {
        let judged = |at: i64, tokens: u64, micro_usd: Option<u64>| Judgement {
            task_id: TaskId::new("a").unwrap(),
            sample: 1,
            evolution_id: "e".into(),
            iteration: 1,
            answers: Vec::new(),
            problem: Some("asked again, and paid all the same".into()),
            usage: Usage {
                input_tokens: tokens,
                ..Usage::default()
            },
            micro_usd,
            at: rfc3339(at),
        };
        let known = [
            judged(1_000, 1, Some(1)),
            judged(2_000, 10, Some(10)),
            judged(3_000, 100, None),
        ];
        let check = |began: i64, expect: (u64, u64, Option<u64>)| {
            let (usage, traffic) = spent_since(&known, began);
            let spent = (usage.total(), traffic.requests, traffic.micro_usd);
            assert_eq!(spent, expect, "{began}");
        };
        check(0, (111, 3, Some(11)));
        check(2_000, (110, 2, Some(10)));
        check(3_000, (100, 1, Some(0)));
        check(4_000, (0, 0, None));
    }
}
