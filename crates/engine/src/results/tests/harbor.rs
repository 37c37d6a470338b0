//! Jobs of Harbor.

use serde_json::{Value, json};
use swe_ci_core::metrics::Verdict;
use swe_ci_core::results::Layout;
use swe_ci_core::step::Role;
use swe_ci_views::conversation::{RecordingFormat, Window};

use super::super::{Detail, Found, read};
use super::Lab;
use super::importing::{engine, request};
use crate::{Change, Error};

const STEP: &str = "swe-ci/a";
const EVOLUTION: &str = "swe-ci-evolution/a";

fn result(task: &str, steps: &[&str]) -> Value {
    let steps: Vec<Value> = steps
        .iter()
        .map(|name| json!({"step_name": name, "agent_result": {"n_input_tokens": 5}}))
        .collect();
    json!({
        "task_name": task,
        "agent_info": {"name": "oracle", "version": "1.0.0"},
        "agent_result": {"n_input_tokens": 7, "n_output_tokens": 2},
        "exception_info": null,
        "step_results": steps,
    })
}

/// Of a task with three tests, of which the base passes `t0`; these pass.
fn verified(passing: &[&str]) -> Value {
    let outcome = |id: &&str| {
        if passing.contains(id) {
            "passed"
        } else {
            "failed"
        }
    };
    let tests: Vec<Value> = ["t0", "t1", "t2"]
        .iter()
        .map(|id| json!({"nodeid": id, "outcome": outcome(id)}))
        .collect();
    json!({
        "format": 1,
        "task_id": "a", "current_sha": "aaaaaaa", "target_sha": "bbbbbbb",
        "tests": ["t0", "t1", "t2"], "base_passing": ["t0"], "base_passed": 1, "target_passed": 3,
        "collapse": null, "findings": [],
        "report": {
            "exitcode": 0, "duration": 0.1,
            "summary": {"total": 3, "passed": passing.len()}, "tests": tests,
        },
    })
}

fn collapsed() -> Value {
    let mut value = verified(&[]);
    value["collapse"] = "the tests took longer than 5 s".into();
    value["report"] = Value::Null;
    value
}

fn samples(lab: &Lab) -> Vec<Found> {
    let read = read(
        Layout::Harbor,
        &lab.experiment(),
        &lab.metadata(),
        Detail::Tests,
    );
    read.unwrap().tasks.remove(0).samples
}

fn only(lab: &Lab) -> Found {
    let mut samples = samples(lab);
    assert_eq!(samples.len(), 1);
    samples.remove(0)
}

fn write(lab: &Lab, path: &str, value: &Value) {
    lab.write(path, value.to_string());
}

#[test]
fn trials_of_a_step_are_samples_of_one_iteration() {
    let lab = Lab::new(&["a"]);
    for (trial, passing) in [("a__x", &["t0", "t1"][..]), ("a__y", &["t0", "t1", "t2"])] {
        write(&lab, &format!("{trial}/result.json"), &result(STEP, &[]));
        write(
            &lab,
            &format!("{trial}/verifier/swe-ci.json"),
            &verified(passing),
        );
    }
    write(&lab, "other/result.json", &result("harbor/hello", &[]));
    lab.write("job.log", "text");
    let found = read(
        Layout::Harbor,
        &lab.experiment(),
        &lab.metadata(),
        Detail::Tests,
    );
    let mut found = found.unwrap();
    assert_eq!(found.ignored, ["other"]);
    let samples = found.tasks.remove(0).samples;
    let passed: Vec<u32> = samples
        .iter()
        .map(|sample| {
            let Found::Evolution(evolution) = sample else {
                panic!("{sample:?}");
            };
            let usage = evolution.record.iterations[0].programmer.unwrap();
            assert_eq!((usage.input_tokens, usage.output_tokens), (7, 2));
            let measured = evolution.measured(20);
            assert!(!measured.suite.counts.counts_only);
            measured.iterations[0].verdict.in_target()
        })
        .collect();
    assert_eq!(passed, [2, 3]);
}

