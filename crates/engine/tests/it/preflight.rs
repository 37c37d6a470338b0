//! Preflights of runs.

use swe_ci_core::agent::Protocol;
use swe_ci_core::run::{HarnessConfig, Progress};
use swe_ci_core::step::{Ending, Role};
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Turn};
use swe_ci_views::account::Visibility;
use swe_ci_views::preflight::PreflightState;
use swe_ci_views::submission::Submission;
use swe_ci_views::view::RunDetail;

use crate::agents::{DOCUMENT, KEY, KEY_NAME, config, ready};

/// Repairs the task; the preflight's own task has other files.
const MEND: &str = "cd /app/code; if [ -f tiny.py ]; \
    then sed -i 's/two(): return 0/two(): return 2/; s/three(): return 0/three(): return 3/' tiny.py; \
    else echo 'print()' >> tally/__init__.py; fi";

fn mend(conversation: &Conversation) -> Turn {
    match (conversation.role, conversation.turn) {
        (Role::Architect, 0) => Turn::write("/app/requirement.xml", DOCUMENT),
        (Role::Programmer, 0) => Turn::bash(MEND),
        _ => Turn::say("Done."),
    }
}

fn state(run: &RunDetail) -> Option<PreflightState> {
    run.summary.preflight.as_ref().map(|found| found.state)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_costs_a_minute_and_not_a_night() {
    let fixture = ready().await;
    let engine = &fixture.engine;
    let wrong = "sk-wrong-0000".to_owned().into();
    engine.set_key(KEY_NAME, &wrong).await.unwrap();
    let llm = ScriptedLlm::start(Script::with(mend), KEY).await.unwrap();
    let submission = Submission {
        config: config(&llm, HarnessConfig::Builtin, Protocol::Chat),
        visibility: Visibility::Private,
        preflight: true,
        forget_keys: false,
    };
    let id = engine.queue(submission).await.unwrap();
    assert_eq!(
        state(&engine.run(&id).await.unwrap()),
        Some(PreflightState::Waiting)
    );

    let held = fixture
        .until(&id, |run| state(run) == Some(PreflightState::Failed))
        .await;
    let findings = held.summary.preflight.unwrap().findings;
    let [agents, task] = findings.as_slice() else {
        panic!("{findings:?}")
    };
    assert!(!agents.good && agents.says.contains("401"), "{agents:?}");
    assert!(!agents.advice.is_empty(), "{agents:?}");
    assert_eq!((task.subject.as_str(), task.good), ("two-and-three", true));
    assert_eq!(held.summary.progress, Progress::Queued);

    let right = KEY.to_owned().into();
    engine.set_key(KEY_NAME, &right).await.unwrap();
    engine.preflight_again(&id).await.unwrap();
    let over = fixture
        .until(&id, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(state(&over), Some(PreflightState::Passed));
    assert_eq!(over.evolution_list[0].ending, Some(Ending::Solved));
    // A finished run waits for nothing.
    let late = engine.begin_anyway(&id).await.unwrap_err().to_string();
    assert!(late.contains("finished"), "{late}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_can_begin_without_its_preflight() {
    let fixture = ready().await;
    let engine = &fixture.engine;
    let llm = ScriptedLlm::start(Script::with(mend), KEY).await.unwrap();
    let mut config = config(&llm, HarnessConfig::Builtin, Protocol::Chat);
    config.plan.max_iterations = 1;
    let submission = Submission {
        config,
        visibility: Visibility::Private,
        preflight: true,
        forget_keys: false,
    };
    let id = engine.queue(submission).await.unwrap();
    engine.begin_anyway(&id).await.unwrap();
    let over = fixture
        .until(&id, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(state(&over), Some(PreflightState::Skipped));
    // Two answers for each of the two agents, and nothing before.
    assert_eq!(llm.seen().len(), 4);
}
