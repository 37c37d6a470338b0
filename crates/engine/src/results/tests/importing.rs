//! Tests of importing results into a store, and scoring them there.

use swe_ci_core::finding::Unranked;
use swe_ci_core::metrics::{Convention, Gamma};
use swe_ci_core::results::Layout;
use swe_ci_core::run::{Kind, Progress};
use swe_ci_core::step::{Ending, Plan, Role, State, StepOutcome};
use swe_ci_core::task::TaskId;
use swe_ci_store::ImportedEvolution;
use swe_ci_views::run_list::RunFilter;
use swe_ci_views::view::TaskState;

use super::super::{Detail, Found, evolution, read};
use super::{Lab, SOLVED};
use swe_ci_core::requirement::Mode;

use crate::results::{ImportRequest, ImportedResults};
use crate::{Change, Config, Engine, Error, PageRequest, Result};

pub async fn engine(lab: &Lab) -> Engine {
    let config = Config::new(lab.data());
    Engine::open(config).await.unwrap()
}

pub fn request(lab: &Lab, layout: Layout) -> ImportRequest {
    ImportRequest {
        layout,
        metadata: lab.metadata(),
        split: None,
        model: "model-x".into(),
        provider: "acme".into(),
        release_date: Some("2026-01-31".into()),
        mode: Mode::default(),
        harness: None,
        max_iterations: Some(4),
    }
}

async fn import(engine: &Engine, lab: &Lab) -> Result<ImportedResults> {
    let request = request(lab, Layout::Reference);
    engine.import_results(&lab.experiment(), &request).await
}

async fn runs(engine: &Engine) -> usize {
    let (all, first) = (RunFilter::default(), PageRequest::default());
    let page = engine.runs(&all, &first).await.unwrap();
    page.items.len()
}

#[tokio::test]
async fn the_same_again_changes_nothing_and_more_replaces() {
    let lab = Lab::new(&["b", "a"]);
    lab.iterations("a", (10, 10, &[Some(12), Some(15)]));
    let engine = engine(&lab).await;
    let first = import(&engine, &lab).await.unwrap();
    assert_eq!(
        (first.change, first.evolutions, first.tasks),
        (Change::New, 1, 2)
    );
    assert!(first.counts_only && first.skipped[0].task_id.as_str() == "b");
    let again = import(&engine, &lab).await.unwrap();
    assert_eq!(
        (again.change, &again.run_id),
        (Change::Unchanged, &first.run_id)
    );

    lab.iterations("a", SOLVED);
    lab.iterations("b", (10, 10, &[Some(20)]));
    let grown = import(&engine, &lab).await.unwrap();
    assert_eq!(
        (grown.change, &grown.run_id),
        (Change::Replaced, &first.run_id)
    );
    assert_eq!((grown.evolutions, grown.skipped.len()), (2, 0));
    assert_eq!(runs(&engine).await, 1);

    // Under another name it is another run.
    let mut other = request(&lab, Layout::Reference);
    other.model = "model-y".into();
    let other = engine.import_results(&lab.experiment(), &other).await;
    assert_eq!(other.unwrap().change, Change::New);
    assert_eq!(runs(&engine).await, 2);
}

/// Tasks whose reports have the same defect share a note, with their number.
#[tokio::test]
async fn equal_reasons_for_counts_are_one_note() {
    let tasks = ["a", "b", "c", "d", "e"];
    let lab = Lab::new(&tasks);
    for task in tasks {
        lab.iterations(task, (1, 1, &[Some(2)]));
        lab.report(&format!("{task}/2026-09-19-10-00-05"), "p-");
        lab.report(&format!("{task}/2026-09-19-10-00-15"), "pp");
    }
    let engine = engine(&lab).await;
    let imported = import(&engine, &lab).await.unwrap();
    assert_eq!(
        imported.notes,
        [
            "the run is known by counts alone: target/test_report.json is missing (a, b, c and 2 more)"
        ]
    );
}

