//! A test session as the bootstrap tells it, and the verdict over it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::report::{PytestExit, Report};

use crate::canaries::{Canaries, Known};
use crate::channel::{Foreign, Frame, Stage};

/// The most tests that a session may have.
const MAX_TESTS: usize = 200_000;
/// The most bytes of failure messages that are kept.
const MAX_TEXT: usize = 32 << 20;
/// The most findings of one kind that are told.
const MAX_FINDINGS: usize = 20;

/// Everything told so far.
pub(crate) struct Session {
    canaries: Canaries,
    collected: BTreeSet<String>,
    begun: BTreeSet<String>,
    current: Option<String>,
    tests: BTreeMap<String, Test>,
    text_bytes: usize,
    seconds: f64,
    exit: Option<i64>,
    findings: Vec<Finding>,
    /// Types whose objects equal what they should not.
    pub equal_to_anything: Vec<String>,
    /// Options of the settings that were left out.
    pub dropped_options: Vec<String>,
    /// Things that the code reached for while it ran, with the file and line.
    pub reached: Vec<(String, String)>,
    /// Whether there was no room for the code: the machine's fault.
    pub disk_full: bool,
    overflow: Option<String>,
}

#[derive(Debug, Default)]
struct Test {
    /// What the test's own code raised.
    raised: Option<String>,
    /// Any category of pytest's other than passed, the last one told.
    category: Option<String>,
    stages: Vec<Stage>,
}

impl Test {
    fn outcome(&self) -> &str {
        self.category.as_deref().unwrap_or("passed")
    }

    /// Whether it came to a result: a session may end in the middle of a test.
    fn ended(&self) -> bool {
        self.category.is_some() || self.stages.iter().any(|stage| stage.when == "call")
    }

    fn failed(&self) -> bool {
        matches!(self.outcome(), "failed" | "error")
    }
}

/// What a session came to.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// The report, or why the code counts as collapsed.
    pub result: Result<Report, String>,
    pub raw: Option<Vec<u8>>,
    pub findings: Vec<Finding>,
}

impl Session {
    pub fn new(canaries: Canaries) -> Self {
        Self {
            canaries,
            collected: BTreeSet::new(),
            begun: BTreeSet::new(),
            current: None,
            tests: BTreeMap::new(),
            text_bytes: 0,
            seconds: 0.0,
            exit: None,
            findings: Vec::new(),
            equal_to_anything: Vec::new(),
            dropped_options: Vec::new(),
            reached: Vec::new(),
            disk_full: false,
            overflow: None,
        }
    }

    /// Whether no more output is wanted, given that the text beside the frames
    /// has ended.
    pub fn is_over(&self, output_ended: bool) -> bool {
        self.overflow.is_some() || self.exit.is_some() && output_ended
    }

    pub fn take(&mut self, frame: Result<Frame, Foreign>) {
        if self.is_over(true) {
            return;
        }
        match frame {
            Err(Foreign) => self.tampered(
                FindingKind::Report,
                "something else than the test runner wrote to the channel of the results".into(),
            ),
            Ok(Frame::Start { shadowing }) => self.shadowing(&shadowing),
            Ok(Frame::Collected { ids }) => self.collected(ids),
            Ok(Frame::Begin { id }) => self.begin(id),
            Ok(Frame::Raised { id, exception }) => self.raised(&id, exception),
            Ok(Frame::Report(stage)) => self.report(stage),
            Ok(Frame::Patched { what, test }) => self.patched(&what, &test),
            Ok(Frame::DiskFull) => self.disk_full = self.collected.is_empty(),
            Ok(Frame::Dropped { options }) => self.dropped_options = options,
            Ok(Frame::Deselected { ids }) => self.canaries.leave_out(&ids),
            Ok(Frame::Reached { what, by }) if self.reached.len() < MAX_FINDINGS => {
                self.reached.push((what, by));
            }
            Ok(Frame::Reached { .. }) => {}
            Ok(Frame::Equality { class }) => self.equal_to_anything.push(class),
            Ok(Frame::Finish { seconds }) => self.seconds = seconds,
            Ok(Frame::End { exit, shadowed }) => {
                self.shadowing(&shadowed);
                self.exit = Some(exit);
            }
        }
    }

