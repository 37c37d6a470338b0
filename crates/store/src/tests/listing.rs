//! Listings for feeds and search engines.

use super::*;

#[tokio::test]
async fn the_latest_result_comes_first() {
    on_both(async |store| {
        for name in ["b", "a"] {
            store.put_task("s", 0, &task(name)).await.unwrap();
        }
        let older = run(&store, &[("a", 1.0)]).await;
        let younger = run(&store, &[("a", 1.0)]).await;
        let waiting = run(&store, &[("b", 1.0)]).await;
        let latest = async |limit| store.latest_results(limit).await.unwrap();
        assert!(latest(9).await.is_empty());
        for (id, over) in [(&older, 2_000_i64), (&younger, 1_000)] {
            sqlx::query("UPDATE runs SET progress = 'finished', finished_at = $1 WHERE id = $2")
                .bind(over)
                .bind(id)
                .execute(&store.pool)
                .await
                .unwrap();
        }
        assert_eq!(latest(9).await, [older.clone(), younger.clone()]);
        assert_eq!(latest(1).await, latest(9).await[..1]);

        let runs = store.list_runs().await.unwrap();
        let ids: Vec<&str> = runs.iter().map(|run| run.run_id.as_str()).collect();
        assert_eq!(ids, [&waiting, &younger, &older]);
        assert_eq!(runs[2].finished_at.as_deref(), Some("1970-01-01T00:00:02Z"));
        assert_eq!(runs[0].finished_at, None);
        assert_eq!(store.list_tasks().await.unwrap(), ["a", "b"]);
    })
    .await;
}

#[tokio::test]
async fn the_unfinished_runs_of_an_account_are_counted() {
    on_both(async |store| {
        store.put_task("s", 0, &task("a")).await.unwrap();
        let ids = [
            run(&store, &[("a", 1.0)]).await,
            run(&store, &[("a", 1.0)]).await,
            run(&store, &[("a", 1.0)]).await,
        ];
        let unfinished = async || store.unfinished_runs("ada").await.unwrap();
        assert_eq!(unfinished().await, 0);
        for (id, owner, progress) in [
            (&ids[0], "ada", "queued"),
            (&ids[1], "ada", "running"),
            (&ids[2], "bob", "queued"),
        ] {
            set_owner(&store, id, owner, progress).await;
        }
        assert_eq!(unfinished().await, 2);
        set_owner(&store, &ids[0], "ada", "cancelled").await;
        set_owner(&store, &ids[1], "ada", "finished").await;
        assert_eq!(unfinished().await, 0);
    })
    .await;
}

async fn set_owner(store: &Store, id: &str, owner: &str, progress: &str) {
    sqlx::query("UPDATE runs SET owner = $1, progress = $2 WHERE id = $3")
        .bind(owner)
        .bind(progress)
        .bind(id)
        .execute(&store.pool)
        .await
        .unwrap();
}