#[tokio::test]
async fn views_of_an_imported_run() {
    let lab = Lab::new(&["b", "a"]);
    lab.iterations("a", (10, 10, &[Some(12), None, Some(15)]));
    let engine = engine(&lab).await;
    let imported = import(&engine, &lab).await.unwrap();
    let run = engine.run(&imported.run_id).await.unwrap();
    let config = &run.summary.config;
    assert_eq!(
        (config.kind, config.harness.name(), config.split.as_str()),
        (Kind::Imported, "reference", "split")
    );
    assert_eq!(run.summary.progress, Progress::Finished);
    let from = run.provenance.imported.unwrap();
    assert_eq!(
        (from.layout.as_str(), from.experiment.as_str()),
        ("reference", "model-x")
    );
    assert!(from.digest.starts_with("sha256:"));
    assert_eq!(
        from.notes,
        ["the run is known by counts alone: no test reports were archived (a)"]
    );
    let [a, b] = run.evolution_list.as_slice() else {
        panic!("{:?}", run.evolution_list);
    };
    assert_eq!(
        (a.ending, b.ending),
        (Some(Ending::CutShort), Some(Ending::Blocked))
    );
    let reason = a.reason.as_deref().unwrap();
    assert!(reason.contains("after 3 of 4 iterations"), "{reason}");
    let reason = b.reason.as_deref().unwrap();
    assert!(reason.contains("no folder `b`"), "{reason}");
    let lost: Vec<u32> = a.iterations.iter().map(|i| i.verdict.lost()).collect();
    let gained: Vec<u32> = a.iterations.iter().map(|i| i.gained).collect();
    assert_eq!((lost, gained), (vec![0, 12, 0], vec![2, 0, 3]));
    assert!(a.iterations[1].collapse.is_some());
    let detail = engine.iteration(&a.evolution_id, 1).await.unwrap();
    assert_eq!((detail.steps.len(), detail.lost_tests.len()), (3, 0));

    let task = engine.task(&TaskId::new("a").unwrap()).await.unwrap();
    let TaskState::Unusable { reason } = &task.summary.state else {
        panic!("it cannot be run");
    };
    assert!(reason.contains("swe-ci dataset import"), "{reason}");
}

#[tokio::test]
async fn the_leaderboard_says_what_score_says() {
    let lab = Lab::new(&["a", "b", "c", "d"]);
    lab.iterations("a", SOLVED);
    lab.iterations("b", (10, 10, &[Some(12), None, Some(14)]));
    lab.iterations("d", (0, 5, &[Some(0), Some(5)]));
    let engine = engine(&lab).await;
    let imported = import(&engine, &lab).await.unwrap();
    let (gamma, convention) = (Gamma::ONE, Convention::Reference);
    let stored = engine.scores(&imported.run_id, gamma, convention).await;
    assert_eq!(stored.unwrap(), lab.score(4, convention).scores);
    let board = engine.leaderboard_data("split").await.unwrap();
    let rows = board.unranked_rows(gamma, convention);
    assert_eq!((rows[0].tasks, rows[0].tasks_blocked), (3, 1));
    let missing = Unranked::Incomplete { scored: 3, of: 4 };
    assert_eq!(rows[0].unranked, Some(missing));
    let paper = board.unranked_rows(gamma, Convention::Paper);
    assert!(paper.is_empty(), "it is known by counts alone");
}

