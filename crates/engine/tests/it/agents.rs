//! Agents that use a model: the builtin one, and programs, in real containers
//! against a scripted LLM.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use swe_ci_core::agent::{AgentConfig, Budget, Endpoint, Protocol};
use swe_ci_core::finding::Unranked;
use swe_ci_core::run::{HarnessConfig, Kind, RunConfig};
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_core::usage::Prices;
use swe_ci_engine::Error;
use swe_ci_engine::testing::TinyTask;
use swe_ci_testing::scripted::{Conversation, Fault, Script, ScriptedLlm, Turn};
use swe_ci_views::account::Visibility;
use swe_ci_views::view::{RunDetail, StepView};

use crate::fixture::{Fixture, SPLIT, golden};

pub const TESTS: &str = "
import tiny
def test_one(): assert tiny.one() == 1
def test_two(): assert tiny.two() == 2
def test_three(): assert tiny.three() == 3
";
const TEST_FILE: &str = "tests/test_tiny.py";
const BASE: &str = "def one(): return 1\ndef two(): return 0\ndef three(): return 0\n";
const TARGET: &str = "def one(): return 1\ndef two(): return 2\ndef three(): return 3\n";
pub const TASK: TinyTask<'_> = TinyTask {
    name: "two-and-three",
    versions: &[
        &[("tiny.py", BASE), (TEST_FILE, TESTS)],
        &[("tiny.py", TARGET), (TEST_FILE, TESTS)],
    ],
};

/// A key that is easy to find.
pub const KEY: &str = "sk-marked-6f1c2b7e9d";
pub const KEY_NAME: &str = "scripted";
const MODEL: &str = "scripted-1";

pub const DOCUMENT: &str = "<requirements><requirement>\
    <location>tiny.py</location><description>wrong number</description>\
    <contract>two() gives 2, three() gives 3</contract>\
    <acceptance>they do</acceptance></requirement></requirements>";

/// An architect that requests the missing function, and a programmer that
/// repairs one in each iteration.
pub fn mend_one_by_one(conversation: &Conversation) -> Turn {
    let sees = |text: &str| conversation.text.contains(text);
    match (conversation.role, conversation.turn) {
        (Role::Architect, 0) => Turn::bash("cat /app/non-passed/summary.jsonl"),
        (Role::Architect, 1) => Turn::write("/app/requirement.xml", DOCUMENT),
        (Role::Programmer, 0) => Turn::bash("cat /app/code/tiny.py /app/requirement.xml"),
        (Role::Programmer, 1) if sees("def two(): return 0") => Turn::edit(
            "/app/code/tiny.py",
            "def two(): return 0",
            "def two(): return 2",
        ),
        (Role::Programmer, 1) => Turn::edit(
            "/app/code/tiny.py",
            "def three(): return 0",
            "def three(): return 3",
        ),
        _ => Turn::say("Done."),
    }
}

pub fn config(llm: &ScriptedLlm, harness: HarnessConfig, protocol: Protocol) -> RunConfig {
    let mut config = RunConfig::human(SPLIT);
    config.model = "Scripted".into();
    config.kind = Kind::Measured;
    config.harness = harness;
    config.plan.max_iterations = 4;
    config.plan.max_attempts = 2;
    config.endpoint = Some(Endpoint {
        protocol,
        url: llm.url(protocol),
        model: MODEL.into(),
        key: Some(KEY_NAME.into()),
        prices: Some(Prices {
            input: 1.0,
            cached: Some(0.1),
            output: 10.0,
        }),
        ..Endpoint::default()
    });
    config
}

fn builtin(llm: &ScriptedLlm) -> RunConfig {
    config(llm, HarnessConfig::Builtin, Protocol::Chat)
}

/// A fixture with the task imported and the key stored.
pub async fn ready() -> Fixture {
    let fixture = Fixture::imported(&[TASK]).await;
    let key = KEY.to_owned().into();
    fixture.engine.set_key(KEY_NAME, &key).await.unwrap();
    fixture
}

async fn llm(script: Script) -> ScriptedLlm {
    ScriptedLlm::start(script, KEY).await.unwrap()
}

