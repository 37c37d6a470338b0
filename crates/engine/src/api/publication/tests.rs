//! A private run does not exist for others, in any part of the façade.

use serde_json::json;
use sqlx::Connection;
use swe_ci_base::code::CodeTree;
use swe_ci_base::error::{Error, Result};
use swe_ci_core::agent::{Endpoint, HarnessConfig, Protocol};
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::run::{Kind, RunConfig};
use swe_ci_core::step::Role;
use swe_ci_core::task::TaskId;
use swe_ci_store::testing::account;
use swe_ci_views::account::{AccountRole, Actor};
use swe_ci_views::conversation::Window;
use swe_ci_views::leaderboard::GateRules;
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::Provenance;

use crate::{Config, Engine, PageRequest};

/// One finished task, done by two models in a run each, named `mine` and
/// `other` like their models; `mine` is a private run of ada's.
const ROWS: &str = r#"
    INSERT INTO splits (name, created_at) VALUES ('s', 1);
    INSERT INTO suites (id, base_in_target, target_passed, base_passed, counts_only, tests, base_outcomes)
        VALUES ('u', 0, 1, 0, 0, '["a"]', 'f');
    INSERT INTO tasks (id) VALUES ('t');
    INSERT INTO task_revisions (id, repo, base_sha, target_sha, state, reason, image, suite, suite_seconds,
                                commits, span_days, extra, imported_at)
        VALUES ('t', 'r', 'a', 'b', 'ready', '', '', 'u', 1.0, 1, 1.0, '[]', 1);
    INSERT INTO split_tasks (split, task_id, position) VALUES ('s', 't', 1);
"#;

async fn engine_with_runs(folder: &std::path::Path) -> Engine {
    let engine = Engine::open(Config::new(folder.to_owned())).await.unwrap();
    let mut code = CodeTree::default();
    code.insert_file("a.py", "1\n");
    let artifacts = &engine.artifacts;
    let code = artifacts
        .put_code(&std::sync::Arc::new(code))
        .await
        .unwrap();
    let log = artifacts.put("log", b"1\n".to_vec()).await.unwrap();
    let said = artifacts.put("said", Vec::new()).await.unwrap();
    let mut rows = ROWS.to_owned();
    for (name, standing) in [("mine", "'ada', 'private'"), ("other", "NULL, 'public'")] {
        let config = serde_json::to_string(&config(name)).unwrap();
        let provenance = serde_json::to_string(&Provenance::default()).unwrap();
        rows.push_str(&format!(
            "INSERT INTO runs (id, split, kind, config, provenance, progress, created_at, finished_at, owner, visibility)
                 VALUES ('{name}', 's', 'measured', '{config}', '{provenance}', 'finished', 1, 2, {standing});
             INSERT INTO evolutions (id, run_id, task_id, sample, progress, ending, lease_until, expected_seconds,
                                     queued_at, at_iteration, at_role, at_attempt, suite)
                 VALUES ('{name}-e', '{name}', 't', 1, 'finished', 'solved', 0, 1.0, 1, 1, 'test', 1, 'u');
             INSERT INTO iterations (evolution_id, iteration, verdict, in_target, passed, lost, gained, outcomes,
                                     findings, code, test_seconds, finished_at)
                 VALUES ('{name}-e', 1, 'scored', 1, 1, 0, 1, 'p', '[]', '{code}', 1.0, 2);
             INSERT INTO steps (evolution_id, seq, iteration, role, attempt, outcome, detail, log, trajectory,
                                started_at, finished_at)
                 VALUES ('{name}-e', 1, 1, 'programmer', 1, '\"done\"', '', '{log}', '{said}', 1, 2);"
        ));
    }
    let url = format!("sqlite:{}", folder.join("swe-ci.sqlite").display());
    let mut database = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let rows = sqlx::raw_sql(sqlx::AssertSqlSafe(rows));
    rows.execute(&mut database).await.unwrap();
    engine
}

fn config(model: &str) -> RunConfig {
    RunConfig {
        model: model.into(),
        kind: Kind::Measured,
        harness: HarnessConfig::Builtin,
        endpoint: Some(Endpoint {
            protocol: Protocol::Chat,
            url: "https://api.example.org/v1".into(),
            model: model.into(),
            key: None,
            ..Endpoint::default()
        }),
        ..RunConfig::human("s")
    }
}

