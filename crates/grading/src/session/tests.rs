//! Sessions as a bootstrap would tell them.

use super::*;
use swe_ci_base::code::CodeTree;
use swe_ci_core::finding::{Grade, tampering};

/// A session whose oracle has one file of tests, and one of its canaries.
struct Told {
    session: Session,
    failing_canary: String,
}

impl Told {
    fn new() -> Self {
        Self::without(&[])
    }

    fn without(walls: &[Wall]) -> Self {
        let mut oracle = CodeTree::default();
        oracle.insert_file("tests/test_a.py", "");
        let canaries = Canaries::new(1, &oracle);
        let (ids, failing_canary) = canary_ids(&canaries);
        let mut told = Self {
            session: Session::new(canaries, walls.iter().copied().collect()),
            failing_canary,
        };
        told.tell(Frame::Collected { ids });
        told
    }

    fn tell(&mut self, frame: Frame) {
        self.session.take(Ok(frame));
    }

    fn test(&mut self, id: &str, category: &str) {
        let id = id.to_owned();
        self.tell(Frame::Collected {
            ids: vec![id.clone()],
        });
        self.tell(Frame::Begin { id: id.clone() });
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

    /// Runs the canaries as they must come out, and ends.
    fn end(self, exit: i64) -> Verdict {
        self.end_with(exit, None)
    }

    fn end_with(mut self, exit: i64, known_tests: Option<&BTreeSet<String>>) -> Verdict {
        let ids: Vec<String> = self.session.collected.keys().cloned().collect();
        for id in ids {
            if let Known::Canary { passes } = self.session.canaries.known(&id)
                && !self.session.begun.contains(&id)
            {
                self.test(&id, if passes { "passed" } else { "failed" });
            }
        }
        let shadowed = Vec::new();
        self.tell(Frame::End { exit, shadowed });
        self.session.conclude(Ok(0), known_tests)
    }
}

fn canary_ids(canaries: &Canaries) -> (Vec<String>, String) {
    let ids = canaries.node_ids();
    let fails = |id: &&String| canaries.known(id) == Known::Canary { passes: false };
    let failing = ids.iter().find(fails).unwrap().clone();
    (ids, failing)
}

fn worst(verdict: &Verdict) -> Option<(Grade, FindingKind)> {
    let worst = verdict.findings.iter().max_by_key(|finding| finding.grade);
    worst.map(|finding| (finding.grade, finding.kind))
}

/// Code that ran can say nothing about the time before it.
#[test]
fn the_disk_is_full_before_any_test_is_collected() {
    let mut session = Session::new(Canaries::default(), BTreeSet::new());
    session.take(Ok(Frame::DiskFull));
    assert!(session.disk_full);
    let mut told = Told::new();
    told.tell(Frame::DiskFull);
    assert!(!told.session.disk_full);
}

#[test]
fn canaries_are_not_in_the_report() {
    let mut told = Told::new();
    told.test("tests/test_a.py::one", "passed");
    told.test("tests/test_a.py::two", "xfailed");
    let verdict = told.end(1);
    assert_eq!(worst(&verdict), None, "{:?}", verdict.findings);
    let report = verdict.result.unwrap();
    // The canaries failed, the tests did not.
    assert_eq!(report.exit_code, 0);
    assert_eq!(report.tests.len(), 2);
    assert_eq!(report.passed(), 1);
}

/// Many lesser findings hide no tampering, and are not all told.
#[test]
fn findings_are_counted_by_grade() {
    let mut told = Told::new();
    for number in 0..MAX_FINDINGS + 5 {
        for _ in 0..2 {
            told.test(&format!("tests/test_a.py::test_{number}"), "passed");
        }
    }
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
    let mut told = Told::new();
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
fn canaries_that_the_settings_leave_out_are_not_missed() {
    let mut told = Told::new();
    told.test("tests/test_a.py::one", "passed");
    let ids = told.session.canaries.node_ids();
    told.tell(Frame::Deselected { ids });
    let verdict = told.end(0);
    assert_eq!(worst(&verdict), None, "{:?}", verdict.findings);
}

#[test]
fn contradictions_are_tampering() {
    let check = |tamper: &dyn Fn(&mut Told), wall: Wall| {
        let told = |walls: &[Wall]| {
            let mut told = Told::without(walls);
            told.test("tests/test_a.py::one", "passed");
            tamper(&mut told);
            told.end(1)
        };
        let verdict = told(&[]);
        assert_eq!(worst(&verdict).unwrap().0, Grade::Tampered, "{verdict:?}");
        assert!(verdict.alarms.contains_key(&wall), "{verdict:?}");
        // A task whose own tests do that is graded without the wall.
        let verdict = told(&[wall]);
        assert!(tampering(&verdict.findings).is_none(), "{verdict:?}");
        assert!(!verdict.alarms.contains_key(&wall), "{verdict:?}");
    };
    check(
        &|told| told.report("tests/test_b.py::not_running", "passed"),
        Wall::Results,
    );
    let uncollected = |told: &mut Told| {
        let id = "tests/test_b.py::invented".to_owned();
        told.tell(Frame::Begin { id });
    };
    check(&uncollected, Wall::Results);
    let swallowed = |told: &mut Told| {
        let id = "tests/test_b.py::b".to_owned();
        told.tell(Frame::Collected {
            ids: vec![id.clone()],
        });
        told.tell(Frame::Begin { id: id.clone() });
        let exception = Some("AssertionError".into());
        told.tell(Frame::Raised {
            id: id.clone(),
            exception,
        });
        told.report(&id, "passed");
    };
    check(&swallowed, Wall::Results);
    let canary = |told: &mut Told| {
        let id = told.failing_canary.clone();
        told.test(&id, "passed");
    };
    check(&canary, Wall::Canaries);
    let patched = |told: &mut Told| {
        let (what, test) = ("_pytest.runner.call_and_report".into(), "t".into());
        told.tell(Frame::Patched {
            wall: Wall::Runner,
            what,
            test,
        });
    };
    check(&patched, Wall::Runner);
    let unsaid = |told: &mut Told| {
        let shadowed = Vec::new();
        told.test("tests/test_a.py::two", "failed");
        told.tell(Frame::End { exit: 0, shadowed });
    };
    check(&unsaid, Wall::Results);
}

#[test]
fn lines_of_others_on_the_channel_are_tampering() {
    let mut told = Told::new();
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
    let mut told = Told::new();
    told.test("tests/test_a.py::one", "passed");
    told.tell(Frame::Finish { seconds: 1.0 });
    let shadowed = Vec::new();
    told.tell(Frame::End { exit: 77, shadowed });
    let verdict = told.session.conclude(Ok(77), None);
    assert_eq!(verdict.result.unwrap().passed(), 1);
}

#[test]
fn a_failure_is_not_taken_back() {
    let mut told = Told::new();
    told.test("tests/test_a.py::one", "failed");
    told.report("tests/test_a.py::one", "passed");
    assert_eq!(told.end(1).result.unwrap().passed(), 0);
}

/// By a plugin that repeats what failed, and calls that by a word of its own.
#[test]
fn a_test_that_passes_when_repeated_passes() {
    let mut told = Told::new();
    told.test("tests/test_a.py::one", "rerun");
    told.report("tests/test_a.py::one", "passed");
    assert_eq!(told.end(1).result.unwrap().passed(), 1);
}

#[test]
fn a_test_without_its_result_did_not_pass() {
    let mut told = Told::new();
    told.test("tests/test_a.py::one", "passed");
    let id = "tests/test_a.py::two".to_owned();
    told.tell(Frame::Collected {
        ids: vec![id.clone()],
    });
    told.tell(Frame::Begin { id: id.clone() });
    told.tell(Frame::Raised {
        id,
        exception: Some("Exit".into()),
    });
    assert_eq!(told.end(1).result.unwrap().passed(), 1);
}

#[test]
fn a_session_without_its_end_collapses() {
    let check = |exit: Option<i64>, process: i64, expect: &str| {
        let mut told = Told::new();
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
    let mut unloaded = Told::new();
    for file in ["tests/conftest.py", "tests/test_a.py"] {
        let (file, cause) = (file.into(), "SyntaxError in a.py, line 3".into());
        unloaded.tell(Frame::Unloaded { file, cause });
    }
    let shadowed = Vec::new();
    unloaded.tell(Frame::End { exit: 4, shadowed });
    let why = unloaded.session.conclude(Ok(4), None).result.unwrap_err();
    let expect = "pytest could not load tests/conftest.py: SyntaxError in a.py, line 3";
    assert_eq!(why, expect);
    let nothing = Told::new();
    let why = nothing.end(1).result.unwrap_err();
    assert!(why.contains("no tests were found"), "{why}");
}

/// Plugins that look at files look at those of the canaries too.
#[test]
fn a_check_of_a_canarys_file_is_no_canary() {
    let check = |is_check: bool, expect: &[Grade]| {
        let mut told = Told::new();
        let file = told.failing_canary.split("::").next().unwrap().to_owned();
        let id = format!("{file}::BLACK");
        if is_check {
            told.tell(Frame::Checks {
                ids: vec![id.clone()],
            });
        }
        told.test("tests/test_a.py::test_a", "passed");
        told.test(&id, "failed");
        let verdict = told.end(1);
        let grades: Vec<Grade> = verdict.findings.iter().map(|f| f.grade).collect();
        assert_eq!(grades, expect, "{:?}", verdict.findings);
        let report = verdict.result.unwrap();
        assert_eq!(report.tests.len(), 1, "{report:?}");
    };
    check(true, &[]);
    check(false, &[Grade::Tampered]);
}