#[test]
fn an_evolution_has_an_iteration_per_step() {
    let lab = Lab::new(&["a"]);
    let steps = ["iteration-0001", "iteration-0002", "iteration-0003"];
    write(&lab, "a__x/result.json", &result(EVOLUTION, &steps));
    for (step, value) in steps.iter().zip([
        verified(&["t1", "t2"]),
        collapsed(),
        verified(&["t0", "t1", "t2"]),
    ]) {
        let path = format!("a__x/steps/{step}/verifier/swe-ci.json");
        write(&lab, &path, &value);
    }
    let Found::Evolution(evolution) = only(&lab) else {
        panic!("{:?}", samples(&lab));
    };
    let verdicts: Vec<Verdict> = evolution
        .measured(20)
        .iterations
        .iter()
        .map(|i| i.verdict)
        .collect();
    let scored = |passed, lost| Verdict::Scored {
        in_target: passed,
        passed,
        lost,
    };
    assert_eq!(
        verdicts,
        [scored(2, 1), Verdict::Collapsed { lost: 2 }, scored(3, 0)]
    );

    // One that was cut off keeps what was graded before.
    std::fs::remove_file(lab.path("a__x/steps/iteration-0002/verifier/swe-ci.json")).unwrap();
    let Found::Evolution(evolution) = only(&lab) else {
        panic!("{:?}", samples(&lab));
    };
    assert_eq!(evolution.record.iterations.len(), 1);
    assert!(evolution.notes[0].contains("iteration-0002"));
}

/// The trials of a job tell N, and an option can only leave iterations out.
#[test]
fn the_number_of_iterations_is_that_of_the_job() {
    let check =
        |task: &str, steps: &[&str], cut: bool, wanted: Option<u32>, expect: Result<u32, &str>| {
            let lab = Lab::new(&["a"]);
            let mut trial = result(task, steps);
            if cut {
                trial["exception_info"] = json!({"exception_type": "AgentTimeoutError"});
            }
            write(&lab, "a__x/result.json", &trial);
            let (root, metadata) = (lab.experiment(), lab.metadata());
            let job = read(Layout::Harbor, &root, &metadata, Detail::Tests).unwrap();
            match (job.max_iterations(wanted), expect) {
                (Ok(found), Ok(expect)) => assert_eq!(found, expect),
                (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
                (found, expect) => panic!("{found:?}, and not {expect:?}"),
            }
        };
    let steps = ["iteration-0001", "iteration-0002", "iteration-0003"];
    check(STEP, &[], false, None, Ok(1));
    check(
        STEP,
        &[],
        false,
        Some(20),
        Err("20 is more than this job has"),
    );
    check(EVOLUTION, &steps, false, None, Ok(3));
    check(EVOLUTION, &steps, false, Some(2), Ok(2));
    check(EVOLUTION, &steps, false, Some(4), Err("its trials have 3"));
    check(EVOLUTION, &steps, true, None, Err("--max-iterations"));
    check(EVOLUTION, &steps, true, Some(5), Ok(5));
}

#[test]
fn a_folder_of_jobs_is_no_job() {
    let lab = Lab::new(&["a"]);
    let job = json!({"id": "1", "n_total_trials": 1, "stats": {"n_trials": 1}});
    write(&lab, "evolution-nop/result.json", &job);
    let (root, metadata) = (lab.experiment(), lab.metadata());
    let error = read(Layout::Harbor, &root, &metadata, Detail::Tests).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("this is a folder of jobs; name one job"),
        "{error}"
    );
}