    fn find(&mut self, finding: Finding) {
        let alike = self.findings.iter().filter(|f| f.kind == finding.kind);
        if alike.count() < MAX_FINDINGS && !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    fn tampered(&mut self, kind: FindingKind, text: String) {
        self.find(Finding::tampered(kind, text));
    }

    fn shadowing(&mut self, names: &[String]) {
        for name in names {
            let text = format!(
                "the code adds a module {name}, which the image or Python itself has; the code's was not used"
            );
            self.find(Finding::suspicious(FindingKind::Shadowing, text));
        }
    }

    fn collected(&mut self, ids: Vec<String>) {
        self.collected.extend(ids);
        if self.collected.len() > MAX_TESTS {
            self.overflow = Some(format!("the code has more than {MAX_TESTS} tests"));
        }
    }

    fn begin(&mut self, id: String) {
        if !self.collected.contains(&id) {
            let text = format!("{id} ran, but was not collected");
            self.tampered(FindingKind::Report, text);
        } else if !self.begun.insert(id.clone()) {
            let text = format!("{id} ran twice");
            self.find(Finding::suspicious(FindingKind::Report, text));
        }
        self.current = Some(id);
    }

    /// The test that may report now; any other's report is forged.
    fn current(&mut self, id: &str) -> Option<&mut Test> {
        if self.current.as_deref() != Some(id) {
            let text = format!("a result of {id} came while another test ran");
            self.tampered(FindingKind::Report, text);
            return None;
        }
        Some(self.tests.entry(id.to_owned()).or_default())
    }

    fn raised(&mut self, id: &str, exception: Option<String>) {
        if let Some(test) = self.current(id) {
            test.raised = exception;
        }
    }

    fn report(&mut self, mut stage: Stage) {
        let room = MAX_TEXT.saturating_sub(self.text_bytes);
        if stage.text.len() > room {
            stage.text.clear();
        }
        self.text_bytes += stage.text.len();
        let id = stage.id.clone();
        let Some(test) = self.current(&id) else {
            return;
        };
        let hidden = stage.when == "call" && stage.category == "passed" && test.raised.is_some();
        if !stage.category.is_empty() && stage.category != "passed" {
            test.category = Some(stage.category.clone());
        }
        // The last report of a stage counts; subtests report before it.
        test.stages.retain(|earlier| earlier.when != stage.when);
        test.stages.push(stage);
        if hidden {
            let text = format!("{id} raised an exception and was reported as passed");
            self.tampered(FindingKind::Report, text);
        }
    }

    fn patched(&mut self, what: &str, test: &str) {
        let text = match what {
            "the test itself" => format!("{test} was no longer the test that was collected"),
            _ => format!("{what} was replaced, noticed at {test}"),
        };
        self.tampered(FindingKind::Report, text);
    }

    /// The verdict, given the exit code of the process or why it has none. A canary that came out wrong
    /// is a finding; none of them is in the report.
    pub fn conclude(
        mut self,
        process_exit: Result<i64, String>,
        known_tests: Option<&BTreeSet<String>>,
    ) -> Verdict {
        let result = process_exit.and_then(|exit| self.checked(exit));
        self.tests.retain(|_, test| test.ended());
        if result.is_ok() {
            self.weigh_exit_code();
            self.weigh_canaries();
            self.drop_canaries();
            if let Some(known) = known_tests {
                self.drop_unknown_tests(known);
            }
        }
        let result = result.and_then(|()| self.report_of());
        let (result, raw) = match result {
            Ok((report, raw)) => (Ok(report), Some(raw)),
            Err(why) => (Err(why), None),
        };
        Verdict {
            result,
            raw,
            findings: self.findings,
        }
    }

    fn checked(&self, process_exit: i64) -> Result<(), String> {
        if let Some(why) = &self.overflow {
            return Err(why.clone());
        }
        let Some(exit) = self.exit else {
            return Err(match PytestExit::from_code(process_exit) {
                PytestExit::Ran => "the process of the tests ended before their end".into(),
                PytestExit::DidNotRun(code) => did_not_run(code),
            });
        };
        match PytestExit::from_code(exit) {
            PytestExit::Ran if process_exit == 0 => Ok(()),
            PytestExit::DidNotRun(code) if process_exit == code => Err(did_not_run(code)),
            _ => Err(format!(
                "the report speaks of exit code {exit}, the process ended with {process_exit}"
            )),
        }
    }

    /// pytest ends with 0 if nothing failed, and with 1 otherwise.
    fn weigh_exit_code(&mut self) {
        let failed = self.tests.values().filter(|test| test.failed()).count();
        if self.exit == Some(0) && failed > 0 {
            let text = format!("pytest ended with exit code 0 although {failed} tests failed");
            self.tampered(FindingKind::Report, text);
        }
    }

    fn weigh_canaries(&mut self) {
        let mut seen = 0;
        let mut found = Vec::new();
        for (id, test) in &self.tests {
            match self.canaries.known(id) {
                Known::NoCanary => {}
                Known::Canary { passes } => {
                    seen += 1;
                    let wrong = !passes && matches!(test.outcome(), "passed" | "xpassed");
                    let text = || format!("{id} must fail, and passed");
                    found.extend(wrong.then(|| Finding::tampered(FindingKind::Canary, text())));
                    let failed = passes && test.outcome() == "failed";
                    let text = || format!("{id} must pass, and failed");
                    found.extend(failed.then(|| Finding::note(FindingKind::Canary, text())));
                }
                Known::Stranger => {
                    let text = format!("{id} stands where only canaries do");
                    found.push(Finding::tampered(FindingKind::Canary, text));
                }
            }
        }
        let all = self.canaries.len();
        if seen < all {
            let text = format!("{} of {all} canaries did not run", all - seen);
            found.push(Finding::suspicious(FindingKind::Canary, text));
        }
        found.into_iter().for_each(|finding| self.find(finding));
    }

    fn drop_canaries(&mut self) {
        let canaries = &self.canaries;
        self.tests
            .retain(|id, _| canaries.known(id) == Known::NoCanary);
    }

    fn drop_unknown_tests(&mut self, known: &BTreeSet<String>) {
        let unknown: Vec<String> = self
            .tests
            .extract_if(.., |id, _| !known.contains(id))
            .map(|(id, _)| id)
            .collect();
        if let Some(first) = unknown.first() {
            let text = format!(
                "{} tests that neither the base nor the target has do not count, for example {first}",
                unknown.len()
            );
            self.find(Finding::note(FindingKind::Report, text));
        }
    }

    fn report_of(&self) -> Result<(Report, Vec<u8>), String> {
        if self.tests.is_empty() {
            return Err(did_not_run(5));
        }
        let failed = self.tests.values().any(Test::failed);
        let raw = json!({
            "exitcode": i32::from(failed),
            "duration": self.seconds,
            "summary": self.summary(),
            "tests": self.tests.iter().map(|(id, test)| to_json(id, test)).collect::<Vec<_>>(),
        });
        let raw = raw.to_string().into_bytes();
        let report = Report::parse(&raw).map_err(|error| error.to_string())?;
        Ok((report, raw))
    }

    fn summary(&self) -> BTreeMap<&str, usize> {
        let mut summary = BTreeMap::from([("total", self.tests.len())]);
        for test in self.tests.values() {
            *summary.entry(test.outcome()).or_default() += 1;
        }
        summary
    }
}

/// A test as pytest-json-report has it.
fn to_json(id: &str, test: &Test) -> Value {
    let mut fields = json!({"nodeid": id, "outcome": test.outcome()});
    for stage in &test.stages {
        let mut told = json!({"duration": stage.seconds, "outcome": stage.outcome});
        if !stage.text.is_empty() {
            told["longrepr"] = Value::from(stage.text.as_str());
        }
        fields[stage.when.as_str()] = told;
    }
    fields
}

fn did_not_run(code: i64) -> String {
    let meaning = match code {
        2 => "interrupted, most often because test files could not be imported",
        3 => "an internal error",
        4 => "a usage error",
        5 => "no tests were found",
        126 | 127 => "python or pytest is not in the image",
        137 => "killed, most often because memory ran out",
        _ => "it did not run to its end",
    };
    format!("pytest ended with exit code {code}: {meaning}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_base::code::CodeTree;
    use swe_ci_core::finding::Grade;

    /// A session whose oracle has one file of tests, and one of its canaries.
    struct Told {
        session: Session,
        failing_canary: String,
    }

    impl Told {
        fn new() -> Self {
            let mut oracle = CodeTree::default();
            oracle.insert_file("tests/test_a.py", "");
            let canaries = Canaries::new(1, &oracle);
            let (ids, failing_canary) = canary_ids(&canaries);
            let mut told = Self {
                session: Session::new(canaries),
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
            let ids: Vec<String> = self.session.collected.iter().cloned().collect();
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
        let mut session = Session::new(Canaries::new(1, &CodeTree::default()));
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
        let check = |tamper: &dyn Fn(&mut Told), expect: FindingKind| {
            let mut told = Told::new();
            told.test("tests/test_a.py::one", "passed");
            tamper(&mut told);
            let verdict = told.end(1);
            assert_eq!(
                worst(&verdict),
                Some((Grade::Tampered, expect)),
                "{verdict:?}"
            );
        };
        check(&|told| told.session.take(Err(Foreign)), FindingKind::Report);
        check(
            &|told| told.report("tests/test_b.py::not_running", "passed"),
            FindingKind::Report,
        );
        let uncollected = |told: &mut Told| {
            let id = "tests/test_b.py::invented".to_owned();
            told.tell(Frame::Begin { id });
        };
        check(&uncollected, FindingKind::Report);
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
        check(&swallowed, FindingKind::Report);
        let canary = |told: &mut Told| {
            let id = told.failing_canary.clone();
            told.test(&id, "passed");
        };
        check(&canary, FindingKind::Canary);
        let patched = |told: &mut Told| {
            let (what, test) = ("_pytest.runner.call_and_report".into(), "t".into());
            told.tell(Frame::Patched { what, test });
        };
        check(&patched, FindingKind::Report);
        let unsaid = |told: &mut Told| {
            let shadowed = Vec::new();
            told.test("tests/test_a.py::two", "failed");
            told.tell(Frame::End { exit: 0, shadowed });
        };
        check(&unsaid, FindingKind::Report);
    }

    #[test]
    fn a_failure_is_not_taken_back() {
        let mut told = Told::new();
        told.test("tests/test_a.py::one", "failed");
        told.report("tests/test_a.py::one", "passed");
        assert_eq!(told.end(1).result.unwrap().passed(), 0);
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
        let nothing = Told::new();
        let why = nothing.end(1).result.unwrap_err();
        assert!(why.contains("no tests were found"), "{why}");
    }
}
