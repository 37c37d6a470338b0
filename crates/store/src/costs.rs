//! Costs: the price table, the totals of runs, and what past iterations took.

use std::collections::HashMap;

use sqlx::any::AnyRow;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::PriceLine;
use swe_ci_core::step::{Ending, StepOutcome};
use swe_ci_core::usage::{Prices, Traffic, Usage};
use swe_ci_views::account::Actor;
use swe_ci_views::leaderboard::Effort;
use swe_ci_views::submission::EvolutionCost;

use super::Store;
use super::audit::note_and_commit;
use super::rows::columns::{Columns, from_row};
use super::sql::{composed, query};

/// Usage and findings of a run, over all its evolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTotals {
    /// Tokens of the model, as far as they were counted.
    pub taken: Usage,
    /// Gateway traffic, as far as it was counted and prices are known.
    pub traffic: Traffic,
    all_counted: bool,
    all_priced: bool,
    /// Iterations with integrity findings.
    pub findings: u32,
    /// Steps whose last answer of the model was cut short.
    pub truncated_steps: u32,
}

impl RunTotals {
    /// Tokens; only when every agent's step was counted.
    pub fn usage(&self) -> Option<Usage> {
        self.all_counted.then_some(self.taken)
    }

    /// Millionths of a US dollar; only when every agent's step has a price.
    pub fn micro_usd(&self) -> Option<u64> {
        self.traffic.micro_usd.filter(|_| self.all_priced)
    }
}

/// Columns of steps that are summed over a run.
const SUMMED: [&str; 12] = [
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "requests",
    "retries",
    "waiting_ms",
    "micro_usd",
    "unfinished",
    "streamed_tokens",
    "probes",
    "probe_micro_usd",
];

/// Whether step `s` is an attempt, which has costs.
pub(super) fn is_attempt() -> String {
    let marks = StepOutcome::ALL.into_iter().filter(|one| !one.is_attempt());
    let marks: Vec<String> = marks.map(|one| format!("'\"{}\"'", one.name())).collect();
    format!("s.outcome NOT IN ({})", marks.join(", "))
}

/// Whether the evolution `e` ended with a score.
pub(super) fn is_scored() -> String {
    let scored = Ending::ALL.into_iter().filter(|ending| ending.is_scored());
    let scored: Vec<String> = scored.map(|e| format!("'{}'", e.name())).collect();
    format!("e.ending IN ({})", scored.join(", "))
}