#[test]
fn broken_files_are_refused_with_file_and_field() {
    let check = |change: &dyn Fn(&mut Value, &mut Value), expect: &str| {
        let lab = Lab::new(&["a"]);
        let (mut trial, mut report) = (result(STEP, &[]), verified(&["t0"]));
        change(&mut trial, &mut report);
        write(&lab, "a__x/result.json", &trial);
        write(&lab, "a__x/verifier/swe-ci.json", &report);
        let why = match only(&lab) {
            Found::Bad(why) => why,
            other => panic!("{other:?}"),
        };
        assert!(why.contains(expect), "{why}");
    };
    let file = "a__x/verifier/swe-ci.json";
    check(
        &|_, report| report["format"] = 9.into(),
        &format!("{file}, line 1: `format` is 9"),
    );
    check(
        &|_, report| report["target_sha"] = "ccc".into(),
        &format!("{file}: `target_sha` is `ccc`, and `bbbbbbb`"),
    );
    check(
        &|_, report| report["tests"] = 1.into(),
        &format!("{file}, line 1: column"),
    );
    check(
        &|_, report| report["report"]["summary"]["passed"] = 7.into(),
        "`report`: the test report contradicts itself",
    );
    check(
        &|_, report| report["collapse"] = "x".into(),
        "`collapse` or `report`",
    );

    // Whose trial it is stands in a file that nobody can read.
    let lab = Lab::new(&["a"]);
    lab.write("a__x/result.json", "{\"task_name\": \"swe-ci/a\"}");
    let error = read(
        Layout::Harbor,
        &lab.experiment(),
        &lab.metadata(),
        Detail::Tests,
    );
    let Err(Error::Invalid(why)) = error else {
        panic!("{error:?}");
    };
    assert!(why.contains("a__x/result.json, line 1"), "{why}");
    assert!(why.contains("`agent_info`"), "{why}");
}

#[test]
fn a_job_is_of_one_agent_and_one_kind() {
    let lab = Lab::new(&["a"]);
    write(&lab, "a__x/result.json", &result(STEP, &[]));
    let mut other = result(STEP, &[]);
    other["agent_info"]["name"] = "nop".into();
    write(&lab, "a__y/result.json", &other);
    let (root, metadata) = (lab.experiment(), lab.metadata());
    let error = read(Layout::Harbor, &root, &metadata, Detail::Tests).unwrap_err();
    assert!(error.to_string().contains("(nop, oracle)"), "{error}");

    write(&lab, "a__y/result.json", &result(EVOLUTION, &[]));
    let Found::Bad(why) = only(&lab) else {
        panic!("{:?}", samples(&lab));
    };
    assert!(why.contains("as a step and as an evolution"), "{why}");
}

#[test]
fn a_trial_that_was_not_graded_is_missing() {
    let lab = Lab::new(&["a"]);
    let mut trial = result(STEP, &[]);
    trial["exception_info"] = json!({"exception_type": "EnvironmentStartTimeoutError"});
    write(&lab, "a__x/result.json", &trial);
    let Found::Missing(why) = only(&lab) else {
        panic!("{:?}", samples(&lab));
    };
    assert!(why.contains("EnvironmentStartTimeoutError"), "{why}");

    // The verifier ran, on code that no model was asked for.
    write(&lab, "a__x/verifier/swe-ci.json", &verified(&["t0"]));
    trial["exception_info"] = json!({"exception_type": "NonZeroAgentExitCodeError"});
    for (tokens, is_missing) in [(0, true), (3, false)] {
        trial["agent_result"] = json!({"n_input_tokens": tokens, "n_output_tokens": 0});
        write(&lab, "a__x/result.json", &trial);
        let found = only(&lab);
        assert_eq!(matches!(found, Found::Missing(_)), is_missing, "{found:?}");
    }
}

fn trajectory(said: &str) -> Value {
    json!({
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "terminus-2", "version": "2.0.0", "model_name": "m"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "Make t2 pass."},
            {
                "step_id": 2, "source": "agent", "message": said,
                "tool_calls": [{"tool_call_id": "1", "function_name": "bash", "arguments": {"command": "ls"}}],
                "observation": {"results": [{"source_call_id": "1", "content": "a.py"}]},
            },
        ],
    })
}