/// Whether a query about `mine` was answered; otherwise it was not found.
fn is_visible<T>(asked: Result<T>) -> bool {
    match asked {
        Ok(_) => true,
        Err(Error::NotFound { .. }) => false,
        Err(other) => panic!("{other:?}"),
    }
}

/// The queries about `mine`, and whether they are answered.
async fn asked(engine: &Engine) -> Vec<(&'static str, bool)> {
    let (id, e, task) = ("mine", "mine-e", TaskId::new("t").unwrap());
    let (gamma, convention, role) = (Gamma::ONE, Convention::Paper, Role::Programmer);
    let both = [id.to_owned(), "other".to_owned()];
    let (all, first) = (RunFilter::default(), PageRequest::default());
    let list = engine.runs(&all, &first).await.unwrap();
    let window = Window::default();
    vec![
        (
            "runs",
            list.items.iter().any(|run| run.summary.run_id == id),
        ),
        ("run", is_visible(engine.run(id).await)),
        ("card", is_visible(engine.card(id).await)),
        ("configuration", is_visible(engine.configuration(id).await)),
        (
            "scores",
            is_visible(engine.scores(id, gamma, convention).await),
        ),
        (
            "evolution",
            is_visible(engine.evolution(id, &task, 1).await),
        ),
        ("inspect", is_visible(engine.inspect(id, &task, 1, 1).await)),
        ("steps", is_visible(engine.steps(e).await)),
        ("iteration", is_visible(engine.iteration(e, 1).await)),
        (
            "inspect_iteration",
            is_visible(engine.inspect_iteration(e, 1).await),
        ),
        ("code_change", is_visible(engine.code_change(e, 1).await)),
        ("log_file", is_visible(engine.log_file(e, 1, role, 1).await)),
        (
            "recording_file",
            is_visible(engine.recording_file(e, 1, role, 1).await),
        ),
        (
            "trajectory_file",
            is_visible(engine.trajectory_file(e, 1, role, 1).await),
        ),
        (
            "messages",
            is_visible(engine.messages(e, 1, role, None, window).await),
        ),
        (
            "gate",
            is_visible(
                engine
                    .gate("other", id, GateRules::default(), gamma, convention)
                    .await,
            ),
        ),
        // Comparisons use rankings, so they exclude even the own private runs.
        (
            "compare",
            engine
                .compare(&both, gamma, convention, None, false, None)
                .await
                .is_ok(),
        ),
    ]
}

/// The public lists, and whether they contain `mine`.
async fn public_lists(engine: &Engine) -> Vec<(&'static str, bool)> {
    let leaderboard = engine.leaderboard_data("s").await.unwrap();
    let rows = engine
        .ranked("s", Gamma::ONE, Convention::Paper, false)
        .await
        .unwrap();
    let directory = engine.directory().await.unwrap();
    let latest = engine.latest_results(10).await.unwrap();
    let task = TaskId::new("t").unwrap();
    let of_task = engine.results_of_task(&task, None).await.unwrap();
    vec![
        (
            "leaderboard",
            leaderboard.entries.iter().any(|e| e.run_id == "mine"),
        ),
        ("ranking", rows.iter().any(|row| row.run_id == "mine")),
        (
            "directory",
            directory.runs.iter().any(|run| run.run_id == "mine"),
        ),
        (
            "models",
            directory.models.iter().any(|model| model == "mine"),
        ),
        (
            "latest_results",
            latest.iter().any(|new| new.run.run_id == "mine"),
        ),
        (
            "results_of_task",
            of_task.iter().any(|of| of.run_id == "mine"),
        ),
        ("model", is_visible(engine.model("mine", false).await)),
    ]
}

/// Ada, the owner, with full rights and with a token that reads; another
/// account, an administrator, a visitor, and the command line.
fn everybody(operator: &Engine) -> Vec<(&'static str, Engine, bool)> {
    use AccountRole::{Admin, Reader, Submitter};
    [
        ("visitor", Actor::Visitor, false),
        ("bob", account("bob", Submitter), false),
        ("ada", account("ada", Submitter), true),
        ("ada's token", account("ada", Reader), true),
        ("root", account("root", Admin), true),
        ("operator", Actor::Operator, true),
    ]
    .into_iter()
    .map(|(name, actor, sees)| (name, operator.acting_for(actor), sees))
    .collect()
}

