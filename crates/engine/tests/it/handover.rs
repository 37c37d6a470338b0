//! Runs that go on with the code of another run, in real containers.

use swe_ci_core::agent::Protocol;
use swe_ci_core::handover::{Handover, HandoverTarget, NoStart};
use swe_ci_core::run::{HarnessConfig, RunConfig};
use swe_ci_core::step::{Ending, Role};
use swe_ci_core::task::TaskId;
use swe_ci_engine::testing::TinyTask;
use swe_ci_engine::{Error, Result};
use swe_ci_testing::scripted::{Conversation, Script, ScriptedLlm, Turn};
use swe_ci_views::account::Visibility;
use swe_ci_views::handover::{After, Wanted};

use crate::agents::{DOCUMENT, KEY, KEY_NAME, TESTS, config};
use crate::fixture::{Fixture, SPLIT, golden};

const TEST_FILE: &str = "tests/test_tiny.py";
const NOTHING: &str = "def one(): return 1\ndef two(): return 0\ndef three(): return 0\n";
const TWO: &str = "def one(): return 1\ndef two(): return 2\ndef three(): return 0\n";
const ALL: &str = "def one(): return 1\ndef two(): return 2\ndef three(): return 3\n";

/// The human closes `long` in two iterations and `short` in one.
const LONG: TinyTask<'_> = TinyTask {
    name: "long",
    versions: &[
        &[("tiny.py", NOTHING), (TEST_FILE, TESTS)],
        &[("tiny.py", TWO), (TEST_FILE, TESTS)],
        &[("tiny.py", ALL), (TEST_FILE, TESTS)],
    ],
};
const SHORT: TinyTask<'_> = TinyTask {
    name: "short",
    versions: &[
        &[("tiny.py", NOTHING), (TEST_FILE, TESTS)],
        &[("tiny.py", ALL), (TEST_FILE, TESTS)],
    ],
};

/// An architect that requests the same always, and a programmer that applies
/// `edit` to the code.
fn obey(conversation: &Conversation, edit: &str) -> Turn {
    match (conversation.role, conversation.turn) {
        (Role::Architect, 0) => Turn::write("/app/requirement.xml", DOCUMENT),
        (Role::Programmer, 0) => Turn::bash(edit),
        _ => Turn::say("Done."),
    }
}

/// Writes two(), and loses one() with it.
fn careless(conversation: &Conversation) -> Turn {
    let edit = "sed -i 's/two(): return 0/two(): return 2/; s/one(): return 1/one(): return 0/' /app/code/tiny.py";
    obey(conversation, edit)
}

/// Repairs one(), and then writes three().
fn careful(conversation: &Conversation) -> Turn {
    let edit = "cd /app/code && if grep -q 'one(): return 0' tiny.py; \
                then sed -i 's/one(): return 0/one(): return 1/' tiny.py; \
                else sed -i 's/three(): return 0/three(): return 3/; s/two(): return 0/two(): return 2/' tiny.py; fi";
    obey(conversation, edit)
}

fn model(llm: &ScriptedLlm, name: &str, iterations: u32) -> RunConfig {
    let mut config = config(llm, HarnessConfig::Builtin, Protocol::Chat);
    config.model = name.into();
    config.plan.max_iterations = iterations;
    config
}

fn going_on(config: &RunConfig, run: &str, iteration: Option<u32>) -> RunConfig {
    let run = run.to_owned();
    RunConfig {
        handover: Some(Handover {
            run,
            iteration,
            target: HandoverTarget::Same,
        }),
        ..config.clone()
    }
}

