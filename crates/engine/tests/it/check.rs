//! `swe-ci harness check`: harness, endpoint and key on one tiny task.

use std::sync::Mutex;

use swe_ci_core::agent::{HarnessConfig, Protocol};
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Role, StepOutcome};
use swe_ci_engine::{CheckNews, Error, HarnessCheck};
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Turn};
use tokio_util::sync::CancellationToken;

use crate::agents::{DOCUMENT, KEY, config};
use crate::fixture::Fixture;

const MEAN: &str = "def mean(numbers):\n    raise NotImplementedError";
const MENDED: &str =
    "def mean(numbers):\n    return total(numbers) / len(numbers) if numbers else 0";

/// Writes the document, and one of the two functions.
fn half(conversation: &Conversation) -> Turn {
    match (conversation.role, conversation.turn) {
        (Role::Architect, 0) => Turn::write("/app/requirement.xml", DOCUMENT),
        (Role::Programmer, 0) => Turn::edit("/app/code/tally/__init__.py", MEAN, MENDED),
        _ => Turn::say("Done."),
    }
}

fn idle(_: &Conversation) -> Turn {
    Turn::say("I would rather not.")
}

async fn check(fixture: &Fixture, config: RunConfig) -> Result<(HarnessCheck, String), Error> {
    let told = Mutex::new(String::new());
    let tell = |news: CheckNews| *told.lock().unwrap() += &format!("{news:?}\n");
    let stop = CancellationToken::new();
    let checked = fixture.engine.check_harness(config, &tell, &stop).await?;
    Ok((checked, told.into_inner().unwrap()))
}

/// An engine with the key of the scripted LLM, and nothing else.
async fn ready() -> Fixture {
    let fixture = Fixture::new().await;
    let key = KEY.to_owned().into();
    fixture.engine.set_key("scripted", &key).await.unwrap();
    fixture
}

#[tokio::test(flavor = "multi_thread")]
async fn a_harness_that_works_is_known_by_what_it_did() {
    let fixture = ready().await;
    let llm = ScriptedLlm::start(Script::with(half), KEY).await.unwrap();
    let asked = config(&llm, HarnessConfig::Builtin, Protocol::Chat);
    let (checked, told) = check(&fixture, asked).await.unwrap();
    assert_eq!(
        checked.verdict,
        "works: the agent wrote a document and changed the code; 2 of 3 tests pass now"
    );
    assert!(checked.works && checked.advice.is_empty(), "{checked:?}");
    // One iteration is enough.
    let outcomes: Vec<StepOutcome> = checked.steps.iter().map(|step| step.outcome).collect();
    let scored = StepOutcome::Scored { solved: false };
    assert_eq!(outcomes, [StepOutcome::Done, StepOutcome::Done, scored]);
    assert_eq!((checked.tests_passed, checked.tests), (2, 3));
    assert_eq!(checked.traffic.requests, 4);
    assert_eq!(checked.usage.input_tokens, 2 * 3_000);
    assert!(checked.traffic.micro_usd.is_some());
    assert!(told.contains("Tests { passed: 2, of: 3 }"), "{told}");

    // Nothing remains of it.
    let data = &fixture.engine.config().data;
    assert!(!data.join("check").exists());
    assert!(!data.join("tasks").exists());
    assert!(fixture.engine.splits().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn problems_come_with_advice() {
    let fixture = ready().await;
    let llm = async |script: fn(&Conversation) -> Turn, key: &str| {
        ScriptedLlm::start(Script::with(script), key).await.unwrap()
    };
    let check = async |llm: &ScriptedLlm, steps: usize, verdict: &str, advice: &str| {
        let asked = config(llm, HarnessConfig::Builtin, Protocol::Chat);
        let (checked, _) = check(&fixture, asked).await.unwrap();
        assert!(!checked.works, "{checked:?}");
        assert_eq!(checked.steps.len(), steps, "{checked:?}");
        assert!(checked.verdict.contains(verdict), "{checked:?}");
        assert!(checked.advice[0].contains(advice), "{checked:?}");
        checked
    };
    let refusing = llm(half, "another-key").await;
    check(&refusing, 1, "HTTP 401", "`swe-ci key set scripted`").await;

    let silent = llm(idle, KEY).await;
    let left = "the architect left no requirement.xml";
    let checked = check(&silent, 1, left, "may not call tools").await;
    assert_eq!(checked.last_lines, ["I would rather not."]);

    // A document without a change: the check asks once more.
    let lazy = |conversation: &Conversation| match conversation.role {
        Role::Architect => half(conversation),
        _ => Turn::say("Nothing to do."),
    };
    let lazy = llm(lazy, KEY).await;
    check(&lazy, 6, "changed no code", "may not call tools").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_configuration_that_cannot_be_used_costs_nothing() {
    let fixture = ready().await;
    let llm = ScriptedLlm::start(Script::with(half), KEY).await.unwrap();
    let good = config(&llm, HarnessConfig::Builtin, Protocol::Chat);
    let check = async |change: fn(&mut RunConfig), expect: &str| {
        let mut config = good.clone();
        change(&mut config);
        match check(&fixture, config).await {
            Err(why) => assert!(why.to_string().contains(expect), "{why}"),
            Ok(checked) => panic!("{checked:?}"),
        }
    };
    check(|c| *c = RunConfig::human("x"), "asks no model").await;
    check(|c| c.endpoint = None, "endpoint").await;
    check(
        |c| c.endpoint.as_mut().unwrap().key = Some("other".into()),
        "swe-ci key set other",
    )
    .await;
    check(
        |c| c.endpoint.as_mut().unwrap().protocol = Protocol::Gemini,
        "speaks `chat`",
    )
    .await;
    check(
        |c| {
            c.harness = HarnessConfig::Program {
                program: "nobody".into(),
                version: None,
            };
        },
        "there is no harness `nobody`",
    )
    .await;
    assert!(llm.seen().is_empty());
}
