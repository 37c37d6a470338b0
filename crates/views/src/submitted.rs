//! Runs that others submitted: what the checks of this site say about them, and
//! what an administrator decided.

use serde::{Deserialize, Serialize};
use swe_ci_core::audit::EvolutionAudit;

use crate::verification::Verification;

swe_ci_core::named! {
    /// What a site checks of a submitted run.
    pub enum SubmissionCheck {
        /// Signature, digests, tasks, N and counts. It precedes the queue: what fails it
        /// is not taken.
        Archive = "archive",
        /// The tests of a sample of its iterations run again.
        Grading = "grading",
        /// Its code runs against contradictions of the tests that it passes.
        Audit = "audit",
    }
}

swe_ci_core::named! {
    pub enum CheckState {
        Pending = "pending",
        Passed = "passed",
        Failed = "failed",
    }
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CheckVerdict {
    pub check: SubmissionCheck,
    pub state: CheckState,
    /// In words.
    pub text: String,
}

impl CheckVerdict {
    pub fn new(check: SubmissionCheck, state: CheckState, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { check, state, text }
    }

    /// Of the tests that ran again, if they did.
    pub fn of_grading(found: Option<&Verification>) -> Self {
        let of = |state, text| Self::new(SubmissionCheck::Grading, state, text);
        let Some(found) = found else {
            return of(
                CheckState::Pending,
                "its tests have not run again yet".into(),
            );
        };
        let difference = found
            .differences
            .first()
            .map(|d| format!("{}: {}", d.at, d.what));
        let finding = || {
            found
                .findings
                .first()
                .map(|new| format!("{}: {new}", new.at))
        };
        match (found.holds(), difference.or_else(finding)) {
            (true, _) => of(CheckState::Passed, found.to_string()),
            (false, first) => {
                let first = first.unwrap_or_else(|| "nothing was tested".into());
                of(CheckState::Failed, format!("{found}; {first}"))
            }
        }
    }

    /// Of the audits of its evolutions that are over, while `pending` are not.
    pub fn of_audits<'a>(pending: u32, over: impl IntoIterator<Item = &'a EvolutionAudit>) -> Self {
        let of = |state, text| Self::new(SubmissionCheck::Audit, state, text);
        let (mut tests, mut left_out, mut accused) = (0, 0, None);
        for audit in over {
            left_out += u32::from(audit.reason.is_some());
            for state in &audit.states {
                tests += state.audit.tests;
                let why = || state.audit.accuses();
                accused =
                    accused.or_else(|| Some(format!("iteration {}: {}", state.iteration, why()?)));
            }
        }
        match (accused, pending) {
            (Some(why), _) => of(CheckState::Failed, why),
            (None, 0) => of(
                CheckState::Passed,
                format!(
                    "{tests} passed tests contradicted; {left_out} evolutions could not be audited"
                ),
            ),
            (None, n) => of(
                CheckState::Pending,
                format!("{n} evolutions wait for their audit"),
            ),
        }
    }
}

swe_ci_core::named! {
    /// Where a submitted run is on its way to the leaderboard.
    pub enum ReviewState {
        /// The site checks it.
        Checking = "checking",
        /// All checks passed; an administrator decides.
        InReview = "in-review",
        Published = "published",
        /// A check failed, or an administrator refused it.
        Refused = "refused",
    }
}

/// An administrator's decision about a submitted run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ReviewDecision {
    pub published: bool,
    pub by: String,
    /// Why it was refused; empty for a published run.
    pub reason: String,
}

/// A run that somebody else submitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SubmittedRun {
    pub run_id: String,
    pub model: String,
    pub split: String,
    /// The account that submitted it.
    pub account: String,
    /// The Ed25519 public key of its signature, in base64.
    pub signer: String,
    /// SHA-256 of the signed description of the archive.
    pub digest: String,
    /// RFC 3339.
    pub received_at: String,
    pub decision: Option<ReviewDecision>,
    pub verdicts: Vec<CheckVerdict>,
    pub state: ReviewState,
}

impl SubmittedRun {
    /// Takes up what the checks say. A decision stands whatever they say later.
    #[must_use]
    pub fn with_verdicts(mut self, verdicts: Vec<CheckVerdict>) -> Self {
        let any = |state| verdicts.iter().any(|verdict| verdict.state == state);
        self.state = match &self.decision {
            Some(decision) if decision.published => ReviewState::Published,
            Some(_) => ReviewState::Refused,
            None if any(CheckState::Failed) => ReviewState::Refused,
            None if any(CheckState::Pending) => ReviewState::Checking,
            None => ReviewState::InReview,
        };
        self.verdicts = verdicts;
        self
    }

    /// Why it is refused: the administrator's reason, else that of the checks.
    pub fn refusal(&self) -> Option<String> {
        match &self.decision {
            Some(decision) => (!decision.published).then(|| decision.reason.clone()),
            None => {
                let mut failed = self
                    .verdicts
                    .iter()
                    .filter(|v| v.state == CheckState::Failed);
                failed
                    .next()
                    .map(|v| format!("{}: {}", v.check.name(), v.text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn submitted(decision: Option<ReviewDecision>) -> SubmittedRun {
        SubmittedRun {
            run_id: "r".into(),
            model: "m".into(),
            split: "s".into(),
            account: "ada".into(),
            signer: "k".into(),
            digest: "d".into(),
            received_at: "2026-11-29T00:00:00Z".into(),
            decision,
            verdicts: Vec::new(),
            state: ReviewState::Checking,
        }
    }

    #[test]
    fn a_run_waits_for_its_checks_and_then_for_a_person() {
        use CheckState::{Failed, Passed, Pending};
        let check = |states: [CheckState; 2], expect: ReviewState| {
            let verdict = |state| CheckVerdict::new(SubmissionCheck::Grading, state, "so");
            let verdicts: Vec<CheckVerdict> = states.map(verdict).into();
            let found = submitted(None).with_verdicts(verdicts.clone());
            assert_eq!(found.state, expect, "{states:?}");
            let refused = expect == ReviewState::Refused;
            assert_eq!(found.refusal(), refused.then(|| "grading: so".to_owned()));
            // A decision stands.
            for published in [true, false] {
                let decision = ReviewDecision {
                    published,
                    by: "root".into(),
                    reason: "no".into(),
                };
                let found = submitted(Some(decision)).with_verdicts(verdicts.clone());
                let expect = match published {
                    true => (ReviewState::Published, None),
                    false => (ReviewState::Refused, Some("no".into())),
                };
                assert_eq!((found.state, found.refusal()), expect);
            }
        };
        check([Passed, Passed], ReviewState::InReview);
        check([Passed, Pending], ReviewState::Checking);
        check([Pending, Failed], ReviewState::Refused);
    }
}
