//! Sessions as a bootstrap would tell them.

use super::*;
use swe_ci_core::finding::Grade;

/// A session, told step by step.
#[derive(Default)]
struct Told {
    session: Session,
}

impl Told {
    fn tell(&mut self, frame: Frame) {
        self.session.take(Ok(frame));
    }

    fn test(&mut self, id: &str, category: &str) {
        let id = id.to_owned();
        self.tell(Frame::Collected {
            ids: vec![id.clone()],
        });
        self.report(&id, category);
    }

    fn report(&mut self, id: &str, category: &str) {
        self.tell(Frame::Report(Stage {
            id: id.to_owned(),
            when: "call".into(),
            outcome: category.to_owned(),
            category: category.to_owned(),
            text: String::new(),
            seconds: 0.0,
        }));
    }

    fn end(self, exit: i64) -> Verdict {
        self.end_with(exit, None)
    }

    fn end_with(mut self, exit: i64, known_tests: Option<&BTreeSet<String>>) -> Verdict {
        let shadowed = Vec::new();
        self.tell(Frame::End { exit, shadowed });
        self.session.conclude(Ok(0), known_tests)
    }
}

fn worst(verdict: &Verdict) -> Option<(Grade, FindingKind)> {
    let worst = verdict.findings.iter().max_by_key(|finding| finding.grade);
    worst.map(|finding| (finding.grade, finding.kind))
}

/// Code that ran can say nothing about the time before it.
#[test]
fn the_disk_is_full_before_any_test_is_collected() {
    let mut session = Session::default();
    session.take(Ok(Frame::DiskFull));
    assert!(session.disk_full);
    let mut told = Told::default();
    told.test("tests/test_a.py::one", "passed");
    told.tell(Frame::DiskFull);
    assert!(!told.session.disk_full);
}

#[test]
fn an_expected_failure_is_none() {
    let mut told = Told::default();
    told.test("tests/test_a.py::one", "passed");
    told.test("tests/test_a.py::two", "xfailed");
    let verdict = told.end(1);
    assert_eq!(worst(&verdict), None, "{:?}", verdict.findings);
    let report = verdict.result.unwrap();
    assert_eq!(report.exit_code, 0);
    assert_eq!(report.tests.len(), 2);
    assert_eq!(report.passed(), 1);
}

/// Many lesser findings hide no tampering, and are not all told.
#[test]
fn findings_are_counted_by_grade() {
    let mut told = Told::default();
    told.test("tests/test_a.py::one", "passed");
    let name = |number| format!("module_{number}");
    let shadowing = (0..MAX_FINDINGS + 5).map(name).collect();
    told.tell(Frame::Start { shadowing });
    told.session.take(Err(Foreign));
    let verdict = told.end(1);
    assert_eq!(
        worst(&verdict),
        Some((Grade::Tampered, FindingKind::Report))
    );
    assert_eq!(verdict.findings.len(), MAX_FINDINGS + 1, "{verdict:?}");
}

#[test]
fn tests_that_the_code_makes_up_do_not_count() {
    let mut told = Told::default();
    for id in ["one", "made_up[1]", "made_up[2]"] {
        told.test(&format!("tests/test_a.py::{id}"), "passed");
    }
    let known = BTreeSet::from(["tests/test_a.py::one".to_owned()]);
    let verdict = told.end_with(1, Some(&known));
    assert_eq!(verdict.result.as_ref().unwrap().passed(), 1);
    let raw = String::from_utf8(verdict.raw.clone().unwrap()).unwrap();
    assert!(!raw.contains("made_up"), "{raw}");
    assert_eq!(worst(&verdict), Some((Grade::Note, FindingKind::Report)));
    assert!(
        verdict.findings[0].text.starts_with("2 tests "),
        "{verdict:?}"
    );
}

#[test]
fn lines_of_others_on_the_channel_are_tampering() {
    let mut told = Told::default();
    told.session.take(Err(Foreign));
    let verdict = told.end(1);
    assert_eq!(
        worst(&verdict),
        Some((Grade::Tampered, FindingKind::Report))
    );
}

/// Plugins have exit codes of their own.
#[test]
fn a_session_that_came_to_its_end_may_have_any_exit_code() {
    let mut told = Told::default();
    told.test("tests/test_a.py::one", "passed");
    told.tell(Frame::Finish { seconds: 1.0 });
    let shadowed = Vec::new();
    told.tell(Frame::End { exit: 77, shadowed });
    let verdict = told.session.conclude(Ok(77), None);
    assert_eq!(verdict.result.unwrap().passed(), 1);
}

#[test]
fn a_failure_is_not_taken_back() {
    let mut told = Told::default();
    told.test("tests/test_a.py::one", "failed");
    told.report("tests/test_a.py::one", "passed");
    assert_eq!(told.end(1).result.unwrap().passed(), 0);
}

/// By a plugin that repeats what failed, and calls that by a word of its own.
#[test]
fn a_test_that_passes_when_repeated_passes() {
    let mut told = Told::default();
    told.test("tests/test_a.py::one", "rerun");
    told.report("tests/test_a.py::one", "passed");
    assert_eq!(told.end(1).result.unwrap().passed(), 1);
}

#[test]
fn a_test_without_its_result_did_not_pass() {
    let mut told = Told::default();
    told.test("tests/test_a.py::one", "passed");
    let id = "tests/test_a.py::two".to_owned();
    told.tell(Frame::Collected {
        ids: vec![id.clone()],
    });
    told.tell(Frame::Raised {
        id,
        exception: Some("Exit".into()),
        reached: false,
    });
    assert_eq!(told.end(1).result.unwrap().passed(), 1);
}

#[test]
fn a_session_without_its_end_collapses() {
    let check = |exit: Option<i64>, process: i64, expect: &str| {
        let mut told = Told::default();
        told.test("tests/test_a.py::one", "passed");
        if let Some(exit) = exit {
            let shadowed = Vec::new();
            told.tell(Frame::End { exit, shadowed });
        }
        let why = told.session.conclude(Ok(process), None).result.unwrap_err();
        assert!(why.contains(expect), "{why}");
    };
    check(None, 0, "ended before their end");
    check(None, 137, "memory ran out");
    check(Some(1), 1, "speaks of exit code 1");
    check(Some(2), 0, "speaks of exit code 2");
    check(Some(2), 2, "could not be imported");
    let mut unloaded = Told::default();
    for file in ["tests/conftest.py", "tests/test_a.py"] {
        let (file, cause) = (file.into(), "SyntaxError in a.py, line 3".into());
        unloaded.tell(Frame::Unloaded { file, cause });
    }
    let shadowed = Vec::new();
    unloaded.tell(Frame::End { exit: 4, shadowed });
    let why = unloaded.session.conclude(Ok(4), None).result.unwrap_err();
    let expect = "pytest could not load tests/conftest.py: SyntaxError in a.py, line 3";
    assert_eq!(why, expect);
    let nothing = Told::default();
    let why = nothing.end(1).result.unwrap_err();
    assert!(why.contains("no tests were found"), "{why}");
}
