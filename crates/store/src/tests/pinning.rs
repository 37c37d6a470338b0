//! A run keeps what it was started on, whatever happens to its tasks.

use swe_ci_core::finding::Unranked;
use swe_ci_core::task::TestCommand;
use swe_ci_views::card::TaskOnCard;

use super::imports::imported;
use super::*;
use crate::PinnedTask;

#[tokio::test]
async fn a_task_prepared_again_changes_no_evolution() {
    on_both(async |store| {
        let before = TaskRow {
            base_report: Some("report-before".into()),
            test_command: TestCommand::Reference,
            ..task("a")
        };
        let run_id = run(&store, &[("a", 1.0)]).await;
        // `run` has stored the task without its report.
        let evolution = store.evolutions_of_run(&run_id).await.unwrap().remove(0);
        assert_eq!(evolution.pinned.unwrap().base_report, None);
        store.put_task("s", 0, &before).await.unwrap();
        let config = RunConfig {
            samples: 2,
            ..RunConfig::human("s")
        };
        let new = NewRun {
            standing: Standing::default(),
            grant: RunPermissions::default(),
            config,
            provenance: Provenance::default(),
            tasks: vec![(before.id.clone(), 9.0)],
            preflight: false,
            forget_keys: false,
        };
        let run_id = store.insert_run(&new, &Actor::Operator).await.unwrap();

        let after = TaskRow {
            base_sha: "c".repeat(40),
            target_sha: "d".repeat(40),
            image: "sha256:1".into(),
            base_report: Some("report-after".into()),
            test_command: TestCommand::PLATFORM,
            suite: Suite::none(),
            ..before.clone()
        };
        store.put_task("s", 0, &after).await.unwrap();

        // It is the first run's turn, then that of the second one.
        store.claim("w/1", 60_000).await.unwrap().unwrap();
        let claim = store.claim("w/1", 60_000).await.unwrap().unwrap();
        assert_eq!(claim.run_id, run_id);
        let evolution = store.evolution(&claim.evolution_id).await.unwrap();
        let pinned = PinnedTask {
            base_sha: before.base_sha.clone(),
            target_sha: before.target_sha.clone(),
            image: before.image.clone(),
            base_report: before.base_report.clone(),
            test_command: before.test_command.clone(),
        };
        assert_eq!(evolution.pinned, Some(pinned));
        let ends = |row: &TaskRow| {
            let suite = row.suite.clone();
            (
                row.ends().map(str::to_owned),
                suite,
                row.base_report.clone(),
                row.test_command.clone(),
            )
        };
        let of_evolution = store.task_of_evolution(&evolution).await.unwrap();
        assert_eq!(ends(&of_evolution), ends(&before));
        let of_today = store.task(&before.id).await.unwrap();
        assert_eq!(ends(&of_today), ends(&after));

        let on_card = store.tasks_of_run(&run_id).await.unwrap();
        let commands: Vec<_> = on_card
            .iter()
            .map(|task| task.test_command.clone())
            .collect();
        let [
            TaskOnCard {
                task_id,
                base_sha,
                target_sha,
                image,
                ..
            },
        ] = &on_card[..]
        else {
            panic!("{on_card:?}");
        };
        let image = image.as_deref().unwrap();
        assert_eq!(
            [task_id.as_str(), base_sha, target_sha, image],
            before.ends()
        );
        assert_eq!(commands, [before.test_command]);
        assert_eq!(store.images_at_work().await.unwrap(), ["sha256:0"]);
        let all = ["sha256:0", "sha256:1"];
        assert_eq!(store.task_images().await.unwrap(), all);
    })
    .await;
}

