//! Tests of the tables and of the places behind each of their numbers.

use std::collections::BTreeMap;

use swe_ci_core::metrics::SuiteCounts;
use swe_ci_core::metrics::Verdict;
use swe_ci_core::run::Progress;
use swe_ci_core::step::StepOutcome;
use swe_ci_core::usage::Traffic;

use super::*;
use crate::failures::{Frame, Loss, LossClass};
use crate::view::{EvolutionView, IterationView, StepView};

fn step(iteration: u32, role: Role, outcome: StepOutcome) -> StepRecord {
    let agent = role != Role::Test;
    StepRecord {
        view: StepView {
            iteration,
            role,
            attempt: 1,
            outcome,
            detail: String::new(),
            seconds: 10.0,
            finished_at: None,
            usage: agent.then(|| Usage {
                input_tokens: 100 * u64::from(iteration),
                ..Usage::default()
            }),
            traffic: agent.then(|| Traffic {
                requests: 1,
                waiting_ms: 500,
                micro_usd: Some(7),
                ..Traffic::default()
            }),
            truncation: None,
            recording: None,
            container: None,
        },
        recording: agent.then(|| format!("{}-{iteration}", role.name())),
    }
}

fn tested(iteration: u32, verdict: Verdict) -> IterationView {
    IterationView {
        iteration,
        verdict,
        gained: 0,
        collapse: matches!(verdict, Verdict::Collapsed { .. }).then(|| "no report".to_owned()),
        findings: Vec::new(),
        test_seconds: 1.0,
        finished_at: String::new(),
        contradicted: None,
    }
}

fn used(calls: u32, failed: u32, first: u32, first_failed: u32) -> Use {
    Use {
        calls,
        failed,
        ms: 1_500,
        output_tokens: 40,
        result_bytes: 9,
        first,
        first_failed,
    }
}

fn uses<const N: usize>(uses: [(&str, Use); N]) -> BTreeMap<String, Use> {
    uses.map(|(name, one)| (name.to_owned(), one)).into()
}

fn file(path: &str, added: u32, removed: u32, back: bool) -> ChangedFile {
    ChangedFile {
        path: path.into(),
        added,
        removed,
        back,
    }
}

/// Two iterations: the first loses two tests, the second collapses.
fn record(task: &str) -> EvolutionRecord {
    let scored = Verdict::Scored {
        in_target: 3,
        passed: 9,
        lost: 2,
    };
    let digest = StepDigest {
        tools: uses([("bash", used(4, 1, 3, 7)), ("edit", used(1, 0, 5, 0))]),
        commands: uses([("pytest", used(3, 1, 3, 7))]),
        repeated: vec![Repeated {
            times: 2,
            call: "bash ls".into(),
            message: 9,
        }],
        truncated: vec![4, 6],
        ..StepDigest::default()
    };
    let changes = |files: Vec<ChangedFile>| IterationChanges {
        code: String::new(),
        files,
    };
    EvolutionRecord {
        view: EvolutionView {
            evolution_id: format!("e-{task}"),
            task_id: TaskId::new(task).unwrap(),
            sample: 1,
            progress: Progress::Finished,
            ending: None,
            reason: None,
            suite: SuiteCounts::default(),
            start: None,
            max_iterations: 2,
            started_at: None,
            finished_at: None,
            current: None,
            not_audited: None,
            iterations: vec![tested(1, scored), tested(2, Verdict::Collapsed { lost: 3 })],
        },
        steps: vec![
            step(1, Role::Architect, StepOutcome::Done),
            step(1, Role::Programmer, StepOutcome::Done),
            step(1, Role::Test, StepOutcome::Scored { solved: false }),
            step(2, Role::Architect, StepOutcome::Done),
            step(2, Role::Programmer, StepOutcome::NoChange),
        ],
        digest: EvolutionDigest {
            steps: [("programmer-1".to_owned(), Some(digest))].into(),
            changes: [
                (
                    1,
                    changes(vec![file("a.py", 5, 2, false), file("b.py", 1, 0, false)]),
                ),
                (2, changes(vec![file("a.py", 2, 5, true)])),
            ]
            .into(),
            losses: [(
                1,
                vec![
                    loss(LossClass::WrongValue, "a.py:3: in f", 2),
                    loss(LossClass::RemovedName, "", 1),
                    loss(LossClass::WrongValue, "b.py:4: in g", 1),
                ],
            )]
            .into(),
        },
    }
}

fn loss(class: LossClass, traceback: &str, tests: u32) -> Loss {
    Loss {
        class,
        frame: Frame::deepest(traceback),
        tests,
    }
}

fn both() -> Vec<EvolutionRecord> {
    vec![record("a"), record("b")]
}

fn row(subject: Subject, name: &str) -> Row {
    let tables = tables(&both());
    let table = tables.into_iter().find(|t| t.subject == subject).unwrap();
    let rows = table.rows.into_iter();
    rows.into_iter().find(|row| row.name == name).unwrap()
}