/// The fields that a submission is refused for, with their reasons.
fn refused(result: Result<String>) -> Vec<(String, String)> {
    match result {
        Err(Error::Rejected(problems)) => problems
            .into_iter()
            .map(|bad| (bad.field, bad.problem))
            .collect(),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn models_go_on_with_other_code() {
    let fixture = Fixture::new().await;
    fixture.import(&[LONG, SHORT]).await.unwrap();
    let engine = &fixture.engine;
    engine
        .set_key(KEY_NAME, &KEY.to_owned().into())
        .await
        .unwrap();
    let a = ScriptedLlm::start(Script::with(careless), KEY)
        .await
        .unwrap();
    let b = ScriptedLlm::start(Script::with(careful), KEY)
        .await
        .unwrap();

    let human = fixture.replay().await.summary.run_id;
    let wrote = fixture.run(model(&a, "Careless", 1)).await;
    for evolution in &wrote.evolution_list {
        let text = golden(evolution);
        assert!(text.contains("1 1/3 lost 1 gained 1"), "{text}");
    }
    let wrote = wrote.summary.run_id;
    let careful = model(&b, "Careful", 2);

    // From two() alone: one() is repaired, and then three() written.
    let on_a = fixture.run(going_on(&careful, &wrote, Some(1))).await;
    for evolution in &on_a.evolution_list {
        let text = golden(evolution);
        let expect = "solved\n1 2/3 lost 0 gained 1\n2 3/3 lost 0 gained 1\n";
        assert!(text.ends_with(expect), "{text}");
        let start = evolution.start.as_ref().unwrap();
        assert_eq!((&start.run_id, start.iteration), (&wrote, 1));
        assert!(start.code.len() >= 64, "{start:?}");
        assert_eq!(evolution.suite.base_in_target, 1);
    }
    // The first change is that of the model itself.
    let first = &on_a.evolution_list[0].evolution_id;
    let change = engine.inspect_iteration(first, 1).await.unwrap();
    let change = format!("{:?}", change.code);
    assert!(change.contains("def one(): return 0"), "{change}");
    assert!(!change.contains("-def two()"), "{change}");
    let handed = on_a.summary.run_id.clone();

    // The human has solved `short` by then.
    let on_human = fixture.run(going_on(&careful, &human, Some(1))).await;
    assert_eq!(on_human.evolution_list.len(), 1);
    let left_out = &on_human.provenance.not_handed_over;
    assert_eq!(left_out.len(), 1);
    assert_eq!(left_out[0].task_id.as_str(), "short");
    assert_eq!(left_out[0].why, NoStart::SolvedAtStart);
    assert_eq!(on_human.evolution_list[0].ending, Some(Ending::Solved));

    // By hand: on careless code 1 of 2 open tests is closed after the first
    // iteration, all after the second; on the human's the only one at once. The
    // difference is of the task that both have.
    let matrix = engine.handovers(SPLIT, Wanted::default()).await.unwrap();
    assert_eq!(matrix.after, After::Iteration(1));
    let writers: Vec<&str> = matrix.writers.iter().map(|w| w.model.as_str()).collect();
    assert_eq!(writers, ["Human (replayed history)", "Careless"]);
    let cell = matrix.cell(1, 0).unwrap();
    assert_eq!((&cell.run_id, cell.tasks), (&handed, 2));
    let closed: Vec<f64> = cell.by_iteration.iter().map(|i| i.closed_gap).collect();
    assert_eq!(closed, [0.5, 1.0]);
    let first = cell.at(1).unwrap();
    assert_eq!(first.lost, 0.0);
    let against = first.against_human.unwrap();
    assert_eq!((against.tasks, against.difference), (1, -0.5));
    // Each agent answers twice: 1,000 + 2,000 in and 100 out each time.
    assert_eq!(first.tokens, Some(6_400.0));
    assert_eq!(cell.at(2).unwrap().tokens, Some(12_800.0));

    // No ordinary leaderboard has them.
    let board = engine.leaderboard_data(SPLIT).await.unwrap();
    assert_eq!(board.entries.len() + board.unranked.len(), 2);

    // Its suites count from the code that it was handed, and today's do not.
    let regraded = engine.regrade(&handed).await;
    assert!(matches!(&regraded, Err(Error::Conflict(why)) if why.contains("goes on with")));

    let check = async |config: RunConfig, field: &str, why: &str| {
        let problems = refused(engine.submit(config, Visibility::Public).await);
        let found = problems
            .iter()
            .any(|(at, says)| at == field && says.contains(why));
        assert!(found, "{field}, {why}: {problems:?}");
    };
    let late = going_on(&careful, &wrote, Some(2));
    check(late, "handover.iteration", "the longest has 1").await;
    let nobody = going_on(&careful, "nobody", None);
    check(nobody, "handover.run", "nobody").await;
    let solved = going_on(&careful, &human, None);
    check(solved, "handover.run", "nothing to go on with").await;
    let queued = model(&a, "Queued", 1);
    let queued = engine.submit(queued, Visibility::Public).await.unwrap();
    let early = going_on(&careful, &queued, None);
    check(early, "handover.run", "is queued").await;

    // Code of a run that is not public stays with those who may see it.
    engine.unpublish(&wrote, "a test").await.unwrap();
    let hidden = going_on(&careful, &wrote, None);
    check(hidden.clone(), "handover.run", "is not public").await;
    let private = engine.submit(hidden, Visibility::Private).await.unwrap();
    let refused = engine.publish(&private).await.unwrap_err();
    assert!(matches!(&refused, Error::Conflict(why) if why.contains(&wrote)));
    engine.publish(&wrote).await.unwrap();
    engine.publish(&private).await.unwrap();
}

/// It goes on where `early` ends, and asks for three() too.
const EARLY: TinyTask<'_> = TinyTask {
    name: "early",
    versions: &[
        &[("tiny.py", NOTHING), (TEST_FILE, TWO_TESTS)],
        &[("tiny.py", TWO), (TEST_FILE, TWO_TESTS)],
    ],
};
const LATE: TinyTask<'_> = TinyTask {
    name: "late",
    versions: &[
        EARLY.versions[0],
        EARLY.versions[1],
        &[("tiny.py", ALL), (TEST_FILE, TESTS)],
    ],
};
const TWO_TESTS: &str = "import tiny\n\ndef test_one(): assert tiny.one() == 1\n\ndef test_two(): assert tiny.two() == 2\n";