#[tokio::test]
async fn private_runs_are_not_there_for_others() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine_with_runs(data.path()).await;
    let ada = operator.acting_for(account("ada", AccountRole::Submitter));
    let check = async |public: bool| {
        for (name, engine, sees) in everybody(&operator) {
            for (question, answered) in asked(&engine).await {
                let expect = match question {
                    "compare" => public,
                    _ => public || sees,
                };
                assert_eq!(answered, expect, "{name}: {question}, public: {public}");
            }
            for (list, has) in public_lists(&engine).await {
                assert_eq!(has, public, "{name}: {list}");
            }
        }
    };
    check(false).await;
    ada.publish("mine").await.unwrap();
    check(true).await;
    ada.unpublish("mine", " a mistake ").await.unwrap();
    check(false).await;
    let seen = ada.run("mine").await.unwrap();
    assert_eq!(seen.summary.withdrawn.as_deref(), Some("a mistake"));
}

/// An agent may have read the solutions through its provider.
#[tokio::test]
async fn runs_with_hosted_tools_are_beside_the_ranking() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine_with_runs(folder.path()).await;
    let config = RunConfig {
        allow_hosted_tools: true,
        ..config("other")
    };
    let config = serde_json::to_string(&config).unwrap();
    let url = format!("sqlite:{}", folder.path().join("swe-ci.sqlite").display());
    let mut database = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let update = format!("UPDATE runs SET config = '{config}' WHERE id = 'other'");
    let update = sqlx::raw_sql(sqlx::AssertSqlSafe(update));
    update.execute(&mut database).await.unwrap();

    let leaderboard = engine.leaderboard_data("s").await.unwrap();
    let ranked = leaderboard
        .entries
        .iter()
        .any(|entry| entry.run_id == "other");
    let apart: Vec<&str> = leaderboard
        .unranked
        .iter()
        .map(|run| run.run_id.as_str())
        .collect();
    assert_eq!((ranked, apart), (false, vec!["other"]));
    let scores = engine
        .scores("other", Gamma::ONE, Convention::Paper)
        .await
        .unwrap();
    assert!(!scores.tasks.is_empty(), "it has scores of its own");
}

#[tokio::test]
async fn permissions_to_publish_and_withdraw() {
    let data = tempfile::tempdir().unwrap();
    let operator = engine_with_runs(data.path()).await;
    let of = |actor| operator.acting_for(actor);
    let ada = of(account("ada", AccountRole::Submitter));
    let root = of(account("root", AccountRole::Admin));
    let word = |done: Result<()>| match done {
        Ok(()) => "done",
        Err(Error::Unauthenticated(_)) => "sign in",
        Err(Error::Forbidden(_)) => "may not",
        Err(Error::NotFound { .. }) => "not found",
        Err(Error::Conflict(_)) => "conflict",
        Err(Error::Invalid(_)) => "invalid",
        Err(other) => panic!("{other:?}"),
    };
    for (actor, hidden, seen) in [
        (Actor::Visitor, "not found", "sign in"),
        (
            account("bob", AccountRole::Submitter),
            "not found",
            "may not",
        ),
        (account("rea", AccountRole::Reader), "not found", "may not"),
    ] {
        let other = of(actor);
        assert_eq!(word(other.publish("mine").await), hidden);
        assert_eq!(word(other.publish("other").await), seen);
        assert_eq!(word(other.unpublish("mine", "why").await), hidden);
        assert_eq!(word(other.unpublish("other", "why").await), seen);
    }
    let token = of(account("ada", AccountRole::Reader));
    assert_eq!(word(token.publish("mine").await), "may not");
    assert_eq!(word(ada.unpublish("mine", "why").await), "conflict");
    for _ in 0..2 {
        assert_eq!(word(ada.publish("mine").await), "done");
    }
    for bad in ["", " \n", &"x".repeat(501)] {
        assert_eq!(word(ada.unpublish("mine", bad).await), "invalid");
    }
    for reason in ["first", "second"] {
        assert_eq!(word(root.unpublish("mine", reason).await), "done");
    }
    // The owner cannot publish again what was withdrawn for its faults.
    assert_eq!(word(ada.publish("mine").await), "may not");
    assert_eq!(word(root.publish("mine").await), "done");

    let page = root.audit(&PageRequest::default(), Some("mine")).await;
    let lines = page.unwrap().items.into_iter().rev();
    let lines: Vec<_> = lines
        .map(|e| json!([e.actor, e.action, e.detail]))
        .collect();
    assert_eq!(
        lines,
        [
            json!(["ada", "run.publish", ""]),
            json!(["root", "run.withdraw", "first"]),
            json!(["root", "run.publish", ""]),
        ]
    );
}
