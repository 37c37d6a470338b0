//! Findings: facts about the way in which an iteration's tests came to their
//! result. A finding never changes an outcome by itself: its grade decides.

use std::fmt;

use serde::{Deserialize, Serialize};

crate::named! {
    /// The consequence of a finding, the least first.
    #[derive(PartialOrd, Ord)]
    pub enum Grade {
        /// Worth knowing. Honest work leaves such findings too.
        Note = "note",
        /// Honest work hardly ever does this: the run is held for review.
        Suspicious = "suspicious",
        /// The test runner was tampered with: the iteration collapses.
        Tampered = "tampered",
    }
}

crate::named! {
    /// The part of grading that a finding is about.
    pub enum FindingKind {
        /// A file that would configure pytest or the interpreter.
        Steering = "steering",
        /// A module of the agent's that has the name of an installed one.
        Shadowing = "shadowing",
        /// Compiled code; earlier editions: an exception of many kinds at once.
        Construct = "construct",
        /// A test of the platform's among the task's came out otherwise than it
        /// must: found by earlier editions.
        Canary = "canary",
        /// Something else than the test runner told results. Earlier editions, and
        /// imports: results that contradict each other, a replaced part of the runner.
        Report = "report",
        /// A type of the code's whose objects equal whatever they are compared
        /// with: found by earlier editions.
        Equality = "equality",
        /// Tests that pass only as the suite is written, and not in another
        /// order with other names and lines.
        Clues = "clues",
        /// Tests that pass together with their contradictions.
        Contradiction = "contradiction",
        /// Code that knows the tests' calls and hardly any other.
        ByHeart = "by_heart",
        /// Passages of the tests in a specification of the mode rdd.
        Specification = "specification",
        /// A tool that the model's provider would have executed.
        HostedTool = "hosted_tool",
        /// Found by another platform, or by an earlier edition.
        Other = "other",
    }
}

/// One thing noticed about an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(from = "Recorded")]
pub struct Finding {
    pub grade: Grade,
    pub kind: FindingKind,
    /// A sentence that names what was found and where.
    pub text: String,
}

impl Finding {
    pub fn note(kind: FindingKind, text: impl Into<String>) -> Self {
        Self::new(Grade::Note, kind, text)
    }

    pub fn suspicious(kind: FindingKind, text: impl Into<String>) -> Self {
        Self::new(Grade::Suspicious, kind, text)
    }

    pub fn tampered(kind: FindingKind, text: impl Into<String>) -> Self {
        Self::new(Grade::Tampered, kind, text)
    }

    fn new(grade: Grade, kind: FindingKind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { grade, kind, text }
    }
}

/// A finding as rows and answers of any edition hold it: the first ones had a
/// text alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Recorded {
    Graded {
        grade: Grade,
        kind: FindingKind,
        text: String,
    },
    Text(String),
}

impl From<Recorded> for Finding {
    fn from(recorded: Recorded) -> Self {
        match recorded {
            Recorded::Graded { grade, kind, text } => Self { grade, kind, text },
            Recorded::Text(text) => Self::note(FindingKind::Other, text),
        }
    }
}

/// Why an iteration with these findings collapses; `None` unless its test
/// runner was tampered with.
pub fn tampering(findings: &[Finding]) -> Option<String> {
    let first = findings.iter().find(|f| f.grade == Grade::Tampered)?;
    Some(format!("the test runner was tampered with: {}", first.text))
}

crate::named! {
    /// What a reviewer decided about a suspicious finding.
    pub enum Decision {
        /// Honest work: it counts as a note.
        Cleared = "cleared",
        /// No honest work: the run stays unranked.
        Confirmed = "confirmed",
    }
}

impl Decision {
    /// The deed: "clear", "confirm".
    pub fn verb(self) -> &'static str {
        match self {
            Self::Cleared => "clear",
            Self::Confirmed => "confirm",
        }
    }
}

/// Why a run with scores has no rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Unranked {
    /// Suspicious findings wait for a decision.
    HeldForReview {
        /// How many.
        open: u32,
    },
    /// The run allows tools that its model's provider executes.
    HostedTools,
    /// It is of another mode than the runs beside it.
    OtherMode,
    /// A reviewer confirmed a suspicious finding.
    Confirmed {
        /// The finding's text.
        text: String,
    },
    /// Its code was graded twice, and another run stands for the result.
    Regraded {
        /// That run.
        run_id: String,
    },
    /// Evolutions of it have not been audited yet.
    BeingAudited {
        /// How many.
        evolutions: u32,
    },
    /// Evolutions were run again after their agents had given up: its results
    /// are chosen.
    RunAgain {
        /// How many.
        evolutions: u32,
    },
    /// Too few of the split's tasks have a score.
    Incomplete {
        /// Tasks with a score.
        scored: u32,
        /// Tasks of the split.
        of: u32,
    },
    /// Its budget was spent before all evolutions were over, and the missing
    /// ones are those that cost the most.
    OutOfBudget {
        /// How many.
        evolutions: u32,
    },
    /// It asked for fewer iterations than the split's N.
    FewerIterations {
        /// Its own N.
        iterations: u32,
        /// The split's.
        of: u32,
    },
    /// Tasks of it had other content than its split lists today.
    OtherRevisions {
        /// How many.
        tasks: u32,
    },
}

impl Unranked {
    /// What follows from a run's findings, each with the decision about it;
    /// `None` when they keep it from no rank.
    pub fn of<'a>(
        findings: impl IntoIterator<Item = (&'a Finding, Option<Decision>)>,
    ) -> Option<Self> {
        let mut open = 0;
        for (finding, decision) in findings {
            match decision {
                _ if finding.grade != Grade::Suspicious => {}
                Some(Decision::Cleared) => {}
                // No later finding can change that.
                Some(Decision::Confirmed) => {
                    let text = finding.text.clone();
                    return Some(Self::Confirmed { text });
                }
                None => open += 1,
            }
        }
        (open > 0).then_some(Self::HeldForReview { open })
    }
}