/// Lets `late` begin at the target of `early`: their histories are one.
async fn write_in_a_row(fixture: &Fixture) {
    fixture.write(&[EARLY, LATE]).await;
    let file = fixture.dataset().join(format!("metadata/{SPLIT}.csv"));
    let text = std::fs::read_to_string(&file).unwrap();
    let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap();
    let shas: Vec<&str> = row("early")
        .split(',')
        .filter(|cell| cell.len() == 40)
        .collect();
    let [base, target] = shas[..] else {
        panic!("{text}");
    };
    let late = row("late");
    assert!(late.contains(base), "{text}");
    let text = text.replace(late, &late.replace(base, target));
    std::fs::write(&file, text).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn models_go_on_towards_a_later_target() {
    let fixture = Fixture::new().await;
    write_in_a_row(&fixture).await;
    fixture.import_written().await.0.unwrap();
    let engine = &fixture.engine;
    engine
        .set_key(KEY_NAME, &KEY.to_owned().into())
        .await
        .unwrap();
    let a = ScriptedLlm::start(Script::with(careless), KEY)
        .await
        .unwrap();
    let b = ScriptedLlm::start(Script::with(careful), KEY)
        .await
        .unwrap();
    let only = |config: &RunConfig, task: &str| RunConfig {
        tasks: vec![TaskId::new(task).unwrap()],
        ..config.clone()
    };
    let careful = model(&b, "Careful", 1);
    let moved = |run: &str, task: &str| {
        let mut config = going_on(&only(&careful, task), run, None);
        config.handover.as_mut().unwrap().target = HandoverTarget::Moved;
        config
    };

    // Careless gains two() and loses one(): of the three tests of `late`, one passes.
    let wrote = fixture.run(only(&model(&a, "Careless", 1), "early")).await;
    let wrote = wrote.summary.run_id;
    let on_a = fixture.run(moved(&wrote, "late")).await;
    let [evolution] = &on_a.evolution_list[..] else {
        panic!("{:?}", on_a.evolution_list);
    };
    let text = golden(evolution);
    assert!(text.ends_with("1 2/3 lost 0 gained 1\n"), "{text}");
    let suite = evolution.suite;
    assert_eq!((suite.base_in_target, suite.target), (1, 3));
    let start = evolution.start.as_ref().unwrap();
    assert_eq!((&start.run_id, start.iteration), (&wrote, 1));
    // The tests of the later target came with the start, not with the agents.
    let change = engine.inspect_iteration(&evolution.evolution_id, 1).await;
    let change = format!("{:?}", change.unwrap().code);
    assert!(change.contains("def one(): return 1"), "{change}");
    assert!(!change.contains("test_three"), "{change}");

    // And again with that, towards the same target.
    let mut chained = going_on(&only(&careful, "late"), &on_a.summary.run_id, None);
    chained.model = "Patient".into();
    let chained = fixture.run(chained).await;
    let text = golden(&chained.evolution_list[0]);
    assert!(text.ends_with("solved\n1 3/3 lost 0 gained 1\n"), "{text}");

    // By hand: one of two open tests closed towards the later target, and the
    // last one in the chain.
    let later = Wanted {
        target: Some(HandoverTarget::Moved),
        ..Wanted::default()
    };
    let later = engine.handovers(SPLIT, later).await.unwrap();
    let cell = later.cell(0, 0).unwrap();
    assert_eq!(later.writers[0].name(), "Careless");
    assert_eq!(cell.at(1).unwrap().closed_gap, 0.5);
    let same = engine.handovers(SPLIT, Wanted::default()).await.unwrap();
    assert_eq!(same.target, HandoverTarget::Same);
    assert_eq!(same.writers[0].name(), "Careful on the code of Careless");
    assert_eq!(same.cell(0, 0).unwrap().at(1).unwrap().closed_gap, 1.0);

    let refusal = refused(
        engine
            .submit(moved(&wrote, "early"), Visibility::Public)
            .await,
    );
    assert_eq!(refusal[0].0, "tasks");
    assert!(
        refusal[0].1.contains("ends where `early` begins"),
        "{refusal:?}"
    );
}
