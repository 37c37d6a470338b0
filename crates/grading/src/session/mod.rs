//! A test session as the bootstrap tells it, and the verdict over it.

mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use swe_ci_core::finding::{Finding, FindingKind, Grade};
use swe_ci_core::report::{PytestExit, Report};
use swe_ci_core::wall::Wall;

use crate::TestRun;
use crate::canaries::{Canaries, Known};
use crate::channel::{Foreign, Frame, Stage};

use report::{did_not_run, report_of};

/// The most tests that a session may have.
const MAX_TESTS: usize = 200_000;
/// The most bytes of failure messages that are kept.
const MAX_TEXT: usize = 32 << 20;
/// The most findings of one kind and grade that are told.
const MAX_FINDINGS: usize = 20;
/// pytest's own exit codes end here.
const LAST_EXIT_CODE: i64 = 5;

/// Everything told so far.
pub(crate) struct Session {
    canaries: Canaries,
    /// With the place of each.
    collected: BTreeMap<String, usize>,
    /// Those that are no functions: plugins that look at files make one for each
    /// file, also for those with canaries.
    checks: BTreeSet<String>,
    begun: BTreeSet<String>,
    current: Option<String>,
    tests: BTreeMap<String, Test>,
    text_bytes: usize,
    /// Set at the end of the tests.
    seconds: Option<f64>,
    exit: Option<i64>,
    findings: Vec<Finding>,
    left_away: BTreeSet<Wall>,
    /// What walls noticed first.
    pub alarms: BTreeMap<Wall, String>,
    /// Exceptions that fit many expectations.
    pub many_kinds: Vec<String>,
    /// Options of the settings that were left out.
    pub dropped_options: Vec<String>,
    /// Whether there was no room for the code: the machine's fault.
    pub disk_full: bool,
    overflow: Option<String>,
    /// The first file that could not be loaded, and why.
    unloaded: Option<String>,
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

    /// Whether it did not pass, in words of pytest's own; plugins that repeat tests
    /// have others for a try that does not count.
    fn is_decided(&self) -> bool {
        let category = self.outcome();
        category.ends_with("failed") || ["error", "skipped", "xpassed"].contains(&category)
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
    pub alarms: BTreeMap<Wall, String>,
}

impl Session {
    pub fn new(canaries: Canaries, left_away: BTreeSet<Wall>) -> Self {
        Self {
            canaries,
            collected: BTreeMap::new(),
            checks: BTreeSet::new(),
            begun: BTreeSet::new(),
            current: None,
            tests: BTreeMap::new(),
            text_bytes: 0,
            seconds: None,
            exit: None,
            findings: Vec::new(),
            left_away,
            alarms: BTreeMap::new(),
            many_kinds: Vec::new(),
            dropped_options: Vec::new(),
            disk_full: false,
            overflow: None,
            unloaded: None,
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
            Err(Foreign) => self.find(Finding::tampered(
                FindingKind::Report,
                "something else than the test runner wrote to the channel of the results",
            )),
            Ok(Frame::Start { shadowing }) => self.shadowing(&shadowing),
            Ok(Frame::Collected { ids }) => self.collected(ids),
            Ok(Frame::Checks { ids }) => self.checks.extend(ids),
            Ok(Frame::Begin { id }) => self.begin(id),
            Ok(Frame::Raised { id, exception }) => self.raised(&id, exception),
            Ok(Frame::Report(stage)) => self.report(stage),
            Ok(Frame::Patched { wall, what, test }) => {
                let text = format!("{what} was replaced, noticed at {test}");
                self.noticed(wall, Finding::tampered(FindingKind::Report, text));
            }
            Ok(Frame::DiskFull) => self.disk_full = self.collected.is_empty(),
            Ok(Frame::Dropped { options }) => self.dropped_options = options,
            Ok(Frame::Deselected { ids }) => self.canaries.leave_out(&ids),
            Ok(Frame::ManyKinds { class }) => self.many_kinds.push(class),
            Ok(Frame::Unloaded { file, cause }) => {
                let why = || format!("pytest could not load {file}: {cause}");
                self.unloaded.get_or_insert_with(why);
            }
            Ok(Frame::Finish { seconds }) => self.seconds = Some(seconds),
            Ok(Frame::End { exit, shadowed }) => {
                self.shadowing(&shadowed);
                self.exit = Some(exit);
            }
        }
    }

