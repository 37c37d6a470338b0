//! A test session as the bootstrap tells it, and the verdict over it.

mod report;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use swe_ci_core::finding::{Finding, FindingKind};
use swe_ci_core::report::{PytestExit, Report};

use crate::TestRun;
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
#[derive(Default)]
pub(crate) struct Session {
    /// With the place of each.
    collected: BTreeMap<String, usize>,
    tests: BTreeMap<String, Test>,
    text_bytes: usize,
    /// Set at the end of the tests.
    seconds: Option<f64>,
    exit: Option<i64>,
    findings: Vec<Finding>,
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
    reached: bool,
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
}

impl Session {
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
            Ok(Frame::Raised {
                id,
                exception,
                reached,
            }) => {
                let test = self.test(id);
                (test.raised, test.reached) = (exception, reached);
            }
            Ok(Frame::Report(stage)) => self.report(stage),
            Ok(Frame::DiskFull) => self.disk_full = self.collected.is_empty(),
            Ok(Frame::Dropped { options }) => self.dropped_options = options,
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
        self.limit(self.collected.len());
    }

    fn limit(&mut self, tests: usize) {
        if tests > MAX_TESTS {
            self.overflow = Some(format!("the code has more than {MAX_TESTS} tests"));
        }
    }

    fn test(&mut self, id: String) -> &mut Test {
        self.limit(self.tests.len());
        self.tests.entry(id).or_default()
    }

    fn report(&mut self, mut stage: Stage) {
        let room = MAX_TEXT.saturating_sub(self.text_bytes);
        if stage.text.len() > room {
            stage.text.clear();
        }
        self.text_bytes += stage.text.len();
        let test = self.test(stage.id.clone());
        if !stage.category.is_empty() && stage.category != "passed" {
            test.category = Some(stage.category.clone());
        } else if stage.when == "call" && !test.is_decided() {
            test.category = None;
        }
        // The last report of a stage counts; subtests report before it.
        test.stages.retain(|earlier| earlier.when != stage.when);
        test.stages.push(stage);
    }

    /// The collected tests in their order.
    pub fn order(&self) -> Vec<TestRun> {
        let mut order: Vec<_> = self.collected.iter().collect();
        order.sort_by_key(|(_, place)| **place);
        let run = |(id, _): (&String, _)| {
            let test = self.tests.get(id);
            TestRun {
                id: id.clone(),
                raised: test.and_then(|test| test.raised.clone()),
                reached: test.is_some_and(|test| test.reached),
            }
        };
        order.into_iter().map(run).collect()
    }

    /// The verdict, given the exit code of the process or why it has none.
    pub fn conclude(
        mut self,
        process_exit: Result<i64, String>,
        known_tests: Option<&BTreeSet<String>>,
    ) -> Verdict {
        let result = process_exit.and_then(|exit| self.checked(exit));
        self.tests.retain(|_, test| test.ended());
        if let (Ok(()), Some(known)) = (&result, known_tests) {
            self.drop_unknown_tests(known);
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
