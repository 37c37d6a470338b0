//! Deletion of runs and splits.

use super::imports::imported;
use super::*;
use crate::Unnamed;

const BY: &Actor = &Actor::Operator;

/// Two imported runs with the code `code/both`, each with one of its own.
async fn two_runs(store: &Store) -> [String; 2] {
    let mut ids = Vec::new();
    for own in ["code/1", "code/2"] {
        let mut run = imported(own, &[1, 2]);
        run.source = own.into();
        run.evolutions[0].iterations[0].code = "code/both".into();
        run.evolutions[0].iterations[1].code = own.into();
        ids.push(store.put_import(&run).await.unwrap().0);
    }
    ids.try_into().unwrap()
}

async fn evolutions(store: &Store, run_id: &str) -> Vec<String> {
    let rows = store.evolutions_of_run(run_id).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

#[tokio::test]
async fn a_deleted_run_leaves_what_others_have() {
    on_both(async |store| {
        let [first, second] = two_runs(&store).await;
        let before = store.changes().await.unwrap();
        let unnamed = Unnamed {
            evolutions: evolutions(&store, &first).await,
            artifacts: vec!["code/1".into()],
            tasks: Vec::new(),
        };
        assert_eq!(store.delete_run(&first, BY).await.unwrap(), unnamed);
        assert!(store.changes().await.unwrap() > before);
        assert!(matches!(
            store.run(&first).await,
            Err(Error::NotFound { .. })
        ));
        let again = store.delete_run(&first, BY).await;
        assert!(matches!(again, Err(Error::NotFound { .. })));
        let unnamed = store.delete_run(&second, BY).await.unwrap();
        let mut artifacts = unnamed.artifacts;
        artifacts.sort();
        assert_eq!(artifacts, ["code/2", "code/both"]);
    })
    .await;
}

#[tokio::test]
async fn a_run_that_is_needed_stays() {
    on_both(async |store| {
        let [first, second] = two_runs(&store).await;
        let refused = async |id: &str, why: &str| {
            let error = store.delete_run(id, BY).await.unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
        };
        let execute = async |sql: &'static str| {
            let done = sqlx::query(sql)
                .bind(first.as_str())
                .execute(&store.pool)
                .await;
            done.unwrap();
        };
        execute("UPDATE runs SET progress = 'running' WHERE id = $1").await;
        refused(&first, "is not over").await;
        execute("UPDATE runs SET progress = 'cancelled' WHERE id = $1").await;
        execute("UPDATE evolutions SET progress = 'running' WHERE run_id = $1").await;
        refused(&first, "still stopping").await;
        execute("UPDATE evolutions SET progress = 'finished' WHERE run_id = $1").await;
        execute("UPDATE evolutions SET start_run = $1 WHERE run_id <> $1").await;
        refused(&first, "go on with its code").await;
        execute("UPDATE evolutions SET start_run = NULL, progress = 'running' WHERE run_id <> $1")
            .await;
        refused(&first, "pause them").await;
        assert!(store.run(&second).await.is_ok());
    })
    .await;
}

#[tokio::test]
async fn a_split_goes_with_its_runs_and_its_own_tasks() {
    on_both(async |store| {
        two_runs(&store).await;
        store.put_task("other", 0, &task("b")).await.unwrap();
        let content = store.content_of_split("s").await.unwrap();
        assert_eq!((content.runs, content.tasks, content.snapshots), (2, 2, 0));
        let unnamed = store.delete_split("s", BY).await.unwrap();
        assert_eq!((unnamed.evolutions.len(), unnamed.artifacts.len()), (2, 3));
        assert_eq!(unnamed.tasks, ["a"]);
        let splits = store.splits().await.unwrap();
        assert_eq!(splits.len(), 1);
        assert_eq!(splits[0].tasks, 1);
        let again = store.delete_split("s", BY).await;
        assert!(matches!(again, Err(Error::NotFound { .. })));
        // A split of this name may come again.
        two_runs(&store).await;
    })
    .await;
}
