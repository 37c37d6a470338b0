//! The list of runs: its rows, and the filter in its address.

use serde::{Deserialize, Serialize};
use swe_ci_core::finding::Unranked;
use swe_ci_core::run::{Kind, Progress, RunConfig};

use crate::account::Visibility;
use crate::has_words;
use crate::view::RunSummary;

/// A filter of runs; every condition must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only the reader's own.
    pub mine: bool,
    pub progress: Option<Progress>,
    pub split: Option<String>,
    /// Only these; all when empty.
    pub kinds: Vec<Kind>,
    /// Words; all of them must occur in the name of model, provider or harness.
    pub text: String,
}

impl RunFilter {
    /// Whether it is about the configuration of a run: such conditions are no query
    /// of the database.
    pub fn is_about_config(&self) -> bool {
        !self.kinds.is_empty() || !self.text.trim().is_empty()
    }

    /// Whether the run is of these kinds, and its names have these words.
    pub fn finds(&self, run: &RunConfig) -> bool {
        if !self.kinds.is_empty() && !self.kinds.contains(&run.kind) {
            return false;
        }
        let harness = run.harness.name();
        let names = format!("{} {} {harness}", run.model, run.provider);
        has_words(&names, &self.text)
    }
}

/// A run in the list of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ListedRun {
    #[serde(flatten)]
    pub summary: RunSummary,
    /// Why it may take no rank; absent for most runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unranked: Option<Unranked>,
    /// EvoScore at γ = 1 in the paper's convention; absent unless the run is
    /// finished and may take a rank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evoscore: Option<f64>,
}

impl ListedRun {
    /// Whether its score is shown. Private runs have one: they take a rank once they
    /// are public. That of a run over some tasks is of those alone.
    pub fn may_have_score(&self) -> bool {
        let RunSummary {
            progress,
            visibility,
            ..
        } = &self.summary;
        *progress == Progress::Finished
            && *visibility != Visibility::Withdrawn
            && self.unranked.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_the_names_of_a_run() {
        let mut run = RunConfig::human("s");
        run.model = "Albatross 4".into();
        run.provider = "Meridian".into();
        let check = |text: &str, expect: bool| {
            let filter = RunFilter {
                text: text.into(),
                ..RunFilter::default()
            };
            assert_eq!(filter.finds(&run), expect, "{text}");
        };
        check("", true);
        check(" ", true);
        check("alba", true);
        check("meridian 4", true);
        check("REPLAY albatross", true);
        check("albatross 5", false);
        // A setting is no name.
        check("max_chunks", false);
    }
}
