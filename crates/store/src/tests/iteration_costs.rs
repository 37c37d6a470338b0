//! The cost of iterations includes all attempts.

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