#[test]
fn sums_over_all_evolutions() {
    let programmer = row(Subject::Role, "programmer");
    assert_eq!(programmer.amount.times, 4);
    assert_eq!(programmer.amount.usage.input_tokens, 600);
    assert_eq!(programmer.amount.micro_usd, Some(28));
    assert!((programmer.amount.waiting_seconds - 2.0).abs() < 1e-9);
    // Tests call no model, and cost nothing.
    assert_eq!(row(Subject::Role, "test").amount.micro_usd, Some(0));
    assert_eq!(
        row(Subject::Outcome, "programmer/no_change").amount.times,
        2
    );
    let second = row(Subject::Iteration, "2");
    assert_eq!(
        (second.amount.times, second.amount.usage.input_tokens),
        (4, 800)
    );
    let bash = row(Subject::Tool, "bash");
    assert_eq!(
        (bash.places, bash.amount.times, bash.amount.marked),
        (2, 8, 2)
    );
    assert!((bash.amount.seconds - 3.0).abs() < 1e-9);
    assert_eq!(bash.amount.usage.output_tokens, 80);
    let a = row(Subject::File, "a.py").amount;
    assert_eq!(
        (a.times, a.marked, a.lines_added, a.lines_removed),
        (4, 2, 14, 14)
    );
    assert_eq!(row(Subject::Trouble, "repeated").amount.times, 4);
    assert_eq!(row(Subject::Trouble, "truncated").amount.times, 4);
    assert_eq!(row(Subject::Failure, "gave_up").amount.times, 2);
    assert_eq!(row(Subject::Loss, "lost").amount.times, 4);
    let wrong = row(Subject::Cause, "wrong_value");
    // Once for each iteration with the class.
    assert_eq!((wrong.places, wrong.amount.times), (2, 6));
    assert_eq!(row(Subject::Loss, "collapsed").amount.times, 6);
}

#[test]
fn an_unknown_price_makes_the_sum_unknown() {
    let mut records = both();
    records[1].steps[0].view.traffic = None;
    let tables = tables(&records);
    let table = tables.iter().find(|t| t.subject == Subject::Role).unwrap();
    let price = |name| {
        table
            .rows
            .iter()
            .find(|r| r.name == name)
            .unwrap()
            .amount
            .micro_usd
    };
    assert_eq!((price("architect"), price("programmer")), (None, Some(28)));
}

#[test]
fn every_number_leads_to_its_places() {
    let records = both();
    for table in tables(&records) {
        for row in table.rows {
            let selection = Selection {
                subject: table.subject,
                name: row.name.clone(),
                marked: false,
            };
            let places = places(&records, &selection);
            assert_eq!(places.len(), row.places as usize, "{selection:?}");
            let mut amounts = places.iter().map(|place| place.amount);
            let mut sum = amounts.next().unwrap();
            amounts.for_each(|amount| sum += amount);
            assert_eq!(sum, row.amount, "{selection:?}");
        }
    }
}

#[test]
fn places_with_a_failed_call_begin_at_it() {
    let selection = Selection {
        subject: Subject::Tool,
        name: "bash".into(),
        marked: true,
    };
    let found = places(&both(), &selection);
    let messages: Vec<_> = found.iter().map(|place| place.message).collect();
    assert_eq!(messages, [Some(7), Some(7)]);
    let edits = Selection {
        name: "edit".into(),
        ..selection
    };
    assert_eq!(places(&both(), &edits), []);
}

#[test]
fn the_largest_rows_come_first_and_have_a_limit() {
    let mut records = vec![record("a")];
    let many =
        (0..u32::try_from(MAX_ROWS).unwrap() + 50).map(|n| file(&format!("f{n}.py"), n, 0, false));
    records[0].digest.changes.get_mut(&1).unwrap().files = many.collect();
    let tables = tables(&records);
    let files = tables.iter().find(|t| t.subject == Subject::File).unwrap();
    assert_eq!((files.rows.len(), files.more), (MAX_ROWS, 51));
    assert_eq!(files.rows[0].name, "f249.py");
    let roles = tables.iter().find(|t| t.subject == Subject::Role).unwrap();
    let names: Vec<&str> = roles.rows.iter().map(|row| &*row.name).collect();
    assert_eq!(names, ["architect", "programmer", "test"]);
}

#[test]
fn search_in_a_step() {
    let texts = vec![
        (1, "nothing".to_owned()),
        (
            2,
            format!("{}KeyError: 'x'{}", "ä".repeat(200), "b".repeat(200)),
        ),
        (5, "keyerror keyerror".to_owned()),
    ];
    let (hits, message, (before, hit, after)) = search(&texts, "keyerror").unwrap();
    assert_eq!((hits, message, &*hit), (3, 2, "KeyError"));
    assert_eq!((before.chars().count(), after.len()), (60, 120));
    assert_eq!(search(&texts, "absent"), None);
}
