//! The findings of runs, and the decisions of reviewers about them.

use std::collections::HashMap;

use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::finding::{Decision, Finding, Grade};
use swe_ci_core::run::RunConfig;
use swe_ci_core::task::TaskId;
use swe_ci_views::account::Actor;
use swe_ci_views::finding::{FindingId, FindingReview, RunFinding};

use super::audit::note;
use super::changes::commit_change;
use super::rows::columns::{Columns, from_row};
use super::sql::{Parameters, Tx, composed, list_of, query};
use super::steering::lock_run;
use super::{Store, new_id};

/// A decision about a finding, with its reason.
#[derive(Debug, Clone, Copy)]
pub struct FindingDecision<'a> {
    pub decision: Decision,
    pub reason: &'a str,
}

/// The JSON of a suspicious finding contains this; other texts may, too. The
/// first half lets the database use its index of the few iterations with
/// findings.
const SUSPICIOUS: &str = "i.findings <> '[]' AND i.findings LIKE '%suspicious%'";

/// The runs whose findings are asked for: their number decides where a database
/// best begins to look.
#[derive(Debug, Clone, Copy)]
enum Reach {
    FewRuns,
    ManyRuns,
}

impl Store {
    /// The findings of a run of every grade: by task, sample and iteration.
    pub async fn findings_of_run(&self, run_id: &str) -> Result<Vec<RunFinding>> {
        let of = "e.run_id = $1 AND i.findings <> '[]'";
        self.findings(Reach::FewRuns, of, run_id).await
    }

    /// The suspicious findings of all runs of a split, by run.
    pub async fn suspicions_of_split(
        &self,
        split: &str,
    ) -> Result<HashMap<String, Vec<RunFinding>>> {
        let of_split = format!("r.split = $1 AND {SUSPICIOUS}");
        self.suspicions(Reach::ManyRuns, &of_split, split).await
    }

    /// The suspicious findings of these runs, by run.
    pub async fn suspicions_of_runs(
        &self,
        run_ids: &[String],
    ) -> Result<HashMap<String, Vec<RunFinding>>> {
        if run_ids.is_empty() {
            return Ok(HashMap::new());
        }
        let of_runs = format!("r.id IN {} AND {SUSPICIOUS}", list_of(run_ids.len()));
        self.suspicions(Reach::FewRuns, &of_runs, run_ids).await
    }

    /// The findings that wait for a decision, by run. Cancelled and withdrawn
    /// runs are in no ranking, so theirs can wait.
    pub async fn open_findings(&self) -> Result<Vec<RunFinding>> {
        let all = format!(
            "r.progress <> 'cancelled' AND r.visibility <> 'withdrawn' AND $1 = '' AND {SUSPICIOUS}"
        );
        let mut found = self.findings(Reach::ManyRuns, &all, "").await?;
        found.retain(RunFinding::is_open);
        Ok(found)
    }

    async fn suspicions(
        &self,
        reach: Reach,
        of: &str,
        parameters: impl Parameters + Copy,
    ) -> Result<HashMap<String, Vec<RunFinding>>> {
        let mut by_run: HashMap<String, Vec<RunFinding>> = HashMap::new();
        for found in self.findings(reach, of, parameters).await? {
            if found.can_be_reviewed() {
                by_run.entry(found.run_id.clone()).or_default().push(found);
            }
        }
        Ok(by_run)
    }

    /// `of` is a condition on the run (`r`), the evolution (`e`) and the
    /// iteration (`i`), with these parameters.
    async fn findings(
        &self,
        reach: Reach,
        of: &str,
        parameters: impl Parameters + Copy,
    ) -> Result<Vec<RunFinding>> {
        // SQLite takes tables with CROSS JOIN in their order: the few iterations
        // with findings first, instead of each evolution of a split. Postgres
        // chooses by itself.
        let join = match reach {
            Reach::FewRuns => ",",
            Reach::ManyRuns => "CROSS JOIN",
        };
        let reviews = composed(format!(
            "SELECT f.evolution_id, f.iteration, f.finding, f.decision, f.reason, f.decided_at,
                    coalesce(a.name, 'operator') AS reviewer
             FROM finding_reviews f CROSS JOIN iterations i CROSS JOIN evolutions e CROSS JOIN runs r
             LEFT JOIN accounts a ON a.id = f.reviewer
             WHERE i.evolution_id = f.evolution_id AND i.iteration = f.iteration
               AND e.id = i.evolution_id AND r.id = e.run_id AND {of}"
        ));
        let reviews = reviews
            .with(parameters)
            .all(&self.pool, read_review)
            .await?;
        let mut reviews: HashMap<FindingId, FindingReview> = reviews.into_iter().collect();
        let iterations = composed(format!(
            "SELECT e.run_id, r.config, e.id AS evolution_id, e.task_id, e.sample, i.iteration, i.findings
             FROM iterations i {join} evolutions e {join} runs r
             WHERE e.id = i.evolution_id AND r.id = e.run_id AND {of}
             ORDER BY e.run_id, e.task_id, e.sample, i.iteration"
        ));
        let iterations = iterations.with(parameters);
        let iterations = iterations.all(&self.pool, read_findings).await?;
        let mut all: Vec<RunFinding> = iterations.into_iter().flatten().collect();
        for found in &mut all {
            found.review = reviews.remove(&found.finding_id);
        }
        Ok(all)
    }

