//! The cost of iterations and of runs includes all attempts.

use swe_ci_views::leaderboard::Effort;
use swe_ci_views::submission::IterationCost;

use super::*;

const STEPS: &str = r#"
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at,
                       input_tokens, output_tokens)
    SELECT id, 1, 1, 'architect', 1, '"agent_failed"', '', 1000, 3000, 100, 10 FROM evolutions
    UNION ALL SELECT id, 2, 1, 'architect', 2, '"done"', '', 3000, 7000, 200, NULL FROM evolutions
    UNION ALL SELECT id, 3, 1, 'test', 1, '"done"', '', 8000, 9000, NULL, NULL FROM evolutions
    UNION ALL SELECT id, 4, 2, 'test', 1, '"done"', '', 9000, 9500, NULL, NULL FROM evolutions
"#;

#[tokio::test]
async fn attempts_count_together() {
    on_both(async |store| {
        let id = run(&store, &[("a", 1.0)]).await;
        assert_eq!(store.iteration_costs(&id).await.unwrap(), []);
        sqlx::query(STEPS).execute(&store.pool).await.unwrap();
        let mut costs = store.iteration_costs(&id).await.unwrap();
        costs.sort_by_key(|cost| cost.ms);
        let counted = Usage {
            input_tokens: 300,
            output_tokens: 10,
            ..Usage::default()
        };
        let expect = [(500, None), (7_000, Some(counted))];
        assert_eq!(costs, expect.map(|(ms, usage)| IterationCost { ms, usage }));
    })
    .await;
}

const PRICED: &str = r#"
    INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, started_at, finished_at,
                       input_tokens, output_tokens, micro_usd, waiting_ms)
    SELECT id, 1, 1, 'architect', 1, '"agent_failed"', '', 1000, 3000, 100, 10, 5, 500 FROM evolutions
    UNION ALL SELECT id, 2, 1, 'architect', 1, '"retried"', '', 3000, 3000, NULL, NULL, NULL, NULL FROM evolutions
    UNION ALL SELECT id, 3, 1, 'architect', 2, '"done"', '', 3000, 7000, 200, 20, 7, NULL FROM evolutions
    UNION ALL SELECT id, 4, 1, 'test', 1, '"done"', '', 8000, 9000, NULL, NULL, NULL, NULL FROM evolutions
"#;

/// Only scored evolutions count, and one step without a price leaves the cost
/// unknown.
#[tokio::test]
async fn what_scored_evolutions_took() {
    on_both(async |store| {
        let id = run(&store, &[("a", 1.0), ("b", 1.0)]).await;
        let execute = async |statement: &'static str| {
            sqlx::query(statement).execute(&store.pool).await.unwrap();
        };
        assert_eq!(store.effort_of_run(&id).await.unwrap(), Effort::default());
        execute(PRICED).await;
        assert_eq!(store.effort_of_run(&id).await.unwrap(), Effort::default());
        execute("UPDATE evolutions SET ending = 'blocked' WHERE task_id = 'b'").await;
        execute("UPDATE evolutions SET ending = 'solved' WHERE task_id = 'a'").await;
        let known = Effort {
            tokens: Some(330),
            micro_usd: Some(12),
            wall_ms: Some(7_000),
            agent_ms: Some(5_500),
        };
        assert_eq!(store.effort_of_run(&id).await.unwrap(), known);
        execute("UPDATE steps SET micro_usd = NULL WHERE seq = 3").await;
        let unpriced = Effort {
            micro_usd: None,
            ..known
        };
        assert_eq!(store.effort_of_run(&id).await.unwrap(), unpriced);
        execute("UPDATE steps SET input_tokens = NULL WHERE seq = 1").await;
        let uncounted = Effort {
            tokens: None,
            ..unpriced
        };
        assert_eq!(store.effort_of_run(&id).await.unwrap(), uncounted);
    })
    .await;
}