    fn find(&mut self, finding: Finding) {
        let like = |f: &&Finding| f.kind == finding.kind && f.grade == finding.grade;
        let alike = self.findings.iter().filter(like);
        if alike.count() < MAX_FINDINGS && !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// A finding of a wall, unless the task is graded without.
    pub fn noticed(&mut self, wall: Wall, finding: Finding) {
        if !self.left_away.contains(&wall) {
            let alarm = || finding.text.clone();
            self.alarms.entry(wall).or_insert_with(alarm);
            self.find(finding);
        }
    }

    fn contradictory(&mut self, text: String) {
        self.noticed(Wall::Results, Finding::tampered(FindingKind::Report, text));
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
        for id in ids {
            let place = self.collected.len();
            self.collected.entry(id).or_insert(place);
        }
        if self.collected.len() > MAX_TESTS {
            self.overflow = Some(format!("the code has more than {MAX_TESTS} tests"));
        }
    }

    fn begin(&mut self, id: String) {
        if !self.collected.contains_key(&id) {
            self.contradictory(format!("{id} ran, but was not collected"));
        } else if !self.begun.insert(id.clone()) {
            let text = format!("{id} ran twice");
            self.noticed(
                Wall::Results,
                Finding::suspicious(FindingKind::Report, text),
            );
        }
        self.current = Some(id);
    }

    /// The test that may report now; any other's report is forged.
    fn current(&mut self, id: &str) -> Option<&mut Test> {
        if self.current.as_deref() != Some(id) {
            self.contradictory(format!("a result of {id} came while another test ran"));
            if !self.left_away.contains(&Wall::Results) {
                return None;
            }
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
        } else if stage.when == "call" && !test.is_decided() {
            test.category = None;
        }
        // The last report of a stage counts; subtests report before it.
        test.stages.retain(|earlier| earlier.when != stage.when);
        test.stages.push(stage);
        if hidden {
            self.contradictory(format!(
                "{id} raised an exception and was reported as passed"
            ));
        }
    }

    /// The collected tests in their order.
    pub fn order(&self) -> Vec<TestRun> {
        let mut order: Vec<_> = self.collected.iter().collect();
        order.sort_by_key(|(_, place)| **place);
        let run = |(id, _): (&String, _)| TestRun {
            id: id.clone(),
            raised: self.tests.get(id).and_then(|test| test.raised.clone()),
        };
        order.into_iter().map(run).collect()
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
        let seconds = self.seconds.unwrap_or(0.0);
        let result = result.and_then(|()| report_of(&self.tests, seconds));
        let (result, raw) = match result {
            Ok((report, raw)) => (Ok(report), Some(raw)),
            Err(why) => (Err(why), None),
        };
        Verdict {
            result,
            raw,
            findings: self.findings,
            alarms: self.alarms,
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
            // A plugin's own code, said at the end of the tests.
            PytestExit::DidNotRun(code)
                if process_exit == code && code > LAST_EXIT_CODE && self.seconds.is_some() =>
            {
                Ok(())
            }
            PytestExit::DidNotRun(code) if process_exit == code => {
                let unloaded = self.unloaded.clone();
                Err(unloaded.unwrap_or_else(|| did_not_run(code)))
            }
            _ => Err(format!(
                "the report speaks of exit code {exit}, the process ended with {process_exit}"
            )),
        }
    }

    /// pytest ends with 0 if nothing failed, and with 1 otherwise.
    fn weigh_exit_code(&mut self) {
        let failed = self.tests.values().filter(|test| test.failed()).count();
        if self.exit == Some(0) && failed > 0 {
            self.contradictory(format!(
                "pytest ended with exit code 0 although {failed} tests failed"
            ));
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
                Known::Stranger if self.checks.contains(id) => {}
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
        for finding in found {
            match finding.grade {
                Grade::Note => self.find(finding),
                _ => self.noticed(Wall::Canaries, finding),
            }
        }
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
}