    /// Records the decision about a suspicious finding of a run. Another one
    /// replaces it; the audit log keeps both.
    ///
    /// # Errors
    /// [`Error::NotFound`] when the run has no such finding;
    /// [`Error::Conflict`] when it is of another grade.
    pub async fn review_finding(
        &self,
        run_id: &str,
        finding: &FindingId,
        decided: FindingDecision<'_>,
        by: &Actor,
    ) -> Result<()> {
        let FindingDecision { decision, reason } = decided;
        let mut tx = self.pool.begin().await?;
        lock_run(&mut tx, run_id).await?;
        let found = finding_of_run(&mut tx, run_id, finding).await?;
        if found.grade != Grade::Suspicious {
            return Err(Error::Conflict(format!(
                "finding {finding} is {}; only suspicious ones are reviewed",
                match found.grade {
                    Grade::Note => "a note",
                    _ => "graded as tampering, and its iteration has collapsed",
                }
            )));
        }
        let reviewer = by.identity().map_or("", |who| who.account_id.as_str());
        query(
            "INSERT INTO finding_reviews (id, evolution_id, iteration, finding, decision, reason, reviewer, decided_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (evolution_id, iteration, finding)
             DO UPDATE SET decision = excluded.decision, reason = excluded.reason,
                           reviewer = excluded.reviewer, decided_at = excluded.decided_at",
        )
        .with((new_id(), &finding.evolution_id, finding.iteration, finding.number))
        .with((decision.name(), reason, reviewer, now_ms()))
        .run(&mut *tx)
        .await?;
        let action = format!("finding.{}", decision.verb());
        let detail = format!("{finding} ({}): {reason}", found.text);
        note(&mut tx, by, &action, run_id, &detail).await?;
        commit_change(tx).await
    }
}

async fn finding_of_run(tx: &mut Tx, run_id: &str, finding: &FindingId) -> Result<Finding> {
    let findings = query(
        "SELECT i.findings FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
         WHERE e.run_id = $1 AND i.evolution_id = $2 AND i.iteration = $3",
    )
    .with((run_id, &finding.evolution_id, finding.iteration))
    .first(tx, |row| row.json::<Vec<Finding>>("findings", "findings"))
    .await?;
    let mut findings = findings.unwrap_or_default().into_iter();
    let found = findings.nth(finding.number.saturating_sub(1) as usize);
    found.ok_or_else(|| Error::not_found_in("this run", "finding", finding))
}

fn read_review(row: &AnyRow) -> Result<(FindingId, FindingReview)> {
    let id = FindingId {
        evolution_id: row.read("evolution_id")?,
        iteration: row.read("iteration")?,
        number: row.read("finding")?,
    };
    let review = from_row!(row => FindingReview {
        decision, reason, reviewer;
        decided_at: row.time("decided_at")?
    });
    Ok((id, review))
}

/// The findings of an iteration, without decisions.
fn read_findings(row: &AnyRow) -> Result<Vec<RunFinding>> {
    let findings: Vec<Finding> = row.json("findings", "findings")?;
    let config: RunConfig = row.read("config")?;
    let (run_id, evolution_id): (String, String) = (row.read("run_id")?, row.read("evolution_id")?);
    let (task_id, sample): (TaskId, u32) = (row.read("task_id")?, row.read("sample")?);
    let iteration: u32 = row.read("iteration")?;
    let numbered = (1..).zip(findings);
    Ok(numbered
        .map(|(number, finding)| RunFinding {
            finding_id: FindingId {
                evolution_id: evolution_id.clone(),
                iteration,
                number,
            },
            run_id: run_id.clone(),
            model: config.model.clone(),
            task_id: task_id.clone(),
            sample,
            evolution_id: evolution_id.clone(),
            iteration,
            finding,
            review: None,
        })
        .collect())
}
