//! The worked examples of `docs/metrics.md`, from files on disk.

use swe_ci_core::metrics::Convention::{Paper, Reference};
use swe_ci_core::results::Layout;

use super::{Lab, SOLVED, listing};

fn assert_close(found: Option<f64>, expect: f64) {
    let found = found.unwrap();
    assert!((found - expect).abs() < 1e-9, "{found} is not {expect}");
}

#[test]
fn worked_examples() {
    let check = |counts, n, expect: f64, solved, zero_regression, turns| {
        let lab = Lab::new(&["a"]);
        lab.iterations("a", counts);
        let scored = lab.score(n, Reference);
        assert_close(scored.scores.evoscore, expect);
        let task = &scored.scores.tasks[0];
        assert_eq!(
            (task.solved, task.zero_regression, task.turns),
            (solved, zero_regression, turns)
        );
        assert_eq!((scored.skipped.len(), scored.notes.len()), (0, 0));
    };
    check(SOLVED, 4, 0.375, true, false, 4);
    check(SOLVED, 6, (0.375 * 4.0 + 2.0) / 6.0, true, false, 4);
    let collapsed: &[Option<u32>] = &[Some(12), None, Some(14)];
    check((10, 10, collapsed), 3, -0.4 / 3.0, false, false, 3);
    check((0, 5, &[Some(0), Some(5)]), 2, 0.5, true, true, 2);
    check((10, 10, &[]), 20, 0.0, false, true, 0);
    check((10, 10, &[Some(1_000)]), 1, 1.0, true, true, 1);
}

#[test]
fn iterations_beyond_the_last_are_left_out_and_told() {
    let lab = Lab::new(&["a"]);
    lab.iterations("a", SOLVED);
    let scored = lab.score(2, Reference);
    assert_close(scored.scores.evoscore, 0.35);
    assert_eq!(scored.scores.tasks[0].turns, 2);
    assert_eq!(
        scored.notes,
        ["`a`: iterations beyond 2 are left out; there are 4"]
    );
}

#[test]
fn unscorable_samples_are_reported_and_not_averaged_in() {
    let lab = Lab::new(&["good", "missing", "cut", "other"]);
    lab.iterations("good", SOLVED);
    lab.iterations("other", (10, 10, &[Some(15)]));
    lab.write(
        "cut/iteration.jsonl",
        "{\"gap\": 10, \"pytest\": {\"passed\": 10}}\n{\"gap\": 0, \"pyt",
    );
    lab.iterations("stranger", SOLVED);
    let before = listing(lab.experiment().parent().unwrap());
    let scored = lab.score(4, Reference);
    assert_close(scored.scores.evoscore, (0.375 + 0.5) / 2.0);
    assert_close(scored.scores.solved_rate, 0.5);
    assert_close(scored.scores.average_turns, 2.5);
    let skipped: Vec<(&str, &str)> = scored
        .skipped
        .iter()
        .map(|s| (s.task_id.as_str(), s.reason.as_str()))
        .collect();
    assert_eq!(skipped.len(), 2);
    assert!(skipped[0].0 == "cut" && skipped[0].1.contains("iteration.jsonl, line 2"));
    assert!(skipped[1].0 == "missing" && skipped[1].1.contains("never started"));
    assert_eq!(scored.ignored, ["stranger"]);
    assert!(scored.scores.intervals.is_some());
    assert_eq!(listing(lab.experiment().parent().unwrap()), before);
}

#[test]
fn nothing_to_score_has_no_numbers() {
    let lab = Lab::new(&["a", "b"]);
    for convention in [Paper, Reference] {
        let scored = lab.score(20, convention);
        let scores = &scored.scores;
        assert_eq!((scores.evoscore, scores.solved_rate), (None, None));
        assert_eq!((scores.recovery, scores.intervals), (None, None));
        assert_eq!((scores.tasks.len(), scored.skipped.len()), (0, 2));
    }
}

/// Three old tests break while four others begin to pass.
#[test]
fn the_paper_sees_what_net_counts_hide() {
    let lab = Lab::new(&["a", "counted"]);
    lab.iterations("a", (4, 5, &[Some(5), None, Some(9)]));
    lab.report("a/target", "ppppppppp");
    lab.report("a/2026-09-19-10-00-05", "pppp-----");
    lab.report("a/2026-09-19-10-00-15", "p---pppp-");
    lab.report("a/2026-09-19-10-00-25", "ppppppppp");
    lab.iterations("counted", SOLVED);

    let paper = lab.score(3, Paper);
    let task = |scored: &super::Scored| {
        let task = &scored.scores.tasks[0];
        (
            task.task_id.as_str() == "a",
            task.zero_regression,
            task.solved,
        )
    };
    assert_eq!(task(&paper), (true, false, true));
    assert_eq!(paper.scores.tasks.len(), 1);
    assert_close(paper.scores.evoscore, (0.2 - 1.0 + 1.0) / 3.0);
    let recovery = paper.scores.recovery.unwrap();
    assert_eq!((recovery.regressions, recovery.repaired), (2, 2));
    assert_close(recovery.average_iterations, 1.5);
    assert_eq!(paper.skipped.len(), 1);
    assert_eq!(
        paper.skipped[0].reason,
        "it is known by counts alone: no test reports were archived"
    );

    // By net count only the collapse is a regression.
    let reference = lab.score(1, Reference);
    assert_eq!(task(&reference), (true, true, false));
    assert!(reference.skipped.is_empty() && reference.scores.recovery.is_none());
    assert_eq!(lab.score(1, Paper).scores.zero_regression_rate, Some(0.0));
}

#[test]
fn samples_are_averaged_before_tasks() {
    let lab = Lab::new(&["a", "b"]);
    lab.sample("a#0", SOLVED);
    lab.sample("a#1", (10, 10, &[Some(12), None, Some(14)]));
    lab.sample("a#2", SOLVED);
    lab.write("a#1/turn_2/conclusion.json", "{}");
    lab.sample("b#0", (10, 10, &[Some(20)]));
    let scored = lab.score_as(Layout::Otter, 4, Reference);
    assert_close(scored.scores.evoscore, (0.375 + 1.0) / 2.0);
    let samples: Vec<(&str, u32)> = scored
        .scores
        .tasks
        .iter()
        .map(|t| (t.task_id.as_str(), t.sample))
        .collect();
    // A bad sample keeps its number.
    assert_eq!(samples, [("a", 1), ("a", 3), ("b", 1)]);
    assert!(
        scored.skipped[0]
            .reason
            .contains("a#1/turn_2/conclusion.json")
    );

    let paper = lab.score_as(Layout::Otter, 4, Paper);
    assert_eq!((paper.scores.tasks.len(), paper.skipped.len()), (0, 4));
}

#[test]
fn one_repository_has_no_intervals() {
    let lab = Lab::new(&["a"]);
    lab.iterations("a", SOLVED);
    assert_eq!(lab.score(4, Reference).scores.intervals, None);
}