#[tokio::test]
async fn splits_and_runs_keep_their_revision_of_a_task() {
    on_both(async |store| {
        let run_id = run(&store, &[("a", 1.0), ("b", 1.0)]).await;
        let before = store.tasks_of_split("s").await.unwrap();
        let other = TaskRow {
            base_sha: "c".repeat(40),
            image: "sha256:1".into(),
            ..task("a")
        };
        store.put_task("other", 0, &other).await.unwrap();

        let ends = |rows: &[TaskRow]| -> Vec<_> {
            rows.iter()
                .map(|row| row.ends().map(str::to_owned))
                .collect()
        };
        let kept = store.tasks_of_split("s").await.unwrap();
        assert_eq!(ends(&kept), ends(&before));
        let new = store.tasks_of_split("other").await.unwrap();
        assert_eq!(ends(&new), [other.ends()]);
        let summaries = store.task_summaries(Some("s")).await.unwrap();
        assert_eq!(summaries[0].base_sha, before[0].base_sha);
        assert_eq!(store.task_summaries(None).await.unwrap().len(), 2);
        // The name alone means what was imported last.
        assert_eq!(
            ends(&[store.task(&other.id).await.unwrap()]),
            [other.ends()]
        );
        assert_eq!(
            store.splits_of_task(&other.id, "").await.unwrap(),
            ["other"]
        );
        let others = store.other_revisions_of(&other.id, "").await.unwrap();
        assert_eq!((others.len(), &*others[0].split), (1, "s"));
        assert_eq!(others[0].base_sha, before[0].base_sha);
        // And with a split what that one lists.
        let in_split = store.task_of_split(&other.id, "s").await.unwrap();
        assert_eq!(ends(&[in_split]), [before[0].ends()]);
        assert_eq!(store.splits_of_task(&other.id, "s").await.unwrap(), ["s"]);
        let others = store.other_revisions_of(&other.id, "s").await.unwrap();
        assert_eq!((others.len(), &*others[0].split), (1, "other"));
        assert!(store.task_of_split(&other.id, "none").await.is_err());
        let revisions = store.revisions_of_task(&other.id, "s").await.unwrap();
        assert_eq!(ends(&revisions), [before[0].ends(), other.ends()]);

        // A run belongs beside those with its content alone.
        let set_aside = async || store.run(&run_id).await.unwrap().set_aside;
        assert_eq!(set_aside().await, None);
        store.put_task("s", 0, &other).await.unwrap();
        let tasks = 1;
        assert_eq!(set_aside().await, Some(Unranked::OtherRevisions { tasks }));
        assert_eq!(store.other_revisions_of(&other.id, "").await.unwrap(), []);
        let evolution = store.evolutions_of_run(&run_id).await.unwrap().remove(0);
        let pinned = store.task_of_evolution(&evolution).await.unwrap();
        assert_eq!(ends(&[pinned]), [before[0].ends()]);
        store.put_task("s", 0, &before[0]).await.unwrap();
        assert_eq!(set_aside().await, None);
    })
    .await;
}

#[tokio::test]
async fn an_unknown_task_has_no_run() {
    on_both(async |store| {
        store.put_task("s", 0, &task("a")).await.unwrap();
        let new = NewRun {
            standing: Standing::default(),
            grant: RunPermissions::default(),
            config: RunConfig::human("s"),
            provenance: Provenance::default(),
            tasks: vec![(TaskId::new("b").unwrap(), 1.0)],
            preflight: false,
            forget_keys: false,
        };
        let refused = store.insert_run(&new, &Actor::Operator).await;
        assert!(matches!(refused, Err(Error::NotFound { .. })));
    })
    .await;
}

/// Of results from elsewhere the commits are known, perhaps shortened.
#[tokio::test]
async fn imported_results_are_of_the_commits_they_name() {
    on_both(async |store| {
        let mut results = imported("d", &[7]);
        for task in &mut results.tasks {
            task.base_sha.truncate(10);
        }
        let (id, _) = store.put_import(&results).await.unwrap();
        store.put_task("s", 0, &task("a")).await.unwrap();
        let set_aside = async || store.leaderboard_run(&id).await.unwrap().set_aside;
        assert_eq!(set_aside().await, None);
        assert_eq!(store.evolutions_of_run(&id).await.unwrap()[0].pinned, None);
        let other = TaskRow {
            base_sha: "c".repeat(40),
            ..task("a")
        };
        store.put_task("s", 0, &other).await.unwrap();
        assert_eq!(
            set_aside().await,
            Some(Unranked::OtherRevisions { tasks: 1 })
        );
    })
    .await;
}