#[tokio::test]
async fn the_conversations_of_trials_are_those_of_the_imported_run() {
    let lab = Lab::new(&["a"]);
    write(&lab, "a__x/result.json", &result(STEP, &[]));
    write(&lab, "a__x/verifier/swe-ci.json", &verified(&["t0", "t1"]));
    let path = "a__x/agent/trajectory.json";
    write(&lab, path, &trajectory("I look."));
    let engine = engine(&lab).await;
    let mut request = request(&lab, Layout::Harbor);
    request.max_iterations = None;
    let import = async || {
        engine
            .import_results(&lab.experiment(), &request)
            .await
            .unwrap()
    };
    let imported = import().await;
    assert_eq!(imported.notes, [""; 0]);

    let run = engine.run(&imported.run_id).await.unwrap();
    let evolution = run.evolution_list[0].evolution_id.as_str();
    let role = Role::Programmer;
    let window = Window::default;
    let page = engine
        .messages(evolution, 1, role, None, window())
        .await
        .unwrap();
    assert_eq!(page.step.recording, RecordingFormat::Atif);
    assert_eq!((page.total, page.conversations.len()), (3, 1));
    let found = engine
        .trajectories(&imported.run_id, Vec::new())
        .await
        .unwrap()
        .0;
    assert_eq!((found.recorded, found.read, found.unreadable), (1, 1, 0));
    let exported = engine.trajectory_file(evolution, 1, role, 1).await.unwrap();
    let exported = crate::testing::text_of(exported).await;
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!(exported["agent"]["model_name"], "m");
    assert_eq!(exported["steps"][1]["message"], "I look.");
    let lines = engine.recording_file(evolution, 1, role, 1).await;
    let Err(Error::NotFound { .. }) = lines else {
        panic!("there are no exchanges");
    };
    let architect = engine
        .messages(evolution, 1, Role::Architect, None, window())
        .await;
    assert!(matches!(architect, Err(Error::NotFound { .. })));

    // A changed conversation is another import.
    assert_eq!(import().await.change, Change::Unchanged);
    write(&lab, path, &trajectory("I look again."));
    assert_eq!(import().await.change, Change::Replaced);

    // A score needs no conversation.
    lab.write(path, "{\n\"schema_version\": 1}");
    let broken = import().await;
    assert_eq!((broken.change, broken.evolutions), (Change::Replaced, 1));
    assert_eq!(broken.notes.len(), 1);
    for part in [path, "line 2 column", "no transcript"] {
        assert!(broken.notes[0].contains(part), "{:?}", broken.notes);
    }
}

/// Where the store of files does not answer, or files are away, a reader is told
/// so, and nothing is taken for damaged. Reading empties no cache.
#[tokio::test]
async fn a_recording_is_read_after_an_outage() {
    let lab = Lab::new(&["a"]);
    write(&lab, "a__x/result.json", &result(STEP, &[]));
    write(&lab, "a__x/verifier/swe-ci.json", &verified(&["t0", "t1"]));
    write(&lab, "a__x/agent/trajectory.json", &trajectory("I look."));
    let engine = engine(&lab).await;
    let mut request = request(&lab, Layout::Harbor);
    request.max_iterations = None;
    let imported = engine.import_results(&lab.experiment(), &request).await;
    let id = imported.unwrap().run_id;
    let evolution = engine.run(&id).await.unwrap().evolution_list[0]
        .evolution_id
        .clone();
    let steps = engine.store.steps(&evolution).await.unwrap();
    let key = steps
        .iter()
        .find_map(|step| step.trajectory.as_ref())
        .unwrap();
    let folder = engine.config().data.join("artifacts");
    let folder = folder.join(key).parent().unwrap().to_owned();
    let away = folder.with_extension("away");
    std::fs::rename(&folder, &away).unwrap();
    std::fs::write(&folder, "no folder").unwrap();

    let changes = engine.changes().await.unwrap();
    let read = async || {
        let found = engine.trajectories(&id, Vec::new()).await.unwrap().0;
        (found.recorded, found.read, found.unreadable)
    };
    let done = async || {
        let nothing = std::future::ready(());
        engine.digest_readers.done(&id, nothing).await;
    };
    assert_eq!(read().await, (1, 0, 0));
    done().await;
    assert_eq!(read().await, (1, 0, 0));
    done().await;
    let file = engine
        .trajectory_file(&evolution, 1, Role::Programmer, 1)
        .await;
    assert!(matches!(file, Err(Error::Unavailable(_))));
    std::fs::remove_file(&folder).unwrap();
    assert_eq!(read().await, (1, 1, 1));
    done().await;

    std::fs::rename(&away, &folder).unwrap();
    assert_eq!(read().await, (1, 1, 0));
    assert_eq!(engine.changes().await.unwrap(), changes);
}
