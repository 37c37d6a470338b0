//! A split as a whole: its content, its origin and its datasheet.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use swe_ci_core::audit::CoverageSum;

use crate::browse::{Size, Spread};
use crate::counted;
use crate::curation::StageCount;
use crate::view::{SplitSummary, TaskSummary};

/// The origin of a split.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum SplitSource {
    /// A folder in the official layout.
    Folder,
    /// A dataset on a hub.
    Hub {
        dataset: String,
        /// The requested branch, tag or commit.
        revision: String,
        /// The commit of the revision at that time.
        commit: String,
    },
    /// Made on this server from the releases of four packages.
    Demo,
    /// Curated on this server from a plan.
    Curated { curation_id: String },
}

impl SplitSource {
    /// A sentence for readers.
    pub fn text(source: Option<&Self>) -> String {
        match source {
            None => "Source not recorded.".into(),
            Some(Self::Folder) => {
                "Imported from a folder in the layout of the official dataset.".into()
            }
            Some(Self::Hub {
                dataset,
                revision,
                commit,
            }) => format!("Downloaded from the hub: {dataset}, {revision}, at commit {commit}."),
            Some(Self::Demo) => {
                "Made here from the releases of four packages, pinned by version and checksum."
                    .into()
            }
            Some(Self::Curated { curation_id }) => {
                format!("Curated here (curation {curation_id}), from a plan stored with it.")
            }
        }
    }
}

/// A split in a list, with its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SplitListed {
    #[serde(flatten)]
    pub summary: SplitSummary,
    pub repositories: u32,
    /// Unknown for old imports.
    pub source: Option<SplitSource>,
    /// When the split was first imported, RFC 3339.
    pub created_at: String,
}

/// A split with statistics of its tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SplitDetail {
    #[serde(flatten)]
    pub summary: SplitSummary,
    /// The N that it declares; 20 if it declares none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Digest of the names, commits and images of its tasks, in the split's
    /// order.
    pub digest: String,
    /// Unknown for old imports.
    pub source: Option<SplitSource>,
    /// When the split was first imported, RFC 3339.
    pub created_at: String,
    /// Repositories, those with most tasks first.
    pub repositories: Vec<Counted>,
    /// Recognised licences of the targets.
    pub licences: Vec<Counted>,
    /// Findings of the preparation, by kind.
    pub findings: Vec<Counted>,
    /// Sizes of the tasks that can run.
    pub spreads: Vec<Spread>,
    /// The funnel of a split that was curated on this server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub funnel: Vec<StageCount>,
    /// How far the tests of its tasks can be trusted.
    #[serde(default)]
    pub audited: CoverageSum,
}

/// The content of a split. Runs and tasks are deleted with it; snapshots stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitContent {
    pub runs: u32,
    pub tasks: u32,
    pub snapshots: u32,
}

/// A name with the number of its tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Counted {
    pub name: String,
    pub tasks: u32,
}

impl Counted {
    pub fn all<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<Self> {
        let counts = counted(names).into_iter();
        counts.map(|(name, tasks)| Self { name, tasks }).collect()
    }
}

/// The distributions of the sizes that are known of these tasks.
pub fn spreads(tasks: &[TaskSummary]) -> Vec<Spread> {
    let spread = |size| Spread::of(size, tasks);
    Size::ALL.into_iter().filter_map(spread).collect()
}

impl SplitDetail {
    pub fn mean(&self, size: Size) -> Option<f64> {
        let spread = self.spreads.iter().find(|spread| spread.size == size);
        spread.map(|spread| spread.mean)
    }

    /// A datasheet in Markdown: purpose, composition, collection, preparation,
    /// licences and use.
    pub fn datasheet(&self) -> String {
        let mut sheet = String::new();
        // Writing to a String cannot fail.
        let _ = self.write_datasheet(&mut sheet);
        sheet
    }

    /// The card of a dataset on the Hugging Face hub: how its viewer reads the split,
    /// and the datasheet.
    pub fn hub_card(&self) -> String {
        let SplitSummary { name, ready, .. } = &self.summary;
        format!(
            "---\n\
             pretty_name: \"SWE-CI split {name}\"\n\
             tags:\n- swe-ci\n- code\n- software-engineering\n\
             configs:\n\
             - config_name: {name:?}\n  \
               data_files:\n  \
               - split: test\n    \
                 path: {path:?}\n\
             ---\n\n\
             {ready} tasks of the SWE-CI benchmark in the layout of its official dataset: `metadata/{name}.csv`, \
             and for each task `data/<task_id>/code.zip` (a git checkout with its history) and \
             `data/<task_id>/image.tar.gz` (a `docker save`). `SHA256SUMS` has the digests of these files.\n\n\
             `swe-ci dataset import --from hf:OWNER/NAME --split {name}` imports it.\n\n{sheet}",
            path = format!("metadata/{name}.csv"),
            sheet = self.datasheet(),
        )
    }

