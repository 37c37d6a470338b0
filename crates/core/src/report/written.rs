//! Reports that test runners write as files, and what they say together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{MESSAGE_LIMIT, Outcome, Report, TestResult};

/// The most tests of all reports of a run.
const MAX_TESTS: usize = 200_000;
/// The longest id, in characters; longer ones end in an ellipsis.
const MAX_ID: usize = 1_000;

/// Why a report cannot be read. Each says what is wrong.
#[derive(Debug, thiserror::Error)]
pub enum BadReport {
    #[error("it is not UTF-8")]
    Encoding,
    #[error("line {0}: {1}")]
    Xml(usize, String),
    #[error("it is no JSON of the Common Test Report Format: {0}")]
    Ctrf(serde_json::Error),
    #[error("its summary counts {summary} passed tests, its list has {listed}")]
    Contradiction { summary: u64, listed: u64 },
    #[error("it has more than {MAX_TESTS} tests")]
    TooMany,
}

/// A test as a report has it.
#[derive(Debug)]
pub(super) struct Case {
    id: String,
    outcome: Outcome,
    message: String,
    seconds: f64,
}

impl Case {
    /// Its id is made of the names around it and its own, without those that only
    /// repeat the one before.
    pub fn new(parts: impl Iterator<Item = String>, outcome: Outcome, seconds: f64) -> Self {
        let mut names: Vec<String> = Vec::new();
        for part in parts.filter(|part| !part.is_empty()) {
            // Tools write absolute paths of the folder that the code happens to be in.
            let part = part.replace("/app/code/", "");
            if names.last() != Some(&part) {
                names.push(part);
            }
        }
        let mut id = names.join("::");
        if let Some((end, _)) = id.char_indices().nth(MAX_ID) {
            id.truncate(end);
            id.push('…');
        }
        let seconds = if seconds.is_finite() {
            seconds.max(0.0)
        } else {
            0.0
        };
        Self {
            id,
            outcome,
            message: String::new(),
            seconds,
        }
    }

    /// A problem of it. One that is worse than another counts.
    pub fn spoil(&mut self, outcome: Outcome, message: &str) {
        if badness(outcome) > badness(self.outcome) || self.message.is_empty() {
            self.message = shortened(message);
        }
        self.outcome = worse(self.outcome, outcome);
    }

    /// Words about a failure that has none of its own.
    pub fn explain(&mut self, message: &str) {
        if badness(self.outcome) > badness(Outcome::Skipped) && self.message.is_empty() {
            self.message = shortened(message);
        }
    }
}

fn shortened(message: &str) -> String {
    message.trim().chars().take(MESSAGE_LIMIT).collect()
}

fn badness(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed => 0,
        Outcome::Skipped | Outcome::Xfailed | Outcome::Xpassed | Outcome::Missing => 1,
        Outcome::Failed => 2,
        Outcome::Error => 3,
    }
}

fn worse(one: Outcome, other: Outcome) -> Outcome {
    if badness(other) > badness(one) {
        other
    } else {
        one
    }
}

/// The tests of all reports of a run.
#[derive(Debug, Default)]
pub struct Cases {
    tests: BTreeMap<String, TestResult>,
    /// How often each id came.
    times: BTreeMap<String, usize>,
    seconds: f64,
}

impl Cases {
    /// Tests with one id are told apart by their number, from the second on.
    pub(super) fn add(&mut self, case: Case) -> Result<(), BadReport> {
        if self.tests.len() >= MAX_TESTS {
            return Err(BadReport::TooMany);
        }
        let times = self.times.entry(case.id.clone()).or_insert(0);
        *times += 1;
        let id = match *times {
            1 => case.id,
            times => format!("{} #{times}", case.id),
        };
        self.seconds += case.seconds;
        let Case {
            outcome, message, ..
        } = case;
        self.tests.insert(id, TestResult { outcome, message });
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Tests that did not pass, apart from those left out on purpose.
    pub fn failed(&self) -> usize {
        let failed = |test: &&TestResult| matches!(test.outcome, Outcome::Failed | Outcome::Error);
        self.tests.values().filter(failed).count()
    }

    /// Keeps the tests that are known, and returns the others. Where a known one came
    /// oftener than it is known to, it has the worst of its outcomes, so that a second
    /// report of it hides no failure; these ids are returned, too.
    pub fn hold_against(&mut self, known: &BTreeSet<String>) -> Unknown {
        let mut unknown = Unknown::default();
        let others: Vec<(String, TestResult)> = self
            .tests
            .extract_if(.., |id, _| !known.contains(id))
            .collect();
        for (id, result) in others {
            let first = id.rsplit_once(" #").map(|(first, _)| first.to_owned());
            let first = first.filter(|first| self.times.get(first).is_some_and(|times| *times > 1));
            match first.and_then(|first| Some((self.tests.get_mut(&first)?, first))) {
                Some((test, first)) => {
                    if badness(result.outcome) > badness(test.outcome) {
                        *test = result;
                    }
                    unknown.twice.insert(first);
                }
                None => {
                    unknown.new.insert(id);
                }
            }
        }
        unknown
    }

    /// The report and its bytes, in the form of pytest-json-report.
    pub fn report(&self, exit_code: i64) -> (Report, Vec<u8>) {
        let passed = self
            .tests
            .values()
            .filter(|test| test.outcome == Outcome::Passed)
            .count();
        let tests = self.tests.iter().map(|(id, test)| {
            let mut fields = json!({"nodeid": id, "outcome": test.outcome.name()});
            if !test.message.is_empty() {
                fields["call"] = json!({"outcome": test.outcome.name(), "longrepr": test.message});
            }
            fields
        });
        let raw = json!({
            "exitcode": exit_code,
            "duration": self.seconds,
            "summary": {"passed": passed, "total": self.tests.len()},
            "tests": tests.collect::<Vec<_>>(),
        });
        let report = Report {
            exit_code,
            duration: self.seconds,
            tests: self.tests.clone(),
        };
        (report, raw.to_string().into_bytes())
    }
}

/// Ids of reports that the oracle's tests do not have.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Unknown {
    pub new: BTreeSet<String>,
    pub twice: BTreeSet<String>,
}