/// The reason in words: "held for review (2 open findings)".
impl fmt::Display for Unranked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeldForReview { open: 1 } => f.write_str("held for review (1 open finding)"),
            Self::HeldForReview { open } => write!(f, "held for review ({open} open findings)"),
            Self::HostedTools => f.write_str(
                "its provider may search the web and execute code, and the solutions are on the web",
            ),
            Self::OtherMode => {
                f.write_str("it is of another mode, and modes are not ranked together")
            }
            Self::Confirmed { text } => write!(f, "confirmed: {text}"),
            Self::Regraded { run_id } => write!(
                f,
                "its code was graded twice, and run {run_id} stands for the result"
            ),
            Self::BeingAudited { evolutions: 1 } => {
                f.write_str("being audited: 1 evolution is left")
            }
            Self::BeingAudited { evolutions } => {
                write!(f, "being audited: {evolutions} evolutions are left")
            }
            Self::RunAgain { evolutions: 1 } => {
                f.write_str("1 evolution was run again after its agent had given up")
            }
            Self::RunAgain { evolutions } => write!(
                f,
                "{evolutions} evolutions were run again after their agents had given up"
            ),
            Self::Incomplete { scored, of } => {
                write!(f, "incomplete: {scored} of {of} tasks have a score")
            }
            Self::OutOfBudget { evolutions: 1 } => {
                f.write_str("incomplete: its budget was spent before 1 evolution was over")
            }
            Self::OutOfBudget { evolutions } => write!(
                f,
                "incomplete: its budget was spent before {evolutions} evolutions were over"
            ),
            Self::FewerIterations { iterations, of } => write!(
                f,
                "its evolutions had at most {iterations} iterations, those of the others {of}"
            ),
            Self::OtherRevisions { tasks: 1 } => {
                f.write_str("1 task is of another revision than the split's of today")
            }
            Self::OtherRevisions { tasks } => write!(
                f,
                "{tasks} tasks are of other revisions than the split's of today"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_every_edition_are_read() {
        let check = |json: &str, expect: &[Finding]| {
            let found: Vec<Finding> = serde_json::from_str(json).unwrap();
            assert_eq!(found, expect, "{json}");
        };
        check("[]", &[]);
        let old = Finding::note(FindingKind::Other, "conftest.py differs");
        check(r#"["conftest.py differs"]"#, std::slice::from_ref(&old));
        let new = Finding::suspicious(FindingKind::Equality, "x == y, y != x");
        let json = r#"{"grade":"suspicious","kind":"equality","text":"x == y, y != x"}"#;
        check(&format!("[{json}]"), std::slice::from_ref(&new));
        assert_eq!(serde_json::to_string(&new).unwrap(), json);
        // An import may replace one iteration of several.
        check(&format!(r#"[{json},"conftest.py differs"]"#), &[new, old]);
        let unknown = r#"[{"grade":"odd","kind":"other","text":""}]"#;
        assert!(serde_json::from_str::<Vec<Finding>>(unknown).is_err());
    }

    #[test]
    fn only_tampering_collapses_an_iteration() {
        use FindingKind::{Canary, Report, Steering};
        let note = Finding::note(Steering, "conftest.py differs");
        let suspicious = Finding::suspicious(Report, "exit code 0, 1 failure");
        let tampered = |text| Finding::tampered(Canary, text);
        let check = |findings: &[Finding], expect: Option<&str>| {
            assert_eq!(tampering(findings).as_deref(), expect, "{findings:?}");
        };
        check(&[], None);
        check(&[note.clone(), suspicious.clone()], None);
        let why = "the test runner was tampered with: a failing canary passed";
        check(&[tampered("a failing canary passed")], Some(why));
        let several = [
            note,
            tampered("a failing canary passed"),
            suspicious,
            tampered("a canary is missing"),
        ];
        check(&several, Some(why));
    }

    #[test]
    fn what_keeps_a_run_from_a_rank() {
        use Decision::{Cleared, Confirmed};
        let check = |findings: &[(&str, Option<Decision>)], expect: Option<&str>| {
            let findings: Vec<(Finding, Option<Decision>)> = findings
                .iter()
                .map(|(grade, decision)| {
                    let grade = Grade::from_name(grade).unwrap();
                    let text = format!("{} thing", grade.name());
                    (Finding::new(grade, FindingKind::Other, text), *decision)
                })
                .collect();
            let found = Unranked::of(findings.iter().map(|(finding, by)| (finding, *by)));
            let words = found.map(|unranked| unranked.to_string());
            assert_eq!(words.as_deref(), expect, "{findings:?}");
        };
        check(&[], None);
        check(&[("note", None), ("tampered", None)], None);
        let one = Some("held for review (1 open finding)");
        check(&[("note", None), ("suspicious", None)], one);
        let two = Some("held for review (2 open findings)");
        check(&[("suspicious", None), ("suspicious", None)], two);
        check(&[("suspicious", Some(Cleared))], None);
        check(&[("suspicious", Some(Cleared)), ("suspicious", None)], one);
        let confirmed = Some("confirmed: suspicious thing");
        check(&[("suspicious", Some(Confirmed))], confirmed);
        check(
            &[("suspicious", None), ("suspicious", Some(Confirmed))],
            confirmed,
        );
        // Decisions are about suspicions alone.
        check(&[("note", Some(Confirmed))], None);
    }
}
