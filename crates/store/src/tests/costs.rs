//! The cost of evolutions and of runs includes all attempts.

use swe_ci_views::leaderboard::Effort;
use swe_ci_views::submission::EvolutionCost;

use super::*;
use crate::EvolutionRow;

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
        sqlx::query(STEPS).execute(&store.pool).await.unwrap();
        let costs = async || store.evolution_costs(&id).await.unwrap();
        assert_eq!(costs().await, [], "it has not ended");
        let end = "UPDATE evolutions SET ending = 'solved'";
        sqlx::query(end).execute(&store.pool).await.unwrap();
        let counted = Usage {
            input_tokens: 300,
            output_tokens: 10,
            ..Usage::default()
        };
        let expect = EvolutionCost {
            task: TaskId::new("a").unwrap(),
            ms: 7_500,
            usage: Some(counted),
        };
        assert_eq!(costs().await, [expect]);
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
    UNION ALL SELECT id, 5, 1, 'programmer', 1, '"cleared"', '', 9000, 9000, NULL, NULL, NULL, NULL FROM evolutions
"#;

/// A retry and a clearing are rows without costs, which hide none of the others'.
#[tokio::test]
async fn what_was_paid_is_known_after_a_retry_and_a_clearing() {
    on_both(async |store| {
        let id = run(&store, &[("a", 1.0)]).await;
        sqlx::query(PRICED).execute(&store.pool).await.unwrap();
        let totals = store.totals_of_run(&id).await.unwrap();
        let tokens = totals.usage().map(Usage::total);
        assert_eq!((tokens, totals.micro_usd()), (Some(330), Some(12)));
        let costs = store.costs_by_iteration(&id).await.unwrap();
        let costs: Vec<_> = costs
            .iter()
            .map(|one| (one.tokens, one.micro_usd))
            .collect();
        assert_eq!(costs, [(Some(330), Some(12))]);
    })
    .await;
}

/// Only scored evolutions count, and one step without a price leaves the cost
/// unknown.
#[tokio::test]
async fn what_scored_evolutions_took() {
    on_both(async |store| {
        let id = run(&store, &[("a", 1.0), ("b", 1.0)]).await;
        let execute = async |statement: &'static str| {
            sqlx::query(statement).execute(&store.pool).await.unwrap();
        };
        let effort = async || {
            let evolutions = store.evolutions_of_run(&id).await.unwrap();
            let efforts = store.efforts_of_run(&id).await.unwrap();
            let of = |evolution: &EvolutionRow| efforts.get(&evolution.id).copied();
            evolutions.iter().map(of).collect::<Vec<_>>()
        };
        assert_eq!(effort().await, [None, None]);
        execute("UPDATE evolutions SET ending = 'solved' WHERE task_id = 'b'").await;
        assert_eq!(effort().await, [None, None], "no agent has a step");
        execute(PRICED).await;
        execute("DELETE FROM steps WHERE evolution_id IN (SELECT id FROM evolutions WHERE task_id = 'b')").await;
        assert_eq!(effort().await, [None, None], "that of a is not scored");
        execute("UPDATE evolutions SET ending = 'solved' WHERE task_id = 'a'").await;
        let known = Effort {
            tokens: Some(330),
            micro_usd: Some(12),
            wall_ms: Some(7_000),
            agent_ms: Some(5_500),
        };
        let nothing = Effort {
            tokens: Some(0),
            micro_usd: Some(0),
            wall_ms: Some(0),
            agent_ms: Some(0),
        };
        assert_eq!(effort().await, [Some(known), Some(nothing)]);
        execute("UPDATE steps SET micro_usd = NULL WHERE seq = 3").await;
        let unpriced = Effort {
            micro_usd: None,
            ..known
        };
        assert_eq!(effort().await, [Some(unpriced), Some(nothing)]);
        execute("UPDATE steps SET input_tokens = NULL WHERE seq = 1").await;
        let uncounted = Effort {
            tokens: None,
            ..unpriced
        };
        assert_eq!(effort().await, [Some(uncounted), Some(nothing)]);
        execute("UPDATE evolutions SET ending = 'blocked' WHERE task_id = 'b'").await;
        assert_eq!(effort().await, [Some(uncounted), None]);
    })
    .await;
}