impl Store {
    /// Inserts a line or replaces its prices.
    pub async fn put_price(&self, line: &PriceLine, by: &Actor) -> Result<()> {
        let Prices {
            input,
            cached,
            output,
        } = line.prices;
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO prices (model, from_day, input, cached, output) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (model, from_day)
             DO UPDATE SET input = excluded.input, cached = excluded.cached, output = excluded.output",
        )
        .with((&line.model, &line.from, input, cached, output))
        .unprepared()
        .run(&mut *tx)
        .await?;
        let cached = cached.map_or_else(String::new, |cached| format!(", cached {cached}"));
        let detail = format!("from {}: input {input}{cached}, output {output}", line.from);
        note_and_commit(tx, by, "price.set", &line.model, &detail).await
    }

    /// All lines, by model, the latest first.
    pub async fn prices(&self) -> Result<Vec<PriceLine>> {
        query(
            "SELECT model, from_day, input, cached, output FROM prices
             ORDER BY model, from_day DESC",
        )
        .all(&self.pool, |row| {
            Ok(PriceLine {
                model: row.read("model")?,
                from: row.read("from_day")?,
                prices: read_prices(row)?,
            })
        })
        .await
    }

    /// The prices on a day (`YYYY-MM-DD`): the latest line not after it.
    pub async fn price_on(&self, model: &str, day: &str) -> Result<Option<Prices>> {
        query(
            "SELECT input, cached, output FROM prices WHERE model = $1 AND from_day <= $2
             ORDER BY from_day DESC LIMIT 1",
        )
        .with((model, day))
        .first(&self.pool, read_prices)
        .await
    }

    pub async fn remove_price(&self, model: &str, from: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let unknown = || Error::not_found("price", format!("{model} from {from}"));
        query("DELETE FROM prices WHERE model = $1 AND from_day = $2")
            .with((model, from))
            .run_or(&mut *tx, unknown)
            .await?;
        note_and_commit(tx, by, "price.remove", model, &format!("from {from}")).await
    }

    /// The cost of each scored evolution of a run, over all its attempts.
    pub async fn evolution_costs(&self, run_id: &str) -> Result<Vec<EvolutionCost>> {
        composed(format!(
            "SELECT e.task_id, CAST(sum(s.finished_at - s.started_at) AS BIGINT) AS ms,
                    count(s.input_tokens) AS counted,
                    CAST(coalesce(sum(s.input_tokens), 0) AS BIGINT) AS input_tokens,
                    CAST(coalesce(sum(s.output_tokens), 0) AS BIGINT) AS output_tokens,
                    CAST(coalesce(sum(s.cached_tokens), 0) AS BIGINT) AS cached_tokens,
                    CAST(coalesce(sum(s.reasoning_tokens), 0) AS BIGINT) AS reasoning_tokens
             FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND {} GROUP BY e.id, e.task_id",
            is_scored()
        ))
        .with(run_id)
        .all(&self.pool, |row| {
            let usage = read_usage(row)?;
            Ok(EvolutionCost {
                task: row.read("task_id")?,
                ms: row.read("ms")?,
                usage: (row.read::<u64>("counted")? > 0).then_some(usage),
            })
        })
        .await
    }

    /// What each scored evolution of a run took, by its id. The times are those of the
    /// recorded steps, all attempts included. Empty if no agent had a step.
    pub async fn efforts_of_run(&self, run_id: &str) -> Result<HashMap<String, Effort>> {
        let work = "CASE WHEN s.role <> 'test' THEN s.finished_at - s.started_at - coalesce(s.waiting_ms, 0)
                    ELSE 0 END";
        let efforts = composed(format!(
            "SELECT e.id,
                    CAST(coalesce(sum(CASE WHEN s.role <> 'test' THEN 1 ELSE 0 END), 0) AS BIGINT) AS steps,
                    count(s.input_tokens) AS counted, count(s.micro_usd) AS priced,
                    CAST(coalesce(sum(coalesce(s.input_tokens, 0) + coalesce(s.output_tokens, 0)), 0) AS BIGINT)
                        AS tokens,
                    CAST(coalesce(sum(s.micro_usd), 0) AS BIGINT) AS micro_usd,
                    CAST(coalesce(sum(s.finished_at - s.started_at), 0) AS BIGINT) AS wall_ms,
                    CAST(coalesce(sum({work}), 0) AS BIGINT) AS agent_ms
             FROM evolutions e
             LEFT JOIN steps s ON s.evolution_id = e.id AND {}
             WHERE e.run_id = $1 AND {} GROUP BY e.id",
            is_attempt(),
            is_scored()
        ))
        .with(run_id)
        .all(&self.pool, |row| {
            let steps: u64 = row.read("steps")?;
            let (tokens, micro_usd) = (row.read("tokens")?, row.read("micro_usd")?);
            let (counted, priced): (u64, u64) = (row.read("counted")?, row.read("priced")?);
            // A clock that was set back must not make it negative.
            let time = |ms: i64| Some(u64::try_from(ms).unwrap_or(0));
            let effort = Effort {
                tokens: (counted == steps).then_some(tokens),
                micro_usd: (priced == steps).then_some(micro_usd),
                wall_ms: time(row.read("wall_ms")?),
                agent_ms: time(row.read("agent_ms")?),
            };
            Ok((row.read::<String>("id")?, steps, effort))
        })
        .await?;
        // An evolution that ended before its agent's first step took nothing; of a run
        // in which no agent has a step, such as an imported one, nothing is known.
        if efforts.iter().all(|(_, steps, _)| *steps == 0) {
            return Ok(HashMap::new());
        }
        Ok(efforts
            .into_iter()
            .map(|(id, _, effort)| (id, effort))
            .collect())
    }

    /// The totals of a run.
    pub async fn totals_of_run(&self, run_id: &str) -> Result<RunTotals> {
        let sum =
            |column: &str| format!("CAST(coalesce(sum(s.{column}), 0) AS BIGINT) AS {column}");
        let sums = SUMMED.map(sum).join(", ");
        composed(format!(
            "SELECT count(*) AS steps, count(s.input_tokens) AS counted, count(s.micro_usd) AS priced, {sums},
                    count(s.truncation) AS truncated_steps,
                    (SELECT count(*) FROM iterations i JOIN evolutions e ON e.id = i.evolution_id
                     WHERE e.run_id = $1 AND i.findings <> '[]') AS findings
             FROM steps s JOIN evolutions e ON e.id = s.evolution_id
             WHERE e.run_id = $1 AND s.role <> 'test' AND {}",
            is_attempt()
        ))
        .with(run_id)
        .one(&self.pool, |row| {
            let steps: u64 = row.read("steps")?;
            let all = |counted: u64| counted > 0 && counted == steps;
            Ok(from_row!(row => RunTotals {
                findings, truncated_steps;
                taken: read_usage(row)?,
                traffic: from_row!(row => Traffic {
                    requests, retries, waiting_ms, micro_usd,
                    unfinished, streamed_tokens, probes, probe_micro_usd
                }),
                all_counted: all(row.read("counted")?),
                all_priced: all(row.read("priced")?)
            }))
        })
        .await
    }
}

fn read_prices(row: &AnyRow) -> Result<Prices> {
    Ok(from_row!(row => Prices { input, cached, output }))
}

/// Sums of columns.
fn read_usage(row: &AnyRow) -> Result<Usage> {
    Ok(from_row!(row => Usage { input_tokens, output_tokens, cached_tokens, reasoning_tokens }))
}