#[tokio::test]
async fn test_by_test_if_all_of_it_is() {
    let lab = Lab::new(&["a"]);
    lab.iterations("a", (4, 5, &[Some(5), None, Some(9)]));
    lab.report("a/target", "ppppppppp");
    lab.report("a/2026-09-19-10-00-05", "pppp-----");
    lab.report("a/2026-09-19-10-00-15", "p---pppp-");
    lab.report("a/2026-09-19-10-00-25", "ppppppppp");
    let engine = engine(&lab).await;
    let imported = import(&engine, &lab).await.unwrap();
    assert!(!imported.counts_only && imported.notes.is_empty());
    for convention in Convention::ALL {
        let stored = engine
            .scores(&imported.run_id, Gamma::ONE, convention)
            .await;
        assert_eq!(stored.unwrap(), lab.score(4, convention).scores);
    }
    let run = engine.run(&imported.run_id).await.unwrap();
    let evolution = &run.evolution_list[0];
    assert_eq!(evolution.ending, Some(Ending::Solved));
    let broken = engine.iteration(&evolution.evolution_id, 1).await.unwrap();
    assert_eq!((broken.lost_tests.len(), broken.gained_tests.len()), (3, 4));

    let rescored = engine.rescore(Some(&imported.run_id)).await.unwrap();
    assert_eq!((rescored[0].iterations, rescored[0].changed), (3, 0));

    // With one task without reports, the run is known by counts alone.
    std::fs::write(
        lab.metadata(),
        "task_id,current_sha,target_sha\na,aaaaaaa,bbbbbbb\nb,aaaaaaa,bbbbbbb\n",
    )
    .unwrap();
    lab.iterations("b", SOLVED);
    let mut wider = request(&lab, Layout::Reference);
    wider.split = Some("wider".into());
    let wider = engine.import_results(&lab.experiment(), &wider).await;
    let wider = wider.unwrap();
    assert!(wider.counts_only);
    let run = engine.run(&wider.run_id).await.unwrap();
    assert!(run.evolution_list.iter().all(|e| e.suite.counts_only));
}

