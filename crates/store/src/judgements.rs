//! What models say of a run by a rubric.

use swe_ci_base::error::Result;
use swe_ci_views::account::Actor;
use swe_ci_views::judge::{Judge, JudgedRun, Judgement};

use super::audit::note;
use super::rows::columns::Columns;
use super::sql::query;
use super::{Store, to_json};

impl Store {
    /// Stores a judge of a run; one that is known stays as it was first asked.
    pub async fn put_judge(&self, run_id: &str, judge: &Judge, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO judges (run_id, id, judge) VALUES ($1, $2, $3)
             ON CONFLICT (run_id, id) DO NOTHING",
        )
        .with((run_id, judge.judge_id.as_str(), to_json(judge)?))
        .run(&mut *tx)
        .await?;
        let detail = format!("{}, {} questions", judge.model, judge.criteria.len());
        note(&mut tx, by, "run.judge", run_id, &detail).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Stores what a judge says of an iteration, replacing what it said before.
    pub async fn put_judgement(
        &self,
        run_id: &str,
        judge_id: &str,
        judgement: &Judgement,
    ) -> Result<()> {
        query(
            "INSERT INTO judgements (run_id, judge_id, evolution_id, iteration, judgement)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (run_id, judge_id, evolution_id, iteration)
             DO UPDATE SET judgement = excluded.judgement",
        )
        .with((
            run_id,
            judge_id,
            judgement.evolution_id.as_str(),
            judgement.iteration,
            to_json(judgement)?,
        ))
        .run(&self.pool)
        .await
    }

    /// All judges of a run, the one asked last first, with what they say.
    pub async fn judged_run(&self, run_id: &str) -> Result<Vec<JudgedRun>> {
        let judges: Vec<Judge> = query("SELECT judge FROM judges WHERE run_id = $1")
            .with(run_id)
            .all(&self.pool, |row| row.json("judge", "a judge"))
            .await?;
        let judgements: Vec<(String, Judgement)> =
            query("SELECT judge_id, judgement FROM judgements WHERE run_id = $1")
                .with(run_id)
                .all(&self.pool, |row| {
                    let judgement = row.json("judgement", "a judgement")?;
                    Ok((row.read("judge_id")?, judgement))
                })
                .await?;
        let mut judged: Vec<JudgedRun> = judges
            .into_iter()
            .map(|judge| JudgedRun {
                judge,
                judgements: Vec::new(),
            })
            .collect();
        for (judge_id, judgement) in judgements {
            let judge = judged.iter_mut().find(|one| one.judge.judge_id == judge_id);
            if let Some(judge) = judge {
                judge.judgements.push(judgement);
            }
        }
        for one in &mut judged {
            one.judgements
                .sort_by_cached_key(|j| (j.task_id.clone(), j.sample, j.iteration));
        }
        judged.sort_by(|a, b| b.judge.at.cmp(&a.judge.at));
        Ok(judged)
    }
}