/// All steps of a run's only evolution.
async fn steps(fixture: &Fixture, run: &RunDetail) -> Vec<StepView> {
    let id = &run.evolution_list[0].evolution_id;
    fixture.engine.steps(id).await.unwrap()
}

/// The architect writes nothing until it is woken up.
#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_gave_up_is_run_again() {
    let fixture = ready().await;
    let awake = Arc::new(AtomicBool::new(false));
    let script = {
        let awake = Arc::clone(&awake);
        Script::with(move |conversation| match awake.load(Ordering::Relaxed) {
            true => mend_one_by_one(conversation),
            false => Turn::say("Done."),
        })
    };
    let llm = llm(script).await;
    let run = fixture.run(builtin(&llm)).await;
    assert_eq!(
        golden(&run.evolution_list[0]),
        "two-and-three agent_gave_up\n"
    );
    let before = steps(&fixture, &run).await;
    assert_eq!(before.len(), 2, "its attempts");

    awake.store(true, Ordering::Relaxed);
    let id = &run.summary.run_id;
    let gave_up = [Ending::AgentGaveUp];
    assert_eq!(fixture.engine.clear(id, &gave_up).await.unwrap(), 1);
    let run = fixture
        .until(id, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(
        golden(&run.evolution_list[0]),
        "two-and-three solved\n\
         1 2/3 lost 0 gained 1\n\
         2 3/3 lost 0 gained 1\n"
    );
    // The two attempts stand, and a mark follows them.
    let after = steps(&fixture, &run).await;
    assert_eq!(after[..2], before[..]);
    assert_eq!(after[2].outcome, StepOutcome::Cleared);
    assert_eq!(after.len(), 2 + 1 + 2 * 3);
    assert_eq!(run.unranked, Some(Unranked::RunAgain { evolutions: 1 }));
    let again = fixture.engine.clear(id, &gave_up).await;
    assert!(matches!(again, Err(Error::Conflict(_))), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_builtin_agent_carries_an_evolution_to_its_end() {
    let fixture = ready().await;
    let llm = llm(Script::with(mend_one_by_one)).await;
    let run = fixture.run(builtin(&llm)).await;
    assert_eq!(
        golden(&run.evolution_list[0]),
        "two-and-three solved\n\
         1 2/3 lost 0 gained 1\n\
         2 3/3 lost 0 gained 1\n"
    );
    for seen in llm.seen() {
        assert_eq!(seen.key.as_deref(), Some(KEY));
        assert_eq!(seen.model, MODEL);
    }
    let steps = steps(&fixture, &run).await;
    for step in steps.iter().filter(|step| step.role != Role::Test) {
        // Three answers each: 1,000 + 2,000 + 3,000 in, 500 cached twice.
        let usage = step.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (6_000, 300));
        assert_eq!((usage.cached_tokens, usage.reasoning_tokens), (1_000, 30));
        let traffic = step.traffic.unwrap();
        assert_eq!((traffic.requests, traffic.retries), (3, 0));
        assert_eq!(traffic.micro_usd, Some(5_000 + 100 + 3_000));
    }
    let leaderboard = fixture.engine.leaderboard_data(SPLIT).await.unwrap();
    let entry = &leaderboard.entries[0];
    assert_eq!(entry.usage.unwrap().input_tokens, 4 * 6_000);
    assert_eq!(entry.micro_usd, Some(4 * 8_100));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_in_trouble_costs_patience_and_no_score() {
    let fixture = ready().await;
    // One 429 and one 500 before the first answer; then success.
    let patient = llm(Script::with(mend_one_by_one)).await;
    patient.fault_first(
        1,
        Fault::Status {
            code: 429,
            retry_after: Some(1),
        },
    );
    patient.fault_first(1, Fault::status(500));
    let run = fixture.run(builtin(&patient)).await;
    assert_eq!(run.evolution_list[0].ending, Some(Ending::Solved));
    let first = steps(&fixture, &run).await.remove(0);
    let traffic = first.traffic.unwrap();
    assert_eq!(traffic.retries, 2);
    assert!(traffic.waiting_ms >= 1_000, "{traffic:?}");

    // A refused key: waited for, retried, then blocked, never scored.
    let refusing = ScriptedLlm::start(Script::with(mend_one_by_one), "another-key")
        .await
        .unwrap();
    let mut config = builtin(&refusing);
    config.limits.patience_seconds = 1;
    let run = fixture.run(config).await;
    assert_eq!(run.evolution_list[0].ending, Some(Ending::Blocked));
    let steps = steps(&fixture, &run).await;
    assert_eq!(steps.len(), 2);
    for step in steps {
        assert_eq!(step.outcome, StepOutcome::ProviderFailed);
        assert!(step.detail.contains("HTTP 401"), "{}", step.detail);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_budget_that_is_spent_ends_the_run_without_a_score() {
    let fixture = ready().await;
    let llm = llm(Script::with(mend_one_by_one)).await;
    let mut config = builtin(&llm);
    config.budget = Budget {
        requests: Some(8),
        ..Budget::default()
    };
    let run = fixture.run(config).await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::BudgetSpent));
    assert_eq!(
        evolution.reason.as_deref(),
        Some("the run's budget of 8 requests is spent")
    );
    assert_eq!(evolution.iterations.len(), 1);
    assert_eq!(llm.seen().len(), 8);
    let leaderboard = fixture.engine.leaderboard_data(SPLIT).await.unwrap();
    assert!(leaderboard.entries.is_empty(), "nothing of it is scored");
}

/// It is a limit like the time of a step, and the same for all evolutions.
#[tokio::test(flavor = "multi_thread")]
async fn an_evolution_whose_own_budget_is_spent_is_scored_with_what_it_reached() {
    let fixture = ready().await;
    let llm = llm(Script::with(mend_one_by_one)).await;
    let mut config = builtin(&llm);
    config.evolution_budget = Budget {
        requests: Some(8),
        ..Budget::default()
    };
    let run = fixture.run(config).await;
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::EvolutionBudgetSpent));
    assert_eq!(
        evolution.reason.as_deref(),
        Some("the evolution's budget of 8 requests is spent")
    );
    assert_eq!((evolution.iterations.len(), llm.seen().len()), (1, 8));
    let leaderboard = fixture.engine.leaderboard_data(SPLIT).await.unwrap();
    assert_eq!(leaderboard.entries.len(), 1, "and it takes a rank");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_takes_nothing_from_an_evolutions_budget() {
    let fixture = ready().await;
    let llm = llm(Script::with(mend_one_by_one)).await;
    // The second request of the first step, and the probe after it.
    let asked = AtomicUsize::new(0);
    llm.fault_when(move |_| {
        let nth = asked.fetch_add(1, Ordering::Relaxed);
        matches!(nth, 1 | 2).then_some(Fault::status(500))
    });
    let mut config = builtin(&llm);
    config.limits.patience_seconds = 0;
    // One more than a solution takes.
    config.evolution_budget = Budget {
        requests: Some(13),
        ..Budget::default()
    };
    let run = fixture.run(config).await;
    let evolution = &run.evolution_list[0];
    let steps = steps(&fixture, &run).await;
    assert_eq!(steps[0].outcome, StepOutcome::ProviderFailed);
    assert_eq!(steps[0].traffic.unwrap().requests, 2);
    assert_eq!(evolution.ending, Some(Ending::Solved));
}

/// Half of the model's answer comes; the agent is bound all the same, unless the
/// provider answers nothing at all.
#[tokio::test(flavor = "multi_thread")]
async fn the_builtin_agent_is_bound_by_its_time() {
    let fixture = ready().await;
    let llm = llm(Script::with(|_| Turn::Fault(Fault::Hang))).await;
    let mut config = builtin(&llm);
    config.limits.agent_seconds = 2;
    config.plan.max_attempts = 1;
    for expect in [StepOutcome::AgentTimedOut, StepOutcome::ProviderFailed] {
        let run = fixture.run(config.clone()).await;
        let step = steps(&fixture, &run).await.remove(0);
        assert_eq!(step.outcome, expect, "{}", step.detail);
        assert!(step.detail.contains("unanswered"), "{}", step.detail);
        let traffic = step.traffic.unwrap();
        assert_eq!(traffic.unfinished, 1);
        assert!(traffic.streamed_tokens > 0);
        llm.fault_when(|seen| seen.turn.is_none().then_some(Fault::status(500)));
    }
}

/// A paid recording that cannot be stored fails its step: the step is repeated, and
/// what it took counts.
#[tokio::test(flavor = "multi_thread")]
async fn a_step_without_its_recording_is_repeated() {
    let fixture = ready().await;
    let llm = llm(Script::with(mend_one_by_one)).await;
    let submitted = fixture.engine.submit(builtin(&llm), Visibility::Public);
    let id = submitted.await.unwrap();
    let run = fixture.engine.run(&id).await.unwrap();
    let evolution = &run.evolution_list[0].evolution_id;
    // A file where the folder should be.
    let folder = fixture.folder.path().join("data/artifacts/evolutions");
    std::fs::create_dir_all(&folder).unwrap();
    let folder = folder.join(evolution);
    std::fs::write(&folder, "").unwrap();
    let steps = async || fixture.engine.steps(evolution).await.unwrap();
    let failed = fixture.work_until(async || steps().await.into_iter().next());
    let failed = failed.await;
    assert_eq!(
        failed.outcome,
        StepOutcome::InfraFailed,
        "{}",
        failed.detail
    );
    assert!(
        failed.detail.contains("the recording of the step"),
        "{}",
        failed.detail
    );
    std::fs::remove_file(&folder).unwrap();
    let run = fixture
        .until(&id, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(run.evolution_list[0].ending, Some(Ending::Solved));
    let mut counted = swe_ci_core::usage::Usage::default();
    for step in steps().await {
        counted += step.usage.unwrap_or_default();
    }
    assert_eq!(counted, llm.sent(), "no token is lost");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_is_told_of() {
    let fixture = ready().await;
    let llm = llm(Script::with(|_| Turn::Fault(Fault::Hang))).await;
    let submitted = fixture.engine.submit(builtin(&llm), Visibility::Public);
    let id = submitted.await.unwrap();
    let answering = |run: &RunDetail| {
        let step = run.evolution_list[0].current.clone();
        step?.waiting?.answering
    };
    let run = fixture.until(&id, |run| answering(run).is_some()).await;
    assert_eq!(answering(&run), Some(1));
    fixture.engine.cancel(&id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_repeats_itself_is_told_of() {
    let fixture = ready().await;
    let llm = llm(Script::with(|_| Turn::bash("true"))).await;
    let id = fixture
        .engine
        .submit(builtin(&llm), Visibility::Public)
        .await
        .unwrap();
    let repeats = |run: &RunDetail| {
        let step = run.evolution_list[0].current.clone();
        Some(step?.waiting?.repeats)
    };
    let run = fixture.until(&id, |run| repeats(run) >= Some(10)).await;
    assert_eq!(repeats(&run).unwrap() % 10, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_architect_without_a_document_is_asked_again() {
    let fixture = ready().await;
    // Both attempts look alike to a model; the script counts them.
    let llm = llm(Script::with(|conversation| {
        match (conversation.role, conversation.turn, conversation.repeats) {
            // Asked for whole as well: it is not known whether the model streams calls.
            (Role::Architect, 0, 0 | 1) => Turn::say("I would rather not."),
            (Role::Architect, 0, _) => Turn::write("/app/requirement.xml", DOCUMENT),
            (Role::Programmer, ..) => Turn::say("Nothing to do."),
            _ => Turn::say("Done."),
        }
    }))
    .await;
    let mut config = builtin(&llm);
    config.plan.max_iterations = 1;
    let run = fixture.run(config).await;
    assert_eq!(run.evolution_list[0].ending, Some(Ending::IterationsSpent));
    let steps = steps(&fixture, &run).await;
    let outcomes: Vec<StepOutcome> = steps.iter().map(|step| step.outcome).collect();
    assert_eq!(
        outcomes,
        [
            StepOutcome::MalformedRequirement,
            StepOutcome::Done,
            StepOutcome::NoChange,
            StepOutcome::Scored { solved: false },
        ]
    );
    assert_eq!(steps[0].detail, "the architect left no requirement.xml");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_roles_may_have_different_models() {
    let fixture = ready().await;
    let llm = llm(Script::with(mend_one_by_one)).await;
    let mut config = builtin(&llm);
    let mut endpoint = config.endpoint.clone().unwrap();
    endpoint.model = "scripted-2".into();
    endpoint.parameters.insert("temperature".into(), 0.into());
    config.programmer = Some(AgentConfig {
        harness: HarnessConfig::Builtin,
        endpoint: Some(endpoint),
    });
    let run = fixture.run(config).await;
    assert_eq!(run.evolution_list[0].ending, Some(Ending::Solved));
    for seen in llm.seen() {
        let architect = seen.turn.unwrap().0 == Role::Architect;
        let expect = if architect { MODEL } else { "scripted-2" };
        assert_eq!(seen.model, expect);
        assert_eq!(seen.body.get("temperature").is_none(), architect);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recorded_run_is_replayed() {
    let fixture = ready().await;
    let llm = llm(Script::with(mend_one_by_one)).await;
    let first = fixture.run(builtin(&llm)).await;
    let asked = llm.seen().len();
    let mut config = builtin(&llm);
    let endpoint = config.endpoint.as_mut().unwrap();
    endpoint.recording = Some(first.summary.run_id.clone());
    endpoint.url = "http://nowhere.invalid/v1".into();
    let again = fixture.run(config.clone()).await;
    assert_eq!(
        golden(&again.evolution_list[0]),
        golden(&first.evolution_list[0]),
        "{:?}",
        again.evolution_list[0].reason
    );
    assert_eq!(llm.seen().len(), asked, "nobody was asked");
    let before = steps(&fixture, &first).await;
    for (then, now) in before.iter().zip(steps(&fixture, &again).await) {
        assert_eq!((then.outcome, then.usage), (now.outcome, now.usage));
    }

    // A run with another conversation fails with the place of the difference,
    // and is not scored.
    config.limits.agent_seconds -= 1;
    config.endpoint.as_mut().unwrap().model = "scripted-9".into();
    config.endpoint.as_mut().unwrap().recording = Some(again.summary.run_id);
    let other = fixture.run(config).await;
    let reason = other.evolution_list[0].reason.clone().unwrap();
    assert_eq!(
        other.evolution_list[0].ending,
        Some(Ending::Blocked),
        "{reason}"
    );
    assert!(
        reason.contains("/model") && reason.contains("scripted-9"),
        "{reason}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_is_interrupted_is_repeated_and_its_tokens_count() {
    let fixture = ready().await;
    let llm = llm(Script::with(|conversation| {
        match (conversation.role, conversation.turn, conversation.repeats) {
            // In the first iteration, where two tests fail, and once.
            (Role::Architect, 1, 0) if conversation.text.contains("test_two") => {
                Turn::Fault(Fault::Stall)
            }
            _ => mend_one_by_one(conversation),
        }
    }))
    .await;
    let id = fixture
        .engine
        .submit(builtin(&llm), Visibility::Public)
        .await
        .unwrap();
    // The worker stops while the agent waits for the model.
    fixture.until(&id, |_| llm.seen().len() == 2).await;
    let run = fixture
        .until(&id, |run| run.summary.progress.is_over())
        .await;
    assert_eq!(run.evolution_list[0].ending, Some(Ending::Solved));
    let steps = steps(&fixture, &run).await;
    assert_eq!(steps[0].outcome, StepOutcome::Interrupted);
    assert_eq!((steps[0].attempt, steps[1].attempt), (1, 1));
    assert_eq!(steps[1].outcome, StepOutcome::Done);
    assert_eq!(steps[0].usage.unwrap().input_tokens, 1_000);
    let traffic = steps[0].traffic.unwrap();
    assert_eq!((traffic.requests, traffic.unfinished), (2, 1));
}
