//! The mode rdd: the programmer works from a specification, and no test is in
//! its reach.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use swe_ci_core::agent::Protocol;
use swe_ci_core::requirement::{Expectation, Mode};
use swe_ci_core::run::HarnessConfig;
use swe_ci_core::step::{Ending, Role, StepOutcome};
use swe_ci_engine::testing;
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Turn};

use crate::agents::{KEY, TASK, TESTS, config};
use crate::fixture::{Fixture, golden};

const SPECIFICATION: &str = "<requirements><requirement>\
    <location>tiny.py</location><description>wrong numbers</description>\
    <specification>two() -&gt; int gives 2, three() -&gt; int gives 3</specification>\
    </requirement></requirements>";
/// As in the mode tdd, where it is allowed.
const NAMES_A_TEST: &str = "<requirements>\n<requirement>\n<location>tiny.py</location>\n\
    <description>wrong number</description>\n<specification>test_two passes</specification>\n\
    </requirement></requirements>";
/// The number of files with a test of the task, anywhere in the container.
const COUNT_TESTS: &str = "echo \"files: $(grep -rlsI 'def test_two' \
    /app /etc /home /opt /root /srv /tmp /usr /var | wc -l)\"; ls -a /app/code";

fn specify_and_obey(conversation: &Conversation) -> Turn {
    let sees = |text: &str| conversation.text.contains(text);
    match (conversation.role, conversation.turn, conversation.repeats) {
        (Role::Architect, 0, _) => Turn::bash(COUNT_TESTS),
        (Role::Architect, 1, 0) => Turn::write("/app/requirement.xml", NAMES_A_TEST),
        (Role::Architect, 1, _) if !sees("files: 0") => {
            Turn::write("/app/requirement.xml", SPECIFICATION)
        }
        (Role::Programmer, 0, _) => Turn::bash(COUNT_TESTS),
        (Role::Programmer, 1, _) if sees("files: 0") => Turn::bash(
            "sed -i 's/two(): return 0/two(): return 2/; s/three(): return 0/three(): return 3/' \
             /app/code/tiny.py && mkdir -p /app/code/tests && echo mine > /app/code/tests/test_tiny.py",
        ),
        _ => Turn::say("Done."),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_test_is_in_the_programmers_reach() {
    let fixture = Fixture::new().await;
    fixture.write(&[TASK]).await;
    // An image that holds a copy of the tests, as one of an installed package may.
    let data = fixture.dataset().join("data").join(TASK.name);
    let place = "/usr/lib/python3/dist-packages/tiny/tests";
    let copy = format!(
        "mkdir -p {place} && echo {} | base64 -d > {place}/test_tiny.py",
        BASE64_STANDARD.encode(TESTS)
    );
    let image = testing::own_image_after(&fixture.engine, &data, &copy)
        .await
        .unwrap();
    fixture.import_written().await.0.unwrap();
    let key = KEY.to_owned().into();
    let engine = &fixture.engine;
    engine.set_key("scripted", &key).await.unwrap();
    let llm = ScriptedLlm::start(Script::with(specify_and_obey), KEY).await;
    let llm = llm.unwrap();
    let mut config = config(&llm, HarnessConfig::Builtin, Protocol::Chat);
    config.mode = Mode::Rdd;
    let run = fixture.run(config).await;
    fixture.remove_image(&image);

    let evolution = &run.evolution_list[0];
    let steps = engine.steps(&evolution.evolution_id).await.unwrap();
    assert_eq!(steps[0].outcome, StepOutcome::MalformedRequirement);
    let why = &steps[0].detail;
    assert!(
        why.contains("line 5") && why.contains("`test_two`"),
        "{why}"
    );
    assert_eq!(evolution.ending, Some(Ending::Solved));
    assert_eq!(
        golden(evolution),
        "two-and-three solved\n1 3/3 lost 0 gained 2\n"
    );
    let iteration = engine.iteration(&evolution.evolution_id, 1).await.unwrap();
    let expectation = &iteration.requirements[0].expectation;
    assert!(matches!(expectation, Expectation::Specified { .. }));
    // Nor did the prompt, the code or the document tell the programmer of a test.
    let programmer = |role| role == Role::Programmer;
    for seen in llm.seen() {
        if seen.turn.is_some_and(|(role, _)| programmer(role)) {
            let body = seen.body.to_string();
            assert!(!body.contains("assert tiny.two()"), "{body}");
        }
    }
}
