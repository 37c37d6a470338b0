//! What a run has left in the database.

use std::collections::BTreeMap;

use sqlx::{Connection, PgConnection, Row};

use crate::cluster::{Cluster, home};
use crate::{load, worker};

pub async fn connect(cluster: &Cluster) -> PgConnection {
    let url = cluster.env("SWE_CI_DATABASE_URL");
    PgConnection::connect(url).await.unwrap()
}

pub async fn is_over(database: &mut PgConnection, run: &str) -> bool {
    let progress = sqlx::query_scalar("SELECT progress FROM runs WHERE id = $1");
    let progress: String = progress.bind(run).fetch_one(database).await.unwrap();
    !matches!(progress.as_str(), "queued" | "running")
}

/// Evolutions of a run that have ended.
pub async fn ended(database: &mut PgConnection, run: &str) -> usize {
    let count = "SELECT count(*) FROM evolutions WHERE run_id = $1 AND ending IS NOT NULL";
    let count: i64 = sqlx::query_scalar(count)
        .bind(run)
        .fetch_one(database)
        .await
        .unwrap();
    usize::try_from(count).unwrap()
}

/// Requests to the model as the steps of a run count them, and as its budget does.
pub async fn requests(cluster: &Cluster, run: &str) -> (i64, i64) {
    let mut connection = connect(cluster).await;
    let counts = sqlx::query_as(
        "SELECT (SELECT coalesce(sum(s.requests), 0)::bigint FROM steps s JOIN evolutions e ON e.id = s.evolution_id
                 WHERE e.run_id = $1),
                (SELECT requests FROM run_spending WHERE run_id = $1)",
    );
    counts.bind(run).fetch_one(&mut connection).await.unwrap()
}

/// The whole result of each evolution, without times and names: how it ended,
/// its steps in order, its iterations. What failed for the platform's sake and
/// was done again is no part of it.
const RESULTS: &str = "
    SELECT e.task_id, concat_ws(' ', e.progress, e.ending,
        (SELECT string_agg(concat_ws(' ', s.iteration, s.role, s.outcome), ', ' ORDER BY s.seq)
         FROM steps s WHERE s.evolution_id = e.id AND s.outcome NOT LIKE '%infra_failed%'), '|',
        (SELECT string_agg(concat_ws(' ', i.iteration, i.verdict, i.passed, i.lost, i.gained, i.outcomes), ', '
                ORDER BY i.iteration)
         FROM iterations i WHERE i.evolution_id = e.id)) AS result
    FROM evolutions e WHERE e.run_id = $1 ORDER BY e.task_id";

async fn results(cluster: &Cluster, run: &str) -> Vec<(String, String)> {
    let mut connection = connect(cluster).await;
    let rows = sqlx::query(RESULTS).bind(run).fetch_all(&mut connection);
    let rows = rows.await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

/// The results, by task, of one worker to which nothing happens.
async fn undisturbed(cluster: &Cluster, iterations: u32) -> BTreeMap<String, String> {
    let known = cluster.folder().join(format!("undisturbed-{iterations}"));
    if !known.exists() {
        let run = load::submit(cluster, &format!("undisturbed {iterations}"), iterations, 1);
        let mut workers = [cluster.worker("n1")];
        cluster.until_over(&run).await;
        worker::end_all(&mut workers).await;
        std::fs::write(&known, run).unwrap();
    }
    let run = std::fs::read_to_string(&known).unwrap();
    results(cluster, &run).await.into_iter().collect()
}

/// Every evolution of a run ended once, with the rows that one worker on one
/// machine would have left: each step was recorded once, and each verdict is
/// the same, so that the scores are too.
pub async fn as_undisturbed(cluster: &Cluster, run: &str, iterations: u32, evolutions: usize) {
    let expected = undisturbed(cluster, iterations).await;
    let all = results(cluster, run).await;
    assert_eq!(all.len(), evolutions);
    for (task, result) in all {
        assert_eq!(result, expected[&task], "{task}");
    }
}

/// The process on a node that works on an evolution of a run, if one does.
pub async fn at_work(cluster: &Cluster, run: &str, node: &str) -> Option<String> {
    let instance = std::fs::read_to_string(home().join(node).join("data/worker/instance")).ok()?;
    let mut connection = connect(cluster).await;
    let worker = sqlx::query_scalar(
        "SELECT worker FROM evolutions WHERE run_id = $1 AND progress = 'running' AND starts_with(worker, $2)",
    );
    let worker = worker
        .bind(run)
        .bind(instance.trim())
        .fetch_optional(&mut connection);
    worker.await.unwrap()
}

/// How often the evolutions of a run were claimed, all together.
pub async fn claims(cluster: &Cluster, run: &str) -> i64 {
    let mut connection = connect(cluster).await;
    let sum =
        sqlx::query_scalar("SELECT CAST(sum(claim) AS BIGINT) FROM evolutions WHERE run_id = $1");
    sum.bind(run).fetch_one(&mut connection).await.unwrap()
}

/// When evolutions of a run were queued, begun and ended, in milliseconds.
pub async fn times(cluster: &Cluster, run: &str) -> Vec<(i64, i64, i64)> {
    let mut connection = connect(cluster).await;
    let rows = sqlx::query_as(
        "SELECT queued_at, started_at, finished_at FROM evolutions WHERE run_id = $1 ORDER BY started_at",
    );
    rows.bind(run).fetch_all(&mut connection).await.unwrap()
}
