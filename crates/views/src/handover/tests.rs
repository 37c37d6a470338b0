//! The matrix, with its numbers worked out by hand.

use swe_ci_core::handover::Point;

use super::*;

/// Tests closed and lost, and tokens, after each iteration.
type Points = &'static [(u32, u32, u64)];

/// An evolution with 4 tests to close and 10 to lose.
fn evolution(points: Points) -> Continuation {
    let point = |(closed, lost, tokens): &(u32, u32, u64)| Point {
        closed: *closed,
        lost: *lost,
        tokens: Some(*tokens),
        micro_usd: None,
    };
    Continuation {
        gap: 4,
        passing: 10,
        points: points.iter().map(point).collect(),
    }
}

fn run(writer: &str, by: &str, tasks: &[(&str, &[Points])]) -> HandoverRun {
    let kind = match writer {
        "human" => Kind::Human,
        _ => Kind::Measured,
    };
    let task = |(n, (repo, samples)): (usize, &(&str, &[Points]))| ContinuedTask {
        task_id: TaskId::new(format!("task-{n}")).unwrap(),
        repo: (*repo).to_owned(),
        samples: samples.iter().map(|points| evolution(points)).collect(),
    };
    HandoverRun {
        run_id: format!("{by}-on-{writer}"),
        written_by: Writer {
            run_id: format!("run-{writer}"),
            model: writer.into(),
            harness: "builtin".into(),
            kind,
            mode: Mode::Tdd,
            went_on_with: None,
        },
        continued_by: Continuer {
            model: by.into(),
            harness: "builtin".into(),
            mode: Mode::Tdd,
        },
        target: HandoverTarget::Same,
        after: After::Iteration(2),
        max_iterations: 3,
        left_out: 1,
        tasks: tasks.iter().enumerate().map(task).collect(),
    }
}

fn after(iteration: u32) -> Wanted {
    Wanted {
        after: Some(After::Iteration(iteration)),
        ..Wanted::default()
    }
}

/// `b` goes on with the code of `a`, its own, and the human's: two tasks of two
/// repositories, the first with two samples.
fn runs() -> Vec<HandoverRun> {
    vec![
        run(
            "a",
            "b",
            &[
                ("p", &[&[(1, 0, 100), (2, 1, 300)], &[(0, 5, 200)]]),
                ("q", &[&[(4, 0, 500)]]),
            ],
        ),
        run(
            "b",
            "b",
            &[("p", &[&[(3, 0, 100)]]), ("q", &[&[(4, 0, 100)]])],
        ),
        run("human", "b", &[("p", &[&[(4, 0, 50)]])]),
    ]
}

#[test]
fn a_cell_by_hand() {
    let matrix = HandoverMatrix::new("s", &runs(), Wanted::default());
    let writers: Vec<&str> = matrix.writers.iter().map(|w| w.model.as_str()).collect();
    assert_eq!(writers, ["human", "a", "b"]);
    assert_eq!((matrix.continuers.len(), matrix.iterations), (1, 3));
    let cell = matrix.cell(1, 0).unwrap();
    assert_eq!((cell.tasks, cell.left_out), (2, 1));
    let check = |iteration, closed: f64, lost: f64, tokens: f64, own: f64, human: f64| {
        let found = cell.at(iteration).unwrap();
        let near = |value: f64, expect: f64| {
            assert!((value - expect).abs() < 1e-12, "{iteration}: {found:?}");
        };
        near(found.closed_gap, closed);
        near(found.lost, lost);
        near(found.tokens.unwrap(), tokens);
        near(found.against_own.unwrap().difference, own);
        near(found.against_human.unwrap().difference, human);
        assert_eq!(found.usd, None);
    };
    // Task 0 closes (1/4 + 0) / 2 = 1/8 and loses (0 + 5/10) / 2 = 1/4 for
    // (100 + 200) / 2 tokens; task 1 closes all for 500. On its own code `b`
    // closes 3/4 and 1, on the human's 1 of task 0 alone.
    check(1, 0.5625, 0.125, 325.0, (0.125 - 0.75) / 2.0, 0.125 - 1.0);
    // Task 0: (2/4 + 0) / 2 and (1/10 + 5/10) / 2, for (300 + 200) / 2.
    check(2, 0.625, 0.15, 375.0, (0.25 - 0.75) / 2.0, 0.25 - 1.0);
    // Everything stays where it ended.
    check(3, 0.625, 0.15, 375.0, -0.25, -0.75);
    assert_eq!(cell.at(4), None);
    let last = cell.at(3).unwrap();
    // Both repositories alone, or one each: the ends of the interval.
    let interval = last.closed_gap_interval.unwrap();
    assert_eq!((interval.low, interval.high), (0.25, 1.0));
    let own = last.against_own.unwrap();
    assert_eq!((own.wins, own.ties, own.losses), (0, 1, 1));
    assert_eq!(last.against_human.unwrap().interval, None);
}

