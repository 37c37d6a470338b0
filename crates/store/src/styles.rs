//! Code styles of code versions and of evolutions.

use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::style::{CodeStyle, EvolutionStyle, StyleTools};

use super::changes::{commit_change, results_changed};
use super::rows::columns::{Columns, from_row};
use super::sql::{composed, only, query};
use super::{Store, to_json};

/// The style of one code version.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeStyleRow {
    /// Digest of the source files.
    pub source: String,
    /// Content digest of the image it was measured in.
    pub image: String,
    pub tools: StyleTools,
    pub style: CodeStyle,
    /// Artifact: a `FileStyle` for each file.
    pub files: String,
}

/// The result of measuring an evolution: its style, or why it has none.
pub type Measured = std::result::Result<EvolutionStyle, String>;

/// The evolutions that can be measured and audited: scored, and with some code
/// available.
pub(super) const MEASURABLE: &str = "e.ending IS NOT NULL
    AND e.ending NOT IN ('budget_spent', 'blocked', 'cancelled')
    AND EXISTS (SELECT 1 FROM iterations i WHERE i.evolution_id = e.id AND i.code <> '')";

impl Store {
    /// Claims an evolution that has not been measured, until `until` unix
    /// milliseconds: solved ones first, then the oldest.
    pub async fn claim_style(
        &self,
        worker: &str,
        method: u32,
        until: i64,
    ) -> Result<Option<String>> {
        let next: Option<String> = composed(format!(
            "SELECT e.id AS id FROM evolutions e
             LEFT JOIN evolution_styles s ON s.evolution_id = e.id
             WHERE (s.evolution_id IS NULL OR (s.claimed_until > 0 AND s.claimed_until < $1)) AND {MEASURABLE}
             ORDER BY CASE e.ending WHEN 'solved' THEN 0 ELSE 1 END, e.finished_at, e.id LIMIT 1"
        ))
        .with(now_ms())
        .first(&self.pool, only)
        .await?;
        let Some(id) = next else { return Ok(None) };
        let claimed = query(
            "INSERT INTO evolution_styles (evolution_id, method, worker, claimed_until, style, reason)
             VALUES ($1, $2, $3, $4, '', '')
             ON CONFLICT (evolution_id) DO UPDATE
             SET method = excluded.method, worker = excluded.worker, claimed_until = excluded.claimed_until
             WHERE evolution_styles.claimed_until > 0 AND evolution_styles.claimed_until < $5",
        )
        .with((&id, method, worker, until, now_ms()))
        .changed(&self.pool)
        .await?;
        Ok((claimed == 1).then_some(id))
    }

    /// Releases a worker's unfinished claims.
    pub async fn release_styles(&self, worker: &str) -> Result<()> {
        query("DELETE FROM evolution_styles WHERE worker = $1 AND claimed_until > 0")
            .with(worker)
            .run(&self.pool)
            .await
    }

    /// Puts a worker's claim back: nobody measures the evolution until then.
    pub async fn put_back_style(&self, evolution: &str, worker: &str, until: i64) -> Result<()> {
        query(
            "UPDATE evolution_styles SET claimed_until = $3
             WHERE evolution_id = $1 AND worker = $2 AND claimed_until > 0",
        )
        .with((evolution, worker, until))
        .run(&self.pool)
        .await
    }

    /// Measurable evolutions of a run, or of all runs, without a successful
    /// result by this method.
    pub async fn unmeasured(&self, run_id: Option<&str>, method: u32) -> Result<Vec<String>> {
        composed(format!(
            "SELECT e.id AS id FROM evolutions e
             LEFT JOIN evolution_styles s ON s.evolution_id = e.id
             WHERE ($1 = '' OR e.run_id = $1)
               AND (s.evolution_id IS NULL OR s.method <> $2 OR s.style = '') AND {MEASURABLE}
             ORDER BY e.id"
        ))
        .with((run_id.unwrap_or_default(), method))
        .all(&self.pool, only)
        .await
    }

    /// Records the result of measuring an evolution, replacing an earlier one.
    pub async fn put_style(&self, evolution: &str, method: u32, result: &Measured) -> Result<()> {
        let (style, reason) = match result {
            Ok(style) => (to_json(style)?, ""),
            Err(reason) => (String::new(), reason.as_str()),
        };
        let mut tx = self.pool.begin().await?;
        query(
            "INSERT INTO evolution_styles (evolution_id, method, worker, claimed_until, style, reason)
             VALUES ($1, $2, '', 0, $3, $4)
             ON CONFLICT (evolution_id) DO UPDATE
             SET method = excluded.method, worker = '', claimed_until = 0,
                 style = excluded.style, reason = excluded.reason",
        )
        .with((evolution, method, style, reason))
        .run(&mut *tx)
        .await?;
        let run: String = query("SELECT run_id FROM evolutions WHERE id = $1")
            .with(evolution)
            .one(&mut *tx, only)
            .await?;
        results_changed(&mut tx, &run).await?;
        commit_change(tx).await
    }

    /// The result of measuring an evolution by this method; `None` before.
    pub async fn style(&self, evolution: &str, method: u32) -> Result<Option<Measured>> {
        query(
            "SELECT style, reason FROM evolution_styles WHERE evolution_id = $1 AND method = $2 AND claimed_until = 0",
        )
        .with((evolution, method))
        .first(&self.pool, read_measured)
        .await
    }

    /// The styles of a run's evolutions that were measured by this method.
    pub async fn styles_of_run(
        &self,
        run_id: &str,
        method: u32,
    ) -> Result<Vec<(String, EvolutionStyle)>> {
        query(
            "SELECT s.evolution_id AS id, s.style AS style FROM evolution_styles s
             JOIN evolutions e ON e.id = s.evolution_id WHERE e.run_id = $1 AND s.method = $2 AND s.style <> ''",
        )
        .with((run_id, method))
        .all(&self.pool, |row| {
            Ok((row.read("id")?, row.json("style", "a code style")?))
        })
        .await
    }

    pub async fn put_code_style(&self, method: u32, row: &CodeStyleRow) -> Result<()> {
        query(
            "INSERT INTO code_styles (source, image, method, tools, style, files)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (source, image, method) DO NOTHING",
        )
        .with((&row.source, &row.image, method, to_json(&row.tools)?))
        .with((to_json(&row.style)?, &row.files))
        .run(&self.pool)
        .await
    }

    pub async fn code_style(
        &self,
        method: u32,
        source: &str,
        image: &str,
    ) -> Result<Option<CodeStyleRow>> {
        query("SELECT * FROM code_styles WHERE source = $1 AND image = $2 AND method = $3")
            .with((source, image, method))
            .first(&self.pool, read_code_style)
            .await
    }
}

fn read_measured(row: &AnyRow) -> Result<Measured> {
    Ok(match row.optional_json("style", "a code style")? {
        Some(style) => Ok(style),
        None => Err(row.read("reason")?),
    })
}

fn read_code_style(row: &AnyRow) -> Result<CodeStyleRow> {
    Ok(from_row!(row => CodeStyleRow {
        source, image, files;
        tools: row.json("tools", "style tools")?,
        style: row.json("style", "a code style")?
    }))
}