    fn write_datasheet(&self, to: &mut String) -> std::fmt::Result {
        let SplitSummary { name, tasks, ready } = &self.summary;
        writeln!(
            to,
            "# Datasheet of the split `{name}`\n\n\
             ## Purpose\n\n\
             To measure how well coding agents maintain a code base over many iterations: each task is a repository at two commits of its history, with the tests of the later one.\n\n\
             ## Composition\n\n\
             - {tasks} tasks, {ready} of which can run, from {} repositories",
            self.repositories.len()
        )?;
        if let Some(n) = self.max_iterations {
            writeln!(to, "- runs are scored over {n} iterations")?;
        }
        if self.audited.tasks > 0 {
            writeln!(to, "- {}", self.audited.text(*ready))?;
        }
        for spread in &self.spreads {
            writeln!(
                to,
                "- {}: {:.0} to {:.0}, mean {:.1}, median {:.1}",
                size_in_words(spread.size),
                spread.min,
                spread.max,
                spread.mean,
                spread.median
            )?;
        }
        list(to, "Repositories", &self.repositories)?;
        writeln!(to, "\n## Collection\n\n{}", self.origin())?;
        for count in &self.funnel {
            let (name, yields) = (count.stage.name(), count.stage.yields());
            let (survived, entered) = (count.survived, count.entered);
            let reasons = count.dropped.iter();
            let reasons: Vec<String> = reasons
                .map(|dropped| format!("{}: {}", dropped.reason, dropped.count))
                .collect();
            write!(to, "- {name}: {survived} of {entered} {yields}")?;
            match reasons.is_empty() {
                true => writeln!(to)?,
                false => writeln!(to, " (dropped: {})", reasons.join(", "))?,
            }
        }
        writeln!(
            to,
            "\n## Preparation\n\n\
             Every suite ran in containers without a network, once on the base and several times on the target. Tests that did not pass every time do not count."
        )?;
        match self.findings.is_empty() {
            true => writeln!(to, "There were no findings.")?,
            false => list(to, "Findings", &self.findings)?,
        }
        writeln!(to, "\n## Licences")?;
        match self.licences.is_empty() {
            true => writeln!(to, "\nNone was recognised.")?,
            false => list(to, "Of the targets", &self.licences)?,
        }
        writeln!(
            to,
            "\n## Use\n\n\
             The repositories are public: a model may have been trained on them. Results show which tasks are older than a model's release. The code of the tasks belongs to its authors, under the licences above.\n\n\
             ## Identity\n\n\
             - digest: `{}`\n\
             - imported: {}",
            self.digest, self.created_at
        )
    }

    pub fn origin(&self) -> String {
        SplitSource::text(self.source.as_ref())
    }
}

fn list(to: &mut String, title: &str, items: &[Counted]) -> std::fmt::Result {
    writeln!(to, "\n{title}:\n")?;
    for Counted { name, tasks } in items {
        writeln!(to, "- {name}: {tasks}")?;
    }
    Ok(())
}

fn size_in_words(size: Size) -> &'static str {
    match size {
        Size::Gap => "tests to gain (the gap)",
        Size::Tests => "tests the target passes",
        Size::Commits => "commits between base and target",
        Size::Days => "days between base and target",
        Size::Lines => "lines modified between base and target",
        Size::Suite => "seconds the suite takes",
        Size::Solved => "share of runs that solve it",
        Size::Score => "mean EvoScore of runs",
        Size::Contradicted => "share of tests that can be contradicted",
    }
}

/// What an import would download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRoom {
    pub tasks: u32,
    /// The bytes that are not on the disk yet.
    pub bytes: u64,
    /// Free space for the data folder, if known.
    pub free_bytes: Option<u64>,
}

impl ImportRoom {
    pub fn fits(&self) -> bool {
        self.free_bytes.is_none_or(|free| free > self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datasheets_are_complete() {
        let detail = |source| SplitDetail {
            summary: SplitSummary {
                name: "demo".into(),
                tasks: 2,
                ready: 1,
            },
            max_iterations: Some(5),
            digest: "sha256:0".into(),
            source,
            created_at: "2026-01-01T00:00:00Z".into(),
            repositories: Counted::all(["a/b", "a/b"]),
            licences: Vec::new(),
            findings: Counted::all(["flaky tests"]),
            spreads: vec![Spread {
                size: Size::Gap,
                tasks: 1,
                min: 5.0,
                mean: 5.0,
                median: 5.0,
                max: 5.0,
                bins: Vec::new(),
            }],
            funnel: Vec::new(),
            audited: CoverageSum {
                tasks: 1,
                tests: 5,
                contradicted: 5,
                strongly: 4,
                vacuous: 0,
                unknown: 0,
            },
        };
        let card = detail(Some(SplitSource::Demo)).hub_card();
        for part in [
            "---\npretty_name: \"SWE-CI split demo\"\ntags:\n- swe-ci\n",
            "\nconfigs:\n- config_name: \"demo\"\n  data_files:\n  - split: test\n    path: \"metadata/demo.csv\"\n---\n",
            "# Datasheet of the split `demo`",
            "\n- runs are scored over 5 iterations\n",
        ] {
            assert!(card.contains(part), "{part}: {card}");
        }
        let sheet = detail(Some(SplitSource::Demo)).datasheet();
        for part in [
            "# Datasheet of the split `demo`",
            "- 2 tasks, 1 of which can run, from 1 repositories",
            "- tests to gain (the gap): 5 to 5, mean 5.0, median 5.0",
            "- a/b: 2",
            "- flaky tests: 1",
            "None was recognised.",
            "releases of four packages",
        ] {
            assert!(sheet.contains(part), "{part}\n{sheet}");
        }
        let hub = SplitSource::Hub {
            dataset: "o/n".into(),
            revision: "main".into(),
            commit: "abc".into(),
        };
        assert!(
            detail(Some(hub))
                .origin()
                .contains("o/n, main, at commit abc")
        );
        assert!(detail(None).origin().contains("not recorded"));
    }
}
