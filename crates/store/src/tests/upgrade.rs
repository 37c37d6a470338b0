//! Databases written by earlier versions.

use sqlx::migrate::Migrator;

use super::*;
use crate::SchemaCheck;
use crate::migrations::{LATEST, migrator};

/// Two tasks and an evolution in the first schema.
const FIRST_SCHEMA: &str = r#"
    INSERT INTO splits (name, created_at) VALUES ('s', 1);
    INSERT INTO tasks (id, repo, base_sha, target_sha, state, reason, image, base_in_target, target_passed, base_passed,
                       suite_seconds, commits, span_days, tests, base_outcomes, extra, imported_at)
    VALUES ('a', 'r', 'aa', 'bb', 'ready', '', 'sha256:0', 1, 2, 3, 0.5, 4, 1.5, '["t1","t2"]', 'pf', '[]', 1);
    INSERT INTO split_tasks (split, task_id, position) VALUES ('s', 'a', 0);
    INSERT INTO runs (id, split, kind, config, provenance, progress, created_at)
    VALUES ('run', 's', 'human',
            '{"model":"m","kind":"human","harness":{"name":"replay","max_chunks":4},"split":"s"}',
            '{"platform_version":"0.1.0","metric_version":1,"dataset_digest":"","harness_version":"1"}', 'finished', 1);
    INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds, queued_at,
                            at_iteration, at_role, at_attempt)
    VALUES ('e', 'run', 'a', 1, 'finished', 'solved', 0, 1.0, 1, 1, 'architect', 1);
"#;

/// A look at a database before an upgrade names what is pending, and changes
/// nothing.
#[tokio::test]
async fn a_check_tells_what_an_upgrade_would_change() {
    on_both_urls(async |url| {
        sqlx::any::install_default_drivers();
        let fresh = SchemaCheck::of(&url).await.unwrap();
        assert_eq!((fresh.found, fresh.own), (None, LATEST));
        assert!(fresh.can_open() && fresh.pending.len() == migrator().iter().count());
        if let Some(file) = url.strip_prefix("sqlite:") {
            let file = file.strip_suffix("?mode=rwc").unwrap();
            assert!(!std::path::Path::new(file).exists());
        }

        let old = sqlx::AnyPool::connect(&url).await.unwrap();
        let all_but_one = migrator().iter().cloned().rev().skip(1).collect::<Vec<_>>();
        let first = Migrator::with_migrations(all_but_one.into_iter().rev().collect());
        first.run(&old).await.unwrap();
        for _ in 0..2 {
            let older = SchemaCheck::of(&url).await.unwrap();
            assert!(older.can_open());
            assert_eq!(
                older.found,
                migrator().iter().rev().nth(1).map(|m| m.version)
            );
            let [pending] = &older.pending[..] else {
                panic!("{older:?}");
            };
            assert_eq!(pending.version, LATEST);
            assert!(!pending.name.is_empty() && pending.purpose.ends_with('.'));
        }

        Store::open(&url).await.unwrap().pool.close().await;
        let same = SchemaCheck::of(&url).await.unwrap();
        assert_eq!((same.found, same.can_open()), (Some(LATEST), true));
        assert_eq!(same.pending, []);

        let change = async |sql: &'static str| {
            sqlx::query(sql).execute(&old).await.unwrap();
            SchemaCheck::of(&url).await.unwrap()
        };
        let newer = change(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             SELECT version + 1, 'later', success, checksum, 0 FROM _sqlx_migrations
             ORDER BY version DESC LIMIT 1",
        )
        .await;
        assert!(!newer.can_open());
        assert_eq!((newer.unknown.len(), &*newer.unknown[0].name), (1, "later"));
        assert_eq!(newer.found, Some(LATEST + 1));
        let opened = Store::open(&url).await;
        let Err(Error::Conflict(why)) = opened else {
            panic!("{opened:?}");
        };
        for part in [
            &*format!("has schema {}", LATEST + 1),
            "it is the older one",
            "install the program that has migrated the database",
        ] {
            assert!(why.contains(part), "{why}");
        }

        let half = change("UPDATE _sqlx_migrations SET success = false WHERE version = 3").await;
        let broken: Vec<i64> = half.broken.iter().map(|step| step.version).collect();
        assert_eq!(broken, [3]);
        let other = "UPDATE _sqlx_migrations SET success = true,
                     checksum = (SELECT checksum FROM _sqlx_migrations WHERE version = 1)";
        let altered = change(other).await;
        assert_eq!(altered.broken.len(), migrator().iter().count() - 1);
        old.close().await;
    })
    .await;
}

/// The migrations to the current schema lose no measured data.
#[tokio::test]
async fn the_first_schema_is_migrated() {
    on_both_urls(async |url| {
        sqlx::any::install_default_drivers();
        let old = sqlx::AnyPool::connect(&url).await.unwrap();
        let first = Migrator::with_migrations(migrator().iter().take(1).cloned().collect());
        first.run(&old).await.unwrap();
        sqlx::raw_sql(FIRST_SCHEMA).execute(&old).await.unwrap();
        old.close().await;

        let store = Store::open(&url).await.unwrap();

        let task = store.task(&TaskId::new("a").unwrap()).await.unwrap();
        assert_eq!(task.suite.tests.node_ids(), ["t1", "t2"]);
        let counts = SuiteCounts {
            base_in_target: 1,
            target: 2,
            base_passed: 3,
            counts_only: false,
        };
        assert_eq!(task.suite.counts, counts);
        let evolution = store.evolution("e").await.unwrap();
        assert_eq!(evolution.counts, counts);
        let suite = store.suite(&evolution.suite).await.unwrap();
        assert_eq!(suite, task.suite);
        let pinned = evolution.pinned.unwrap();
        assert_eq!(
            [&*pinned.base_sha, &pinned.target_sha, &pinned.image],
            ["aa", "bb", "sha256:0"]
        );
        let report = "tasks/a/base-report.json.zst";
        assert_eq!(pinned.base_report.as_deref(), Some(report));
        let run = store.run("run").await.unwrap();
        assert_eq!(run.config.release_date, None);
        assert_eq!(store.provenance("run").await.unwrap().imported, None);
        store.pool.close().await;
    })
    .await;
}

/// A task that was prepared again before its commits were pinned tells nothing
/// about the evolutions before that.
#[tokio::test]
async fn only_tasks_that_agree_are_pinned() {
    on_both_urls(async |url| {
        sqlx::any::install_default_drivers();
        let old = sqlx::AnyPool::connect(&url).await.unwrap();
        let up_to = |last: usize| {
            Migrator::with_migrations(migrator().iter().take(last).cloned().collect())
        };
        up_to(1).run(&old).await.unwrap();
        sqlx::raw_sql(FIRST_SCHEMA).execute(&old).await.unwrap();
        up_to(16).run(&old).await.unwrap();
        let again = "
            INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
            VALUES ('new', 0, 1, 1, 0, '[\"t1\"]', 'f');
            UPDATE tasks SET suite = 'new', base_sha = 'cc';
        ";
        sqlx::raw_sql(again).execute(&old).await.unwrap();
        old.close().await;

        let store = Store::open(&url).await.unwrap();
        let evolution = store.evolution("e").await.unwrap();
        assert_eq!(evolution.pinned, None);
        let task = store.task_of_evolution(&evolution).await.unwrap();
        assert_eq!((&*task.base_sha, task.suite.tests.len()), ("cc", 2));
        store.pool.close().await;
    })
    .await;
}
