//! What the platform noticed about the way an iteration's tests came to their
//! result. Findings never change an outcome by themselves: their grade says
//! what follows from them.

use serde::{Deserialize, Serialize};

crate::named! {
    /// What follows from a finding, the least first.
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
        /// Added code that reaches for the tests or the test runner.
        Construct = "construct",
        /// A canary test came out otherwise than it had to.
        Canary = "canary",
        /// Exit code, collection and report contradict each other.
        Report = "report",
        /// A comparison whose result depends on which side is asked.
        Equality = "equality",
        /// A second grading with the clues moved came out otherwise.
        Repetition = "repetition",
        /// A tool that the model's provider would have executed.
        HostedTool = "hosted_tool",
        /// Found by another platform, or by an earlier edition.
        Other = "other",
    }
}

/// One thing noticed about an iteration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
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
