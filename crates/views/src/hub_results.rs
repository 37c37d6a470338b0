//! What the Hugging Face hub asks of a benchmark: `eval.yaml` in its dataset, and
//! `.eval_results/*.yaml` with a model; and its leaderboard, which is read back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::leaderboard::{Published, PublishedRow};

/// The harness that both files name.
const FRAMEWORK: &str = "swe-ci";

/// The file that makes a dataset with this split a benchmark of the hub. The task's
/// id is the split's name.
pub fn benchmark_yaml(split: &str, tasks: usize) -> String {
    let split = text(split);
    let about = text(&format!(
        "Evolutions of {tasks} repositories: agents maintain code over many iterations. The value is the EvoScore at γ = 1, -1 to 1."
    ));
    format!(
        "name: {}\ndescription: {about}\nevaluation_framework: {FRAMEWORK}\n\ntasks:\n  - id: {split}\n    config: {split}\n    split: test\n",
        text("SWE-CI")
    )
}

/// A run as a result of a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalResult {
    /// The benchmark's dataset, `OWNER/NAME`.
    pub dataset: String,
    /// Its commit.
    pub revision: Option<String>,
    pub split: String,
    /// EvoScore at γ = 1, -1 to 1.
    pub value: f64,
    /// RFC 3339.
    pub date: String,
    /// Where the run can be looked at.
    pub source: Option<String>,
    /// What the number came from, in words.
    pub notes: String,
}

impl EvalResult {
    /// Its path in the model's repository.
    pub fn path(&self) -> String {
        format!(".eval_results/swe-ci-{}.yaml", self.split)
    }

    pub fn yaml(&self) -> String {
        let mut yaml = format!(
            "- dataset:\n    id: {}\n    task_id: {}\n",
            text(&self.dataset),
            text(&self.split)
        );
        if let Some(revision) = &self.revision {
            yaml += &format!("    revision: {}\n", text(revision));
        }
        yaml += &format!("  value: {:.4}\n  date: {}\n", self.value, text(&self.date));
        if let Some(url) = &self.source {
            yaml += &format!(
                "  source:\n    url: {}\n    name: {}\n",
                text(url),
                text("Run with every iteration")
            );
        }
        yaml + &format!(
            "  evaluation_framework: {FRAMEWORK}\n  notes: {}\n",
            text(&self.notes)
        )
    }
}

/// JSON is YAML, and quotes what YAML would take for something else.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

/// An entry of the hub's leaderboard of a benchmark.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HubEntry {
    model_id: String,
    value: f64,
    /// By the hub, with a token of the evaluation.
    #[serde(default)]
    verified: bool,
    /// Where it is offered by somebody else than the model's owner.
    #[serde(default)]
    pull_request: Option<u64>,
}

/// The hub's leaderboard of a dataset as outside results of a split. Values that
/// are no EvoScore are left out; returns how many.
pub fn outside_results(
    dataset: &str,
    split: &str,
    tasks: u32,
    day: &str,
    entries: Vec<HubEntry>,
) -> (Published, usize) {
    let all = entries.len();
    let rows = entries
        .into_iter()
        .filter(|entry| (-1.0..=1.0).contains(&entry.value));
    let row = |entry: HubEntry| {
        let (owner, model) = entry
            .model_id
            .split_once('/')
            .unwrap_or(("", &entry.model_id));
        let origin = match (entry.verified, entry.pull_request) {
            (true, _) => "verified by the hub",
            (false, Some(_)) => "offered by others",
            (false, None) => "as its owner says",
        };
        PublishedRow {
            model: model.to_owned(),
            provider: format!("{owner}, {origin}"),
            release_date: String::new(),
            evoscore: entry.value,
            zero_regression_rate: None,
        }
    };
    let mut rows: Vec<PublishedRow> = rows.map(row).collect();
    rows.sort_by(|a, b| b.evoscore.total_cmp(&a.evoscore));
    let left_out = all - rows.len();
    let published = Published {
        split: split.to_owned(),
        tasks,
        source: format!(
            "The leaderboard of the dataset {dataset} on the Hugging Face hub, read on {day}: EvoScores as the models’ repositories say, which nothing here has checked."
        ),
        evoscore_error: 0.0,
        rows,
    };
    (published, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_yaml_would_read_otherwise_is_quoted() {
        let result = EvalResult {
            dataset: "acme/bench".into(),
            revision: None,
            split: "no".into(),
            value: 0.5,
            date: "2026-11-29".into(),
            source: Some("https://bench.example.org/runs/1".into()),
            notes: "N = 20: \"x\"\n".into(),
        };
        assert_eq!(result.path(), ".eval_results/swe-ci-no.yaml");
        assert_eq!(
            result.yaml(),
            r#"- dataset:
    id: "acme/bench"
    task_id: "no"
  value: 0.5000
  date: "2026-11-29"
  source:
    url: "https://bench.example.org/runs/1"
    name: "Run with every iteration"
  evaluation_framework: swe-ci
  notes: "N = 20: \"x\"\n"
"#
        );
    }

    #[test]
    fn only_scores_are_read_back() {
        let json = r#"[{"rank": 1, "modelId": "acme/m", "value": 41.2, "filename": "x", "verified": false},
            {"rank": 2, "modelId": "acme/n", "value": 0.25, "filename": "x", "verified": false, "pullRequest": 3},
            {"rank": 3, "modelId": "kiln/k", "value": 0.5, "filename": "x", "verified": true}]"#;
        let entries: Vec<HubEntry> = serde_json::from_str(json).unwrap();
        let (published, left_out) = outside_results("acme/bench", "demo", 4, "2026-11-29", entries);
        let rows: Vec<_> = published
            .rows
            .iter()
            .map(|row| (&*row.model, &*row.provider, row.evoscore))
            .collect();
        assert_eq!(
            rows,
            [
                ("k", "kiln, verified by the hub", 0.5),
                ("n", "acme, offered by others", 0.25)
            ]
        );
        assert_eq!(left_out, 1);
    }
}
