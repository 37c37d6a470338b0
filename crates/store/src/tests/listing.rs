//! Listings for feeds and search engines.

use swe_ci_core::run::Kind;

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

/// Names of the runs of a filter, newest first.
async fn listed(store: &Store, whose: &Whose, filter: &RunFilter, limit: u32) -> Vec<String> {
    let runs = store.runs(whose, filter, "", limit).await.unwrap();
    runs.into_iter().map(|run| run.config.model).collect()
}

#[tokio::test]
async fn runs_are_listed_by_filters() {
    on_both(async |store| {
        for split in ["s", "t"] {
            store.put_task(split, 0, &task("a")).await.unwrap();
        }
        for (model, split, owner, progress, visibility) in [
            ("Älbatross 1", "s", "ada", "finished", "public"),
            ("Bramble", "t", "ada", "running", "private"),
            ("Cobalt", "s", "bob", "running", "public"),
            ("Albatross 2", "t", "bob", "finished", "private"),
        ] {
            let id = run(&store, &[("a", 1.0)]).await;
            set_owner(&store, &id, owner, progress).await;
            let config = RunConfig {
                model: model.into(),
                ..RunConfig::human(split)
            };
            sqlx::query("UPDATE runs SET config = $1, split = $2, visibility = $3 WHERE id = $4")
                .bind(serde_json::to_string(&config).unwrap())
                .bind(split)
                .bind(visibility)
                .bind(&id)
                .execute(&store.pool)
                .await
                .unwrap();
        }
        let filter = RunFilter::default();
        let check = async |whose: &Whose, filter: &RunFilter, expect: &[&str]| {
            let found = listed(&store, whose, filter, 9).await;
            assert_eq!(found, expect, "{whose:?} {filter:?}");
        };
        let [ada, own] = [Whose::Of("ada".into()), Whose::Own("ada".into())];
        let all = ["Albatross 2", "Cobalt", "Bramble", "Älbatross 1"];
        check(&Whose::All, &filter, &all).await;
        check(&Whose::Public, &filter, &["Cobalt", "Älbatross 1"]).await;
        check(&ada, &filter, &["Cobalt", "Bramble", "Älbatross 1"]).await;
        check(&own, &filter, &["Bramble", "Älbatross 1"]).await;
        let running = RunFilter {
            progress: Some(Progress::Running),
            ..RunFilter::default()
        };
        check(&Whose::All, &running, &["Cobalt", "Bramble"]).await;
        check(&own, &running, &["Bramble"]).await;
        let mut filter = RunFilter {
            text: "älbatross".into(),
            ..RunFilter::default()
        };
        check(&Whose::All, &filter, &["Älbatross 1"]).await;
        filter.text = "BATROSS".into();
        check(&Whose::All, &filter, &["Albatross 2", "Älbatross 1"]).await;
        assert_eq!(
            listed(&store, &Whose::All, &filter, 1).await,
            ["Albatross 2"]
        );
        filter.split = Some("s".into());
        check(&Whose::All, &filter, &["Älbatross 1"]).await;
        filter.text = "nobody".into();
        check(&Whose::All, &filter, &[]).await;
        filter.text.clear();
        filter.kinds = vec![Kind::Imported];
        check(&Whose::All, &filter, &[]).await;
        filter.kinds.push(Kind::Human);
        check(&Whose::All, &filter, &["Cobalt", "Älbatross 1"]).await;
    })
    .await;
}

/// Words are looked for in some runs at a time.
#[tokio::test]
async fn the_oldest_of_many_runs_is_found() {
    on_both(async |store| {
        let oldest = run(&store, &[("a", 1.0)]).await;
        let config = RunConfig {
            model: "Oldest".into(),
            ..RunConfig::human("s")
        };
        sqlx::query("UPDATE runs SET config = $1")
            .bind(serde_json::to_string(&config).unwrap())
            .execute(&store.pool)
            .await
            .unwrap();
        for _ in 0..300 {
            run(&store, &[]).await;
        }
        let filter = RunFilter {
            text: "oldest".into(),
            ..RunFilter::default()
        };
        assert_eq!(listed(&store, &Whose::All, &filter, 9).await, ["Oldest"]);
        let after = store.runs(&Whose::All, &filter, &oldest, 9).await.unwrap();
        assert!(after.is_empty());
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
