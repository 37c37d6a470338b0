//! The price table: what models cost from a given day on.

use sqlx::Row;
use sqlx::any::AnyRow;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::PriceLine;
use swe_ci_core::usage::Prices;
use swe_ci_views::account::Actor;

use super::Store;
use super::audit::note;
use super::rows::costs::read_prices;

impl Store {
    /// Inserts a line or replaces its prices.
    pub async fn put_price(&self, line: &PriceLine, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(
            "INSERT INTO prices (model, from_day, input, cached, output) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (model, from_day)
             DO UPDATE SET input = excluded.input, cached = excluded.cached, output = excluded.output",
        )
        .bind(&line.model)
        .bind(&line.from)
        .bind(line.prices.input)
        .bind(line.prices.cached)
        .bind(line.prices.output)
        // Postgres would cache the statement with the type of this `cached`,
        // which differs between a value and `None`.
        .persistent(false)
        .execute(&mut *tx)
        .await?;
        let Prices {
            input,
            cached,
            output,
        } = line.prices;
        let cached = cached.map_or_else(String::new, |cached| format!(", cached {cached}"));
        let detail = format!("from {}: input {input}{cached}, output {output}", line.from);
        note(&mut tx, by, "price.set", &line.model, &detail).await?;
        tx.commit().await?;
        Ok(())
    }

    /// All lines, by model, the latest first.
    pub async fn prices(&self) -> Result<Vec<PriceLine>> {
        let rows = sqlx::query(
            "SELECT model, from_day, input, cached, output FROM prices
             ORDER BY model, from_day DESC",
        )
        .fetch_all(&self.pool)
        .await?;
        let line = |row: &AnyRow| {
            Ok(PriceLine {
                model: row.try_get("model")?,
                from: row.try_get("from_day")?,
                prices: read_prices(row)?,
            })
        };
        rows.iter().map(line).collect()
    }

    /// The prices on a day (`YYYY-MM-DD`): the latest line not after it.
    pub async fn price_on(&self, model: &str, day: &str) -> Result<Option<Prices>> {
        let row = sqlx::query(
            "SELECT input, cached, output FROM prices WHERE model = $1 AND from_day <= $2
             ORDER BY from_day DESC LIMIT 1",
        )
        .bind(model)
        .bind(day)
        .fetch_optional(&self.pool)
        .await?;
        row.as_ref().map(read_prices).transpose()
    }

    pub async fn remove_price(&self, model: &str, from: &str, by: &Actor) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        let removed = sqlx::query("DELETE FROM prices WHERE model = $1 AND from_day = $2")
            .bind(model)
            .bind(from)
            .execute(&mut *tx)
            .await?;
        if removed.rows_affected() == 0 {
            return Err(Error::not_found("price", format!("{model} from {from}")));
        }
        note(&mut tx, by, "price.remove", model, &format!("from {from}")).await?;
        tx.commit().await?;
        Ok(())
    }
}
