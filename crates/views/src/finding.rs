//! The findings of a run, and what reviewers decided about them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use swe_ci_core::finding::{Decision, Finding, Grade, Unranked};
use swe_ci_core::run::RunConfig;
use swe_ci_core::task::TaskId;

/// Identifies a finding in addresses and commands:
/// `<evolution>.<iteration>.<number>`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FindingId {
    pub evolution_id: String,
    /// From 1.
    pub iteration: u32,
    /// Its position among the findings of the iteration, from 1.
    pub number: u32,
}

impl fmt::Display for FindingId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            evolution_id,
            iteration,
            number,
        } = self;
        write!(f, "{evolution_id}.{iteration}.{number}")
    }
}

/// The text is no [`FindingId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id of a finding is `<evolution>.<iteration>.<number>`, each number from 1")]
pub struct BadFindingId;

impl FromStr for FindingId {
    type Err = BadFindingId;

    fn from_str(text: &str) -> Result<Self, BadFindingId> {
        // From the end: an evolution's id may have dots itself.
        let mut parts = text.rsplitn(3, '.');
        let mut number = || {
            let number = parts.next().and_then(|part| part.parse().ok());
            number.filter(|n: &u32| *n > 0).ok_or(BadFindingId)
        };
        let (number, iteration) = (number()?, number()?);
        let evolution_id = parts.next().filter(|id| !id.is_empty());
        Ok(Self {
            evolution_id: evolution_id.ok_or(BadFindingId)?.to_owned(),
            iteration,
            number,
        })
    }
}

impl Serialize for FindingId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FindingId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A finding of a run, with the place it is about and the decision about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunFinding {
    #[schema(value_type = String)]
    pub finding_id: FindingId,
    pub run_id: String,
    pub model: String,
    pub task_id: TaskId,
    /// From 1.
    pub sample: u32,
    pub evolution_id: String,
    /// From 1.
    pub iteration: u32,
    #[serde(flatten)]
    pub finding: Finding,
    /// The decision about it; absent while nobody decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<FindingReview>,
}

/// The decision about a suspicious finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FindingReview {
    pub decision: Decision,
    pub reason: String,
    /// Name of the account that decided; `operator` for the command line.
    pub reviewer: String,
    /// RFC 3339.
    pub decided_at: String,
}

impl RunFinding {
    /// Its grade after the review: a cleared suspicion is a note.
    pub fn grade(&self) -> Grade {
        match self.decision() {
            Some(Decision::Cleared) => Grade::Note,
            _ => self.finding.grade,
        }
    }

    /// Whether a reviewer has to decide about it.
    pub fn is_open(&self) -> bool {
        self.can_be_reviewed() && self.review.is_none()
    }

    /// Whether a decision about it has consequences.
    pub fn can_be_reviewed(&self) -> bool {
        self.finding.grade == Grade::Suspicious
    }

    pub fn decision(&self) -> Option<Decision> {
        self.review.as_ref().map(|review| review.decision)
    }
}

/// Why a run of this configuration and with these findings has no rank; `None`
/// when it has one. `set_aside` is a reason that lies in its history.
pub fn unranked<'a>(
    config: &RunConfig,
    set_aside: Option<&Unranked>,
    findings: impl IntoIterator<Item = &'a RunFinding>,
) -> Option<Unranked> {
    let findings = findings.into_iter();
    let suspected = Unranked::of(findings.map(|found| (&found.finding, found.decision())));
    let suspected = suspected.or_else(|| set_aside.cloned());
    suspected.or(config.allow_hosted_tools.then_some(Unranked::HostedTools))
}

#[cfg(test)]
mod tests {
    use super::*;
    use swe_ci_core::finding::FindingKind;

    #[test]
    fn runs_whose_provider_may_act_have_no_rank() {
        let mut config = RunConfig::human("s");
        assert_eq!(unranked(&config, None, &[]), None);
        config.allow_hosted_tools = true;
        assert_eq!(unranked(&config, None, &[]), Some(Unranked::HostedTools));
    }

    #[test]
    fn ids_round_trip() {
        let check = |text: &str, expect: Option<(&str, u32, u32)>| {
            let found = text.parse::<FindingId>().ok();
            let parts = found.as_ref().map(|id| {
                let number = (id.iteration, id.number);
                (id.evolution_id.as_str(), number.0, number.1)
            });
            assert_eq!(parts, expect, "{text}");
            if let Some(id) = found {
                assert_eq!(id.to_string(), text);
            }
        };
        check("e-1.2.3", Some(("e-1", 2, 3)));
        check("e.1.2.3", Some(("e.1", 2, 3)));
        for bad in ["", "e", "e.1", ".1.1", "e.0.1", "e.1.0", "e.1.x", "e.-1.1"] {
            check(bad, None);
        }
    }

    #[test]
    fn a_review_changes_the_grade() {
        let mut found = RunFinding {
            finding_id: "e.1.1".parse().unwrap(),
            run_id: "r".into(),
            model: "m".into(),
            task_id: TaskId::new("t").unwrap(),
            sample: 1,
            evolution_id: "e".into(),
            iteration: 1,
            finding: Finding::suspicious(FindingKind::Equality, "x == y, y != x"),
            review: None,
        };
        assert_eq!((found.grade(), found.is_open()), (Grade::Suspicious, true));
        let open = Some(Unranked::HeldForReview { open: 1 });
        assert_eq!(unranked(&RunConfig::human("s"), None, [&found]), open);
        let decided = |decision| {
            Some(FindingReview {
                decision,
                reason: "read it".into(),
                reviewer: "ada".into(),
                decided_at: "2026-11-20T14:00:00Z".into(),
            })
        };
        found.review = decided(Decision::Confirmed);
        assert_eq!((found.grade(), found.is_open()), (Grade::Suspicious, false));
        assert!(matches!(
            unranked(&RunConfig::human("s"), None, [&found]),
            Some(Unranked::Confirmed { .. })
        ));
        found.review = decided(Decision::Cleared);
        assert_eq!((found.grade(), found.is_open()), (Grade::Note, false));
        assert_eq!(unranked(&RunConfig::human("s"), None, [&found]), None);
        // The flattened fields are read again.
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(json["grade"], "suspicious");
        assert_eq!(json["finding_id"], "e.1.1");
        assert_eq!(serde_json::from_value::<RunFinding>(json).unwrap(), found);
        // Other findings need nobody's decision.
        found.finding.grade = Grade::Tampered;
        found.review = None;
        assert_eq!(
            (
                found.is_open(),
                unranked(&RunConfig::human("s"), None, [&found])
            ),
            (false, None)
        );
    }
}
