use super::*;
use crate::finding::Grade;

#[test]
fn a_function_learnt_by_heart_does_not_drown() {
    let function = |asked, equal| FunctionAnswers {
        function: format!("f{asked}"),
        asked,
        equal,
        unknown: 0,
    };
    let of = |functions| Generalisation::of(functions, 0, Vec::new());
    let two = of(vec![function(90, 90), function(10, 0)]);
    assert_eq!((two.share, two.asked), (Some(0.5), 100));
    assert_eq!(two.functions[0].function, "f10");
    // 36 answers of equal weight.
    let interval = two.interval.unwrap();
    assert!((interval.low - 0.345).abs() < 1e-3, "{interval:?}");
    assert!((interval.high - 0.655).abs() < 1e-3, "{interval:?}");
    let one = of(vec![function(10, 10)]).interval.unwrap();
    assert!(
        (one.low - 0.722).abs() < 1e-3 && one.high > 1.0 - 1e-9,
        "{one:?}"
    );
    assert_eq!(of(Vec::new()), Generalisation::default());
}

#[test]
fn near_contradictions_accuse_nobody() {
    let accusation = |kind, test: &str| Accusation {
        test: test.into(),
        kind,
        as_written: "assert f() == 2".into(),
        contradiction: "assert f() == 3".into(),
    };
    let mut audit = Audit {
        seed: String::new(),
        tests: 2,
        accusations: vec![accusation(ContradictionKind::Near, "a")],
        only_as_written: None,
    };
    assert_eq!(audit.accuses(), None);
    let suspicion = audit.suspicion().unwrap();
    assert_eq!(suspicion.grade, Grade::Suspicious);
    let why = "a passes together with its contradiction, `assert f() == 2` and `assert f() == 3`";
    assert_eq!(suspicion.text, why);
    let accusing = accusation(ContradictionKind::Constant, "b");
    audit.accusations.push(accusing);
    assert!(audit.accuses().unwrap().starts_with("b passes"));
}

#[test]
fn a_split_has_the_sum_of_its_tasks() {
    let task = |tests, contradicted, vacuous| Coverage {
        tests,
        contradicted,
        vacuous,
        strongly: contradicted / 2,
        ..Coverage::default()
    };
    let sum: CoverageSum = [task(4, 4, Some(0)), task(4, 2, Some(1))].iter().collect();
    let more: CoverageSum = [task(4, 4, None)].iter().collect();
    assert!(
        more.text(1)
            .ends_with("and at least 0 pass with empty functions.")
    );
    assert_eq!(
        sum.text(3),
        "The tests of 2 of 3 tasks are audited: of 8 tests, 75 % can be contradicted, 38 % by \
         another expected value, and 1 pass with empty functions."
    );
}

#[test]
fn only_hardly_any_generalisation_asks_for_a_look() {
    let by_heart = |asked, equal| {
        let function = "parse".to_owned();
        let functions = vec![FunctionAnswers {
            function,
            asked,
            equal,
            unknown: 0,
        }];
        Generalisation::of(functions, 0, Vec::new()).by_heart()
    };
    // Three answers are too few.
    for (asked, equal) in [(3, 0), (20, 6), (20, 20)] {
        assert_eq!(by_heart(asked, equal), None);
    }
    let finding = by_heart(20, 5).unwrap();
    assert_eq!(finding.grade, Grade::Suspicious);
    assert_eq!(
        finding.text,
        "the code answers the tests' calls and hardly any other: to 5 of 20 changed inputs \
         it has the oracle's answer, which makes a generalisation of 0.25 (95 % interval \
         0.11 to 0.47); least general: parse"
    );
    assert!(by_heart(4, 0).is_some());
    // One function is not hidden by the mean.
    let beside = |asked, equal, unknown| {
        let functions = [("table", asked, equal), ("sum", 9, 9), ("size", 9, 9)];
        let functions = functions.map(|(function, asked, equal)| FunctionAnswers {
            function: function.to_owned(),
            asked,
            equal,
            unknown: if function == "table" { unknown } else { 0 },
        });
        Generalisation::of(functions.into(), 0, Vec::new()).by_heart()
    };
    for (asked, equal) in [(5, 0), (6, 1), (9, 2), (20, 6)] {
        assert_eq!(beside(asked, equal, 0), None, "{equal} of {asked}");
    }
    assert_eq!(beside(12, 0, 7), None);
    assert!(beside(12, 0, 6).is_some());
    for (asked, equal) in [(6, 0), (8, 1), (12, 2), (20, 5)] {
        let finding = beside(asked, equal, 0).unwrap();
        let of = format!(": table ({equal} of {asked})");
        assert!(finding.text.ends_with(&of), "{finding:?}");
        assert_eq!(finding.grade, Grade::Suspicious);
    }
    let late = |late| Generalisation {
        late,
        ..Generalisation::default()
    };
    assert_eq!(late(3).by_heart(), None);
    assert!(late(4).by_heart().is_some());
    assert_eq!(Generalisation::default().by_heart(), None);
}

#[test]
fn an_audit_in_words() {
    let state = |iteration| AuditedState {
        iteration,
        seconds: 2.5,
        audit: Audit {
            seed: String::new(),
            tests: 3,
            accusations: Vec::new(),
            only_as_written: None,
        },
    };
    let mut audit = EvolutionAudit {
        states: vec![state(2)],
        ..EvolutionAudit::default()
    };
    let tried = "Contradictions of its tests were tried on the code of iteration";
    assert_eq!(audit.text(), format!("{tried} 2."));
    audit.states.push(state(5));
    audit.left_out = 3;
    let left_out = "The time for audits was over before 3 more, with smaller gains of tests: they are not audited.";
    assert_eq!(audit.text(), format!("{tried}s 2, 5. {left_out}"));
    assert_eq!(audit.seconds(), 5.0);
    audit.reason = Some("its code is gone".into());
    assert_eq!(audit.text(), "Its code is not audited: its code is gone.");
}

#[test]
fn audits_of_earlier_editions_are_read() {
    let json = r#"{"iteration": 1, "audit": {"seed": "1", "tests": 2, "accusations": [],
        "owed_to_clues": {"grade": "suspicious", "kind": "clues", "text": "two"}}}"#;
    let state: AuditedState = serde_json::from_str(json).unwrap();
    assert_eq!(state.audit.only_as_written.unwrap().text, "two");
}
