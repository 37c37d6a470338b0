//! The loop around the steps, on a sandbox in memory: what happens when an
//! agent or the platform fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use swe_ci_base::code::CodeTree;
use swe_ci_base::digest::sha256_hex;
use swe_ci_core::outcomes::TestList;
use swe_ci_core::permissions::RunPermissions;
use swe_ci_core::report::Report;
use swe_ci_core::run::RunConfig;
use swe_ci_core::step::{Ending, Plan, State, StepOutcome};
use swe_ci_core::task::{TaskId, TestCommand};
use swe_ci_dataset::{CommitInfo, TaskFolders, write_history};
use swe_ci_gateway::{Gateway, Ledgers};
use swe_ci_grading::testing;
use swe_ci_sandbox::images::BuildNetwork;
use swe_ci_sandbox::{
    Docker, Exec, Exit, FakeFiles, FakeSandbox, Instance, STDIN, STDOUT, SandboxError,
};
use swe_ci_store::artifacts::Artifacts;
use swe_ci_store::{Claim, NewRun, StepToRecord, Store, Suite, TaskRow};
use swe_ci_views::account::{Actor, Standing};
use swe_ci_views::view::{Provenance, TaskState};
use tokio_util::task::TaskTracker;

use super::attempts::Attempt;
use super::model_usage::ModelUsage;
use super::{EvolveOutcome, Evolver, Interrupts, step_row};
use crate::events::Events;
use crate::harness::{Harnesses, Layers};
use crate::provider_keys::Keys;

mod budgets;
mod slots;

const WORKER: &str = "w/1";

/// Replaces a container's commands, by role.
type Fake = fn(&Exec, &mut FakeFiles, usize) -> Result<Exit, SandboxError>;

struct Fixture {
    evolver: Evolver,
    claim: Claim,
    sandbox: FakeSandbox,
    folder: tempfile::TempDir,
}

impl Fixture {
    /// A task of three versions; `passed.txt` holds the number of passing
    /// tests, of two.
    async fn new(fake: Fake, max_attempts: u32) -> Self {
        let plan = Plan {
            max_attempts,
            ..RunConfig::human("s").plan
        };
        Self::planned(fake, plan).await
    }

    async fn planned(fake: Fake, plan: Plan) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let id = TaskId::new("t").unwrap();
        let folders = TaskFolders::new(folder.path().join("tasks"));
        let versions: Vec<(CommitInfo, CodeTree)> =
            ["0", "1", "2"].into_iter().map(version).collect();
        let shas = write_history(&folder.path().join("tasks/t/code"), &versions).unwrap();
        let store = Store::open(&format!(
            "sqlite:{}?mode=rwc",
            folder.path().join("db").display()
        ))
        .await
        .unwrap();
        let artifacts = Artifacts::in_folder(&folder.path().join("artifacts")).unwrap();
        let base_report = artifacts.put("tasks/t/report", report(0)).await.unwrap();
        let task = task(&id, &shas, base_report);
        store.put_task("s", 0, &task).await.unwrap();
        let mut config = RunConfig::human("s");
        config.plan = plan;
        let run = NewRun {
            standing: Standing::default(),
            grant: RunPermissions::default(),
            config,
            provenance: Provenance::default(),
            tasks: vec![(id, 1.0)],
            preflight: false,
            forget_keys: false,
        };
        store.insert_run(&run, &Actor::Operator).await.unwrap();
        let claim = store.claim(WORKER, 60_000).await.unwrap().unwrap();
        let calls = AtomicUsize::new(0);
        let sandbox = FakeSandbox::new(move |exec, files| {
            fake(exec, files, calls.fetch_add(1, Ordering::Relaxed))
        });
        let keys = Keys::new(store.clone(), None, folder.path());
        // Never called: the replayed history needs no layer.
        let docker = Docker::new(Instance("test".into()), folder.path());
        let evolver = Evolver {
            store,
            artifacts,
            sandbox: Arc::new(sandbox.clone()),
            folders,
            events: Events::default(),
            harnesses: Harnesses::new(
                folder.path().join("harnesses"),
                Layers::new(docker, Instance("test".into()), "base", folder.path()),
                BuildNetwork::default(),
            ),
            gateway: Gateway::new(folder.path().join("gateway")).unwrap(),
            keys,
            ledgers: Ledgers::default(),
            pending_containers: TaskTracker::new(),
        };
        Self {
            evolver,
            claim,
            sandbox,
            folder,
        }
    }

    async fn evolve(&self) -> Ending {
        let interrupts = Interrupts::default();
        match self
            .evolver
            .evolve(&self.claim, WORKER, &interrupts)
            .await
            .unwrap()
        {
            EvolveOutcome::Ended(ending) => ending,
            EvolveOutcome::Stopped => panic!("nobody stopped it"),
        }
    }

    async fn outcomes(&self) -> Vec<StepOutcome> {
        self.evolver
            .store
            .steps(&self.claim.evolution_id)
            .await
            .unwrap()
            .iter()
            .map(|s| s.outcome)
            .collect()
    }

    async fn reason(&self) -> String {
        self.evolver
            .store
            .evolution(&self.claim.evolution_id)
            .await
            .unwrap()
            .reason
            .unwrap_or_default()
    }
}

