//! The list of runs, filtered.

use swe_ci_base::error::Result;
use swe_ci_core::run::{Progress, RunConfig};
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::RunSummary;

use super::Store;
use super::rows::columns::Columns;
use super::rows::runs::read_run_summary;
use super::runs::{ITERATIONS, select_summary};
use super::sql::{composed, list_of, query};

/// The runs to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// The public ones.
    Public,
    /// The public ones and those of this account.
    Of(String),
    /// Those of this account.
    Own(String),
    All,
}

/// Runs whose names are searched together.
const SEARCHED_AT_ONCE: u32 = 256;

impl Store {
    /// The runs of a filter, newest first, older than the run `before` (a run
    /// id; empty for the newest). Run ids rise with time. `whose` stands for the
    /// filter's `mine`. Iterations of finished runs are not counted: their
    /// stored counts have the number.
    pub async fn runs(
        &self,
        whose: &Whose,
        filter: &RunFilter,
        before: &str,
        limit: u32,
    ) -> Result<Vec<RunSummary>> {
        let ids = self.run_ids(whose, filter, before, limit).await?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let of_ids = list_of(ids.len());
        let select = select_summary(&format!(
            "CASE r.progress WHEN 'finished' THEN 0 ELSE {ITERATIONS} END"
        ));
        composed(format!(
            "{select} WHERE r.id IN {of_ids} ORDER BY r.id DESC"
        ))
        .with(ids.as_slice())
        .all(&self.pool, read_run_summary)
        .await
    }

    /// Names are searched here: databases differ in what a letter's other case
    /// is.
    async fn run_ids(
        &self,
        whose: &Whose,
        filter: &RunFilter,
        before: &str,
        limit: u32,
    ) -> Result<Vec<String>> {
        let (shown, owner) = match whose {
            Whose::Public => ("public", ""),
            Whose::Of(id) => ("public", id.as_str()),
            Whose::Own(id) => ("own", id.as_str()),
            Whose::All => ("all", ""),
        };
        let at_once = match filter.is_about_config() {
            true => SEARCHED_AT_ONCE,
            false => limit,
        };
        let (mut before, mut found) = (before.to_owned(), Vec::new());
        loop {
            let statement = query(
                "SELECT id, config FROM runs
                 WHERE ($1 = '' OR id < $1)
                   AND ($2 = 'all' OR owner = $3 OR ($2 = 'public' AND visibility = 'public'))
                   AND ($4 = '' OR progress = $4) AND ($5 = '' OR split = $5)
                 ORDER BY id DESC LIMIT $6",
            );
            let part: Vec<(String, RunConfig)> = statement
                .with((&before, shown, owner))
                .with(filter.progress.map_or("", Progress::name))
                .with((filter.split.as_deref().unwrap_or_default(), at_once))
                .all(&self.pool, |row| Ok((row.read("id")?, row.read("config")?)))
                .await?;
            let more = part.len() == at_once as usize;
            if let Some((last, _)) = part.last() {
                before.clone_from(last);
            }
            let matching = part.into_iter().filter(|(_, config)| filter.finds(config));
            found.extend(matching.map(|(id, _)| id));
            if !more || found.len() >= limit as usize {
                found.truncate(limit as usize);
                return Ok(found);
            }
        }
    }
}
