//! Parsers for the result files of other programs. Pure: they turn bytes into
//! a [`Record`], or an error with its line. The engine finds and reads the
//! files.

pub mod harbor;
pub mod otter;
pub mod reference;

use serde::Deserialize;

use crate::metrics::SuiteCounts;
use crate::metrics::Verdict;
use crate::usage::Usage;

/// Maximum tests of a suite; a larger count is an error.
pub const MAX_TESTS: u32 = 10_000_000;

pub const MAX_ITERATIONS: u32 = 1_000;

crate::named! {
    /// The effect of an import.
    pub enum Change {
        New = "new",
        /// It was imported before with other content.
        Replaced = "replaced",
        /// It was imported before with the same content.
        Unchanged = "unchanged",
    }
}

crate::named! {
    /// The program that wrote the files.
    pub enum Layout {
        /// The paper's authors' program: `<task>/iteration.jsonl`.
        Reference = "reference",
        /// Their later framework: `<task>#<sample>/{meta.json,turn_<n>/conclusion.json}`.
        Otter = "otter",
        /// A job of Harbor on tasks that this program exported:
        /// `<trial>/{result.json,verifier/swe-ci.json}`.
        Harbor = "harbor",
    }
}

impl std::str::FromStr for Layout {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::from_name(name)
            .ok_or_else(|| format!("`{name}` is not a layout: use reference, otter or harbor"))
    }
}

/// One recorded evolution: counts, not names of tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Tests the base passes.
    pub base_passed: u32,
    /// Tests the target passes and the base does not.
    pub gap: u32,
    /// In order; the first is iteration 1.
    pub iterations: Vec<Recorded>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// Tests that pass; absent where the code collapsed.
    pub passed: Option<u32>,
    /// Whether the other program considered the target reached.
    pub solved: bool,
    pub architect: Option<Usage>,
    pub programmer: Option<Usage>,
}

impl Record {
    pub fn suite(&self) -> SuiteCounts {
        SuiteCounts::counts_only(self.base_passed, self.gap)
    }

    /// The verdicts of the iterations by count. Losses are net, because the
    /// names of the tests are unknown.
    pub fn verdicts(&self) -> Vec<Verdict> {
        Verdict::by_count(self.suite(), self.iterations.iter().map(|i| i.passed))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct BadLine {
    /// From 1.
    pub line: u32,
    pub problem: String,
}

fn bad(line: u32, problem: impl Into<String>) -> BadLine {
    BadLine {
        line,
        problem: problem.into(),
    }
}

/// More tokens no step has; sums over all steps stay far below the largest number.
const MOST_TOKENS: f64 = 1e12;

/// A count of tokens as some program wrote it; `None` where it is none, or none that
/// can be.
fn tokens(value: &serde_json::Value) -> Option<u64> {
    let number = value.as_f64()?;
    (0.0..=MOST_TOKENS)
        .contains(&number)
        .then_some(number as u64)
}

/// A plausible count of tests.
fn count(line: u32, name: &str, value: i64) -> Result<u32, BadLine> {
    let count = u32::try_from(value).ok().filter(|n| *n <= MAX_TESTS);
    count.ok_or_else(|| {
        let problem = format!("`{name}` is {value}; a count of tests is 0 to {MAX_TESTS}");
        bad(line, problem)
    })
}

/// The text of a UTF-8 file, without a byte order mark.
fn text(bytes: &[u8]) -> Result<&str, BadLine> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|e| {
        let lines = bytes[..e.valid_up_to()].iter().filter(|b| **b == b'\n');
        let line = u32::try_from(lines.count() + 1).unwrap_or(u32::MAX);
        bad(line, "it is not UTF-8")
    })
}

/// Parses one object that spans a file or one line of it.
fn json<'a, T: Deserialize<'a>>(first_line: u32, text: &'a str) -> Result<T, BadLine> {
    serde_json::from_str(text).map_err(|e| {
        let within = u32::try_from(e.line().saturating_sub(1)).unwrap_or(0);
        // serde_json counts lines within the object; the error needs the line
        // of the file.
        let message = e.to_string();
        let problem = message.split(" at line ").next().unwrap_or(&message);
        let problem = format!("column {}: {problem}", e.column());
        bad(first_line + within, problem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Convention, Gamma, Series, Weights};

    #[test]
    fn a_record_counts_as_the_worked_examples_do() {
        let check = |base, gap, passes: &[Option<u32>], n, expect: f64| {
            let iterations = passes
                .iter()
                .map(|passed| Recorded {
                    passed: *passed,
                    solved: false,
                    architect: None,
                    programmer: None,
                })
                .collect();
            let record = Record {
                base_passed: base,
                gap,
                iterations,
            };
            let series =
                Series::count(Convention::Reference, record.suite(), n, &record.verdicts())
                    .unwrap();
            let e = Weights::new(Gamma::ONE, n).evoscore(series.changes());
            assert!((e - expect).abs() < 1e-12, "{passes:?}: {e}");
        };
        let some = |n| Some(n);
        check(10, 10, &[some(12), some(15), some(8), some(20)], 4, 0.375);
        check(0, 5, &[some(0), some(5)], 2, 0.5);
        check(10, 10, &[some(12), None, some(14)], 3, -0.4 / 3.0);
        // Counts above the target are clipped to it; with nothing to gain, the
        // score is 0.
        check(10, 10, &[some(99)], 1, 1.0);
        check(10, 0, &[some(99)], 1, 0.0);
    }

    #[test]
    fn losses_are_net_and_against_the_last_scored_code() {
        let recorded = |passed| Recorded {
            passed,
            solved: false,
            architect: None,
            programmer: None,
        };
        let record = Record {
            base_passed: 10,
            gap: 10,
            iterations: [Some(12), None, Some(11)].map(recorded).to_vec(),
        };
        let lost: Vec<u32> = record.verdicts().iter().map(|v| v.lost()).collect();
        assert_eq!(lost, [0, 12, 1]);
    }
}