#[tokio::test]
async fn one_bad_file_imports_nothing() {
    let lab = Lab::new(&["a", "b"]);
    lab.iterations("a", SOLVED);
    lab.write(
        "b/iteration.jsonl",
        "{\"gap\": 1, \"pytest\": {\"passed\": 1}}\n{",
    );
    let engine = engine(&lab).await;
    let refused = |result: Result<ImportedResults>| match result {
        Err(Error::Invalid(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = refused(import(&engine, &lab).await);
    assert!(why.contains("model-x/b/iteration.jsonl, line 2: "), "{why}");
    assert_eq!(runs(&engine).await, 0);
    assert!(engine.splits().await.unwrap().is_empty());

    // A good import stays as it was when a later one has a bad file.
    lab.iterations("b", SOLVED);
    let good = import(&engine, &lab).await.unwrap();
    lab.write("b/iteration.jsonl", "");
    refused(import(&engine, &lab).await);
    let run = engine.run(&good.run_id).await.unwrap();
    assert_eq!(run.summary.evolutions, 2);

    let check = |change: &dyn Fn(&mut ImportRequest), expect: &'static str| {
        let mut request = request(&lab, Layout::Reference);
        change(&mut request);
        let (engine, folder) = (engine.clone(), lab.experiment());
        async move {
            let why = engine.import_results(&folder, &request).await;
            let why = why.unwrap_err().to_string();
            assert!(why.contains(expect), "{why}");
        }
    };
    check(&|r| r.model.clear(), "model: ").await;
    check(&|r| r.max_iterations = Some(0), "plan.max_iterations: ").await;
    check(&|r| r.split = Some("../x".into()), "split: ").await;
    check(&|r| r.release_date = Some("soon".into()), "release_date: ").await;
    check(
        &|r| r.layout = Layout::Otter,
        "model-x/a does not end in `#`",
    )
    .await;
    std::fs::remove_dir_all(lab.experiment()).unwrap();
    std::fs::create_dir(lab.experiment()).unwrap();
    check(&|_| {}, "read as the layout `reference`").await;
}

#[tokio::test]
async fn two_samples_of_otter() {
    let lab = Lab::new(&["a", "b"]);
    lab.sample("a#0", SOLVED);
    lab.sample("a#1", (10, 10, &[Some(12), None, Some(14)]));
    lab.sample("b#1", (10, 10, &[Some(12)]));
    let engine = engine(&lab).await;
    let request = request(&lab, Layout::Otter);
    let imported = engine.import_results(&lab.experiment(), &request).await;
    let imported = imported.unwrap();
    let run = engine.run(&imported.run_id).await.unwrap();
    assert_eq!(run.summary.config.samples, 2);
    let samples: Vec<(&str, u32)> = run
        .evolution_list
        .iter()
        .map(|e| (e.task_id.as_str(), e.sample))
        .collect();
    assert_eq!(samples, [("a", 1), ("a", 2), ("b", 1)]);
    assert_eq!(imported.notes[0], "`b` has 1 of 2 samples");
    let stored = engine.scores(&imported.run_id, Gamma::ONE, Convention::Reference);
    let scored = lab.score_as(Layout::Otter, 4, Convention::Reference);
    assert_eq!(stored.await.unwrap(), scored.scores);
}

fn imported(lab: &Lab, layout: Layout, plan: Plan, detail: Detail) -> ImportedEvolution {
    let read = read(layout, &lab.experiment(), &lab.metadata(), Detail::Tests);
    let mut tasks = read.unwrap().tasks;
    match tasks.remove(0).samples.remove(0) {
        Found::Evolution(e) => {
            evolution::imported(&e, &TaskId::new("a").unwrap(), 1, plan, detail, 7)
        }
        other => panic!("{other:?}"),
    }
}

/// Folding the steps gives the ending that was stored with them.
#[test]
fn endings_and_steps_agree() {
    let check = |counts, n, expect: Ending| {
        let lab = Lab::new(&["a"]);
        lab.iterations("a", counts);
        let plan = Plan {
            max_iterations: n,
            ..Plan::default()
        };
        let evolution = imported(&lab, Layout::Reference, plan, Detail::Counts);
        assert_eq!(evolution.ending, expect);
        assert_eq!(evolution.steps.len(), 3 * evolution.iterations.len());
        let state = State::resume(plan, evolution.steps.iter().map(|s| s.outcome)).unwrap();
        match (expect, state) {
            (Ending::CutShort, State::Active(at)) => {
                assert_eq!((at.role, at.attempt), (Role::Architect, 1));
                assert!(evolution.reason.is_some());
            }
            // A base without a gap is solved without a step.
            (Ending::Solved, State::Active(_)) => assert!(evolution.steps.is_empty()),
            (expect, state) => assert_eq!(state, State::Ended(expect)),
        }
    };
    check(SOLVED, 4, Ending::Solved);
    check(SOLVED, 20, Ending::Solved);
    check(SOLVED, 3, Ending::IterationsSpent);
    check((10, 10, &[Some(12), None]), 2, Ending::IterationsSpent);
    check((10, 10, &[Some(12), None]), 3, Ending::CutShort);
    check((10, 10, &[]), 3, Ending::CutShort);
    check((10, 0, &[]), 3, Ending::Solved);
}

#[test]
fn usage_is_kept_and_contradictions_are_findings() {
    let lab = Lab::new(&["a"]);
    let base = "{\"gap\": 10, \"pytest\": {\"passed\": 10}}";
    let agents = "\"architect\": {\"input_tokens\": 100, \"output_tokens\": 7}, \"programmer\": {\"input_tokens\": null}";
    lab.write(
        "a/iteration.jsonl",
        format!(
            "{base}\n{{\"gap\": 3, \"pytest\": {{\"passed\": 20}}, {agents}}}\n{{\"gap\": 0, \"pytest\": {{\"passed\": 19}}}}\n"
        ),
    );
    let evolution = imported(&lab, Layout::Reference, Plan::default(), Detail::Counts);
    assert_eq!(evolution.ending, Ending::Solved, "the file says so");
    let usage = evolution.steps[0].usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (100, 7));
    assert!(evolution.steps[1].usage.is_none());
    let outcomes: Vec<StepOutcome> = evolution.steps.iter().map(|s| s.outcome).collect();
    assert_eq!(outcomes[2], StepOutcome::Scored { solved: false });
    assert_eq!(outcomes[5], StepOutcome::Scored { solved: true });
    let findings = |i: usize| evolution.iterations[i].findings[0].text.clone();
    assert_eq!(
        findings(0),
        "the results do not say that the target was reached; 20 tests pass, of 20 to reach"
    );
    assert_eq!(
        findings(1),
        "the results say that the target was reached; 19 tests pass, of 20 to reach"
    );
}
