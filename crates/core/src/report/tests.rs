use super::*;

fn report(tests: &str, passed: u32) -> Result<Report, ReportError> {
    let json = format!(
        r#"{{"created": 1.0, "duration": 0.5, "exitcode": 1, "root": "/app/code",
            "environment": {{}}, "summary": {{"passed": {passed}, "total": 9}}, "tests": [{tests}]}}"#
    );
    Report::parse(json.as_bytes())
}

#[test]
fn reads_outcomes_and_messages() {
    let report = report(
        r#"{"nodeid": "tests/test_a.py::t1", "outcome": "passed", "call": {"outcome": "passed"}},
           {"nodeid": "tests/test_a.py::t2", "outcome": "failed", "call": {"longrepr": "assert 1 == 2"}},
           {"nodeid": "tests/test_a.py::t3", "outcome": "error", "setup": {"longrepr": "fixture 'x' not found"}},
           {"nodeid": "tests/test_a.py::t4", "outcome": "sideways"}"#,
        1,
    )
    .unwrap();
    assert_eq!(report.passed(), 1);
    assert_eq!(
        report.passing().collect::<Vec<_>>(),
        ["tests/test_a.py::t1"]
    );
    assert_eq!(report.tests["tests/test_a.py::t2"].message, "assert 1 == 2");
    assert_eq!(
        report.tests["tests/test_a.py::t3"].message,
        "fixture 'x' not found"
    );
    assert_eq!(report.tests["tests/test_a.py::t4"].outcome, Outcome::Error);
}

#[test]
fn a_duplicate_cannot_hide_a_failure() {
    let report = report(
        r#"{"nodeid": "t", "outcome": "failed"}, {"nodeid": "t", "outcome": "passed"}"#,
        1,
    )
    .unwrap();
    assert_eq!(report.passed(), 0);
}

#[test]
fn refuses_what_is_not_a_report() {
    for bad in [
        "",
        "null",
        "[]",
        "{}",
        r#"{"exitcode": "zero", "summary": {}}"#,
        "{\"exitcode\": 0",
    ] {
        assert!(
            matches!(
                Report::parse(bad.as_bytes()),
                Err(ReportError::Malformed(_))
            ),
            "{bad}"
        );
    }
    assert!(matches!(
        report("", 3),
        Err(ReportError::Contradiction {
            summary: 3,
            listed: 0
        })
    ));
}

#[test]
fn exit_codes() {
    assert_eq!(PytestExit::from_code(0), PytestExit::Ran);
    assert_eq!(PytestExit::from_code(1), PytestExit::Ran);
    for code in [2, 3, 4, 5, 137, -1] {
        assert_eq!(PytestExit::from_code(code), PytestExit::DidNotRun(code));
    }
}

mod written;
