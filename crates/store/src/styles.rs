//! Code styles of code versions and of evolutions.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::clock::now_ms;
use swe_ci_base::error::Result;
use swe_ci_views::style::EvolutionStyle;

use super::changes::count_up;
use super::rows::styles::{CodeStyleRow, Measured, read_code_style, read_measured};
use super::{Store, from_json, to_json};

/// The evolutions that can be measured: scored, and with some code available.
const MEASURABLE: &str = "e.ending IS NOT NULL
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
        let next = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT e.id AS id FROM evolutions e
             LEFT JOIN evolution_styles s ON s.evolution_id = e.id
             WHERE (s.evolution_id IS NULL OR (s.claimed_until > 0 AND s.claimed_until < $1)) AND {MEASURABLE}
             ORDER BY CASE e.ending WHEN 'solved' THEN 0 ELSE 1 END, e.finished_at, e.id LIMIT 1"
        )))
        .bind(now_ms())
        .fetch_optional(&self.pool)
        .await?;
        let Some(next) = next else {
            return Ok(None);
        };
        let id: String = next.try_get("id")?;
        let claimed = sqlx::query(
            "INSERT INTO evolution_styles (evolution_id, method, worker, claimed_until, style, reason)
             VALUES ($1, $2, $3, $4, '', '')
             ON CONFLICT (evolution_id) DO UPDATE
             SET method = excluded.method, worker = excluded.worker, claimed_until = excluded.claimed_until
             WHERE evolution_styles.claimed_until > 0 AND evolution_styles.claimed_until < $5",
        )
        .bind(&id)
        .bind(i64::from(method))
        .bind(worker)
        .bind(until)
        .bind(now_ms())
        .execute(&self.pool)
        .await?;
        Ok((claimed.rows_affected() == 1).then_some(id))
    }

    /// Releases a worker's unfinished claims.
    pub async fn release_styles(&self, worker: &str) -> Result<()> {
        sqlx::query("DELETE FROM evolution_styles WHERE worker = $1 AND claimed_until > 0")
            .bind(worker)
            .execute(&self.pool)
            .await?;
        Ok(())
    }

    /// Measurable evolutions of a run, or of all runs, without a successful
    /// result by this method.
    pub async fn unmeasured(&self, run_id: Option<&str>, method: u32) -> Result<Vec<String>> {
        let rows = sqlx::query(sqlx::AssertSqlSafe(format!(
            "SELECT e.id AS id FROM evolutions e
             LEFT JOIN evolution_styles s ON s.evolution_id = e.id
             WHERE ($1 = '' OR e.run_id = $1)
               AND (s.evolution_id IS NULL OR s.method <> $2 OR s.style = '') AND {MEASURABLE}
             ORDER BY e.id"
        )))
        .bind(run_id.unwrap_or_default())
        .bind(i64::from(method))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok(row.try_get("id")?)).collect()
    }

    /// Records the result of measuring an evolution, replacing an earlier one.
    pub async fn put_style(&self, evolution: &str, method: u32, result: &Measured) -> Result<()> {
        let (style, reason) = match result {
            Ok(style) => (to_json(style)?, ""),
            Err(reason) => (String::new(), reason.as_str()),
        };
        let mut tx = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO evolution_styles (evolution_id, method, worker, claimed_until, style, reason)
             VALUES ($1, $2, '', 0, $3, $4)
             ON CONFLICT (evolution_id) DO UPDATE
             SET method = excluded.method, worker = '', claimed_until = 0,
                 style = excluded.style, reason = excluded.reason",
        )
        .bind(evolution)
        .bind(i64::from(method))
        .bind(style)
        .bind(reason)
        .execute(&mut *tx)
        .await?;
        count_up(&mut tx).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The result of measuring an evolution by this method; `None` before.
    pub async fn style(&self, evolution: &str, method: u32) -> Result<Option<Measured>> {
        let row = sqlx::query(
            "SELECT style, reason FROM evolution_styles WHERE evolution_id = $1 AND method = $2 AND claimed_until = 0",
        )
        .bind(evolution)
        .bind(i64::from(method))
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(read_measured).transpose()
    }

    /// The styles of a run's evolutions that were measured by this method.
    pub async fn styles_of_run(
        &self,
        run_id: &str,
        method: u32,
    ) -> Result<Vec<(String, EvolutionStyle)>> {
        let rows = sqlx::query(
            "SELECT s.evolution_id AS id, s.style AS style FROM evolution_styles s
             JOIN evolutions e ON e.id = s.evolution_id WHERE e.run_id = $1 AND s.method = $2 AND s.style <> ''",
        )
        .bind(run_id)
        .bind(i64::from(method))
        .fetch_all(&self.pool)
        .await?;
        let read = |row: &AnyRow| {
            let style: String = row.try_get("style")?;
            Ok((row.try_get("id")?, from_json("a code style", &style)?))
        };
        rows.iter().map(read).collect()
    }

    /// How many evolutions of a run were measured by this method.
    pub async fn measured_of_run(&self, run_id: &str, method: u32) -> Result<i64> {
        let row = sqlx::query(
            "SELECT count(*) AS n FROM evolution_styles s
             JOIN evolutions e ON e.id = s.evolution_id WHERE e.run_id = $1 AND s.method = $2 AND s.style <> ''",
        )
        .bind(run_id)
        .bind(i64::from(method))
        .fetch_one(&self.pool)
        .await?;
        Ok(row.try_get("n")?)
    }

    pub async fn put_code_style(&self, method: u32, row: &CodeStyleRow) -> Result<()> {
        sqlx::query(
            "INSERT INTO code_styles (source, image, method, tools, style, files)
             VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (source, image, method) DO NOTHING",
        )
        .bind(&row.source)
        .bind(&row.image)
        .bind(i64::from(method))
        .bind(to_json(&row.tools)?)
        .bind(to_json(&row.style)?)
        .bind(&row.files)
        .execute(&self.pool)
        .await?;
        Ok(())
    }

    pub async fn code_style(
        &self,
        method: u32,
        source: &str,
        image: &str,
    ) -> Result<Option<CodeStyleRow>> {
        let row = sqlx::query(
            "SELECT * FROM code_styles WHERE source = $1 AND image = $2 AND method = $3",
        )
        .bind(source)
        .bind(image)
        .bind(i64::from(method))
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(read_code_style).transpose()
    }
}