#[test]
fn a_control_is_not_compared_with_itself() {
    let matrix = HandoverMatrix::new("s", &runs(), Wanted::default());
    let own = matrix.cell(2, 0).unwrap().at(1).unwrap();
    assert_eq!(own.against_own, None);
    assert!(own.against_human.is_some());
    let human = matrix.cell(0, 0).unwrap().at(1).unwrap();
    assert_eq!(human.against_human, None);
    assert!(human.against_own.is_some());
}

#[test]
fn handovers_after_other_iterations_stand_apart() {
    let mut all = runs();
    all[1].after = After::LastScored;
    let first = HandoverMatrix::new("s", &all, Wanted::default());
    assert_eq!((first.after, first.cells.len()), (After::LastScored, 1));
    assert_eq!(first.choices, [After::LastScored, After::Iteration(2)]);
    let second = HandoverMatrix::new("s", &all, after(2));
    assert_eq!(second.cells.len(), 2);
    let none = HandoverMatrix::new("s", &all, after(9));
    assert_eq!((none.cells.len(), none.iterations), (0, 0));
    // The newest run of a pair counts.
    all.push(HandoverRun {
        run_id: "again".into(),
        ..runs()[0].clone()
    });
    let again = HandoverMatrix::new("s", &all, after(2));
    let ids: Vec<&str> = again.cells.iter().map(|c| c.run_id.as_str()).collect();
    assert_eq!(ids, ["b-on-human", "again"]);
}

#[test]
fn after_in_words() {
    let check = |text: &str, expect: Option<After>| {
        let parsed = text.parse::<After>().ok();
        assert_eq!(parsed, expect, "{text}");
        assert!(parsed.is_none_or(|after| after.to_string() == text));
    };
    check("last", Some(After::LastScored));
    check("3", Some(After::Iteration(3)));
    for wrong in ["", "0", "-1", "first", "1.5"] {
        check(wrong, None);
    }
}

#[test]
fn as_a_table() {
    let csv = HandoverMatrix::new("s", &runs(), Wanted::default()).csv();
    let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 1 + 3 * 3);
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns));
    let cell =
        "s,same,2,a,measured,run-a,,b,builtin,tdd,b-on-a,2,1,1,0.5625,0.125,1,0.125,0,0.25,325,,";
    assert!(lines[4].starts_with(cell), "{}", lines[4]);
}

/// Handovers towards a later target are a matrix of their own, and code that was
/// itself handed over is nobody's own.
#[test]
fn targets_and_chains_are_kept_apart() {
    let mut all = runs();
    let moved = HandoverRun {
        run_id: "moved".into(),
        target: HandoverTarget::Moved,
        after: After::LastScored,
        ..all[0].clone()
    };
    all.push(moved);
    let same = HandoverMatrix::new("s", &all, Wanted::default());
    assert_eq!(same.targets, [HandoverTarget::Same, HandoverTarget::Moved]);
    assert_eq!((same.cells.len(), same.choices.len()), (3, 1));
    let later = Wanted {
        target: Some(HandoverTarget::Moved),
        ..Wanted::default()
    };
    let later = HandoverMatrix::new("s", &all, later);
    assert_eq!(later.cells.len(), 1);
    assert_eq!(later.cells[0].run_id, "moved");
    assert_eq!(later.choices, [After::LastScored]);

    let by = |model: &str| Continuer {
        model: model.into(),
        harness: "builtin".into(),
        mode: Mode::Tdd,
    };
    let mut writer = runs()[1].written_by.clone();
    assert!(writer.is_own(&by("b")));
    writer.went_on_with = Some("a".into());
    assert!(!writer.is_own(&by("b")));
}