fn version(passed: &str) -> (CommitInfo, CodeTree) {
    let mut code = CodeTree::default();
    code.insert_file("passed.txt", passed);
    code.insert_file("tests/test_a.py", "# two tests");
    (
        CommitInfo {
            sha: String::new(),
            time: 1_000,
            message: format!("version {passed}"),
        },
        code,
    )
}

fn task(id: &TaskId, shas: &[String], base_report: String) -> TaskRow {
    TaskRow {
        id: id.clone(),
        repo: "r".into(),
        base_sha: shas[0].clone(),
        target_sha: shas[2].clone(),
        state: TaskState::Ready,
        image: sha256_hex(b"image"),
        suite: Suite::of(
            TestList::of_target(&Report::parse(&report(2)).unwrap()),
            &Report::parse(&report(0)).unwrap(),
        ),
        base_report: Some(base_report),
        test_command: TestCommand::default(),
        suite_seconds: 0.1,
        commits: 2,
        span_days: 0.0,
        target_time: None,
        preparation: Default::default(),
        extra: Vec::new(),
    }
}

/// A report in which the first `passed` of two tests pass.
fn report(passed: usize) -> Vec<u8> {
    let test = |(id, outcome)| format!(r#"{{"nodeid": "{id}", "outcome": "{outcome}"}}"#);
    let exit = i32::from(passed < 2);
    let tests = outcomes(passed).map(test).join(",");
    format!(r#"{{"exitcode": {exit}, "summary": {{"passed": {passed}}}, "tests": [{tests}]}}"#)
        .into_bytes()
}

/// The outcomes of two tests of which the first `passed` pass.
fn outcomes(passed: usize) -> [(String, &'static str); 2] {
    [0, 1].map(|i| {
        let outcome = if i < passed { "passed" } else { "failed" };
        (format!("tests/test_a.py::t{i}"), outcome)
    })
}

fn is_grading(exec: &Exec) -> bool {
    exec.reads_input
}

/// Does what the real commands do.
fn honest(exec: &Exec, files: &mut FakeFiles, _call: usize) -> Result<Exit, SandboxError> {
    let script = exec.command.join(" ");
    if is_grading(exec) {
        let code = testing::code(&files[STDIN]).unwrap();
        let passed = std::str::from_utf8(code.file("passed.txt").unwrap()).unwrap();
        let passed: usize = passed.parse().unwrap();
        let tests = outcomes(passed);
        let tests = tests
            .each_ref()
            .map(|(id, outcome)| (id.as_str(), *outcome));
        let printed = testing::session(&files[STDIN], &tests).unwrap();
        files.insert(STDOUT.into(), printed);
        return Ok(Exit::Code(0));
    }
    if script.contains("requirement.xml") {
        assert!(
            files.contains_key("/app/non-passed/summary.jsonl"),
            "the architect is shown the gap"
        );
        let document = files["/app/harness/requirement.xml"].clone();
        files.insert("/app/requirement.xml".into(), document);
    } else {
        assert!(
            files.contains_key("/app/requirement.xml"),
            "the programmer is given the document"
        );
        let code = files["/app/harness/code/passed.txt"].clone();
        files.insert("/app/code/passed.txt".into(), code);
    }
    Ok(Exit::Code(0))
}

#[tokio::test]
async fn after_the_last_iteration_no_container_is_created() {
    let check = async |max_iterations: u32, ending: Ending, opened: usize| {
        let plan = Plan {
            max_iterations,
            ..RunConfig::human("s").plan
        };
        let fixture = Fixture::planned(honest, plan).await;
        assert_eq!(fixture.evolve().await, ending);
        assert_eq!(fixture.sandbox.opened(), opened);
    };
    check(1, Ending::IterationsSpent, 3).await;
    check(2, Ending::Solved, 6).await;
    // The replayed history ends before the iterations do.
    check(20, Ending::Solved, 6).await;
}

#[tokio::test]
async fn every_step_has_a_fresh_container() {
    let fixture = Fixture::new(honest, 1).await;
    assert_eq!(fixture.evolve().await, Ending::Solved);
    assert_eq!(fixture.outcomes().await.len(), 6);
    let iterations = fixture
        .evolver
        .store
        .iterations(&fixture.claim.evolution_id)
        .await
        .unwrap();
    assert_eq!(
        iterations
            .iter()
            .map(|i| i.outcomes.letters())
            .collect::<Vec<_>>(),
        ["pf", "pp"]
    );
}

#[tokio::test]
async fn the_platform_failing_blocks_and_never_scores() {
    let fixture = Fixture::new(|_, _, _| Err(SandboxError::Lost), 1).await;
    assert_eq!(fixture.evolve().await, Ending::Blocked);
    assert_eq!(fixture.outcomes().await, [StepOutcome::InfraFailed]);
    assert!(
        fixture
            .reason()
            .await
            .contains("removed or stopped from outside")
    );
    assert!(!Ending::Blocked.is_scored());
}

#[tokio::test]
async fn the_platform_failing_once_is_forgotten() {
    let once: Fake = |exec, files, call| {
        if call == 2 {
            Err(SandboxError::Lost)
        } else {
            honest(exec, files, call)
        }
    };
    let fixture = Fixture::new(once, 2).await;
    assert_eq!(fixture.evolve().await, Ending::Solved);
    assert_eq!(
        fixture.outcomes().await[2..4],
        [
            StepOutcome::InfraFailed,
            StepOutcome::Scored { solved: false }
        ]
    );
    assert_eq!(
        fixture
            .evolver
            .store
            .iterations(&fixture.claim.evolution_id)
            .await
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn an_agent_that_keeps_failing_gives_up_and_is_scored() {
    use StepOutcome::{AgentFailed, AgentTimedOut, MalformedRequirement};
    let check = async |fake: Fake, outcome: StepOutcome, expect: &str| {
        let fixture = Fixture::new(fake, 2).await;
        assert_eq!(fixture.evolve().await, Ending::AgentGaveUp);
        assert_eq!(fixture.outcomes().await, [outcome; 2]);
        let reason = fixture.reason().await;
        assert!(reason.contains(expect), "{reason}");
        assert!(Ending::AgentGaveUp.is_scored());
    };
    check(|_, _, _| Ok(Exit::Code(3)), AgentFailed, "exit code 3").await;
    check(
        |_, _, _| Ok(Exit::TimedOut),
        AgentTimedOut,
        "longer than 3600 s",
    )
    .await;
    check(
        |_, _, _| Ok(Exit::DiskSpent),
        AgentFailed,
        "wrote more than 4096 MiB",
    )
    .await;
    check(
        |_, _, _| Ok(Exit::Code(0)),
        MalformedRequirement,
        "left no requirement.xml",
    )
    .await;
    let malformed: Fake = |_, files, _| {
        files.insert("/app/requirement.xml".into(), b"<requirements/>".to_vec());
        Ok(Exit::Code(0))
    };
    check(malformed, MalformedRequirement, "holds 0 requirements").await;
}

#[tokio::test]
async fn code_that_ends_its_container_is_at_fault() {
    let agents: Fake = |_, _, _| Err(SandboxError::Died("its memory ran out".into()));
    let fixture = Fixture::new(agents, 2).await;
    assert_eq!(fixture.evolve().await, Ending::AgentGaveUp);
    assert_eq!(fixture.outcomes().await, [StepOutcome::AgentFailed; 2]);
    assert!(fixture.reason().await.contains("its memory ran out"));

    // The third command is the first test run.
    let tests: Fake = |exec, files, call| match call {
        2 => Err(SandboxError::Died("its memory ran out".into())),
        _ => honest(exec, files, call),
    };
    let fixture = Fixture::new(tests, 2).await;
    fixture.evolve().await;
    assert_eq!(fixture.outcomes().await[2], StepOutcome::Collapsed);
    let store = &fixture.evolver.store;
    let iterations = store.iterations(&fixture.claim.evolution_id).await.unwrap();
    let collapse = iterations[0].collapse.as_deref().unwrap();
    assert!(collapse.contains("its memory ran out"), "{collapse}");
}

#[tokio::test]
async fn collapsed_code_is_not_built_upon() {
    let collapse: Fake = |exec, files, call| {
        if call == 2 {
            Ok(Exit::Code(2))
        } else {
            honest(exec, files, call)
        }
    };
    let fixture = Fixture::new(collapse, 1).await;
    assert_eq!(fixture.evolve().await, Ending::Solved);
    let iterations = fixture
        .evolver
        .store
        .iterations(&fixture.claim.evolution_id)
        .await
        .unwrap();
    assert_eq!(
        iterations
            .iter()
            .map(|i| i.outcomes.letters())
            .collect::<Vec<_>>(),
        ["--", "pp"]
    );
    assert!(
        iterations[0]
            .collapse
            .as_deref()
            .unwrap()
            .contains("exit code 2")
    );
    // Gains are counted from the base: iteration 1 left nothing to build on.
    assert_eq!(iterations[1].gained, 2);
}

/// A full disk is the platform's fault, not the agent's.
#[tokio::test]
async fn artifacts_that_cannot_be_kept_block() {
    let fixture = Fixture::new(honest, 1).await;
    let documents = fixture.folder.path().join("artifacts/evolutions");
    std::fs::write(&documents, "a file where a folder should be").unwrap();
    assert_eq!(fixture.evolve().await, Ending::Blocked);
    let reason = fixture.reason().await;
    assert!(
        reason.contains("cannot keep the artifact") && reason.contains("is the disk full?"),
        "{reason}"
    );
    assert!(
        fixture
            .evolver
            .store
            .iterations(&fixture.claim.evolution_id)
            .await
            .unwrap()
            .is_empty()
    );
}

/// An evolution without its checkout is retried and then blocks; it is not
/// claimed for ever.
#[tokio::test]
async fn an_evolution_that_cannot_begin_blocks_in_the_end() {
    let fixture = Fixture::new(honest, 1).await;
    std::fs::remove_dir_all(fixture.folder.path().join("tasks")).unwrap();
    assert_eq!(fixture.evolve().await, Ending::Blocked);
    assert_eq!(fixture.outcomes().await, [StepOutcome::InfraFailed]);
    let reason = fixture.reason().await;
    assert!(reason.contains("is not there"), "{reason}");
}

/// Even while its task cannot be read.
#[tokio::test]
async fn a_cancelled_run_ends_as_cancelled() {
    let fixture = Fixture::new(honest, 5).await;
    std::fs::remove_dir_all(fixture.folder.path().join("tasks")).unwrap();
    let store = &fixture.evolver.store;
    let run_id = &fixture.claim.run_id;
    store.cancel_run(run_id, &Actor::Operator).await.unwrap();
    assert_eq!(fixture.evolve().await, Ending::Cancelled);
    assert_eq!(fixture.outcomes().await, [StepOutcome::Cancelled]);
}

/// Its recording is paid for, and its row points at it.
#[tokio::test]
async fn a_repetition_keeps_what_the_interrupted_attempt_stored() {
    let mut fixture = Fixture::new(honest, 1).await;
    let store = fixture.evolver.store.clone();
    let at = State::start();
    let State::Active(at) = at else {
        panic!("an evolution starts with a step")
    };
    let interrupted = step_row(at, 0, &Attempt::interrupted(), ModelUsage::default(), None);
    let record = StepToRecord {
        step: &interrupted,
        iteration: None,
        next: Ok(at),
    };
    let recorded = store.record_step(&fixture.claim, WORKER, &record).await;
    recorded.unwrap();
    let id = fixture.claim.evolution_id.clone();
    assert!(store.release_claim(&id, WORKER).await.unwrap());
    fixture.claim = store.claim(WORKER, 60_000).await.unwrap().unwrap();
    assert_eq!(fixture.evolve().await, Ending::Solved);
    let steps = store.steps(&id).await.unwrap();
    let products: Vec<&str> = steps.iter().filter_map(|s| s.product.as_deref()).collect();
    let ends = |at: usize, name: &str| assert!(products[at].ends_with(name), "{products:?}");
    ends(0, "/0001/architect-1.2-requirement.xml.zst");
    ends(3, "/0002/architect-1.2-requirement.xml.zst");
}

/// Another import of the same name, with other commits, another image and
/// other reports, does not touch a run that has been started.
#[tokio::test]
async fn a_task_prepared_again_changes_no_evolution() {
    let fixture = Fixture::new(honest, 1).await;
    let store = &fixture.evolver.store;
    let started_on = store.task(&fixture.claim.task_id).await.unwrap();
    let again = TaskRow {
        base_sha: started_on.target_sha.clone(),
        target_sha: started_on.base_sha.clone(),
        image: sha256_hex(b"another image"),
        base_report: Some("none".into()),
        test_command: TestCommand::default(),
        suite: Suite::none(),
        ..started_on.clone()
    };
    store.put_task("s", 0, &again).await.unwrap();
    assert_eq!(fixture.evolve().await, Ending::Solved);
    let steps = store.steps(&fixture.claim.evolution_id).await.unwrap();
    assert_eq!(steps.len(), 6);
    let images = steps.iter().filter_map(|step| step.container.as_ref());
    assert!(images.clone().count() > 0);
    assert!(
        images
            .map(|c| &c.image)
            .all(|image| *image == started_on.image)
    );
}

/// Blocked by the platform and then retried: it resumes at the failed step,
/// under new numbers, and loses nothing.
#[tokio::test]
async fn a_blocked_evolution_resumes_where_it_stopped() {
    let twice: Fake = |exec, files, call| {
        if call == 2 || call == 3 {
            Err(SandboxError::Lost)
        } else {
            honest(exec, files, call)
        }
    };
    let fixture = Fixture::new(twice, 2).await;
    assert_eq!(fixture.evolve().await, Ending::Blocked);
    let store = &fixture.evolver.store;
    let run_id = fixture.claim.run_id.as_str();
    let queued = store.retry(run_id, &Actor::Operator).await.unwrap();
    assert_eq!(queued, std::slice::from_ref(&fixture.claim.evolution_id));
    let again = store.claim(WORKER, 60_000).await.unwrap().unwrap();
    assert_eq!(again.evolution_id, fixture.claim.evolution_id);
    assert_eq!(fixture.evolve().await, Ending::Solved);
    let steps = store.steps(&fixture.claim.evolution_id).await.unwrap();
    let tried: Vec<(StepOutcome, u32)> = steps.iter().map(|s| (s.outcome, s.attempt)).collect();
    assert_eq!(
        tried[1..6],
        [
            (StepOutcome::Done, 1),
            (StepOutcome::InfraFailed, 1),
            (StepOutcome::InfraFailed, 2),
            (StepOutcome::Retried, 2),
            (StepOutcome::Scored { solved: false }, 3),
        ]
    );
    let iterations = store.iterations(&fixture.claim.evolution_id).await.unwrap();
    assert_eq!(iterations.len(), 2);
}
